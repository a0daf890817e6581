#include "frontend/facts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "frontend/error.h"

namespace arenac {

// C++ truncates; where the signs differ and something is left over, the floor is one below:
//
//   floor_div(-7, 2) = -3 - 1 = -4      ceil_div(7, 2) = 3 + 1 = 4      ceil_div(-7, 2) = -3
int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0 && (a < 0) == (b < 0)); }

namespace {

// Exact for sums and products of two int64.
using Wide = __int128;

// Modulo 2^64.
int64_t wrapped(Wide value) { return static_cast<int64_t>(static_cast<uint64_t>(value)); }

using Closed = ClosedInterval;

// Of an operation's result before it is wrapped to its type.
// In 128 bits no sum or product of two int64 is lost, so that "does it leave its type?" is a comparison. An
// axis of extent 0 gives low > high, which no operation looks out for: nothing is computed there.
struct Unwrapped {
  Wide low, high;
};

Unwrapped unwrapped(Closed a) { return {a.low, a.high}; }
bool fits(Unwrapped a, Closed within) { return a.low >= within.low && a.high <= within.high; }

// An interval whose end is INT64_MAX has no end: both of its forms say so.
Closed closed(Interval i) { return {i.begin, i.end == INT64_MAX ? INT64_MAX : i.end - 1}; }
Closed hull(Closed a, Closed b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

// What every value of the type is within: of text, floats and integers of 64 bits everything.
Closed of_type(Type type) {
  const int bits = size_of(type) * 8;
  if (!is_integer(type) || bits == 64) return {INT64_MIN, INT64_MAX};
  if (type == Type::kBool) return {0, 1};
  if (!info(type).is_signed) return {0, (int64_t{1} << bits) - 1};
  return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

// The least and the greatest of a constant's elements at the indices within `box`. Tables of indices (of
// Gather, of a Resize) get narrow intervals by it, and so does what is read with them. Indices beyond the
// tensor are held at its edge: verify() finds those.
//
//   value [3,4], box {[1,1], [0,2]}        . . . .
//                                          x x x .        least and greatest of the x
//                                          . . . .
Closed of_values(const Value& value, std::vector<Closed> box) {
  if (!is_integer(value.type) || value.count() == 0) return of_type(value.type);
  if (box.size() != value.shape.size())
    box.assign(value.shape.size(), {0, INT64_MAX});  // read by its address
  Closed hull_of_all = {INT64_MAX, INT64_MIN};
  const auto walk = [&](const auto& self, size_t d, int64_t element) -> void {
    if (d == box.size()) {
      const int64_t v = load(value, element).i;
      hull_of_all = {std::min(hull_of_all.low, v), std::max(hull_of_all.high, v)};
      return;
    }
    const int64_t last = value.shape[d] - 1, high = std::clamp<int64_t>(box[d].high, 0, last);
    for (int64_t i = std::clamp<int64_t>(box[d].low, 0, last); i <= high; ++i)
      self(self, d + 1, element * value.shape[d] + i);
  };
  walk(walk, 0, 0);
  return hull_of_all;
}

// A product of two intervals has its extremes at corners of the rectangle that they span.
Unwrapped times(Closed a, Closed b) {
  const Wide products[] = {Wide{a.low} * b.low, Wide{a.low} * b.high, Wide{a.high} * b.low,
                           Wide{a.high} * b.high};
  return {*std::min_element(products, products + 4), *std::max_element(products, products + 4)};
}

// Truncating, by what is positive (b.low > 0). a / b is monotonous in a; in b it falls where a is positive
// and rises where a is negative. So corners suffice here, too:   [-7, 9] / [2, 3] = [-3, 4]
Closed quotient(Closed a, Closed b) {
  return hull({std::min(a.low / b.low, a.low / b.high), std::max(a.low / b.low, a.low / b.high)},
              {std::min(a.high / b.low, a.high / b.high), std::max(a.high / b.low, a.high / b.high)});
}

// Floor modulo, by what is positive. Where all of a is within one period of a fixed b, the result moves along
// with a; elsewhere it may be any remainder:
//
//   [9, 11] mod 8 = [1, 3]        [6, 9] mod 8 = [0, 7]
Closed modulo(Closed a, Closed b) {
  const bool one_period = b.low == b.high && floor_div(a.low, b.low) == floor_div(a.high, b.low);
  if (!one_period) return {0, b.high - 1};
  const Wide base = Wide{floor_div(a.low, b.low)} * b.low;
  return {static_cast<int64_t>(a.low - base), static_cast<int64_t>(a.high - base)};
}

Unwrapped unwrapped_range(const Expr& e, const std::vector<Interval>& axes,
                          std::span<const Tensor* const> reads);

// What leaves a type comes in again at its other end, so that such an interval is all of the type: an int8 of
// [100, 120] + 10 may be 110, and -126 as well. This is where an interval is cut down to its type; every
// operand has been through here before it is used.
Closed range(const Expr& e, const std::vector<Interval>& axes, std::span<const Tensor* const> reads) {
  const Closed type = of_type(e->type);
  const Unwrapped all = unwrapped_range(e, axes, reads);
  return fits(all, type) ? Closed{static_cast<int64_t>(all.low), static_cast<int64_t>(all.high)} : type;
}

// An operand that `reads` does not hold is one of which only the type is known: simplify_index passes none.
Closed range_of_read(const Expr& e, const std::vector<Interval>& axes, std::span<const Tensor* const> reads) {
  const bool known = e->index < static_cast<int>(reads.size()) && reads[e->index]->constant;
  if (!known) return of_type(e->type);
  std::vector<Closed> box;
  for (const Expr& index : e->args) box.push_back(range(index, axes, reads));
  return of_values(*reads[e->index]->constant, std::move(box));
}

// Of an operation that orders its operands, both of them known to be what an int64 is: of the uint64 above,
// nothing is known.
std::optional<Closed> ordered_range(Op op, Closed a, Closed b) {
  switch (op) {
    case Op::kDiv:
      return b.low > 0 && b.low <= b.high ? std::optional(quotient(a, b)) : std::nullopt;
    case Op::kMod:
      return b.low > 0 && b.low <= b.high ? std::optional(modulo(a, b)) : std::nullopt;
    case Op::kMin:
      return Closed{std::min(a.low, b.low), std::min(a.high, b.high)};
    case Op::kMax:
      return Closed{std::max(a.low, b.low), std::max(a.high, b.high)};
    default:
      return std::nullopt;
  }
}

// Interval arithmetic (Moore, "Interval Analysis", 1966) on the tree of an expression: sound, and sharp where
// each axis occurs once. i0 - i0 is not known to be 0; for that, affine forms cancel first.
Unwrapped unwrapped_range(const Expr& e, const std::vector<Interval>& axes,
                          std::span<const Tensor* const> reads) {
  const auto arg = [&](int k) { return range(e->args[k], axes, reads); };
  const Unwrapped unknown = unwrapped(of_type(e->type));
  switch (e->op) {
    case Op::kConst:
      return is_integer(e->type) ? Unwrapped{e->value.i, e->value.i} : unknown;
    case Op::kAxis:
      return unwrapped(e->index < 0 ? closed({0, e->extent}) : closed(axes.at(e->index)));
    case Op::kRead:
      return unwrapped(range_of_read(e, axes, reads));
    case Op::kCast:
      return is_integer(e->args[0]->type) ? unwrapped(arg(0)) : unknown;
    case Op::kNeg: {
      const Unwrapped a = unwrapped(arg(0));
      return {-a.high, -a.low};
    }
    case Op::kAdd: {
      const Closed a = arg(0), b = arg(1);
      return {Wide{a.low} + b.low, Wide{a.high} + b.high};
    }
    case Op::kSub: {
      const Closed a = arg(0), b = arg(1);
      return {Wide{a.low} - b.high, Wide{a.high} - b.low};
    }
    case Op::kMul:
      return times(arg(0), arg(1));
    case Op::kSelect:
      return unwrapped(hull(arg(1), arg(2)));
    case Op::kRequantize:
      return {-(1 << 22), 1 << 22};
    default:
      break;
  }
  if (e->args.size() != 2 || !is_integer(e->type)) return unknown;
  const Closed a = arg(0), b = arg(1);
  if (e->type == Type::kUint64 && (a.low < 0 || b.low < 0)) return unknown;
  const auto known = ordered_range(e->op, a, b);
  return known ? unwrapped(*known) : unknown;
}

// The inverse of collect().
Expr to_expr(const Affine& form, const std::vector<Expr>& atoms) {
  Expr sum = integer(form.constant);
  for (const auto& [a, c] : form.terms) sum = sum + atoms[a] * integer(c);
  return sum;
}

// A linear combination of atoms: sub-expressions that are not themselves sums or multiples.
struct Combination {
  Affine form;  // its "axes" are indices into atoms
  std::vector<Expr> atoms;
};

// Adds factor * e to `into`. Divisions, remainders and reads are atoms, equal ones one atom:
//
//   8 * (i0 / 3) + 2 * (i1 - i0 / 3)   ->   atoms {i0 / 3, i1},  6 * a0 + 2 * a1
//
// Coefficients wrap modulo 2^64, as the index does. A coefficient that becomes 0 leaves its atom unused.
void collect(const Expr& e, int64_t factor, Combination& into) {
  if (e->op == Op::kConst) {
    into.form.constant = wrapped(Wide{factor} * e->value.i + into.form.constant);
  } else if (e->op == Op::kAdd || e->op == Op::kSub) {
    collect(e->args[0], factor, into);
    collect(e->args[1], e->op == Op::kAdd ? factor : wrapped(-Wide{factor}), into);
  } else if (e->op == Op::kMul && e->args[1]->op == Op::kConst) {
    collect(e->args[0], wrapped(Wide{factor} * e->args[1]->value.i), into);
  } else if (e->op == Op::kMul && e->args[0]->op == Op::kConst) {
    collect(e->args[1], wrapped(Wide{factor} * e->args[0]->value.i), into);
  } else if (factor != 0) {
    size_t k = 0;
    while (k < into.atoms.size() && !same(into.atoms[k], e)) ++k;
    if (k == into.atoms.size()) into.atoms.push_back(e);
    into.form = into.form + Affine{0, {{static_cast<int>(k), factor}}};
  }
}

struct Division {
  Expr quotient, rest;
};

// e as d * quotient + rest, where that holds without wrapping and rest >= 0. The multiples of d among the
// summands of e make up the quotient; the constant is split by the floor, so that its rest is not negative:
//
//   12*i0 + 5*i1 + 7 by 4   ->   quotient 3*i0 + 1, rest 5*i1 + 3
//
// The rest may well be d or more: the callers look at its interval.
std::optional<Division> divided(const Expr& e, int64_t d, const std::vector<Interval>& axes) {
  Combination all;
  collect(e, 1, all);
  Affine quotient, rest;
  quotient.constant = floor_div(all.form.constant, d);
  rest.constant = static_cast<int64_t>(all.form.constant - Wide{quotient.constant} * d);
  for (const auto& [atom, c] : all.form.terms)
    (c % d == 0 ? quotient : rest).terms.emplace_back(atom, c % d == 0 ? c / d : c);
  const Division result = {to_expr(quotient, all.atoms), to_expr(rest, all.atoms)};
  const Closed q = range(result.quotient, axes, {}), r = range(result.rest, axes, {});
  const bool fits_type = fits({Wide{q.low} * d + r.low, Wide{q.high} * d + r.high}, of_type(Type::kInt64));
  return r.low >= 0 && fits_type ? std::optional(result) : std::nullopt;
}

// Of a division or a remainder: "x / 4" and "x % 4", not "x / i0".
bool by_positive_constant(const Expr& e, Op op) {
  return e->op == op && e->args[1]->op == Op::kConst && e->args[1]->value.i > 0;
}

// e as step * parts.quotient + parts.rest, the rest below the step.
struct Steps {
  int64_t step;
  Division parts;
};

// By the largest divisor of d, 1 and d apart, for which there are such: 1024 * i0 + (32 * i1 + i2) where that
// rest is below 1024. Then, with d = step * n and 0 <= rest < step,
//
//   (step * q + rest) / d = q / n            (step * q + rest) % d = step * (q % n) + rest
//
// and q is the smaller problem. Candidates for the step are what d and a coefficient have in common.
std::optional<Steps> in_steps(const Expr& e, int64_t d, const std::vector<Interval>& axes) {
  Combination all;
  collect(e, 1, all);
  std::optional<Steps> largest;
  for (const auto& [atom, c] : all.form.terms) {
    const int64_t step = std::gcd(c, d);
    if (step <= (largest ? largest->step : 1) || step == d) continue;
    const auto parts = divided(e, step, axes);
    if (parts && range(parts->rest, axes, {}).high < step) largest = {step, *parts};
  }
  return largest;
}

// e / d for e >= 0. The cases in turn; what none of them fits stays as it is:
//
//   (x / 3) / 4               x / 12                            one division for two
//   (x % 12) / 4              (x / 4) % 3                       remainders outside, where they meet others
//   (4*i0 + i1) / 4           i0             if i1 < 4          nothing is left over
//   (4*i0 + i1) / 4           i0 + i1 / 4                       the multiples come out, if not negative
//   (6*i0 + i1) / 12          i0 / 2         if i1 < 6          by steps of 6
//
// A quotient that may be negative stays inside: truncation would round the two parts apart.
Expr simplify_division(const Expr& e, int64_t d, const std::vector<Interval>& axes) {
  if (by_positive_constant(e, Op::kDiv)) {  // (x / a) / d is x / (a*d)
    int64_t both;
    // no int64 is as large as that divisor
    if (__builtin_mul_overflow(e->args[1]->value.i, d, &both)) return integer(0);
    return simplify_index(e->args[0] / integer(both), axes);
  }
  // (x % m) / d is (x / d) % (m / d) when d divides m; for x >= 0, as division truncates.
  if (by_positive_constant(e, Op::kMod) && e->args[1]->value.i % d == 0 &&
      range(e->args[0], axes, {}).low >= 0)
    return simplify_index((e->args[0] / integer(d)) % integer(e->args[1]->value.i / d), axes);
  const auto parts = divided(e, d, axes);
  if (!parts) return e / integer(d);
  if (range(parts->rest, axes, {}).high < d) return parts->quotient;
  if (!is_constant(parts->quotient, 0))
    return range(parts->quotient, axes, {}).low < 0
               ? e / integer(d)
               : parts->quotient + simplify_division(parts->rest, d, axes);
  const auto steps = in_steps(parts->rest, d, axes);
  return steps ? simplify_division(steps->parts.quotient, d / steps->step, axes) : e / integer(d);
}

// e % d, of any e: the floor modulo has the same rest wherever e begins.
//
//   (x % 12) % 4              x % 4
//   i1 % 4                    i1             if 0 <= i1 < 4
//   (4*i0 + i1) % 4           i1             if 0 <= i1 < 4
//   (6*i0 + i1) % 12          6 * (i0 % 2) + i1    if 0 <= i1 < 6
Expr simplify_modulo(const Expr& e, int64_t d, const std::vector<Interval>& axes) {
  if (by_positive_constant(e, Op::kMod) && e->args[1]->value.i % d == 0)
    return simplify_modulo(e->args[0], d, axes);
  const Closed whole = range(e, axes, {});
  if (whole.low >= 0 && whole.high < d) return e;
  const auto parts = divided(e, d, axes);
  if (!parts) return e % integer(d);
  if (range(parts->rest, axes, {}).high < d) return parts->rest;
  const auto steps = in_steps(parts->rest, d, axes);
  if (!steps) return parts->rest % integer(d);
  const auto& [step, of] = *steps;
  return simplify_modulo(of.quotient, d / step, axes) * integer(step) + of.rest;
}

// factor * ((linear / divisor) % modulus); modulus 0: none. A reshape writes its index as such digits of a
// number of mixed radix, one a dimension: of [2,3,4]  x / 12, (x / 4) % 3, x % 4.
struct Digit {
  Expr linear;
  int64_t divisor, modulus, factor;
};

Digit digit_of(const Expr& atom, int64_t factor) {
  Digit digit{atom, 1, 0, factor};
  if (by_positive_constant(digit.linear, Op::kMod)) {
    digit.modulus = digit.linear->args[1]->value.i;
    digit.linear = digit.linear->args[0];
  }
  if (by_positive_constant(digit.linear, Op::kDiv)) {
    digit.divisor = digit.linear->args[1]->value.i;
    digit.linear = digit.linear->args[0];
  }
  return digit;
}

// Joins two neighbouring digits of one linear index that is not negative into one, if their factors fit:
//
//   8 * (x / 4)          +  2 * (x % 4)        =   2 * x
//   12 * ((x / 12) % 5)  +  4 * ((x / 4) % 3)  =   4 * ((x / 4) % 15)
//
// A high digit without a modulus (0) has none when joined: 0 * 4 = 0.
bool join(Digit& high, const Digit& low, const std::vector<Interval>& axes) {
  const bool neighbours = low.modulus > 0 && Wide{high.divisor} == Wide{low.divisor} * low.modulus &&
                          Wide{high.factor} == Wide{low.factor} * low.modulus &&
                          same(high.linear, low.linear) && range(low.linear, axes, {}).low >= 0;
  int64_t modulus;
  if (!neighbours || __builtin_mul_overflow(high.modulus, low.modulus, &modulus)) return false;
  high = {low.linear, low.divisor, modulus, low.factor};
  return true;
}

// One join at a time, of as many digits as there are dimensions: these are few. Whether there was one.
bool join_any(std::vector<Digit>& digits, const std::vector<Interval>& axes) {
  for (size_t a = 0; a < digits.size(); ++a)
    for (size_t b = 0; b < digits.size(); ++b)
      if (a != b && join(digits[a], digits[b], axes)) {
        digits.erase(digits.begin() + static_cast<long>(b));
        return true;
      }
  return false;
}

}  // namespace

// Indices are multiplied by their strides and added first: of x[3,4] read as x[i/4, i%4], no index is affine,
// but their sum 4 * (i/4) + i%4 is i.
std::optional<Affine> affine_address(const std::vector<Expr>& indices, const std::vector<int64_t>& strides,
                                     const std::vector<Interval>& axes) {
  Combination all;
  for (size_t d = 0; d < indices.size(); ++d) collect(simplify_index(indices[d], axes), strides[d], all);
  std::vector<Digit> digits;
  for (const auto& [atom, factor] : all.form.terms) digits.push_back(digit_of(all.atoms[atom], factor));
  while (join_any(digits, axes)) {
  }
  Affine sum{all.form.constant, {}};
  for (const Digit& digit : digits) {
    Expr value = digit.linear;
    if (digit.divisor != 1) value = value / integer(digit.divisor);
    if (digit.modulus != 0) value = value % integer(digit.modulus);
    const auto form = affine_form(simplify_index(value, axes));
    if (!form) return std::nullopt;
    sum = sum + *form * digit.factor;
  }
  return sum;
}

int64_t Affine::coefficient(int axis) const {
  for (const auto& [a, c] : terms)
    if (a == axis) return c;
  return 0;
}

Affine operator+(const Affine& a, const Affine& b) {
  Affine sum{wrapped(Wide{a.constant} + b.constant), a.terms};
  for (const auto& [axis, c] : b.terms) {
    // the lowest number, as pairs order by the axis first and no term of the axis comes before it
    auto at = std::lower_bound(sum.terms.begin(), sum.terms.end(),
                               std::pair{axis, std::numeric_limits<int64_t>::min()});
    if (at != sum.terms.end() && at->first == axis) {
      at->second = wrapped(Wide{at->second} + c);
      if (at->second == 0) sum.terms.erase(at);
    } else {
      sum.terms.insert(at, {axis, c});
    }
  }
  return sum;
}

// Modulo 2^64 a product may vanish though neither factor is 0: 2^32 * 2^32. Such terms go, too.
Affine operator*(const Affine& a, int64_t factor) {
  Affine product{wrapped(Wide{a.constant} * factor), a.terms};
  for (auto& term : product.terms) term.second = wrapped(Wide{term.second} * factor);
  std::erase_if(product.terms, [](const auto& term) { return term.second == 0; });
  return product;
}

// An axis of extent 1 is always 0, whatever its coefficient: forms that differ there alone are of one
// address.
Affine without_still_axes(Affine form, const Nest& nest) {
  std::erase_if(form.terms,
                [&](const auto& term) { return term.first >= 0 && nest.axes[term.first].extent == 1; });
  return form;
}

// A product is affine where one side is a constant once it is an affine form itself: (i0 - i0 + 4) * i1 is.
std::optional<Affine> affine_form(const Expr& e) {
  switch (e->op) {
    case Op::kConst:
      return is_integer(e->type) ? std::optional(Affine{e->value.i, {}}) : std::nullopt;
    case Op::kAxis:
      return Affine{0, {{e->index, 1}}};
    case Op::kAdd:
    case Op::kSub: {
      const auto a = affine_form(e->args[0]), b = affine_form(e->args[1]);
      if (!a || !b) return std::nullopt;
      return *a + *b * (e->op == Op::kAdd ? 1 : -1);
    }
    case Op::kNeg: {
      const auto a = affine_form(e->args[0]);
      return a ? std::optional(*a * -1) : std::nullopt;
    }
    case Op::kMul: {
      const auto a = affine_form(e->args[0]), b = affine_form(e->args[1]);
      if (!a || !b) return std::nullopt;
      if (b->terms.empty()) return *a * b->constant;
      if (a->terms.empty()) return *b * a->constant;
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

// Less is asked than of an affine form: other axes may do as they like, so long as this one is not within a
// division, a remainder or a read. A factor of it is a literal, for any other would make it vary:
//
//   8*i2 + i1 % 3  ->  8 along i2, none along i1           i2 * i1  ->  none along either, 0 along i0
std::optional<int64_t> coefficient_along(const Expr& e, int axis) {
  switch (e->op) {
    case Op::kAxis:
      return e->index == axis;
    case Op::kAdd:
    case Op::kSub: {
      const auto a = coefficient_along(e->args[0], axis), b = coefficient_along(e->args[1], axis);
      if (!a || !b) return std::nullopt;
      return wrapped(e->op == Op::kAdd ? Wide{*a} + *b : Wide{*a} - *b);
    }
    case Op::kMul: {
      const auto a = coefficient_along(e->args[0], axis), b = coefficient_along(e->args[1], axis);
      if (a == 0 && b == 0) return 0;
      if (a && e->args[1]->op == Op::kConst) return wrapped(Wide{*a} * e->args[1]->value.i);
      if (b && e->args[0]->op == Op::kConst) return wrapped(Wide{*b} * e->args[0]->value.i);
      return std::nullopt;
    }
    default:
      break;
  }
  return names_axis(e, axis) ? std::nullopt : std::optional<int64_t>(0);
}

Nest with_substituted(Nest nest, const std::function<Expr(const Expr&)>& replace) {
  visit_expressions(nest, [&](Expr& e) { e = substitute(e, replace); });
  return nest;
}

// Axes below 0 are symbols of loops (expr.h).
bool is_iteration(const Expr& e) { return e->op == Op::kAxis && e->index < 0; }

bool writes_by_iteration(const Node& node) {
  const Nests* nests = std::get_if<Nests>(&node.body);
  return nests && std::ranges::any_of(*nests, [](const Nest& nest) {
           return std::ranges::any_of(nest.store,
                                      [](const Expr& index) { return any_of(index, is_iteration); });
         });
}

//   {i0, i2, i1 + 1} along i2  ->  1        along i1, which is shifted, or i3, which is absent  ->  none
std::optional<size_t> dimension_along(const std::vector<Expr>& indices, int a) {
  const auto names = [&](const Expr& index) { return names_axis(index, a); };
  const auto first = std::ranges::find_if(indices, names);
  if (first == indices.end() || !same(*first, axis(a)) || std::ranges::count_if(indices, names) > 1)
    return {};
  return static_cast<size_t>(first - indices.begin());
}

bool names_axis(const Expr& e, int axis) {
  return !e.empty() && any_of(e, [&](const Expr& x) { return x->op == Op::kAxis && x->index == axis; });
}

ClosedInterval closed_interval(const Expr& e, const std::vector<Interval>& axes,
                               std::span<const Tensor* const> reads) {
  return range(e, axes, reads);
}

// INT64_MAX + 1 is no int64: an end there says that there is none.
Interval interval(const Expr& e, const std::vector<Interval>& axes, std::span<const Tensor* const> reads) {
  const Closed r = range(e, axes, reads);
  return {r.low, r.high == INT64_MAX ? INT64_MAX : r.high + 1};
}

std::vector<Interval> axis_intervals(const Nest& nest) {
  std::vector<Interval> all;
  for (const Axis& a : nest.axes) all.push_back({0, a.extent});
  return all;
}

// From the leaves up, so that the rules above meet operands that are simple already. A read within an index
// stays as it is. A division whose dividend may be negative stays, as it truncates and the rules above take
// it for a floor.
Expr simplify_index(const Expr& e, const std::vector<Interval>& axes) {
  if (e->args.empty() || e->op == Op::kRead) return e;
  if (e->type != Type::kInt64) return e;
  std::vector<Expr> args;
  for (const Expr& arg : e->args) args.push_back(simplify_index(arg, axes));
  const Expr same_operation = with_arguments(e, std::move(args));
  if (by_positive_constant(same_operation, Op::kMod))
    return simplify_modulo(same_operation->args[0], same_operation->args[1]->value.i, axes);
  if (by_positive_constant(same_operation, Op::kDiv) && range(same_operation->args[0], axes, {}).low >= 0)
    return simplify_division(same_operation->args[0], same_operation->args[1]->value.i, axes);
  return same_operation;
}

namespace {

// Whether a factor leaves a zero beside it a zero: infinity * 0 and NaN * 0 are NaN. What only the run knows
// is not taken to be finite.
bool is_finite(const Expr& e, const Node& node, const Graph& graph) {
  if (!is_float(e->type)) return true;
  if (e->op == Op::kConst) return std::isfinite(e->value.f);
  if (e->op == Op::kCast) return is_finite(e->args[0], node, graph);
  if (e->op == Op::kRead) {
    const auto& constant = graph.tensors[node.reads[e->index]].constant;
    if (!constant) return false;
    for (int64_t k = 0; k < constant->count(); ++k)
      if (!std::isfinite(load(*constant, k).f)) return false;
    return true;
  }
  const bool keeps = e->op == Op::kAdd || e->op == Op::kSub || e->op == Op::kMul || e->op == Op::kNeg;
  return keeps && std::all_of(e->args.begin(), e->args.end(),
                              [&](const Expr& x) { return is_finite(x, node, graph); });
}

}  // namespace

// -0 counts as 0.
bool is_zero_product(const Expr& e, const Node& node, const Graph& graph) {
  if (e->op == Op::kConst) return is_float(e->type) ? e->value.f == 0 : e->value.i == 0;
  if (e->op == Op::kCast || e->op == Op::kNeg) return is_zero_product(e->args[0], node, graph);
  if (e->op != Op::kMul) return false;
  return (is_zero_product(e->args[0], node, graph) && is_finite(e->args[1], node, graph)) ||
         (is_zero_product(e->args[1], node, graph) && is_finite(e->args[0], node, graph));
}

}  // namespace arenac
