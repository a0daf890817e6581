#include "planner/lifetime.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "frontend/error.h"
#include "frontend/nearest.h"
#include "scheduler/overlap.h"

namespace arenac {
namespace {

// The schedule's overlaps of buffers, those of states apart.
std::vector<Overlap> offered(const Schedule& schedule, const Lifetimes& of) {
  std::vector<bool> may(of.problem.buffers.size(), true);
  for (const State& state : of.states)
    if (of.buffer_of[state.input] >= 0) may[of.buffer_of[state.input]] = false;
  std::vector<Overlap> all;
  for (const StorageOverlap& o : schedule.overlaps) {
    const int above = of.buffer_of[o.above], below = of.buffer_of[o.below];
    if (above >= 0 && below >= 0 && may[above] && may[below]) all.push_back({above, below, o.distance});
  }
  return all;
}

// Those at times with more live bytes than there are at the fullest time when all are used.
std::vector<Overlap> that_pay(const Problem& problem) {
  std::map<int64_t, int64_t> live, saved;  // bytes, from each time to the next
  for (const Buffer& buffer : problem.buffers)
    live[buffer.begin] += buffer.size, live[buffer.end] -= buffer.size;
  int64_t now = 0;
  for (auto& [time, bytes] : live) bytes = now += bytes;
  const auto common = [&](int a, int b) {
    const Buffer &p = problem.buffers[a], &q = problem.buffers[b];
    return std::pair(live.lower_bound(std::max(p.begin, q.begin)), live.lower_bound(std::min(p.end, q.end)));
  };
  std::map<std::pair<int, int>, int64_t> saved_by;  // a pair, in the better direction
  for (const Overlap& o : problem.overlaps) {
    const int64_t above = problem.buffers[o.above].size, below = problem.buffers[o.below].size;
    int64_t& most = saved_by[std::minmax(o.above, o.below)];
    most = std::max(most, above + below - joint_bytes(above, below, o.distance));
  }
  for (const auto& [pair, bytes] : saved_by)
    for (auto [time, end] = common(pair.first, pair.second); time != end; ++time) saved[time->first] += bytes;
  int64_t least = 0;
  for (const auto& [time, bytes] : live) {
    const auto at = saved.find(time);
    least = std::max(least, bytes - (at == saved.end() ? 0 : at->second));
  }
  std::vector<Overlap> all;
  for (const Overlap& o : problem.overlaps) {
    const auto [begin, end] = common(o.above, o.below);
    if (std::any_of(begin, end, [&](const auto& at) { return at.second > least; })) all.push_back(o);
  }
  return all;
}

[[noreturn]] void wrong_name(const std::string& option, const char* problem, const std::string& name,
                             std::vector<std::string> choices) {
  constexpr size_t kMost = 20;
  std::set<std::string> said;
  std::erase_if(choices, [&](const std::string& choice) { return !said.insert(choice).second; });
  if (choices.empty()) throw UserError(fmt::format("{}: {}; there is none", option, problem), Exit::kUsage);
  const std::string hint = did_you_mean(name, choices);
  const size_t more = choices.size() - std::min(choices.size(), kMost);
  choices.resize(choices.size() - more);
  throw UserError(fmt::format("{}: {}; there are: {}{}{}", option, problem, fmt::join(choices, ", "),
                              more ? fmt::format(", and {} more", more) : "", hint),
                  Exit::kUsage);
}

[[noreturn]] void wrong_pin(const Pin& pin, const char* problem, const std::string& name,
                            std::vector<std::string> choices) {
  wrong_name(fmt::format("--pin {}={}", pin.tensor, pin.pool), problem, name, std::move(choices));
}

std::vector<State> states_named(const Graph& graph, const std::vector<StateNames>& names) {
  std::vector<State> states;
  for (const auto& [output, input, initial] : names) {
    const std::string option = fmt::format("--state {}={}", output, input);
    const auto out = std::find(graph.output_names.begin(), graph.output_names.end(), output);
    const auto in = std::find(graph.input_names.begin(), graph.input_names.end(), input);
    if (out == graph.output_names.end())
      wrong_name(option, "no output has the first name", output, graph.output_names);
    if (in == graph.input_names.end())
      wrong_name(option, "no input has the second name", input, graph.input_names);
    const State state = {graph.outputs[out - graph.output_names.begin()],
                         graph.inputs[in - graph.input_names.begin()], initial};
    for (const State& other : states)
      if (other.output == state.output || other.input == state.input)
        throw UserError(option + ": its output or input is in another --state already", Exit::kUsage);
    const Tensor &from = graph.tensors[state.output], &to = graph.tensors[state.input];
    if (from.type != to.type || from.shape != to.shape)
      throw UserError(fmt::format("{}: {}: output '{}' is {} {}, input '{}' is {} {}; they must agree",
                                  graph.name, option, output, info(from.type).name, to_string(from.shape),
                                  input, info(to.type).name, to_string(to.shape)));
    states.push_back(state);
  }
  return states;
}

// Whether the output may be written where the input lies.
bool in_place(const Schedule& schedule, const std::vector<Interval>& live, const std::vector<int64_t>& bytes,
              const State& state) {
  const TensorId out = state.output, in = state.input;
  if (bytes[out] != bytes[in]) return false;
  const auto meet = [&](const StorageOverlap& o) {
    return o.distance <= 0 && std::minmax(o.above, o.below) == std::minmax(out, in);
  };
  return live[in].end <= live[out].begin ||
         std::any_of(schedule.overlaps.begin(), schedule.overlaps.end(), meet);
}

// Tensors of these names, by the graph or by its inputs and outputs, which may have had other names.
std::vector<TensorId> tensors_named(const Graph& graph, const std::string& name) {
  std::vector<TensorId> ids;
  for (size_t id = 0; id < graph.tensors.size(); ++id)
    if (graph.tensors[id].name == name) ids.push_back(static_cast<TensorId>(id));
  for (size_t k = 0; k < graph.inputs.size(); ++k)
    if (graph.input_names[k] == name) ids.push_back(graph.inputs[k]);
  for (size_t k = 0; k < graph.outputs.size(); ++k)
    if (graph.output_names[k] == name) ids.push_back(graph.outputs[k]);
  return ids;
}

void apply(const Pin& pin, const Graph& graph, Lifetimes& all) {
  std::vector<std::string> pools, buffers;
  for (const Pool& pool : all.problem.pools) pools.push_back(pool.name);
  const auto pool = std::find(pools.begin(), pools.end(), pin.pool);
  if (pool == pools.end()) wrong_pin(pin, "no pool has this name", pin.pool, pools);
  bool found = false;
  for (TensorId id : tensors_named(graph, pin.tensor)) {
    if (all.buffer_of[id] < 0) continue;
    std::vector<int>& allowed = all.problem.buffers[all.buffer_of[id]].pools;
    const int wanted = static_cast<int>(pool - pools.begin());
    if (std::find(allowed.begin(), allowed.end(), wanted) == allowed.end())
      wrong_pin(pin, "its storage is also that of a tensor pinned to another pool", "", {pools[allowed[0]]});
    allowed = {wanted};
    found = true;
  }
  if (found) return;
  for (const Buffer& buffer : all.problem.buffers) buffers.push_back(buffer.name);
  wrong_pin(pin, "no tensor that lies in a pool has this name", pin.tensor, buffers);
}

}  // namespace

Lifetimes lifetimes(const Schedule& schedule, Io io, int64_t align, std::vector<Pool> pools,
                    const std::vector<Pin>& pins, const std::vector<StateNames>& states) {
  const Graph& graph = *schedule.graph;
  std::vector<bool> external(graph.tensors.size());
  if (io == Io::kExternal) {
    for (TensorId id : graph.inputs) external[id] = true;
    for (TensorId id : graph.outputs) external[id] = true;
  }
  for (const auto& [id, dimension] : graph.by_rows) external[id] = std::ranges::count(graph.inputs, id) > 0;
  const std::vector<int64_t> bytes = storage_bytes(graph, schedule.layouts);
  Lifetimes all;
  if (pools.empty()) pools = {{"arena"}};
  for (Pool& pool : pools) pool.align = std::max(pool.align, align);
  std::vector<int> every_pool(pools.size());
  std::iota(every_pool.begin(), every_pool.end(), 0);
  all.problem.pools = std::move(pools);
  all.buffer_of.assign(graph.tensors.size(), -1);
  auto live = storage_lives(schedule);
  std::vector<TensorId> holder(graph.tensors.size());  // of the buffer, per storage
  std::iota(holder.begin(), holder.end(), 0);
  all.states = states_named(graph, states);
  for (const State& state : all.states) {
    external[state.input] = external[state.output] = false;
    if (in_place(schedule, live, bytes, state)) holder[state.output] = state.input;
    live[state.input] = {0, std::max<int64_t>(1, static_cast<int64_t>(schedule.steps.size()))};
  }
  for (size_t id = 0; id < graph.tensors.size(); ++id) {
    if (holder[id] != static_cast<TensorId>(id)) continue;
    if (live[id].begin >= live[id].end || external[id] || bytes[id] == 0) continue;
    all.buffer_of[id] = static_cast<int>(all.problem.buffers.size());
    all.problem.buffers.push_back(
        {graph.tensors[id].name, bytes[id], align, live[id].begin, live[id].end, every_pool});
    all.tensor_of.push_back(static_cast<TensorId>(id));
  }
  for (size_t id = 0; id < graph.tensors.size(); ++id)
    all.buffer_of[id] = all.buffer_of[holder[schedule.layouts[id].root]];
  for (const Pin& pin : pins) apply(pin, graph, all);
  all.problem.overlaps = offered(schedule, all);
  if (all.problem.pools.size() == 1) all.problem.overlaps = that_pay(all.problem);
  return all;
}

std::vector<size_t> of_caller(const Lifetimes& lifetimes, const std::vector<TensorId>& ids) {
  std::vector<size_t> all;
  for (size_t k = 0; k < ids.size(); ++k)
    if (std::none_of(lifetimes.states.begin(), lifetimes.states.end(),
                     [&](const State& state) { return state.input == ids[k] || state.output == ids[k]; }))
      all.push_back(k);
  return all;
}

bool share_bytes(const Lifetimes& lifetimes, const Plan& plan, TensorId a, TensorId b) {
  const int p = lifetimes.buffer_of[a], q = lifetimes.buffer_of[b];
  if (p < 0 || q < 0) return false;
  const Placement at = plan.placements[p], bt = plan.placements[q];
  return at.pool == bt.pool && at.offset < bt.offset + lifetimes.problem.buffers[q].size &&
         bt.offset < at.offset + lifetimes.problem.buffers[p].size;
}

const StorageOverlap* overlap_in_use(const Schedule& schedule, const Lifetimes& lifetimes, const Plan& plan,
                                     int step) {
  for (const StorageOverlap& o :
       std::ranges::equal_range(schedule.overlaps, step, {}, &StorageOverlap::step)) {
    if (!share_bytes(lifetimes, plan, o.above, o.below)) continue;
    const int64_t above = plan.placements[lifetimes.buffer_of[o.above]].offset;
    if (above - plan.placements[lifetimes.buffer_of[o.below]].offset >= o.distance) return &o;
  }
  return nullptr;
}

}  // namespace arenac
