#include "scheduler/cmsis_nn.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "frontend/error.h"
#include "frontend/facts.h"

namespace arenac {
namespace {

// ---- the functions

//   rounded_up(27, 4) = 28
int64_t rounded_up(int64_t number, int64_t multiple) { return ceil_div(number, multiple) * multiple; }

// A 1x1 convolution of stride 1 is a product of matrices: the library needs no columns for it.
bool is_pointwise(const CmsisNnLayer& l) {
  return l.filter_h == 1 && l.filter_w == 1 && l.stride_h == 1 && l.stride_w == 1;
}

bool serves_all(const CmsisNnLayer&, CmsisNnCore) { return true; }
// Of 3x3 taps without dilation or batches the library has unrolled loops, but with Helium.
bool is_unrolled(const CmsisNnLayer& l, CmsisNnCore core) {
  return core != CmsisNnCore::kHelium && l.n == 1 && l.dilation_h == 1 && l.dilation_w == 1 &&
         l.filter_h == 3 && l.filter_w == 3 && l.pad_h <= 1 && l.pad_w <= 1;
}

// Of a single channel it is a convolution. The unrolled loops read the middle column of every window.
//
//   two columns of padding at the right    . . x | 0 0      x would be multiplied, and what is behind it
bool serves_channels(const CmsisNnLayer& l, CmsisNnCore core) {
  const int64_t last_column = (l.out_w - 1) * l.stride_w - l.pad_w;  // where the last window begins
  return l.in_c > 1 && !(is_unrolled(l, core) && last_column + 1 >= l.in_w);
}
// With Helium it wants sums of the filter beside its scratch.
bool serves_without_helium(const CmsisNnLayer&, CmsisNnCore core) { return core != CmsisNnCore::kHelium; }

// Pixels under the window as columns (im2col): two of int16, or four of int8, which are as many bytes. Of
// pointwise layers some compilers' builds have two of int16.
//
//   3x3 of 16 channels      column 144 elements       4 * 144 bytes
int64_t convolution_scratch(const CmsisNnLayer& l, CmsisNnCore core) {
  const int64_t column = l.filter_h * l.filter_w * l.in_c;
  if (core == CmsisNnCore::kHelium) return is_pointwise(l) ? 0 : 4 * rounded_up(column, 16);
  if (is_pointwise(l)) return core == CmsisNnCore::kDsp ? 4 * column : 0;
  return 4 * rounded_up(column, 4);
}

// With DSP instructions a window of all channels as int16, but of 3x3; with Helium one of four pixels and 124
// channels. Without either, and where the library falls back to plain C (batches, dilation), nothing.
int64_t depthwise_scratch(const CmsisNnLayer& l, CmsisNnCore core) {
  constexpr int64_t kChannelsAtOnce = 124;
  const int64_t taps = l.filter_h * l.filter_w;
  if (core == CmsisNnCore::kPlain || l.n > 1 || l.dilation_h > 1 || l.dilation_w > 1) return 0;
  if (core == CmsisNnCore::kHelium) return 4 * kChannelsAtOnce * taps;
  return is_unrolled(l, core) ? 0 : 2 * l.in_c * taps;
}

int64_t no_scratch(const CmsisNnLayer&, CmsisNnCore) { return 0; }

// A fully connected layer of a scale per channel is a convolution of images of one pixel: CMSIS-NN's own
// function takes a single scale.
std::optional<CmsisNnLayer> convolution_or_fully_connected(const LaidOutLayer& of) {
  const auto layer = convolution(of);
  return layer ? layer : fully_connected(of);
}

constexpr const char* kPerChannelType = "cmsis_nn_per_channel_quant_params";
constexpr const char* kPerChannel =
    "{{(int32_t *)(uintptr_t)({multiplier}), (int32_t *)(uintptr_t)({shift})}}";
constexpr const char* kWindowDims = "&params, &input_dims, &filter_dims, &output_dims";

// A layer is computed by the first row that fits it. Instructions are those that add up to what networks take
// on an emulated Cortex-M4 at -O2. In the texts, doubled braces are those of C, {names} are numbers of the
// layer: the offsets are the negative zero point of the input and the zero point of the output.
constexpr CmsisNnRow kRows[] = {
    {.function = "arm_fully_connected_s8",
     .layer = fully_connected,
     .serves = serves_without_helium,
     .scratch = no_scratch,
     .params_type = "cmsis_nn_fc_params",
     .params = "{{{input_offset}, 0, {output_offset}, {{{least}, {most}}}}}",
     .quant_type = "cmsis_nn_per_tensor_quant_params",
     .quant = "{{*({multiplier}), *({shift})}}",
     .filter_dims = "{{{in_c}, 1, 1, {out_c}}}",
     .sized_by = "&filter_dims",
     .one_scale = true,
     .instructions = 2.5},
    {.function = "arm_depthwise_conv_wrapper_s8",
     .layer = depthwise_convolution,
     .serves = serves_channels,
     .scratch = depthwise_scratch,
     .params_type = "cmsis_nn_dw_conv_params",
     .params = "{{{input_offset}, {output_offset}, 1, {{{stride_w}, {stride_h}}}, {{{pad_w}, {pad_h}}}, "
               "{{{dilation_w}, {dilation_h}}}, {{{least}, {most}}}}}",
     .quant_type = kPerChannelType,
     .quant = kPerChannel,
     .filter_dims = "{{1, {filter_h}, {filter_w}, {out_c}}}",
     .sized_by = kWindowDims,
     .one_scale = false,
     .instructions = 5.8},
    {.function = "arm_convolve_wrapper_s8",
     .layer = convolution_or_fully_connected,
     .serves = serves_all,
     .scratch = convolution_scratch,
     .params_type = "cmsis_nn_conv_params",
     .params = "{{{input_offset}, {output_offset}, {{{stride_w}, {stride_h}}}, {{{pad_w}, {pad_h}}}, "
               "{{{dilation_w}, {dilation_h}}}, {{{least}, {most}}}}}",
     .quant_type = kPerChannelType,
     .quant = kPerChannel,
     .filter_dims = "{{{out_c}, {filter_h}, {filter_w}, {in_c}}}",
     .sized_by = kWindowDims,
     .one_scale = false,
     .instructions = 2.5},
};

// {"in_h", pointer to member}: the one list by which numbers go into a call's parameters and come out by name
struct NamedNumber {
  const char* name;
  int64_t CmsisNnLayer::*number;
};
// A call's parameters, before its core.
constexpr NamedNumber kNumbers[] = {
    {"n", &CmsisNnLayer::n},
    {"in_h", &CmsisNnLayer::in_h},
    {"in_w", &CmsisNnLayer::in_w},
    {"in_c", &CmsisNnLayer::in_c},
    {"filter_h", &CmsisNnLayer::filter_h},
    {"filter_w", &CmsisNnLayer::filter_w},
    {"out_h", &CmsisNnLayer::out_h},
    {"out_w", &CmsisNnLayer::out_w},
    {"out_c", &CmsisNnLayer::out_c},
    {"stride_h", &CmsisNnLayer::stride_h},
    {"stride_w", &CmsisNnLayer::stride_w},
    {"pad_h", &CmsisNnLayer::pad_h},
    {"pad_w", &CmsisNnLayer::pad_w},
    {"dilation_h", &CmsisNnLayer::dilation_h},
    {"dilation_w", &CmsisNnLayer::dilation_w},
    {"input_offset", &CmsisNnLayer::input_offset},
    {"output_offset", &CmsisNnLayer::output_offset},
    {"least", &CmsisNnLayer::least},
    {"most", &CmsisNnLayer::most},
};

// ---- constants

using Shared = std::shared_ptr<const Value>;
using Filters = std::map<std::pair<Shared, std::vector<int64_t>>, Shared>;

// Elements of a constant along axes of a nest: where the first one is, then of each axis, outermost first,
// its extent and how far apart its neighbours are.
//   address 3 + 24*i1 + 8*i2, axes {i1 < 4, i2 < 3}   ->   {3,  4, 24,  3, 8}
std::vector<int64_t> walk_of(const Affine& address, const Nest& nest, const std::vector<int>& axes) {
  std::vector<int64_t> walk = {address.constant};
  for (const int axis : axes) walk.insert(walk.end(), {nest.axes[axis].extent, address.coefficient(axis)});
  return walk;
}

// The elements that a walk passes, dense: [extents]. So a filter is brought to the library's order,
// filter[m,ky,kx,c], whatever order the model has.
Value walked(const Value& value, const std::vector<int64_t>& walk) {
  Shape shape;
  for (size_t k = 1; k < walk.size(); k += 2) shape.push_back(walk[k]);
  Value result(value.type, shape);
  for (int64_t e = 0; e < result.count(); ++e) {
    int64_t from = walk[0], rest = e;
    for (size_t k = shape.size(); k-- > 0; rest /= shape[k]) from += walk[2 * k + 2] * (rest % shape[k]);
    store(result, e, load(value, from));
  }
  return result;
}

// Its 31 bits and exponent: scale = multiplier * 2^(shift - 31). Nothing for a scale that CMSIS-NN rounds to
// nothing. frexp gives a fraction in [0.5, 1), and a float32 scale has 24 bits, so the multiplier is exact:
//
//   0.3 = 0.6 * 2^-1   ->   multiplier 0.6 * 2^31, shift -1
struct Multiplier {
  int32_t multiplier, shift;
};
std::optional<Multiplier> multiplier_of(double scale) {
  constexpr int kLeastShift = -30;
  if (!(0 < scale && scale < 1)) return std::nullopt;
  int shift = 0;
  const double fraction = std::frexp(scale, &shift);
  if (shift < kLeastShift) return std::nullopt;
  return Multiplier{static_cast<int32_t>(std::ldexp(fraction, 31)), shift};
}

// ---- calls

// A step's node as a call, and the constants that it reads beside its first operand.
struct Replacement {
  size_t step;
  Call call;
  std::vector<Shared> constants;  // filter, bias, multiplier, shift
  int64_t scratch;                // bytes
};

// Two passes: which steps can be calls, and of what; then one copy of the graph in which they are. A schedule
// without any keeps its graph.
class CallWriter {
 public:
  CallWriter(Schedule schedule, CmsisNnCore core, Filters& filters)
      : schedule_(std::move(schedule)), core_(core), filters_(filters) {}

  Schedule run() {
    std::vector<Replacement> all;
    int depth = 0;
    for (size_t s = 0; s < schedule_.steps.size(); ++s) {
      const StepKind kind = schedule_.steps[s].kind;
      depth += kind == StepKind::kIf || kind == StepKind::kLoop;
      depth -= kind == StepKind::kEndIf || kind == StepKind::kEndLoop;
      if (kind != StepKind::kRun || depth > 0 || stage_of(schedule_, s)) continue;
      if (auto found = replacement(s)) all.push_back(std::move(*found));
    }
    if (!all.empty()) replace(all);
    return std::move(schedule_);
  }

 private:
  // Nothing for a step that is no whole quantised layer, of which input and output share a storage (the
  // library reads inputs after it has written outputs), or that no row takes.
  std::optional<Replacement> replacement(size_t s) const {
    const Graph& graph = *schedule_.graph;
    const Node& node = *schedule_.steps[s].node;
    const auto layer = quantized_layer(node, graph);
    if (!layer) return std::nullopt;
    const Nest& nest = std::get<Nests>(node.body).front();
    const TensorId x = node.reads[layer->x->index], y = node.writes[0];
    const Layout &from = schedule_.layouts[x], &to = schedule_.layouts[y];
    if (from.root == to.root) return std::nullopt;
    for (const CmsisNnRow& row : kRows) {
      const auto found = row.layer({nest, *layer, graph.tensors[x].shape, graph.tensors[y].shape, from, to});
      if (!found || !row.serves(*found, core_)) continue;
      std::vector<Shared> constants = constants_of(node, *layer, *found);
      if (constants.empty() || (row.one_scale && !have_one_scale(constants))) continue;
      Call call{row.function, Type::kInt8, {}, multiply_accumulates(node)};
      for (const auto& [name, number] : kNumbers) call.parameters.push_back((*found).*number);
      call.parameters.push_back(static_cast<int64_t>(core_));
      return Replacement{s, std::move(call), std::move(constants), row.scratch(*found, core_)};
    }
    return std::nullopt;
  }

  // What a known expression is along those of these axes of the nest that it depends on; nothing (null) if it
  // does on others, too. A literal is one element. Kept by constant and walk, so that schedules share
  // filters.
  Shared values(const Node& node, const Expr& e, const std::vector<int>& axes) const {
    const Nest& nest = std::get<Nests>(node.body).front();
    if (e->op == Op::kConst) {
      Value literal(e->type, {1});
      store(literal, 0, e->value);
      return std::make_shared<const Value>(std::move(literal));
    }
    const Tensor& tensor = schedule_.graph->tensors[node.reads[e->index]];
    const auto found = affine_address(e->args, row_major_strides(tensor.shape), axis_intervals(nest));
    if (!found) return nullptr;
    const Affine address = without_still_axes(*found, nest);
    std::vector<int> named = axes;
    std::erase_if(named, [&](int axis) { return address.coefficient(axis) == 0; });
    if (named.size() != address.terms.size()) return nullptr;
    const std::vector<int64_t> walk = walk_of(address, nest, named);
    Shared& known = filters_[{tensor.constant, walk}];
    if (!known) known = std::make_shared<const Value>(walked(*tensor.constant, walk));
    return known;
  }

  // Filter, biases, multipliers and shifts, the last three of an element a channel; none: there is something
  // that CMSIS-NN does not take.
  std::vector<Shared> constants_of(const Node& node, const QuantizedLayer& layer,
                                   const CmsisNnLayer& of) const {
    std::vector<int> channels;
    if (of.channel >= 0) channels.push_back(of.channel);
    const Shared filter = values(node, layer.weight, of.filter_axes);
    const Shared scale = values(node, layer.scale, channels);
    const Shared bias = layer.bias.empty() ? std::make_shared<const Value>(Type::kInt32, Shape{1})
                                           : values(node, layer.bias, channels);
    if (!filter || filter->shape.size() != of.filter_axes.size() || !scale || !bias) return {};
    Value biases(Type::kInt32, {of.out_c}), multipliers = biases, shifts = biases;
    for (int64_t m = 0; m < of.out_c; ++m) {
      const auto multiplier = multiplier_of(load(*scale, m % scale->count()).f);
      if (!multiplier) return {};
      store(biases, m, load(*bias, m % bias->count()));
      store(multipliers, m, {.i = multiplier->multiplier});
      store(shifts, m, {.i = multiplier->shift});
    }
    std::vector<Shared> all = {filter};
    for (Value* value : {&biases, &multipliers, &shifts})
      all.push_back(std::make_shared<const Value>(std::move(*value)));
    return all;
  }

  static bool have_one_scale(const std::vector<Shared>& constants) {
    return std::all_of(constants.begin() + 2, constants.end(), [](const Shared& value) {
      for (int64_t m = 1; m < value->count(); ++m)
        if (load(*value, m).i != load(*value, 0).i) return false;
      return true;
    });
  }

  // In a graph of the schedule's own: other schedules of the model share the one it had. Nodes of the copy
  // correspond to the old ones in the order of a walk; steps point to these then, and overlaps of replaced
  // steps, which assumed loops, go.
  void replace(const std::vector<Replacement>& all) {
    const auto graph = std::make_shared<Graph>(*schedule_.graph);
    std::vector<const Node*> old_nodes, new_nodes;
    for (const Node& node : schedule_.graph->block)
      visit_nodes(node, [&](const Node& each) { old_nodes.push_back(&each); });
    for (const Node& node : graph->block)
      visit_nodes(node, [&](const Node& each) { new_nodes.push_back(&each); });
    std::map<const Node*, const Node*> twin_of;
    for (size_t k = 0; k < old_nodes.size(); ++k) twin_of.emplace(old_nodes[k], new_nodes[k]);
    for (Step& step : schedule_.steps) step.node = twin_of.at(step.node);
    std::set<int> steps;
    for (const Replacement& each : all) {
      const Node* node = schedule_.steps[each.step].node;
      const auto at = std::ranges::find_if(graph->block, [&](const Node& other) { return &other == node; });
      ARENAC_CHECK(at != graph->block.end(), "a step outside control flow is no node of the graph");
      take_over(*at, each, *graph);
      steps.insert(static_cast<int>(each.step));
      schedule_.loops[each.step].clear();
    }
    std::erase_if(schedule_.overlaps, [&](const StorageOverlap& o) { return steps.contains(o.step); });
    schedule_.graph = graph;
  }

  // The node reads its input and the constants in the function's order, and writes its result and, where
  // there is any, the scratch: a tensor that lives at this step alone, so that the planner finds room for it
  // as for any other.
  void take_over(Node& node, const Replacement& by, Graph& graph) {
    const QuantizedLayer layer = *quantized_layer(node, graph);
    const auto name_of = [&](const Expr& e, const char* otherwise) {
      const bool named = !e.empty() && e->op == Op::kRead;
      return named ? graph.tensors[node.reads[e->index]].name : node.origin + otherwise;
    };
    const std::string names[] = {name_of(layer.weight, ""), name_of(layer.bias, " bias"),
                                 node.origin + " multiplier", node.origin + " shift"};
    std::vector<TensorId> reads = {node.reads[layer.x->index]};
    for (size_t k = 0; k < by.constants.size(); ++k)
      reads.push_back(
          added(graph, {names[k], by.constants[k]->type, by.constants[k]->shape, by.constants[k]}));
    node.reads = std::move(reads);
    if (by.scratch > 0)
      node.writes.push_back(added(graph, {node.origin + " scratch", Type::kInt8, {by.scratch}, nullptr}));
    node.body = by.call;
  }

  // Dense, in a storage of its own.
  TensorId added(Graph& graph, Tensor tensor) {
    const auto id = static_cast<TensorId>(graph.tensors.size());
    schedule_.layouts.push_back({id, 0, row_major_strides(tensor.shape)});
    graph.tensors.push_back(std::move(tensor));
    return id;
  }

  Schedule schedule_;
  const CmsisNnCore core_;
  Filters& filters_;
};

}  // namespace

// By what the target's table says of its instructions.
std::optional<CmsisNnCore> cmsis_nn_core(const Target& target) {
  constexpr std::string_view kPrefix = "cortex-m";
  const std::string_view name = target.name;
  if (!name.starts_with(kPrefix)) return std::nullopt;
  if (target.along_sum == ByteProducts::kAlongSumOfVectors) return CmsisNnCore::kHelium;
  return target.byte_lanes > 0 ? CmsisNnCore::kDsp : CmsisNnCore::kPlain;
}

const CmsisNnRow* cmsis_nn_row(const Call& call) {
  const auto row = std::ranges::find(kRows, call.kernel, &CmsisNnRow::function);
  return row == std::end(kRows) ? nullptr : row;
}

std::vector<std::pair<const char*, int64_t>> cmsis_nn_numbers(const Call& call) {
  std::vector<std::pair<const char*, int64_t>> numbers;
  for (size_t k = 0; k < std::size(kNumbers); ++k) numbers.emplace_back(kNumbers[k].name, call.parameters[k]);
  return numbers;
}

CmsisNnCore cmsis_nn_core(const Call& call) { return static_cast<CmsisNnCore>(call.parameters.back()); }

Schedule CmsisNnCalls::in(Schedule schedule) {
  return CallWriter(std::move(schedule), core_, filters_).run();
}

}  // namespace arenac
