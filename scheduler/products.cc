#include "scheduler/products.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "frontend/products.h"
#include "scheduler/dimension_orders.h"
#include "scheduler/views.h"

namespace arenac {
namespace {

// Whether lanes lie apart for who reads the tensor in the end, through the views of it that there can be.
bool lie_apart_behind_views(const StorageFacts& facts, TensorId factor, Layout layout) {
  const auto view_of = [&](const Node& reader) -> std::optional<Layout> {
    const Expr* from = may_be_view(facts, reader) ? copied_element(reader, facts.graph) : nullptr;
    if (!from || reader.reads[(*from)->index] != factor) return std::nullopt;
    return view_layout(reader, *from, layout);
  };
  while (const Node* reader = only_reader(facts, factor)) {
    auto view = view_of(*reader);
    if (!view) break;
    factor = reader->writes[0];
    layout = std::move(*view);
  }
  return lanes_lie_apart(facts, factor, layout);
}

}  // namespace

bool lanes_lie_apart(const StorageFacts& facts, TensorId factor, const Layout& layout) {
  const Node* reader = only_reader(facts, factor);
  const Nests* nests = reader ? std::get_if<Nests>(&reader->body) : nullptr;
  if (!nests || nests->size() != 1) return false;
  const auto lanes = product_lanes(nests->front(), *reader, facts.graph);
  if (!lanes || reader->reads[lanes->read->index] != factor) return false;
  const auto address = address_of(layout, lanes->read->args, nests->front());
  return address && std::abs(address->coefficient(lanes->axis)) > 1;
}

std::vector<int64_t> strides_in_lanes(const StorageFacts& facts, TensorId factor,
                                      const std::vector<int64_t>& given) {
  const auto lie_apart_in = [&](const std::vector<int64_t>& strides) {
    return lie_apart_behind_views(facts, factor, {factor, 0, strides});
  };
  if (!lie_apart_in(given)) return given;
  std::vector<int> outer(given.size());
  std::iota(outer.begin(), outer.end(), 0);
  std::ranges::stable_sort(outer, std::greater{}, [&](int d) { return given[d]; });
  for (int d = static_cast<int>(given.size()); d-- > 0;) {
    std::vector<int> order = outer;
    std::erase(order, d);
    order.push_back(d);
    std::vector<int64_t> strides = dense_strides(facts.graph.tensors[factor].shape, order);
    if (!lie_apart_in(strides)) return strides;
  }
  return given;
}

}  // namespace arenac
