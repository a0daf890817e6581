#include "codegen/cmsis_nn_call.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>

namespace arenac {
namespace {

// Null where the step is another.
const Call* cmsis_nn_of(const Step& step) {
  const Call* call = step.kind == StepKind::kRun ? std::get_if<Call>(&step.node->body) : nullptr;
  return call && cmsis_nn_row(*call) ? call : nullptr;
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
  for (const auto& [name, number] : cmsis_nn_numbers(call)) named.push_back(fmt::arg(name, number));
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
