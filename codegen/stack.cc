#include "codegen/stack.h"

#include <algorithm>
#include <map>

#include "frontend/kernels.h"
#include "scheduler/slab_runs.h"

namespace arenac {
namespace {

// Words of frames beside what is counted: saved registers, the return address, alignment.
constexpr int64_t kSaved = 10;
// A function that a kernel calls where there is no instruction, or one of frontend/kernels.
constexpr int64_t kLeafWords = 8, kKernelBytes = 640;

// A bound by counting what each function names, not by compiling it: the header has to say it before there is
// a compiler. Words are those of the target, 4 bytes where sums are scalars and 8 where vectors are.
class Stack {
 public:
  Stack(const Lowered& lowered, Registers registers)
      : lowered_(lowered), word_(registers == Registers::kScalar ? 4 : 8) {}

  // The frames of NAME_invoke and NAME_run are always there; below them the deepest step or group. A struct
  // of what a group shares lies in NAME_run's frame.
  int64_t bound() const {
    const Schedule& schedule = lowered_.schedule;
    int64_t most = 0, own = 0;
    std::vector<bool> grouped(schedule.steps.size());
    for (const Group& group : schedule.groups) {
      own = std::max(own, words(8) + static_cast<int64_t>(group.stages.size() * sizeof(int32_t)));
      std::fill(grouped.begin() + group.begin, grouped.begin() + group.end, true);
      most = std::max(most, group_bytes(group));
    }
    for (size_t s = 0; s < grouped.size(); ++s) {
      if (!grouped[s]) most = std::max(most, step_bytes(s));
      const Node& node = *schedule.steps[s].node;
      own = std::max(own, words(node.reads.size() + node.writes.size()));
    }
    const auto pools = static_cast<int64_t>(lowered_.plan.pools.size());
    const int64_t callers = words(2 * kSaved + 4 * pools);  // NAME_invoke or NAME_feed, NAME_run
    return (callers + own + most + kAlign - 1) / kAlign * kAlign;
  }

 private:
  static constexpr int64_t kAlign = 16;

  template <typename Count>
  int64_t words(Count count) const {
    return static_cast<int64_t>(count) * word_;
  }

  // Of what a formula reads, the addresses: at worst each lies on the stack.
  int64_t addresses(const Stmt& s) const {
    int64_t reads = 0;
    visit_formulas(s, [&](const Expr& root) {
      any_of(root, [&](const Expr& e) {
        reads += e->op == Op::kRead && e->index < kRegisters ? 1 : 0;
        return false;
      });
    });
    return words(reads);
  }

  // What the statements name at once, for each of so many lanes. Blocks one after the other use the same
  // bytes, so of what they hold the most counts; loops have a counter and an end.
  //
  //   float acc0[8];            32          own
  //   for k: { v0; .. }         8 + 4       inner: the most of these two
  //   for l: { v1; v2; }        4 + 2 * 8 * 4
  int64_t named(const Kernel& kernel, const Stmts& body, int64_t lanes) const {
    // Nothing takes less than a word, and no element less than an int.
    const auto bytes_of = [&](int reg, int64_t times) {
      const Register& r = kernel.registers[static_cast<size_t>(reg)];
      return std::max(word_, times * r.lanes * std::max<int64_t>(size_of(r.type), 4));
    };
    int64_t own = 0, inner = 0;
    for (const Stmt& s : body) {
      own += addresses(s);
      if (std::holds_alternative<Let>(s.is)) own += words(1);
      if (const Define* define = std::get_if<Define>(&s.is)) own += bytes_of(define->reg, lanes);
      if (const Declare* declare = std::get_if<Declare>(&s.is))
        for (int reg : declare->registers) own += bytes_of(reg, 1);
      const auto holds = [&](const Stmts& held, int64_t times, int64_t more) {
        inner = std::max(inner, more + named(kernel, held, times));
      };
      if (const For* loop = std::get_if<For>(&s.is)) holds(loop->body, lanes, words(2));
      if (const Lanes* all = std::get_if<Lanes>(&s.is)) holds(all->body, all->count, words(1));
      if (const Braces* braces = std::get_if<Braces>(&s.is)) holds(braces->body, lanes, 0);
      if (const When* when = std::get_if<When>(&s.is))
        holds(when->body, lanes, 0), holds(when->otherwise, lanes, 0);
    }
    return own + inner;
  }

  // One nest after the other: the most. C kernels have arrays of their own.
  int64_t step_bytes(size_t step) const {
    if (std::holds_alternative<Call>(lowered_.schedule.steps[step].node->body)) return kKernelBytes;
    int64_t most = 0;
    for (const LoweredNest& nest : lowered_.steps[step])
      most = std::max(most, words(kSaved + nest.operands.read_types.size() + 1) +
                                named(nest.kernel, nest.kernel.body, 1) + words(kLeafWords));
    return most;
  }

  // Of the stages that a group's own functions call, the longest path.
  int64_t group_bytes(const Group& group) const {
    Paths paths{group, guests_of(group), {}};
    int64_t most = 0;
    for (size_t k = 0; k < group.stages.size(); ++k)
      most = std::max(most, stage_bytes(paths, static_cast<int>(k)));
    return most;
  }

  struct Paths {
    const Group& group;
    const Guests guests;
    std::map<int, int64_t> known;  // bytes from a stage on
  };

  // A stage calls its guests and the producers that it pulls, never two at a time: the deepest of these
  // paths. Each stage's is found once, for paths meet.
  int64_t stage_bytes(Paths& paths, int k) const {
    if (const auto at = paths.known.find(k); at != paths.known.end()) return at->second;
    const Stage& stage = paths.group.stages[static_cast<size_t>(k)];
    const std::vector<int>& guests = paths.guests[static_cast<size_t>(k)];
    int64_t below = step_bytes(static_cast<size_t>(stage.step));
    for (const int guest : guests) below = std::max(below, stage_bytes(paths, guest));
    for (const Pull& pull : stage.pulls) below = std::max(below, stage_bytes(paths, pull.producer));
    return paths.known[k] = words(kSaved + 2 * guests.size()) + below;
  }

  const Lowered& lowered_;
  const int64_t word_;
};

}  // namespace

int64_t stack_bound(const Lowered& lowered, Registers registers) { return Stack(lowered, registers).bound(); }

}  // namespace arenac
