#include "scheduler/products.h"

#include <cstdlib>

#include "frontend/products.h"

namespace arenac {

bool lanes_lie_apart(const Node& reader, TensorId factor, const Layout& layout, const Graph& graph) {
  const Nests* nests = std::get_if<Nests>(&reader.body);
  if (!nests || nests->size() != 1) return false;
  const auto lanes = product_lanes(nests->front(), reader, graph);
  if (!lanes || reader.reads[lanes->read->index] != factor) return false;
  const auto address = address_of(layout, lanes->read->args, nests->front());
  return address && std::abs(address->coefficient(lanes->axis)) > 1;
}

}  // namespace arenac
