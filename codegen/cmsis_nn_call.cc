#include "codegen/cmsis_nn_call.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "frontend/error.h"

namespace arenac {
namespace {

// Null where the step is another.
const Call* cmsis_nn_of(const Step& step) {
  const Call* call = step.kind == StepKind::kRun ? std::get_if<Call>(&step.node->body) : nullptr;
  return call && cmsis_nn_row(*call) ? call : nullptr;
}

using Numbers = std::vector<std::pair<const char*, int64_t>>;

int64_t& number(Numbers& numbers, std::string_view name) {
  const auto found = std::ranges::find(numbers, name, &Numbers::value_type::first);
  ARENAC_CHECK(found != numbers.end(), "a layer has all numbers");
  return found->second;
}

// Whether it is an image of one row that the library would compute otherwise, or refuse. With Helium such
// images have a function of their own (arm_convolve_1_x_n_s8), which derives the padding at the end from the
// one at the beginning, and with strides takes it for less than a stride.
bool is_misread_row(Numbers n) {
  if (number(n, "in_h") != 1 || number(n, "filter_h") != 1 || number(n, "filter_w") == 1) return false;
  const int64_t stride = number(n, "stride_w"), pad = number(n, "pad_w"), in = number(n, "in_w");
  const int64_t padding = (number(n, "out_w") - 1) * stride + number(n, "filter_w") - in;  // at both ends
  const bool alike = padding == 2 * pad || padding == 2 * pad + 1;
  return !alike || (stride > 1 && padding > 0) || in < number(n, "filter_w");
}

// The numbers that a call is written with. What is misread as a row is the same bytes as a column, which the
// library computes like any image, with no more scratch.
Numbers numbers_of(const Call& call) {
  Numbers numbers = cmsis_nn_numbers(call);
  if (cmsis_nn_core(call) != CmsisNnCore::kHelium || !is_misread_row(numbers)) return numbers;
  for (const std::string of : {"in_", "filter_", "out_", "stride_", "pad_", "dilation_"})
    std::swap(number(numbers, of + "h"), number(numbers, of + "w"));
  return numbers;
}

}  // namespace

bool calls_cmsis_nn(const Schedule& schedule) { return std::ranges::any_of(schedule.steps, cmsis_nn_of); }

// The scratch in the arena is as large as the target's core wants it. CMSIS-NN chooses its sources by the
// compiler's options: with Helium they want more than a plan for other cores has, and the build stops instead
// of each run.
std::string cmsis_nn_include(const Schedule& schedule, const std::string& name) {
  const std::string include = fmt::format(
      "#if defined(__has_include)\n#if !__has_include(\"arm_nnfunctions.h\")\n"
      "#error \"{}.c calls CMSIS-NN, whose arm_nnfunctions.h is not found: give the compiler the library's "
      "folder Include (-I)\"\n#endif\n#endif\n#include \"arm_nnfunctions.h\"\n",
      name);
  const Call& call = *cmsis_nn_of(*std::ranges::find_if(schedule.steps, cmsis_nn_of));
  if (cmsis_nn_core(call) == CmsisNnCore::kHelium) return include;
  return include + fmt::format(
                       "#if defined(ARM_MATH_MVEI) || (defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & "
                       "1))\n#error \"CMSIS-NN wants more scratch with Helium than {}.c "
                       "has: arenac --target cortex-m55\"\n#endif\n",
                       name);
}

// Texts of the row (scheduler/cmsis_nn.h) with the layer's numbers in them. Structs of numbers alone are
// static: they are in flash and take no stack. The library says itself how much scratch it wants, which is
// asked for before every call.
CText cmsis_nn_call(const Call& call, const CmsisNnOperands& operands) {
  const CmsisNnRow& row = *cmsis_nn_row(call);
  fmt::dynamic_format_arg_store<fmt::format_context> named;
  for (const auto& [name, number] : numbers_of(call)) named.push_back(fmt::arg(name, number));
  const auto& [reads, writes, scratch, refused] = operands;
  named.push_back(fmt::arg("multiplier", reads[3]));
  named.push_back(fmt::arg("shift", reads[4]));
  const auto filled = [&](std::string_view text) { return fmt::vformat(text, named); };
  CText c;
  c.line("static const {} params = {};", row.params_type, filled(row.params));
  c.put(filled("static const cmsis_nn_dims input_dims = {{{n}, {in_h}, {in_w}, {in_c}}};"));
  c.put(filled(fmt::format("static const cmsis_nn_dims filter_dims = {};", row.filter_dims)));
  c.put(filled("static const cmsis_nn_dims bias_dims = {{1, 1, 1, {out_c}}};"));
  c.put(filled("static const cmsis_nn_dims output_dims = {{{n}, {out_h}, {out_w}, {out_c}}};"));
  c.line("const {} quant = {};", row.quant_type, filled(row.quant));
  c.line("const cmsis_nn_context ctx = {{{}, {}}};", scratch > 0 ? writes[1] : "0", scratch);
  c.line("if ({}_get_buffer_size({}) > ctx.size ||", row.function, row.sized_by);
  c.line(
      "    {}(&ctx, &params, &quant, &input_dims, {}, &filter_dims, {}, &bias_dims, {}, &output_dims, {}) !=",
      row.function, reads[0], reads[1], reads[2], writes[0]);
  c.line("        ARM_CMSIS_NN_SUCCESS)");
  c.line("  return {};", refused);
  return c;
}

}  // namespace arenac
