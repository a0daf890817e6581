#include "scheduler/schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "frontend/error.h"
#include "frontend/nearest.h"
#include "scheduler/liveness.h"
#include "scheduler/slabs.h"
#include "scheduler/verify_rings.h"

namespace arenac {
namespace {

// The row of that name, the first one for ""; else a UserError that lists all names.
template <typename Row>
const Row& row_named(const std::vector<Row>& table, const std::string& name, const char* what) {
  if (name.empty()) return table.front();
  const auto row = std::find_if(table.begin(), table.end(), [&](const Row& r) { return name == r.name; });
  if (row != table.end()) return *row;
  std::vector<std::string> names;
  for (const Row& r : table) names.emplace_back(r.name);
  throw UserError(fmt::format("there is no {} '{}'; there are: {}{}", what, name, fmt::join(names, ", "),
                              did_you_mean(name, names)),
                  Exit::kUsage);
}

}  // namespace

const Target& target_named(const std::string& name) { return row_named(targets(), name, "target"); }
const SchedulerRow& scheduler_named(const std::string& name) {
  return row_named(schedulers(), name, "scheduler");
}

// Slabs of all steps of a group come in turns, so that what one of them uses is in use throughout the group.
std::vector<Interval> storage_lives(const Schedule& schedule) {
  auto lives = steps_occupied(occupancies(*schedule.graph, schedule.steps, schedule.layouts));
  for (size_t id = 0; id < lives.size(); ++id) {
    Interval& life = lives[id];
    for (const Group& group : schedule.groups)
      if (life.begin < life.end && group.begin < life.end && life.begin < group.end) {
        const Interval within = steps_of_ring(group, life, schedule.layouts[id].ring);
        life = {std::min(life.begin, within.begin), std::max(life.end, within.end)};
      }
  }
  return lives;
}

// A ring of columns is only in use within the slabs of one host: from the first of its guests to the host
// itself, which comes after them.
Interval steps_of_ring(const Group& group, Interval life, const Ring& ring) {
  const Interval all = {group.begin, group.end};
  if (ring.columns == 0) return all;
  // the stage that is nobody's guest, up the line of hosts
  const auto root_of = [&](int64_t step) {
    int k = static_cast<int>(step) - group.begin;
    while (group.stages[k].host >= 0) k = group.stages[k].host;
    return k;
  };
  const int root = root_of(life.begin);
  int64_t first = group.begin;
  while (root_of(first) != root) ++first;
  return {first, group.begin + root + 1};
}

// Groups do not overlap, so there is one at most.
const Stage* stage_of(const Schedule& schedule, size_t step) {
  for (const Group& group : schedule.groups)
    if (group.begin <= static_cast<int>(step) && static_cast<int>(step) < group.end)
      return &group.stages[step - group.begin];
  return nullptr;
}

// Copies of rows that the caller passes are groups of a single step.
bool is_of_whole_layers(const Schedule& schedule) {
  return std::ranges::all_of(schedule.groups, [&](const Group& group) {
    const Node& node = *schedule.steps[static_cast<size_t>(group.begin)].node;
    return runs_by_rows(node, *schedule.graph) && group.end == group.begin + 1;
  });
}

// Of a step outside of groups the node's own.
Nests nests_of(const Schedule& schedule, size_t step) {
  Nests nests = std::get<Nests>(schedule.steps[step].node->body);
  if (const Stage* stage = stage_of(schedule, step))
    for (size_t k = 0; k < nests.size(); ++k) nests[k] = nest_in_stage(nests[k], *stage, k);
  return nests;
}

// Chunks are slabs of slabs: the part of another axis, by another iteration's number.
Nest nest_in_stage(const Nest& nest, const Stage& stage, size_t k) {
  const Nest slab = slab_nest(nest, stage.nests[k], kSlabSymbol, stage.slabs);
  const int a = stage.chunks > 1 ? stage.chunk_axes[k] : -1;
  if (a < 0) return slab;
  return slab_nest(slab, {a, slab.axes[a].extent / stage.chunks, 0}, kChunkSymbol, stage.chunks);
}

//   row 4, rows 4:    a0 a1 a2 a3 b0 b1 ..   ->   a0 b0 c0 d0 a1 b1 ..
//
//   element 1 (a1)  ->  4         element 4 (b0)  ->  1         element 5 (b1)  ->  4 * 1 + 1 = 5
//
// Rows behind the last whole word of a block stay.
int64_t Words::place(int64_t element) const {
  if (row == 0) return element;
  const int64_t column = element % row, in_block = element / row % rows, in_word = in_block % kBytes;
  if (in_block >= rows - rows % kBytes) return element;
  return element - in_word * row - column + column * kBytes + in_word;
}

// By its strides: x moves farther than y.
bool lies_by_columns(const Layout& layout) {
  return layout.strides.size() == 4 && std::abs(layout.strides[3]) > std::abs(layout.strides[2]);
}

// Negative strides go back from the offset, so they reach no farther.
int64_t span_of(const Layout& layout, const Shape& shape) {
  int64_t span = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) return 0;
    span += (shape[d] - 1) * std::max<int64_t>(layout.strides[d], 0);
  }
  return span;
}

// Of a ring what it keeps, whatever lies in it; else up to the last element of any tensor in the storage.
std::vector<int64_t> storage_bytes(const Graph& graph, const std::vector<Layout>& layouts) {
  std::vector<int64_t> bytes(graph.tensors.size());
  for (size_t id = 0; id < bytes.size(); ++id) {
    const int64_t span = span_of(layouts[id], graph.tensors[id].shape);
    int64_t& whole = bytes[layouts[id].root];
    const Ring& ring = layouts[id].ring;
    const int64_t end = ring.kept > 0 ? ring.size() : layouts[id].offset + span;
    if (span > 0) whole = std::max(whole, end * size_of(graph.tensors[id].type));
  }
  return bytes;
}

// Two accesses with equal forms touch the same element at every point.
std::optional<Affine> address_of(const Layout& layout, const std::vector<Expr>& indices, const Nest& nest) {
  auto address = affine_address(indices, layout.strides, axis_intervals(nest));
  if (!address) return std::nullopt;
  address->constant += layout.offset;
  return without_still_axes(std::move(*address), nest);
}

// A reduction over nothing has points to store to: the neutral element.
bool is_empty(const Nest& nest) {
  return std::any_of(nest.axes.begin(), nest.axes.end(),
                     [](const Axis& a) { return !a.reduced && a.extent == 0; });
}

// A view whose elements lie where they are to be, or a concat's part that was written in its place: no code.
bool is_elided(const Nest& nest, const Node& node, const Graph& graph, const std::vector<Layout>& layouts) {
  const Expr* read = copied_read(nest, node, graph);
  if (!read) return false;
  const Layout &from = layouts[node.reads[(*read)->index]], &to = layouts[node.writes[0]];
  if (from.root != to.root) return false;
  const auto a = address_of(from, (*read)->args, nest), b = address_of(to, nest.store, nest);
  return a && b && *a == *b;
}

// Cheap checks first. Whether rings hold what is read of them takes a run of the whole schedule
// (verify_rings).
void verify(const Schedule& schedule) {
  const Graph& graph = *schedule.graph;
  int depth = 0;
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    const bool opens = step.kind == StepKind::kIf || step.kind == StepKind::kLoop;
    const bool closes = step.kind == StepKind::kEndIf || step.kind == StepKind::kEndLoop;
    depth += opens - closes;
    ARENAC_CHECK(depth >= 0, "control steps do not nest");
    ARENAC_CHECK(step.kind == StepKind::kRun ||
                     (step.partner >= 0 && schedule.steps.at(step.partner).node == step.node),
                 "a control step without partner");
  }
  ARENAC_CHECK(depth == 0, "control steps do not nest");
  for (TensorId id : graph.outputs)
    ARENAC_CHECK(schedule.layouts[id].root == id && schedule.layouts[id].offset == 0,
                 "an output without storage of its own");
  for (size_t id = 0; id < graph.tensors.size(); ++id) {
    const Layout& layout = schedule.layouts[id];
    ARENAC_CHECK(schedule.layouts[layout.root].root == layout.root,
                 fmt::format("'{}' lies in the storage of a view", graph.tensors[id].name));
    ARENAC_CHECK(layout.offset >= 0, fmt::format("'{}' begins before its storage", graph.tensors[id].name));
    ARENAC_CHECK(layout.ring == schedule.layouts[layout.root].ring,
                 "a tensor with another ring than its storage");
  }
  ARENAC_CHECK(std::ranges::is_sorted(schedule.overlaps, {}, &StorageOverlap::step),
               "overlaps of storages are not in the order of their steps");
  verify_rings(schedule);
}

// A stack of the trips of all loops that are open; the step that opens a loop runs as often as what is around
// it.
std::vector<int64_t> iterations_of(const std::vector<Step>& steps) {
  std::vector<int64_t> around = {1}, all;
  for (const Step& step : steps) {
    if (step.kind == StepKind::kEndLoop) around.pop_back();
    all.push_back(around.back());
    if (step.kind != StepKind::kLoop) continue;
    int64_t trips = 0;
    const bool overflows =
        __builtin_mul_overflow(around.back(), std::get<Loop>(step.node->body).trips, &trips);
    around.push_back(overflows ? std::numeric_limits<int64_t>::max() : trips);
  }
  return all;
}

//       3  Conv  %7 in %7+0 [36864,1,768,16]  <-  %2 in %2+0 [..]  (0 2 1 3 vector i1x16 tile i2x6)
std::string dump(const Schedule& schedule) {
  const Graph& graph = *schedule.graph;
  const auto place = [&](TensorId id) {
    const Layout& layout = schedule.layouts[id];
    const Ring& ring = layout.ring;
    std::string kept;
    if (ring.kept > 0) kept = fmt::format(" {} rows of {}", ring.kept, ring.row);
    if (ring.columns > 0) kept += fmt::format(", {} columns of {}", ring.columns, ring.column);
    if (layout.words.row > 0)
      kept += fmt::format(" words of {} in {} rows", layout.words.row, layout.words.rows);
    return fmt::format("%{} in %{}+{} [{}]{}", id, layout.root, layout.offset, fmt::join(layout.strides, ","),
                       kept);
  };
  constexpr const char* kKinds[] = {"", "if", "else", "end if", "loop", "end loop"};
  std::string text;
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    text += fmt::format("{:5} {} {}", s, kKinds[static_cast<int>(step.kind)], step.node->op);
    if (step.kind == StepKind::kRun) {
      for (TensorId id : step.node->writes) text += "  " + place(id);
      text += "  <-";
      for (TensorId id : step.node->reads)
        if (!graph.tensors[id].constant) text += "  " + place(id);
      if (const Stage* stage = stage_of(schedule, s)) text += fmt::format("  in {} slabs", stage->slabs);
      for (const LoopPlan& plan : schedule.loops[s])
        text += fmt::format("  ({} vector i{}x{} tile i{}x{})", fmt::join(plan.order, " "), plan.vector_axis,
                            plan.lanes, plan.tile_axis, plan.tile);
    }
    text += "\n";
  }
  for (const StorageOverlap& o : schedule.overlaps)
    text += fmt::format("{:5} lets %{} lie {} bytes above %{}{}\n", o.step, o.above, o.distance, o.below,
                        o.loops && o.loops->front().sweep == Sweep::kDown ? ", from the end" : "");
  return text;
}

}  // namespace arenac
