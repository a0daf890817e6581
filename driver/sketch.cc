#include "driver/sketch.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/c_program.h"

namespace arenac {
namespace {

std::vector<SketchTensor> tensors_of(const CProgram& p, const CallerTensors& of) {
  std::vector<SketchTensor> all;
  for (size_t k = 0; k < of.ids.size(); ++k)
    all.push_back({info(p.graph.tensors[of.ids[k]].type).c_name, of.members[k],
                   p.function_of(of, k) + "_data", p.macro_of(of, k), p.function_of(of, k),
                   p.lifetimes.buffer_of[of.ids[k]] >= 0});
  return all;
}

bool holds_rows_or_text(const CProgram& p, const CallerTensors& of) {
  return std::ranges::any_of(
      of.ids, [&](TensorId id) { return p.by_rows(id) || p.graph.tensors[id].type == Type::kString; });
}

}  // namespace

SketchModel sketch_of(const Compilation& c, const CompileOptions& options) {
  const Lowered lowered = lower(c.schedule, c.lifetimes, c.plan);
  const EmitOptions emitted = emit_options(options, c.name);
  const CProgram p(lowered, c.map, emitted);
  SketchModel model{.name = p.name,
                    .upper = p.upper,
                    .runs = !p.weights_by_pointer() && !p.feed && !holds_rows_or_text(p, p.inputs) &&
                            !holds_rows_or_text(p, p.outputs),
                    .resets = p.has_state(),
                    .pools = {},
                    .inputs = tensors_of(p, p.inputs),
                    .outputs = tensors_of(p, p.outputs),
                    .arguments = ""};
  const std::vector<std::string> members = pool_members(c.lifetimes.problem.pools);
  for (size_t k = 0; k < members.size(); ++k) model.pools.emplace_back(members[k], p.pools[k]);
  if (p.takes().inputs) model.arguments = "&in";
  if (p.takes().outputs) model.arguments += fmt::format("{}&out", model.arguments.empty() ? "" : ", ");
  return model;
}

}  // namespace arenac
