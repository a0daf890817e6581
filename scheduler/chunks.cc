#include "scheduler/chunks.h"

#include <algorithm>
#include <numeric>

namespace arenac {
namespace {

constexpr int64_t kFewColumns = 3;  // of a chunk: as many share one read of the weights

// Columns of a chunk: the fewest that divide the row, from kFewColumns; else 2 or 1.
int64_t width_of(int64_t columns) {
  for (int64_t width = kFewColumns; width < columns; ++width)
    if (columns % width == 0) return width;
  return columns % 2 == 0 ? 2 : 1;
}

// A row as columns: the outermost dimension within a row.
Rows columns_of(const Layout& layout, const Rows& rows, const Shape& shape) {
  Rows columns;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1 && layout.strides[d] < rows.size && layout.strides[d] > columns.size)
      columns = {layout.strides[d], shape[d]};
  return columns;
}

// The axis that alone is the column of an access, or -1.
int column_axis(const Nest& nest, const Layout& layout, const Rows& rows, const Rows& columns,
                const Shape& shape, const std::vector<Expr>& indices) {
  Affine column{layout.offset % rows.size / columns.size, {}};
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t stride = layout.strides[d];
    if (shape[d] <= 1 || std::abs(stride) >= rows.size) continue;
    if (stride < 0 || (stride > columns.size && stride % columns.size != 0)) return -1;
    if (stride < columns.size) {
      if ((shape[d] - 1) * stride >= columns.size) return -1;
      continue;
    }
    const auto form = affine_form(indices[d]);
    if (!form) return -1;
    column = column + *form * (stride / columns.size);
  }
  std::erase_if(column.terms,
                [&](const auto& term) { return term.first >= 0 && nest.axes[term.first].extent == 1; });
  if (column.constant != 0 || column.terms.size() != 1 || column.terms[0].second != 1) return -1;
  const int a = column.terms[0].first;
  return a >= 0 && !nest.axes[a].reduced && nest.axes[a].extent == columns.count ? a : -1;
}

class Sharing {
 public:
  Sharing(Group& group, const std::vector<Step>& steps, const std::vector<Layout>& layouts,
          const Graph& graph, const StepFacts& facts)
      : group_(group), steps_(steps), layouts_(layouts), graph_(graph), facts_(facts) {}

  bool share(KeptRing& ring) {
    if (ring.kept != 1) return false;
    const std::vector<int> users = users_of(ring.storage);
    if (users.size() < 2) return false;
    const int host = users.back();
    const Rows rows = facts_.rows[ring.storage];
    const Rows columns = columns_of(layouts_[ring.storage], rows, shape_of(ring.storage));
    if (columns.size == 0 || columns.count < 2) return false;
    const int64_t width = width_of(columns.count);
    if (width == columns.count) return false;

    std::vector<std::vector<int>> axes;
    for (int k : users) axes.push_back(column_axes(k, ring.storage, rows, columns));
    const int64_t chunks = columns.count / width;
    for (size_t u = 0; u < users.size(); ++u) {
      const Stage& stage = group_.stages[users[u]];
      const bool other = stage.chunks > 1 && (stage.chunks != chunks || stage.chunk_axes != axes[u]);
      if (axes[u].empty() || other || !in_step(users[u], host)) return false;
    }
    std::vector<int> family = users;  // with the guests that some of them have
    for (int k = 0; k < static_cast<int>(group_.stages.size()); ++k)
      if (std::count(users.begin(), users.end(), group_.stages[k].host)) family.push_back(k);
    std::sort(family.begin(), family.end());
    family.erase(std::unique(family.begin(), family.end()), family.end());
    if (!independent(family, ring.storage) || !closed(family, host)) return false;

    for (size_t u = 0; u < users.size(); ++u) {
      group_.stages[users[u]].chunks = chunks;
      group_.stages[users[u]].chunk_axes = axes[u];
    }
    for (int k : family)
      if (k != host) group_.stages[k].host = host;
    ring.column = columns.size;
    ring.columns = width;
    chunked_.push_back(ring.storage);
    return true;
  }

  // A host pulls what its guests read, then what it reads itself, then its guests.
  void gather_pulls() {
    for (int host = 0; host < static_cast<int>(group_.stages.size()); ++host) {
      std::vector<Pull> outer, inner;
      for (int k = 0; k <= host; ++k) {
        const Stage& stage = group_.stages[k];
        if (k != host && stage.host != host) continue;
        for (const Pull& pull : stage.pulls)
          (group_.stages[pull.producer].host == host ? inner : outer).push_back(pull);
      }
      if (inner.empty()) continue;
      outer.insert(outer.end(), inner.begin(), inner.end());
      group_.stages[host].pulls = std::move(outer);
    }
  }

 private:
  const Shape& shape_of(TensorId id) const { return graph_.tensors[id].shape; }
  TensorId root(TensorId id) const { return layouts_[id].root; }
  const Slabs& slabs(int k) const { return facts_.slabs[group_.stages[k].step]; }

  bool reads(int k, TensorId storage) const {
    const auto& all = slabs(k).reads;
    return std::any_of(all.begin(), all.end(), [&](const RowAccess& r) { return root(r.tensor) == storage; });
  }
  bool writes(int k, TensorId storage) const { return root(slabs(k).write.tensor) == storage; }

  // Stages that touch a storage: the last only reads it.
  std::vector<int> users_of(TensorId storage) const {
    std::vector<int> users;
    for (int k = 0; k < static_cast<int>(group_.stages.size()); ++k)
      if (reads(k, storage) || writes(k, storage)) users.push_back(k);
    if (!users.empty() && writes(users.back(), storage)) users.clear();
    return users;
  }

  // Per nest of a stage the axis along which it touches the storage's columns; empty if there is none.
  std::vector<int> column_axes(int k, TensorId storage, const Rows& rows, const Rows& columns) const {
    const Node& node = *steps_[group_.stages[k].step].node;
    const Nests& nests = std::get<Nests>(node.body);
    std::vector<int> axes;
    for (size_t n = 0; n < nests.size(); ++n) {
      const Nest& nest = nests[n];
      int axis = -1;
      bool one = true;
      const auto touch = [&](TensorId id, const std::vector<Expr>& indices) {
        if (root(id) != storage || graph_.tensors[id].constant) return;
        const int a = column_axis(nest, layouts_[id], rows, columns, shape_of(id), indices);
        one &= a >= 0 && (axis < 0 || a == axis);
        axis = a;
      };
      touch(node.writes[0], nest.store);
      visit_reads(nest, [&](const Expr& e) { touch(node.reads[e->index], e->args); });
      // What clears sums runs once: it touches neither rows nor columns.
      const bool clears = axis < 0 && n + 1 < nests.size() && nests[n + 1].accumulate;
      if (!one || (axis < 0 && !clears) || (axis >= 0 && axis == slabs(k).nests[n].axis)) return {};
      axes.push_back(axis);
    }
    return axes;
  }

  // Slab t of each pulls slab t of the other.
  bool in_step(int guest, int host) const {
    if (guest == host) return true;
    if (group_.stages[guest].slabs != group_.stages[host].slabs) return false;
    for (const Stage& stage : group_.stages)
      for (const Pull& pull : stage.pulls)
        if (pull.producer == guest)
          for (int64_t t = 0; t < stage.slabs; ++t)
            if (pull.upto[t] != t) return false;
    return true;
  }

  // Nobody else asks for what the guests compute.
  bool closed(const std::vector<int>& family, int host) const {
    const auto guest = [&](int k) { return k != host && std::count(family.begin(), family.end(), k) > 0; };
    for (int k = 0; k < static_cast<int>(group_.stages.size()); ++k)
      for (const Pull& pull : group_.stages[k].pulls)
        if (guest(pull.producer) && k != host && !guest(k)) return false;
    return std::none_of(group_.sinks.begin(), group_.sinks.end(), guest) &&
           std::none_of(group_.completed.begin(), group_.completed.end(), guest);
  }

  // None of the stages writes what another touches, but for chunks of columns.
  bool independent(const std::vector<int>& family, TensorId storage) const {
    for (int k : family) {
      const TensorId out = root(slabs(k).write.tensor);
      if (out == storage || std::count(chunked_.begin(), chunked_.end(), out)) continue;
      for (int other : family)
        if (other != k && (reads(other, out) || writes(other, out))) return false;
    }
    return true;
  }

  Group& group_;
  const std::vector<Step>& steps_;
  const std::vector<Layout>& layouts_;
  const Graph& graph_;
  const StepFacts& facts_;
  std::vector<TensorId> chunked_;
};

}  // namespace

bool share_slabs(Group& group, std::vector<KeptRing>& rings, const std::vector<Step>& steps,
                 const std::vector<Layout>& layouts, const Graph& graph, const StepFacts& facts) {
  Sharing sharing(group, steps, layouts, graph, facts);
  bool any = false;
  for (KeptRing& ring : rings) any |= sharing.share(ring);
  if (any) sharing.gather_pulls();
  return any;
}

}  // namespace arenac
