// What a kernel does, between its schedule and its text: loops and assignments over the formulas of expr.h.
//
//   declare acc0                                y[i0] = sum over i1 of x[16 * i0 + i1], as For, Declare, Set
//   for i0 in [0, 16):
//     acc0 = 0
//     for i1 in [0, 16):
//       acc0 = acc0 + x0[16 * i0 + i1]
//     y[i0] = acc0
//
// A Kernel is made by lower_nest.h, changed by passes (Kernel -> Kernel), printed by c_kernel.h and run by
// the tests' interpreter. In its formulas
// - an axis is one of the nest's, kLane, or from kInts on one of the kernel's own ints; a negative one is
//   the iteration of a loop around the kernel;
// - a read is of an operand at one flat index; operand kResult is what the kernel writes, and those from
//   kRegisters on are its registers: without an index, or at the lane.
//
// The numbers of axes and operands say which they are, so that one Expr serves nests and kernels alike:
//
//   axis       .. -2 -1  | 0 1 2 ..        | 1000    | 1001 1002 ..
//              iteration | axes of a nest  | kLane   | Kernel::ints
//   operand              | 0 1 2 ..        | 2^20    | 2^20 + 1 ..
//                        | the node's reads | kResult | Kernel::registers
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/facts.h"
#include "scheduler/schedule.h"

namespace arenac {

constexpr int kLane = 1000;              // the axis that Lanes runs over
constexpr int kInts = kLane + 1;         // axes from here on: Kernel::ints
constexpr int kResult = 1 << 20;         // the operand that is written
constexpr int kRegisters = kResult + 1;  // operands from here on: Kernel::registers

struct Stmt;
using Stmts = std::vector<Stmt>;

// for (axis = begin; axis < end; axis += step) body; kDown: from the last of these to the first.
struct For {
  int axis;
  Expr begin, end;
  int64_t step;
  Sweep sweep;
  Stmts body;
};

// The body for each lane in [0, count): in any order, also all at once.
struct Lanes {
  int count;
  Stmts body;
  enum class Of : uint8_t { kSums, kOperands } of;  // operands: values that sums are made of
};

// Only a condition that the run decides is a statement: what is known before, lowering leaves out.
struct When {
  Expr condition;  // of type bool, over ints
  Stmts body, otherwise;
};

// Names that are known in it alone: a block of C. Blocks one after the other may call their ints alike.
struct Braces {
  Stmts body;
};

// const int axis = value;
struct Let {
  int axis;
  Expr value;
};

// Registers of one type, all lanes of the initial value: a constant, or empty for none yet.
struct Declare {
  std::vector<int> registers;
  Expr initial;
};

// A register (in Lanes: of this lane alone) that keeps this value.
struct Define {
  int reg;
  Expr value;
};

// target = value; a bare read (of the result or a register), converted to its type. The only statement that
// writes memory, so that what a kernel writes is found by looking at these alone.
struct Set {
  Expr target, value;
};

// Nothing; keeps a C compiler from vectorising the loop it is in (lower_terms.cc says why), or, where it
// makes small code, from moving loads up over it, where scalars already fill the registers. (Where it makes
// fast code, it finds room for some of them.)
struct Barrier {
  enum class Against : uint8_t { kVectors, kEarlyLoads } against;
};

struct Stmt {
  std::variant<For, Lanes, When, Braces, Let, Declare, Define, Set, Barrier> is;
};

// A variable of the kernel: a scalar, or an array of `lanes`, which compilers keep in vector registers where
// these suffice. Of kValues the C type is that of arithmetic (float for a float16), of kElements that of
// memory.
struct Register {
  std::string name;
  Type type;
  int lanes;                                                // 1: a scalar
  enum class Holds : uint8_t { kValues, kElements } holds;  // what is computed, or what is stored
  std::optional<ClosedInterval> range = {};                 // of an integer: what it holds at any time
};

// One function of C. Its parameters follow from what the body reads, writes and names (c_kernel.h). Axes,
// ints and registers are named by their places in these vectors.
struct Kernel {
  struct Int {
    std::string name;
    Interval range;
  };
  std::vector<Interval> axes;  // of the nest
  std::vector<Int> ints;
  std::vector<Register> registers;
  std::vector<int> numbers;  // of the ints: those it takes from a table, in its order
  bool widens;               // its sums are of converted values
  Stmts body;
  std::vector<std::string> names = {};  // of loops over axes; "" or none: i0, i1, ...
};

// What a kernel's axes run over, by the number that formulas give them: those of the nest, the lane, its
// ints.
std::vector<Interval> intervals_of(const Kernel& kernel);

// An element without the conversion that read() puts around small types: what Set writes.
Expr element(int operand, Type type, const Expr& index);
// Register `number` of the kernel: as a whole or at the lane that runs.
Expr register_at(const Kernel& kernel, int number);
// At a certain lane of several.
Expr register_at(const Kernel& kernel, int number, const Expr& lane);

// The statement with `change` of each formula of its own; the statements with that of all.
Stmt with_own_formulas(Stmt s, const std::function<Expr(const Expr&)>& change);
Stmts with_formulas(const Stmts& body, const std::function<Expr(const Expr&)>& change);
// The statement with `change` of what it holds.
Stmt with_bodies(Stmt s, const std::function<Stmts(const Stmts&)>& change);

// Whether it computes with values of the type, or keeps them in registers.
bool holds_type(const Kernel& kernel, Type type);

// Calls `visit` with every statement, and with what it holds behind it.
template <typename Visit>
void visit_statements(const Stmts& body, const Visit& visit) {
  for (const Stmt& s : body) {
    visit(s);
    if (const For* loop = std::get_if<For>(&s.is)) visit_statements(loop->body, visit);
    if (const Lanes* lanes = std::get_if<Lanes>(&s.is)) visit_statements(lanes->body, visit);
    if (const Braces* braces = std::get_if<Braces>(&s.is)) visit_statements(braces->body, visit);
    if (const When* when = std::get_if<When>(&s.is))
      visit_statements(when->body, visit), visit_statements(when->otherwise, visit);
  }
}

// Calls `visit` with every formula of the statement itself.
template <typename Visit>
void visit_formulas(const Stmt& s, const Visit& visit) {
  if (const For* loop = std::get_if<For>(&s.is)) visit(loop->begin), visit(loop->end);
  if (const When* when = std::get_if<When>(&s.is)) visit(when->condition);
  if (const Let* let = std::get_if<Let>(&s.is)) visit(let->value);
  if (const Define* define = std::get_if<Define>(&s.is)) visit(define->value);
  if (const Set* set = std::get_if<Set>(&s.is)) visit(set->target), visit(set->value);
}

}  // namespace arenac
