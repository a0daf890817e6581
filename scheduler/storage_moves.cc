#include "scheduler/storage_moves.h"

#include <algorithm>

namespace arenac {

// Not of the caller's, of constants and of what control flow assigns, which lie where they lie; nor where the
// tensor is only a part of its storage. Backwards from x to its storage: each view on the way says how what
// it views must lie for its own result to lie as wanted. Views change the order of dimensions for what goes
// to the caller alone: what windows slide over in the arena keeps the order that they want.
std::optional<Layout> layout_of_whole(const StorageFacts& facts, const std::vector<Layout>& layouts,
                                      const Views& views, TensorId x, const Layout& wanted) {
  const TensorId root = layouts[x].root;
  if (facts.is_input[root] || facts.is_output[root] || facts.assigned[root] ||
      facts.graph.tensors[root].constant || root == wanted.root || facts.count(root) != facts.count(x))
    return std::nullopt;
  if (equivalent(wanted.strides, layouts[x].strides, facts.graph.tensors[x].shape))
    return Layout{wanted.root, wanted.offset - layouts[x].offset, layouts[root].strides};
  if (facts.row_major[root] || (x != root && !facts.is_output[wanted.root])) return std::nullopt;
  std::optional<Layout> layout = wanted;
  for (TensorId id = x; id != root && layout;) {
    const View& view = views.all[views.number[id]];
    layout = layout_behind(*view.node, *layout, facts.graph);
    id = view.of;
  }
  return layout;
}

StorageMoves::StorageMoves(const StorageFacts& facts, const ViewedBlock& block,
                           const std::vector<Occupancy>& occupied)
    : facts_(facts),
      block_(block),
      occupied_(occupied),
      layouts_(block.layouts),
      held_(layouts_.size()),
      paths_(layouts_.size()),
      moved_(layouts_.size()) {
  // each in its own storage alone, so far
  for (TensorId id = 0; id < std::ssize(layouts_); ++id) held_[id] = {{first_use(id), id}};
}

// A storage moves once, and only while nothing has moved into it.
bool StorageMoves::move(TensorId x, const Layout& wanted, int s, int k) {
  const TensorId root = layouts_[x].root;
  if (moved_[root] || held_[root].size() != 1) return false;
  const std::optional<Layout> layout = layout_of_whole(facts_, layouts_, block_.views, x, wanted);
  if (!layout) return false;
  const Node& node = *block_.steps[s].node;
  // where the result itself has moved before, that path goes on
  Path path = paths_[node.writes[0]];
  if (std::get<Nests>(node.body).size() > 1) path.insert(path.begin(), {s, k});
  // The cheap question first: laying out renews views.
  if (!is_free(wanted.root, path, root, s)) return false;
  if (!lay_out(root, *layout)) return false;
  held_[wanted.root].insert({first_use(root), root});
  paths_[root] = std::move(path);
  moved_[root] = true;
  return true;
}

// Whether `moved`, which dies at step s, can lie in a storage at that path: every tensor that lies there is
// in another part of some concat, or is never in use at the same time. At step s itself, operand and result
// may be (in place).
bool StorageMoves::is_free(TensorId storage, const Path& path, TensorId moved, int s) const {
  const Occupancy& when = occupied_[moved];
  for (const auto& [begin, other] : held_[storage]) {
    if (!when.empty() && begin >= when.back().end) break;  // so are all others
    if (are_apart(path, paths_[other])) continue;
    const bool is_result = other == block_.steps[s].node->writes[0];
    if (collide(when, occupied_[other], is_result ? 2 * int64_t{s} : -1)) return false;
  }
  return true;
}

// Views of a tensor follow it. False, and nothing changed, where one cannot.
bool StorageMoves::lay_out(TensorId storage, const Layout& layout) {
  std::vector<std::pair<TensorId, Layout>> before;
  const auto change = [&](TensorId id, Layout to) {
    before.push_back({id, std::exchange(layouts_[id], std::move(to))});
  };
  change(storage, layout);
  const Views& views = block_.views;
  std::set<int> follow(views.of[storage].begin(), views.of[storage].end());  // a view comes before its views
  for (; !follow.empty(); follow.erase(follow.begin())) {
    const Node& node = *views.all[*follow.begin()].node;
    auto view = layout_as_view(facts_, layouts_, node);
    if (!view) {
      for (auto& [id, was] : before) layouts_[id] = std::move(was);
      return false;
    }
    const TensorId out = node.writes[0];
    change(out, std::move(*view));
    follow.insert(views.of[out].begin(), views.of[out].end());
  }
  return true;
}

// In different nests of the same step: both paths ascend, so one pass finds a common step.
bool StorageMoves::are_apart(const Path& a, const Path& b) {
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (i->first == j->first && i->second != j->second) return true;
    (i->first < j->first ? i : j)++;
  }
  return false;
}

// What is never in use comes last.
int64_t StorageMoves::first_use(TensorId id) const {
  return occupied_[id].empty() ? INT64_MAX : occupied_[id].front().begin;
}

}  // namespace arenac
