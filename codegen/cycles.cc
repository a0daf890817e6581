#include "codegen/cycles.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>

#include "codegen/group_copies.h"
#include "codegen/instructions.h"
#include "frontend/evaluate.h"
#include "frontend/float_functions.h"
#include "scheduler/cmsis_nn.h"
#include "scheduler/slab_runs.h"

namespace arenac {
namespace {

constexpr int64_t kMostPoints = 32;  // of a loop whose iterations differ; those between are taken to be alike
constexpr int64_t kMostRuns = 128;   // of a stage that are looked at
constexpr int kOfHalf = 12;          // operations that make a float of a half where there is no instruction
constexpr int kScalarBytes = 4;      // that cores without vectors take at a time
constexpr size_t kTemporaries = 3;   // in an innermost loop, its counter among them
constexpr double kElementOfCall = 12;  // operations of a C kernel for each element that it reads or writes

// An operand whose reads wait, each so long.
struct Waiting {
  int operand = -1;
  double each = 0;
};

class KernelCycles {
 public:
  KernelCycles(const Kernel& kernel, const Costs& costs, const Waiting& waiting = {})
      : kernel_(kernel), costs_(costs), waiting_(waiting), ints_(kInts + kernel.ints.size()) {
    const auto is_iteration = [](int a) { return a < 0; };
    differs_ = decides(kernel.body, is_iteration);
  }

  // iterations[k] is the value of symbol k.
  double run(std::span<const int64_t> iterations) {
    if (differs_ || !known_) {
      iterations_ = iterations;
      known_ = costs_.call + of(kernel_.body);
    }
    return *known_;
  }

 private:
  double of(const Stmts& body) {
    double sum = 0;
    for (const Stmt& s : body) sum += std::visit([&](const auto& statement) { return of(statement); }, s.is);
    return sum;
  }

  double of(const For& loop) {
    const int64_t begin = number(loop.begin), end = number(loop.end);
    const int64_t turns = begin < end ? ceil_div(end - begin, loop.step) : 0;
    const double limits = of_int(loop.begin) + of_int(loop.end) + costs_.loop;
    if (turns == 0) return limits;
    const int64_t points = decides(loop) ? std::min(turns, kMostPoints) : 1;
    around_.push_back({loop.axis, static_cast<double>(turns)});
    double sum = 0;
    for (int64_t point = 0; point < points; ++point) {
      const int64_t turn = points == 1 ? 0 : point * (turns - 1) / (points - 1);
      ints_[static_cast<size_t>(loop.axis)] = begin + turn * loop.step;
      sum += of(loop.body);
    }
    around_.pop_back();
    const auto often = static_cast<double>(ceil_div(turns, lanes_of(loop)));
    const auto& [in_memory, waiting] = turn_of(loop);
    const double all = sum * often / static_cast<double>(points) + often * (costs_.loop + in_memory);
    return limits + std::max(all, often * waiting);
  }

  // Iterations that compilers make one of where vectors are: of a loop over neighbours that sets one element
  // of each.
  int64_t lanes_of(const For& loop) const {
    if (costs_.vector_bytes <= kScalarBytes || loop.step != 1 || loop.body.size() != 1) return 1;
    const Set* set = std::get_if<Set>(&loop.body[0].is);
    if (!set || set->target->index >= kRegisters) return 1;
    int bytes = 1;
    const std::function<bool(const Expr&)> in_vectors = [&](const Expr& e) {
      bytes = std::max(bytes, static_cast<int>(size_of(e->type)));
      if (e->op != Op::kRead) return std::all_of(e->args.begin(), e->args.end(), in_vectors);
      const auto moves =
          e->args.empty() ? std::optional<int64_t>(0) : coefficient_along(e->args[0], loop.axis);
      return moves && std::abs(*moves) <= 1;
    };
    if (!in_vectors(set->target) || !in_vectors(set->value)) return 1;
    return std::max<int64_t>(1, costs_.vector_bytes / bytes);
  }

  // What a turn of an innermost loop costs beside its operations; of other loops nothing.
  struct Turn {
    double in_memory = 0;  // what does not fit the registers: sums and pointers that are kept in memory
    double waiting = 0;    // until what it adds to sums of floats can be added to again
  };
  const Turn& turn_of(const For& loop) {
    const auto [at, fresh] = turns_.try_emplace(&loop);
    if (!fresh) return at->second;
    bool innermost = true;
    std::set<int> sums;
    std::map<int, int> additions;  // per register, of floats
    std::set<std::vector<int64_t>> pointers;
    visit_statements(loop.body, [&](const Stmt& s) {
      innermost &= !std::holds_alternative<For>(s.is);
      if (const Set* set = std::get_if<Set>(&s.is); set && set->target->index >= kRegisters) {
        const int reg = set->target->index;
        const auto reads_it = [&](const Expr& e) { return e->op == Op::kRead && e->index == reg; };
        if (!is_float(set->target->type))
          sums.insert(reg);
        else if (any_of(set->value, reads_it))
          ++additions[reg];
      }
      visit_formulas(s, [&](const Expr& root) {
        any_of(root, [&](const Expr& e) {
          if (e->op == Op::kRead && e->index <= kResult && !e->args.empty()) pointers.insert(pointer_of(e));
          return false;
        });
      });
    });
    if (!innermost) return at->second;
    const auto needed = static_cast<double>(sums.size() + pointers.size() + kTemporaries);
    at->second.in_memory = std::max(0.0, needed - costs_.registers) * (costs_.load + costs_.store);
    for (const auto& [reg, count] : additions)
      at->second.waiting = std::max(at->second.waiting, count * costs_.float_latency);
    return at->second;
  }

  // Reads of one operand at constant distances share a pointer.
  static std::vector<int64_t> pointer_of(const Expr& read) {
    std::vector<int64_t> key = {read->index};
    if (const auto form = affine_form(read->args[0]))
      for (const auto& [a, factor] : form->terms) key.push_back(a), key.push_back(factor);
    return key;
  }

  // Whether its body takes another way from one iteration to the next.
  bool decides(const For& loop) {
    const auto [at, fresh] = decides_.emplace(&loop, false);
    if (fresh) at->second = decides(loop.body, [&](int a) { return a == loop.axis; });
    return at->second;
  }

  // Whether what moves decides the way through these statements.
  template <typename Moves>
  static bool decides(const Stmts& body, const Moves& moves) {
    std::set<int> moved;  // by it, too
    const auto is_moved = [&](const Expr& e) {
      return any_of(e, [&](const Expr& x) {
        return x->op == Op::kAxis && (moves(x->index) || moved.contains(x->index));
      });
    };
    bool found = false;
    visit_statements(body, [&](const Stmt& s) {
      if (const Let* let = std::get_if<Let>(&s.is); let && is_moved(let->value)) moved.insert(let->axis);
      if (const For* inner = std::get_if<For>(&s.is)) found |= is_moved(inner->begin) || is_moved(inner->end);
      if (const When* when = std::get_if<When>(&s.is)) found |= is_moved(when->condition);
    });
    return found;
  }

  double of(const When& when) {
    return of_int(when.condition) + of(number(when.condition) ? when.body : when.otherwise);
  }
  double of(const Braces& braces) { return of(braces.body); }
  double of(const Barrier&) { return 0; }
  double of(const Let& let) {
    ints_[static_cast<size_t>(let.axis)] = number(let.value);
    let_in_[let.axis] = around_.size();
    return of_int(let.value);
  }

  // One operation for as many lanes as a vector has.
  double of(const Lanes& lanes) {
    int bytes = 1;
    for (const Stmt& s : lanes.body)
      visit_formulas(s, [&](const Expr& e) { bytes = std::max(bytes, static_cast<int>(size_of(e->type))); });
    const int each = std::max(1, costs_.vector_bytes / bytes);
    inside_lanes_ = true;
    const double each_vector = of(lanes.body);
    inside_lanes_ = false;
    return each_vector * static_cast<double>(ceil_div(lanes.count, each));
  }

  double of(const Declare& declare) {
    return declare.initial.empty() ? 0 : static_cast<double>(declare.registers.size()) * costs_.add;
  }
  // Where vectors are, an integer from memory is widened and spread over one.
  double of(const Define& define) {
    const Expr& value = define.value;
    const bool widens = value->op == Op::kCast && is_integer(value->type) && value->args[0]->op == Op::kRead;
    const bool spreads = widens && !inside_lanes_ && costs_.vector_bytes > kScalarBytes;
    return of_value(value) + (spreads ? 2 * costs_.add : 0);
  }
  double of(const Set& set) {
    const bool stores = set.target->index < kRegisters;
    const bool moves = !stores && set.value->op == Op::kRead && set.value->index >= kRegisters;
    if (moves) return costs_.add;
    return of_value(set.value) + (stores ? costs_.store + of_index(set.target->args[0]) : 0);
  }

  // ---- formulas

  // Of ints that loops and conditions are made of.
  double of_int(const Expr& e) const {
    if (e->args.empty()) return 0;
    double sum = e->op == Op::kRead                       ? costs_.load
                 : e->op == Op::kDiv || e->op == Op::kMod ? costs_.divide
                                                          : costs_.add;
    for (const Expr& arg : e->args) sum += of_int(arg);
    return sum;
  }

  // Of the loops around, the outermost first, how many there are up to the innermost that changes an int.
  size_t loops_of(const Expr& e) const {
    size_t varies_in = 0;
    any_of(e, [&](const Expr& x) {
      if (x->op == Op::kRead || (x->op == Op::kAxis && x->index == kLane)) varies_in = around_.size();
      if (x->op != Op::kAxis || x->index < 0) return false;
      for (size_t k = 0; k < around_.size(); ++k)
        if (around_[k].axis == x->index) varies_in = std::max(varies_in, k + 1);
      if (const auto let = let_in_.find(x->index); let != let_in_.end())
        varies_in = std::max(varies_in, std::min(let->second, around_.size()));
      return false;
    });
    return varies_in;
  }

  // Whether an int is not one number for a whole call.
  static bool varies(const Expr& e) {
    return any_of(e,
                  [](const Expr& x) { return x->op == Op::kRead || (x->op == Op::kAxis && x->index >= 0); });
  }

  // Whether pointers move along by the same from turn to turn, whatever a call's own numbers are.
  static bool is_linear(const Expr& index) {
    const auto with_some_number = [](const Expr& x) {
      return x->op == Op::kConst || varies(x) ? Expr() : integer(1);
    };
    return affine_form(substitute(index, with_some_number)).has_value();
  }

  // Of ints without what is one number for a whole call or for inner loops, which compilers work out before
  // these: its part of one turn.
  double of_varying_int(const Expr& e) const {
    if (!varies(e)) return 0;
    double own = of_int(e), inner = 0;
    for (const Expr& arg : e->args) own -= of_int(arg), inner += of_varying_int(arg);
    for (size_t k = loops_of(e); k < around_.size(); ++k) own /= around_[k].turns;
    return own + inner;
  }
  double of_index(const Expr& e) {
    const auto [at, fresh] = of_indices_.emplace(&*e, 0);
    if (fresh && !is_linear(e)) at->second = of_varying_int(e);
    return at->second;
  }

  double of_load(const Expr& read) {
    const double wait = read->index == waiting_.operand ? waiting_.each : 0;
    return (is_float(read->type) ? costs_.float_load : costs_.load) + of_index(read->args[0]) + wait;
  }

  double of_value(const Expr& e) {
    switch (e->op) {
      case Op::kConst:
      case Op::kAxis:
      case Op::kAcc:
        return 0;
      case Op::kRead:
        return e->index >= kRegisters ? 0 : of_load(e);
      default:
        break;
    }
    double sum = of_operation(e);
    for (const Expr& arg : e->args) sum += of_value(arg);
    return sum;
  }

  double of_operation(const Expr& e) const {
    const Type type = e->args[0]->type;
    const bool floats = is_float(type);
    switch (e->op) {
      case Op::kInstruction:
        return instructions()[static_cast<size_t>(e->index)].cycles;
      case Op::kCast:
        if (type == Type::kFloat16 && costs_.vector_bytes <= kScalarBytes) return kOfHalf * costs_.add;
        return floats == is_float(e->type) ? (e->args[0]->op == Op::kRead ? 0 : costs_.add) : costs_.convert;
      case Op::kMul:  // of a product that is added the sum is the operation
        return floats ? costs_.float_multiply : costs_.multiply;
      case Op::kAdd:
      case Op::kSub:
        return multiplies(e) ? 0 : floats ? costs_.float_add : costs_.add;
      case Op::kMin:
      case Op::kMax:
      case Op::kSelect:
      case Op::kAbs:
        return floats ? costs_.float_choose : costs_.choose;
      case Op::kDiv:
      case Op::kMod:
      case Op::kSqrt:
        return floats ? costs_.float_divide : costs_.divide;
      case Op::kRequantize:
        return costs_.requantize;
      default:
        if (e->type == Type::kFloat32 && float_function(e->op)) return of_float_function(e->op);
        return info(e->op).libm ? costs_.function : floats ? costs_.float_add : costs_.add;
    }
  }

  // The operations of their texts (frontend/float_functions).
  double of_float_function(Op op) const {
    const int products = op == Op::kErf ? 22 : 10;
    return products * costs_.float_multiply + 10 * costs_.add + 2 * costs_.convert +
           (op == Op::kTanh || op == Op::kLog ? costs_.float_divide : 0);
  }

  static bool multiplies(const Expr& sum) {
    return std::any_of(sum->args.begin(), sum->args.end(),
                       [](const Expr& arg) { return arg->op == Op::kMul; });
  }

  int64_t number(const Expr& e) const {
    return evaluate(e,
                    [&](const Expr& leaf) -> Scalar {
                      if (leaf->op != Op::kAxis) return {.i = 0};  // data
                      if (leaf->index >= 0) return {.i = ints_[static_cast<size_t>(leaf->index)]};
                      const auto symbol = static_cast<size_t>(-1 - leaf->index);
                      return {.i = symbol < iterations_.size() ? iterations_[symbol] : 0};
                    })
        .i;
  }

  const Kernel& kernel_;
  const Costs& costs_;
  const Waiting waiting_;
  std::span<const int64_t> iterations_ = {};
  bool differs_ = false;              // from one iteration of the loops around it to the next
  std::optional<double> known_ = {};  // of the last run
  std::vector<int64_t> ints_;
  struct Around {
    int axis;
    double turns;
  };
  std::vector<Around> around_;    // the loops around what is counted, the outermost first
  std::map<int, size_t> let_in_;  // of ints, in how many of these
  bool inside_lanes_ = false;
  std::map<const For*, bool> decides_;
  std::map<const For*, Turn> turns_;
  std::unordered_map<const void*, double> of_indices_;
};

}  // namespace

double cycles_of(const Kernel& kernel, const Costs& costs, std::span<const int64_t> iterations) {
  return costs.unit * KernelCycles(kernel, costs).run(iterations);
}

namespace {

// A nest of a step and its cycles, run after run.
struct StepNest {
  const LoweredNest& lowered;
  KernelCycles cycles;
};

// How often each slab and chunk of the stages of a group runs: per stage, chunk by chunk.
std::vector<std::vector<int64_t>> runs_per_chunk(const Group& group) {
  std::vector<std::vector<int64_t>> times;
  for (const Stage& stage : group.stages) times.emplace_back(static_cast<size_t>(stage.slabs * stage.chunks));
  for_each_chunk_run(group, [&](const ChunkRun& run) {
    ++times[run.stage][static_cast<size_t>(run.slab * group.stages[run.stage].chunks + run.chunk)];
  });
  return times;
}

// Of one run of a step outside of groups or, at a slab and chunk, of a stage.
double cycles_of_run(std::vector<StepNest>& nests, const Costs& costs, int64_t slab, int64_t chunk) {
  const int64_t iterations[] = {slab, chunk};
  static_assert(kSlabSymbol == 0 && kChunkSymbol == 1);
  double sum = costs.call;
  for (StepNest& nest : nests)
    if (nest.lowered.runs_at(slab, chunk)) sum += nest.cycles.run(iterations);
  return sum;
}

// Of a step; of a stage that runs its chunks so often. Of very many, only some are looked at.
double cycles_of_nests(const std::vector<LoweredNest>& lowered, const Costs& costs, const Stage* stage,
                       const std::vector<int64_t>& times, const Waiting& waiting = {}) {
  std::vector<StepNest> nests;
  for (const LoweredNest& nest : lowered) nests.push_back({nest, KernelCycles(nest.kernel, costs, waiting)});
  if (!stage) return cycles_of_run(nests, costs, 0, 0);
  const auto runs = static_cast<int64_t>(times.size());
  int64_t stride = ceil_div(runs, kMostRuns);
  while (std::gcd(stride, stage->chunks) > 1) ++stride;  // every chunk has its turn
  double sum = 0;
  for (int64_t run = 0; run < runs; run += stride)
    if (const int64_t often = times[static_cast<size_t>(run)]; often > 0)
      sum += static_cast<double>(often * stride) *
             cycles_of_run(nests, costs, run / stage->chunks, run % stage->chunks);
  return sum;
}

double cycles_of_call(const Node& node, const Graph& graph, const Costs& costs) {
  const Call& call = std::get<Call>(node.body);
  if (const CmsisNnRow* row = cmsis_nn_row(call))
    return costs.call + row->instructions * costs.add * static_cast<double>(call.macs * kScalarBytes) /
                            static_cast<double>(costs.vector_bytes);
  double elements = 0;
  for (const auto* operands : {&node.reads, &node.writes})
    for (TensorId id : *operands) elements += static_cast<double>(element_count(graph.tensors[id].shape));
  return costs.call + elements * kElementOfCall * costs.add;
}

// Per step of a group its runs (runs_per_chunk); of others nothing.
std::vector<std::vector<int64_t>> runs_per_step(const Schedule& schedule) {
  std::vector<std::vector<int64_t>> times(schedule.steps.size());
  for (const Group& group : schedule.groups) {
    auto runs = runs_per_chunk(group);
    std::move(runs.begin(), runs.end(), times.begin() + group.begin);
  }
  return times;
}

// Once, of a step that is made of `lowered`.
double cycles_of_step(const Schedule& schedule, size_t s, const std::vector<LoweredNest>& lowered,
                      const std::vector<int64_t>& times, const Costs& costs) {
  const Step& step = schedule.steps[s];
  if (step.kind != StepKind::kRun) return 0;
  if (std::holds_alternative<Call>(step.node->body))
    return costs.unit * cycles_of_call(*step.node, *schedule.graph, costs);
  if (!runs_nests(*step.node, *schedule.graph)) return 0;
  return costs.unit * cycles_of_nests(lowered, costs, stage_of(schedule, s), times);
}

// Numbers one after another; ranges with their lengths.
class Key {
 public:
  void add(int64_t number) { numbers.push_back(number); }
  template <typename T>
  void add_all(const std::vector<T>& all) {
    add(static_cast<int64_t>(all.size()));
    for (const T& one : all) add(static_cast<int64_t>(one));
  }

  std::vector<int64_t> numbers;
};

void add_layout(Key& key, const Layout& layout) {
  key.add(layout.root), key.add(layout.offset), key.add_all(layout.strides);
  const auto& [row, kept, column, columns] = layout.ring;
  key.add(row), key.add(kept), key.add(column), key.add(columns);
  key.add(layout.words.row), key.add(layout.words.rows);
}

void add_loops(Key& key, const LoopPlan& loops) {
  key.add_all(loops.order);
  key.add(loops.vector_axis), key.add(loops.lanes), key.add(loops.tile_axis), key.add(loops.tile);
  key.add(static_cast<int64_t>(loops.sweep)), key.add(static_cast<int64_t>(loops.registers));
  key.add(static_cast<int64_t>(loops.division)), key.add(static_cast<int64_t>(loops.bytes));
}

// What lowered_step() and the counts of runs depend on.
std::vector<int64_t> key_of(const Schedule& schedule, const Lifetimes& lifetimes, const Plan& plan, size_t s,
                            const std::vector<int64_t>& times) {
  const Node& node = *schedule.steps[s].node;
  Key key;
  key.add(reinterpret_cast<intptr_t>(&node));
  add_layout(key, schedule.layouts[node.writes[0]]);
  for (TensorId id : node.reads) {
    add_layout(key, schedule.layouts[id]);
    key.add(!schedule.graph->tensors[id].constant && share_bytes(lifetimes, plan, id, node.writes[0]));
  }
  const StorageOverlap* overlap = overlap_in_use(schedule, lifetimes, plan, static_cast<int>(s));
  for (const LoopPlan& loops : overlap ? *overlap->loops : schedule.loops[s]) add_loops(key, loops);
  if (const Stage* stage = stage_of(schedule, s)) {
    for (const auto& [axis, width, begin] : stage->nests) key.add(axis), key.add(width), key.add(begin);
    key.add(stage->slabs), key.add(stage->chunks), key.add_all(stage->chunk_axes), key.add_all(times);
  }
  return key.numbers;
}

}  // namespace

std::vector<double> cycles_of(const Lowered& lowered, const Target& target) {
  const Schedule& schedule = lowered.schedule;
  const auto times = runs_per_step(schedule);
  const std::vector<int64_t> iterations = iterations_of(schedule.steps);
  std::vector<double> cycles;
  for (size_t s = 0; s < schedule.steps.size(); ++s)
    cycles.push_back(cycles_of_step(schedule, s, lowered.steps[s], times[s], target.costs) *
                     static_cast<double>(iterations[s]));
  for (size_t b = 0; b < lowered.lifetimes.tensor_of.size(); ++b)
    if (is_copy(*schedule.graph, lowered.lifetimes, b)) {
      const Buffer& copy = lowered.lifetimes.problem.buffers[b];
      const auto begin = static_cast<size_t>(copy.begin);
      cycles[begin] += cycles_of_copying(copy.size, target.costs) * static_cast<double>(iterations[begin]);
    }
  return cycles;
}

double cycles_of_copying(int64_t bytes, const Costs& costs) {
  return costs.unit * (costs.call + static_cast<double>(ceil_div(bytes, kWordBytes)) *
                                        (costs.load + costs.store + costs.loop));
}

namespace {

// Of a layer by CMSIS-NN, which multiplies each word of its weights, the largest constant, with those of two
// pixels.
double reads_in_call(const Node& node, size_t operand, const Graph& graph) {
  const Call* call = std::get_if<Call>(&node.body);
  const auto bytes = [&](TensorId id) {
    return graph.tensors[id].constant ? bytes_of(graph.tensors[id]) : 0;
  };
  if (!call || !cmsis_nn_row(*call)) return 0;
  const TensorId largest = *std::ranges::max_element(node.reads, {}, bytes);
  return largest == node.reads[operand] ? static_cast<double>(call->macs) / (2 * kWordBytes) : 0;
}

}  // namespace

std::vector<std::vector<double>> waits_for_constants(const Lowered& lowered, const Target& target,
                                                     const std::function<double(TensorId)>& wait) {
  const Schedule& schedule = lowered.schedule;
  const Graph& graph = *schedule.graph;
  const auto times = runs_per_step(schedule);
  const std::vector<int64_t> iterations = iterations_of(schedule.steps);
  std::vector<std::vector<double>> all(schedule.steps.size());
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    const Node& node = *schedule.steps[s].node;
    if (schedule.steps[s].kind != StepKind::kRun) continue;
    const auto cycles = [&](const Waiting& waiting) {
      return target.costs.unit *
             cycles_of_nests(lowered.steps[s], target.costs, stage_of(schedule, s), times[s], waiting);
    };
    std::optional<double> without;
    for (size_t k = 0; k < node.reads.size(); ++k) {
      const double each = graph.tensors[node.reads[k]].constant ? wait(node.reads[k]) : 0;
      double waits = reads_in_call(node, k, graph) * each;
      if (each > 0 && runs_nests(node, graph)) {
        if (!without) without = cycles({});
        waits += cycles({static_cast<int>(k), each / target.costs.unit}) - *without;
      }
      all[s].push_back(waits * static_cast<double>(iterations[s]));
    }
  }
  return all;
}

double ScheduleCycles::of(const Schedule& schedule, const Lifetimes& lifetimes, const Plan& plan) {
  const auto times = runs_per_step(schedule);
  const std::vector<int64_t> iterations = iterations_of(schedule.steps);
  graphs_.insert(schedule.graph);
  double cycles = 0;
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    if (schedule.steps[s].kind != StepKind::kRun || schedule.steps[s].node->writes.empty()) continue;
    const auto [at, fresh] = known_.emplace(key_of(schedule, lifetimes, plan, s, times[s]), 0);
    if (fresh)
      at->second =
          cycles_of_step(schedule, s, lowered_step(schedule, lifetimes, plan, s), times[s], target_.costs);
    cycles += at->second * static_cast<double>(iterations[s]);
  }
  return cycles;
}

}  // namespace arenac
