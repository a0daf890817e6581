#include "frontend/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "frontend/error.h"
#include "frontend/facts.h"

namespace arenac {
namespace {

// What is known about indices at some place of a nest: from its bounds and from enclosing selects.
using Known = std::vector<std::pair<Expr, ClosedInterval>>;

// The intervals that a condition, being true, implies: conjunctions of comparisons with constants.
//
//   0 <= i && i < 10      ->      i in [0, INT64_MAX], i in [INT64_MIN, 9]
//
// A formula guards its own reads so:  select(0 <= i && i < 10, x[i], 0). Nothing is learnt for the other
// operand.
void learn(const Expr& condition, Known& known) {
  if (condition->op == Op::kAnd) {
    learn(condition->args[0], known);
    learn(condition->args[1], known);
    return;
  }
  if (condition->op != Op::kLt && condition->op != Op::kLe) return;
  const Expr &a = condition->args[0], &b = condition->args[1];
  if (a->type != Type::kInt64) return;
  // 1 where the constant itself is not reached
  const int64_t open = condition->op == Op::kLt;  // which nothing is beyond the ends of the type
  if (a->op == Op::kConst && a->value.i < INT64_MAX) known.push_back({b, {a->value.i + open, INT64_MAX}});
  if (b->op == Op::kConst && b->value.i > INT64_MIN) known.push_back({a, {INT64_MIN, b->value.i - open}});
}

// Checks one node against what graph.h promises. An InternalError from here is a mistake in arenac, never in
// a model: operators check what a model may do wrong and say so in its own terms.
struct Checker {
  const Graph& graph;
  const Node& node;
  std::vector<const Tensor*> reads;

  // `what` is a text, or a function that makes one: only where it is wanted.
  template <typename What>
  void check(bool condition, const What& what) const {
    ARENAC_CHECK(condition, fmt::format("node '{}' ({}): {}", node.origin, node.op, text_of(what)));
  }
  static std::string text_of(const char* text) { return text; }
  template <typename What>
  static std::string text_of(const What& what) {
    return what();
  }

  // By interval arithmetic, and what is known of this very expression. Facts about its parts do not help:
  //
  //   known i0 + i1 - 1 in [0, 9]        i0 + i1 - 1 -> [0, 9]        i1 - 1 + i0 -> what the axes allow
  ClosedInterval range_of(const Expr& index, const std::vector<Interval>& axes, const Known& known) const {
    ClosedInterval range = closed_interval(index, axes, reads);
    for (const auto& [e, fact] : known)
      if (same(e, index)) range = {std::max(range.low, fact.low), std::min(range.high, fact.high)};
    return range;
  }

  // An empty range is that of a place that no point reaches.
  void indices(const std::vector<Expr>& all, const Tensor& tensor, const std::vector<Interval>& axes,
               const Known& known) const {
    check(all.size() == tensor.shape.size(),
          [&] { return fmt::format("'{}' accessed with {} indices", tensor.name, all.size()); });
    for (size_t d = 0; d < all.size(); ++d) {
      const ClosedInterval range = range_of(all[d], axes, known);
      check(range.low > range.high || (range.low >= 0 && range.high < tensor.shape[d]), [&] {
        return fmt::format("index {} of dimension {} of '{}' {} reaches [{}, {}]", to_string(all[d]), d,
                           tensor.name, to_string(tensor.shape), range.low, range.high);
      });
    }
  }

  // The condition of a select is evaluated always, its second operand where the condition holds.
  void expression(const Expr& e, const std::vector<Interval>& axes, const Known& known) const {
    if (e->op == Op::kSelect) {
      expression(e->args[0], axes, known);
      Known inner = known;
      learn(e->args[0], inner);
      expression(e->args[1], axes, inner);
      expression(e->args[2], axes, known);
      return;
    }
    for (const Expr& arg : e->args) expression(arg, axes, known);
    if (e->op == Op::kAxis) check(e->index < static_cast<int>(axes.size()), "an unknown axis");
    if (e->op != Op::kRead) return;
    check(e->index < static_cast<int>(reads.size()), "an unknown operand");
    check(e->type == reads[e->index]->type,
          [&] { return fmt::format("'{}' read as {}", reads[e->index]->name, info(e->type).name); });
    indices(e->args, *reads[e->index], axes, known);
  }

  // Bounds hold where the body is evaluated; where the nest stores, too, if no axis is reduced. Bounds
  // themselves are evaluated at every point, and so is a finish: for these nothing is known.
  void nest(const Nest& nest) const {
    const auto axes = axis_intervals(nest);
    if (std::any_of(axes.begin(), axes.end(), [](Interval i) { return i.begin >= i.end; }))
      return;  // no point at all
    const bool reduces =
        std::any_of(nest.axes.begin(), nest.axes.end(), [](const Axis& a) { return a.reduced; });
    check(!nest.body.empty(), "a nest without body");
    check(nest.accumulate ? nest.combine != Combine::kNone && !reduces && nest.finish.empty()
                          : reduces == (nest.combine != Combine::kNone),
          "combination and reduced axes disagree");
    Known known;
    for (const Bound& bound : nest.where) {
      expression(bound.index, axes, {});
      known.push_back({bound.index, {bound.begin, bound.end - 1}});
    }
    expression(nest.body, axes, known);
    if (!nest.finish.empty()) expression(nest.finish, axes, {});
    for (const Expr& index : nest.store) expression(index, axes, {});
    indices(nest.store, graph.tensors[node.writes[0]], axes, known);
  }
};

void verify_block(const Graph& graph, const Block& block) {
  for (const Node& node : block) verify(graph, node);
}

// A guard writes nothing, and must end the run all the same.
bool guards_value(const Node& node) {
  const Refusal* refusal = std::get_if<Refusal>(&node.body);
  return refusal != nullptr && refusal->cause == Refusal::Cause::kValue;
}

// Goes backwards over the blocks and keeps the nodes that write something wanted, and those that guard a
// value: liveness analysis (Aho, Lam, Sethi and Ullman, "Compilers", section 9.2.5) without removals from the
// set, since a tensor's writes are pieces of it that may all be needed.
//
//   c = f(a); d = g(a); out = h(c)            wanted {out} -> {out, c} -> d is dropped -> {out, c, a}
class LiveNodes {
 public:
  explicit LiveNodes(const Graph& graph) : wanted_(graph.tensors.size()) {
    for (TensorId id : graph.outputs) want(id);
  }

  // A control node is live as long as one of its blocks is not empty.
  Block of(Block block) {
    Block kept;
    for (auto node = block.rbegin(); node != block.rend(); ++node) {
      if (If* branch = std::get_if<If>(&node->body))
        keep_live(*branch);
      else if (Loop* loop = std::get_if<Loop>(&node->body))
        keep_live(*loop);
      const auto inner = blocks_of(std::as_const(*node));
      const bool live = inner.empty() ? writes_wanted(*node) || guards_value(*node)
                                      : std::any_of(inner.begin(), inner.end(),
                                                    [](const Block* each) { return !each->empty(); });
      if (!live) continue;
      for (TensorId id : tensors_read(*node)) want(id);
      kept.push_back(std::move(*node));
    }
    std::reverse(kept.begin(), kept.end());
    return kept;
  }

 private:
  // The nodes of a loop's body, those of inner blocks included.
  // `node` points into the body, which stays as it is until the last of these has been looked at.
  struct Inner {
    const Node* node;
    int parent;  // the control node around it; -1: the loop
    bool live = false;
  };

  void want(TensorId id) {
    if (wanted_[id]) return;
    wanted_[id] = true;
    order_.push_back(id);
  }
  bool writes_wanted(const Node& node) const {
    return std::any_of(node.writes.begin(), node.writes.end(), [&](TensorId id) { return wanted_[id]; });
  }

  // Neither branch runs what the other one wants: what the first has added is taken back for the second, and
  // both are wanted of what comes before the If.
  void keep_live(If& branch) {
    const size_t before = order_.size();
    branch.then_block = of(std::move(branch.then_block));
    const std::vector<TensorId> then(order_.begin() + static_cast<std::ptrdiff_t>(before), order_.end());
    order_.resize(before);
    for (TensorId id : then) wanted_[id] = false;
    branch.else_block = of(std::move(branch.else_block));
    for (TensorId id : then) want(id);
  }

  // What one iteration wants the one before may write: the wanted set grows until it is stable. A work list
  // instead of passes over the body: each newly wanted tensor revives those nodes that write it, with the
  // control nodes around them, and each node is revived once.
  //
  // The condition of a loop in which anything lives is wanted, too.
  //
  //   for t: { s = f(u);  u = g(v);  v = h(v) }   s wanted:  s -> u -> v, though u and v are written behind s
  void keep_live(Loop& loop) {
    std::vector<Inner> all;
    list(loop.body, -1, all);
    std::multimap<TensorId, int> writers;
    for (size_t k = 0; k < all.size(); ++k)
      for (TensorId id : all[k].node->writes) writers.emplace(id, static_cast<int>(k));
    size_t next = order_.size();
    const auto revive = [&](int k) {
      for (; k >= 0 && !all[k].live; k = all[k].parent) {
        all[k].live = true;
        for (TensorId id : tensors_read(*all[k].node)) want(id);
      }
      if (loop.condition) want(*loop.condition);
    };
    for (size_t k = 0; k < all.size(); ++k) {
      const Node& node = *all[k].node;
      if (blocks_of(node).empty() && (writes_wanted(node) || guards_value(node))) revive(static_cast<int>(k));
    }
    for (; next < order_.size(); ++next) {
      const auto [begin, end] = writers.equal_range(order_[next]);
      for (auto w = begin; w != end; ++w)
        if (blocks_of(*all[w->second].node).empty()) revive(w->second);
    }
    loop.body = of(std::move(loop.body));
  }

  // Parents come before what is in them.
  static void list(const Block& block, int parent, std::vector<Inner>& all) {
    for (const Node& node : block) {
      const int mine = static_cast<int>(all.size());
      all.push_back({&node, parent});
      for (const Block* inner : blocks_of(node)) list(*inner, mine, all);
    }
  }

  std::vector<bool> wanted_;
  std::vector<TensorId> order_;  // the wanted ones as they became so
};

//   for i0<8 +i1<16: out[i0] = sum x0[i1] * x1[i0, i1] then max(acc, 0)        "+": a reduced axis
std::string dump_nest(const Nest& nest) {
  std::string text = "for";
  for (size_t k = 0; k < nest.axes.size(); ++k)
    text += fmt::format(" {}i{}<{}", nest.axes[k].reduced ? "+" : "", k, nest.axes[k].extent);
  for (const Bound& bound : nest.where)
    text += fmt::format(" where {}<={}<{}", bound.begin, to_string(bound.index), bound.end);
  text += ": out[";
  for (size_t d = 0; d < nest.store.size(); ++d) text += (d ? ", " : "") + to_string(nest.store[d]);
  constexpr const char* kNames[] = {"", "sum ", "product ", "min ", "max "};
  text += fmt::format("] {} {}{}", nest.accumulate ? "<-" : "=", kNames[static_cast<int>(nest.combine)],
                      to_string(nest.body));
  if (!nest.finish.empty()) text += " then " + to_string(nest.finish);
  return text;
}

// Tensors by their ids, as names of the model need not differ.
std::string dump_block(const Graph& graph, const Block& block, const std::string& indent) {
  const auto name = [&](TensorId id) { return fmt::format("%{}", id); };
  std::string text;
  for (const Node& node : block) {
    std::string reads, writes;
    for (TensorId id : node.reads) reads += " " + name(id);
    for (TensorId id : node.writes)
      writes += fmt::format(" {} {}{}", name(id), info(graph.tensors[id].type).name,
                            to_string(graph.tensors[id].shape));
    text += fmt::format("{}{} '{}':{} <-{}\n", indent, node.op, node.origin, writes, reads);
    if (const Nests* nests = std::get_if<Nests>(&node.body)) {
      for (const Nest& nest : *nests) text += fmt::format("{}    {}\n", indent, dump_nest(nest));
    } else if (const Call* call = std::get_if<Call>(&node.body)) {
      text += fmt::format("{}    kernel {}<{}>\n", indent, call->kernel, info(call->type).name);
    } else if (const If* branch = std::get_if<If>(&node.body)) {
      text += indent + "  then\n" + dump_block(graph, branch->then_block, indent + "    ");
      text += indent + "  else\n" + dump_block(graph, branch->else_block, indent + "    ");
    } else if (const Loop* loop = std::get_if<Loop>(&node.body)) {
      text += fmt::format("{}  t{} < {}\n", indent, loop->symbol, loop->trips) +
              dump_block(graph, loop->body, indent + "    ");
    } else if (const Refusal* refusal = std::get_if<Refusal>(&node.body)) {
      text += fmt::format("{}    refuse: {}\n", indent, refusal->reason);
    }
  }
  return text;
}

}  // namespace

// May hold a tensor twice.
std::vector<TensorId> tensors_read(const Node& node) {
  std::vector<TensorId> all = node.reads;
  if (is_recurrence(node)) std::erase(all, node.writes[0]);
  if (const Loop* loop = std::get_if<Loop>(&node.body))
    for (const auto& id : {loop->count, loop->condition})
      if (id) all.push_back(*id);
  return all;
}

std::vector<const Block*> blocks_of(const Node& node) {
  if (const If* branch = std::get_if<If>(&node.body)) return {&branch->then_block, &branch->else_block};
  if (const Loop* loop = std::get_if<Loop>(&node.body)) return {&loop->body};
  return {};
}

std::vector<Block*> blocks_of(Node& node) {
  if (If* branch = std::get_if<If>(&node.body)) return {&branch->then_block, &branch->else_block};
  if (Loop* loop = std::get_if<Loop>(&node.body)) return {&loop->body};
  return {};
}

int64_t bytes_of(const Tensor& tensor) { return element_count(tensor.shape) * size_of(tensor.type); }

std::vector<TensorId> whole_outputs(const Graph& graph) {
  std::vector<TensorId> ids;
  for (TensorId id : graph.outputs)
    if (!graph.by_rows.contains(id)) ids.push_back(id);
  return ids;
}

// A node that copies the caller's rows reads, or writes, these alone.
TensorId fed_to(const Node& node, const Graph& graph) {
  return !node.reads.empty() && graph.by_rows.contains(node.reads[0]) ? node.reads[0] : -1;
}

TensorId emitted_by(const Node& node, const Graph& graph) {
  return !node.writes.empty() && graph.by_rows.contains(node.writes[0]) ? node.writes[0] : -1;
}

void replace_reads(Block& block, TensorId from, TensorId to) {
  for (Node& node : block) {
    std::ranges::replace(node.reads, from, to);
    if (Loop* loop = std::get_if<Loop>(&node.body))
      for (auto* id : {&loop->count, &loop->condition})
        if (*id == from) *id = to;
    for (Block* inner : blocks_of(node)) replace_reads(*inner, from, to);
  }
}

bool is_recurrence(const Node& node) {
  return std::holds_alternative<Nests>(node.body) && std::ranges::count(node.reads, node.writes[0]) > 0;
}

std::optional<Nest> nest_at_row(const Nest& nest, int64_t row) {
  const auto form = affine_form(nest.store[0]);
  ARENAC_CHECK(form && form->terms.size() <= 1, "a nest of a recurrence writes row by row");
  if (form->terms.empty()) return form->constant == row ? std::optional(nest) : std::nullopt;
  const auto [a, factor] = *form->terms.begin();
  const int64_t index = row - form->constant;
  ARENAC_CHECK(factor == 1 && !nest.axes[a].reduced, "a nest of a recurrence writes row by row");
  if (index < 0 || index >= nest.axes[a].extent) return std::nullopt;
  Nest at = with_substituted(
      nest, [&](const Expr& e) { return e->op == Op::kAxis && e->index == a ? integer(index) : Expr(); });
  at.axes[a].extent = 1;
  return at;
}

bool runs_by_rows(const Node& node, const Graph& graph) {
  return is_recurrence(node) || copies_caller_rows(node, graph);
}

bool copies_caller_rows(const Node& node, const Graph& graph) {
  return fed_to(node, graph) >= 0 || emitted_by(node, graph) >= 0;
}

// The copy of fed rows is a node of the outer block, always.
bool is_fed(const Graph& graph, TensorId id) {
  if (graph.by_rows.empty()) return false;
  return std::any_of(graph.block.begin(), graph.block.end(),
                     [&](const Node& node) { return fed_to(node, graph) >= 0 && node.writes[0] == id; });
}

// Of operand 0, an axis a dimension; a scalar's nest has no axis and one point.
Nest copy_nest(Type type, const Shape& shape) {
  Nest nest;
  std::vector<Expr> indices;
  for (int64_t extent : shape) {
    indices.push_back(axis(static_cast<int>(nest.axes.size())));
    nest.axes.push_back({extent, false});
  }
  nest.store = indices;
  nest.body = read(0, type, indices);
  return nest;
}

// A read of a 16-bit float is widened and stored narrow again: the same bits, as long as both types are one.
const Expr* copied_read(const Nest& nest, const Node& node, const Graph& graph) {
  if (nest.combine != Combine::kNone || !nest.where.empty() || !nest.finish.empty()) return nullptr;
  const Expr* value = &nest.body;
  if ((*value)->op == Op::kCast && (*value)->args[0]->op == Op::kRead)
    value = &(*value)->args[0];  // a 16-bit float
  const bool same_type = (*value)->type == graph.tensors[node.writes[0]].type;
  return (*value)->op == Op::kRead && same_type ? value : nullptr;
}

// Tensors of nodes that go stay in the list, so that ids remain what they were.
Graph without_dead_code(Graph graph) {
  graph.block = LiveNodes(graph).of(std::move(graph.block));
  return graph;
}

// The body decides: a sum of casts of products is none.
bool sums_products(const Nest& nest) { return nest.combine == Combine::kSum && nest.body->op == Op::kMul; }

// The worst case: of an If the dearer branch, of a Loop all trips. Points outside the bounds of a sum count
// as well, so a convolution has output elements * taps * channels, whatever its padding:
//
//   Conv 3x3 of [1,8,16,16] to [1,16,16,16] with pads 1:      16 * 16 * 16 * 9 * 8 = 294912
int64_t multiply_accumulates(const Node& node) {
  int64_t total = 0;
  if (const Nests* nests = std::get_if<Nests>(&node.body)) {
    for (const Nest& nest : *nests) {
      if (!sums_products(nest)) continue;
      int64_t points = 1;
      for (const Axis& a : nest.axes) points *= a.extent;
      total += points;
    }
  } else if (const If* branch = std::get_if<If>(&node.body)) {
    int64_t yes = 0, no = 0;
    for (const Node& inner : branch->then_block) yes += multiply_accumulates(inner);
    for (const Node& inner : branch->else_block) no += multiply_accumulates(inner);
    total = std::max(yes, no);
  } else if (const Loop* loop = std::get_if<Loop>(&node.body)) {
    for (const Node& inner : loop->body) total += loop->trips * multiply_accumulates(inner);
  } else if (const Call* call = std::get_if<Call>(&node.body)) {
    total = call->macs;
  }
  return total;
}

// By node, so that an importer can check each as it is made and the message names the operator.
void verify(const Graph& graph, const Node& node) {
  Checker checker{graph, node, {}};
  for (TensorId id : node.reads) checker.reads.push_back(&graph.tensors.at(id));
  if (const Nests* nests = std::get_if<Nests>(&node.body)) {
    checker.check(node.writes.size() == 1, "nests write one tensor");
    const std::set<TensorId> distinct(node.reads.begin(), node.reads.end());
    checker.check(distinct.size() == node.reads.size(), "nests have each operand once");
    for (const Nest& nest : *nests) checker.nest(nest);
  }
  for (const Block* inner : blocks_of(node)) verify_block(graph, *inner);
}

void verify(const Graph& graph) { verify_block(graph, graph.block); }

std::string dump(const Graph& graph) {
  std::string text = fmt::format("graph {}\n", graph.name);
  for (TensorId id : graph.inputs)
    text += fmt::format("input %{} '{}' {}{}\n", id, graph.tensors[id].name,
                        info(graph.tensors[id].type).name, to_string(graph.tensors[id].shape));
  text += dump_block(graph, graph.block, "");
  for (TensorId id : graph.outputs) text += fmt::format("output %{} '{}'\n", id, graph.tensors[id].name);
  return text;
}

}  // namespace arenac
