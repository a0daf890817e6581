// What NAME.h says of inputs and outputs:
//
//   KWS_INPUT_IMAGE_COUNT, _DIM0, .., _SCALE     io_macros       extents, places, quantisation
//   kws_inputs { const float *image; }           io_struct       pointers of the caller's
//   kws_input_image(&work)                       io_functions    where it lies; from and to reals
#include <fmt/format.h>

#include "codegen/c_program.h"

namespace arenac {
namespace {

// Type, shape and order, which a pointer does not say.
std::string io_comment(const CProgram& p, TensorId id, const std::string& model_name) {
  const Tensor& t = p.graph.tensors[id];
  const auto rows = p.graph.by_rows.find(id);
  const std::string order =
      rows == p.graph.by_rows.end() ? "row-major" : fmt::format("by rows of dimension {}", rows->second);
  return fmt::format("/* {} {}, {}: {} */", info(t.type).name, to_string(t.shape), order,
                     c_comment(model_name));
}

// Rows that come or go one by one lie in a ring, which is no place for the caller.
bool lies_in_arena(const CProgram& p, TensorId id) {
  return p.lifetimes.buffer_of[id] >= 0 && !p.by_rows(id);
}

// Rounds as QuantizeLinear does: to the nearest, of two as near the even one. Without libm and without the
// processor's rounding mode; limits are asked before the conversion, which is undefined in C for what no int
// holds, and a NaN is not above the least.
constexpr const char* kQuantize =
    R"(/* The integer nearest to `scaled`, of two the even one, plus `zero`, within [least, most]; of no number: least. */
static inline int32_t {}_quantized(float scaled, int32_t zero, int32_t least, int32_t most)
{{
  int32_t whole;
  float rest;
  if (!(scaled > (float)(least - zero))) return least;
  if (scaled >= (float)(most - zero)) return most;
  whole = (int32_t)scaled;
  rest = scaled - (float)whole;
  if (rest > 0.5f || (rest == 0.5f && whole % 2 != 0)) ++whole;
  if (rest < -0.5f || (rest == -0.5f && whole % 2 != 0)) --whole;
  return whole + zero;
}}
)";

struct Range {
  int64_t least, most;
};
// Of integers of 2, 4 and more bits: the smallest and the largest that are stored.
Range range_of(Type type) {
  const int bits = info(type).bits > 0 ? info(type).bits : 8 * size_of(type);
  const int64_t count = int64_t{1} << bits;
  return info(type).is_signed ? Range{-count / 2, count / 2 - 1} : Range{0, count - 1};
}

// Functions of a channel's scale and zero point.
void channel_functions(CText& c, const CProgram& p, const QuantizedAs& as, const std::string& bare) {
  std::vector<std::string> scales;
  for (const float scale : as.scales) scales.push_back(c_literal(Type::kFloat32, {.f = scale}));
  const auto function = [&](const char* type, const char* what, const std::string& list) {
    c.line("static inline {} {}_{}_{}(size_t channel)\n{{", type, p.name, what, bare);
    c.line("  static const {} all[{}] = {{{}}};\n  return all[channel];\n}}", type, as.scales.size(), list);
  };
  function("float", "scale", fmt::format("{}", fmt::join(scales, ", ")));
  function("int32_t", "zero_point", fmt::format("{}", fmt::join(as.zero_points, ", ")));
}

// A pair of functions; macros have the scale and zero point, or functions those of each channel.
void quantize_functions(CText& c, const CProgram& p, const CallerTensors& of, size_t k) {
  const auto as = p.quantization_of(of, k);
  if (!as) return;
  const Type type = p.graph.tensors[of.ids[k]].type;
  const Range range = range_of(type);
  const std::string function = p.function_of(of, k), bare = function.substr(p.name.size() + 1);
  const std::string macro = p.macro_of(of, k), integer = info(type).c_name;
  std::string scale = macro + "_SCALE", zero_point = macro + "_ZERO_POINT", channel;
  if (as->by_channel()) {
    channel_functions(c, p, *as, bare);
    channel = ", size_t channel";
    scale = fmt::format("{}_scale_{}(channel)", p.name, bare);
    zero_point = fmt::format("{}_zero_point_{}(channel)", p.name, bare);
  }
  c.line("static inline {} {}_quantize_{}(float real{})\n{{", integer, p.name, bare, channel);
  c.line("  return ({}){}_quantized(real / {}, {}, {}, {});\n}}", integer, p.name, scale, zero_point,
         range.least, range.most);
  c.line("static inline float {}_dequantize_{}({} q{})\n{{", p.name, bare, integer, channel);
  c.line("  return (float)((int32_t)q - {}) * {};\n}}", zero_point, scale);
}

// Where in the workspace an input or output lies.
void place_function(CText& c, const CProgram& p, const CallerTensors& of, size_t k) {
  const TensorId id = of.ids[k];
  if (!lies_in_arena(p, id)) return;
  const size_t pool = static_cast<size_t>(p.plan.placements[p.lifetimes.buffer_of[id]].pool);
  const char* type = info(p.graph.tensors[id].type).c_name;
  c.line("static inline {} *{}(const {}_workspace *w)\n{{", type, p.function_of(of, k), p.name);
  c.line("  return ({} *)(void *)((unsigned char *)w->{} + {}_OFFSET);\n}}", type, c_member(p.pools[pool]),
         p.macro_of(of, k));
}

// One scale is a pair of macros; of several the number of channels, and functions have the rest.
void quantization_macros(CText& c, const QuantizedAs& as, const std::string& macro) {
  // The convention of ONNX: real = (q - zero point) * scale.
  constexpr const char* kMeaning = "q stands for (q - zero point) * scale";
  if (as.by_channel()) {
    c.line("#define {}_CHANNELS {}u /* indices of dimension {}: {}, both of the channel */", macro,
           as.scales.size(), as.axis, kMeaning);
    return;
  }
  c.line("#define {}_SCALE {} /* {} */", macro, c_literal(Type::kFloat32, {.f = as.scales[0]}), kMeaning);
  c.line(
      "#define {}_ZERO_POINT {}", macro,
      as.zero_points[0] < 0 ? fmt::format("({})", as.zero_points[0]) : fmt::format("{}", as.zero_points[0]));
}

}  // namespace

// For array sizes and checks of the caller's: counts are of elements, rows of one call, offsets of bytes.
void io_macros(CText& c, const CProgram& p, const CallerTensors& of) {
  for (size_t k = 0; k < of.ids.size(); ++k) {
    const Tensor& t = p.graph.tensors[of.ids[k]];
    const std::string macro = p.macro_of(of, k);
    c.line("#define {}_COUNT {}u", macro, element_count(t.shape));
    c.line("#define {}_RANK {}", macro, t.shape.size());
    for (size_t d = 0; d < t.shape.size(); ++d) c.line("#define {}_DIM{} {}", macro, d, t.shape[d]);
    if (const auto as = p.quantization_of(of, k)) quantization_macros(c, *as, macro);
    if (p.by_rows(of.ids[k])) {
      const int64_t row = p.schedule.layouts[of.ids[k]].ring.row;
      c.line("#define {}_ROWS {}u", macro, element_count(t.shape) / row);
      c.line("#define {}_ROW_COUNT {}u", macro, row);
    } else if (const int b = p.lifetimes.buffer_of[of.ids[k]]; b >= 0)
      c.line("#define {}_OFFSET {}u /* in the {} */", macro, p.plan.placements[b].offset, p.pool_of(b));
  }
}

// A struct without members is none in C: it gets one that nobody reads.
void io_struct(CText& c, const CProgram& p, const CallerTensors& of) {
  const bool is_input = &of == &p.inputs;
  if (!(is_input ? p.takes().inputs : p.takes().outputs)) return;
  c.open("typedef struct");
  for (size_t k = 0; k < of.ids.size(); ++k) {
    if (lies_in_arena(p, of.ids[k])) continue;
    if (const char* type = info(p.graph.tensors[of.ids[k]].type).c_name; !is_input && p.by_rows(of.ids[k]))
      c.line(
          "struct {{\n  void (*row)(void *user, size_t y, const {} *data); /* takes row y of these, which "
          "come in turn */\n  void *user;\n}} {}; {}",
          type, of.members[k], io_comment(p, of.ids[k], of.names[k]));
    else
      c.line("{}{} *{}; {}", is_input ? "const " : "", type, of.members[k],
             io_comment(p, of.ids[k], of.names[k]));
  }
  if (of.ids.empty()) c.line("const void *unused;");
  c.close(fmt::format(" {}_{};", p.name, is_input ? "inputs" : "outputs"));
}

// Static inline: a header that many files include defines no symbol, and what is not called takes no flash.
void io_functions(CText& c, const CProgram& p) {
  bool quantised = false, placed = false;
  for (const CallerTensors* of : {&p.inputs, &p.outputs})
    for (size_t k = 0; k < of->ids.size(); ++k) {
      quantised |= p.quantization_of(*of, k).has_value();
      placed |= lies_in_arena(p, of->ids[k]);
    }
  if (placed)
    c.line(
        "/* Where inputs and outputs lie: inputs are written before {0}_run, which may write over them. */",
        p.name);
  for (const CallerTensors* of : {&p.inputs, &p.outputs})
    for (size_t k = 0; k < of->ids.size(); ++k) place_function(c, p, *of, k);
  if (quantised) c.line(kQuantize, p.name);
  for (const CallerTensors* of : {&p.inputs, &p.outputs})
    for (size_t k = 0; k < of->ids.size(); ++k) quantize_functions(c, p, *of, k);
  if (placed || quantised) c.put("");
}

}  // namespace arenac
