#include "scheduler/storage.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "scheduler/dimension_orders.h"
#include "scheduler/flat_steps.h"
#include "scheduler/in_place.h"
#include "scheduler/liveness.h"
#include "scheduler/products.h"
#include "scheduler/storage_moves.h"

namespace arenac {
namespace {

constexpr int64_t kMostConcats = 64;  // whose parts are tried in place one by one, in a pass over all steps
constexpr int64_t kMostViews = 8;     // that are tried as copies: each does everything anew
constexpr int64_t kMostVisits = 2'000'000;  // of steps in the passes for concats

// ---- forwards: views, and orders of dimensions

// Rows one after the other, of which one is there.
Layout layout_by_rows(TensorId id, const Shape& shape, int dimension) {
  Shape row = shape;
  row[static_cast<size_t>(dimension)] = 1;
  Layout layout{id, 0, row_major_strides(row)};
  layout.strides[static_cast<size_t>(dimension)] = element_count(row);
  layout.ring = {element_count(row), 1};
  return layout;
}

std::vector<Layout> layouts_of_their_own(const Graph& graph) {
  std::vector<Layout> layouts;
  for (const Tensor& tensor : graph.tensors)
    layouts.push_back({static_cast<TensorId>(layouts.size()), 0, row_major_strides(tensor.shape)});
  for (const auto& [id, dimension] : graph.by_rows)
    layouts[id] = layout_by_rows(id, graph.tensors[id].shape, dimension);
  return layouts;
}

// The layout of the node's result as a view; nothing where it is none.
std::optional<Layout> view_of(const Node& node, const StorageFacts& facts, const std::vector<Layout>& layouts,
                              Factors factors) {
  if (!may_be_view(facts, node)) return std::nullopt;
  auto view = layout_as_view(facts, layouts, node);
  if (!view || facts.assigned[view->root] || facts.graph.tensors[view->root].constant) return std::nullopt;
  const bool is_copied_in_lanes = factors == Factors::kInLanes && !is_fed(facts.graph, view->root) &&
                                  lanes_lie_apart(facts, node.writes[0], *view);
  return is_copied_in_lanes ? std::nullopt : view;
}

ViewedBlock with_views(const StorageFacts& facts, const std::vector<Step>& steps,
                       const StorageChoice& choice) {
  ViewedBlock block{{}, layouts_of_their_own(facts.graph), Views(facts.graph.tensors.size())};
  std::vector<Layout>& layouts = block.layouts;
  for (const Step& step : steps) {
    const Node& node = *step.node;
    const bool runs = step.kind == StepKind::kRun;
    if (auto view = runs ? view_of(node, facts, layouts, choice.factors) : std::nullopt) {
      layouts[node.writes[0]] = std::move(*view);
      block.views.add({&node, node.reads[(*copied_element(node, facts.graph))->index]});
      continue;
    }
    block.steps.push_back(step);
    if (!runs) continue;
    for (TensorId id : node.writes)
      if (!facts.row_major[id]) layouts[id].strides = preferred_strides(facts, layouts, choice, node, id);
  }
  block.steps = with_partners(std::move(block.steps));
  return block;
}

// ---- backwards: sharing

// The step with most live bytes, what the caller holds apart.
struct FullestStep {
  int64_t bytes = 0;
  std::vector<bool> is_live;  // per storage
};

// Per storage: the steps from the first to the last of all that lies in it; none of the caller's.
std::vector<Interval> lives_of_storages(const StorageFacts& facts, const std::vector<Layout>& layouts,
                                        const std::vector<Interval>& lives_of_tensors) {
  std::vector<Interval> lives(layouts.size(), {0, 0});
  for (size_t id = 0; id < lives.size(); ++id) {
    const Interval& own = lives_of_tensors[id];
    const TensorId root = layouts[id].root;
    if (own.begin == own.end || facts.is_input[root] || facts.is_output[root]) continue;
    Interval& all = lives[root];
    if (all.begin == all.end) all = own;
    all = {std::min(all.begin, own.begin), std::max(all.end, own.end)};
  }
  return lives;
}

FullestStep fullest_step(const Graph& graph, const std::vector<Layout>& layouts,
                         const std::vector<Interval>& lives, int64_t steps) {
  FullestStep fullest{0, std::vector<bool>(lives.size())};
  if (steps == 0) return fullest;
  const auto live = live_bytes(storage_bytes(graph, layouts), lives, steps);
  const auto most = std::ranges::max_element(live);
  const int64_t s = most - live.begin();
  fullest.bytes = *most;
  for (size_t id = 0; id < lives.size(); ++id)
    fullest.is_live[id] = lives[id].begin <= s && s < lives[id].end;
  return fullest;
}

struct SharedLayouts {
  std::vector<Layout> layouts;
  FullestStep fullest;
};

// Moves operands into results, those of concats only where asked for.
class SharedStorage {
 public:
  SharedStorage(const StorageFacts& facts, const ViewedBlock& block, Moves moves)
      : facts_(facts),
        block_(block),
        moves_(moves),
        occupied_(occupancies(facts.graph, block.steps, block.layouts)),
        lives_(steps_occupied(occupied_)) {
    for (const Step& step : block.steps)
      operands_.push_back(step.kind == StepKind::kRun ? harmless_operands(facts, *step.node, moves)
                                                      : std::vector<std::vector<TensorId>>{});
  }

  // Steps that write with several nests.
  std::vector<int> concats() const {
    std::vector<int> all;
    for (int s = 0; s < std::ssize(operands_); ++s)
      if (operands_[s].size() > 1) all.push_back(s);
    return all;
  }

  // `merged`, per step: whether parts of its concat move.
  SharedLayouts with(const std::vector<bool>& merged) const {
    StorageMoves moves(facts_, block_, occupied_);
    for (int s = static_cast<int>(operands_.size()); s-- > 0;)
      for (size_t k = 0; k < operands_[s].size(); ++k)
        if (merged[s] || operands_[s].size() == 1) move_one(moves, s, static_cast<int>(k));
    const auto lives = lives_of_storages(facts_, moves.layouts(), lives_);
    return {moves.layouts(), fullest_step(facts_.graph, moves.layouts(), lives, std::ssize(block_.steps))};
  }

 private:
  // The first operand of nest k of step s that can move does.
  void move_one(StorageMoves& moves, int s, int k) const {
    const Node& node = *block_.steps[s].node;
    for (TensorId x : operands_[s][k]) {
      const auto place = place_in_result(facts_, moves.layouts(), node, std::get<Nests>(node.body)[k], x);
      if (place && may_be_at(*place, moves.layouts()[x], x, s) && moves.move(x, *place, s, k)) return;
    }
  }

  // Whether operand x of step s, which lies as it does, may lie at a place in its result for all that Moves
  // says of orders of dimensions. Parts of concats may.
  bool may_be_at(const Layout& place, const Layout& own, TensorId x, int s) const {
    if (moves_ != Moves::kUnshared || operands_[s].size() > 1) return true;
    const bool others_ask = facts_.is_output[place.root] || facts_.readers[x].size() > 1;
    return !others_ask || equivalent(place.strides, own.strides, facts_.graph.tensors[x].shape);
  }

  const StorageFacts& facts_;
  const ViewedBlock& block_;
  const Moves moves_;
  const std::vector<Occupancy> occupied_;                     // per tensor
  const std::vector<Interval> lives_;                         // the same in steps
  std::vector<std::vector<std::vector<TensorId>>> operands_;  // per step, per nest: those that may move
};

// Of `most` passes over all steps, as many as take little time.
size_t trials(int64_t most, int64_t steps) {
  return static_cast<size_t>(std::clamp<int64_t>(kMostVisits / std::max<int64_t>(1, steps), 1, most));
}

// With the parts of those concats in place that do not raise the peak: of all, or tried one by one.
SharedLayouts share_storage(const StorageFacts& facts, const ViewedBlock& block, Moves moves,
                            Deadline deadline, LimitsHit& limits_hit) {
  const SharedStorage shared(facts, block, moves);
  const std::vector<int> concats = shared.concats();
  std::vector<bool> merged(block.steps.size());
  SharedLayouts best = shared.with(merged);
  if (concats.empty()) return best;
  std::vector<bool> all = merged;
  for (int s : concats) all[s] = true;
  SharedLayouts with_all = shared.with(all);
  if (with_all.fullest.bytes <= best.fullest.bytes) return with_all;
  const size_t tried = trials(kMostConcats, std::ssize(block.steps));
  if (concats.size() > tried)
    limits_hit.insert({"parts of concats in place", static_cast<int64_t>(tried), "concat"});
  for (size_t k = 0; k < std::min(concats.size(), tried) && !has_passed(deadline); ++k) {
    merged[concats[k]] = true;
    SharedLayouts with = shared.with(merged);
    if (with.fullest.bytes <= best.fullest.bytes)
      best = std::move(with);
    else
      merged[concats[k]] = false;
  }
  return best;
}

// ---- all of it

struct Attempt {
  Storage storage;
  std::vector<const Node*> partial_views;  // of less than all of a storage that is live at the peak
};

// `copied` are nodes that stay copies although their results could be views.
Attempt attempt(const Graph& graph, const std::vector<int>& order, const std::vector<const Node*>& copied,
                const StorageChoice& choice, Deadline deadline) {
  const std::vector<Step> steps = flat_steps(graph, order);
  const StorageFacts facts = storage_facts(graph, steps, copied);
  ViewedBlock block = with_views(facts, steps, choice);
  LimitsHit limits_hit;
  SharedLayouts shared = share_storage(facts, block, choice.moves, deadline, limits_hit);
  std::vector<const Node*> partial;
  for (const auto& [node, of] : block.views.all) {
    const TensorId out = node->writes[0], root = shared.layouts[out].root;
    if (shared.fullest.is_live[root] && facts.count(out) < facts.count(root)) partial.push_back(node);
  }
  return {{std::move(block.steps), std::move(shared.layouts), shared.fullest.bytes, std::move(limits_hit)},
          std::move(partial)};
}

std::vector<int> order_of_file(const Graph& graph) {
  std::vector<int> order(graph.block.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

bool may_meet(Type a, Type b) {
  return size_of(a) == 1 || size_of(b) == 1 || std::string_view(info(a).c_name) == info(b).c_name;
}

Storage assign_storage(const Graph& graph, const std::vector<int>& order, const StorageChoice& choice,
                       Deadline deadline) {
  std::vector<const Node*> copied;
  Attempt best = attempt(graph, order, copied, choice, deadline);
  size_t next = 0;
  for (int tried = 0; next < best.partial_views.size() && !has_passed(deadline); ++tried) {
    if (tried == kMostViews) {
      best.storage.limits_hit.insert({"copies instead of views", kMostViews, "view"});
      break;
    }
    copied.push_back(best.partial_views[next++]);
    Attempt with = attempt(graph, order, copied, choice, deadline);
    if (with.storage.peak < best.storage.peak) {
      best = std::move(with);
      next = 0;
    } else {
      copied.pop_back();
    }
  }
  return std::move(best.storage);
}

Storage assign_storage(const Graph& graph, Deadline deadline) {
  return assign_storage(graph, order_of_file(graph), {}, deadline);
}

int64_t layerwise_peak(const Graph& graph) { return assign_storage(graph).peak; }

Sharing possible_sharing(const Graph& graph) {
  using enum Sharing::Move::Kind;
  const std::vector<Step> steps = flat_steps(graph, order_of_file(graph));
  const StorageFacts facts = storage_facts(graph, steps, {});
  const ViewedBlock block = with_views(facts, steps, {});
  Sharing result;
  for (const Layout& layout : block.layouts) result.roots.push_back(layout.root);
  for (const View& view : block.views.all) result.views.push_back(view.node);
  int depth = 0;
  for (const Step& step : block.steps) {
    depth += (step.kind == StepKind::kIf || step.kind == StepKind::kLoop) -
             (step.kind == StepKind::kEndIf || step.kind == StepKind::kEndLoop);
    if (depth > 0 || step.kind != StepKind::kRun) continue;
    const auto operands = harmless_operands(facts, *step.node, Moves::kFirst);
    for (size_t k = 0; k < operands.size(); ++k)
      for (TensorId x : operands[k]) {
        const Nest& nest = std::get<Nests>(step.node->body)[k];
        const auto place = place_in_result(facts, block.layouts, *step.node, nest, x);
        if (!place || !layout_of_whole(facts, block.layouts, block.views, x, *place)) continue;
        result.moves.push_back(
            {step.node, block.layouts[x].root, place->root, operands.size() > 1 ? kPart : kInPlace});
      }
  }
  return result;
}

}  // namespace arenac
