#include "codegen/stmt.h"

#include <algorithm>

namespace arenac {

// Dense: numbers between the nest's axes and kLane belong to no axis and are [0, 1). So the index of an
// interval is the number that formulas have for an axis. The lane runs to the widest of all registers, as no
// Lanes has more.
std::vector<Interval> intervals_of(const Kernel& kernel) {
  std::vector<Interval> all = kernel.axes;
  all.resize(kInts, {0, 1});
  for (const Register& r : kernel.registers) all[kLane].end = std::max<int64_t>(all[kLane].end, r.lanes);
  for (const Kernel::Int& number : kernel.ints) all.push_back(number.range);
  return all;
}

// By hand: read() puts a cast around types that arithmetic is not done in, and a target of Set must be bare.
Expr element(int operand, Type type, const Expr& index) {
  return Expr(std::make_shared<const Expr::Tree>(Expr::Tree{Op::kRead, type, {index}, {}, operand}));
}

namespace {

Expr register_leaf(const Kernel& kernel, int number, std::vector<Expr> index) {
  const Register& is = kernel.registers[static_cast<size_t>(number)];
  return Expr(std::make_shared<const Expr::Tree>(
      Expr::Tree{Op::kRead, is.type, std::move(index), {}, kRegisters + number}));
}

}  // namespace

Expr register_at(const Kernel& kernel, int number) {
  if (kernel.registers[static_cast<size_t>(number)].lanes == 1) return register_leaf(kernel, number, {});
  return register_leaf(kernel, number, {axis(kLane)});
}

Expr register_at(const Kernel& kernel, int number, const Expr& lane) {
  return register_leaf(kernel, number, {lane});
}

// Here and in visit_statements() are the only lists of what holds statements; with_own_formulas() and
// visit_formulas() are those of what holds formulas. A new alternative of Stmt has its lines in these four.
Stmt with_bodies(Stmt s, const std::function<Stmts(const Stmts&)>& change) {
  if (For* loop = std::get_if<For>(&s.is)) loop->body = change(loop->body);
  if (Lanes* lanes = std::get_if<Lanes>(&s.is)) lanes->body = change(lanes->body);
  if (Braces* braces = std::get_if<Braces>(&s.is)) braces->body = change(braces->body);
  if (When* when = std::get_if<When>(&s.is))
    when->body = change(when->body), when->otherwise = change(when->otherwise);
  return s;
}

Stmt with_own_formulas(Stmt s, const std::function<Expr(const Expr&)>& change) {
  if (For* loop = std::get_if<For>(&s.is)) loop->begin = change(loop->begin), loop->end = change(loop->end);
  if (When* when = std::get_if<When>(&s.is)) when->condition = change(when->condition);
  if (Let* let = std::get_if<Let>(&s.is)) let->value = change(let->value);
  if (Define* define = std::get_if<Define>(&s.is)) define->value = change(define->value);
  if (Set* set = std::get_if<Set>(&s.is)) set->target = change(set->target), set->value = change(set->value);
  return s;
}

Stmts with_formulas(const Stmts& body, const std::function<Expr(const Expr&)>& change) {
  Stmts made;
  for (const Stmt& s : body)
    made.push_back(with_bodies(with_own_formulas(s, change),
                               [&](const Stmts& inner) { return with_formulas(inner, change); }));
  return made;
}

// Anywhere in its formulas, between two conversions too: the C then needs what that type takes for granted.
bool holds_type(const Kernel& kernel, Type type) {
  bool holds = std::ranges::any_of(kernel.registers, [&](const Register& r) { return r.type == type; });
  visit_statements(kernel.body, [&](const Stmt& s) {
    visit_formulas(s, [&](const Expr& root) {
      holds = holds || any_of(root, [&](const Expr& e) { return e->type == type; });
    });
  });
  return holds;
}

}  // namespace arenac
