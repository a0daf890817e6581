#include "frontend/narrow.h"

#include <algorithm>
#include <unordered_map>

#include "frontend/merge.h"

namespace arenac {
namespace {

constexpr int kMostMovements = 64;  // one before the other, that a node comes before

class Narrower {
 public:
  explicit Narrower(Graph graph)
      : graph_(std::move(graph)), written_(times_written(graph_)), read_(times_read(graph_)) {
    for (TensorId id : graph_.outputs) ++read_[id];  // never read by one node alone
  }

  Graph run() {
    rewrite(graph_.block);
    return std::move(graph_);
  }

 private:
  void rewrite(Block& block) {
    for (Node& node : block)
      for (Block* inner : blocks_of(node)) rewrite(*inner);
    writers_.clear();
    for (size_t p = 0; p < block.size(); ++p)
      if (blocks_of(block[p]).empty())
        for (TensorId id : block[p].writes) writers_[id] = p;
    std::vector<Block> before(block.size());
    std::vector<bool> gone(block.size());
    bool changed = false;
    for (size_t c = 0; c < block.size(); ++c) {
      const Node narrowing = block[c];
      const TensorId x = narrowed_operand(narrowing);
      if (x < 0 || !is_moved(block, x)) continue;
      move(block, writers_[x], {narrowing, x}, {narrowing.writes[0], kMostMovements}, before);
      gone[c] = changed = true;
    }
    if (!changed) return;
    Block made;
    for (size_t p = 0; p < block.size(); ++p) {
      std::move(before[p].begin(), before[p].end(), std::back_inserter(made));
      if (!gone[p]) made.push_back(std::move(block[p]));
    }
    block = std::move(made);
  }

  // The only operand of an element-wise node that is no constant, where the result is of a smaller type; -1:
  // it is no such node.
  TensorId narrowed_operand(const Node& node) const {
    const Nests* nests = std::get_if<Nests>(&node.body);
    if (!nests || nests->size() != 1 || !is_plain(nests->front())) return -1;
    const Nest& nest = nests->front();
    TensorId x = -1;
    for (TensorId id : node.reads) {
      if (graph_.tensors[id].constant) continue;
      if (x >= 0) return -1;
      x = id;
    }
    if (x < 0 || written_[node.writes[0]] != 1) return -1;
    const Tensor &from = graph_.tensors[x], &to = graph_.tensors[node.writes[0]];
    if (size_of(to.type) >= size_of(from.type) || from.shape != to.shape) return -1;
    if (!dimension_of_axes(nest.store, to.shape, nest.axes)) return -1;
    return names_other_places(nest, node, x) ? -1 : x;
  }

  // Whether the body depends on more than the operand's element at the place that is stored.
  static bool names_other_places(const Nest& nest, const Node& node, TensorId x) {
    bool other = false;
    substitute(nest.body, [&](const Expr& e) -> Expr {
      other |= e->op == Op::kAxis;
      if (e->op != Op::kRead || node.reads[static_cast<size_t>(e->index)] != x) return {};
      other |= !std::equal(e->args.begin(), e->args.end(), nest.store.begin(), nest.store.end(), same);
      return e;
    });
    return other;
  }

  // Whether a node of copies makes the tensor, of tensors that nodes of this block make, and nothing else
  // reads either.
  bool is_moved(const Block& block, TensorId x) const {
    const auto at = writers_.find(x);
    if (at == writers_.end() || written_[x] != 1 || read_[x] != 1) return false;
    const Node& node = block[at->second];
    const Nests* nests = std::get_if<Nests>(&node.body);
    if (!nests || nests->empty() || node.writes.size() != 1) return false;
    if (!std::all_of(nests->begin(), nests->end(), [&](const Nest& nest) { return copies(nest, node); }))
      return false;
    int64_t elements = 0;
    for (TensorId id : node.reads) {
      if (!writers_.contains(id) || written_[id] != 1 || read_[id] != 1) return false;
      elements += element_count(graph_.tensors[id].shape);
    }
    return elements <= element_count(graph_.tensors[x].shape);
  }

  // Whether it copies elements to and from places that no data decides.
  bool copies(const Nest& nest, const Node& node) const {
    const Expr* from = copied_read(nest, node, graph_);
    const auto is_read = [](const Expr& e) { return e->op == Op::kRead; };
    const auto reads = [&](const Expr& index) { return any_of(index, is_read); };
    return from && std::none_of((*from)->args.begin(), (*from)->args.end(), reads) &&
           std::none_of(nest.store.begin(), nest.store.end(), reads);
  }

  struct Narrowing {
    const Node& node;
    TensorId operand;
  };
  struct Result {
    TensorId id;
    int movements;  // that may still come behind the node
  };

  // Lets the node at p, which makes by copies what would be narrowed, make `result` by copies of what is.
  void move(Block& block, size_t p, const Narrowing& narrowing, Result result, std::vector<Block>& before) {
    const Type type = graph_.tensors[result.id].type;
    Node& node = block[p];
    for (Nest& nest : std::get<Nests>(node.body)) {
      const Expr from = *copied_read(nest, node, graph_);
      nest.body = read(from->index, type, from->args);
    }
    node.writes = {result.id};
    for (TensorId& id : node.reads) {
      const TensorId y = id;
      id = static_cast<TensorId>(graph_.tensors.size());
      graph_.tensors.push_back({graph_.tensors[y].name, type, graph_.tensors[y].shape, nullptr});
      written_.push_back(1), read_.push_back(1);
      if (result.movements > 1 && is_moved(block, y))
        move(block, writers_[y], narrowing, {id, result.movements - 1}, before);
      else
        before[p].push_back(narrowed(narrowing, y, id));
    }
  }

  // The node for operand y.
  Node narrowed(const Narrowing& narrowing, TensorId y, TensorId result) const {
    const auto& [node, x] = narrowing;
    const Tensor& to = graph_.tensors[result];
    Nest nest = copy_nest(to.type, to.shape);
    nest.body = substitute(std::get<Nests>(node.body)[0].body, [&](const Expr& e) -> Expr {
      if (e->op != Op::kRead || node.reads[static_cast<size_t>(e->index)] != x) return {};
      Expr::Tree tree = *e;
      tree.args = nest.store;
      return Expr(std::make_shared<const Expr::Tree>(std::move(tree)));
    });
    Node made = {node.origin, node.op, node.reads, {result}, Nests{nest}};
    std::replace(made.reads.begin(), made.reads.end(), x, y);
    return made;
  }

  Graph graph_;
  std::vector<int> written_, read_;  // per tensor: times
  std::unordered_map<TensorId, size_t> writers_;
};

}  // namespace

Graph with_early_narrowing(Graph graph) { return Narrower(std::move(graph)).run(); }

}  // namespace arenac
