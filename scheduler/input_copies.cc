#include "scheduler/input_copies.h"

#include <algorithm>

#include "scheduler/loops.h"

namespace arenac {
namespace {

constexpr int64_t kFewChannels = 8;

// Whether the last index of a read is a reduced axis: the sum walks along elements that lie side by side.
bool walks_last(const Expr& read, const Nest& nest) {
  const auto form = affine_form(read->args.back());
  if (!form || form->terms.size() != 1) return false;
  const int a = form->terms.begin()->first;
  return a >= 0 && nest.axes[a].reduced;
}

// Whether a node's nest is a sum of products of bytes, one of them this operand's, by planes.
bool multiplies(const Node& node, const Nest& nest, TensorId id) {
  if (nest.combine != Combine::kSum) return false;
  const auto factors = byte_factors(nest.body);
  return factors && std::ranges::any_of(*factors, [&](const ByteFactor& factor) {
           return node.reads[factor.read->index] == id && !walks_last(factor.read, nest);
         });
}

bool multiplies(const Node& node, TensorId id) {
  const Nests* nests = std::get_if<Nests>(&node.body);
  return nests && std::ranges::count(node.reads, id) > 0 &&
         std::ranges::any_of(*nests, [&](const Nest& nest) { return multiplies(node, nest, id); });
}

}  // namespace

Graph with_input_copies(Graph graph, const Target& target) {
  if (target.byte_lanes == 0 || target.registers != Registers::kScalar) return graph;
  for (TensorId id : std::vector(graph.inputs)) {
    const Tensor input = graph.tensors[id];
    if (size_of(input.type) != 1 || input.shape.size() < 3 || input.shape[1] < kFewChannels) continue;
    const auto first = std::ranges::find_if(graph.block, [&](const Node& n) { return multiplies(n, id); });
    if (first == graph.block.end()) continue;
    const TensorId copy = static_cast<TensorId>(graph.tensors.size());
    graph.tensors.push_back(input);
    for (auto node = first; node != graph.block.end(); ++node)
      if (multiplies(*node, id)) std::ranges::replace(node->reads, id, copy);
    graph.block.insert(first, {.origin = input.name,
                               .op = "Identity",
                               .reads = {id},
                               .writes = {copy},
                               .body = Nests{copy_nest(input.type, input.shape)},
                               .is_copy = true});
  }
  return graph;
}

}  // namespace arenac
