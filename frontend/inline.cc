#include "frontend/inline.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "frontend/facts.h"
#include "frontend/merge.h"

namespace arenac {
namespace {

constexpr int kLargestExpression = 300;  // operations: a merged nest stays readable
constexpr int kSmallPart = 8;            // of a result: an operand that may be there early
constexpr int kFarthest = 64;            // element-wise nodes ahead that a choice looks at
constexpr int kCheapest = 12;            // operations that may be repeated wherever a result is read

// Nodes of the tree that compute something: axes and literals are free, reads and casts count.
int operations(const Expr& e) {
  int count = 0;
  any_of(e, [&](const Expr& x) {
    count += x->op != Op::kAxis && x->op != Op::kConst;
    return false;
  });
  return count;
}

// The expression without comparisons of indices that can only go one way: clamps where a narrow type already
// bounds the index. A Gather of 256 rows by bytes, once the cast is inlined:
//
//   table[min(max((int64)code, 0), 255)]        code uint8, in [0, 255]   ->   table[(int64)code]
Expr decided(const Expr& e, const std::vector<Interval>& axes, const std::vector<const Tensor*>& reads) {
  if (e.empty()) return e;
  const Expr smaller = substitute(e, [&](const Expr& x) -> Expr {
    const bool compares = x->op == Op::kLt || x->op == Op::kLe;
    if ((!compares && x->op != Op::kMin && x->op != Op::kMax) || x->args[0]->type != Type::kInt64) return {};
    const ClosedInterval a = closed_interval(x->args[0], axes, reads),
                         b = closed_interval(x->args[1], axes, reads);
    if (compares) {
      const bool or_equal = x->op == Op::kLe;
      if (or_equal ? a.high <= b.low : a.high < b.low) return constant(Type::kBool, 1);
      if (or_equal ? b.high < a.low : b.high <= a.low) return constant(Type::kBool, 0);
      return {};
    }
    const int least = a.high <= b.low ? 0 : b.high <= a.low ? 1 : -1;
    return least < 0 ? Expr() : decided(x->args[x->op == Op::kMin ? least : 1 - least], axes, reads);
  });
  return same(smaller, e) ? e : decided(smaller, axes, reads);  // ranges may have become smaller
}

// Whether e of an element rounded to `type` is, rounded again, what e of the element itself is: it chooses
// between the element and numbers of that type, or changes signs. At a zero, signs decide:
//
//   max(-tiny, 0) = 0 = max(-0, 0)            but   min(-tiny, 0) = -tiny, and min(-0, 0) = 0
bool commutes_with_rounding(const Expr& e, Type type) {
  if (type != Type::kFloat16 && type != Type::kBFloat16) return false;
  if (e->op == Op::kCast) return e->args[0]->op == Op::kRead && e->args[0]->type == type;
  if (e->op == Op::kNeg || e->op == Op::kAbs) return commutes_with_rounding(e->args[0], type);
  if ((e->op != Op::kMin && e->op != Op::kMax) || e->args[1]->op != Op::kConst) return false;
  const double limit = e->args[1]->value.f;
  const bool is_sure = limit != 0 || (e->op == Op::kMax && !std::signbit(limit));
  return is_sure && convert(type, e->type, {.f = limit}).f == limit &&
         commutes_with_rounding(e->args[0], type);
}

// An expression of one nest in the terms of another: its axes are expressions there, and its reads of
// `replaced` are what `value` makes of their indices. Operands are numbered anew, as the other node's are.
struct Translation {
  const Node& node;
  Operands& operands;
  const std::vector<Expr>* axes = nullptr;  // null: as they are
  TensorId replaced = -1;
  std::function<Expr(const std::vector<Expr>&)> value = {};

  Expr operator()(const Expr& e) const {
    if (e.empty()) return e;
    return substitute(e, [&](const Expr& x) -> Expr {
      if (x->op == Op::kAxis && x->index >= 0 && axes) return (*axes)[x->index];
      if (x->op != Op::kRead) return {};
      std::vector<Expr> indices;
      for (const Expr& index : x->args) indices.push_back((*this)(index));
      const TensorId id = node.reads[x->index];
      return id == replaced ? value(indices) : read(operands.of(id), x->type, std::move(indices));
    });
  }
};

// Loop fusion of producers and consumers, restricted to what needs no proof of dependences: one element of
// the result is one element of the operand. In a block, to a fixed point: first cheap producers go into all
// their readers, then consumers are appended to their producers.
class Inliner {
 public:
  explicit Inliner(Graph graph)
      : graph_(std::move(graph)), written_(times_written(graph_)), fixed_(graph_.tensors.size()) {
    for (TensorId id : graph_.outputs) fixed_[id] = true;
    for (size_t id = 0; id < fixed_.size(); ++id)
      if (written_[id] > 1) fixed_[id] = true;
  }

  Graph run() {
    rewrite(graph_.block);
    return std::move(graph_);
  }

 private:
  // Where a block writes and reads each tensor; a read by a control node's blocks is one of the node's.
  struct Uses {
    std::unordered_map<TensorId, int> writer;
    std::unordered_map<TensorId, std::vector<int>> readers;
  };

  static const Nests* nests_of(const Node& node) { return std::get_if<Nests>(&node.body); }

  // Positions ascend, so a block's second read of the same tensor is found at the back.
  static void collect(const Node& node, int position, Uses& uses) {
    const auto reads = [&](TensorId id) {
      std::vector<int>& all = uses.readers[id];
      if (all.empty() || all.back() != position) all.push_back(position);
    };
    for (TensorId id : tensors_read(node)) reads(id);
    for (TensorId id : node.writes) uses.writer[id] = position;
    for (const Block* block : blocks_of(node))
      for (const Node& inner : *block) collect(inner, position, uses);
  }

  // Inner blocks first: their nodes do not mix with those outside, and what they read counts as read by the
  // control node, which can take no producer in. Nodes that have gone are removed at the end of each round,
  // so that positions hold.
  void rewrite(Block& block) {
    for (Node& node : block)
      for (Block* inner : blocks_of(node)) rewrite(*inner);
    for (bool changed = true; changed;) {
      changed = false;
      Uses uses;
      for (size_t p = 0; p < block.size(); ++p) collect(block[p], static_cast<int>(p), uses);
      std::vector<bool> gone(block.size());
      for (int p = 0; p < static_cast<int>(block.size()); ++p)
        if (inline_into_readers(block, p, uses)) gone[p] = changed = true;
      for (int p = 0; p < static_cast<int>(block.size()); ++p)
        for (int c = gone[p] ? -1 : only_reader(block, p, uses); c >= 0; c = only_reader(block, p, uses)) {
          if (!append(block, p, c, uses)) break;
          gone[c] = changed = true;
        }
      size_t kept = 0;
      for (size_t p = 0; p < block.size(); ++p) {
        if (gone[p]) continue;
        if (kept != p) block[kept] = std::move(block[p]);
        ++kept;
      }
      block.resize(kept);
    }
  }

  // Whether a node's result may vanish but for its rounding: nests make it, only nodes of the block read it.
  bool is_passed_on(const Node& node) const {
    const Nests* nests = nests_of(node);
    if (!nests || nests->empty()) return false;
    const Tensor& t = graph_.tensors[node.writes[0]];
    if (fixed_[node.writes[0]] || element_count(t.shape) == 0) return false;
    return std::all_of(nests->begin(), nests->end(), [&](const Nest& nest) {
      const Expr& value = nest.finish.empty() ? nest.body : nest.finish;
      return !nest.accumulate && value->type == compute_type(t.type) && !copied_read(nest, node, graph_);
    });
  }
  // A 16-bit result: without the tensor between them, the consumer would see it unrounded.
  bool is_rounded(const Node& node) const {
    const Type type = graph_.tensors[node.writes[0]].type;
    return type != compute_type(type);
  }
  bool may_vanish(const Node& node) const { return is_passed_on(node) && !is_rounded(node); }

  // Whether it makes no difference that elements are rounded before the node and not behind it alone.
  bool rounds_alike(const Node& node, TensorId x) const {
    const Nests* nests = nests_of(node);
    const Type type = graph_.tensors[x].type;
    return nests && nests->size() == 1 && graph_.tensors[node.writes[0]].type == type &&
           commutes_with_rounding(nests->front().body, type);
  }

  // Its elements are the same now and later.
  bool is_settled(TensorId id) const { return written_[id] <= 1; }

  static const std::vector<int>& readers(TensorId id, const Uses& uses) {
    static const std::vector<int> none;
    const auto at = uses.readers.find(id);
    return at == uses.readers.end() ? none : at->second;
  }

  // The readers of a tensor stay without repetition, though no longer in order.
  static void replace_reader(TensorId id, int from, int to, Uses& uses) {
    std::vector<int>& all = uses.readers[id];
    std::erase(all, from);
    if (std::find(all.begin(), all.end(), to) == all.end()) all.push_back(to);
  }

  // ---- a cheap producer goes into its readers

  // Casts, additions and products of elements whose indices are axes or literals: what repeating costs about
  // as much as reading the result would. Divisions, functions and computed indices are dear.
  bool is_cheap(const Node& node) const {
    const Nests& nests = std::get<Nests>(node.body);
    if (nests.size() != 1 || !is_plain(nests[0]) || operations(nests[0].body) > kCheapest) return false;
    const auto dear = [](const Expr& e) {
      const bool index = std::all_of(e->args.begin(), e->args.end(), [](const Expr& arg) {
        return arg->op == Op::kConst || (arg->op == Op::kAxis && arg->index >= 0);
      });
      return e->op == Op::kRead ? !index
                                : e->op != Op::kConst && e->op != Op::kAxis && e->op != Op::kCast &&
                                      e->op != Op::kAdd && e->op != Op::kSub && e->op != Op::kMul;
    };
    return !any_of(nests[0].body, dear);
  }

  // Its operands take less memory than its result.
  bool widens(const Node& node) const {
    int64_t bytes = 0;
    for (TensorId id : node.reads)
      if (!graph_.tensors[id].constant) bytes += bytes_of(graph_.tensors[id]);
    return bytes < bytes_of(graph_.tensors[node.writes[0]]);
  }

  // One operand is as large as its result and there for others, too, the rest is small, and no nest of a
  // reader has more points than the result has elements: a mean that is subtracted.
  bool repeats_little(const Block& block, int p, const Uses& uses) const {
    const Tensor& result = graph_.tensors[block[p].writes[0]];
    int large = 0;
    for (TensorId id : block[p].reads) {
      const Tensor& t = graph_.tensors[id];
      if (t.constant || bytes_of(t) * kSmallPart <= bytes_of(result)) continue;
      const bool stays = !uses.writer.contains(id) || readers(id, uses).size() > 1;
      if (bytes_of(t) > bytes_of(result) || !stays || ++large > 1) return false;
    }
    const auto few_points = [&](const Nest& nest) {
      int64_t points = 1;
      for (const Axis& axis : nest.axes) points *= axis.extent;
      return points <= element_count(result.shape);
    };
    const std::vector<int>& all = readers(block[p].writes[0], uses);
    return std::all_of(all.begin(), all.end(), [&](int c) {
      const Nests* nests = nests_of(block[c]);
      return nests && std::all_of(nests->begin(), nests->end(), few_points);
    });
  }

  // Node p into everything that reads its result, or nowhere: the tensor is to vanish. Its operands must be
  // settled, as they are read later than before; its readers must be nests of this block that write what
  // nobody else writes.
  //
  //   d = (float)x * 0.5          d gone
  //   y = sum(k) d[k] * w[k]      y = sum(k) ((float)x[k] * 0.5) * w[k]
  //   z = d + 1                   z = ((float)x * 0.5) + 1
  bool inline_into_readers(Block& block, int p, Uses& uses) {
    const Node& node = block[p];
    if (!may_vanish(node) || !is_cheap(node) || !(widens(node) || repeats_little(block, p, uses)))
      return false;
    if (!std::all_of(node.reads.begin(), node.reads.end(), [&](TensorId id) { return is_settled(id); }))
      return false;
    const TensorId out = node.writes[0];
    const Nest& nest = std::get<Nests>(node.body)[0];
    const std::vector<int> all = readers(out, uses);
    if (!dimension_of_axes(nest.store, graph_.tensors[out].shape, nest.axes) || all.empty()) return false;
    for (int c : all)
      if (!nests_of(block[c]) || !is_settled(block[c].writes[0])) return false;
    for (int c : all) {
      block[c] = inlined(block[c], node);
      for (TensorId id : node.reads) replace_reader(id, p, c, uses);
    }
    uses.readers.erase(out);
    return true;
  }

  // The reader with the element's formula in place of each read, then without the comparisons that this
  // decides.
  Node inlined(const Node& reader, const Node& node) const {
    Operands operands;
    const Shape& shape = graph_.tensors[node.writes[0]].shape;
    const auto value = [&](const std::vector<Expr>& indices) {
      return element_of(node, shape, indices, operands);
    };
    const Translation translated{reader, operands, nullptr, node.writes[0], value};
    Nests nests = std::get<Nests>(reader.body);
    const auto rewrite = [&](const auto& rewritten) {
      for (Nest& n : nests) {
        for (Bound& bound : n.where) bound.index = rewritten(bound.index, n);
        for (Expr& index : n.store) index = rewritten(index, n);
        n.body = rewritten(n.body, n), n.finish = rewritten(n.finish, n);
      }
    };
    rewrite([&](const Expr& e, const Nest&) { return translated(e); });
    std::vector<const Tensor*> reads;
    for (TensorId id : operands.ids) reads.push_back(&graph_.tensors[id]);
    rewrite([&](const Expr& e, const Nest& n) { return decided(e, axis_intervals(n), reads); });
    return {reader.origin, reader.op, operands.ids, reader.writes, std::move(nests)};
  }

  // ---- a consumer is appended to its producer

  // The position of the one node that reads the result of p, which may vanish; else -1.
  int only_reader(const Block& block, int p, const Uses& uses) const {
    if (!is_passed_on(block[p])) return -1;
    const TensorId x = block[p].writes[0];
    const std::vector<int>& all = readers(x, uses);
    if (all.size() != 1 || (is_rounded(block[p]) && !rounds_alike(block[all[0]], x))) return -1;
    return all[0];
  }

  static int operand_of(const Node& node, TensorId x) {
    return static_cast<int>(std::find(node.reads.begin(), node.reads.end(), x) - node.reads.begin());
  }

  // The indices at which the nest's body reads operand `operand`, everywhere the same; null if they are not,
  // or if it does not.
  static const std::vector<Expr>* read_indices(const Nest& nest, int operand) {
    const std::vector<Expr>* indices = nullptr;
    const bool differ = any_of(nest.body, [&](const Expr& e) {
      if (e->op != Op::kRead || e->index != operand) return false;
      if (indices && !std::equal(indices->begin(), indices->end(), e->args.begin(), same)) return true;
      indices = &e->args;
      return false;
    });
    return differ ? nullptr : indices;
  }

  // Per axis of the consumer the dimension of the producer's result that it walks; -1 for an axis of one
  // point. Nothing where the consumer is not of element by element: it must be one plain nest (no copy), that
  // reads every element of x once, and x not as an index. Its store may be any, so a transposition that also
  // computes is one.
  std::optional<std::vector<int>> element_wise(const Node& consumer, TensorId x) const {
    const Nests* nests = nests_of(consumer);
    if (!nests || nests->size() != 1 || !is_plain(nests->front()) || !is_settled(consumer.writes[0]))
      return std::nullopt;
    const Nest& nest = nests->front();
    if (copied_read(nest, consumer, graph_)) return std::nullopt;
    const int operand = operand_of(consumer, x);
    const std::vector<Expr>* indices = read_indices(nest, operand);
    if (!indices) return std::nullopt;
    // An index that is itself x's element is no place of x.
    const auto reads_x = [&](const Expr& e) { return e->op == Op::kRead && e->index == operand; };
    const auto indexed_by_x = [&](const Expr& e) {
      return e->op == Op::kRead && std::any_of(e->args.begin(), e->args.end(),
                                               [&](const Expr& arg) { return any_of(arg, reads_x); });
    };
    for (const Expr& index : nest.store)
      if (any_of(index, [](const Expr& e) { return e->op == Op::kRead; })) return std::nullopt;
    if (any_of(nest.body, indexed_by_x)) return std::nullopt;
    return dimension_of_axes(*indices, graph_.tensors[x].shape, nest.axes);
  }

  // Appends node c to node p, which then stands at p and writes what c wrote. The operands of c other than x
  // must be written before p; `uses` is brought up to date, so that the next consumer can follow in the same
  // round.
  bool append(Block& block, int p, int c, Uses& uses) {
    Node& producer = block[p];
    const Node& consumer = block[c];
    const TensorId x = producer.writes[0], out = consumer.writes.empty() ? -1 : consumer.writes[0];
    const auto dimensions = element_wise(consumer, x);
    if (!dimensions || !fits(producer, consumer) || hastens(block, p, c, uses)) return false;
    for (TensorId id : consumer.reads) {
      const auto writer = uses.writer.find(id);
      if (!is_settled(id) || (id != x && writer != uses.writer.end() && writer->second >= p)) return false;
    }
    auto merged = appended(producer, consumer, *dimensions);
    if (!merged) return false;
    for (TensorId id : consumer.reads)
      if (id != x) replace_reader(id, c, p, uses);
    uses.readers.erase(x);
    uses.writer[out] = p;
    producer = std::move(*merged);
    return true;
  }

  // Whether no more memory is in use where the consumer's result replaces the producer's.
  bool fits(const Node& producer, const Node& consumer) const {
    const Tensor &before = graph_.tensors[producer.writes[0]], &after = graph_.tensors[consumer.writes[0]];
    if (size_of(after.type) > size_of(before.type)) return false;
    if (size_of(after.type) == size_of(before.type)) return true;
    const Nests& nests = std::get<Nests>(producer.body);
    const bool reduces =
        std::any_of(nests.begin(), nests.end(), [](const Nest& n) { return n.combine != Combine::kNone; });
    int64_t bytes = 0;
    for (TensorId id : producer.reads)
      if (!graph_.tensors[id].constant) bytes += bytes_of(graph_.tensors[id]);
    return reduces || bytes <= bytes_of(before);  // else the operand in whose place the producer wrote stays
  }

  // Whether tensors of some size would have to be there before the producer runs, and nothing is won by that:
  // a sum in place of its operand takes no memory, and leaves the order of what it adds to the scheduler.
  //
  //   y = Conv(x) + skip       as large as Conv's result: left apart, `skip` may be computed after the Conv
  //   q = int8(y)              with a narrower end in sight, Conv+Add+Quantize writes a quarter: worth it
  bool hastens(const Block& block, int p, int c, const Uses& uses) const {
    const Node &producer = block[p], &consumer = block[c];
    const Tensor& before = graph_.tensors[producer.writes[0]];
    const auto comes_early = [&](TensorId id) {
      const bool there = id == producer.writes[0] || graph_.tensors[id].constant ||
                         std::find(producer.reads.begin(), producer.reads.end(), id) != producer.reads.end();
      return !there && bytes_of(graph_.tensors[id]) > bytes_of(before) / kSmallPart;
    };
    if (std::none_of(consumer.reads.begin(), consumer.reads.end(), comes_early)) return false;
    // Narrower at the end of the element-wise nodes that follow?
    TensorId x = producer.writes[0];
    for (int next = c, left = kFarthest; next >= 0 && left > 0 && element_wise(block[next], x);
         next = only_reader(block, next, uses), --left) {
      x = block[next].writes[0];
      if (size_of(graph_.tensors[x].type) < size_of(before.type)) return false;
    }
    return true;
  }

  // The producer with the consumer's formula at the end of each of its nests: in `finish` where it reduces,
  // in the body elsewhere. The consumer's axes become the producer's stores, so its own store says where the
  // result goes. Null where the result would be unwieldy (too many operations, or a long value that is named
  // twice and would be computed twice) or where a store of the producer could not be proven to stay inside.
  //
  //   producer  h[i0, i1 + 1] = sum(k) ...          consumer  y[a1, a0] = max(h[a0, a1], 0)
  //   merged    y[i1 + 1, i0] = max(sum(k) ..., 0)
  std::optional<Node> appended(const Node& producer, const Node& consumer,
                               const std::vector<int>& dimensions) const {
    const TensorId x = producer.writes[0];
    const Shape& shape = graph_.tensors[x].shape;
    const Nest& tail = std::get<Nests>(consumer.body)[0];
    Operands operands{producer.reads};
    Nests nests = std::get<Nests>(producer.body);
    for (Nest& nest : nests) {
      for (size_t d = 0; d < shape.size(); ++d) {
        const Interval range = interval(nest.store[d], axis_intervals(nest), {});
        if (range.begin < 0 || range.end > shape[d]) return std::nullopt;
      }
      const bool reduces = nest.combine != Combine::kNone;
      const Expr value = !nest.finish.empty() ? nest.finish
                         : reduces            ? accumulator(nest.body->type)
                                              : nest.body;
      std::vector<Expr> axes;
      for (int d : dimensions) axes.push_back(d < 0 ? integer(0) : nest.store[d]);
      const Translation translated{consumer, operands, &axes, x, [&](const auto&) { return value; }};
      const Expr result = translated(tail.body);
      const int added = operations(tail.body);
      if (operations(result) > std::max(kLargestExpression, added)) return std::nullopt;
      if (times_read(tail.body, operand_of(consumer, x)) > 1 && operations(value) > kCheapest)
        return std::nullopt;
      std::vector<Expr> store;
      for (const Expr& index : tail.store) store.push_back(translated(index));
      nest.store = std::move(store);
      (reduces ? nest.finish : nest.body) = result;
    }
    return Node{producer.origin, producer.op + "+" + consumer.op, operands.ids, consumer.writes,
                std::move(nests)};
  }

  Graph graph_;
  std::vector<int> written_;  // per tensor: the nodes that write it
  std::vector<bool> fixed_;   // graph outputs and what control flow assigns
};

}  // namespace

Graph with_inlined_elements(Graph graph) { return Inliner(std::move(graph)).run(); }

}  // namespace arenac
