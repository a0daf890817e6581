#include "codegen/c_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "codegen/group_copies.h"
#include "frontend/error.h"
#include "scheduler/slab_runs.h"

namespace arenac {
namespace {

// States are no arguments: those inputs and outputs stay in the arena. Of the others every name is made
// distinct once, so that the member, the macro and the function of a tensor are the same word.
CallerTensors of_caller(const Lifetimes& lifetimes, const std::vector<TensorId>& ids,
                        const std::vector<std::string>& names) {
  CallerTensors all;
  for (size_t k : arenac::of_caller(lifetimes, ids)) {
    all.ids.push_back(ids[k]);
    all.names.push_back(names[k]);
  }
  const std::vector<std::string> distinct = distinct_identifiers(all.names);
  for (const std::string& id : distinct) all.members.push_back(c_member(id));
  all.macros = distinct_capitals(distinct);
  all.identifiers = distinct;
  return all;
}

// The buffers of the plan that hold constants, which only with_group_copies() adds.
std::vector<ConstantCopy> copies_of(const Lifetimes& lifetimes, const Graph& graph, const Weights& weights) {
  std::vector<ConstantCopy> copies;
  for (size_t b = 0; b < lifetimes.tensor_of.size(); ++b)
    if (is_copy(graph, lifetimes, b)) {
      const Buffer& buffer = lifetimes.problem.buffers[b];
      copies.push_back(
          {weights.of_tensor.at(lifetimes.tensor_of[b]), static_cast<int>(b), buffer.begin, buffer.end});
    }
  return copies;
}

// The input that comes row by row, if one does.
// The input's first reader copies its rows into a ring, as a stage of a group; how many rows it takes in a
// run, the order of slabs says: the last ones may be read by nobody.
std::optional<Feed> feed_of(const Schedule& schedule, const CallerTensors& inputs) {
  const Graph& graph = *schedule.graph;
  for (size_t g = 0; g < schedule.groups.size(); ++g)
    for (size_t k = 0; k < schedule.groups[g].stages.size(); ++k) {
      const Stage& stage = schedule.groups[g].stages[k];
      const TensorId id = fed_to(*schedule.steps[static_cast<size_t>(stage.step)].node, graph);
      if (id < 0) continue;
      int64_t needed = 0;
      // As the run will do it: the rows that no slab wants any more are not counted.
      for_each_slab_run(schedule.groups[g],
                        [&](const SlabRun& run) { needed += static_cast<size_t>(run.stage) == k ? 1 : 0; });
      const auto at = std::ranges::find(inputs.ids, id);
      if (at == inputs.ids.end())
        throw UserError(fmt::format("--feed {}: it is the input of a state", graph.tensors[id].name));
      return Feed{static_cast<size_t>(at - inputs.ids.begin()),
                  g,
                  k,
                  stage.slabs,
                  needed,
                  schedule.layouts[id].ring.row};
    }
  return {};
}

}  // namespace

// Of names that --pool gives, which are identifiers already, and of "arena".
std::vector<std::string> pool_identifiers(const std::vector<Pool>& pools) {
  std::vector<std::string> names;
  for (const Pool& pool : pools) names.push_back(pool.name);
  return distinct_identifiers(names);
}

// Indices in kernels are C's int, at least 32 bits (the C checks it): so no storage may have more elements.
CProgram::CProgram(const Lowered& lowered, const MemoryMap& map, const EmitOptions& options)
    : lowered(lowered),
      schedule(lowered.schedule),
      graph(*schedule.graph),
      lifetimes(lowered.lifetimes),
      plan(lowered.plan),
      map(map),
      options(options),
      name(options.name),
      upper(upper_case(options.name)),
      pools(pool_identifiers(lifetimes.problem.pools)),
      pool_macros(arenac::pool_macros(lifetimes.problem.pools)),
      constant_macros(arenac::constant_macros(lifetimes.problem.pools, options.constants.pools)),
      weights(collect_weights(schedule, options)),
      copies(copies_of(lifetimes, graph, weights)),
      inputs(of_caller(lifetimes, graph.inputs, graph.input_names)),
      outputs(of_caller(lifetimes, graph.outputs, graph.output_names)),
      feed(feed_of(schedule, inputs)) {
  for (size_t id = 0; id < graph.tensors.size(); ++id)
    if (span_of(schedule.layouts[id], graph.tensors[id].shape) > std::numeric_limits<int>::max())
      throw UserError(fmt::format("{}: tensor '{}' {} has more elements than C's int counts", graph.name,
                                  c_comment(graph.tensors[id].name), to_string(graph.tensors[id].shape)));
}

// In one order for all functions: workspace, inputs, outputs. What a program does not take is no parameter.
std::string CProgram::parameters(const std::string& first) const {
  std::string text = first;
  const auto add = [&](const char* type, const char* parameter) {
    text += fmt::format("{}const {}_{} *{}", text.empty() ? "" : ", ", name, type, parameter);
  };
  if (takes().inputs) add("inputs", "in");
  if (takes().outputs) add("outputs", "out");
  return text.empty() ? "void" : text;
}

// As parameters(), for a call.
std::string CProgram::arguments(const std::string& first) const {
  std::string text = first;
  if (takes().inputs) text += text.empty() ? "in" : ", in";
  if (takes().outputs) text += text.empty() ? "out" : ", out";
  return text;
}

// Beyond 63 characters names are not told apart: the tensor's number instead. No name is a number, because
// c_identifier() puts a letter before digits.
std::string CProgram::macro_of(const CallerTensors& of, size_t k) const {
  const char* kind = &of == &inputs ? "INPUT" : "OUTPUT";
  const std::string macro = fmt::format("{}_{}_{}", upper, kind, of.macros[k]);
  return macro.size() + std::string_view("_OFFSET").size() > kLongestIdentifier
             ? fmt::format("{}_{}_{}", upper, kind, k)
             : macro;
}

std::string CProgram::function_of(const CallerTensors& of, size_t k) const {
  const char* kind = &of == &inputs ? "input" : "output";
  const std::string function = fmt::format("{}_{}_{}", name, kind, of.identifiers[k]);
  return function.size() + std::string_view("_dequantize").size() > kLongestIdentifier
             ? fmt::format("{}_{}_{}", name, kind, k)
             : function;
}

// What the operators at the model's border say of the tensor. Scales of channels need as many as the
// dimension has; a scale for each block of a channel is none that the functions could take.
std::optional<QuantizedAs> CProgram::quantization_of(const CallerTensors& of, size_t k) const {
  const auto& known = &of == &inputs ? graph.quantization.inputs : graph.quantization.outputs;
  const auto at = known.find(of.names[k]);
  if (at == known.end()) return std::nullopt;
  QuantizedAs as = at->second;
  const Shape& shape = graph.tensors[of.ids[k]].shape;
  if (as.axis < 0) as.axis += static_cast<int64_t>(shape.size());
  const bool fits = as.axis >= 0 && as.axis < static_cast<int64_t>(shape.size()) &&
                    shape[static_cast<size_t>(as.axis)] == static_cast<int64_t>(as.scales.size());
  return as.by_channel() && !fits ? std::nullopt : std::optional(as);
}

std::string CProgram::fed_type() const { return info(graph.tensors[inputs.ids[feed->input]].type).c_name; }

// By the node that copies the rows out of the ring.
size_t CProgram::emitted_by(int step) const {
  const TensorId id = arenac::emitted_by(*schedule.steps[static_cast<size_t>(step)].node, graph);
  return static_cast<size_t>(std::ranges::find(outputs.ids, id) - outputs.ids.begin());
}

// What comes or goes row by row is no pointer to elements: of an output its function has to be there.
std::string CProgram::null_members(const std::string& in, const std::string& out) const {
  std::string null;
  for (size_t k = 0; k < inputs.ids.size(); ++k)
    if (options.io == Io::kExternal && !by_rows(inputs.ids[k]))
      null += fmt::format(" || !{}{}", in, inputs.members[k]);
  for (size_t k = 0; k < outputs.ids.size(); ++k)
    if (by_rows(outputs.ids[k]))
      null += fmt::format(" || !{}{}.row", out, outputs.members[k]);
    else if (options.io == Io::kExternal)
      null += fmt::format(" || !{}{}", out, outputs.members[k]);
  return null;
}

bool CProgram::emits() const {
  return std::ranges::any_of(outputs.ids, [&](TensorId id) { return by_rows(id); });
}

const std::string& CProgram::pool_of(int buffer) const {
  return lifetimes.problem.pools[plan.placements[buffer].pool].name;
}

// The parenthesis stays open: behind it come an offset within the buffer, and the one that closes it.
//
//   (float *)(void *)(pool_arena + KWS_AT_3 + 64)
//                    ^ bytes_at ...........      ^ the caller's
std::string CProgram::bytes_at(CText& c, int buffer) const {
  const std::string pool = "pool_" + pools[plan.placements[buffer].pool];
  c.use(pool);
  return fmt::format("({} + {}", pool, offset_name(name, buffer));
}

std::string CProgram::section_of(size_t pool) const {
  return pool < options.sections.size() ? options.sections[pool] : "";
}

// Forms are format strings with the words below, so that one call writes a declaration, a check or an
// argument for every pool there is:
//
//   for_pools(" || !w->{member}")      of pools sram and psram: " || !w->sram || !w->psram"
std::string CProgram::for_pools(const char* form, const char* between) const {
  std::string text;
  for (size_t k = 0; k < plan.pools.size(); ++k) {
    text += k > 0 ? between : "";
    text += fmt::format(
        fmt::runtime(form), fmt::arg("pool", pools[k]), fmt::arg("name", name),
        fmt::arg("local", "pool_" + pools[k]), fmt::arg("member", c_member(pools[k])),
        fmt::arg("macro", upper + "_" + pool_macros[k]), fmt::arg("upper", upper),
        fmt::arg("aligned", fmt::format("{0}_aligned({0}_pool_{1}.bytes, {2}_{3}_ALIGN)", name, pools[k],
                                        upper, pool_macros[k])),
        fmt::arg("memory", options.memory_of),
        fmt::arg("array", pool_array(name, pools[k], upper + "_" + pool_macros[k], section_of(k))));
  }
  return text;
}

// An arena that holds inputs and outputs leaves only what comes or goes row by row to be passed.
RunTakes run_takes(const Graph& graph, Io io) {
  const auto any_by_rows = [&](const std::vector<TensorId>& ids) {
    return std::ranges::any_of(ids, [&](TensorId id) { return graph.by_rows.contains(id); });
  };
  return {io == Io::kExternal || any_by_rows(graph.inputs),
          io == Io::kExternal || any_by_rows(graph.outputs)};
}

std::vector<std::string> pool_macros(const std::vector<Pool>& pools) {
  return distinct_capitals(pool_identifiers(pools), "WEIGHTS");  // KWS_WEIGHTS_SIZE is that of the constants
}

// Distinct from the arena's pools as well: both have a _SIZE and an _ALIGN. "WEIGHTS" is taken, too:
// KWS_WEIGHTS_SIZE is that of all constants.
std::vector<std::string> constant_macros(const std::vector<Pool>& pools,
                                         const std::vector<ConstantPool>& constants) {
  std::vector<std::string> all = pool_macros(pools);
  all.insert(all.begin(), "WEIGHTS");
  const auto others = static_cast<std::ptrdiff_t>(all.size());
  for (const ConstantPool& each : constants) all.push_back(each.name());
  all = distinct_capitals(all);
  return {all.begin() + others, all.end()};
}

// A pool may be called like a word of C.
std::vector<std::string> pool_members(const std::vector<Pool>& pools) {
  std::vector<std::string> members;
  for (const std::string& pool : pool_identifiers(pools)) members.push_back(c_member(pool));
  return members;
}

// By the buffer's number: names of a model may be anything.
std::string offset_name(const std::string& prefix, int64_t buffer) {
  return fmt::format("{}_AT_{}", upper_case(prefix), buffer);
}

}  // namespace arenac
