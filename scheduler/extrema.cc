#include "scheduler/extrema.h"

#include <algorithm>

#include "frontend/facts.h"
#include "frontend/merge.h"

namespace arenac {
namespace {

constexpr int64_t kFewElements = 256;

// The reduced axis along which all that the body reads lies side by side, in blocks of `lanes`, if the nest
// is an extremum of enough elements; -1: none.
int axis_of_lanes(const Nest& nest, int lanes) {
  if (nest.combine != Combine::kMin && nest.combine != Combine::kMax) return -1;
  if (nest.accumulate || !nest.where.empty()) return -1;
  int64_t elements = 1;
  for (const Axis& a : nest.axes) {
    if (!a.reduced && a.extent != 1) return -1;
    elements *= a.extent;
  }
  if (elements < kFewElements) return -1;
  for (int a = 0; a < static_cast<int>(nest.axes.size()); ++a) {
    if (!nest.axes[a].reduced || nest.axes[a].extent <= lanes || nest.axes[a].extent % lanes != 0) continue;
    bool along = true;
    visit_reads(nest, [&](const Expr& read) {
      along &= !names_axis(read, a) || dimension_along(read->args, a) == read->args.size() - 1;
    });
    if (along) return a;
  }
  return -1;
}

// The node's extremum of each lane, into the tensor `lanes`.
Node of_lanes(Node node, int a, TensorId lanes, int count) {
  Nest& nest = std::get<Nests>(node.body).front();
  const Expr lane = axis(static_cast<int>(nest.axes.size())), element = axis(a) * integer(count) + lane;
  nest.body = substitute(nest.body, [&](const Expr& x) { return same(x, axis(a)) ? element : Expr(); });
  nest.axes[a].extent /= count;
  nest.axes.push_back({count, false});
  nest.store = {lane};
  nest.finish = {};
  node.writes = {lanes};
  return with_used_operands(std::move(node));
}

// The node as that of these lanes' results.
Node of_results(Node node, TensorId lanes, int count, Type type) {
  Nest& nest = std::get<Nests>(node.body).front();
  std::erase_if(nest.axes, [](const Axis& a) { return a.reduced; });  // the rest is one point
  nest = with_substituted(std::move(nest), [](const Expr& x) {
    return x->op == Op::kAxis && x->index >= 0 ? integer(0) : Expr();
  });
  nest.axes.push_back({count, true});
  nest.body = read(static_cast<int>(node.reads.size()), type, {axis(static_cast<int>(nest.axes.size()) - 1)});
  node.reads.push_back(lanes);
  return with_used_operands(std::move(node));
}

}  // namespace

Graph with_extrema_in_lanes(Graph graph, const Target& target) {
  if (target.registers != Registers::kVector) return graph;
  Block block;
  for (Node& node : graph.block) {
    const Nests* nests = std::get_if<Nests>(&node.body);
    const int a = nests && nests->size() == 1 ? axis_of_lanes(nests->front(), target.lanes) : -1;
    if (a >= 0) {
      const Type type = nests->front().body->type;
      const auto lanes = static_cast<TensorId>(graph.tensors.size());
      graph.tensors.push_back({graph.tensors[node.writes[0]].name, type, {target.lanes}, {}});
      block.push_back(of_lanes(node, a, lanes, target.lanes));
      node = of_results(std::move(node), lanes, target.lanes, type);
    }
    block.push_back(std::move(node));
  }
  graph.block = std::move(block);
  return graph;
}

}  // namespace arenac
