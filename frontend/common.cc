#include "frontend/common.h"

#include <algorithm>
#include <boost/container_hash/hash.hpp>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>

#include "frontend/merge.h"
#include "frontend/nest_hash.h"

namespace arenac {
namespace {

bool equal(const Expr& a, const Expr& b) {
  return a.empty() || b.empty() ? a.empty() == b.empty() : same(a, b);
}

bool equal(const Nest& a, const Nest& b) {
  const auto axes = [](const Axis& x, const Axis& y) {
    return x.extent == y.extent && x.reduced == y.reduced;
  };
  const auto bounds = [](const Bound& x, const Bound& y) {
    return x.begin == y.begin && x.end == y.end && same(x.index, y.index);
  };
  return a.combine == b.combine && a.accumulate == b.accumulate && std::ranges::equal(a.axes, b.axes, axes) &&
         std::ranges::equal(a.store, b.store, same) && std::ranges::equal(a.where, b.where, bounds) &&
         equal(a.body, b.body) && equal(a.finish, b.finish);
}

class Merger {
 public:
  explicit Merger(Graph graph)
      : graph_(std::move(graph)),
        outputs_(graph_.outputs.begin(), graph_.outputs.end()),
        written_(times_written(graph_)),
        same_as_(graph_.tensors.size()) {
    std::iota(same_as_.begin(), same_as_.end(), 0);
  }

  Graph run() {
    merge_constants();
    merge_nodes(graph_.block);
    return std::move(graph_);
  }

 private:
  void merge_constants() {
    std::map<std::tuple<Type, Shape, std::string_view>, TensorId> first;
    for (TensorId id = 0; id < static_cast<TensorId>(same_as_.size()); ++id) {
      const Tensor& t = graph_.tensors[id];
      if (!t.constant) continue;
      const auto& bytes = t.constant->bytes;
      const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      same_as_[id] = first.try_emplace({t.type, t.shape, text}, id).first->second;
    }
  }

  void merge_nodes(Block& block) {
    const auto is_output = [&](TensorId id) { return outputs_.contains(id); };
    std::map<std::pair<std::vector<TensorId>, size_t>, std::vector<size_t>> alike;  // by operands and hash
    Block kept;
    for (Node& node : block) {
      rename_operands(node);
      if (If* branch = std::get_if<If>(&node.body)) {
        merge_nodes(branch->then_block), merge_nodes(branch->else_block);
      } else if (Loop* loop = std::get_if<Loop>(&node.body)) {
        for (auto* id : {&loop->count, &loop->condition})
          if (*id) **id = same_as_[**id];
        merge_nodes(loop->body);
      } else if (is_settled(node)) {
        std::vector<size_t>& earlier = alike[{node.reads, hash_of(node)}];
        const auto twin = std::find_if(earlier.begin(), earlier.end(),
                                       [&](size_t k) { return computes_the_same(kept[k], node); });
        if (twin != earlier.end() && std::ranges::none_of(node.writes, is_output)) {
          for (size_t k = 0; k < node.writes.size(); ++k) same_as_[node.writes[k]] = kept[*twin].writes[k];
          continue;
        }
        earlier.push_back(kept.size());
      }
      kept.push_back(std::move(node));
    }
    block = std::move(kept);
  }

  // Two operands may become one.
  void rename_operands(Node& node) const {
    for (TensorId& id : node.reads) id = same_as_[id];
    const std::set<TensorId> distinct(node.reads.begin(), node.reads.end());
    if (distinct.size() < node.reads.size() && std::holds_alternative<Nests>(node.body))
      node = with_used_operands(std::move(node));
  }

  // What it reads and writes is the same whenever it is looked at.
  bool is_settled(const Node& node) const {
    const auto once = [&](TensorId id) { return written_[id] <= 1; };
    return !std::holds_alternative<Refusal>(node.body) && std::ranges::all_of(node.reads, once) &&
           std::ranges::all_of(node.writes, once);
  }

  // Of what computes_the_same() compares: a tensor may have thousands of readers that differ in a number.
  static size_t hash_of(const Node& node) {
    if (const Nests* nests = std::get_if<Nests>(&node.body)) return NestHash().of(*nests);
    const Call* call = std::get_if<Call>(&node.body);
    return call ? boost::hash_value(call->parameters) : 0;
  }

  // From the same operands.
  bool computes_the_same(const Node& a, const Node& b) const {
    const auto alike = [&](TensorId x, TensorId y) {
      const Tensor &s = graph_.tensors[x], &t = graph_.tensors[y];
      return s.type == t.type && s.shape == t.shape;
    };
    if (!std::ranges::equal(a.writes, b.writes, alike) || a.body.index() != b.body.index()) return false;
    if (const Call* call = std::get_if<Call>(&a.body)) {
      const Call& other = std::get<Call>(b.body);
      return call->kernel == other.kernel && call->type == other.type && call->parameters == other.parameters;
    }
    return std::ranges::equal(std::get<Nests>(a.body), std::get<Nests>(b.body),
                              [](const Nest& x, const Nest& y) { return equal(x, y); });
  }

  Graph graph_;
  std::set<TensorId> outputs_;
  std::vector<int> written_;
  std::vector<TensorId> same_as_;  // per tensor: the one that takes its place
};

}  // namespace

Graph with_common_nodes(Graph graph) { return Merger(std::move(graph)).run(); }

}  // namespace arenac
