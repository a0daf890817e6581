#include "codegen/register_ranges.h"

#include <algorithm>
#include <map>
#include <set>

namespace arenac {
namespace {

// Where a register gets values: by its declaration, at a definition, or by a statement within these loops.
struct Source {
  const Expr* value;
  std::vector<const For*> loops;
  int lanes;  // that it runs for
  enum class By : uint8_t { kDeclare, kDefine, kSet } by;
};
using Sources = std::map<int, std::vector<Source>>;  // per register

// All that gives registers values, with the loops around it, for the number of times that it runs.
void collect(const Stmts& body, std::vector<const For*>& loops, int count, Sources& all) {
  for (const Stmt& s : body) {
    if (const Declare* declare = std::get_if<Declare>(&s.is))
      for (int reg : declare->registers)
        all[reg].push_back({&declare->initial, loops, count, Source::By::kDeclare});
    if (const Define* define = std::get_if<Define>(&s.is))
      all[define->reg].push_back({&define->value, loops, count, Source::By::kDefine});
    if (const Set* set = std::get_if<Set>(&s.is); set && set->target->index >= kRegisters)
      all[set->target->index - kRegisters].push_back({&set->value, loops, count, Source::By::kSet});
    if (const Lanes* lanes = std::get_if<Lanes>(&s.is)) collect(lanes->body, loops, lanes->count, all);
    if (const Braces* braces = std::get_if<Braces>(&s.is)) collect(braces->body, loops, count, all);
    if (const When* when = std::get_if<When>(&s.is))
      collect(when->body, loops, count, all), collect(when->otherwise, loops, count, all);
    if (const For* loop = std::get_if<For>(&s.is)) {
      loops.push_back(loop);
      collect(loop->body, loops, count, all);
      loops.pop_back();
    }
  }
}

// An accumulator's range is what it begins with and what all turns of its loops add at most:
//
//   acc = b                       b in [-50, 50]
//   for k in [0, 9):              9 times
//     acc = acc + x * w           x * w in [-16256, 16384]:   acc in [-50 - 9 * 16256, 50 + 9 * 16384]
//
// Terms of 0 are possible (bounds leave turns out), so that each side of the sum counts 0 at least: the range
// holds after any number of turns, and "at any time" is what printing needs.
class RegisterRanges {
 public:
  explicit RegisterRanges(Kernel kernel) : kernel_(std::move(kernel)), axes_(intervals_of(kernel_)) {
    std::vector<const For*> loops;
    collect(kernel_.body, loops, 1, sources_);
  }

  Kernel run() {
    for (size_t reg = 0; reg < kernel_.registers.size(); ++reg) find(static_cast<int>(reg));
    return std::move(kernel_);
  }

 private:
  using Wide = __int128;

  // Finds the range of a register, after those that its values are made of. One that is made of itself other
  // than by adding to it has none.
  void find(int reg) {
    Register& is = kernel_.registers[static_cast<size_t>(reg)];
    const auto sources = sources_.find(reg);
    if (!found_.insert(reg).second || sources == sources_.end() || !is_integer(is.type)) return;
    if (is.holds == Register::Holds::kElements) return;
    Wide low = INT64_MAX, high = INT64_MIN, added_low = 0, added_high = 0;
    for (const Source& source : sources->second) {
      // A declaration without a value: what is set later counts.
      if (source.value->empty()) continue;
      const Expr added = source.by == Source::By::kSet ? added_to(reg, *source.value) : Expr();
      const Expr& value = added.empty() ? *source.value : added;
      if (reads(value, reg)) return;
      const ClosedInterval range = range_of(value);
      if (added.empty()) {
        low = std::min<Wide>(low, range.low), high = std::max<Wide>(high, range.high);
      } else {
        const Wide times = times_of(sources->second, source) * (is.lanes == 1 ? source.lanes : 1);
        if (times < 0) return;
        added_low += times * std::min<int64_t>(range.low, 0);
        added_high += times * std::max<int64_t>(range.high, 0);
      }
    }
    // All of the type is no range: it would say that nothing is known, at the price of looking at it.
    const ClosedInterval type = closed_interval(element(0, is.type, integer(0)), axes_, {});
    low += added_low, high += added_high;
    if (low > high || low < type.low || high > type.high || (low == type.low && high == type.high)) return;
    is.range = ClosedInterval{static_cast<int64_t>(low), static_cast<int64_t>(high)};
  }

  // What a value adds to what the register holds; empty: it does something else.
  static Expr added_to(int reg, const Expr& value) {
    const bool adds =
        value->op == Op::kAdd && value->args[0]->op == Op::kRead && value->args[0]->index == kRegisters + reg;
    return adds ? value->args[1] : Expr();
  }

  static bool reads(const Expr& value, int reg) {
    return any_of(value, [&](const Expr& e) { return e->op == Op::kRead && e->index == kRegisters + reg; });
  }

  ClosedInterval range_of(const Expr& value) {
    any_of(value, [&](const Expr& e) {
      if (e->op == Op::kRead && e->index >= kRegisters) find(e->index - kRegisters);
      return false;
    });
    return interval_with_registers(value, kernel_, axes_);
  }

  // How often a statement runs at most between two declarations of its register, which stand around its
  // loops; negative: not known.
  Wide times_of(const std::vector<Source>& all, const Source& set) const {
    const auto declared =
        std::find_if(all.begin(), all.end(), [](const Source& s) { return s.by == Source::By::kDeclare; });
    const bool around = declared != all.end() && declared->loops.size() <= set.loops.size() &&
                        std::equal(declared->loops.begin(), declared->loops.end(), set.loops.begin());
    if (!around) return -1;
    Wide times = 1;
    for (size_t k = declared->loops.size(); k < set.loops.size(); ++k) {
      const For& loop = *set.loops[k];
      const ClosedInterval begin = closed_interval(loop.begin, axes_, {}),
                           end = closed_interval(loop.end, axes_, {});
      const Wide trips = (Wide{end.high} - begin.low + loop.step - 1) / loop.step;
      times *= std::clamp<Wide>(trips, 0, INT32_MAX);
      if (times > INT64_MAX / 2) return -1;
    }
    return times;
  }

  Kernel kernel_;
  std::vector<Interval> axes_;
  Sources sources_;
  std::set<int> found_;  // or being found
};

}  // namespace

ClosedInterval interval_with_registers(const Expr& e, const Kernel& kernel,
                                       const std::vector<Interval>& axes) {
  std::vector<Interval> known;  // the axes', and a register's for each read of one
  const Expr of_axes = substitute(e, [&](const Expr& x) {
    if (x->op != Op::kRead || x->index < kRegisters) return Expr();
    const Register& is = kernel.registers[static_cast<size_t>(x->index - kRegisters)];
    if (!is.range || is.range->high == INT64_MAX) return Expr();
    if (known.empty()) known = axes;
    known.push_back({is.range->low, is.range->high + 1});
    return cast(x->type, axis(static_cast<int>(known.size()) - 1));
  });
  return closed_interval(of_axes, known.empty() ? axes : known, {});
}

Kernel with_register_ranges(Kernel kernel) { return RegisterRanges(std::move(kernel)).run(); }

}  // namespace arenac
