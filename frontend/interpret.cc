#include "frontend/interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "frontend/error.h"
#include "frontend/evaluate.h"
#include "frontend/facts.h"
#include "frontend/kernels.h"
#include "frontend/partial_sums.h"

namespace arenac {
namespace {

// One point of a nest's iteration space.
struct Point {
  std::vector<int64_t> axes;
  std::span<const int64_t> iterations;
  std::span<const Value* const> reads;
  Scalar acc;
};

// declared here, as indices are expressions, too
Scalar evaluate(const Expr& e, const Point& at);

// The row-major number of an element, by Horner's rule:  ((i0 * n1) + i1) * n2 + i2. An index outside is an
// error of arenac, which verify() was to find.
int64_t element_of(const Shape& shape, const std::vector<Expr>& indices, const Point& at) {
  ARENAC_CHECK(indices.size() == shape.size(), "an access of the wrong rank");
  int64_t element = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t index = evaluate(indices[d], at).i;
    ARENAC_CHECK(index >= 0 && index < shape[d],
                 fmt::format("index {} = {} leaves dimension {} of {}", to_string(indices[d]), index, d,
                             to_string(shape)));
    element = element * shape[d] + index;
  }
  return element;
}

Scalar evaluate(const Expr& e, const Point& at) {
  return evaluate(e, [&](const Expr& leaf) -> Scalar {
    if (leaf->op == Op::kAcc) return at.acc;
    if (leaf->op == Op::kAxis)
      return {.i = leaf->index >= 0 ? at.axes[leaf->index] : at.iterations[-1 - leaf->index]};
    ARENAC_CHECK(leaf->op == Op::kRead, "an instruction in a graph");
    const Value& from = *at.reads[leaf->index];
    return load(from, element_of(from.shape, leaf->args, at));
  });
}

// Whether all bounds hold: the body must not be evaluated elsewhere, as it may read outside its tensors.
bool inside(const std::vector<Bound>& where, const Point& at) {
  for (const Bound& bound : where) {
    const int64_t index = evaluate(bound.index, at).i;
    if (index < bound.begin || index >= bound.end) return false;
  }
  return true;
}

// The combination of a nest's body over its reduced axes `loops`, the first outermost. Long float sums are of
// parts:
//
//   2000 terms, width 256:   (0 + t0 + .. + t255) + (0 + t256 + .. + t511) + .. + (0 + t1792 + .. + t1999)
//
// each part from the neutral element on, and the parts in order: the same additions as the emitted C's.
// One for all points of a nest: run() looks at the axes outside, which for_each has set, and moves those
// inside.
class Reducer {
 public:
  Reducer(const Nest& nest, const std::vector<int>& loops, Point& at)
      : nest_(nest), loops_(loops), at_(at), op_(op_of(nest.combine)) {
    std::vector<int64_t> extents;
    for (int a : loops) extents.push_back(nest.axes[a].extent);
    widths_.resize(loops.size());
    if (sums_in_parts(nest.combine, nest.body->type)) widths_ = widths_of_parts(extents);
  }

  Scalar run() const {
    Scalar value = neutral(nest_.combine, nest_.body->type);
    add_axis(0, value);
    return value;
  }

 private:
  void add_axis(size_t k, Scalar& value) const {
    if (k < loops_.size()) return add_range(k, 0, {0, nest_.axes[loops_[k]].extent}, value);
    if (inside(nest_.where, at_)) value = combined(value, evaluate(nest_.body, at_));
  }

  // The values `range` of axis k, in parts from the given width on: parts of parts, as many levels as
  // widths_[k] has entries, the widest first. The last part of a level may be shorter.
  void add_range(size_t k, size_t width, Interval range, Scalar& value) const {
    if (width == widths_[k].size()) {
      int64_t& i = at_.axes[loops_[k]];
      for (i = range.begin; i < range.end; ++i) add_axis(k + 1, value);
      return;
    }
    const int64_t step = widths_[k][width];
    for (int64_t begin = range.begin; begin < range.end; begin += step) {
      Scalar part = neutral(nest_.combine, nest_.body->type);
      add_range(k, width + 1, {begin, std::min(begin + step, range.end)}, part);
      value = combined(value, part);
    }
  }

  // Rounded to the type of the body at every step.
  Scalar combined(Scalar a, Scalar b) const { return apply(op_, nest_.body->type, a, b); }

  const Nest& nest_;
  // axes of the nest, in the order in which they are walked
  const std::vector<int>& loops_;
  Point& at_;
  Op op_;
  std::vector<std::vector<int64_t>> widths_;  // per loop
};

// Calls `body` at every combination of the axes of `loops`, the first outermost: recursion in place of as
// many nested loops as there are axes. Of no axes, once.
template <typename Body>
void for_each(const std::vector<Axis>& axes, const std::vector<int>& loops, size_t depth, Point& at,
              const Body& body) {
  if (depth == loops.size()) return body();
  const int a = loops[depth];
  for (at.axes[a] = 0; at.axes[a] < axes[a].extent; ++at.axes[a]) for_each(axes, loops, depth + 1, at, body);
}

void run_block(const Block& block, const Graph& graph, std::vector<std::shared_ptr<const Value>>& values,
               std::vector<int64_t>& iterations) {
  for (const Node& node : block) run_node(node, graph, values, iterations);
}

// The condition is read anew before each iteration, as the body assigns it.
void run_loop(const Loop& loop, const Graph& graph, std::vector<std::shared_ptr<const Value>>& values,
              std::vector<int64_t>& iterations) {
  if (static_cast<int>(iterations.size()) <= loop.symbol) iterations.resize(loop.symbol + 1);
  const int64_t count = loop.count ? load(*values[*loop.count], 0).i : loop.trips;
  for (int64_t t = 0; t < loop.trips && t < count; ++t) {
    if (loop.condition && !load(*values[*loop.condition], 0).i) break;
    iterations[loop.symbol] = t;
    run_block(loop.body, graph, values, iterations);
  }
}

// Values are shared and never change: a write makes a new one, so what somebody else holds stays as it was.
std::shared_ptr<Value> room_for(TensorId id, const Graph& graph,
                                const std::vector<std::shared_ptr<const Value>>& values) {
  if (values[id]) return std::make_shared<Value>(*values[id]);  // a later partial write keeps what stands
  return std::make_shared<Value>(graph.tensors[id].type, graph.tensors[id].shape);
}

// Nest after nest; of a recurrence all nests for row 0, then for row 1, ...
void run_nests(const Node& node, std::span<const Value* const> reads, Value& write,
               std::span<const int64_t> iterations) {
  const Nests& nests = std::get<Nests>(node.body);
  if (!is_recurrence(node)) {
    for (const Nest& nest : nests) run_nest(nest, reads, write, iterations);
    return;
  }
  for (int64_t row = 0; row < write.shape[0]; ++row)
    for (const Nest& nest : nests)
      if (const auto at = nest_at_row(nest, row)) run_nest(*at, reads, write, iterations);
}

}  // namespace

Op op_of(Combine combine) {
  switch (combine) {
    case Combine::kSum:
      return Op::kAdd;
    case Combine::kProduct:
      return Op::kMul;
    case Combine::kMin:
      return Op::kMin;
    case Combine::kMax:
      return Op::kMax;
    case Combine::kNone:
      break;
  }
  internal_error(__FILE__, __LINE__, "no operation combines this nest");
}

// The least of bool is false and the greatest true, by the conversions; min over nothing is the type's
// largest.
Scalar neutral(Combine combine, Type type) {
  const bool f = is_float(type);
  const double infinity = std::numeric_limits<double>::infinity();
  switch (combine) {
    case Combine::kSum:
    case Combine::kNone:
      return f ? Scalar{.f = 0} : Scalar{.i = 0};
    case Combine::kProduct:
      return f ? Scalar{.f = 1} : Scalar{.i = 1};
    // Saturating conversion of an infinity gives an integer's own extreme.
    case Combine::kMin:
      return f ? Scalar{.f = infinity} : convert(type, Type::kFloat64, {.f = infinity});
    case Combine::kMax:
      if (type == Type::kBool) return {.i = 0};
      return f ? Scalar{.f = -infinity} : convert(type, Type::kFloat64, {.f = -infinity});
  }
  internal_error(__FILE__, __LINE__, "unknown combination");
}

// The plain form alone: axes in the order of the dimensions, a constant body.
bool is_fill(const Nest& nest, const Shape& shape) {
  if (nest.combine != Combine::kNone || !nest.where.empty() || !nest.finish.empty() ||
      nest.body->op != Op::kConst || nest.axes.size() != shape.size())
    return false;
  for (size_t d = 0; d < shape.size(); ++d)
    if (!same(nest.store[d], axis(static_cast<int>(d))) || nest.axes[d].extent != shape[d]) return false;
  return true;
}

// Three forms of a nest (graph.h), at every point of the axes that are not reduced:
//
//   no combination      inside the bounds   write[store] = finish(body)
//   accumulating        inside the bounds   write[store] = write[store] + body      + : the combination
//   reducing            everywhere          write[store] = finish(combination of body, inside the bounds)
//
// What is stored is rounded to the write's type. `order` changes in which order the points are visited: where
// floats are summed, also the result's last bits.
void run_nest(const Nest& nest, std::span<const Value* const> reads, Value& write,
              std::span<const int64_t> iterations, std::span<const int> order) {
  if (is_fill(nest, write.shape)) {
    const Scalar value = convert(write.type, nest.body->type, nest.body->value);
    for (int64_t k = 0; k < write.count(); ++k) store(write, k, value);
    return;
  }
  Point at{std::vector<int64_t>(nest.axes.size()), iterations, reads, {}};
  std::vector<int> kept, reduced;
  for (size_t k = 0; k < nest.axes.size(); ++k) {
    const int a = order.empty() ? static_cast<int>(k) : order[k];
    (nest.axes[a].reduced ? reduced : kept).push_back(a);
  }
  const Type type = nest.body->type;
  std::optional<Reducer> reducer;
  if (nest.combine != Combine::kNone && !nest.accumulate) reducer.emplace(nest, reduced, at);
  for_each(nest.axes, kept, 0, at, [&] {
    Scalar value{};
    if (nest.combine == Combine::kNone) {
      if (!inside(nest.where, at)) return;
      value = evaluate(nest.body, at);
    } else if (nest.accumulate) {
      if (!inside(nest.where, at)) return;
      const Scalar before = convert(type, write.type, load(write, element_of(write.shape, nest.store, at)));
      value = apply(op_of(nest.combine), type, before, evaluate(nest.body, at));
    } else {
      value = reducer->run();
    }
    Type result = type;
    if (!nest.finish.empty()) {
      at.acc = value;
      value = evaluate(nest.finish, at);
      result = nest.finish->type;
    }
    store(write, element_of(write.shape, nest.store, at), convert(write.type, result, value));
  });
}

// A read of what nothing has written is an InternalError; a Refusal that is reached is a UserError, as the
// C's run returns an error there. A Call runs the very C function that is emitted, compiled into arenac.
void run_node(const Node& node, const Graph& graph, std::vector<std::shared_ptr<const Value>>& values,
              std::vector<int64_t>& iterations) {
  const auto operand = [&](TensorId id) -> const Value* {
    ARENAC_CHECK(values[id] != nullptr,
                 fmt::format("'{}' reads '{}' before it is written", node.origin, graph.tensors[id].name));
    return values[id].get();
  };
  std::vector<const Value*> reads;
  if (std::holds_alternative<Nests>(node.body)) {
    const TensorId out = node.writes[0];
    auto write = room_for(out, graph, values);
    for (TensorId id : node.reads) reads.push_back(id == out ? write.get() : operand(id));
    run_nests(node, reads, *write, iterations);
    values[out] = write;
    return;
  }
  for (TensorId id : node.reads) reads.push_back(operand(id));
  if (const Call* call = std::get_if<Call>(&node.body)) {
    // as the emitted C calls it: dense operands, results, integer parameters
    std::vector<const void*> in;
    for (const Value* read : reads) in.push_back(read->bytes.data());
    std::vector<std::shared_ptr<Value>> writes;
    std::vector<void*> out;
    for (TensorId id : node.writes)
      out.push_back(writes.emplace_back(room_for(id, graph, values))->bytes.data());
    KernelFunction* run = kernel(call->kernel).instance(call->type);
    ARENAC_CHECK(run != nullptr,
                 fmt::format("kernel {} has no {} instance", call->kernel, info(call->type).name));
    run(in.data(), out.data(), call->parameters.data());
    for (size_t k = 0; k < writes.size(); ++k) values[node.writes[k]] = writes[k];
  } else if (const If* branch = std::get_if<If>(&node.body)) {
    run_block(load(*reads[0], 0).i ? branch->then_block : branch->else_block, graph, values, iterations);
  } else if (const Refusal* refusal = std::get_if<Refusal>(&node.body)) {
    throw UserError(refusal->reason);
  } else {
    run_loop(std::get<Loop>(node.body), graph, values, iterations);
  }
}

// Values of constants are shared with the graph, not copied.
std::vector<std::shared_ptr<const Value>> interpret(const Graph& graph, const std::vector<Value>& inputs) {
  std::vector<std::shared_ptr<const Value>> values(graph.tensors.size());
  for (size_t k = 0; k < graph.tensors.size(); ++k) values[k] = graph.tensors[k].constant;
  ARENAC_CHECK(inputs.size() == graph.inputs.size(), "one value per graph input");
  for (size_t k = 0; k < inputs.size(); ++k) values[graph.inputs[k]] = std::make_shared<Value>(inputs[k]);
  std::vector<int64_t> iterations;
  run_block(graph.block, graph, values, iterations);
  return values;
}

// In the order of graph.outputs. The oracle of the tests: what the emitted C computes is compared with these.
std::vector<Value> interpret_outputs(const Graph& graph, const std::vector<Value>& inputs) {
  const auto values = interpret(graph, inputs);
  std::vector<Value> outputs;
  for (TensorId id : graph.outputs) {
    const Tensor& tensor = graph.tensors[id];  // no node writes one without elements
    outputs.push_back(values.at(id) ? *values.at(id) : Value(tensor.type, tensor.shape));
  }
  return outputs;
}

}  // namespace arenac
