#include "frontend/loop_fusion.h"

#include <algorithm>
#include <optional>
#include <set>

#include "frontend/facts.h"
#include "frontend/loop_sinking.h"

namespace arenac {
namespace {

// For each loop of the outer block, from the first on: fuse with later loops as long as that succeeds, take
// in what follows and precedes moment by moment, then shrink what is only used within a moment. Inner loops
// stay as they are.
class Fuser {
 public:
  Fuser(Graph graph, int64_t most_constants)
      : written_(std::move(graph)), graph_(written_.graph), most_constants_(most_constants) {}

  Graph run() {
    for (size_t i = 0; i < graph_.block.size(); ++i) {
      if (!static_loop(graph_.block[i])) continue;
      for (size_t j = i + 1; j < graph_.block.size(); ++j)
        if (const auto fused = fuse(i, j)) i = j = *fused;
      sink_what_follows(written_, i);
      i = sink_what_precedes(written_, i, most_constants_);
      contract(i);
    }
    return std::move(graph_);
  }

 private:
  // Fuses the loops at i and j, if that may be, and says where the result is. Before them then runs what is
  // between and does not depend on the first, after them what depends on it otherwise than moment by moment.
  //
  //   for t: h[t] = f(h)         loop i                  a = g(x)              before
  //   a = g(x)                   independent             for t: h[t] = f(h)
  //   r = Relu(h)                by moments       ->            r[t] = Relu(h[t])
  //   m = Max over t of h        needs all                      y[t] = f(r[t])
  //   for u: y[u] = f(r[u])      loop j                  m = Max over t of h   after
  //
  // Not if the second loop would overwrite what the first reads or writes, if what comes between and must run
  // in the middle is not of moments, if what goes behind them is read or overwritten by the second, or if
  // they have nothing in common.
  std::optional<size_t> fuse(size_t i, size_t j) {
    const Loop *first = static_loop(graph_.block[i]), *second = static_loop(graph_.block[j]);
    if (!second || first->trips != second->trips) return std::nullopt;
    LoopMoments moments = moments_of(*first, written_);
    const Touched by_first = touched_by(graph_.block[i]), by_second = touched_by(graph_.block[j]);
    if (meet(by_first.reads, by_second.writes) || meet(by_first.writes, by_second.writes) ||
        bytes_of_constants(by_first.reads, graph_) + bytes_of_constants(by_second.reads, graph_) >
            most_constants_)
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
      if (auto one = by_moments ? sunk(node, *first, moments, written_) : std::nullopt) {
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

  // The block with the loops at i and j, and all between, as: before, the first loop with `between` and the
  // second's body behind its own, after. The second's iteration number becomes the first's.
  void replace(size_t i, size_t j, Block before, Block between, Block after) {
    Node fused = std::move(graph_.block[i]);
    Loop &loop = std::get<Loop>(fused.body), &second = std::get<Loop>(graph_.block[j].body);
    number_iterations(second, loop.symbol);
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

  // Keeps one moment of what the loop at i writes, where nobody reads another: array contraction (Lewis, Lin
  // and Snyder, "The Implementation and Evaluation of Fusion and Contraction in Array Languages", 1998). A
  // read in the loop that comes before the write would be of the last iteration's moment, so such a tensor
  // stays whole.
  void contract(size_t i) {
    const Loop& loop = *static_loop(graph_.block[i]);
    for (const auto& [id, moment] : moments_of(loop, written_)) {
      bool one = !written_.is_output(id), written = false;
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

  // The extent of that dimension becomes 1, and every index of it 0: in reads, wherever they are, and in the
  // stores.
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

  WrittenGraph written_;
  Graph& graph_;            // of written_
  int64_t most_constants_;  // bytes
};

}  // namespace

Graph with_fused_loops(Graph graph, int64_t most_constants) {
  return Fuser(std::move(graph), most_constants).run();
}

}  // namespace arenac
