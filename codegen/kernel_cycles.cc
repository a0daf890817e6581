#include "codegen/kernel_cycles.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "codegen/fetches.h"
#include "codegen/operation_costs.h"
#include "frontend/evaluate.h"

namespace arenac {
namespace {

constexpr int64_t kMostPoints = 32;  // of a loop whose iterations differ; those between are taken to be alike
constexpr size_t kTemporaries = 3;   // in an innermost loop, its counter among them

}  // namespace

// Walks the statements with ints at their values. What a loop holds is counted at one of its turns and
// multiplied, so that a kernel of a million multiply-accumulates takes as long as one of ten.
//
//   for p in [0, 96):                          96 * (loop + ..)
//     for ky in [max(1 - p, 0), 3):            its limits follow p: some p stand for all
//       acc = acc + x[..] * w[..]              2 loads + a product
//
// Three things cost beside operations, where a target has them: registers that do not suffice, sums of floats
// that wait for themselves (latency), and caches that lines are fetched into (fetches.h).
class CycleCounter {
 public:
  CycleCounter(const Kernel& kernel, const Costs& costs, std::vector<double> between, const Waiting& waiting)
      : kernel_(kernel),
        costs_(costs),
        between_(std::move(between)),
        waiting_(waiting),
        ints_(kInts + kernel.ints.size()) {
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
  // A sum over statements: nothing is said of what a processor does side by side, but by the units of Costs.
  double of(const Stmts& body) {
    double sum = 0;
    for (const Stmt& s : body) sum += std::visit([&](const auto& statement) { return of(statement); }, s.is);
    return sum;
  }

  // Of a loop whose turns differ (a border has fewer taps), some turns spread over it are counted, and stand
  // for those between: the first and the last, where borders are, always.
  //
  // A turn takes what its operations do, or what its longest chain of additions waits, whichever is more.
  double of(const For& loop) {
    const int64_t begin = number(loop.begin), end = number(loop.end);
    const int64_t turns = begin < end ? ceil_div(end - begin, loop.step) : 0;
    const double limits = of_int(loop.begin) + of_int(loop.end) + costs_.loop;
    if (turns == 0) return limits;
    const int64_t points = decides(loop) ? std::min(turns, kMostPoints) : 1;
    around_.push_back({loop.axis, static_cast<double>(turns), static_cast<double>(loop.step)});
    double sum = 0;
    for (int64_t point = 0; point < points; ++point) {
      const int64_t turn = points == 1 ? 0 : point * (turns - 1) / (points - 1);
      ints_[static_cast<size_t>(loop.axis)] = begin + turn * loop.step;
      sum += of(loop.body);
    }
    around_.pop_back();
    const auto often = static_cast<double>(ceil_div(turns, lanes_of(loop)));
    const Turn& turn = turn_of(loop);
    const double all = sum * often / static_cast<double>(points) + often * (costs_.loop + turn.in_memory);
    return limits +
           (turn.waiting > 0 ? std::max(all, often * turn.waiting * share_of_waiting(turn, all)) : all);
  }

  // Iterations that compilers make one of where vectors are: of a loop over neighbours that sets one element
  // of each. As many as fit a vector of the widest type in it.
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
    size_t sums_in = 0;    // of the loops around it, in how many these sums are declared
  };
  // In an innermost loop: sums that it sets and pointers that move, each in a register of the integers' where
  // there is one. Sums of floats have registers of their own and do not count; what they wait is the number
  // of additions to one sum in a turn, each of which needs the one before.
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
    // Each that is too much is loaded and stored once a turn.
    const auto needed = static_cast<double>(sums.size() + pointers.size() + kTemporaries);
    at->second.in_memory = std::max(0.0, needed - costs_.registers) * (costs_.load + costs_.store);
    at->second.sums_in = around_.size();
    for (const auto& [reg, count] : additions) {
      at->second.waiting = std::max(at->second.waiting, count * costs_.float_latency);
      if (const auto declared = declared_in_.find(reg); declared != declared_in_.end())
        at->second.sums_in = std::min(at->second.sums_in, declared->second);
    }
    return at->second;
  }

  // Sums of few terms do not wait: the next ones begin meanwhile. `operations` are those of a loop, which the
  // loops around it repeat for the same sums as far out as these are declared. A processor that begins
  // `in_flight` operations before earlier ones are done hides the latency of chains that are shorter than
  // that.
  double share_of_waiting(const Turn& turn, double operations) const {
    if (costs_.in_flight == 0) return 1;
    for (size_t k = turn.sums_in; k < around_.size(); ++k) operations *= around_[k].turns;
    return std::min(1.0, operations / costs_.in_flight);
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

  // One operation for as many lanes as a vector of the widest type holds; without vectors each lane has its
  // own. (Of scalar targets only those of instructions are left.)
  double of(const Lanes& lanes) {
    int bytes = 1;
    for (const Stmt& s : lanes.body)
      visit_formulas(s, [&](const Expr& e) { bytes = std::max(bytes, static_cast<int>(size_of(e->type))); });
    const int each = std::max(1, costs_.vector_bytes / bytes);
    lanes_ = lanes.count;
    const double each_vector = of(lanes.body);
    lanes_ = 0;
    return each_vector * static_cast<double>(ceil_div(lanes.count, each));
  }

  // Zeros are a move each.
  double of(const Declare& declare) {
    for (int reg : declare.registers) declared_in_[kRegisters + reg] = around_.size();
    return declare.initial.empty() ? 0 : static_cast<double>(declare.registers.size()) * costs_.add;
  }
  // Where vectors are, an integer from memory is widened and spread over one.
  double of(const Define& define) {
    const Expr& value = define.value;
    const bool widens = value->op == Op::kCast && is_integer(value->type) && value->args[0]->op == Op::kRead;
    const bool spreads = widens && lanes_ == 0 && costs_.vector_bytes > kScalarBytes;
    return of_value(value) + (spreads ? 2 * costs_.add : 0);
  }
  // A move between registers, an operation, or a store and the address that it goes to.
  double of(const Set& set) {
    const bool stores = set.target->index < kRegisters;
    const bool moves = !stores && set.value->op == Op::kRead && set.value->index >= kRegisters;
    if (moves) return costs_.add;
    return of_value(set.value) +
           (stores ? costs_.store + of_index(set.target->args[0]) + of_fetching(set.target) : 0);
  }

  // ---- formulas

  // Of ints that loops and conditions are made of: each operation by itself, where vectors do not help.
  double of_int(const Expr& e) const {
    if (e->args.empty()) return 0;
    double sum = e->op == Op::kRead                       ? costs_.load
                 : e->op == Op::kDiv || e->op == Op::kMod ? costs_.divide
                                                          : costs_.add;
    for (const Expr& arg : e->args) sum += of_int(arg);
    return sum;
  }

  // Whether the loop of that depth changes an int.
  bool changes_in(const Expr& e, size_t depth) const {
    return any_of(e, [&](const Expr& x) {
      if (x->op != Op::kAxis || x->index < 0) return false;
      const auto let = let_in_.find(x->index);
      return around_[depth].axis == x->index || (let != let_in_.end() && let->second == depth + 1);
    });
  }

  // Of the loops around, the outermost first, how many there are up to the innermost that changes an int:
  // compilers compute it there. What reads memory, or differs by lane, is computed where it stands.
  size_t loops_of(const Expr& e) const {
    size_t count = around_.size();
    const auto is_data = [](const Expr& x) {
      return x->op == Op::kRead || (x->op == Op::kAxis && x->index == kLane);
    };
    if (!any_of(e, is_data))
      while (count > 0 && !changes_in(e, count - 1)) --count;
    return count;
  }

  // Whether an int is not one number for a whole call.
  static bool varies(const Expr& e) {
    return any_of(e,
                  [](const Expr& x) { return x->op == Op::kRead || (x->op == Op::kAxis && x->index >= 0); });
  }

  // Whether pointers move along by the same from turn to turn, whatever a call's own numbers are: then the
  // address costs nothing. A remainder (a ring) or a minimum breaks that.
  static bool is_linear(const Expr& index) {
    const auto with_some_number = [](const Expr& x) {
      return x->op == Op::kConst || varies(x) ? Expr() : integer(1);
    };
    return affine_form(substitute(index, with_some_number)).has_value();
  }

  // Of ints without what is one number for a whole call or for inner loops, which compilers work out before
  // these: its part of one turn. Its own operations, without its arguments', are shared by the turns of the
  // loops inside of the one that changes it.
  double of_varying_int(const Expr& e) const {
    if (!varies(e)) return 0;
    double own = of_int(e), inner = 0;
    for (const Expr& arg : e->args) own -= of_int(arg), inner += of_varying_int(arg);
    for (size_t k = loops_of(e); k < around_.size(); ++k) own /= around_[k].turns;
    return own + inner;
  }
  // Once for each formula, at the loops around its first use.
  double of_index(const Expr& e) {
    const auto [at, fresh] = of_indices_.emplace(&*e, 0);
    if (fresh && !is_linear(e)) at->second = of_varying_int(e);
    return at->second;
  }

  // A load, its address, and what memory and caches make it wait.
  double of_load(const Expr& read) {
    const double wait = read->index == waiting_.operand ? waiting_.each : 0;
    return (is_float(read->type) ? costs_.float_load : costs_.load) + of_index(read->args[0]) +
           of_fetching(read) + wait;
  }

  // What a read or a write of memory waits for caches: by how many bytes each loop around moves it, where the
  // address is a sum, or "somewhere else each time" (nullopt) where it is changed by other ways.
  double of_fetching(const Expr& access) {
    if (costs_.near_bytes == 0) return 0;
    const auto [at, fresh] = of_fetching_.emplace(&*access, 0);
    if (!fresh) return at->second;
    const auto form = affine_form(access->args[0]);
    const double element = static_cast<double>(size_of(access->type));
    std::vector<MovingLoop> loops;
    for (const Around& around : around_) {
      MovingLoop loop{around.turns, 0};
      if (form && form->coefficient(around.axis) != 0)
        loop.distance = element * around.step * static_cast<double>(form->coefficient(around.axis));
      else if (changes_in(access->args[0], loops.size()))
        loop.distance = std::nullopt;
      loops.push_back(loop);
    }
    const double bytes = lanes_ > 0 ? std::min<double>(costs_.vector_bytes, lanes_ * element) : element;
    return at->second = fetching(bytes, loops, bytes_between(access->index), costs_);
  }

  double bytes_between(int operand) const {
    if (between_.empty()) return 0;
    return operand == kResult ? between_.back() : between_[static_cast<size_t>(operand)];
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
    double sum = cycles_of_operation(e, costs_);
    for (const Expr& arg : e->args) sum += of_value(arg);
    return sum;
  }

  // Ints are known; data is not, and counts as 0. Loops and conditions that data decides are then counted as
  // for zeros.
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
  const std::vector<double> between_;
  const Waiting waiting_;
  std::span<const int64_t> iterations_ = {};
  bool differs_ = false;              // from one iteration of the loops around it to the next
  std::optional<double> known_ = {};  // of the last run
  std::vector<int64_t> ints_;
  struct Around {
    int axis;
    double turns, step;
  };
  std::vector<Around> around_;         // the loops around what is counted, the outermost first
  std::map<int, size_t> let_in_;       // of ints, in how many of these
  std::map<int, size_t> declared_in_;  // of registers, the same
  int lanes_ = 0;                      // that run at once; 0: outside of Lanes
  std::map<const For*, bool> decides_;
  std::map<const For*, Turn> turns_;
  std::unordered_map<const void*, double> of_indices_, of_fetching_;
};

KernelCycles::KernelCycles(const Kernel& kernel, const Costs& costs, std::vector<double> between,
                           const Waiting& waiting)
    : counter_(std::make_unique<CycleCounter>(kernel, costs, std::move(between), waiting)) {}
KernelCycles::KernelCycles(KernelCycles&&) noexcept = default;
KernelCycles::~KernelCycles() = default;

double KernelCycles::run(std::span<const int64_t> iterations) { return counter_->run(iterations); }

}  // namespace arenac
