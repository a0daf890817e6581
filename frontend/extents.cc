// Extents that only the run knows. A tensor's shape is then their bound, and its elements beyond them mean
// nothing; who writes it keeps them harmless, such as zero.
//
//   boxes [100,4], true extents {n, -}   --Gather column 2-->   [100], true extents {n}
//
// Which extents a formula's result has follows from its nests: a dimension that is stored along an axis which
// walks a dimension of n elements has n elements.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/importer.h"

namespace arenac {
namespace {

[[noreturn]] void refuse(const Graph& graph, TensorId id, size_t dim, const std::string& use) {
  throw ShapeError(fmt::format("dimension {} of '{}' {} has an extent that only the run knows: {}", dim,
                               printable(graph.tensors[id].name), to_string(graph.tensors[id].shape), use));
}

// The dimension that the nest stores along `axis`.
size_t stored_along(const Nest& nest, const Expr& axis) {
  const auto at = std::find_if(nest.store.begin(), nest.store.end(),
                               [&](const Expr& index) { return same(index, axis); });
  return static_cast<size_t>(at - nest.store.begin());
}

}  // namespace

void Importer::set_extent(TensorId id, size_t dim, TensorId extent) {
  std::vector<TensorId>& all = extents[id];
  all.resize(graph.tensors[id].shape.size(), kAbsent);
  if (all[dim] != kAbsent && all[dim] != extent)
    refuse(graph, id, dim, "it would have to be two different numbers");
  all[dim] = extent;
}

void Importer::carry_extents(const Node& node) {
  if (extents.empty()) return;
  const Nests* nests = std::get_if<Nests>(&node.body);
  for (const TensorId id : node.reads)
    if (const auto bounded = extents.find(id); bounded != extents.end() && !nests)
      refuse(graph, id, 0, "this operator needs extents that are known at compile time");
  if (!nests) return;
  for (const Nest& nest : *nests)
    visit_reads(nest, [&](const Expr& read) {
      const TensorId id = node.reads[read->index];
      const auto bounded = extents.find(id);
      if (bounded == extents.end()) return;
      const std::vector<TensorId> all = bounded->second;
      for (size_t d = 0; d < all.size(); ++d) {
        const Expr& index = read->args[d];
        if (all[d] == kAbsent || (index->op == Op::kConst && index->value.i == 0)) continue;
        const bool walks = index->op == Op::kAxis && index->index >= 0 && !nest.axes[index->index].reduced &&
                           nest.axes[index->index].extent == graph.tensors[id].shape[d];
        const size_t to = walks ? stored_along(nest, index) : nest.store.size();
        if (to == nest.store.size())
          refuse(graph, id, d,
                 "arenac carries it through operators that take the elements along it one by one");
        set_extent(node.writes[0], to, all[d]);
      }
    });
}

TensorId Importer::true_shape(TensorId id, const std::string& origin) {
  const Shape shape = graph.tensors[id].shape;
  const auto bounded = extents.find(id);
  Nests nests;
  std::vector<TensorId> reads;
  for (size_t d = 0; d < shape.size(); ++d) {
    const TensorId extent = bounded == extents.end() ? kAbsent : bounded->second[d];
    Nest nest;
    nest.store = {integer(static_cast<int64_t>(d))};
    nest.body =
        extent == kAbsent ? integer(shape[d]) : read(static_cast<int>(reads.size()), Type::kInt64, {});
    if (extent != kAbsent) reads.push_back(extent);
    nests.push_back(std::move(nest));
  }
  const TensorId result = add_tensor(origin, Type::kInt64, {static_cast<int64_t>(shape.size())});
  add_node({origin, "Shape", std::move(reads), {result}, std::move(nests)});
  return result;
}

}  // namespace arenac
