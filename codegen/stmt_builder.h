// Puts statements where the one that is being made stands; loops and conditions take what makes their body.
//
//   at.loop(i, integer(0), integer(16), 1, [&] { at.put(Set{...}); });       for i in [0, 16): ... = ...
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

  template <typename Body>
  Stmts body_of(const Body& body) {
    Stmts made;
    std::swap(made, here_);
    body();
    std::swap(made, here_);
    return made;
  }
  template <typename S>
  void put(S statement) {
    here_.push_back({std::move(statement)});
  }
  void put_all(Stmts statements) {
    std::move(statements.begin(), statements.end(), std::back_inserter(here_));
  }
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

  Expr new_int(std::string name, Interval range) {
    kernel_.ints.push_back({std::move(name), range});
    ranges_.push_back(range);
    return axis(kInts + static_cast<int>(kernel_.ints.size()) - 1);
  }
  Expr new_int(std::string name, const Expr& value) {
    return new_int(std::move(name), interval(value, ranges_, {}));
  }
  Expr let(std::string name, const Expr& value) {
    const Expr number = new_int(std::move(name), value);
    put(Let{number->index, value});
    return number;
  }

  int new_register(std::string name, Type type, int lanes, Register::Holds holds = Register::Holds::kValues) {
    kernel_.registers.push_back({std::move(name), type, lanes, holds, {}});
    return static_cast<int>(kernel_.registers.size()) - 1;
  }
  // A register as a whole or at the lane that runs; at a certain lane of several.
  Expr at(int reg) const { return register_at(kernel_, reg); }
  Expr at(int reg, const Expr& lane) const { return register_at(kernel_, reg, lane); }
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
