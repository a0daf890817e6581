#include "frontend/expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "frontend/error.h"
#include "frontend/float_functions.h"

namespace arenac {
namespace {

// One row an Op, in the order of the enum: info() indexes by its number. The arity is what make() demands; a
// row with 0 or -1 (the indices of an element, the operands of an instruction) is built by a function of its
// own. A libm name is the double's: C code appends an f to it for float32. `round` has none, as C's round()
// goes away from zero at ties and Op::kRound to even, to a zero of either sign.
constexpr OpInfo kOps[] = {
    {Op::kConst, "const", 0, false, nullptr},
    {Op::kAxis, "axis", 0, false, nullptr},
    {Op::kRead, "read", -1, false, nullptr},
    {Op::kAcc, "acc", 0, false, nullptr},
    {Op::kNeg, "neg", 1, false, nullptr},
    {Op::kAbs, "abs", 1, false, "fabs"},
    {Op::kSqrt, "sqrt", 1, false, "sqrt"},
    {Op::kExp, "exp", 1, false, "exp"},
    {Op::kLog, "log", 1, false, "log"},
    {Op::kSin, "sin", 1, false, "sin"},
    {Op::kCos, "cos", 1, false, "cos"},
    {Op::kTan, "tan", 1, false, "tan"},
    {Op::kAsin, "asin", 1, false, "asin"},
    {Op::kAcos, "acos", 1, false, "acos"},
    {Op::kAtan, "atan", 1, false, "atan"},
    {Op::kSinh, "sinh", 1, false, "sinh"},
    {Op::kCosh, "cosh", 1, false, "cosh"},
    {Op::kTanh, "tanh", 1, false, "tanh"},
    {Op::kAsinh, "asinh", 1, false, "asinh"},
    {Op::kAcosh, "acosh", 1, false, "acosh"},
    {Op::kAtanh, "atanh", 1, false, "atanh"},
    {Op::kErf, "erf", 1, false, "erf"},
    {Op::kFloor, "floor", 1, false, "floor"},
    {Op::kCeil, "ceil", 1, false, "ceil"},
    {Op::kRound, "round", 1, false, nullptr},
    {Op::kTrunc, "trunc", 1, false, "trunc"},
    {Op::kNot, "not", 1, false, nullptr},
    {Op::kIsNan, "isnan", 1, true, nullptr},
    {Op::kIsInf, "isinf", 1, true, nullptr},
    {Op::kCast, "cast", 1, false, nullptr},
    {Op::kBitCast, "bitcast", 1, false, nullptr},
    {Op::kAdd, "+", 2, false, nullptr},
    {Op::kSub, "-", 2, false, nullptr},
    {Op::kMul, "*", 2, false, nullptr},
    {Op::kDiv, "/", 2, false, nullptr},
    {Op::kMod, "mod", 2, false, "fmod"},
    {Op::kPow, "pow", 2, false, "pow"},
    {Op::kMin, "min", 2, false, nullptr},
    {Op::kMax, "max", 2, false, nullptr},
    {Op::kAnd, "&", 2, false, nullptr},
    {Op::kOr, "|", 2, false, nullptr},
    {Op::kXor, "^", 2, false, nullptr},
    {Op::kShl, "<<", 2, false, nullptr},
    {Op::kShr, ">>", 2, false, nullptr},
    {Op::kEq, "==", 2, true, nullptr},
    {Op::kLt, "<", 2, true, nullptr},
    {Op::kLe, "<=", 2, true, nullptr},
    {Op::kRequantize, "requantize", 2, false, nullptr},
    {Op::kSelect, "select", 3, false, nullptr},
    {Op::kInstruction, "instruction", -1, false, nullptr},
};

// The one place where trees are made. They never change afterwards, so that any number of formulas share them
// and the address alone proves two of them equal.
Expr leaf(Expr::Tree tree) { return Expr(std::make_shared<const Expr::Tree>(std::move(tree))); }

bool is_const(const Expr& e) { return e->op == Op::kConst; }

// Arithmetic on floats, in double whatever their type; apply() then rounds once to the type. For + - * / and
// sqrt of float32 this gives the very bits of arithmetic in float32: rounding twice is harmless where the
// wider format has at least 2p + 2 bits, here 53 >= 2 * 24 + 2 (Figueroa, "When is double rounding
// innocuous?", SIGNUM Newsletter, 1995). Floor, ceil and their like are exact in any case.
double math(Op op, double a, double b) {
  switch (op) {
    case Op::kNeg:
      return -a;
    case Op::kAbs:
      return std::fabs(a);
    case Op::kSqrt:
      return std::sqrt(a);
    case Op::kExp:
      return std::exp(a);
    case Op::kLog:
      return std::log(a);
    case Op::kSin:
      return std::sin(a);
    case Op::kCos:
      return std::cos(a);
    case Op::kTan:
      return std::tan(a);
    case Op::kAsin:
      return std::asin(a);
    case Op::kAcos:
      return std::acos(a);
    case Op::kAtan:
      return std::atan(a);
    case Op::kSinh:
      return std::sinh(a);
    case Op::kCosh:
      return std::cosh(a);
    case Op::kTanh:
      return std::tanh(a);
    case Op::kAsinh:
      return std::asinh(a);
    case Op::kAcosh:
      return std::acosh(a);
    case Op::kAtanh:
      return std::atanh(a);
    case Op::kErf:
      return std::erf(a);
    case Op::kFloor:
      return std::floor(a);
    case Op::kCeil:
      return std::ceil(a);
    case Op::kRound:
      return std::nearbyint(a);
    case Op::kTrunc:
      return std::trunc(a);
    case Op::kAdd:
      return a + b;
    case Op::kSub:
      return a - b;
    case Op::kMul:
      return a * b;
    case Op::kDiv:
      return a / b;
    case Op::kMod: {
      // fmod has the sign of a, the floor modulo that of b:   fmod(-7, 3) = -1   ->   -1 + 3 = 2
      const double r = std::fmod(a, b);
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
    case Op::kPow:
      return std::pow(a, b);
    // As C's a < b ? a : b with NaN of either side kept.
    case Op::kMin:
      return std::isnan(a) || a < b ? a : b;
    case Op::kMax:
      return std::isnan(a) || a > b ? a : b;
    default:
      internal_error(__FILE__, __LINE__, fmt::format("'{}' has no meaning on floats", info(op).name));
  }
}

// base^exponent modulo 2^64, by squaring: x^13 = x^8 * x^4 * x^1, as 13 is 1101 in binary. Modulo 2^64 the
// bits of a signed power are those of an unsigned one.
uint64_t integer_power(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return result;
}

// 1 / base^n truncated, of an exponent -n below 0: 0 but for the bases 1 and -1.
int64_t inverse_power(int64_t base, int64_t exponent) {
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  return base == 1 ? 1 : 0;
}

// Truncating division; the one overflow (minimum / -1) wraps.
int64_t divide(int64_t a, int64_t b) {
  if (b == 0) return 0;
  return b == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(a)) : a / b;
}

// Of the sign of b: -7 mod 3 = 2, 7 mod -3 = -2. By -1 there is no rest, and C++ leaves INT64_MIN % -1
// undefined.
int64_t floor_mod(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

// Arithmetic on integers and bool, on their 64 bits. Additions and products are the unsigned ones, for which
// C++ defines the overflow; the lowest bits of their results depend on the lowest bits of the operands alone,
// so that apply() gets the result of a narrower type by wrapping this one:
//
//   int8:  100 + 100 = 200 in 64 bits  ->  200 - 256 = -56
//
// Comparisons, division, shifts to the right and extrema do depend on the high bits; there the operands are
// already in their type's range, extended by sign or by zeros. A shift by the width or more gives 0, where C
// leaves it undefined.
int64_t bits(Op op, Type type, int64_t sa, int64_t sb) {
  const auto a = static_cast<uint64_t>(sa), b = static_cast<uint64_t>(sb);
  const bool is_signed = info(type).is_signed;
  const auto less = [&](uint64_t x, uint64_t y) {
    return is_signed ? static_cast<int64_t>(x) < static_cast<int64_t>(y) : x < y;
  };
  const uint64_t width = size_of(type) * 8u;
  switch (op) {
    case Op::kNeg:
      return static_cast<int64_t>(0 - a);
    case Op::kAbs:
      return static_cast<int64_t>(is_signed && sa < 0 ? 0 - a : a);
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
    case Op::kTrunc:
      return sa;
    case Op::kNot:
      return type == Type::kBool ? !sa : static_cast<int64_t>(~a);
    case Op::kAdd:
      return static_cast<int64_t>(a + b);
    case Op::kSub:
      return static_cast<int64_t>(a - b);
    case Op::kMul:
      return static_cast<int64_t>(a * b);
    case Op::kDiv:
      return is_signed ? divide(sa, sb) : static_cast<int64_t>(b == 0 ? 0 : a / b);
    case Op::kMod:
      return is_signed ? floor_mod(sa, sb) : static_cast<int64_t>(b == 0 ? 0 : a % b);
    case Op::kPow:
      return is_signed && sb < 0 ? inverse_power(sa, sb) : static_cast<int64_t>(integer_power(a, b));
    case Op::kMin:
      return less(b, a) ? sb : sa;
    case Op::kMax:
      return less(a, b) ? sb : sa;
    case Op::kAnd:
      return sa & sb;
    case Op::kOr:
      return sa | sb;
    case Op::kXor:
      return sa ^ sb;
    case Op::kShl:
      return b >= width ? 0 : static_cast<int64_t>(a << b);
    case Op::kShr:
      return b >= width ? 0 : is_signed ? sa >> b : static_cast<int64_t>(a >> b);
    case Op::kEq:
      return a == b;
    case Op::kLt:
      return less(a, b);
    case Op::kLe:
      return !less(b, a);
    default:
      internal_error(__FILE__, __LINE__, fmt::format("'{}' has no meaning on integers", info(op).name));
  }
}

// Neutral and absorbing elements of integer arithmetic; empty when nothing applies. Floats have no such
// rules: NaN * 0 and infinity * 0 are NaN, and -0 + 0 is +0. What needs the ranges of axes, such as (4*i0 +
// i1) / 4, is simplify_index's (facts.h).
Expr simplify(Op op, const Expr& a, const Expr& b) {
  switch (op) {
    case Op::kAdd:
      if (is_constant(a, 0)) return b;
      if (is_constant(b, 0)) return a;
      break;
    case Op::kSub:
      if (is_constant(b, 0)) return a;
      break;
    case Op::kMul:
      if (is_constant(a, 1)) return b;
      if (is_constant(b, 1)) return a;
      if (is_constant(a, 0)) return a;
      if (is_constant(b, 0)) return b;
      break;
    case Op::kDiv:
      if (is_constant(b, 1)) return a;
      break;
    case Op::kMod:
      if (is_constant(b, 1)) return constant(a->type, 0);
      break;
    default:
      break;
  }
  return {};
}

// A float as an integer: truncated, what is too large or too small becomes the nearest that the type holds,
// NaN becomes 0. C leaves undefined what the type cannot hold, so that emitted code must ask, too:
//
//   int8:   127.9 -> 127     -1e30 -> -128     NaN -> 0
//   uint8:   -0.5 -> 0         300 -> 255
//
// The upper bound is the first value that is too large, a power of two: the largest int64, 2^63 - 1, is no
// double. The results are made by shifting full words to the right, as 1 << 64 is undefined.
int64_t saturate(Type to, double value) {
  const TypeInfo& t = info(to);
  if (std::isnan(value)) return 0;
  const int width = t.size * 8;
  const double low = t.is_signed ? -std::ldexp(1.0, width - 1) : 0.0;
  const double high = std::ldexp(1.0, t.is_signed ? width - 1 : width);  // first value too large
  if (value <= low) return t.is_signed ? std::numeric_limits<int64_t>::min() >> (64 - width) : 0;
  if (value >= high)
    return static_cast<int64_t>(t.is_signed ? ~uint64_t{0} >> (65 - width) : ~uint64_t{0} >> (64 - width));
  return t.is_signed ? static_cast<int64_t>(value) : static_cast<int64_t>(static_cast<uint64_t>(value));
}

// A double holds the product of two float32 exactly (24 + 24 bits of 53). So the value is rounded three
// times: the sum to a float, the product to a float, and that to a whole number, to nearest even. All three
// are part of the definition, as values near ties differ without one of them; the clamp comes last.
int64_t requantized(int64_t sum, double scale) {
  ARENAC_CHECK(scale >= kLeastScale && scale < kScaleLimit, fmt::format("requantises by {}", scale));
  const auto steps = static_cast<float>(static_cast<double>(static_cast<float>(sum)) * scale);
  return std::clamp(static_cast<int64_t>(std::nearbyint(steps)), int64_t{-kMostSteps},
                    int64_t{kMostSteps - 1});
}

}  // namespace

// The index is the operation's number, see kOps.
const OpInfo& info(Op op) { return kOps[static_cast<int>(op)]; }

// Unary operations ignore b. Functions of float32 that arenac has a C text of (float_functions.h) run that
// and not the host's libm: what is folded at compile time and what the target computes are then the same
// bits. Results of comparisons are a bool in `i`, whatever the operands' type.
Scalar apply(Op op, Type type, Scalar a, Scalar b) {
  if (op == Op::kRequantize) return {.i = requantized(a.i, b.f)};
  if (!is_float(type)) {
    const int64_t result = bits(op, type, a.i, b.i);
    return info(op).boolean ? Scalar{.i = result} : round_to(type, {.i = result});
  }
  switch (op) {
    case Op::kEq:
      return {.i = a.f == b.f};
    case Op::kLt:
      return {.i = a.f < b.f};
    case Op::kLe:
      return {.i = a.f <= b.f};
    case Op::kIsNan:
      return {.i = std::isnan(a.f)};
    case Op::kIsInf:
      return {.i = std::isinf(a.f)};
    default:
      break;
  }
  const FloatFunction* own = type == Type::kFloat32 ? float_function(op) : nullptr;
  return own ? Scalar{.f = own->run(static_cast<float>(a.f))} : round_to(type, {.f = math(op, a.f, b.f)});
}

//   float -> float      rounded to nearest even          integer -> integer   wrapped modulo 2^bits
//   float -> integer    truncated, saturated             integer -> float     rounded to nearest even
//   anything -> bool    != 0, before any truncation: 0.5 is true
//
// ONNX's Cast leaves a float beyond the integer's range undefined; saturating is this project's choice.
// TypeError between text and numbers, which have other rules.
Scalar convert(Type to, Type from, Scalar value) {
  if (to == Type::kString || from == Type::kString) {
    if (to != from) throw TypeError("text is no number");
    return value;
  }
  if (to == Type::kBool) return {.i = is_float(from) ? value.f != 0 : value.i != 0};
  if (is_float(from)) return is_float(to) ? round_to(to, value) : Scalar{.i = saturate(to, value.f)};
  if (!is_float(to)) return round_to(to, value);
  const bool wide = from == Type::kUint64;
  if (compute_type(to) == Type::kFloat64)
    return {.f = wide ? static_cast<double>(static_cast<uint64_t>(value.i)) : static_cast<double>(value.i)};
  // Straight to float: by way of double some 64-bit integers would round twice.
  return round_to(
      to, {.f = wide ? static_cast<float>(static_cast<uint64_t>(value.i)) : static_cast<float>(value.i)});
}

Expr constant(Type type, Scalar value) { return leaf({Op::kConst, type, {}, round_to(type, value)}); }

// For literals in formulas: those of integer types saturate, so that an infinity stands for their extremes.
// Of text, 0 is the empty one.
Expr constant(Type type, double value) {
  if (type == Type::kString) {
    if (value != 0) throw TypeError("no text stands for a number");
    return constant(type, string_scalar(""));
  }
  return constant(type, is_float(type) ? Scalar{.f = value} : Scalar{.i = saturate(type, value)});
}

Expr integer(int64_t value) { return constant(Type::kInt64, Scalar{.i = value}); }

// Axes and iterations share one Op and one number line: axes from 0 upwards, symbols of loops from -1
// downwards. The extent of an axis is its nest's; an iteration carries the bound of its loop, as no nest
// knows it.
Expr axis(int index) {
  ARENAC_CHECK(index >= 0, "an iteration needs its trip count");
  return leaf({Op::kAxis, Type::kInt64, {}, {}, index});
}

Expr iteration(int symbol, int64_t trips) {
  return leaf({Op::kAxis, Type::kInt64, {}, {}, -1 - symbol, trips});
}

// float16, int4 and the like are formats of storage: a read widens at once, so that formulas only see types
// that have arithmetic. The read below the cast keeps the type of storage.
Expr read(int operand, Type type, std::vector<Expr> indices) {
  const Expr element = leaf({Op::kRead, type, std::move(indices), {}, operand});
  return cast(compute_type(type), element);
}

Expr accumulator(Type type) { return leaf({Op::kAcc, type, {}}); }

// Checks, folds, simplifies, in this order. The result has the operands' type, or is bool; that of
// kRequantize is int32, its first operand's. Only kEq is defined on text. Unequal types are an InternalError:
// no cast is made that a formula does not ask for.
Expr make(Op op, std::vector<Expr> args) {
  const OpInfo& how = info(op);
  ARENAC_CHECK(static_cast<int>(args.size()) == how.arity && op != Op::kSelect, "wrong number of arguments");
  const Type type = args[0]->type;
  if (type == Type::kString && op != Op::kEq)
    throw TypeError(fmt::format("'{}' of text is not defined", how.name));
  const bool requantizes = op == Op::kRequantize;
  ARENAC_CHECK(!requantizes || type == Type::kInt32, "only int32 is requantised");
  if (how.arity == 2)
    ARENAC_CHECK(args[1]->type == (requantizes ? Type::kFloat32 : type),
                 fmt::format("'{}' of {} and {}", how.name, info(type).name, info(args[1]->type).name));
  const Type result = how.boolean ? Type::kBool : type;
  const bool all_constant = is_const(args[0]) && (how.arity == 1 || is_const(args[1]));
  if (all_constant) return constant(result, apply(op, type, args[0]->value, args.back()->value));
  if (how.arity == 2 && is_integer(type)) {
    if (Expr simpler = simplify(op, args[0], args[1]); !simpler.empty()) return simpler;
  }
  return leaf({op, result, std::move(args)});
}

Expr cast(Type type, const Expr& x) {
  if (x->type == type) return x;
  if (x->type == Type::kString || type == Type::kString)
    throw TypeError(fmt::format("{} does not become {} in a formula", info(x->type).name, info(type).name));
  if (is_const(x)) return constant(type, convert(type, x->type, x->value));
  return leaf({Op::kCast, type, {x}});
}

// The bits of x read as those of another type. Not folded, as constants elsewhere are.
Expr bit_cast(Type type, const Expr& x) { return x->type == type ? x : leaf({Op::kBitCast, type, {x}}); }

// Beside make(), as its operands are of two types. A known condition leaves the chosen operand alone: the
// other, which may be a read beyond a tensor's end, is gone.
Expr select(const Expr& condition, const Expr& yes, const Expr& no) {
  ARENAC_CHECK(condition->type == Type::kBool && yes->type == no->type, "select of unequal types");
  if (is_const(condition)) return condition->value.i ? yes : no;
  return leaf({Op::kSelect, yes->type, {condition, yes, no}});
}

// By the functions that made e, so that new operands fold anew: (i0 * 2) with 3 for i0 is the constant 6. A
// read, a bit cast or an instruction is copied with its type and index.
Expr with_arguments(const Expr& e, std::vector<Expr> args) {
  if (e->op == Op::kSelect) return select(args[0], args[1], args[2]);
  if (e->op == Op::kCast) return cast(e->type, args[0]);
  if (e->op == Op::kRead || e->op == Op::kBitCast || e->op == Op::kInstruction) {
    Expr::Tree tree = *e;
    tree.args = std::move(args);
    return leaf(std::move(tree));
  }
  return make(e->op, std::move(args));
}

// -0 is 0 here; same() tells them apart.
bool is_constant(const Expr& e, double value) {
  return is_const(e) && (is_float(e->type) ? e->value.f == value : static_cast<double>(e->value.i) == value);
}

// Trees are shared a lot, so that comparing addresses first ends many a comparison of equal ones at their
// roots.
bool same(const Expr& a, const Expr& b) {
  if (&*a == &*b) return true;
  if (a->op != b->op || a->type != b->type || a->index != b->index || a->extent != b->extent ||
      a->args.size() != b->args.size())
    return false;
  if (a->op == Op::kConst && a->value.i != b->value.i) return false;  // floats by their bits
  for (size_t k = 0; k < a->args.size(); ++k)
    if (!same(a->args[k], b->args[k])) return false;
  return true;
}

bool any_of(const Expr& e, const std::function<bool(const Expr&)>& predicate) {
  if (predicate(e)) return true;
  for (const Expr& arg : e->args)
    if (any_of(arg, predicate)) return true;
  return false;
}

// What stays is shared with e, down to its address: a caller sees by `&*result == &*e` that nothing was
// replaced. What `replace` returns is not searched again, so a replacement may hold what it replaces, as i0
// -> i0 + 1 does.
Expr substitute(const Expr& e, const std::function<Expr(const Expr&)>& replace) {
  if (Expr other = replace(e); !other.empty()) return other;
  std::vector<Expr> args;  // none while they are those of e
  for (size_t k = 0; k < e->args.size(); ++k) {
    Expr arg = substitute(e->args[k], replace);
    if (args.empty() && &*arg != &*e->args[k]) args.assign(e->args.begin(), e->args.end());
    if (!args.empty()) args[k] = std::move(arg);
  }
  return args.empty() ? e : with_arguments(e, std::move(args));
}

Expr finished(const Expr& finish, const Expr& value) {
  if (finish.empty()) return value;
  return substitute(finish, [&](const Expr& e) { return e->op == Op::kAcc ? value : Expr(); });
}

namespace {

// Text of the model in a formula that people read: whatever its bytes, one line of printable ASCII.
std::string quoted(std::string_view text) {
  std::string safe;
  for (const unsigned char c : text)
    safe += c < 0x20 || c >= 0x7f || c == '"' || c == '\\' ? fmt::format("\\x{:02x}", c)
                                                           : std::string(1, static_cast<char>(c));
  return '"' + safe + '"';
}

}  // namespace

namespace {

// How tightly an operation that is written between its arguments holds these; higher: tighter. 0: it is
// written as a function.
int tightness(Op op) {
  switch (op) {
    case Op::kMul:
    case Op::kDiv:
      return 4;
    case Op::kAdd:
    case Op::kSub:
      return 3;
    case Op::kLt:
    case Op::kLe:
    case Op::kEq:
      return 2;
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kShl:
    case Op::kShr:
      return 1;
    default:
      return 0;
  }
}

// Writes an Expr as one would in C, with as few parentheses as its precedences allow:
//
//   (i0 + 1) * x0[i0]      a - (b - c)      a - b - c, which is (a - b) - c      (c ? a : b)
//
// An operand on the left needs to hold together as tightly as the operation, one on the right more tightly:
// all of these associate to the left. Operands of bitwise operations (tightness 1) are in parentheses
// whatever infix operation they are, because few readers know C's precedences there.
class FormulaText {
 public:
  explicit FormulaText(const Notation& notation) : notation_(notation) {}

  std::string of(const Expr& e) const {
    switch (e->op) {
      case Op::kConst:
        if (e->type == Type::kString) return quoted(text_of(e->value));
        if (e->type == Type::kFloat32) return fmt::format("{}", static_cast<float>(e->value.f));
        return is_float(e->type) ? fmt::format("{}", e->value.f) : fmt::format("{}", e->value.i);
      case Op::kAxis:
        if (notation_.axis) return notation_.axis(e->index);
        return e->index >= 0 ? fmt::format("i{}", e->index) : fmt::format("t{}", -1 - e->index);
      case Op::kAcc:
        return notation_.accumulator;
      case Op::kRead:
        return fmt::format("{}[{}]",
                           notation_.operand ? notation_.operand(e->index) : fmt::format("x{}", e->index),
                           list(e));
      case Op::kCast:
      case Op::kBitCast:
        if (is_hidden(e)) return of(e->args[0]);
        return fmt::format("{}<{}>({})", info(e->op).name, info(e->type).name, list(e));
      default:
        break;
    }
    if (e->op == Op::kNeg) return "-" + beside(e->args[0], 5);
    if (e->op == Op::kSelect)
      return fmt::format("({} ? {} : {})", of(e->args[0]), of(e->args[1]), of(e->args[2]));
    const int holds = tightness(e->op);
    if (holds == 0 || e->args.size() != 2) return fmt::format("{}({})", info(e->op).name, list(e));
    // i0 + -1 is written i0 - 1, and i0 - -1 is i0 + 1.
    if (is_negative(e->args[1]) && (e->op == Op::kAdd || e->op == Op::kSub))
      return fmt::format("{} {} {}", beside(e->args[0], holds), e->op == Op::kAdd ? '-' : '+',
                         of(e->args[1]).substr(1));
    if (holds == 1)
      return fmt::format("{} {} {}", beside(e->args[0], 5), info(e->op).name, beside(e->args[1], 5));
    return fmt::format("{} {} {}", beside(e->args[0], holds), info(e->op).name,
                       beside(e->args[1], holds + 1));
  }

 private:
  // A cast that the notation does not show: its operand stands in its place, for parentheses and signs as
  // well.
  bool is_hidden(const Expr& e) const {
    return e->op == Op::kCast && notation_.shows_cast && !notation_.shows_cast(e);
  }
  bool is_negative(const Expr& e) const {
    return (is_hidden(e) && is_negative(e->args[0])) || (e->op == Op::kConst && of(e)[0] == '-');
  }

  std::string list(const Expr& e) const {
    std::string all;
    for (const Expr& arg : e->args) all += (all.empty() ? "" : ", ") + of(arg);
    return all;
  }

  // In parentheses unless it holds together at least so tightly.
  std::string beside(const Expr& e, int least) const {
    const Expr& seen = is_hidden(e) ? e->args[0] : e;
    if (is_hidden(seen)) return beside(seen, least);
    const int holds = tightness(seen->op);
    return holds > 0 && holds < least ? "(" + of(seen) + ")" : of(seen);
  }

  const Notation& notation_;
};

}  // namespace

std::string to_string(const Expr& e, const Notation& notation) { return FormulaText(notation).of(e); }

}  // namespace arenac
