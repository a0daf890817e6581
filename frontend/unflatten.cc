#include "frontend/unflatten.h"

#include <algorithm>
#include <map>

#include "frontend/error.h"
#include "frontend/facts.h"
#include "frontend/merge.h"

namespace arenac {
namespace {

// A dimension and the extents that take its place, their product its own: {0, {2, 4, 4}} of [32, 5] is [2, 4,
// 4, 5].
struct Split {
  int dimension;
  std::vector<int64_t> extents;
  auto operator<=>(const Split&) const = default;
};

template <typename T>
// {a, b, c} at 1 by {x, y}  ->  {a, x, y, c}
void replace_one(std::vector<T>& all, int at, const std::vector<T>& by) {
  all.erase(all.begin() + at);
  all.insert(all.begin() + at, by.begin(), by.end());
}

// The axis that an index is, and no more than that; -1: none.
int lone_axis(const Expr& index) { return index->op == Op::kAxis ? std::max(index->index, -1) : -1; }

// The extents of the dimensions that one axis of a read walks together, the last one fastest, if it walks all
// of two or more, or of the first a part that other axes choose: {16, 4, 4} for x[i1 / 16, i1 / 4 % 4, i1 %
// 4], i1 < 256, and {2, 4, 4} for x[2 * i0 + i1 / 16, i1 / 4 % 4, i1 % 4], i1 < 32. Empty where it does not.
//
// Dimensions that the axis does not name may lie between these. Each index is compared with the digit that it
// should be, both simplified: no pattern of divisions has to be known here.
std::vector<int64_t> joined_extents(const std::vector<Expr>& indices, const Shape& shape, int a,
                                    const std::vector<Interval>& axes) {
  std::vector<size_t> dims;
  int64_t stride = 1;
  for (size_t d = 0; d < shape.size(); ++d)
    if (names_axis(indices[d], a)) dims.push_back(d), stride *= dims.size() > 1 ? shape[d] : 1;
  if (dims.size() < 2 || stride == 0 || axes[a].end % stride != 0) return {};
  std::vector<int64_t> extents;
  for (size_t d : dims) {
    const bool first = d == dims[0];
    extents.push_back(first ? axes[a].end / stride : shape[d]);
    if (!first) stride /= shape[d];
    const Expr others =
        first ? substitute(indices[d], [&](const Expr& e) { return same(e, axis(a)) ? integer(0) : Expr(); })
              : integer(0);
    const Expr digit = others + (axis(a) / integer(stride)) % integer(extents.back());
    if (!same(simplify_index(digit, axes), simplify_index(indices[d], axes))) return {};
  }
  return extents;
}

// An index as one per dimension that takes its place, by division and remainder:
//
//   c % 2 * 16 + i * 4 + j  of {2, 4, 4}   ->   {c % 2, i, j}
std::vector<Expr> digits_of(const Expr& index, const std::vector<int64_t>& extents,
                            const std::vector<Interval>& axes) {
  std::vector<Expr> digits;
  int64_t stride = 1;
  for (int64_t extent : extents) stride *= extent;
  for (int64_t extent : extents) {
    stride /= extent;
    digits.push_back(simplify_index((index / integer(stride)) % integer(extent), axes));
  }
  return digits;
}

// Whether no axis is in more than one of them: then the digits are no worse to walk than the index was.
bool are_apart(const std::vector<Expr>& digits, int axes) {
  for (int a = 0; a < axes; ++a)
    if (std::ranges::count_if(digits, [&](const Expr& e) { return names_axis(e, a); }) > 1) return false;
  return true;
}

// Per block, and for each node that joins dimensions: find all that its result goes into, directly or through
// element-wise nodes; if every one of them can walk the dimensions apart, rewrite all, else none.
//
//   r = x joined        splits {r: {0, {16, 4, 4}}}
//   s = Relu(r)         s follows: the same split
//   y = sum(k) s * w    k falls apart into three reduced axes, w is a constant of another shape: done
class Unflattener {
 public:
  explicit Unflattener(Graph graph)
      : graph_(std::move(graph)), reads_(times_read(graph_)), written_(times_written(graph_)) {}

  Graph run() {
    rewrite(graph_.block);
    return std::move(graph_);
  }

 private:
  using Splits = std::map<TensorId, Split>;

  // A node may join in several dimensions; each success changes what it joins, so these are found anew.
  void rewrite(Block& block) {
    for (Node& node : block)
      for (Block* inner : blocks_of(node)) rewrite(*inner);
    for (size_t p = 0; p < block.size(); ++p)
      for (bool changed = true; changed;) {
        changed = false;
        for (const Split& joined : joined_by(block[p]))
          if (!changed) changed = unflatten(block, p, joined);
      }
  }

  // ---- the condition

  // The dimensions of its result in each of which an element-wise node joins several of an operand's.
  std::vector<Split> joined_by(const Node& node) const {
    const Nests* nests = std::get_if<Nests>(&node.body);
    if (!nests || nests->size() != 1 || !may_change(node.writes[0])) return {};
    const Nest& nest = nests->front();
    if (!is_plain(nest)) return {};
    const Shape& shape = graph_.tensors[node.writes[0]].shape;
    if (!dimension_of_axes(nest.store, shape, nest.axes)) return {};
    const auto axes = axis_intervals(nest);
    std::vector<Split> all;
    visit_reads(nest, [&](const Expr& e) {
      for (size_t d = 0; d < shape.size(); ++d) {
        const int a = lone_axis(nest.store[d]);
        if (a < 0) continue;
        const auto extents = joined_extents(e->args, graph_.tensors[node.reads[e->index]].shape, a, axes);
        if (!extents.empty()) all.push_back({static_cast<int>(d), extents});
      }
    });
    return all;
  }

  // No output, and nothing but one node of nests writes it.
  bool may_change(TensorId id) const {
    return written_[id] == 1 && std::count(graph_.outputs.begin(), graph_.outputs.end(), id) == 0;
  }

  // Per axis of the nest the extents that take its place, for reads of `splits`; nothing where one of those
  // reads has an index that is neither an axis nor falls apart into the dimensions by itself, or where an
  // axis does not walk the whole dimension or would be split in two ways.
  std::optional<std::map<int, std::vector<int64_t>>> split_axes(const Nest& nest, const Node& node,
                                                                const Splits& splits) const {
    std::map<int, std::vector<int64_t>> axes;
    bool fits = true;
    visit_reads(nest, [&](const Expr& e) {
      const auto at = splits.find(node.reads[e->index]);
      if (at == splits.end()) return;
      const auto& [dimension, extents] = at->second;
      const int a = lone_axis(e->args[dimension]);
      if (a < 0)
        fits &= are_apart(digits_of(e->args[dimension], extents, axis_intervals(nest)),
                          static_cast<int>(nest.axes.size()));
      else
        fits &= nest.axes[a].extent == graph_.tensors[at->first].shape[dimension] &&
                axes.emplace(a, extents).first->second == extents;
    });
    return fits ? std::optional(axes) : std::nullopt;
  }

  // Adds the split of the node's result where one follows from its operands': where an axis that falls apart
  // is an index of the store. If it is reduced there is none. False where the node cannot follow them: it is
  // no nest, its result is an output or is stored by other indices, or it joins two splits that differ.
  bool follow(const Node& node, Splits& splits) const {
    const Nests* nests = std::get_if<Nests>(&node.body);
    if (!nests) return false;
    const TensorId out = node.writes[0];
    std::optional<Split> result;
    for (const Nest& nest : *nests) {
      const auto axes = split_axes(nest, node, splits);
      if (!axes) return false;
      for (const auto& [a, extents] : *axes)
        for (size_t d = 0; d < nest.store.size(); ++d) {
          if (!names_axis(nest.store[d], a)) continue;
          const Split split{static_cast<int>(d), extents};
          if (result.value_or(split) != split) return false;
          result = split;
        }
    }
    if (!result) return true;
    const int64_t extent = graph_.tensors[out].shape[result->dimension];
    for (const Nest& nest : *nests) {
      const int a = lone_axis(nest.store[result->dimension]);
      if (a < 0 || nest.axes[a].extent != extent) return false;
    }
    return may_change(out) && splits.emplace(out, *result).second;
  }

  // ---- the rewrite

  // Rewrites node p and its followers so that the result stays apart; false, and nothing changed, where a
  // read of one of the split tensors is by a node that cannot follow, or lies in another block. Reads are
  // counted against all there are: the search ends when it has met the last.
  bool unflatten(Block& block, size_t p, const Split& joined) {
    Splits splits = {{block[p].writes[0], joined}};
    std::vector<size_t> followers;
    int reads = 0;
    const auto all_reads = [&] {
      int count = 0;
      for (const auto& [id, split] : splits) count += reads_[id];
      return count;
    };
    for (size_t c = p + 1; c < block.size() && reads < all_reads(); ++c) {
      const auto read = std::count_if(block[c].reads.begin(), block[c].reads.end(),
                                      [&](TensorId id) { return splits.contains(id); });
      if (read == 0) continue;
      if (!follow(block[c], splits)) return false;
      reads += static_cast<int>(read), followers.push_back(c);
    }
    if (reads != all_reads()) return false;  // some are elsewhere
    block[p] = apart(block[p], splits);
    for (size_t c : followers) block[c] = apart(block[c], splits);
    for (const auto& [id, split] : splits)
      replace_one(graph_.tensors[id].shape, split.dimension, split.extents);
    return true;
  }

  // The node on the tensors as they are split; graph_ still has them as they were, so that reads can be told
  // apart by their old indices.
  Node apart(Node node, const Splits& splits) {
    Operands operands{node.reads};
    const auto result = splits.find(node.writes[0]);
    for (Nest& nest : std::get<Nests>(node.body)) {
      std::map<int, std::vector<int64_t>> axes = *split_axes(nest, node, splits);
      if (result != splits.end())
        axes.emplace(lone_axis(nest.store[result->second.dimension]), result->second.extents);
      nest = apart(nest, axes, splits, result == splits.end() ? -1 : result->second.dimension, operands);
    }
    node.reads = std::move(operands.ids);
    return with_used_operands(std::move(node));
  }

  // The axes of a nest and what is in their place.
  struct Axes {
    const std::map<int, std::vector<int64_t>>& split;
    std::vector<std::vector<Expr>> parts = {};  // per axis
    std::vector<Expr> whole = {};               // per axis: its index, made of them
    std::vector<Interval> intervals = {};       // of those in their place
  };

  // The nest with an axis of each of the extents in place of a split one, in their order: reductions add the
  // same terms one after the other. `stored` is the dimension of the store that falls apart; -1: none.
  //
  //   i1 < 32 by {2, 4, 4}   ->   parts {i1, i2, i3},  whole (i1 * 4 + i2) * 4 + i3;  later axes move on
  Nest apart(const Nest& nest, const std::map<int, std::vector<int64_t>>& split, const Splits& splits,
             int stored, Operands& operands) {
    Nest result = nest;
    result.axes.clear();
    Axes axes{split};
    for (int a = 0; a < static_cast<int>(nest.axes.size()); ++a) {
      const auto at = split.find(a);
      std::vector<Expr>& mine = axes.parts.emplace_back();
      Expr index = integer(0);
      for (int64_t extent : at == split.end() ? std::vector{nest.axes[a].extent} : at->second) {
        mine.push_back(axis(static_cast<int>(result.axes.size())));
        result.axes.push_back({extent, nest.axes[a].reduced});
        index = index * integer(extent) + mine.back();
      }
      axes.whole.push_back(mine.size() == 1 ? mine[0] : index);
    }
    axes.intervals = axis_intervals(result);
    const auto renamed = [&](const auto& self, const Expr& e) -> Expr {
      return e.empty() ? e : substitute(e, [&](const Expr& x) -> Expr {
        if (x->op == Op::kAxis && x->index >= 0) return axes.whole[x->index];
        if (x->op != Op::kRead) return {};
        std::vector<Expr> indices;
        for (const Expr& index : x->args)
          indices.push_back(simplify_index(self(self, index), axes.intervals));
        return read_apart(x, indices, axes, splits, operands);
      });
    };
    const auto index = [&](const Expr& e) { return simplify_index(renamed(renamed, e), axes.intervals); };
    for (Bound& bound : result.where) bound.index = index(bound.index);
    for (Expr& stores : result.store) stores = index(stores);
    if (stored >= 0) replace_one(result.store, stored, axes.parts[lone_axis(nest.store[stored])]);
    result.body = renamed(renamed, nest.body), result.finish = renamed(renamed, nest.finish);
    return result;
  }

  // A read, its indices rewritten already: of a tensor that is split, or of a constant, which can be: then
  // its index is one axis a dimension, too, and no division is left of it.
  Expr read_apart(const Expr& x, std::vector<Expr> indices, const Axes& axes, const Splits& splits,
                  Operands& operands) {
    TensorId id = operands.ids[x->index];
    const auto own = splits.find(id);
    // From the last on: those before keep their place.
    for (int d = static_cast<int>(x->args.size()); d-- > 0;) {
      const bool is_split = own != splits.end() && own->second.dimension == d;
      const int a = lone_axis(x->args[d]);
      const auto at = axes.split.find(a);
      if (a < 0 || at == axes.split.end()) {
        if (is_split) replace_one(indices, d, digits_of(indices[d], own->second.extents, axes.intervals));
        continue;
      }
      const bool fixed =
          graph_.tensors[id].constant && graph_.tensors[id].shape[d] == element_count(at->second);
      if (fixed)
        id = constant_apart(id, {d, at->second});
      else if (!is_split)
        continue;
      replace_one(indices, d, axes.parts[a]);
    }
    return read(operands.of(id), x->type, std::move(indices));
  }

  // The constant with one dimension as several, its bytes the same; one for all reads. What it was folded
  // from follows.
  TensorId constant_apart(TensorId id, const Split& split) {
    const auto [at, fresh] = apart_.try_emplace({id, split}, static_cast<TensorId>(graph_.tensors.size()));
    if (fresh) {
      Tensor tensor = graph_.tensors[id];
      auto value = std::make_shared<Value>(*tensor.constant);
      replace_one(tensor.shape, split.dimension, split.extents);
      value->shape = tensor.shape;
      tensor.constant = std::move(value);
      graph_.tensors.push_back(std::move(tensor));
      if (const auto folded = graph_.tensors.back().folded_from) {
        ARENAC_CHECK(folded->writes.size() == 1, "folding makes one tensor");
        auto by = std::make_shared<const Node>(apart(*folded, {{folded->writes[0], split}}));
        graph_.tensors[at->second].folded_from = std::move(by);
      }
    }
    return at->second;
  }

  Graph graph_;
  std::vector<int> reads_, written_;
  std::map<std::pair<TensorId, Split>, TensorId> apart_;  // constants
};

}  // namespace

Graph with_unflattened_operands(Graph graph) { return Unflattener(std::move(graph)).run(); }

}  // namespace arenac
