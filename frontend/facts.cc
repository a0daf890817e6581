#include "frontend/facts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "frontend/error.h"

namespace arenac {

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0 && (a < 0) == (b < 0)); }

namespace {

// Wide enough for every index, narrow enough that products of two do not overflow in 128 bits.
constexpr int64_t kFar = int64_t{1} << 62;

int64_t clamp(__int128 value) { return static_cast<int64_t>(std::clamp<__int128>(value, -kFar, kFar)); }

// Closed bounds are easier to calculate with.
struct Closed {
  int64_t low, high;
};

Closed closed(Interval i) { return {i.begin, i.end - 1}; }
Closed hull(Closed a, Closed b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

Closed of_type(Type type) {
  const int bits = size_of(type) * 8;
  if (!is_integer(type) || bits == 64) return {-kFar, kFar};
  if (type == Type::kBool) return {0, 1};
  if (!info(type).is_signed) return {0, (int64_t{1} << bits) - 1};
  return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

// The elements at the indices within `box`.
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

Closed times(Closed a, Closed b) {
  const __int128 products[] = {__int128{a.low} * b.low, __int128{a.low} * b.high, __int128{a.high} * b.low,
                               __int128{a.high} * b.high};
  return {clamp(*std::min_element(products, products + 4)), clamp(*std::max_element(products, products + 4))};
}

Closed unwrapped_range(const Expr& e, const std::vector<Interval>& axes,
                       std::span<const Tensor* const> reads);

// What leaves a narrow type comes in again at its other end.
Closed range(const Expr& e, const std::vector<Interval>& axes, std::span<const Tensor* const> reads) {
  const Closed unwrapped = unwrapped_range(e, axes, reads), type = of_type(e->type);
  return unwrapped.low >= type.low && unwrapped.high <= type.high ? unwrapped : type;
}

Closed unwrapped_range(const Expr& e, const std::vector<Interval>& axes,
                       std::span<const Tensor* const> reads) {
  const auto arg = [&](int k) { return range(e->args[k], axes, reads); };
  switch (e->op) {
    case Op::kConst:
      return is_integer(e->type) ? Closed{e->value.i, e->value.i} : of_type(e->type);
    case Op::kAxis:
      return e->index < 0 ? Closed{0, e->extent - 1} : closed(axes.at(e->index));
    case Op::kRead: {
      const bool known = e->index < static_cast<int>(reads.size()) && reads[e->index]->constant;
      if (!known) return of_type(e->type);
      std::vector<Closed> box;
      for (const Expr& index : e->args) box.push_back(range(index, axes, reads));
      return of_values(*reads[e->index]->constant, std::move(box));
    }
    case Op::kCast: {
      const Closed from = arg(0), to = of_type(e->type);
      const bool fits = !is_float(e->args[0]->type) && from.low >= to.low && from.high <= to.high;
      return fits ? from : to;
    }
    case Op::kNeg: {
      const Closed a = arg(0);
      return {-a.high, -a.low};
    }
    case Op::kAdd: {
      const Closed a = arg(0), b = arg(1);
      return {clamp(__int128{a.low} + b.low), clamp(__int128{a.high} + b.high)};
    }
    case Op::kSub: {
      const Closed a = arg(0), b = arg(1);
      return {clamp(__int128{a.low} - b.high), clamp(__int128{a.high} - b.low)};
    }
    case Op::kMul:
      return times(arg(0), arg(1));
    case Op::kDiv: {
      const Closed a = arg(0), b = arg(1);
      if (b.low <= 0) break;
      return hull({a.low / b.low, a.high / b.low}, {a.low / b.high, a.high / b.high});
    }
    case Op::kMod: {
      const Closed a = arg(0), b = arg(1);
      if (b.low <= 0) break;
      const bool one_period = b.low == b.high && floor_div(a.low, b.low) == floor_div(a.high, b.low);
      if (!one_period) return {0, b.high - 1};
      const int64_t base = floor_div(a.low, b.low) * b.low;
      return {a.low - base, a.high - base};
    }
    case Op::kMin: {
      const Closed a = arg(0), b = arg(1);
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    }
    case Op::kMax: {
      const Closed a = arg(0), b = arg(1);
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    }
    case Op::kSelect:
      return hull(arg(1), arg(2));
    default:
      break;
  }
  return of_type(e->type);
}

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

void collect(const Expr& e, int64_t factor, Combination& into) {
  if (e->op == Op::kConst) {
    into.form.constant += factor * e->value.i;
  } else if (e->op == Op::kAdd || e->op == Op::kSub) {
    collect(e->args[0], factor, into);
    collect(e->args[1], e->op == Op::kAdd ? factor : -factor, into);
  } else if (e->op == Op::kMul && e->args[1]->op == Op::kConst) {
    collect(e->args[0], factor * e->args[1]->value.i, into);
  } else if (e->op == Op::kMul && e->args[0]->op == Op::kConst) {
    collect(e->args[1], factor * e->args[0]->value.i, into);
  } else {
    size_t k = 0;
    while (k < into.atoms.size() && !same(into.atoms[k], e)) ++k;
    if (k == into.atoms.size()) into.atoms.push_back(e);
    into.form = into.form + Affine{0, {{static_cast<int>(k), factor}}};
  }
}

// e = d * quotient + rest with the multiples of d moved into the quotient.
std::pair<Expr, Expr> split_multiples(const Expr& e, int64_t d) {
  Combination all;
  collect(e, 1, all);
  Affine quotient, rest;
  quotient.constant = floor_div(all.form.constant, d);
  rest.constant = all.form.constant - quotient.constant * d;
  for (const auto& [atom, c] : all.form.terms)
    (c % d == 0 ? quotient : rest).terms.emplace_back(atom, c % d == 0 ? c / d : c);
  return {to_expr(quotient, all.atoms), to_expr(rest, all.atoms)};
}

Expr simplify_division(const Expr& e, int64_t d, const std::vector<Interval>& axes) {
  // (x / a) / b is x / (a*b), and (x % m) / d is (x / d) % (m / d) when d divides m; both for x >= 0.
  if (e->op == Op::kDiv && e->args[1]->op == Op::kConst && e->args[1]->value.i > 0)
    return simplify_index(e->args[0] / integer(e->args[1]->value.i * d), axes);
  if (e->op == Op::kMod && e->args[1]->op == Op::kConst && e->args[1]->value.i % d == 0)
    return simplify_index((e->args[0] / integer(d)) % integer(e->args[1]->value.i / d), axes);
  const auto [quotient, rest] = split_multiples(e, d);
  const Closed r = range(rest, axes, {});
  if (r.low >= 0 && r.high < d) return quotient;
  return e / integer(d);
}

Expr simplify_modulo(const Expr& e, int64_t d, const std::vector<Interval>& axes) {
  if (e->op == Op::kMod && e->args[1]->op == Op::kConst && e->args[1]->value.i % d == 0)
    return simplify_modulo(e->args[0], d, axes);
  const Closed whole = range(e, axes, {});
  if (whole.low >= 0 && whole.high < d) return e;
  const auto [quotient, rest] = split_multiples(e, d);
  const Closed r = range(rest, axes, {});
  if (r.low >= 0 && r.high < d) return rest;
  return e % integer(d);
}

// (linear / divisor) % modulus; modulus 0: none.
struct Digit {
  Expr linear;
  int64_t divisor, modulus, factor;
};

Digit digit_of(const Expr& atom, int64_t factor) {
  const auto by_constant = [](const Expr& e, Op op) { return e->op == op && e->args[1]->op == Op::kConst; };
  Digit digit{atom, 1, 0, factor};
  if (by_constant(digit.linear, Op::kMod)) {
    digit.modulus = digit.linear->args[1]->value.i;
    digit.linear = digit.linear->args[0];
  }
  if (by_constant(digit.linear, Op::kDiv)) {
    digit.divisor = digit.linear->args[1]->value.i;
    digit.linear = digit.linear->args[0];
  }
  return digit;
}

// Joins two neighbouring digits of one linear index into one, if their factors fit.
bool join(Digit& high, const Digit& low) {
  const bool fits = low.modulus > 0 && high.divisor == low.divisor * low.modulus &&
                    high.factor == low.factor * low.modulus && same(high.linear, low.linear);
  if (!fits) return false;
  high = {low.linear, low.divisor, high.modulus * low.modulus, low.factor};
  return true;
}

bool join_any(std::vector<Digit>& digits) {
  for (size_t a = 0; a < digits.size(); ++a)
    for (size_t b = 0; b < digits.size(); ++b)
      if (a != b && join(digits[a], digits[b])) {
        digits.erase(digits.begin() + static_cast<long>(b));
        return true;
      }
  return false;
}

}  // namespace

std::optional<Affine> affine_address(const std::vector<Expr>& indices, const std::vector<int64_t>& strides,
                                     const std::vector<Interval>& axes) {
  Combination all;
  for (size_t d = 0; d < indices.size(); ++d) collect(simplify_index(indices[d], axes), strides[d], all);
  std::vector<Digit> digits;
  for (const auto& [atom, factor] : all.form.terms) digits.push_back(digit_of(all.atoms[atom], factor));
  while (join_any(digits)) {
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
  Affine sum{a.constant + b.constant, a.terms};
  for (const auto& [axis, c] : b.terms) {
    auto at = std::lower_bound(sum.terms.begin(), sum.terms.end(),
                               std::pair{axis, std::numeric_limits<int64_t>::min()});
    if (at != sum.terms.end() && at->first == axis) {
      at->second += c;
      if (at->second == 0) sum.terms.erase(at);
    } else {
      sum.terms.insert(at, {axis, c});
    }
  }
  return sum;
}

Affine operator*(const Affine& a, int64_t factor) {
  if (factor == 0) return {};
  Affine product{a.constant * factor, a.terms};
  for (auto& term : product.terms) term.second *= factor;
  return product;
}

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

std::optional<int64_t> coefficient_along(const Expr& e, int axis) {
  switch (e->op) {
    case Op::kAxis:
      return e->index == axis;
    case Op::kAdd:
    case Op::kSub: {
      const auto a = coefficient_along(e->args[0], axis), b = coefficient_along(e->args[1], axis);
      if (!a || !b) return std::nullopt;
      return e->op == Op::kAdd ? *a + *b : *a - *b;
    }
    case Op::kMul: {
      const auto a = coefficient_along(e->args[0], axis), b = coefficient_along(e->args[1], axis);
      if (a == 0 && b == 0) return 0;
      if (a && e->args[1]->op == Op::kConst) return *a * e->args[1]->value.i;
      if (b && e->args[0]->op == Op::kConst) return *b * e->args[0]->value.i;
      return std::nullopt;
    }
    default:
      break;
  }
  return names_axis(e, axis) ? std::nullopt : std::optional<int64_t>(0);
}

bool names_axis(const Expr& e, int axis) {
  return !e.empty() && any_of(e, [&](const Expr& x) { return x->op == Op::kAxis && x->index == axis; });
}

Interval interval(const Expr& e, const std::vector<Interval>& axes, std::span<const Tensor* const> reads) {
  const Closed r = range(e, axes, reads);
  return {r.low, r.high + 1};
}

std::vector<Interval> axis_intervals(const Nest& nest) {
  std::vector<Interval> all;
  for (const Axis& a : nest.axes) all.push_back({0, a.extent});
  return all;
}

Expr simplify_index(const Expr& e, const std::vector<Interval>& axes) {
  if (e->args.empty() || e->op == Op::kRead) return e;
  if (e->type != Type::kInt64) return e;
  std::vector<Expr> args;
  for (const Expr& arg : e->args) args.push_back(simplify_index(arg, axes));
  const bool by_constant = args.size() == 2 && args[1]->op == Op::kConst && args[1]->value.i > 0;
  if (by_constant && range(args[0], axes, {}).low >= 0) {
    if (e->op == Op::kDiv) return simplify_division(args[0], args[1]->value.i, axes);
    if (e->op == Op::kMod) return simplify_modulo(args[0], args[1]->value.i, axes);
  }
  if (e->op == Op::kSelect) return select(args[0], args[1], args[2]);
  if (e->op == Op::kCast) return cast(e->type, args[0]);
  return make(e->op, std::move(args));
}

namespace {

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

bool is_zero_product(const Expr& e, const Node& node, const Graph& graph) {
  if (e->op == Op::kConst) return is_float(e->type) ? e->value.f == 0 : e->value.i == 0;
  if (e->op == Op::kCast || e->op == Op::kNeg) return is_zero_product(e->args[0], node, graph);
  if (e->op != Op::kMul) return false;
  return (is_zero_product(e->args[0], node, graph) && is_finite(e->args[1], node, graph)) ||
         (is_zero_product(e->args[1], node, graph) && is_finite(e->args[0], node, graph));
}

}  // namespace arenac
