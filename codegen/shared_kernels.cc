#include "codegen/shared_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

#include "frontend/facts.h"

namespace arenac {
namespace {

constexpr size_t kLettersANumber = 16;  // of a kernel's text, for each of its numbers: fewer are not worth it

// What stands for an open number.
// How it is found which kernels are one:
//
//   open every number        families: kernels whose text is the same with all numbers open
//   keep those that differ   columns: numbers equal in all members stay, equal columns are one
//   print                    each member with its open columns: if all texts are one, that is the kernel
//
// The printer is the judge. It sees every open number at its member's value, so whatever it decides by a
// number (a cast that one kernel needs and another does not) makes texts differ, and the family has no common
// kernel.
using Number = std::function<Expr(int64_t)>;

Expr opened_index(const Expr& e, const Number& number);

// Whether a table of ints holds it.
bool fits_table(int64_t value) {
  constexpr int64_t kInt = std::numeric_limits<int>::max();
  return -kInt <= value && value <= kInt;
}

// The arguments of an index, each opened.
Expr with_opened_arguments(const Expr& e, const Number& number) {
  std::vector<Expr> args;
  for (const Expr& arg : e->args) args.push_back(opened_index(arg, number));
  return args.empty() ? e : with_arguments(e, std::move(args));
}

// The leaf of e that is this axis.
Expr leaf_of(const Expr& e, int a) {
  Expr leaf;
  any_of(e, [&](const Expr& x) {
    if (x->op == Op::kAxis && x->index == a) leaf = x;
    return !leaf.empty();
  });
  return leaf;
}

// A formula of ints. Sums are opened in one order, whatever order they are in.
Expr opened_index(const Expr& e, const Number& number) {
  if (e->type != Type::kInt64) return e->type == Type::kBool ? with_opened_arguments(e, number) : e;
  const auto form = affine_form(e);
  if (!form) return with_opened_arguments(e, number);
  Expr sum;
  const auto add = [&](const Expr& term) { sum = sum.empty() ? term : sum + term; };
  for (const auto& [a, factor] : form->terms) {
    const Expr i = leaf_of(e, a);
    add(factor == 1 ? i : i * number(factor));
  }
  add(number(form->constant));
  return sum;
}

// The place of a sweep's number: its factor may be 1 in one kernel and -1 in another.
Expr opened_place(const Expr& e, const Number& number) {
  const auto form = affine_form(e);
  if (!form || form->terms.size() != 1 || form->terms[0].first < kInts) return opened_index(e, number);
  const auto [a, factor] = form->terms[0];
  return leaf_of(e, a) * number(factor) + number(form->constant);
}

// A formula of values: the indices of what it reads of operands, and zero points.
Expr opened_value(const Expr& e, const Number& number) {
  if (e->op == Op::kRead) {
    if (e->index > kResult || e->args.empty()) return e;
    return with_arguments(e, {opened_index(e->args[0], number)});
  }
  if (e->args.empty()) return e;
  const bool whole = e->type == Type::kInt32 || e->type == Type::kInt64;
  const bool opens =
      e->op == Op::kInstruction || (whole && (e->op == Op::kAdd || e->op == Op::kSub || e->op == Op::kMul));
  const auto is_number = [](const Expr& arg) {
    return arg->op == Op::kConst && (arg->type == Type::kInt32 || arg->type == Type::kInt64) &&
           fits_table(arg->value.i);
  };
  std::vector<Expr> args;
  for (const Expr& arg : e->args)
    args.push_back(opens && is_number(arg) ? cast(arg->type, number(arg->value.i))
                                           : opened_value(arg, number));
  return with_arguments(e, std::move(args));
}

// In the order of the statements, so that place n of two kernels of one tree is the same place.
Stmts opened(const Stmts& body, const Number& number) {
  Stmts made;
  for (const Stmt& s : body) {
    const bool values = std::holds_alternative<Set>(s.is) || std::holds_alternative<Define>(s.is);
    const bool names = std::holds_alternative<Let>(s.is);
    Stmt own = with_own_formulas(s, [&](const Expr& e) {
      return values ? opened_value(e, number) : names ? opened_place(e, number) : opened_index(e, number);
    });
    made.push_back(with_bodies(std::move(own), [&](const Stmts& inner) { return opened(inner, number); }));
  }
  return made;
}

// A kernel that takes the numbers at some of its open places, by the names k0, k1, ... The printer sees each
// at its value: two kernels of one text are then the same but for these.
struct OpenKernel {
  Kernel kernel;
  std::vector<int> numbers;  // at every open place
};

// What an open place takes: a number of the table (a negative one: it stays as it is) and so much.
struct Place {
  int column;
  int64_t more = 0;
};

// Numbers that do not fit a table are no places.
OpenKernel open(const Kernel& kernel, const std::function<Place(size_t)>& place_at) {
  OpenKernel made{kernel, {}};
  std::map<int, Expr> names;  // per column
  made.kernel.body = opened(kernel.body, [&](int64_t value) {
    if (!fits_table(value)) return integer(value);
    const auto [k, more] = place_at(made.numbers.size());
    made.numbers.push_back(static_cast<int>(value));
    if (k < 0) return integer(value);
    const auto [name, fresh] = names.emplace(k, axis(kInts + static_cast<int>(made.kernel.ints.size())));
    if (fresh) made.kernel.ints.push_back({fmt::format("k{}", k), {value - more, value - more + 1}});
    return name->second + integer(more);
  });
  for (const auto& [k, name] : names) made.kernel.numbers.push_back(name->index - kInts);
  return made;
}

bool has_loop(const Stmts& body) {
  bool any = false;
  visit_statements(body, [&](const Stmt& s) { any |= std::holds_alternative<For>(s.is); });
  return any;
}

// Loops in whole steps as those that end in a last whole step that does something again:
//
//   for i in steps of 2, to 8:                  for from_i in steps of 2, to 8:
//     ...                                         const int i = from_i < 6 ? from_i : 6;
//
// Of whole steps the last is just where it was, so nothing is done twice; but the tree is that of a loop with
// a rest. Not of innermost loops, where the minimum would be paid for every term.
Stmts with_last_steps(const Stmts& body, Kernel& kernel) {
  Stmts made;
  for (const Stmt& s : body) {
    Stmt same = with_bodies(s, [&](const Stmts& inner) { return with_last_steps(inner, kernel); });
    For* loop = std::get_if<For>(&same.is);
    if (loop && loop->axis < kInts && loop->step > 1 && loop->sweep == Sweep::kUp &&
        loop->end->op == Op::kConst && loop->begin->op == Op::kConst &&
        (loop->end->value.i - loop->begin->value.i) % loop->step == 0 && has_loop(loop->body)) {
      const auto a = static_cast<size_t>(loop->axis);
      const std::string name = a < kernel.names.size() ? kernel.names[a] : "";
      const Expr from = axis(kInts + static_cast<int>(kernel.ints.size()));
      kernel.ints.push_back({"from_" + name, {loop->begin->value.i, loop->end->value.i}});
      loop->body.insert(loop->body.begin(),
                        {Let{loop->axis, min(from, integer(loop->end->value.i - loop->step))}});
      loop->axis = from->index;
    }
    made.push_back(std::move(same));
  }
  return made;
}

Kernel with_last_steps(const Kernel& kernel) {
  Kernel made = kernel;
  made.body = with_last_steps(kernel.body, made);
  return made;
}

// Loops around loops as those that count up, whichever way they go:
//
//   for i from 7 down to 0:                     for from_i in [0, 8):
//     ...                                         const int i = -from_i + 7;
//
// The order of the elements is the same as before.
Stmts with_counters(const Stmts& body, Kernel& kernel) {
  Stmts made;
  for (const Stmt& s : body) {
    Stmt same = with_bodies(s, [&](const Stmts& inner) { return with_counters(inner, kernel); });
    For* loop = std::get_if<For>(&same.is);
    if (loop && loop->axis < kInts && loop->end->op == Op::kConst && loop->begin->op == Op::kConst &&
        (loop->end->value.i - loop->begin->value.i) % loop->step == 0 && has_loop(loop->body)) {
      const auto a = static_cast<size_t>(loop->axis);
      const int64_t begin = loop->begin->value.i, end = loop->end->value.i, step = loop->step;
      const int64_t count = (end - begin) / step;
      const Expr from = axis(kInts + static_cast<int>(kernel.ints.size()));
      kernel.ints.push_back({"from_" + (a < kernel.names.size() ? kernel.names[a] : ""), {0, count}});
      const Expr place = loop->sweep == Sweep::kUp ? from * integer(step) + integer(begin)
                                                   : from * integer(-step) + integer(end - step);
      loop->body.insert(loop->body.begin(), {Let{loop->axis, place}});
      *loop = For{from->index, integer(0), integer(count), 1, Sweep::kUp, std::move(loop->body)};
    }
    made.push_back(std::move(same));
  }
  return made;
}

Kernel with_counters(const Kernel& kernel) {
  Kernel made = kernel;
  made.body = with_counters(kernel.body, made);
  return made;
}

// The statements with other numbers for axes and ints.
Stmts renumbered(const Stmts& body, const std::map<int, int>& number) {
  Stmts made;
  for (const Stmt& s : body) {
    Stmt own = with_own_formulas(s, [&](const Expr& e) {
      if (e.empty()) return e;
      return substitute(e, [&](const Expr& x) {
        const auto at = x->op == Op::kAxis ? number.find(x->index) : number.end();
        return at == number.end() ? Expr() : axis(at->second);
      });
    });
    if (For* loop = std::get_if<For>(&own.is)) loop->axis = number.at(loop->axis);
    if (Let* let = std::get_if<Let>(&own.is)) let->axis = number.at(let->axis);
    made.push_back(
        with_bodies(std::move(own), [&](const Stmts& inner) { return renumbered(inner, number); }));
  }
  return made;
}

// The kernel with its axes and ints numbered as they come.
// Kernels of one tree may have their axes in another order, or others of one value between: what comes first
// is number 0.
Kernel renumbered(const Kernel& kernel) {
  std::vector<int> axes, ints;
  const auto see = [](std::vector<int>& seen, int a) {
    if (std::find(seen.begin(), seen.end(), a) == seen.end()) seen.push_back(a);
  };
  const auto come = [&](int a) { see(a < kInts ? axes : ints, a); };
  visit_statements(kernel.body, [&](const Stmt& s) {
    if (const For* loop = std::get_if<For>(&s.is)) come(loop->axis);
    if (const Let* let = std::get_if<Let>(&s.is)) come(let->axis);
  });
  for (size_t a = 0; a < kernel.axes.size(); ++a) come(static_cast<int>(a));
  for (size_t a = 0; a < kernel.ints.size(); ++a) come(kInts + static_cast<int>(a));
  Kernel made = kernel;
  std::map<int, int> number;
  made.names.resize(axes.size());
  for (size_t k = 0; k < axes.size(); ++k) {
    const auto from = static_cast<size_t>(axes[k]);
    number[axes[k]] = static_cast<int>(k);
    made.axes[k] = kernel.axes[from];
    made.names[k] = from < kernel.names.size() ? kernel.names[from] : "";
  }
  for (size_t k = 0; k < ints.size(); ++k) {
    number[ints[k]] = kInts + static_cast<int>(k);
    made.ints[k] = kernel.ints[static_cast<size_t>(ints[k] - kInts)];
  }
  made.body = renumbered(kernel.body, number);
  return made;
}

// The kernel with the names of another of the same axes and ints.
Kernel named_as(Kernel kernel, const Kernel& other) {
  kernel.names = other.names;
  for (size_t k = 0; k < kernel.ints.size(); ++k) kernel.ints[k].name = other.ints[k].name;
  return kernel;
}

// Names of axes are the operator's, and a convolution may share with a pooling.
Kernel without_names(Kernel kernel) {
  kernel.names.clear();
  for (size_t k = 0; k < kernel.ints.size(); ++k) kernel.ints[k].name = fmt::format("n{}", k);
  return kernel;
}

// One of the kernels that are compared.
struct Member {
  const LoweredNest* nest;
  Kernel kernel;          // renumbered
  std::string signature;  // by itself
  std::vector<int> numbers;
  size_t order;  // among those of the program
};

// No restrict: for when some members' pointers are apart and others' are not.
KernelOperands without_promises(KernelOperands operands) {
  for (Aliasing& how : operands.aliasing)
    if (how == Aliasing::kApart) how = Aliasing::kMixed;
  return operands;
}

// Lists of numbers that differ among the members, one number each, no two of which differ by a constant.
using Columns = std::vector<std::vector<int>>;

// What the numbers are more than those of a column, if that is the same for all.
std::optional<int64_t> more_than(const std::vector<int>& column, const std::vector<int>& numbers) {
  const int64_t more = int64_t{numbers[0]} - column[0];
  for (size_t k = 0; k < numbers.size(); ++k)
    if (int64_t{numbers[k]} - column[k] != more) return std::nullopt;
  return more;
}

Place place_in(const Columns& columns, const std::vector<int>& numbers) {
  for (size_t k = 0; k < columns.size(); ++k)
    if (const auto more = more_than(columns[k], numbers)) return {static_cast<int>(k), *more};
  return {-1};
}

std::vector<int> place_of(const std::vector<Member>& family, size_t place) {
  std::vector<int> numbers;
  for (const Member& member : family) numbers.push_back(member.numbers[place]);
  return numbers;
}

// A place whose number is the same in all members stays as it is: a constant is cheaper than a load. One that
// is another column and a constant more is written as that sum.
Columns open_columns_of(const std::vector<Member>& family) {
  Columns columns;
  for (size_t place = 0; place < family[0].numbers.size(); ++place) {
    const std::vector<int> numbers = place_of(family, place);
    const bool differ = std::any_of(numbers.begin(), numbers.end(), [&](int n) { return n != numbers[0]; });
    if (differ && place_in(columns, numbers).column < 0) columns.push_back(numbers);
  }
  return columns;
}

// The kernel for all of the family, if one text does for each of its members. Not where numbers would be most
// of it: then a table is more than what it saves. With restrict if all have it alike, else without. Names are
// those of the member that the program calls first.
std::optional<SharedKernel> shared(const std::vector<Member>& family, const std::string& prefix,
                                   Helpers& helpers) {
  const Columns columns = open_columns_of(family);
  if (columns.empty() || columns.size() * kLettersANumber > family[0].signature.size()) return std::nullopt;
  const auto place_at = [&](size_t place) { return place_in(columns, place_of(family, place)); };
  const auto before = [](const Member& a, const Member& b) { return a.order < b.order; };
  const Kernel& first = std::min_element(family.begin(), family.end(), before)->kernel;
  // Names go by number of the int, so members need as many.
  const auto has_ints = [&](const Member& m) { return m.kernel.ints.size() == first.ints.size(); };
  if (!std::all_of(family.begin(), family.end(), has_ints)) return std::nullopt;
  const auto text = [&](const auto& operands_of) -> std::string {
    std::string all;
    for (const Member& member : family) {
      const KernelOperands operands = operands_of(member.nest->operands);
      const std::string one =
          c_kernel(open(named_as(member.kernel, first), place_at).kernel, operands, prefix, helpers)
              .signature;
      if (!all.empty() && one != all) return "";
      all = one;
    }
    return all;
  };
  SharedKernel kernel{text([](const KernelOperands& operands) { return operands; }), {}};
  if (kernel.signature.empty()) kernel.signature = text(without_promises);
  if (kernel.signature.empty()) return std::nullopt;
  for (size_t k = 0; k < family.size(); ++k) {
    std::vector<int>& row = kernel.rows.emplace_back();
    for (const std::vector<int>& numbers : columns) row.push_back(numbers[k]);
  }
  return kernel;
}

// Kernels that one may do for.
using Families = std::map<std::string, std::vector<Member>>;  // by text with all numbers open and no names

std::string shape_of(const OpenKernel& open, const Member& member, const std::string& prefix,
                     Helpers& helpers) {
  return c_kernel(open.kernel, without_promises(member.nest->operands), prefix, helpers).signature;
}

// Puts the member into its family, with its numbers.
void put(Families& families, Member member, const std::string& prefix, Helpers& helpers) {
  OpenKernel all =
      open(without_names(member.kernel), [](size_t place) { return Place{static_cast<int>(place)}; });
  member.numbers = std::move(all.numbers);
  families[shape_of(all, member, prefix, helpers)].push_back(std::move(member));
}

// Adds a kernel for the members, if one does for two or more of them. Whether it does.
bool add_shared(SharedKernels& to, const std::vector<Member>& family, const std::string& prefix,
                Helpers& helpers) {
  if (family.size() < 2) return false;
  const auto kernel = shared(family, prefix, helpers);
  if (!kernel) return false;
  for (size_t k = 0; k < family.size(); ++k) to.rows[family[k].signature] = {to.kernels.size(), k};
  to.kernels.push_back(*kernel);
  return true;
}

// Changes that make one family of several.
constexpr Kernel (*kUnifiers[])(const Kernel&) = {with_last_steps, with_counters};

// The families that are left when those have a kernel each that are one when changed. The first member stands
// for its family when families are compared; that all of them fit is asked before any is taken out.
Families unified(Families families, Kernel (*change)(const Kernel&), const std::string& prefix,
                 Helpers& helpers, SharedKernels& to) {
  const auto changed = [&](Member member) {
    member.kernel = renumbered(change(member.kernel));
    return member;
  };
  std::map<std::string, std::vector<std::string>> parts;  // shapes of families, by that of them all
  for (const auto& [shape, family] : families) {
    Families one;
    put(one, changed(family[0]), prefix, helpers);
    parts[one.begin()->first].push_back(shape);
  }
  for (const auto& [shape, several] : parts) {
    Families joined;
    if (several.size() < 2) continue;
    for (const std::string& part : several)
      for (const Member& member : families[part]) put(joined, changed(member), prefix, helpers);
    if (joined.size() == 1 && add_shared(to, joined.begin()->second, prefix, helpers))
      for (const std::string& part : several) families.erase(part);
  }
  return families;
}

}  // namespace

// Families that a change makes one go first: alone, each would have a kernel of its own. Kernels with the
// same signature are one from the beginning.
SharedKernels shared_kernels(const std::vector<std::vector<LoweredNest>>& steps, const std::string& prefix,
                             Helpers& helpers) {
  std::map<std::string, Member> kernels;  // by signature
  for (const std::vector<LoweredNest>& step : steps)
    for (const LoweredNest& nest : step) {
      const std::string signature = c_kernel(nest.kernel, nest.operands, prefix, helpers).signature;
      kernels.emplace(signature, Member{&nest, renumbered(nest.kernel), signature, {}, kernels.size()});
    }
  Families families;
  for (const auto& [signature, member] : kernels) put(families, member, prefix, helpers);
  SharedKernels result;
  for (const auto change : kUnifiers)
    families = unified(std::move(families), change, prefix, helpers, result);
  for (const auto& [shape, family] : families) add_shared(result, family, prefix, helpers);
  return result;
}

}  // namespace arenac
