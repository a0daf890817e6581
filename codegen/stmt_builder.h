// Puts statements where the one that is being made stands; loops and conditions take what makes their body.
//
//   at.loop(i, integer(0), integer(16), 1, [&] { at.put(Set{...}); });       for i in [0, 16): ... = ...
//
// Bodies are functions, so that C++ that makes a kernel is nested as the kernel is. `here_` is the body that
// is open:
//
//   at.loop(i, ..,                    here_ = {}, the outer one is put aside
//     [&] { at.put(a); at.put(b); })  here_ = {a, b}
//                                     here_ = {.., For{i, {a, b}}}
#pragma once

#include <utility>

#include "codegen/stmt.h"

namespace arenac {

class StmtBuilder {
 public:
  // For a kernel over these axes of a nest.
  StmtBuilder(std::vector<Interval> axes, int lanes) {
    kernel_.axes = std::move(axes);
    ranges_ = intervals_of(kernel_);
    ranges_[kLane] = {0, lanes};
  }

  // The kernel with all that was put. Ends the building.
  Kernel finish() {
    kernel_.body = std::move(here_);
    return std::move(kernel_);
  }

  // What `body` puts, as statements of their own instead of here.
  template <typename Body>
  Stmts body_of(const Body& body) {
    Stmts made;
    std::swap(made, here_);
    body();
    std::swap(made, here_);
    return made;
  }
  // Any of the alternatives of Stmt.
  template <typename S>
  void put(S statement) {
    here_.push_back({std::move(statement)});
  }
  void put_all(Stmts statements) {
    std::move(statements.begin(), statements.end(), std::back_inserter(here_));
  }
  // Counts up: what a loop over a reduced axis always does. (Loops over the output follow the plan's sweep,
  // so that results may lie over what is read; these are put as For.)
  template <typename Body>
  void loop(int a, Expr begin, Expr end, int64_t step, const Body& body) {
    put(For{a, std::move(begin), std::move(end), step, Sweep::kUp, body_of(body)});
  }
  // The body for all lanes; of one lane, as it is.
  template <typename Body>
  void lanes(int count, const Body& body, Lanes::Of of = Lanes::Of::kSums) {
    Stmts made = body_of(body);
    if (count > 1)
      put(Lanes{count, std::move(made), of});
    else
      put_all(std::move(made));
  }
  // An empty condition always holds.
  template <typename Body>
  void when(const Expr& condition, const Body& body) {
    if (condition.empty()) return body();
    put(When{condition, body_of(body), {}});
  }

  // An int of the kernel of which a Let or a loop gives the value later, and what it can be; of the second as
  // closed as the value's parts are known. The range decides which C is right: `/` and `%` for numbers from
  // 0, plain sums that cannot leave an int. The tests' interpreter checks that every int keeps to it.
  Expr new_int(std::string name, Interval range) {
    kernel_.ints.push_back({std::move(name), range});
    ranges_.push_back(range);
    return axis(kInts + static_cast<int>(kernel_.ints.size()) - 1);
  }
  Expr new_int(std::string name, const Expr& value) {
    return new_int(std::move(name), interval(value, ranges_, {}));
  }
  // const int name = value, here; the axis that stands for it.
  Expr let(std::string name, const Expr& value) {
    const Expr number = new_int(std::move(name), value);
    put(Let{number->index, value});
    return number;
  }

  // Declared by nobody yet: Declare or Define has to come before it is read.
  int new_register(std::string name, Type type, int lanes, Register::Holds holds = Register::Holds::kValues) {
    kernel_.registers.push_back({std::move(name), type, lanes, holds, {}});
    return static_cast<int>(kernel_.registers.size()) - 1;
  }
  // A register as a whole or at the lane that runs; at a certain lane of several.
  Expr at(int reg) const { return register_at(kernel_, reg); }
  Expr at(int reg, const Expr& lane) const { return register_at(kernel_, reg, lane); }
  // A scalar that keeps this value from here on.
  Expr define(std::string name, const Expr& value) {
    const int reg = new_register(std::move(name), value->type, 1);
    put(Define{reg, value});
    return at(reg);
  }

 private:
  Kernel kernel_ = {};
  std::vector<Interval> ranges_;  // of all axes, the kernel's ints behind kInts
  Stmts here_;
};

}  // namespace arenac
