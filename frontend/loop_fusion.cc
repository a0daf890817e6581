#include "frontend/loop_fusion.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "frontend/facts.h"

namespace arenac {
namespace {

// Iteration t of a loop touches element t of the dimension, or element trips - 1 - t.
struct Moment {
  size_t dimension;
  bool backwards;

  bool operator==(const Moment&) const = default;
};
using Moments = std::map<TensorId, Moment>;

Expr element(const Loop& loop, bool backwards) {
  const Expr t = iteration(loop.symbol, loop.trips);
  return backwards ? integer(loop.trips - 1) - t : t;
}

// Which of the two the index is.
std::optional<bool> direction_of(const Expr& index, const Loop& loop) {
  for (const bool backwards : {false, true})
    if (same(index, element(loop, backwards))) return backwards;
  return std::nullopt;
}

// Whether all reads of the node's nests fulfil accepts(read, nest).
template <typename Accepts>
bool all_reads(const Node& node, const Accepts& accepts) {
  bool all = true;
  for (const Nest& nest : std::get<Nests>(node.body))
    visit_reads(nest, [&](const Expr& read) { all = all && accepts(read, nest); });
  return all;
}

struct Touched {
  std::set<TensorId> reads, writes;
};
Touched touched_by(const Node& node) {
  Touched touched;
  visit_nodes(node, [&](const Node& one) {
    for (TensorId id : tensors_read(one)) touched.reads.insert(id);
    touched.writes.insert(one.writes.begin(), one.writes.end());
  });
  return touched;
}

bool meet(const std::set<TensorId>& a, const std::set<TensorId>& b) {
  return std::ranges::any_of(a, [&](TensorId id) { return b.contains(id); });
}

// The nests of a node whose only result they write, each every element of its axes; else null.
const Nests* whole_nests(const Node& node) {
  const Nests* nests = std::get_if<Nests>(&node.body);
  const auto is_whole = [](const Nest& nest) {
    return !nest.accumulate && (nest.combine != Combine::kNone || nest.where.empty());
  };
  return nests && std::ranges::all_of(*nests, is_whole) ? nests : nullptr;
}

// A product of matrices reads its weights anew for each moment in a loop: outputs are made there where they
// take at most such a part of the loop's multiply-accumulates.
constexpr int64_t kCheap = 8;

class Fuser {
 public:
  Fuser(Graph graph, int64_t most_constants)
      : graph_(std::move(graph)), writers_(graph_.tensors.size()), most_constants_(most_constants) {
    for (const Node& node : graph_.block)
      visit_nodes(node, [&](const Node& one) {
        if (blocks_of(one).empty())
          for (TensorId id : one.writes) ++writers_[id];
      });
  }

  Graph run() {
    for (size_t i = 0; i < graph_.block.size(); ++i) {
      if (!static_loop(graph_.block[i])) continue;
      for (size_t j = i + 1; j < graph_.block.size(); ++j)
        if (const auto fused = fuse(i, j)) i = j = *fused;
      sink_what_follows(i);
      contract(i);
    }
    return std::move(graph_);
  }

 private:
  // What the loop's body itself writes a moment of in each iteration.
  Moments moments_of(const Loop& loop) const {
    Moments moments;
    for (const Node& node : loop.body) {
      const Nests* nests = whole_nests(node);
      if (!nests || writers_[node.writes[0]] != 1) continue;
      std::optional<Moment> moment = moment_written(nests->front(), loop);
      for (const Nest& nest : *nests)
        if (moment && moment_written(nest, loop) != moment) moment.reset();
      if (moment && graph_.tensors[node.writes[0]].shape[moment->dimension] == loop.trips)
        moments[node.writes[0]] = *moment;
    }
    return moments;
  }

  // Of a nest in the loop's body.
  static std::optional<Moment> moment_written(const Nest& nest, const Loop& loop) {
    std::optional<Moment> moment;
    for (size_t d = 0; d < nest.store.size(); ++d) {
      const auto backwards = direction_of(nest.store[d], loop);
      if (backwards && !moment)
        moment = Moment{d, *backwards};
      else if (names_axis(nest.store[d], -1 - loop.symbol))
        return std::nullopt;
    }
    return moment;
  }

  struct Sunk {
    Node node;
    Moment moment;  // of its result
  };
  // The node as it computes one moment from the same moment of what it reads, in the loop.
  std::optional<Sunk> sunk(const Node& node, const Loop& loop, const Moments& moments) const {
    const Nests* nests = whole_nests(node);
    if (!nests || writers_[node.writes[0]] != 1) return std::nullopt;
    std::optional<Moment> moment;  // of the result
    for (const Nest& nest : *nests) {
      const auto course = course_of(nest, node, moments);
      if (!course) return std::nullopt;
      if (course->axis < 0) continue;
      const auto along = std::ranges::find_if(nest.store, [&](const Expr& index) {
        return index->op == Op::kAxis && index->index == course->axis;
      });
      if (along == nest.store.end()) return std::nullopt;
      const Moment own = {static_cast<size_t>(along - nest.store.begin()), course->backwards};
      if (moment && *moment != own) return std::nullopt;
      moment = own;
    }
    if (!moment || graph_.tensors[node.writes[0]].shape[moment->dimension] != loop.trips) return std::nullopt;
    Sunk result{node, *moment};
    for (Nest& nest : std::get<Nests>(result.node.body))
      if (!keep_iteration(nest, *moment, loop)) return std::nullopt;
    return result;
  }

  // The axis along which a nest takes one moment from one moment of what it reads; -1: it reads none.
  struct Course {
    int axis = -1;
    bool backwards = false;
  };
  static std::optional<Course> course_of(const Nest& nest, const Node& node, const Moments& moments) {
    Course course;
    bool is_one = true;
    visit_reads(nest, [&](const Expr& x) {
      const auto at = moments.find(node.reads[x->index]);
      if (at == moments.end()) return;
      const auto& [dimension, backwards] = at->second;
      const Expr& index = x->args[dimension];
      is_one = is_one && index->op == Op::kAxis && index->index >= 0 &&
               (course.axis < 0 || (course.axis == index->index && course.backwards == backwards));
      course = {index->index, backwards};
    });
    return is_one ? std::optional(course) : std::nullopt;
  }

  // Leaves of a nest what it does in an iteration of the loop; false if it does not write all moments one by
  // one.
  static bool keep_iteration(Nest& nest, const Moment& moment, const Loop& loop) {
    const Expr& along = nest.store[moment.dimension];
    if (along->op != Op::kAxis || along->index < 0) return false;
    const int time = along->index;
    if (nest.axes[time].reduced || nest.axes[time].extent != loop.trips) return false;
    if (std::ranges::count_if(nest.store, [&](const Expr& index) { return names_axis(index, time); }) != 1)
      return false;
    nest.axes[time].extent = 1;
    nest = with_substituted(std::move(nest), [&](const Expr& x) {
      return x->op == Op::kAxis && x->index == time ? element(loop, moment.backwards) : Expr();
    });
    return true;
  }

  // Whether a node in `loop` reads of these tensors only the moment of its iteration.
  static bool reads_own_moment(const Node& node, const Loop& loop, const Moments& moments) {
    const auto known = [&](TensorId id) { return moments.contains(id); };
    if (!std::holds_alternative<Nests>(node.body)) return std::ranges::none_of(tensors_read(node), known);
    return all_reads(node, [&](const Expr& x, const Nest&) {
      const auto at = moments.find(node.reads[x->index]);
      return at == moments.end() || direction_of(x->args[at->second.dimension], loop) == at->second.backwards;
    });
  }

  // Fuses the loops at i and j, if that may be, and says where the result is. Before them then runs what is
  // between and does not depend on the first, after them what depends on it otherwise than moment by moment.
  std::optional<size_t> fuse(size_t i, size_t j) {
    const Loop *first = static_loop(graph_.block[i]), *second = static_loop(graph_.block[j]);
    if (!second || first->trips != second->trips) return std::nullopt;
    Moments moments = moments_of(*first);
    const Touched by_first = touched_by(graph_.block[i]), by_second = touched_by(graph_.block[j]);
    if (meet(by_first.reads, by_second.writes) || meet(by_first.writes, by_second.writes) ||
        constants(by_first.reads) + constants(by_second.reads) > most_constants_)
      return std::nullopt;
    std::set<TensorId> dependent = by_first.writes;  // on the first loop
    std::set<TensorId> untouched = by_first.reads;   // by what runs before it
    Block before, between, after;
    for (size_t k = i + 1; k < j; ++k) {
      const Node& node = graph_.block[k];
      const Touched touched = touched_by(node);
      if (!meet(touched.reads, dependent) && !meet(touched.writes, untouched) &&
          !meet(touched.writes, dependent)) {
        before.push_back(node);
        continue;
      }
      dependent.insert(touched.writes.begin(), touched.writes.end());
      untouched.insert(touched.reads.begin(), touched.reads.end());
      const bool by_moments = std::ranges::all_of(
          touched.reads, [&](TensorId id) { return !dependent.contains(id) || moments.contains(id); });
      if (auto one = by_moments ? sunk(node, *first, moments) : std::nullopt) {
        moments[node.writes[0]] = one->moment;
        between.push_back(std::move(one->node));
        continue;
      }
      if (meet(touched.writes, by_second.reads) || meet(touched.writes, by_second.writes) ||
          meet(touched.reads, by_second.writes))
        return std::nullopt;
      after.push_back(node);
    }
    std::set<TensorId> shared;
    std::ranges::copy_if(by_second.reads, std::inserter(shared, shared.end()),
                         [&](TensorId id) { return dependent.contains(id); });
    if (shared.empty() || !std::ranges::all_of(shared, [&](TensorId id) { return moments.contains(id); }))
      return std::nullopt;
    bool in_step = true;
    visit_nodes(graph_.block[j],
                [&](const Node& node) { in_step &= reads_own_moment(node, *second, moments); });
    if (!in_step) return std::nullopt;
    const size_t moved_ahead = before.size();
    replace(i, j, std::move(before), std::move(between), std::move(after));
    return i + moved_ahead;
  }

  void replace(size_t i, size_t j, Block before, Block between, Block after) {
    Node fused = std::move(graph_.block[i]);
    Loop &loop = std::get<Loop>(fused.body), &second = std::get<Loop>(graph_.block[j].body);
    visit_nests(second.body, [&](Node&, Nests& nests) {
      for (Nest& nest : nests)
        nest = with_substituted(std::move(nest), [&](const Expr& x) {
          return x->op == Op::kAxis && x->index == -1 - second.symbol ? iteration(loop.symbol, loop.trips)
                                                                      : Expr();
        });
    });
    std::ranges::move(between, std::back_inserter(loop.body));
    std::ranges::move(second.body, std::back_inserter(loop.body));
    Block block(std::make_move_iterator(graph_.block.begin()),
                std::make_move_iterator(graph_.block.begin() + static_cast<std::ptrdiff_t>(i)));
    std::ranges::move(before, std::back_inserter(block));
    block.push_back(std::move(fused));
    std::ranges::move(after, std::back_inserter(block));
    block.insert(block.end(),
                 std::make_move_iterator(graph_.block.begin() + static_cast<std::ptrdiff_t>(j) + 1),
                 std::make_move_iterator(graph_.block.end()));
    graph_.block = std::move(block);
  }

  int64_t constants(const std::set<TensorId>& ids) const {
    int64_t bytes = 0;
    for (TensorId id : ids)
      if (graph_.tensors[id].constant) bytes += bytes_of(graph_.tensors[id]);
    return bytes;
  }

  bool is_output(TensorId id) const { return std::ranges::find(graph_.outputs, id) != graph_.outputs.end(); }

  // Whether a node after the loop reads of the tensor only what the last iteration wrote.
  bool reads_last(const Node& node, TensorId id, const Moment& moment, int64_t trips) const {
    if (!touched_by(node).reads.contains(id)) return true;
    if (!std::holds_alternative<Nests>(node.body)) return false;
    return all_reads(node, [&](const Expr& x, const Nest& nest) {
      if (node.reads[x->index] != id) return true;
      const Expr index = substitute(x->args[moment.dimension], [&](const Expr& a) {
        return a->op == Op::kAxis && a->index >= 0 && nest.axes[a->index].extent == 1 ? integer(0) : Expr();
      });
      return is_constant(index, moment.backwards ? 0 : static_cast<double>(trips - 1));
    });
  }

  // Moves into the loop at i what follows it moment by moment, where of its result only the last moment is
  // read, or all of it is an output, and less is kept of what it reads.
  void sink_what_follows(size_t i) {
    const Loop& loop = *static_loop(graph_.block[i]);
    const Moments own = moments_of(loop);
    const int64_t in_loop = multiply_accumulates(graph_.block[i]);
    if (own.empty()) return;
    std::set<TensorId> refused;  // results of nodes that stay, and what the loop leaves when it ends
    for (TensorId id : touched_by(graph_.block[i]).writes)
      if (!own.contains(id)) refused.insert(id);
    for (;;) {
      Moments moments = own;
      std::set<TensorId> later = refused;  // written after the loop
      std::map<size_t, Sunk> moved;        // by the node's index in the block
      for (size_t k = i + 1; k < graph_.block.size(); ++k) {
        const Touched touched = touched_by(graph_.block[k]);
        std::optional<Sunk> one;
        if (!meet(touched.reads, later) && !meet(touched.writes, later))
          one = sunk(graph_.block[k], loop, moments);
        if (one)
          moments[graph_.block[k].writes[0]] = one->moment, moved.emplace(k, std::move(*one));
        else
          later.insert(touched.writes.begin(), touched.writes.end());
      }
      // Whether one moment of a tensor is enough, with what is moved.
      const auto is_momentary = [&](TensorId id) {
        if (is_output(id)) return false;
        for (size_t n = i + 1; n < graph_.block.size(); ++n)
          if (!moved.contains(n) && !reads_last(graph_.block[n], id, moments.at(id), loop.trips))
            return false;
        return true;
      };
      const size_t before = refused.size();
      for (const auto& [k, one] : moved) {
        const TensorId id = one.node.writes[0];
        const auto saves = [&, &node = one.node] {
          return std::ranges::any_of(
              node.reads, [&](TensorId read) { return moments.contains(read) && is_momentary(read); });
        };
        const bool is_cheap = kCheap * multiply_accumulates(graph_.block[k]) <= in_loop;
        if (is_output(id) ? !is_cheap || !saves() : !is_momentary(id)) refused.insert(id);
      }
      if (refused.size() != before) continue;
      Block& body = std::get<Loop>(graph_.block[i].body).body;
      for (auto& [k, one] : moved) body.push_back(std::move(one.node));
      Block left;
      for (size_t k = 0; k < graph_.block.size(); ++k)
        if (!moved.contains(k)) left.push_back(std::move(graph_.block[k]));
      graph_.block = std::move(left);
      return;
    }
  }

  // Keeps one moment of what the loop at i writes, where nobody reads another.
  void contract(size_t i) {
    const Loop& loop = *static_loop(graph_.block[i]);
    for (const auto& [id, moment] : moments_of(loop)) {
      bool one = !is_output(id), written = false;
      for (const Node& node : loop.body) {
        if (!written && touched_by(node).reads.contains(id)) one = false;
        visit_nodes(node, [&, id = id, moment = moment](const Node& inner) {
          one = one && reads_own_moment(inner, loop, {{id, moment}});
        });
        written = written || (!node.writes.empty() && node.writes[0] == id);
      }
      for (size_t k = i + 1; k < graph_.block.size() && one; ++k)
        one = reads_last(graph_.block[k], id, moment, loop.trips);
      if (one) keep_one(id, moment.dimension);
    }
  }

  void keep_one(TensorId id, size_t dimension) {
    graph_.tensors[id].shape[dimension] = 1;
    visit_nests(graph_.block, [&](Node& node, Nests& nests) {
      const auto at_zero = [&](const auto& self, const Expr& e) -> Expr {
        return substitute(e, [&](const Expr& x) -> Expr {
          if (x->op != Op::kRead || node.reads[x->index] != id) return {};
          std::vector<Expr> indices;
          for (const Expr& index : x->args) indices.push_back(self(self, index));
          indices[dimension] = integer(0);
          return read(x->index, x->type, std::move(indices));
        });
      };
      for (Nest& nest : nests) {
        visit_expressions(nest, [&](Expr& e) { e = at_zero(at_zero, e); });
        if (node.writes[0] == id) nest.store[dimension] = integer(0);
      }
    });
  }

  Graph graph_;
  std::vector<int> writers_;  // per tensor, nodes that write it
  int64_t most_constants_;    // bytes
};

}  // namespace

const Loop* static_loop(const Node& node) {
  const Loop* loop = std::get_if<Loop>(&node.body);
  return loop && !loop->count && !loop->condition && loop->trips > 1 ? loop : nullptr;
}

Graph with_fused_loops(Graph graph, int64_t most_constants) {
  return Fuser(std::move(graph), most_constants).run();
}

}  // namespace arenac
