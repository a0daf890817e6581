#include "frontend/precision.h"

#include <set>
#include <vector>

namespace arenac {

Graph with_free_precision(Graph graph, PeakOf peak_of) {
  std::set<int64_t> distinct;  // bytes of 16-bit activations as float32
  for (const Tensor& t : graph.tensors)
    if (!t.constant && is_half(t.type)) distinct.insert(element_count(t.shape) * size_of(Type::kFloat32));
  const std::vector<int64_t> sizes(distinct.begin(), distinct.end());
  const int64_t peak = sizes.empty() ? 0 : peak_of(graph);
  // The peak grows with the size up to which all is wide: bisection.
  size_t free = 0, dear = sizes.size() + 1;
  Graph best = graph;
  while (dear - free > 1) {
    const size_t middle = free + (dear - free) / 2;
    Graph wide = with_wide_activations(graph, sizes[middle - 1]);
    if (peak_of(wide) > peak) {
      dear = middle;
    } else {
      free = middle;
      best = std::move(wide);
    }
  }
  return best;
}

}  // namespace arenac
