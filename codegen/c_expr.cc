#include "codegen/c_expr.h"

#include <fmt/format.h>

#include <array>
#include <boost/algorithm/string.hpp>
#include <cmath>
#include <iterator>
#include <limits>

#include "codegen/c_text.h"
#include "codegen/instructions.h"
#include "codegen/stmt.h"
#include "frontend/error.h"
#include "frontend/interpret.h"

namespace arenac {
namespace {

// The letters for a type in names of functions, kws_max_f32; in the order of Type.
const char* suffix_of(Type type) {
  constexpr const char* kSuffixes[] = {"f32",   "f64",  "f16",  "bf16", "i8",   "i16",  "i32",   "i64",
                                       "u8",    "u16",  "u32",  "u64",  "bool", "e4m3", "e4m3z", "e5m2",
                                       "e5m2z", "e8m0", "e2m1", "i4",   "u4",   "i2",   "u2",    "str"};
  static_assert(std::size(kSuffixes) == kTypes);
  return kSuffixes[static_cast<int>(type)];
}

// Floats of a byte at most, stored as their code in a uint8_t, computed with as float32.
bool is_small_float(Type type) { return is_float(type) && size_of(type) == 1; }

// The body of float32 of a small float's code h, as type.cc's small_to_float. For float8e4m3, mantissa of 3
// bits, bias 7:
//
//   code      s eeee mmm
//   float32   s eeeeeeee mmm00..   from a normal number: shifted by 23 - 3, the exponent 127 - 7 more
//                                  below: mmm times the smallest, 2^(1 - 7 - 3), which float32 has exactly
//
// Exact both ways, so that no rounding mode and no fused operation can change a bit. Codes beyond the largest
// number are infinity or NaN, as the format says; one without a negative zero has its NaN there. float8e8m0
// is not in the table: h is an exponent alone, 0xff NaN, and 2^-127 (h = 0) is a subnormal float32.
std::string small_to_float_body(Type type) {
  const std::string head = "  union { uint32_t bits; float value; } u;\n";
  const SmallFloat* format = small_float(type);
  if (!format)
    return head +
           "  u.bits = h == 0xffu ? 0x7fc00000u : h == 0 ? 0x00400000u : (uint32_t)h << 23;\n  return "
           "u.value;";
  std::string text = head + fmt::format("  const uint32_t magnitude = h & 0x{:02x}u;\n", format->sign - 1);
  const bool has_beyond = format->largest < format->sign - 1;
  text += format->unsigned_zero
              ? fmt::format("  if (h == 0x{:02x}u) {{\n    u.bits = 0x7fc00000u;\n  }} else ", format->nan)
          : has_beyond
              ? fmt::format(
                    "  if (magnitude > 0x{:02x}u) {{\n    u.bits = {};\n  }} else ", format->largest,
                    format->beyond == format->nan
                        ? "0x7fc00000u"
                        : fmt::format("magnitude == 0x{:02x}u ? 0x7f800000u : 0x7fc00000u", format->beyond))
              : "  ";
  text += fmt::format(
      "if (magnitude >= 0x{:02x}u) {{\n    u.bits = (magnitude << {}) + 0x{:08x}u;\n  }} else {{\n"
      "    u.value = (float)magnitude * {};\n  }}\n",
      1u << format->mantissa, 23 - format->mantissa, (127u - static_cast<uint32_t>(format->bias)) << 23,
      c_literal(Type::kFloat32, {.f = std::ldexp(1.0, 1 - format->bias - format->mantissa)}));
  return text + fmt::format("  if (h & 0x{:02x}u) u.bits |= 0x80000000u;\n  return u.value;", format->sign);
}

// The body of a small float's code of the float x, as type.cc's float_to_small: to the nearest, of two as
// near the even one.
//
//   subnormal   x + 2^(24 - bias - mantissa): a float32 of that size has units of the smallest small float,
//               so that the addition itself rounds, and the low bits of the sum are the code
//   normal      bits + half a unit - 1 + (the lowest bit kept), then shifted: carries go into the exponent,
//               as they should
//
// The integer way is right for normal numbers alone; the addition, which the processor's rounding mode
// decides, is exact but for that rounding. What is too large becomes `beyond`: infinity, NaN or the largest.
std::string float_to_small_body(Type type) {
  std::string text = "  union { uint32_t bits; float value; } u;\n";
  const SmallFloat* format = small_float(type);
  if (!format)
    return text +
           "  u.value = x;\n  if ((u.bits & 0x7fffffffu) > 0x7f800000u) return 0xffu;\n"
           "  if (u.bits >> 31 || u.bits < 0x00600000u) return 0;\n  u.bits = (u.bits + 0x00400000u) >> 23;\n"
           "  return (uint8_t)(u.bits > 0xfeu ? 0xfeu : u.bits);";
  const int shift = 23 - format->mantissa;
  const uint32_t rebias = (127u - static_cast<uint32_t>(format->bias)) << 23;
  const auto aligned = static_cast<uint32_t>(127 + 24 - format->bias - format->mantissa) << 23;
  text += fmt::format(
      "  uint32_t sign;\n  uint32_t code;\n  u.value = x;\n  sign = u.bits >> 31 ? 0x{:02x}u : 0u;\n"
      "  u.bits &= 0x7fffffffu;\n  if (u.bits > 0x7f800000u) return (uint8_t)(0x{:02x}u | sign);\n",
      format->sign, format->nan);
  text += fmt::format(
      "  if (u.bits < 0x{:08x}u) {{\n    u.value += {};\n    code = u.bits - 0x{:08x}u;\n"
      "  }} else {{\n    code = (u.bits - 0x{:08x}u + 0x{:x}u + (u.bits >> {} & 1u)) >> {};\n  }}\n",
      (128u - static_cast<uint32_t>(format->bias)) << 23,
      c_literal(Type::kFloat32, {.f = std::ldexp(1.0, 24 - format->bias - format->mantissa)}), aligned,
      rebias, (1u << (shift - 1)) - 1, shift, shift);
  text += fmt::format("  if (code > 0x{:02x}u) code = 0x{:02x}u;\n", format->largest, format->beyond);
  if (format->unsigned_zero) text += "  if (code == 0) sign = 0;\n";
  return text + "  return (uint8_t)(code | sign);";
}

// An unsigned type that C's promotions leave alone: arithmetic in it wraps.
const char* wrapping_type(Type type) { return size_of(type) == 8 ? "uint64_t" : "uint32_t"; }

// floor, sin, ... of float or double.
std::string math_name(Op op, Type type) {
  return std::string(info(op).libm) + (type == Type::kFloat64 ? "" : "f");
}

// gcc's _Float16 where the processor converts it (F16C). Other compilers, and C++, convert in integers, with
// the same bits (but for those of a NaN's payload).
constexpr const char* kNativeHalf =
    "#if defined(__F16C__) && defined(__FLT16_MANT_DIG__) && !defined(__cplusplus) && !defined(__clang__)\n"
    "#define ARENAC_NATIVE_HALF\n__extension__ typedef _Float16 arenac_half;\n#endif\n";

}  // namespace

// Where there is an instruction that rounds to an int, it is that. In other floats: an addition rounds what
// is within 2^22, and the clamp keeps it apart from the multiplication. In integers: all but the
// neighbourhood of ties, where it matters that a float has 24 bits, is one multiplication.
//
// The meaning is round(float(float(sum) * scale)), two roundings to 24 bits and one to an integer, and every
// text has to give its bits:
//
//   floats     x + 1.5 * 2^23 is in [2^23, 2^24), where floats are 1 apart: the sum rounds to nearest even,
//              and its bits are 0x4b400000 more than the integer. Were the clamp not between, a compiler
//              might fuse product and sum (FMA) and leave out the product's own rounding.
//   integers   sum * m, m the 24 bits of the scale's mantissa at the top of 31; the point lies `shift` bits
//              into the high word. A scale in [kLeastScale, kScaleLimit) makes shift 1 to 31, where C defines
//              shifts of 32 bits.
//
//                  |   whole    .  rest    |          product >> 32, and the rest behind the point as 32 bits
//                           shift ^
//
// Two roundings to 24 bits move a number below 2^8 by less than 2^-14. So they decide only where the rest is
// within 2^-14 of a half (0x7ffc0000 to 0x80040000), and for larger numbers: these go to _near_tie, which
// rounds as a float does, step by step.
std::string requantize_text(const std::string& prefix, const std::string& inlined) {
  std::string text =
      R"(/* Nearest even of (float)sum * scale: the same bits with and without floating-point hardware. */
#if defined(ARENAC_SOFT_FLOAT) || (defined(__arm__) && !defined(__ARM_FP)) || \
    (defined(__riscv) && !defined(__riscv_flen)) || \
    (defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16) /* 16: _Float16 alone */
static inline uint64_t NAME_rounded(uint64_t x, int drop) { /* the lowest bits become zeros */
  const uint64_t unit = (uint64_t)1 << drop;
  const uint64_t rest = x & (unit - 1);
  x -= rest;
  return rest * 2 > unit || (rest * 2 == unit && (x & unit) != 0) ? x + unit : x;
}
static uint64_t NAME_rounded_to_float(uint64_t x) {
  int drop = 0;
  while (x >> drop >= 0x1000000u) ++drop;
  return drop ? NAME_rounded(x, drop) : x;
}
static int32_t NAME_requantize_near_tie(int32_t sum, uint32_t bits) {
  const int places = 150 - (int)(bits >> 23);
  uint64_t x = sum < 0 ? (uint64_t)(0 - (int64_t)sum) : (uint64_t)sum;
  x = NAME_rounded_to_float(NAME_rounded_to_float(x) * ((bits & 0x7fffffu) | 0x800000u));
  x = NAME_rounded(x, places) >> places;
  if (x > 4194303u) x = sum < 0 ? 4194304u : 4194303u;
  return sum < 0 ? -(int32_t)x : (int32_t)x;
}
static inline int32_t NAME_requantize(int32_t sum, float scale) {
  union { float value; uint32_t bits; } u;
  int32_t high;
  int32_t shift;
  uint32_t rest;
  int64_t product;
  u.value = scale;
  shift = 125 - (int32_t)(u.bits >> 23);
  product = (int64_t)sum * (int32_t)((u.bits << 7 & 0x3fffffffu) | 0x40000000u);
  high = (int32_t)(product >> 32);
  rest = (uint32_t)high << (32 - shift) | (uint32_t)product >> shift; /* behind the point */
  high >>= shift;
  if (rest - 0x7ffc0000u <= 0x80000u || high < -256 || high > 255) return NAME_requantize_near_tie(sum, u.bits);
  return high + (int32_t)(rest >> 31);
}
#elif defined(__GNUC__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
@ int32_t NAME_requantize(int32_t sum, float scale) {
  union { float value; int32_t bits; } u;
  __asm__("vcvtr.s32.f32 %0, %1" : "=t"(u.value) : "t"((float)sum * scale)); /* to nearest even */
  __asm__("ssat %0, #23, %1" : "=r"(u.bits) : "r"(u.bits));
  return u.bits;
}
#else
@ int32_t NAME_requantize(int32_t sum, float scale) {
  union { float value; int32_t bits; } u;
  u.value = (float)sum * scale;
  u.value = u.value > -4194304.0f ? u.value : -4194304.0f;
  u.value = u.value < 4194303.0f ? u.value : 4194303.0f;
  u.value += 12582912.0f;
  return u.bits - 0x4b400000;
}
#endif)";
  boost::replace_all(text, "NAME", prefix);
  boost::replace_all(text, "@", inlined);
  return text;
}

const char* c_value_type(Type type) { return type == Type::kBool ? "int" : info(compute_type(type)).c_name; }

// A function that the file has once: the name has to determine the text, for the first one stays.
std::string CExpr::helper(const std::string& name, const std::string& definition) const {
  const std::string full = prefix_ + "_" + name;
  helpers_.functions.emplace(full, definition);
  return full;
}

// The function's text and, before it, that of the one it calls.
std::string CExpr::float_helper(const FloatFunction& function) const {
  std::string text = function.text;
  if (function.before) {  // in the order of names that may be written behind
    const std::string before = function.before;
    helper("expm1_f32", boost::replace_all_copy(before, "NAME", prefix_));
    text = "static inline float NAME_expm1_f32(float x);\n" + text;
  }
  return helper(fmt::format("{}_f32", function.name), boost::replace_all_copy(text, "NAME", prefix_));
}

// NAME_INLINE T NAME_f32(T a, T b) { body }, a statement a line
std::string CExpr::binary_helper(const char* name, Type type, std::string body) const {
  const std::string id = fmt::format("{}_{}", name, suffix_of(type));
  const char* t = c_value_type(type);
  for (size_t at = 0; (at = body.find("; ", at)) != std::string::npos;) body.replace(at, 2, ";\n  ");
  return helper(id,
                fmt::format("{4} {0} {1}_{2}({0} a, {0} b) {{\n  {3}\n}}", t, prefix_, id, body, inlined()));
}

// From what is stored as bits (halves, small floats) by way of float32; to what is only stored, the value
// that would be read back: rounded to the type, as a type of arithmetic.
CExpr::Piece CExpr::cast(Type to, Type from, const Piece& x) const {
  const char* t = c_value_type(to);
  if (from == Type::kFloat16 || from == Type::kBFloat16) {
    // The 16 bits of storage.
    const bool half = from == Type::kFloat16;
    if (half) helpers_.preludes.insert(kNativeHalf);
    const std::string name = half ? "half_to_float" : "bfloat_to_float";
    const std::string body =
        half ? "#ifdef ARENAC_NATIVE_HALF\n"
               "  union { uint16_t bits; arenac_half value; } u;\n  u.bits = h;\n  return (float)u.value;\n"
               "#else\n"
               "  union { uint32_t bits; float value; } u;\n"
               "  const uint32_t magnitude = h & 0x7fffu;\n"
               "  if (magnitude >= 0x7c00u) {\n    u.bits = 0x7f800000u | (magnitude & 0x3ffu) << 13;\n"
               "  } else if (magnitude >= 0x0400u) {\n    u.bits = (magnitude << 13) + 0x38000000u;\n"
               "  } else {\n    u.value = (float)magnitude * 5.9604644775390625e-8f;\n  }\n"
               "  u.bits |= (uint32_t)(h & 0x8000u) << 16;\n  return u.value;\n"
               "#endif"
             : "  union { uint32_t bits; float value; } u;\n  u.bits = (uint32_t)h << 16;\n  return u.value;";
    const std::string call = fmt::format(
        "{}({})",
        helper(name, fmt::format("static inline float {}_{}(uint16_t h) {{\n{}\n}}", prefix_, name, body)),
        x.text);
    return to == Type::kFloat32 ? call : cast(to, Type::kFloat32, call);
  }
  if (is_small_float(from)) {
    const std::string name = fmt::format("{}_to_float", suffix_of(from));
    const std::string call =
        fmt::format("{}({})",
                    helper(name, fmt::format("static inline float {}_{}(uint8_t h) {{\n{}\n}}", prefix_, name,
                                             small_to_float_body(from))),
                    x.text);
    return to == Type::kFloat32 ? call : cast(to, Type::kFloat32, call);
  }
  if (to != compute_type(to)) return cast(compute_type(to), to, stored(to, from, x));
  if (to == Type::kBool) return {x.in(Binds::kSum) + " != 0", Binds::kCompare};
  if (!is_float(from) || is_float(to)) return {fmt::format("({}){}", t, x.in(Binds::kUnary)), Binds::kUnary};
  // Float to integer: truncates and saturates.
  const std::string name = fmt::format("{}_to_{}", suffix_of(from), suffix_of(to));
  const TypeInfo& target = info(to);
  // The first number above the type, a power of two: floats have it exactly, which they need not have of the
  // largest integer.
  const double high = target.is_signed ? std::exp2(target.size * 8 - 1) : std::exp2(target.size * 8);
  const double low = target.is_signed ? -high : 0;
  const std::string limit =
      upper_case(std::string(target.is_signed ? "int" : "uint")) + std::to_string(target.size * 8);
  const std::string lowest = target.is_signed ? limit + "_MIN" : "0";
  // Narrow targets clamp first, one comparison at a time: such loops vectorise.
  const std::string body =
      target.size < 4 ? fmt::format(
                            "  {0} c = x == x ? x : {1};\n  c = c > {2} ? c : {2};\n  c = c < {3} ? c : "
                            "{3};\n  return ({4})(int32_t)c;",
                            c_value_type(from), c_literal(from, {.f = 0}), c_literal(from, {.f = low}),
                            c_literal(from, {.f = high - 1}), t)
                      : fmt::format(
                            "  if (x != x) return 0;\n  if (x <= {}) return {};\n  if (x >= {}) return "
                            "{}_MAX;\n  return ({})x;",
                            c_literal(from, {.f = low}), lowest, c_literal(from, {.f = high}), limit, t);
  return fmt::format("{}({})",
                     helper(name, fmt::format("{} {} {}_{}({} x) {{\n{}\n}}", inlined(), t, prefix_, name,
                                              c_value_type(from), body)),
                     x.text);
}

std::string CExpr::stored(Type to, const Expr& value) const {
  return stored(to, value->type, piece(value)).text;
}

// The value as memory holds it: floats of 16 bits and less as their codes, integers of 2 and 4 bits in the
// low bits of a byte with the sign extended ((x & 15) ^ 8) - 8, bool as 0 or 1. Halves round as the small
// floats do (float_to_small_body): below the least normal half, 2^-14, by adding 0.5, whose units are the
// smallest half.
CExpr::Piece CExpr::stored(Type to, Type from, const Piece& value) const {
  if (to == Type::kFloat16 || to == Type::kBFloat16) {
    const std::string x = (from == Type::kFloat32 ? value : cast(Type::kFloat32, from, value)).text;
    const bool half = to == Type::kFloat16;
    if (half) helpers_.preludes.insert(kNativeHalf);
    const std::string name = half ? "float_to_half" : "float_to_bfloat";
    const std::string body =
        half
            ? "#ifdef ARENAC_NATIVE_HALF\n"
              "  union { uint16_t bits; arenac_half value; } u;\n  u.value = (arenac_half)x;\n  return "
              "u.bits;\n"
              "#else\n"
              "  union { uint32_t bits; float value; } u;\n  uint32_t sign;\n  uint32_t half;\n  u.value = "
              "x;\n"
              "  sign = u.bits >> 16 & 0x8000u;\n  u.bits &= 0x7fffffffu;\n"
              "  if (u.bits > 0x7f800000u) {\n    half = 0x7e00u;\n"
              "  } else if (u.bits >= 0x47800000u) {\n    half = 0x7c00u;\n"
              "  } else if (u.bits < 0x38800000u) {\n    u.value += 0.5f;\n    half = u.bits - 0x3f000000u;\n"
              "  } else {\n    half = (u.bits - 0x38000000u + 0xfffu + (u.bits >> 13 & 1u)) >> 13;\n  }\n"
              "  return (uint16_t)(sign | half);\n"
              "#endif"
            : "  union { uint32_t bits; float value; } u;\n  u.value = x;\n"
              "  if ((u.bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(u.bits >> 16 | 0x40u);\n"
              "  return (uint16_t)((u.bits + 0x7fffu + (u.bits >> 16 & 1u)) >> 16);";
    return fmt::format(
        "{}({})",
        helper(name, fmt::format("static inline uint16_t {}_{}(float x) {{\n{}\n}}", prefix_, name, body)),
        x);
  }
  if (is_small_float(to)) {
    const std::string name = fmt::format("float_to_{}", suffix_of(to));
    return fmt::format("{}({})",
                       helper(name, fmt::format("static inline uint8_t {}_{}(float x) {{\n{}\n}}", prefix_,
                                                name, float_to_small_body(to))),
                       (from == Type::kFloat32 ? value : cast(Type::kFloat32, from, value)).text);
  }
  if (const int bits = info(to).bits) {
    const std::string x = cast(compute_type(to), from, value).in(Binds::kUnary);
    const int mask = (1 << bits) - 1, half = 1 << (bits - 1);
    if (!info(to).is_signed) return {fmt::format("(uint8_t)({} & {})", x, mask), Binds::kUnary};
    return {fmt::format("(int8_t)((({} & {}) ^ {}) - {})", x, mask, half, half), Binds::kUnary};
  }
  if (to == Type::kBool)
    return {"(uint8_t)" + (from == Type::kBool ? value : cast(to, from, value)).in(Binds::kUnary),
            Binds::kUnary};
  return to == from ? value : cast(to, from, value);
}

// Text is passed by value, as a struct of its bytes, zeros behind the end: so no expression owns memory. A
// literal goes through a function because C99 has no struct literal that C++ has, too.
std::string CExpr::text(Scalar value) const {
  const std::string definition = fmt::format(
      "static inline arenac_string {}_text(const char *from) {{\n  arenac_string s = {{{{0}}}};\n"
      "  for (int k = 0; k < {} && from[k] != 0; ++k) s.text[k] = from[k];\n  return s;\n}}",
      prefix_, kStringBytes - 1);
  return fmt::format("{}({})", helper("text", definition), c_string(std::string(text_of(value))));
}

// Up to the first zero: what lies behind it does not count.
std::string CExpr::equal_texts(const std::string& a, const std::string& b) const {
  const std::string definition = fmt::format(
      "static inline int {}_equal_texts(arenac_string a, arenac_string b) {{\n"
      "  for (int k = 0; k < {}; ++k) {{\n    if (a.text[k] != b.text[k]) return 0;\n"
      "    if (a.text[k] == 0) break;\n  }}\n  return 1;\n}}",
      prefix_, kStringBytes - 1);
  return fmt::format("{}({}, {})", helper("equal_texts", definition), a, b);
}

// A sum, difference, product or quotient as C's operators compute it.
CExpr::Piece CExpr::arithmetic(Op op, const Piece& a, const Piece& b) const {
  const bool sums = op == Op::kAdd || op == Op::kSub;
  return {fmt::format("{} {} {}", a.in(sums ? Binds::kSum : Binds::kProduct), info(op).name,
                      b.in(sums ? Binds::kProduct : Binds::kUnary)),
          sums ? Binds::kSum : Binds::kProduct};
}

// What an operation of expr.h is in C. On bool, whose C type is int and whose values are 0 and 1, arithmetic
// is logic (+ is or, * is and). Sums of integers wrap by way of an unsigned type that C does not promote: for
// int16_t a uint16_t product would be one of ints and overflow.
CExpr::Piece CExpr::operation(Op op, Type type, const Piece& left, const Piece& right) const {
  const std::string &a = left.text, &b = right.text;  // as arguments
  const bool f = is_float(type), is_signed = info(type).is_signed;
  const char* t = c_value_type(type);
  const char* name = info(op).name;
  if (type == Type::kBool) {
    switch (op) {
      case Op::kAnd:
      case Op::kMul:
      case Op::kMin:
        return {left.in(Binds::kAnd) + " && " + right.in(Binds::kAnd), Binds::kAnd};
      case Op::kOr:
      case Op::kAdd:
      case Op::kMax:
        return {left.in(Binds::kCompare) + " || " + right.in(Binds::kCompare), Binds::kOr};
      case Op::kXor:
        return {left.in(Binds::kSum) + " != " + right.in(Binds::kSum), Binds::kCompare};
      case Op::kNot:
        return {"!" + left.in(Binds::kUnary), Binds::kCompare};  // compilers warn of !a == b
      default:
        break;
    }
  }
  switch (op) {
    case Op::kNeg:
      if (f) return {"-" + left.in(Binds::kPrimary), Binds::kUnary};
      return {fmt::format("({})(0u - ({}){})", t, wrapping_type(type), left.in(Binds::kUnary)),
              Binds::kUnary};
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
      if (f) return arithmetic(op, left, right);
      return {fmt::format("({0})(({1}){2} {3} ({1}){4})", t, wrapping_type(type), left.in(Binds::kUnary),
                          name, right.in(Binds::kUnary)),
              Binds::kUnary};
    case Op::kDiv:
      if (f) return arithmetic(op, left, right);
      return fmt::format(
          "{}({}, {})",
          binary_helper(
              "div", type,
              is_signed
                  ? fmt::format("if (b == 0) return 0; return b == -1 ? ({0})(0u - ({1})a) : ({0})(a / b);",
                                t, wrapping_type(type))
                  : fmt::format("return ({})(b == 0 ? 0 : a / b);", t)),
          a, b);
    // Floor modulo; C's % and fmod have the dividend's sign. b == -1 apart: INT_MIN % -1 overflows in C.
    case Op::kMod: {
      std::string body;
      if (f)
        body = fmt::format("const {} r = {}(a, b); return r != 0 && (r < 0) != (b < 0) ? r + b : r;", t,
                           math_name(op, type));
      else if (is_signed)
        body = fmt::format(
            "{0} r; if (b == 0 || b == -1) return 0; r = ({0})(a % b); return r != 0 && (r < 0) != (b < 0) ? "
            "({0})(r + b) : r;",
            t);
      else
        body = fmt::format("return ({})(b == 0 ? 0 : a % b);", t);
      return fmt::format("{}({}, {})", binary_helper("mod", type, body), a, b);
    }
    // By squaring, wrapping. A negative exponent gives the inverse truncated: 0, but for bases 1 and -1.
    case Op::kPow: {
      if (f) return fmt::format("{}({}, {})", math_name(op, type), a, b);
      const std::string id = fmt::format("pow_{}", suffix_of(type));
      const std::string inverse =
          is_signed ? fmt::format("  if (b < 0) return ({0})(a == -1 ? (b % 2 == 0 ? 1 : -1) : a == 1);\n", t)
                    : "";
      const std::string definition = fmt::format(
          "static inline {0} {1}_{2}({0} a, {0} b) {{\n  {3} r = 1;\n  {3} base = ({3})a;\n{4}"
          "  for (; b > 0; b = ({0})(b >> 1)) {{\n    if (b & 1) r *= base;\n    base *= base;\n  }}\n"
          "  return ({0})r;\n}}",
          t, prefix_, id, wrapping_type(type), inverse);
      return fmt::format("{}({}, {})", helper(id, definition), a, b);
    }
    case Op::kMin:
    case Op::kMax: {
      // A NaN on either side stays. No branches: compilers vectorise this.
      const char* less = op == Op::kMin ? "<" : ">";
      const char* choice = f ? "b = a {} b ? a : b; return a == a ? b : a;" : "return a {} b ? a : b;";
      return fmt::format("{}({}, {})", binary_helper(name, type, fmt::format(fmt::runtime(choice), less)), a,
                         b);
    }
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
      return {fmt::format("({})({} {} {})", t, left.in(Binds::kUnary), name, right.in(Binds::kUnary)),
              Binds::kUnary};
    // Beyond the width the result is 0; C leaves that undefined. A negative count is beyond as an unsigned
    // one.
    case Op::kShl:
      return fmt::format("{}({}, {})",
                         binary_helper("shl", type,
                                       fmt::format("return ({0})(({1})b >= {2} ? 0 : ({1})a << b);", t,
                                                   wrapping_type(type), size_of(type) * 8)),
                         a, b);
    case Op::kShr:
      return fmt::format("{}({}, {})",
                         binary_helper("shr", type,
                                       fmt::format("return ({0})(({1})b >= {2} ? 0 : a >> b);", t,
                                                   wrapping_type(type), size_of(type) * 8)),
                         a, b);
    case Op::kRequantize:
      return fmt::format("{}({}, {})", helper("requantize", requantize_text(prefix_, inlined())), a, b);
    case Op::kEq:
      if (type == Type::kString) return equal_texts(a, b);
      return {left.in(Binds::kSum) + " == " + right.in(Binds::kSum), Binds::kCompare};
    case Op::kLt:
    case Op::kLe:
      return {fmt::format("{} {} {}", left.in(Binds::kSum), name, right.in(Binds::kSum)), Binds::kCompare};
    case Op::kNot:
      return {fmt::format("({})~{}", t, left.in(Binds::kUnary)), Binds::kUnary};
    case Op::kIsNan:
      return f ? Piece("isnan(" + a + ") != 0", Binds::kCompare) : Piece("0");
    case Op::kIsInf:
      return f ? Piece("isinf(" + a + ") != 0", Binds::kCompare) : Piece("0");
    case Op::kAbs:
      if (!f && !is_signed) return left;
      if (!f)
        return fmt::format("{0}({1}, {1})",
                           binary_helper("abs", type,
                                         fmt::format("(void)b; return a < 0 ? ({0})(0u - ({1})a) : a;", t,
                                                     wrapping_type(type))),
                           a);
      break;
    case Op::kRound: {
      if (!f) return left;
      // Nearest even: one instruction where there is one, else without libm and without branches, so that
      // loops still vectorise. What is 2^23 (2^52) and more is whole already; `a - c` restores it.
      const bool wide = type == Type::kFloat64;
      const std::string body = fmt::format(
          "#if defined(__GNUC__) && defined(__OPTIMIZE__) && (defined(__SSE4_1__) || defined(__aarch64__))\n"
          "  return __builtin_rint{4}(a);\n#else\n"
          "  {0} c = a > -{2} ? a : -{2};\n  {0} d;\n  {1} i;\n  c = c < {2} ? c : {2};\n  i = ({1})c;\n  d "
          "= c - "
          "({0})i;\n"
          "  i += (d > {3}) | ((d == {3}) & (i & 1));\n  i -= (d < -{3}) | ((d == -{3}) & (i & 1));\n"
          "  return ({0})i + (a - c);\n#endif",
          t, wide ? "int64_t" : "int32_t", c_literal(type, {.f = wide ? 4503599627370496.0 : 8388608.0}),
          c_literal(type, {.f = 0.5}), wide ? "" : "f");
      const std::string id = fmt::format("round_{}", suffix_of(type));
      return fmt::format(
          "{}({})",
          helper(id, fmt::format("{4} {0} {1}_{2}({0} a) {{\n{3}\n}}", t, prefix_, id, body, inlined())), a);
    }
    case Op::kFloor:
    case Op::kCeil:
    case Op::kTrunc:
      if (!f) return left;
      break;
    default:
      break;
  }
  ARENAC_CHECK(f && info(op).libm, fmt::format("no C for '{}' on {}", name, info(type).name));
  if (const FloatFunction* own = type == Type::kFloat32 ? float_function(op) : nullptr)
    return fmt::format("{}({})", float_helper(*own), a);
  return fmt::format("{}({})", math_name(op, type), a);
}

// Two shorter forms of operations: a bound that is a constant, and not NaN, needs no look at itself, so that
// a clamp is one comparison; a sum that cannot overflow is C's.
CExpr::Piece CExpr::call(const Expr& e) const {
  const Piece a = piece(e->args[0]);
  const bool clamps = (e->op == Op::kMin || e->op == Op::kMax) && is_float(e->type) &&
                      e->args[1]->op == Op::kConst && !std::isnan(e->args[1]->value.f);
  if (clamps) {  // only the NaN on the left remains
    const bool low = e->op == Op::kMax;
    const std::string body = fmt::format("return a {} b ? b : a;", low ? "<=" : ">=");
    return fmt::format("{}({}, {})", binary_helper(low ? "at_least" : "at_most", e->type, body), a.text,
                       value(e->args[1]));
  }
  if (is_exact(e)) {
    const Expr& b = e->args[1];
    const bool negative =
        e->op != Op::kMul && b->op == Op::kConst && b->value.i < 0 && b->value.i > INT32_MIN;
    if (!negative) return arithmetic(e->op, a, piece(b));
    return arithmetic(e->op == Op::kAdd ? Op::kSub : Op::kAdd, a,
                      piece(constant(b->type, Scalar{.i = -b->value.i})));
  }
  return operation(e->op, e->args[0]->type, a, e->args.size() > 1 ? piece(e->args[1]) : a);
}

// The interval of what may wrap is all of its type (facts.h), so that anything narrower proves that it does
// not. Smaller types than int32 are not asked: C promotes their operands.
bool CExpr::is_exact(const Expr& e) const {
  if (e->op != Op::kAdd && e->op != Op::kSub && e->op != Op::kMul) return false;
  const ClosedInterval range = names_.interval(e);
  if (e->type == Type::kInt32) return range.low > INT32_MIN || range.high < INT32_MAX;
  return e->type == Type::kInt64 && (range.low > INT64_MIN || range.high < INT64_MAX);
}

std::string CExpr::value(const Expr& e) const { return piece(e).text; }

// A formula and how tightly its outermost operator binds. Parentheses stand only where C needs them: the text
// is read by people, and is what kernels are compared by.
CExpr::Piece CExpr::piece(const Expr& e) const {
  switch (e->op) {
    case Op::kConst:
      return e->type == Type::kString ? text(e->value) : c_literal(e->type, e->value);
    case Op::kAxis:
      return {"(int64_t)" + names_.axis(e->index), Binds::kUnary};
    case Op::kRead:
      return e->type == Type::kBool ? Piece(element(e) + " != 0", Binds::kCompare) : Piece(element(e));
    case Op::kSelect:
      return {fmt::format("{} ? {} : {}", piece(e->args[0]).in(Binds::kOr), piece(e->args[1]).in(Binds::kOr),
                          piece(e->args[2]).in(Binds::kOr)),
              Binds::kChoice};
    case Op::kCast:
      if (e->type == Type::kInt32 && e->args[0]->op == Op::kAxis) return names_.axis(e->args[0]->index);
      return cast(e->type, e->args[0]->type, piece(e->args[0]));
    case Op::kBitCast: {
      const Type from = e->args[0]->type;
      const std::string id = fmt::format("bits_{}_{}", suffix_of(from), suffix_of(e->type));
      return fmt::format(
          "{}({})",
          helper(id, fmt::format("static inline {1} {2}_{3}({0} x) {{\n  union {{ {4} from; {5} to; }} u;\n  "
                                 "u.to = 0;\n  u.from = ({4})x;\n  return u.to;\n}}",
                                 c_value_type(from), c_value_type(e->type), prefix_, id, info(from).c_name,
                                 info(e->type).c_name)),
          value(e->args[0]));
    }
    case Op::kInstruction:
      return instruct(e);
    default:
      return call(e);
  }
}

// Of short functions, which every compiler inlines that knows how to be told: gcc stops where a file grows.
std::string CExpr::inlined() const {
  const std::string inlined = upper_case(prefix_) + "_INLINE";
  helpers_.functions[inlined] = fmt::format(
      "#if defined(__GNUC__)\n#define {0} static inline __attribute__((always_inline))\n#else\n"
      "#define {0} static inline\n#endif",
      inlined);
  return inlined;
}

// A call of the instruction's function, which has the native and the portable form behind one guard:
//
//   KWS_INLINE int32_t kws_add_products(uint32_t a, uint32_t b, int32_t sum) {
//   #if defined(__ARM_FEATURE_DSP) ...
//     smlad by inline assembler
//   #else
//     the same bits in C
//   #endif }
//
// So the target shapes the loops, and the build's compiler flags alone decide what runs: C made for a
// Cortex-M4 is right anywhere. Operands that stand for several elements are passed as the address of the
// first.
std::string CExpr::instruct(const Expr& e) const {
  const Instruction& row = instructions()[static_cast<size_t>(e->index)];
  if (row.include) helpers_.preludes.insert(row.include);
  std::string portable = row.portable;
  if (boost::contains(portable, "NAME_requantize"))
    boost::replace_all(portable, "NAME_requantize",
                       helper("requantize", requantize_text(prefix_, inlined())));
  const std::string definition = fmt::format("{0} {1} {2}_{3}({4}) {{\n#if {5}\n{6}\n#else\n{7}\n#endif\n}}",
                                             inlined(), info(row.result).c_name, prefix_, row.name,
                                             row.parameters, row.guard, row.native, portable);
  std::string arguments;
  for (size_t k = 0; k < e->args.size(); ++k) {
    const bool address = reads_elements(row, k);
    arguments += (k > 0 ? ", " : "") + (address ? "&" + element(e->args[k]) : value(e->args[k]));
  }
  return fmt::format("{}({})", helper(row.name, definition), arguments);
}

// The lanes of a register at once: as many as vectors hold, the rest one by one.
//
//   kws_add_byte_products_lanes(acc0, x0, w0, 24);      acc0[l] = add_byte_products(x0, w0[l], acc0[l])
//
// The first operand is one for all lanes; the second is a register of all lanes. A factor that differs by
// lane is not this form, and the lanes are then computed in a loop.
std::string CExpr::over_lanes(const Expr& e, int lanes) const {
  if (e->op != Op::kInstruction) return "";
  const Instruction& row = instructions()[static_cast<size_t>(e->index)];
  if (!row.over_lanes || row.lane_operands > 0) return "";
  if (row.two_reads) return over_lanes_of_reads(e, lanes);
  if (names_axis(e->args[0], kLane) || e->args[1]->args.empty()) return "";
  instruct(e);  // for the rest of the lanes
  const std::string parameters = row.parameters, id = fmt::format("{}_lanes", row.name);
  const std::string definition = fmt::format(
      "{0} void {1}_{2}({3} *sum, {4}, const uint32_t *b, int n) {{\n  int l = 0;\n{5}"
      "  for (; l < n; ++l) sum[l] = {1}_{6}(a, b[l], sum[l]);\n}}",
      inlined(), prefix_, id, info(row.result).c_name, parameters.substr(0, parameters.find(',')),
      row.over_lanes, row.name);
  return fmt::format("{}({}, {}, {}, {});", helper(id, definition), names_.operand(e->args[2]->index),
                     value(e->args[0]), names_.operand(e->args[1]->index), lanes);
}

// The same of a row of (a, b, za, zb, sum) whose reads a and b lie side by side for the lanes.
std::string CExpr::over_lanes_of_reads(const Expr& e, int lanes) const {
  const Instruction& row = instructions()[static_cast<size_t>(e->index)];
  std::string arguments = names_.operand(e->args.back()->index);
  for (size_t k = 0; k + 1 < e->args.size(); ++k) {
    if (reads_elements(row, k) && coefficient_along(e->args[k]->args[0], kLane) != 1) return "";
    const Expr first = substitute(e->args[k], [](const Expr& x) {
      return x->op == Op::kAxis && x->index == kLane ? integer(0) : Expr();
    });
    arguments += ", " + (reads_elements(row, k) ? "&" + element(first) : value(first));
  }
  instruct(e);  // for the rest of the lanes
  const std::string parameters = row.parameters, id = fmt::format("{}_lanes", row.name);
  const std::string definition = fmt::format(
      "{0} void {1}_{2}(int32_t *sum, {3}, int n) {{\n  int l = 0;\n{4}"
      "  for (; l < n; ++l) sum[l] = {1}_{5}(a + l, b + l, za, zb, sum[l]);\n}}",
      inlined(), prefix_, id, parameters.substr(0, parameters.rfind(',')), row.over_lanes, row.name);
  return fmt::format("{}({}, {});", helper(id, definition), arguments, lanes);
}

// Where the elements of all lanes begin, which lie side by side.
std::string CExpr::first_of_lanes(const Expr& read) const {
  const Expr at = substitute(read->args[0], [](const Expr& e) {
    return e->op == Op::kAxis && e->index == kLane ? integer(0) : Expr();
  });
  return is_constant(at, 0) ? names_.operand(read->index) : "&" + element(with_arguments(read, {at}));
}

// Results of all lanes, `apart` elements from one to the next; the operands up to lane_operands are arrays,
// the others one for all. Only registers and the result are written so, at a distance that is the same from
// lane to lane: into a ring, whose places turn around, lanes are stored one by one.
std::string CExpr::stored_over_lanes(const Expr& target, const Expr& e, int lanes) const {
  if (e->op != Op::kInstruction) return "";
  const Instruction& row = instructions()[static_cast<size_t>(e->index)];
  const auto apart = target->args.empty() ? std::nullopt : coefficient_along(target->args[0], kLane);
  if (row.lane_operands == 0 || target->index < kResult || !apart) return "";
  // Parameters of the row, "int32_t sum, int32_t bias, ...", of which those of lanes become arrays.
  std::vector<std::string> parameters, lane;
  boost::split(parameters, row.parameters, boost::is_any_of(","));
  std::string arguments = fmt::format("{}, {}", first_of_lanes(target), *apart);
  for (size_t k = 0; k < e->args.size(); ++k) {
    boost::trim(parameters[k]);
    const std::string name = parameters[k].substr(parameters[k].find(' ') + 1);
    const bool of_lane = k < row.lane_operands;
    lane.push_back(of_lane ? name + "[l]" : name);
    if (of_lane)
      parameters[k] = fmt::format("const {} *{}", parameters[k].substr(0, parameters[k].find(' ')), name);
    arguments += ", " + (of_lane ? first_of_lanes(e->args[k]) : value(e->args[k]));
  }
  instruct(e);  // for the rest of the lanes
  const std::string id = fmt::format("{}_lanes", row.name);
  const std::string definition = fmt::format(
      "{0} void {1}_{2}({3} *out, int apart, {4}, int n) {{\n  int l = 0;\n{5}"
      "  for (; l < n; ++l) out[l * apart] = {1}_{6}({7});\n}}",
      inlined(), prefix_, id, info(row.result).c_name, boost::join(parameters, ", "), row.over_lanes,
      row.name, boost::join(lane, ", "));
  return fmt::format("{}({}, {});", helper(id, definition), arguments, lanes);
}

namespace {

// n halves as floats, or the other way, as many at once as vectors hold.
std::string halves_over_lanes(const std::string& prefix, const char* name, const char* parameters,
                              const std::array<const char*, 2>& vectors) {
  return fmt::format(
      "static inline void {0}_{1}_lanes({2}, int n) {{\n  int l = 0;\n"
      "#if defined(__GNUC__) && defined(__AVX512F__)\n  for (; l + 16 <= n; l += 16)\n    {3};\n#endif\n"
      "#if defined(__GNUC__) && defined(__F16C__)\n  for (; l + 8 <= n; l += 8)\n    {4};\n#endif\n"
      "  for (; l < n; ++l) to[l] = {0}_{1}(from[l]);\n}}",
      prefix, name, parameters, vectors[0], vectors[1]);
}

}  // namespace

// Whole vectors need both sides without gaps. The conversions that are called for the rest of the lanes are
// made known by printing one, whose text nobody takes.
std::string CExpr::converted_over_lanes(const Expr& target, const Expr& value, int lanes) const {
  const bool widens = value->op == Op::kCast && value->args[0]->op == Op::kRead &&
                      value->args[0]->type == Type::kFloat16 && target->type == Type::kFloat32;
  const bool narrows =
      value->op == Op::kRead && value->type == Type::kFloat32 && target->type == Type::kFloat16;
  if (!widens && !narrows) return "";
  const Expr& from = widens ? value->args[0] : value;
  const auto side_by_side = [](const Expr& read) {
    return !read->args.empty() && coefficient_along(read->args[0], kLane) == 1;
  };
  if (!side_by_side(target) || !side_by_side(from)) return "";
  helpers_.preludes.insert(kIncludeX86);
  widens ? cast(Type::kFloat32, Type::kFloat16, Piece(""))
         : stored(Type::kFloat16, Type::kFloat32, Piece(""));
  const char* name = widens ? "half_to_float" : "float_to_half";
  const std::string definition =
      widens
          ? halves_over_lanes(
                prefix_, name, "float *to, const uint16_t *from",
                {"_mm512_storeu_ps(to + l, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)"
                 "(from + l))))",
                 "_mm256_storeu_ps(to + l, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)"
                 "(from + l))))"})
          : halves_over_lanes(prefix_, name, "uint16_t *to, const float *from",
                              {"_mm256_storeu_si256((__m256i *)(void *)(to + l), "
                               "_mm512_cvtps_ph(_mm512_loadu_ps(from + l), 8))",
                               "_mm_storeu_si128((__m128i *)(void *)(to + l), "
                               "_mm256_cvtps_ph(_mm256_loadu_ps(from + l), 0))"});
  return fmt::format("{}({}, {}, {});", helper(fmt::format("{}_lanes", name), definition),
                     first_of_lanes(target), first_of_lanes(from), lanes);
}

// An int that is a sum is printed as constants times axes, in the order of the axes, whatever order the
// formula has: equal addresses are equal text, by which kernels are found to be one. What is no sum of axes
// is printed as it is built; what is no int at all is computed in int64_t and converted.
std::string CExpr::index(const Expr& e) const {
  if (const auto form = affine_form(e)) {
    std::string sum;
    for (const auto& [a, factor] : form->terms) {
      const std::string name = names_.axis(a);
      const int64_t size = std::abs(factor);
      const std::string term = size == 1 ? name : fmt::format("{} * {}", size, name);
      sum += sum.empty() ? (factor < 0 ? "-" + term : term) : (factor < 0 ? " - " : " + ") + term;
    }
    if (sum.empty()) return fmt::format("{}", form->constant);
    if (form->constant != 0)
      sum += fmt::format(" {} {}", form->constant < 0 ? '-' : '+', std::abs(form->constant));
    return sum;
  }
  switch (e->op) {
    case Op::kAdd:
      return fmt::format("{} + {}", index(e->args[0]), index(e->args[1]));
    case Op::kSub:
      return fmt::format("{} - {}", index(e->args[0]), factor(e->args[1]));
    case Op::kMul:
      return fmt::format("{} * {}", factor(e->args[0]), factor(e->args[1]));
    case Op::kDiv:
    case Op::kMod:
      return quotient(e);
    default:
      return chooses_int(e) ? "(" + alone(e) + ")" : fmt::format("(int)({})", value(e));
  }
}

// Minima and maxima of ints as conditionals: no function call in what loops count by, which compilers look
// through.
std::string CExpr::alone(const Expr& e) const {
  if (!chooses_int(e)) return index(e);
  if (e->op == Op::kSelect)
    return fmt::format("{} ? {} : {}", piece_of_condition(e->args[0]).in(Binds::kOr), index(e->args[1]),
                       index(e->args[2]));
  return fmt::format("{0} {2} {1} ? {0} : {1}", index(e->args[0]), index(e->args[1]),
                     e->op == Op::kMin ? '<' : '>');
}

// Whether it is a conditional of ints.
bool CExpr::chooses_int(const Expr& e) const {
  return (e->op == Op::kMin || e->op == Op::kMax || e->op == Op::kSelect) && of_ints(e);
}

// Whether all that it is made of is an int; data may be beyond.
bool CExpr::of_ints(const Expr& e) const {
  constexpr int64_t kInt = std::numeric_limits<int>::max();
  return !any_of(e, [&](const Expr& x) {
    if (x->type == Type::kBool) return false;
    const ClosedInterval range = names_.interval(x);
    return x->op == Op::kRead || x->type != Type::kInt64 || range.low < -kInt || range.high > kInt;
  });
}

// To stand beside * / %.
std::string CExpr::factor(const Expr& e) const {
  const std::string text = index(e);
  const bool whole = text.find(' ') == std::string::npos && text[0] != '-';
  return whole || chooses_int(e) ? text : "(" + text + ")";
}

// a / b and a % b by one positive b. C's remainder is that of numbers from 0, to which others are moved: (a +
// 3 * b) % b for an a from -3 * b on. A dividend that may leave int, or a divisor that is not one positive
// number, is computed in int64_t with the semantics of expr.h.
std::string CExpr::quotient(const Expr& e) const {
  const Expr &a = e->args[0], &by = e->args[1];
  const ClosedInterval range = names_.interval(a);
  const ClosedInterval divisor = names_.interval(by);
  constexpr int64_t kInt = std::numeric_limits<int>::max();
  if (divisor.low != divisor.high || divisor.low <= 0 || divisor.high > kInt || range.low < -kInt ||
      range.high > kInt)
    return fmt::format("(int)({})", value(e));
  const std::string b = factor(by);
  if (e->op == Op::kDiv) return fmt::format("{} / {}", factor(a), b);
  if (range.low >= 0) return fmt::format("{} % {}", factor(a), b);
  const int64_t times = ceil_div(-range.low, divisor.low), below = times * divisor.low;
  if (range.high + below > kInt) return fmt::format("(int)({})", value(e));
  return fmt::format("({} + {}) % {}", index(a), factor(by * integer(times)), b);
}

std::string CExpr::condition(const Expr& e) const { return piece_of_condition(e).text; }

// Comparisons of ints as such, instead of in int64_t: they stand in inner loops, and 64 bits take a 32-bit
// core several instructions.
CExpr::Piece CExpr::piece_of_condition(const Expr& e) const {
  const bool comparable = !e->args.empty() && e->args[0]->type == Type::kInt64 && of_ints(e);
  switch (e->op) {
    case Op::kAnd:
      return {fmt::format("{} && {}", piece_of_condition(e->args[0]).in(Binds::kAnd),
                          piece_of_condition(e->args[1]).in(Binds::kAnd)),
              Binds::kAnd};
    case Op::kLt:
    case Op::kLe:
      if (comparable)
        return {fmt::format("{} {} {}", index(e->args[0]), info(e->op).name, index(e->args[1])),
                Binds::kCompare};
      break;
    default:
      break;
  }
  return piece(e);
}

// Whether it is one of small elements, of each lane one, that lie side by side from a place that is worked
// out before.
bool CExpr::is_side_by_side(const Expr& read) const {
  if (read->index >= kResult || read->args.empty() || size_of(read->type) >= size_of(Type::kInt32))
    return false;
  return coefficient_along(read->args[0], kLane) == 1 &&
         any_of(read->args[0], [](const Expr& e) { return e->op == Op::kAxis && e->index >= kInts; });
}

// What lies side by side is read from a pointer to the first. In an index that is one sum of ints gcc does
// not see that it does: it reads byte by byte and joins these, for 3 times the cycles of a depthwise
// convolution.
std::string CExpr::element(const Expr& read) const {
  const std::string name = names_.operand(read->index);
  if (is_side_by_side(read)) return fmt::format("({})[{}]", first_of_lanes(read), names_.axis(kLane));
  return read->args.empty() ? name : fmt::format("{}[{}]", name, index(read->args[0]));
}

}  // namespace arenac
