#include "scheduler/caller_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "frontend/error.h"
#include "frontend/nearest.h"
#include "scheduler/accumulate.h"
#include "scheduler/explain.h"
#include "scheduler/ordered.h"
#include "scheduler/recurrences.h"
#include "scheduler/step_facts.h"

namespace arenac {
namespace {

enum class Direction : uint8_t { kFed, kEmitted };

const char* option_of(Direction direction) { return direction == Direction::kFed ? "--feed" : "--emit"; }

// Where a caller's tensor of that name stands among the inputs or the outputs.
size_t index_of(const Graph& graph, const std::string& name, Direction direction) {
  const auto& names = direction == Direction::kFed ? graph.input_names : graph.output_names;
  const auto at = std::ranges::find(names, name);
  if (at == names.end())
    throw UserError(fmt::format("{} {}: no {} has this name; there are: {}{}", option_of(direction), name,
                                direction == Direction::kFed ? "input" : "output", fmt::join(names, ", "),
                                did_you_mean(name, names)),
                    Exit::kUsage);
  return static_cast<size_t>(at - names.begin());
}

bool touches(const Node& node, TensorId id) {
  bool any = false;
  visit_nodes(node, [&](const Node& n) {
    any |= std::ranges::count(n.reads, id) + std::ranges::count(n.writes, id) > 0 ||
           std::ranges::count(tensors_read(n), id) > 0;
  });
  return any;
}

// The graph with a copy between the caller's tensor and the rest. An input is copied before its first reader,
// an output behind its writer.
Graph with_copy(Graph graph, size_t index, int dimension, Direction direction) {
  std::vector<TensorId>& ids = direction == Direction::kFed ? graph.inputs : graph.outputs;
  const TensorId id = ids[index], other = static_cast<TensorId>(graph.tensors.size());
  const Tensor tensor = graph.tensors[id];
  graph.tensors.push_back({tensor.name, tensor.type, tensor.shape, nullptr});
  Node copy{.origin = tensor.name,
            .op = direction == Direction::kFed ? "Feed" : "Emit",
            .reads = {id},
            .writes = {other},
            .body = Nests{copy_nest(tensor.type, tensor.shape)},
            .is_copy = true};
  if (direction == Direction::kFed) {
    replace_reads(graph.block, id, other);
    std::ranges::replace(graph.outputs, id, other);
    graph.by_rows[id] = dimension;
    const auto reads = [&](const Node& node) { return touches(node, other); };
    graph.block.insert(std::ranges::find_if(graph.block, reads), std::move(copy));
  } else {
    const auto is_written = [&](const Node& node) {
      bool any = false;
      visit_nodes(node, [&](const Node& n) { any |= std::ranges::count(n.writes, id) > 0; });
      return any;
    };
    const auto last = std::find_if(graph.block.rbegin(), graph.block.rend(), is_written);
    ids[index] = other;
    graph.by_rows[other] = dimension;
    graph.block.insert(last.base(), std::move(copy));
  }
  return graph;
}

// The step of the copy of the caller's tensor; -1 where there is none.
int copy_step(const std::vector<Step>& steps, const Graph& graph, TensorId id) {
  for (size_t s = 0; s < steps.size(); ++s)
    if (steps[s].kind == StepKind::kRun &&
        (fed_to(*steps[s].node, graph) == id || emitted_by(*steps[s].node, graph) == id))
      return static_cast<int>(s);
  return -1;
}

// The step that needs the last row of a step's result before it can begin; -1: none does.
int reader_of_all(int step, const std::vector<Step>& steps, const StepFacts& facts) {
  const TensorId out = steps[static_cast<size_t>(step)].node->writes[0];
  const int64_t rows = facts.steps[static_cast<size_t>(step)].slabs.count;
  for (size_t s = 0; s < steps.size(); ++s) {
    const auto reads = [&](TensorId id) { return facts.source[static_cast<size_t>(id)] == out; };
    if (static_cast<int>(s) == step || !std::ranges::any_of(tensors_read(*steps[s].node), reads)) continue;
    if (facts.steps[s].slabs.count == 0) return static_cast<int>(s);
    for (const Pull& pull : facts.steps[s].pulls)
      if (pull.producer == step && rows > 1 && pull.upto[0] >= rows - 1) return static_cast<int>(s);
  }
  return -1;
}

// How many steps run a slab before the last row of the copied input is there.
int64_t steps_before_last(size_t copy, const StepFacts& facts) {
  std::vector<std::vector<int64_t>> last_row(facts.steps.size());  // that each slab needs
  int64_t steps = 0;
  for (size_t s = 0; s < facts.steps.size(); ++s) {
    last_row[s].assign(static_cast<size_t>(facts.steps[s].slabs.count), -1);
    for (size_t t = 0; t < last_row[s].size(); ++t) {
      int64_t& row = last_row[s][t];
      row = s == copy ? static_cast<int64_t>(t) : t > 0 ? last_row[s][t - 1] : -1;
      for (const Pull& pull : facts.steps[s].pulls)
        if (pull.upto[t] >= 0)
          row =
              std::max(row, last_row[static_cast<size_t>(pull.producer)][static_cast<size_t>(pull.upto[t])]);
    }
    const bool fed = !last_row[s].empty() && last_row[s][0] >= 0;
    steps += fed && last_row[s][0] < facts.steps[copy].slabs.count - 1 ? 1 : 0;
  }
  return steps;
}

// How many steps need not have run their last slab when the first row of the copied output is there.
int64_t steps_after_first(size_t copy, const StepFacts& facts) {
  std::vector<int64_t> needed(facts.steps.size(), -1);  // last slab
  needed[copy] = 0;
  int64_t steps = 0;
  for (size_t s = copy + 1; s-- > 0;) {
    if (needed[s] < 0) continue;
    for (const Pull& pull : facts.steps[s].pulls) {
      int64_t& last = needed[static_cast<size_t>(pull.producer)];
      last = std::max(last, pull.upto[static_cast<size_t>(needed[s])]);
    }
    steps += needed[s] < facts.steps[s].slabs.count - 1 ? 1 : 0;
  }
  return steps;
}

// How many steps run while the rows of the copy come, or are taken, where chains of elementwise steps keep
// the order of their rows.
int64_t steps_in_turn(const Graph& graph, TensorId id, Direction direction) {
  const Storage storage = in_storage(graph, {}, {Moves::kUnshared}).storage;
  const StepFacts facts = step_facts(graph, storage.steps, storage.layouts);
  const int copy = copy_step(storage.steps, graph, id);
  if (direction == Direction::kEmitted) return steps_after_first(static_cast<size_t>(copy), facts);
  if (reader_of_all(copy, storage.steps, facts) >= 0) return 0;
  return steps_before_last(static_cast<size_t>(copy), facts);
}

// The dimension that is asked for, or one along which rows follow each other, or one with rows.
int dimension_of(const Graph& graph, const CallerRows& rows, size_t index, Direction direction) {
  const TensorId id = (direction == Direction::kFed ? graph.inputs : graph.outputs)[index];
  const Shape& shape = graph.tensors[id].shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const std::string option = fmt::format("{} {}", option_of(direction), rows.name);
  if (rows.dimension) {
    const int64_t d = *rows.dimension + (*rows.dimension < 0 ? rank : 0);
    if (d < 0 || d >= rank)
      throw UserError(
          fmt::format("{}={}: the tensor has the shape {}", option, *rows.dimension, to_string(shape)),
          Exit::kUsage);
    if (shape[static_cast<size_t>(d)] < 2)
      throw UserError(fmt::format("{}={}: there is one row in {}", option, *rows.dimension, to_string(shape)),
                      Exit::kUsage);
    return static_cast<int>(d);
  }
  int best = -1;
  int64_t most = -1;
  for (int d = 0; d < rank; ++d) {
    if (shape[static_cast<size_t>(d)] < 2) continue;
    Graph with = with_copy(graph, index, d, direction);
    const TensorId copied = (direction == Direction::kFed ? with.inputs : with.outputs)[index];
    int64_t steps = steps_in_turn(with, copied, direction);
    for (const auto& in_rows : {with_accumulators, with_recurrences}) {
      Graph changed = in_rows(with);
      if (changed.tensors.size() == with.tensors.size()) continue;
      with = std::move(changed);
      steps = std::max(steps, steps_in_turn(with, copied, direction));
    }
    if (steps > most || (steps == most && best == 0)) best = d, most = steps;
  }
  if (best < 0)
    throw UserError(fmt::format("{}: {} has one row along each dimension", option, to_string(shape)),
                    Exit::kUsage);
  return best;
}

Graph by_rows(Graph graph, const CallerRows& rows, Direction direction) {
  constexpr int64_t kMostRows = 1 << 17;
  const size_t index = index_of(graph, rows.name, direction);
  const TensorId id = (direction == Direction::kFed ? graph.inputs : graph.outputs)[index];
  const std::string option = fmt::format("{} {}", option_of(direction), rows.name);
  if (graph.by_rows.contains(id)) throw UserError(option + ": is given twice", Exit::kUsage);
  const Tensor& tensor = graph.tensors[id];
  if (element_count(tensor.shape) == 0) throw UserError(option + ": it has no elements", Exit::kUsage);
  const int dimension = dimension_of(graph, rows, index, direction);
  if (const int64_t count = tensor.shape[static_cast<size_t>(dimension)]; count > kMostRows)
    throw UserError(fmt::format("{}: {} rows are more than {}", option, count, kMostRows), Exit::kUsage);
  return with_copy(std::move(graph), index, dimension, direction);
}

}  // namespace

Graph with_caller_rows(Graph graph, const std::vector<CallerRows>& fed,
                       const std::vector<CallerRows>& emitted) {
  if (fed.size() > 1) throw UserError("--feed is for one input", Exit::kUsage);
  for (const CallerRows& rows : fed) graph = by_rows(std::move(graph), rows, Direction::kFed);
  for (const CallerRows& rows : emitted) graph = by_rows(std::move(graph), rows, Direction::kEmitted);
  return graph;
}

std::optional<std::string> needs_all_rows(const Schedule& schedule) {
  const Graph& graph = *schedule.graph;
  for (TensorId id : graph.inputs) {
    const int copy = graph.by_rows.contains(id) ? copy_step(schedule.steps, graph, id) : -1;
    if (copy < 0) continue;
    const TensorId held = schedule.steps[static_cast<size_t>(copy)].node->writes[0];
    if (schedule.layouts[static_cast<size_t>(held)].ring.kept > 0) continue;
    const int reader =
        reader_of_all(copy, schedule.steps, step_facts(graph, schedule.steps, schedule.layouts));
    if (reader < 0) continue;
    const Node& node = *schedule.steps[static_cast<size_t>(reader)].node;
    return fmt::format("node '{}' ({}): {}", node.origin, node.op,
                       why_not_by_rows(schedule, static_cast<size_t>(reader)));
  }
  return std::nullopt;
}

}  // namespace arenac
