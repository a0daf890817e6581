#include "tests/run_kernel.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "codegen/instructions.h"
#include "frontend/error.h"
#include "frontend/evaluate.h"

namespace arenac {
namespace {

class Machine {
 public:
  Machine(const Kernel& kernel, std::span<const int64_t> iterations, const ElementAt& at)
      : kernel_(kernel), iterations_(iterations), at_(at), registers_(kernel.registers.size()) {}

  void run() { run(kernel_.body); }

 private:
  void run(const Stmts& body) {
    for (const Stmt& s : body) std::visit([&](const auto& statement) { run(statement); }, s.is);
  }

  void run(const For& loop) {
    const int64_t begin = number(loop.begin), end = number(loop.end);
    const int64_t turns = begin < end ? ceil_div(end - begin, loop.step) : 0;
    for (int64_t t = 0; t < turns; ++t) {
      set_int(loop.axis, begin + (loop.sweep == Sweep::kUp ? t : turns - 1 - t) * loop.step);
      run(loop.body);
    }
    ints_.erase(loop.axis);
  }

  void run(const Lanes& lanes) {
    // Statement by statement, as if all lanes were at once: what one lane needs of another shows.
    for (const Stmt& s : lanes.body)
      for (int l = 0; l < lanes.count; ++l) {
        ints_[kLane] = lane_ = l;
        std::visit([&](const auto& statement) { run(statement); }, s.is);
      }
    lane_ = 0;
    ints_.erase(kLane);
  }

  void run(const When& when) { run(evaluate(when.condition).i ? when.body : when.otherwise); }
  void run(const Braces& braces) { run(braces.body); }
  void run(const Let& let) { set_int(let.axis, number(let.value)); }
  void run(const Barrier&) {}

  void run(const Declare& declare) {
    for (int r : declare.registers) {
      const int lanes = kernel_.registers[static_cast<size_t>(r)].lanes;
      registers_[static_cast<size_t>(r)].assign(static_cast<size_t>(lanes), {});
      if (declare.initial.empty()) continue;
      for (auto& value : registers_[static_cast<size_t>(r)]) value = evaluate(declare.initial);
    }
  }

  void run(const Define& define) {
    std::vector<std::optional<Scalar>>& lanes = registers_[static_cast<size_t>(define.reg)];
    if (lanes.size() <= static_cast<size_t>(lane_)) lanes.resize(static_cast<size_t>(lane_) + 1);
    lanes[static_cast<size_t>(lane_)] = within_range(define.reg, evaluate(define.value));
  }

  void run(const Set& set) {
    const Type from = set.value->type, to = set.target->type;
    const Scalar value = evaluate(set.value);
    if (set.target->index < kRegisters)
      return store(to, at_(set.target->index, number(set.target->args[0])), convert(to, from, value));
    const Register& r = kernel_.registers[static_cast<size_t>(set.target->index - kRegisters)];
    ARENAC_CHECK(r.holds == Register::Holds::kElements || from == to, "a register of another type");
    std::byte room[kStringBytes] = {};
    store(to, room, convert(to, from, value));
    *lane_of(set.target) = r.holds == Register::Holds::kElements
                               ? load(to, room)
                               : within_range(set.target->index - kRegisters, value);
  }

  Scalar within_range(int reg, Scalar value) const {
    const auto& range = kernel_.registers[static_cast<size_t>(reg)].range;
    ARENAC_CHECK(!range || (range->low <= value.i && value.i <= range->high),
                 "a register outside of its range");
    return value;
  }

  std::optional<Scalar>* lane_of(const Expr& read) {
    auto& lanes = registers_[static_cast<size_t>(read->index - kRegisters)];
    // A register of one lane that each lane defines has one value in each.
    const auto here = static_cast<size_t>(lane_);
    const size_t l = !read->args.empty() ? static_cast<size_t>(number(read->args[0]))
                     : lanes.size() == 1 ? 0
                                         : here;
    ARENAC_CHECK(l < lanes.size(), "a register that is not declared");
    return &lanes[l];
  }

  void set_int(int a, int64_t value) {
    const auto [begin, end] = a >= kInts ? kernel_.ints[static_cast<size_t>(a - kInts)].range
                                         : kernel_.axes[static_cast<size_t>(a)];
    ARENAC_CHECK(begin <= value && value < end,
                 fmt::format("int {} = {} outside [{}, {})", a, value, begin, end));
    ints_[a] = value;
  }

  int64_t number(const Expr& e) { return evaluate(e).i; }

  Scalar evaluate(const Expr& e) {
    return arenac::evaluate(e, [&](const Expr& leaf) {
      if (leaf->op == Op::kAxis) return int_of(leaf->index);
      return leaf->op == Op::kInstruction ? result_of(leaf) : content_of(leaf);
    });
  }

  Scalar int_of(int a) const {
    if (a < 0) return {.i = iterations_[static_cast<size_t>(-1 - a)]};
    const auto at = ints_.find(a);
    ARENAC_CHECK(at != ints_.end(), fmt::format("axis {} has no value here", a));
    return {.i = at->second};
  }

  Scalar content_of(const Expr& read) {
    if (read->index < kRegisters) return load(read->type, at_(read->index, number(read->args[0])));
    const std::optional<Scalar>& value = *lane_of(read);
    ARENAC_CHECK(value.has_value(), "a register is read before it is set");
    return *value;
  }

  Scalar result_of(const Expr& e) {
    const Instruction& row = instructions()[static_cast<size_t>(e->index)];
    std::vector<Scalar> operands;
    for (size_t k = 0; k < e->args.size(); ++k) {
      const Expr& arg = e->args[k];
      if (!reads_elements(row, k)) operands.push_back(evaluate(arg));
      const int64_t apart = row.is_apart && k == 0 ? evaluate(e->args[2]).i : 1;
      for (int n = 0; reads_elements(row, k) && n < row.elements; ++n)
        operands.push_back(load(arg->type, at_(arg->index, number(arg->args[0]) + n * apart)));
    }
    return row.meaning(operands);
  }

  const Kernel& kernel_;
  std::span<const int64_t> iterations_;
  const ElementAt& at_;
  std::map<int, int64_t> ints_;
  std::vector<std::vector<std::optional<Scalar>>> registers_;  // per lane
  int lane_ = 0;
};

}  // namespace

void run_kernel(const Kernel& kernel, std::span<const int64_t> iterations, const ElementAt& at) {
  Machine(kernel, iterations, at).run();
}

}  // namespace arenac
