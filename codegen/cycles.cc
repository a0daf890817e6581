#include "codegen/cycles.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "codegen/instructions.h"
#include "frontend/evaluate.h"
#include "scheduler/groups.h"

namespace arenac {
namespace {

constexpr int64_t kMostPoints = 32;  // of a loop whose iterations differ; those between are taken to be alike
constexpr int64_t kMostRuns = 4096;  // of a stage that are looked at
constexpr size_t kTemporaries = 3;   // in an innermost loop, its counter among them
constexpr double kElementOfCall = 12;  // operations of a C kernel for each element that it reads or writes

class KernelCycles {
 public:
  KernelCycles(const Kernel& kernel, const Costs& costs)
      : kernel_(kernel), costs_(costs), ints_(kInts + kernel.ints.size()) {
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
    double sum = 0;
    for (int64_t point = 0; point < points; ++point) {
      const int64_t turn = points == 1 ? 0 : point * (turns - 1) / (points - 1);
      ints_[static_cast<size_t>(loop.axis)] = begin + turn * loop.step;
      sum += of(loop.body);
    }
    const auto often = static_cast<double>(turns);
    return limits + sum * often / static_cast<double>(points) + often * (costs_.loop + of_registers(loop));
  }

  // In an innermost loop, what does not fit the registers: sums and pointers that are kept in memory.
  double of_registers(const For& loop) {
    const auto [at, fresh] = in_memory_.emplace(&loop, 0);
    if (!fresh) return at->second;
    bool innermost = true;
    std::set<int> sums;
    std::set<std::vector<int64_t>> pointers;
    visit_statements(loop.body, [&](const Stmt& s) {
      innermost &= !std::holds_alternative<For>(s.is);
      if (const Set* set = std::get_if<Set>(&s.is); set && !is_float(set->target->type))
        if (set->target->index >= kRegisters) sums.insert(set->target->index);
      visit_formulas(s, [&](const Expr& root) {
        any_of(root, [&](const Expr& e) {
          if (e->op == Op::kRead && e->index <= kResult && !e->args.empty()) pointers.insert(pointer_of(e));
          return false;
        });
      });
    });
    const auto needed = static_cast<double>(sums.size() + pointers.size() + kTemporaries);
    const double missing = innermost ? std::max(0.0, needed - costs_.registers) : 0;
    return in_memory_[&loop] = missing * (costs_.load + costs_.store);
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
    return of_int(let.value);
  }

  // One operation for as many lanes as a vector has.
  double of(const Lanes& lanes) {
    int bytes = 1;
    for (const Stmt& s : lanes.body)
      visit_formulas(s, [&](const Expr& e) { bytes = std::max(bytes, static_cast<int>(size_of(e->type))); });
    const int each = std::max(1, costs_.vector_bytes / bytes);
    return of(lanes.body) * static_cast<double>(ceil_div(lanes.count, each));
  }

  double of(const Declare& declare) {
    return declare.initial.empty() ? 0 : static_cast<double>(declare.registers.size()) * costs_.add;
  }
  double of(const Define& define) { return of_value(define.value); }
  double of(const Set& set) {
    const bool stores = set.target->index < kRegisters;
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
  double of_index(const Expr& e) const { return affine_form(e) ? 0 : of_int(e); }

  double of_value(const Expr& e) const {
    switch (e->op) {
      case Op::kConst:
      case Op::kAxis:
      case Op::kAcc:
        return 0;
      case Op::kRead:
        return e->index >= kRegisters ? 0 : costs_.load + of_index(e->args[0]);
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
        return info(e->op).libm ? costs_.function : floats ? costs_.float_add : costs_.add;
    }
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
  std::span<const int64_t> iterations_ = {};
  bool differs_ = false;              // from one iteration of the loops around it to the next
  std::optional<double> known_ = {};  // of the last run
  std::vector<int64_t> ints_;
  std::map<const For*, bool> decides_;
  std::map<const For*, double> in_memory_;
};

}  // namespace

double cycles_of(const Kernel& kernel, const Costs& costs, std::span<const int64_t> iterations) {
  return KernelCycles(kernel, costs).run(iterations);
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
  const Guests guests = guests_of(group);
  for (const SlabRun& slab : runs_of(group)) {
    if (group.stages[slab.stage].host >= 0) continue;  // it runs with its host
    for (const ChunkRun& run : chunk_runs_of(group, guests, slab))
      ++times[run.stage][static_cast<size_t>(run.slab * group.stages[run.stage].chunks + run.chunk)];
  }
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
                       const std::vector<int64_t>& times) {
  std::vector<StepNest> nests;
  for (const LoweredNest& nest : lowered) nests.push_back({nest, KernelCycles(nest.kernel, costs)});
  if (!stage) return cycles_of_run(nests, costs, 0, 0);
  const auto runs = static_cast<int64_t>(times.size()), stride = ceil_div(runs, kMostRuns);
  double sum = 0;
  for (int64_t run = 0; run < runs; run += stride)
    if (const int64_t often = times[static_cast<size_t>(run)]; often > 0)
      sum += static_cast<double>(often * stride) *
             cycles_of_run(nests, costs, run / stage->chunks, run % stage->chunks);
  return sum;
}

double cycles_of_call(const Node& node, const Graph& graph, const Costs& costs) {
  double elements = 0;
  for (const auto* operands : {&node.reads, &node.writes})
    for (TensorId id : *operands) elements += static_cast<double>(element_count(graph.tensors[id].shape));
  return costs.call + elements * kElementOfCall * costs.add;
}

}  // namespace

std::vector<double> cycles_of(const Lowered& lowered, const Target& target) {
  const Schedule& schedule = lowered.schedule;
  std::vector<std::vector<int64_t>> times(schedule.steps.size());  // of steps in groups
  for (const Group& group : schedule.groups) {
    auto runs = runs_per_chunk(group);
    std::move(runs.begin(), runs.end(), times.begin() + group.begin);
  }
  const std::vector<int64_t> iterations = iterations_of(schedule.steps);
  std::vector<double> cycles;
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    double& here = cycles.emplace_back(0);
    if (step.kind != StepKind::kRun) continue;
    if (std::holds_alternative<Call>(step.node->body))
      here = cycles_of_call(*step.node, *schedule.graph, target.costs);
    else if (runs_nests(*step.node, *schedule.graph))
      here = cycles_of_nests(lowered.steps[s], target.costs, stage_of(schedule, s), times[s]);
    here *= static_cast<double>(iterations[s]);
  }
  return cycles;
}

}  // namespace arenac
