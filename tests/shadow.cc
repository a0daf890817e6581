#include "tests/shadow.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "codegen/cycles.h"
#include "codegen/lowered.h"
#include "driver/compare.h"
#include "frontend/error.h"
#include "frontend/evaluate.h"
#include "frontend/interpret.h"
#include "frontend/kernels.h"
#include "scheduler/loops.h"
#include "scheduler/slab_runs.h"
#include "scheduler/step_facts.h"
#include "tests/run_kernel.h"

namespace arenac {
namespace {

// How the nests of a step run: in random orders, or as the statements that are emitted.
enum class Walk : uint8_t { kAnyOrder, kAsEmitted };

// A cycle for each element that is read or written, none for anything else.
Costs access_costs() {
  Costs costs = {};
  costs.unit = costs.load = costs.float_load = costs.store = 1;
  costs.registers = 1 << 20;
  costs.vector_bytes = 1;
  return costs;
}

// Whether the cost model foresees every access of a kernel: it has no data, and takes long loops to be alike.
bool is_foreseen(const Kernel& kernel) {
  bool foreseen = std::all_of(kernel.axes.begin(), kernel.axes.end(),
                              [](const Interval& axis) { return axis.end - axis.begin <= 32; });
  visit_statements(kernel.body, [&](const Stmt& s) {
    const bool values = std::holds_alternative<Set>(s.is) || std::holds_alternative<Define>(s.is);
    visit_formulas(s, [&](const Expr& root) {
      foreseen &= !any_of(root, [&](const Expr& e) {
        return e->op == Op::kSelect || e->op == Op::kInstruction || (e->op == Op::kRead && !values);
      });
    });
  });
  return foreseen;
}

class Shadow {
 public:
  Shadow(const Compilation& c, const std::vector<Value>& inputs, std::mt19937& random, double floats_within,
         Walk walk)
      : c_(c),
        lowered_(lower(c.schedule, c.lifetimes, c.plan)),
        graph_(*c.schedule.graph),
        random_(random),
        floats_within_(floats_within),
        walk_(walk),
        facts_(step_facts(graph_, c.schedule.steps, c.schedule.layouts)),
        values_(graph_.tensors.size()),
        memory_(graph_.tensors.size()) {
    for (size_t s = 0; s < c.schedule.steps.size(); ++s)
      if (c.schedule.steps[s].kind == StepKind::kRun)
        scheduled_.emplace(c.schedule.steps[s].node, static_cast<int>(s));
    for (const PoolUse& pool : c.plan.pools)
      arenas_.emplace_back(static_cast<size_t>(pool.size), std::byte{0xA5});
    for (size_t id = 0; id < values_.size(); ++id) values_[id] = graph_.tensors[id].constant;
    place_buffers();
    for (size_t k = 0; k < inputs.size(); ++k) {
      values_[graph_.inputs[k]] = std::make_shared<Value>(inputs[k]);
      std::ranges::copy(inputs[k].bytes, memory_[graph_.inputs[k]].data);
    }
    for (size_t id = 0; id < values_.size(); ++id)
      if (values_[id] && graph_.tensors[id].constant) put(static_cast<TensorId>(id), *values_[id]);
  }

  std::string run() {
    std::vector<const Node*> views;
    for (const Node& node : graph_.block)
      if (std::holds_alternative<Nests>(node.body) || std::holds_alternative<Call>(node.body))
        if (!scheduled_.contains(&node)) views.push_back(&node);
    run_ready(views);
    int depth = 0;
    for (const Step& step : c_.schedule.steps) {
      const bool opens = step.kind == StepKind::kIf || step.kind == StepKind::kLoop;
      if (depth == 0) {
        run_any(*step.node);
        run_ready(views);
      }
      depth += opens - (step.kind == StepKind::kEndIf || step.kind == StepKind::kEndLoop);
    }
    ARENAC_CHECK(!fault_.empty() || views.empty(), "a view of nothing");
    for (TensorId id : graph_.outputs) compare(id, "at the end");
    return fault_;
  }

 private:
  struct Room {
    std::byte* data = nullptr;
    int64_t size = 0;
  };

  void place_buffers() {
    std::vector<int64_t> bytes(graph_.tensors.size());
    for (size_t id = 0; id < bytes.size(); ++id) {
      const Layout& layout = c_.schedule.layouts[id];
      const int64_t span = span_of(layout, graph_.tensors[id].shape);
      if (span > 0)
        bytes[layout.root] =
            std::max(bytes[layout.root], (layout.offset + span) * size_of(graph_.tensors[id].type));
    }
    outside_.resize(bytes.size());
    for (size_t id = 0; id < bytes.size(); ++id) {
      if (const int b = c_.lifetimes.buffer_of[id]; b >= 0 && !graph_.tensors[id].constant) {
        const Placement& at = c_.plan.placements[b];
        memory_[id] = {arenas_[at.pool].data() + at.offset, c_.lifetimes.problem.buffers[b].size};
      } else if (c_.schedule.layouts[id].root == static_cast<TensorId>(id)) {
        outside_[id].assign(static_cast<size_t>(bytes[id]), std::byte{0xA5});
        memory_[id] = {outside_[id].data(), bytes[id]};
      }
    }
  }

  // Element `element` of tensor id beyond the tensor's offset, or of its ring.
  std::byte* at(TensorId id, int64_t element) {
    const Layout& layout = c_.schedule.layouts[id];
    const int size = size_of(graph_.tensors[id].type);
    const Ring& ring = layout.ring;
    ARENAC_CHECK(ring.kept == 0 || (0 <= element && element < ring.size()),
                 fmt::format("'{}' leaves its ring", graph_.tensors[id].name));
    const int64_t byte = (ring.kept > 0 ? element : layout.offset + element) * size;
    const Room& room = memory_[layout.root];
    ARENAC_CHECK(byte >= 0 && byte + size <= room.size,
                 fmt::format("'{}' leaves its storage", graph_.tensors[id].name));
    return room.data + byte;
  }

  // Calls `visit` with the number and the address of every element, in row-major order.
  template <typename Visit>
  void each_element(TensorId id, const Visit& visit) {
    const Tensor& t = graph_.tensors[id];
    std::vector<int64_t> index(t.shape.size());
    for (int64_t e = 0; e < element_count(t.shape); ++e) {
      const Layout& layout = c_.schedule.layouts[id];
      visit(e, at(id, layout.words.place(std::inner_product(index.begin(), index.end(),
                                                            layout.strides.begin(), int64_t{0}))));
      for (size_t d = index.size(); d-- > 0 && ++index[d] == t.shape[d];) index[d] = 0;
    }
  }
  void put(TensorId id, const Value& value) {
    each_element(id, [&](int64_t e, std::byte* to) { store(value.type, to, load(value, e)); });
  }

  void compare(TensorId id, const std::string& when) {
    if (!fault_.empty()) return;
    Value got(graph_.tensors[id].type, graph_.tensors[id].shape);
    each_element(id, [&](int64_t e, std::byte* from) { store(got, e, load(got.type, from)); });
    Tolerance tolerance = tolerance_of(got.type);
    if (is_float(got.type)) tolerance.atol = floats_within_;
    if (const auto wrong = difference(got, *values_[id], tolerance))
      fault_ = fmt::format("%{} '{}' {}: {}", id, graph_.tensors[id].name, when, *wrong);
  }

  // Runs those of the views whose operands are there, and removes them.
  void run_ready(std::vector<const Node*>& views) {
    std::erase_if(views, [&](const Node* view) {  // in the graph's order: a view of a view comes later
      const bool ready = std::all_of(view->reads.begin(), view->reads.end(),
                                     [&](TensorId id) { return values_[id] != nullptr; });
      if (ready) run_any(*view);
      return ready;
    });
  }

  void block(const Block& nodes) {
    for (const Node& node : nodes) run_any(node);
  }

  void run_any(const Node& node) {
    if (!fault_.empty()) return;
    if (const If* branch = std::get_if<If>(&node.body)) {
      compare(node.reads[0], "as the condition of " + node.origin);
      block(load(*values_[node.reads[0]], 0).i ? branch->then_block : branch->else_block);
    } else if (const Loop* loop = std::get_if<Loop>(&node.body)) {
      iterate(*loop, node);
    } else {
      run(node);
    }
  }

  void iterate(const Loop& loop, const Node& node) {
    if (static_cast<int>(iterations_.size()) <= loop.symbol) iterations_.resize(loop.symbol + 1);
    for (int64_t t = 0; t < loop.trips && fault_.empty(); ++t) {
      if (loop.count) {
        compare(*loop.count, "as the trip count of " + node.origin);
        if (t >= load(*values_[*loop.count], 0).i) break;
      }
      if (loop.condition) {
        compare(*loop.condition, "as the condition of " + node.origin);
        if (!load(*values_[*loop.condition], 0).i) break;
      }
      iterations_[loop.symbol] = t;
      block(loop.body);
    }
  }

  // The steps of a group wait for its last one. Views take no step, but must hold the same elements
  // nevertheless, unless their ring or a group left some out that nobody reads.
  void run(const Node& node) {
    const auto at = scheduled_.find(&node);
    const int step = at == scheduled_.end() ? -1 : at->second;
    const Group* group = nullptr;
    for (const Group& g : c_.schedule.groups)
      if (g.begin <= step && step < g.end) group = &g;
    if (step >= 0 && !group) run_step(step, node);
    run_node(node, graph_, values_, iterations_);
    if (group && step == group->end - 1) return run_group(*group);
    if (group || !stores_whole(node)) return;
    if (step >= 0) done_ = step + 1;
    for (TensorId id : node.writes)
      if (step >= 0 || in_memory(id)) compare(id, fmt::format("after {} ({})", node.origin, node.op));
  }

  static bool stores_whole(const Node& node) {
    const Nests* nests = std::get_if<Nests>(&node.body);
    return !nests || std::none_of(nests->begin(), nests->end(), [](const Nest& nest) {
      return std::any_of(nest.store.begin(), nest.store.end(), [](const Expr& index) {
        return any_of(index, [](const Expr& e) { return e->op == Op::kAxis && e->index < 0; });
      });
    });
  }

  // What a group wrote is there after it where somebody reads it.
  bool in_memory(TensorId id) const {
    const TensorId source = facts_.source[id];
    for (const Group& group : c_.schedule.groups)
      if (group.begin <= facts_.writer[source] && facts_.writer[source] < group.end)
        return group.end <= done_ && facts_.last_reader[source] >= done_;
    return true;
  }

  void run_group(const Group& group) {
    iterations_.resize(std::max<size_t>(iterations_.size(), kChunkSymbol + 1));
    for_each_chunk_run(group, [&](const ChunkRun& run) {
      const Stage& stage = group.stages[run.stage];
      iterations_[kSlabSymbol] = run.slab;
      iterations_[kChunkSymbol] = run.chunk;
      run_step(stage.step, *c_.schedule.steps[stage.step].node, &stage);
    });
    done_ = group.end;
    for (const Stage& stage : group.stages)
      for (TensorId id : c_.schedule.steps[stage.step].node->writes)
        if (in_memory(id)) compare(id, fmt::format("after the steps {} to {}", group.begin, group.end));
  }

  void run_step(int step, const Node& node, const Stage* stage = nullptr) {
    if (const Call* call = std::get_if<Call>(&node.body)) return run_call(node, *call);
    if (!std::holds_alternative<Nests>(node.body)) return;
    if (element_count(graph_.tensors[node.writes[0]].shape) == 0) return;
    if (walk_ == Walk::kAsEmitted) return run_kernels(step, node);
    const Nests nests = nests_of(c_.schedule, static_cast<size_t>(step));
    const StorageOverlap* overlap = overlap_in_use(c_.schedule, c_.lifetimes, c_.plan, step);
    for (size_t k = 0; k < nests.size(); ++k) {
      if (is_elided(nests[k], node, graph_, c_.schedule.layouts)) continue;
      if (stage) {
        const Interval active = active_slabs(std::get<Nests>(node.body)[k], stage->nests[k], stage->slabs);
        const int64_t slab = iterations_[kSlabSymbol];
        if (slab < active.begin || active.end <= slab) continue;
        const bool once = stage->chunks > 1 && stage->chunk_axes[k] < 0;
        if (once && iterations_[kChunkSymbol] > 0) continue;
      }
      run_nest(node, nests[k], overlap ? &overlap->loops->at(k) : nullptr);
    }
  }

  void run_kernels(int step, const Node& node) {
    for (const LoweredNest& nest : lowered_.steps[static_cast<size_t>(step)]) {
      const bool in_stage = nest.slabs || nest.first_chunk_only;
      if (in_stage && !nest.runs_at(iterations_[kSlabSymbol], iterations_[kChunkSymbol])) continue;
      double accesses = 0;
      run_kernel(nest.kernel, iterations_, [&](int operand, int64_t element) {
        ++accesses;
        return at(operand == kResult ? node.writes[0] : node.reads[static_cast<size_t>(operand)], element);
      });
      const double foreseen = cycles_of(nest.kernel, access_costs(), iterations_);
      if (is_foreseen(nest.kernel) && foreseen != accesses)
        fault_ = fmt::format("step {} reads and writes {} elements, the cost model says {}", step, accesses,
                             foreseen);
    }
  }

  void run_call(const Node& node, const Call& call) {
    std::vector<const void*> reads;
    std::vector<void*> writes;
    for (TensorId id : node.reads)
      reads.push_back(memory_[c_.schedule.layouts[id].root].size ? at(id, 0) : nullptr);
    for (TensorId id : node.writes)
      writes.push_back(memory_[c_.schedule.layouts[id].root].size ? at(id, 0) : nullptr);
    kernel(call.kernel).instance(call.type)(reads.data(), writes.data(), call.parameters.data());
  }

  // In a random order, unless the storages slide over each other by a plan.
  void run_nest(const Node& node, const Nest& nest, const LoopPlan* plan) {
    const FlatNest flat = flat_nest(nest, node, c_.schedule.layouts);
    std::vector<int> order(flat.axes.size());
    std::iota(order.begin(), order.end(), 0);
    if (plan)
      order = plan->order;
    else
      std::shuffle(order.begin(), order.end(), random_);
    std::stable_partition(order.begin(), order.end(), [&](int a) { return !flat.axes[a].reduced; });
    const size_t kept = static_cast<size_t>(
        std::count_if(flat.axes.begin(), flat.axes.end(), [](const Axis& a) { return !a.reduced; }));
    node_ = &node;
    point_.assign(flat.axes.size(), 0);
    const bool reduces = has_sums(flat);
    // What a block reduces is read before any of it is written.
    std::vector<std::pair<std::vector<int64_t>, Scalar>> block;
    const auto reduce = [&] {
      Scalar value = neutral(flat.combine, flat.body->type);
      walk(flat, order, kept, order.size(), [&] {
        if (inside(flat)) value = apply(op_of(flat.combine), flat.body->type, value, evaluate(flat.body));
      });
      block.emplace_back(point_, value);
    };
    const auto finish_block = [&] {
      for (const auto& [point, value] : block) point_ = point, finish(flat, node, value);
      block.clear();
    };
    if (!reduces)
      blocks(
          flat, order, 0, plan,
          [&] {
            if (inside(flat)) finish(flat, node, evaluate(flat.body));
          },
          [] {});
    else
      blocks(flat, {order.begin(), order.begin() + static_cast<long>(kept)}, 0, plan, reduce, finish_block);
  }

  void finish(const FlatNest& flat, const Node& node, Scalar value) {
    const Type type = flat.body->type, stored = graph_.tensors[node.writes[0]].type;
    std::byte* to = at(node.writes[0], evaluate(flat.store).i);
    if (flat.accumulate)
      value = apply(op_of(flat.combine), type, convert(type, stored, load(stored, to)), value);
    acc_ = value;
    const Type result = flat.finish.empty() ? type : flat.finish->type;
    store(stored, to, convert(stored, result, flat.finish.empty() ? value : evaluate(flat.finish)));
  }

  // Walks the axes in `order` by blocks of random widths up to those of the plan: body at every point,
  // written() after each block.
  template <typename Body, typename Written>
  void blocks(const FlatNest& nest, const std::vector<int>& order, size_t k, const LoopPlan* plan,
              const Body& body, const Written& written) {
    if (k == order.size()) {
      walk(nest, block_, body);
      return written();
    }
    const int a = order[k];
    const int64_t extent = nest.axes[a].extent;
    int64_t most = plan && a == plan->vector_axis ? plan->lanes : 1;
    if (plan && a == plan->tile_axis) most *= plan->tile;
    const bool one_block = plan && a == plan->vector_axis && extent <= most;
    std::vector<Interval> ranges;
    for (int64_t begin = 0; begin < extent; begin = ranges.back().end) {
      const int64_t width = one_block ? extent : 1 + static_cast<int64_t>(random_()) % most;
      ranges.push_back({begin, std::min(extent, begin + width)});
    }
    if (plan && plan->sweep == Sweep::kDown) std::reverse(ranges.begin(), ranges.end());
    block_.push_back({a, {}});
    for (const Interval& range : ranges) {
      block_[k].second = range;
      blocks(nest, order, k + 1, plan, body, written);
    }
    block_.pop_back();
  }

  template <typename Body>
  void walk(const FlatNest& nest, const std::vector<std::pair<int, Interval>>& ranges, const Body& body,
            size_t k = 0) {
    if (k == ranges.size()) return body();
    const auto [a, range] = ranges[k];
    for (int64_t i = range.begin; i < range.end; ++i) {
      point_[a] = i;
      walk(nest, ranges, body, k + 1);
    }
    point_[a] = 0;
  }

  template <typename Body>
  void walk(const FlatNest& nest, const std::vector<int>& order, size_t from, size_t to, const Body& body) {
    if (from == to) return body();
    int64_t& i = point_[order[from]];
    for (i = 0; i < nest.axes[order[from]].extent; ++i) walk(nest, order, from + 1, to, body);
    i = 0;
  }

  bool inside(const FlatNest& nest) {
    return std::all_of(nest.where.begin(), nest.where.end(), [&](const Bound& bound) {
      const int64_t index = evaluate(bound.index).i;
      return bound.begin <= index && index < bound.end;
    });
  }

  Scalar evaluate(const Expr& e) {
    return arenac::evaluate(e, [&](const Expr& leaf) -> Scalar {
      if (leaf->op == Op::kAcc) return acc_;
      if (leaf->op == Op::kAxis)
        return {.i = leaf->index >= 0 ? point_[leaf->index] : iterations_[-1 - leaf->index]};
      const TensorId id = node_->reads[leaf->index];
      return load(graph_.tensors[id].type,
                  at(id, c_.schedule.layouts[id].words.place(evaluate(leaf->args[0]).i)));
    });
  }

  const Compilation& c_;
  const Lowered lowered_;
  const Graph& graph_;
  std::mt19937& random_;
  const double floats_within_;
  const Walk walk_;
  const StepFacts facts_;
  std::map<const Node*, int> scheduled_;              // the node's step
  int done_ = 0;                                      // steps, at the top level
  std::vector<std::shared_ptr<const Value>> values_;  // what the interpreter computes
  std::vector<std::vector<std::byte>> arenas_;        // per pool
  std::vector<std::vector<std::byte>> outside_;       // constants and the caller's memory
  std::vector<Room> memory_;                          // per storage
  std::vector<int64_t> iterations_;
  std::string fault_;
  // The point of the nest that runs.
  const Node* node_ = nullptr;
  std::vector<int64_t> point_;
  std::vector<std::pair<int, Interval>> block_;  // axes with the values of the block that runs
  Scalar acc_ = {};
};

}  // namespace

Tolerance tolerance_of(Type type, double integers_within) {
  if (!is_float(type)) return {0, integers_within};
  return {type == Type::kFloat16 || type == Type::kBFloat16 ? 1e-2 : 1e-4, 1e-5};
}

std::string shadow_fault(const Compilation& compilation, const std::vector<Value>& inputs,
                         std::mt19937& random, double floats_within) {
  const auto run = [&](Walk walk) -> std::string {
    try {
      return Shadow(compilation, inputs, random, floats_within, walk).run();
    } catch (const InternalError& error) {
      return error.what();
    }
  };
  if (const std::string fault = run(Walk::kAnyOrder); !fault.empty()) return fault;
  const std::string fault = run(Walk::kAsEmitted);
  return fault.empty() ? "" : "as emitted: " + fault;
}

}  // namespace arenac
