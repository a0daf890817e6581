#include "driver/joint_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontend/error.h"
#include "frontend/nearest.h"

namespace arenac {
namespace {

// The pools are those of every model, aligned as the most demanding needs.
void add_pools(Joint& joint, const Compilation& c) {
  std::vector<Pool>& pools = joint.problem.pools;
  if (pools.empty()) pools = c.lifetimes.problem.pools;
  for (size_t k = 0; k < pools.size(); ++k)
    pools[k].align = std::max(pools[k].align, c.lifetimes.problem.pools[k].align);
}

// By the model's own name of it; the message names the nearest.
TensorId tensor_named(const std::string& name, const std::vector<std::string>& names,
                      const std::vector<TensorId>& ids, const char* kind, const std::string& model) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end())
    throw UserError(
        fmt::format("--connect: '{}' is no {} of {}{}", name, kind, model, did_you_mean_or_all(name, names)),
        Exit::kUsage);
  return ids[static_cast<size_t>(at - names.begin())];
}

}  // namespace

void add_buffers(Joint& joint, const Compilation& c, size_t model) {
  Problem& all = joint.problem;
  const Problem& problem = c.lifetimes.problem;
  const int first = static_cast<int>(all.buffers.size());
  joint.models.emplace_back(model, first);
  add_pools(joint, c);
  for (Buffer buffer : problem.buffers) {
    buffer.begin += joint.end, buffer.end += joint.end;
    for (Gap& gap : buffer.gaps) gap.begin += joint.end, gap.end += joint.end;
    all.buffers.push_back(std::move(buffer));
  }
  for (const State& state : c.lifetimes.states)
    if (const int b = c.lifetimes.buffer_of[state.input]; b >= 0) joint.kept.push_back(first + b);
  for (const Overlap& o : problem.overlaps)
    all.overlaps.push_back({o.above + first, o.below + first, o.distance});
  for (std::vector<int> group : problem.same_offset) {
    for (int& b : group) b += first;
    all.same_offset.push_back(std::move(group));
  }
  // A model without steps has a time all the same, for its inputs and outputs.
  joint.end += std::max<int64_t>(static_cast<int64_t>(c.schedule.steps.size()), 1);
}

void add_block(Joint& joint, const std::vector<Compilation>& models, std::vector<size_t> members,
               const PoolBytes& sizes) {
  PlannedModels block = {std::move(members), {}};
  for (const size_t model : block.models) add_pools(joint, models[model]);
  // States in a block keep all of it: where in the block they lie, the problem does not see.
  const bool keeps = std::ranges::any_of(
      block.models, [&](size_t model) { return !models[model].lifetimes.states.empty(); });
  for (size_t k = 0; k < sizes.size(); ++k) {
    if (sizes[k] == 0) continue;
    const int id = static_cast<int>(joint.problem.buffers.size());
    joint.problem.buffers.push_back({.name = models[block.models[0]].name,
                                     .size = sizes[k],
                                     .begin = joint.end,
                                     .end = joint.end + 1,
                                     .pools = {static_cast<int>(k)}});
    if (keeps) joint.kept.push_back(id);
    block.buffers.emplace_back(k, id);
  }
  joint.blocks.push_back(std::move(block));
}

void keep_states(Joint& joint) {
  for (const int kept : joint.kept)
    joint.problem.buffers[kept].begin = 0, joint.problem.buffers[kept].end = joint.end;
}

void connect(Joint& joint, const std::vector<Compilation>& models, const Connection& by) {
  // Models in blocks are not found: those run at the same time as others, and have no output that another
  // could wait for.
  const auto part = [&](const std::string& name) {
    return std::ranges::find_if(joint.models,
                                [&](const auto& row) { return models[row.first].name == name; });
  };
  const auto from = part(by.from), to = part(by.to);
  if (from == joint.models.end() || to == joint.models.end()) return;
  const Compilation &a = models[from->first], &b = models[to->first];
  const TensorId output = tensor_named(by.output, a.graph->output_names, a.graph->outputs, "output", a.name);
  const TensorId input = tensor_named(by.input, b.graph->input_names, b.graph->inputs, "input", b.name);
  const Tensor &written = a.graph->tensors[output], &read = b.graph->tensors[input];
  if (written.type != read.type || written.shape != read.shape)
    throw UserError(fmt::format("--connect: {} '{}' is {} {}, {} '{}' is {} {}", a.name, by.output,
                                info(written.type).name, to_string(written.shape), b.name, by.input,
                                info(read.type).name, to_string(read.shape)));
  const int above = a.lifetimes.buffer_of[output], below = b.lifetimes.buffer_of[input];
  if (above < 0 || below < 0)
    throw UserError(
        fmt::format("--connect: {} '{}' and {} '{}' do not lie in the arena; --io arena puts them there",
                    a.name, by.output, b.name, by.input),
        Exit::kUsage);
  const int first = from->second + above, second = to->second + below;
  Problem& all = joint.problem;
  // The output lives on until its reader begins, so that no model between the two is given its bytes.
  all.buffers[first].end = std::max(all.buffers[first].end, all.buffers[second].begin);
  std::set<int> group = {first, second};
  std::erase_if(all.same_offset, [&](const std::vector<int>& other) {
    if (!std::ranges::any_of(other, [&](int member) { return group.contains(member); })) return false;
    group.insert(other.begin(), other.end());
    return true;
  });
  all.same_offset.emplace_back(group.begin(), group.end());
}

}  // namespace arenac
