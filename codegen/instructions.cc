#include "codegen/instructions.h"

#include <algorithm>

#include "frontend/error.h"

namespace arenac {
namespace {

// Of Armv7E-M and Armv8-M with the DSP extension (Cortex-M4, M7, M33): SMLAD, SXTB16 and their kin, in Thumb
// and for little-endian memory, where byte 0 of a word is the first.
constexpr const char* kDsp =
    "defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb__) && !defined(__ARM_BIG_ENDIAN)";

// SSAT and USAT are older than DSP: a Cortex-M3 has them.
constexpr const char* kSaturates = "defined(__GNUC__) && defined(__ARM_FEATURE_SAT) && defined(__thumb__)";

// Two numbers of 16 bits as one of 32.
Scalar pair_of(int64_t low, int64_t high) {
  return {.i = static_cast<int64_t>(static_cast<uint32_t>(low & 0xffff) | static_cast<uint32_t>(high & 0xffff)
                                                                              << 16)};
}
int64_t low_half(Scalar pair) { return static_cast<int16_t>(pair.i & 0xffff); }
int64_t high_half(Scalar pair) { return static_cast<int16_t>(pair.i >> 16 & 0xffff); }

// A row's operands as `meaning` takes them: first the elements that a read stands for, then the others in the
// order of the C parameters. Here four bytes and their zero.
Scalar even(std::span<const Scalar> x) { return pair_of(x[0].i + x[4].i, x[2].i + x[4].i); }
Scalar odd(std::span<const Scalar> x) { return pair_of(x[1].i + x[4].i, x[3].i + x[4].i); }

Scalar add_products(std::span<const Scalar> x) {
  const int64_t sum = low_half(x[0]) * low_half(x[1]) + high_half(x[0]) * high_half(x[1]);
  return apply(Op::kAdd, Type::kInt32, x[2], {.i = sum});
}

Scalar add_low_product(std::span<const Scalar> x) {
  return apply(Op::kAdd, Type::kInt32, x[2], {.i = low_half(x[0]) * low_half(x[1])});
}
Scalar add_high_product(std::span<const Scalar> x) {
  return apply(Op::kAdd, Type::kInt32, x[2], {.i = high_half(x[0]) * high_half(x[1])});
}

Scalar join_low(std::span<const Scalar> x) { return pair_of(low_half(x[0]), low_half(x[1])); }
Scalar join_high(std::span<const Scalar> x) { return pair_of(high_half(x[0]), high_half(x[1])); }

// Four bytes as a word, the first lowest; kMore is 128 to bring bytes from one range to the other, which is
// to flip their highest bit.
template <int64_t kMore>
Scalar word(std::span<const Scalar> x) {
  uint32_t bytes = 0;
  for (int k = 0; k < 4; ++k) bytes |= static_cast<uint32_t>((x[k].i + kMore) & 0xff) << 8 * k;
  return {.i = static_cast<int64_t>(bytes)};
}
// As VPDPBUSD: bytes of the first from 0 to 255, of the second from -128 to 127. It adds in 32 bits and
// wraps; VPMADDUBSW, which saturates pairs at 16 bits, would have other bits.
Scalar add_byte_products(std::span<const Scalar> x) {
  int64_t sum = 0;
  for (int k = 0; k < 4; ++k)
    sum += ((x[0].i >> 8 * k) & 0xff) * static_cast<int8_t>((x[1].i >> 8 * k) & 0xff);
  return apply(Op::kAdd, Type::kInt32, x[2], {.i = sum});
}

// kLessA, kLessB: what brings the bytes to -128 to 127.
template <int kCount, int64_t kLessA, int64_t kLessB>
Scalar dot(std::span<const Scalar> x) {
  int64_t sum = 0;
  for (int k = 0; k < kCount; ++k) sum += (x[k].i - kLessA) * (x[kCount + k].i - kLessB);
  return apply(Op::kAdd, Type::kInt32, x[2 * kCount], {.i = sum});
}
// The operands of dot, with the distance before the sum: to the meaning, which has the elements themselves,
// that is nothing.
template <int kCount, int64_t kLessA, int64_t kLessB>
Scalar apart_dot(std::span<const Scalar> x) {
  std::vector<Scalar> all(x.begin(), x.begin() + 2 * kCount);
  all.push_back(x[2 * kCount + 1]);
  return dot<kCount, kLessA, kLessB>(all);
}
// The sum of one factor alone, for the other's zero.
template <int kCount, int64_t kLess>
Scalar total(std::span<const Scalar> x) {
  int64_t sum = 0;
  for (int k = 0; k < kCount; ++k) sum += x[k].i - kLess;
  return apply(Op::kAdd, Type::kInt32, x[kCount], {.i = sum});
}

Scalar add_product(std::span<const Scalar> x) {
  return apply(Op::kAdd, Type::kInt32, x[4], {.i = (x[0].i + x[2].i) * (x[1].i + x[3].i)});
}

// As SDOT: both words from -128 to 127.
Scalar add_signed_products(std::span<const Scalar> x) {
  int64_t sum = 0;
  for (int k = 0; k < 4; ++k)
    sum += static_cast<int8_t>((x[0].i >> 8 * k) & 0xff) * static_cast<int8_t>((x[1].i >> 8 * k) & 0xff);
  return apply(Op::kAdd, Type::kInt32, x[2], {.i = sum});
}

// Of an int32: the type of the result is int32, too, whatever byte it fits.
template <int64_t kLow, int64_t kHigh>
Scalar saturated(std::span<const Scalar> x) {
  return {.i = std::clamp(x[0].i, kLow, kHigh)};
}

// min(max(requantize(sum + bias, scale) + zero, low), high)
Scalar quantised(std::span<const Scalar> x) {
  const Scalar sum = apply(Op::kAdd, Type::kInt32, x[0], x[1]);
  const Scalar steps = apply(Op::kRequantize, Type::kInt32, sum, x[2]);
  return {.i = std::clamp(steps.i + x[3].i, x[4].i, x[5].i)};
}

// Extends bytes 0 and 2 (of the word turned by 8 bits: 1 and 3) to 16 bits and adds z to each.
#define EXTEND(how, turned)                                                       \
  "  uint32_t word;\n  uint32_t pair;\n  __builtin_memcpy(&word, a, 4);\n"        \
  "  if (__builtin_constant_p(z) && z == 0)\n"                                    \
  "    __asm__(\"" how "b16 %0, %1" turned                                        \
  "\" : \"=r\"(pair) : \"r\"(word));\n"                                           \
  "  else\n"                                                                      \
  "    __asm__(\"" how "ab16 %0, %1, %2" turned                                   \
  "\" : \"=r\"(pair) : \"r\"((uint32_t)(z & 0xffff) * 0x10001u), \"r\"(word));\n" \
  "  return pair;"
// The same in C, for a machine that has no such instruction or another order of bytes.
#define HALVES(first, second) \
  "  return ((uint32_t)(a[" first "] + z) & 0xffffu) | (uint32_t)(a[" second "] + z) << 16;"

constexpr const char* kTwo = "uint32_t a, uint32_t b";
constexpr const char* kSum = "uint32_t a, uint32_t b, int32_t sum";
// Inline assembler: C has no operator for it. Its operands are registers alone, so that loads and their order
// stay the compiler's.
#define ADD(mnemonic)                      \
  "  int32_t next;\n  __asm__(\"" mnemonic \
  " %0, %1, %2, %3\" : \"=r\"(next) : \"r\"(a), \"r\"(b), \"r\"(sum));\n  return next;"
// Two words to one; of SATURATE one to one.
#define JOIN(text) \
  "  uint32_t pair;\n  __asm__(\"" text "\" : \"=r\"(pair) : \"r\"(a), \"r\"(b));\n  return pair;"
#define SATURATE(mnemonic) \
  "  int32_t near;\n  __asm__(\"" mnemonic " %0, #8, %1\" : \"=r\"(near) : \"r\"(x));\n  return near;"
// Products of the signed halves of two words: at most 2^30, so that an int holds each, and wrapping sums are
// those of uint32_t.
#define LOW "((int32_t)(int16_t)(a & 0xffffu) * (int16_t)(b & 0xffffu))"
#define HIGH "((int32_t)(int16_t)(a >> 16) * (int16_t)(b >> 16))"

constexpr const char* kLittleEndian =
    "defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__";
// memcpy of a constant size is one load, whatever the alignment. To flip the highest bit of each byte is to
// add 128 to it modulo 256, without carries from one to the next.
#define WORD(change) "  uint32_t word;\n  __builtin_memcpy(&word, a, 4);\n  return word" change ";"
#define BYTES(more)                                                     \
  "  return ((uint32_t)(a[0]" more ") & 0xffu) | ((uint32_t)(a[1]" more \
  ") & 0xffu) << 8 |\n"                                                 \
  "         ((uint32_t)(a[2]" more ") & 0xffu) << 16 | ((uint32_t)(a[3]" more ") & 0xffu) << 24;"
// Byte k / 8 of both words, as add_byte_products and add_signed_products take them.
#define PRODUCT(k) "(uint32_t)((int32_t)(a >> " k " & 0xffu) * (int8_t)(b >> " k " & 0xffu))"

#define SIGNED_PRODUCT(k) "(uint32_t)((int8_t)(a >> " k " & 0xffu) * (int8_t)(b >> " k " & 0xffu))"

// Neon, with sdot or of pairs of products.
#define NEON_TO(value) "    vst1q_s32(sum + l, " value ");\n"
constexpr const char* kNeonSignedProducts =
    "#if defined(__GNUC__) && defined(__aarch64__) && defined(__ARM_NEON) && !defined(__ARM_BIG_ENDIAN)\n"
    "  for (; l + 4 <= n; l += 4) {\n"
    "    const int8x16_t w = vreinterpretq_s8_u32(vld1q_u32(b + l));\n"
    "    const int8x16_t x = vreinterpretq_s8_u32(vdupq_n_u32(a));\n"
    "#if defined(__ARM_FEATURE_DOTPROD)\n" NEON_TO("vdotq_s32(vld1q_s32(sum + l), w, x)")
    "#else\n"
    "    const int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8(w), vget_low_s8(x)));\n"
    "    const int32x4_t high = vpaddlq_s16(vmull_high_s8(w, x));\n"
    NEON_TO("vaddq_s32(vld1q_s32(sum + l), vpaddq_s32(low, high))")
    "#endif\n  }\n#endif\n";

// In vectors of so many lanes: products of bytes (VNNI), or of 16 bits each (VPMADDWD of even and of odd
// bytes, extended), where there are these. `all` is the word in all lanes.
//
//   24 lanes   | 16 of a zmm | 8 of a ymm |       the blocks that byte_lanes.h counts on; a rest one by one
//
//   VPDPBUSD   sum[l] += x0 * w[l]0 + x1 * w[l]1 + x2 * w[l]2 + x3 * w[l]3
//   VPMADDWD   even: x0 * w[l]0 + x2 * w[l]2, odd: x1 * w[l]1 + x3 * w[l]3
#define VECTORS(mm, vector, lanes, bytes, all, words, load, store)                        \
  "#if defined(__GNUC__) && " bytes                                                       \
  "\n"                                                                                    \
  "  for (; l + " lanes " <= n; l += " lanes                                              \
  ")\n"                                                                                   \
  "    " store "(sum + l), " mm "_dpbusd_epi32(" load "(sum + l)), " all ",\n      " load \
  "(b + l))));\n"                                                                         \
  "#elif defined(__GNUC__) && " words                                                     \
  "\n"                                                                                    \
  "  for (; l + " lanes " <= n; l += " lanes                                              \
  ") {\n"                                                                                 \
  "    const " vector " w = " load                                                        \
  "(b + l));\n"                                                                           \
  "    " vector " even = " mm "_srai_epi16(" mm                                           \
  "_slli_epi16(w, 8), 8);\n"                                                              \
  "    " vector " odd = " mm                                                              \
  "_srai_epi16(w, 8);\n"                                                                  \
  "    even = " mm "_madd_epi16(even, " mm                                                \
  "_set1_epi32((int)(a & 0x00ff00ffu)));\n"                                               \
  "    odd = " mm "_madd_epi16(odd, " mm                                                  \
  "_set1_epi32((int)(a >> 8 & 0x00ff00ffu)));\n"                                          \
  "    " store "(sum + l), " mm "_add_epi32(" load "(sum + l)), " mm                      \
  "_add_epi32(even, odd)));\n  }\n#endif\n"
// In all lanes of the widest vectors: blocks of several widths share it.
#define IN_ALL "_mm512_set1_epi32((int)a)"

// Names of intrinsics; only files whose kernels call them include these.
constexpr const char* kIncludeNeon =
    "#if defined(__aarch64__) && defined(__ARM_NEON)\n#include <arm_neon.h>\n#endif\n";
constexpr const char* kIncludeHelium =
    "#if defined(__GNUC__) && defined(__ARM_FEATURE_MVE)\n#include <arm_mve.h>\n#endif\n";

constexpr const char* kHelium =
    "defined(__GNUC__) && defined(__ARM_FEATURE_MVE) && !defined(__ARM_BIG_ENDIAN)";
// Loads of 16 bytes, and of 8 and 4 that become wider lanes; u8 less 128, by flipping the highest bit or by a
// subtraction in the wider lane.
#define HELIUM_16_s8(p) "vldrbq_s8(" p ")"
#define HELIUM_16_u8(p) "vreinterpretq_s8_u8(veorq_u8(vldrbq_u8(" p "), vdupq_n_u8(128)))"
#define HELIUM_8_s8(p) "vldrbq_s16(" p ")"
#define HELIUM_8_u8(p) "vsubq_n_s16(vreinterpretq_s16_u16(vldrbq_u16(" p ")), 128)"
#define HELIUM_4_s8(p) "vldrbq_s32(" p ")"
#define HELIUM_4_u8(p) "vsubq_n_s32(vreinterpretq_s32_u32(vldrbq_u32(" p ")), 128)"
// Where each lane's byte lies from the first: 0, apart, 2 * apart, ... as VIDUP counts and VLDRB gathers. In
// lanes of 16 bits they are at most 7 * apart, which kMostApart bounds.
#define OFFSETS(bits) "vmulq_n_u" bits "(vidupq_n_u" bits "(0, 1), (uint" bits "_t)apart)"
#define APART_8_s8(p) "vldrbq_gather_offset_s16(" p ", " OFFSETS("16") ")"
#define APART_8_u8(p) \
  "vsubq_n_s16(vreinterpretq_s16_u16(vldrbq_gather_offset_u16(" p ", " OFFSETS("16") ")), 128)"
#define APART_4_s8(p) "vldrbq_gather_offset_s32(" p ", " OFFSETS("32") ")"
#define APART_4_u8(p) \
  "vsubq_n_s32(vreinterpretq_s32_u32(vldrbq_gather_offset_u32(" p ", " OFFSETS("32") ")), 128)"
#define LESS_s8 0
#define LESS_u8 128
#define SIGNED_s8(x) x
#define SIGNED_u8(x) "(" x " - 128)"
// The portable form, which a compiler without Helium may vectorise as it likes.
#define ADD_EACH(n, term) \
  "  for (int k = 0; k < " n "; ++k) sum = (int32_t)((uint32_t)sum + (uint32_t)(" term "));\n  return sum;"
// Of n bytes, each in a lane of a vector of so many bits: VMLADAVA multiplies, adds across the vector and to
// `sum` in one instruction, 16 products of bytes where SMLAD has two. It takes both factors as signed:
// unsigned ones are brought to -128 to 127 when they are loaded.
#define DOT(n, bits, a, b)                                                                           \
  {                                                                                                  \
    "dot" #n "_" #a #b, Type::kInt32, n, dot<n, LESS_##a, LESS_##b>, kHelium,                        \
        a##_POINTER("a") ", " b##_POINTER("b") ", int32_t sum",                                      \
        "  return vmladavaq_s" #bits "(sum, " HELIUM_##n##_##a("a") ", " HELIUM_##n##_##b("b") ");", \
        ADD_EACH(#n, SIGNED_##a("a[k]") " * " SIGNED_##b("b[k]")), 1, nullptr, kIncludeHelium, true  \
  }
// VADDVA adds all lanes of a vector to `sum`.
#define TOTAL(n, bits, a)                                                                                    \
  {                                                                                                          \
    "total" #n "_" #a, Type::kInt32, n, total<n, LESS_##a>, kHelium, a##_POINTER("a") ", int32_t sum",       \
        "  return vaddvaq_s" #bits "(sum, " HELIUM_##n##_##a("a") ");", ADD_EACH(#n, SIGNED_##a("a[k]")), 1, \
        nullptr, kIncludeHelium                                                                              \
  }
// The first factor gathered, the second from where it lies.
#define APART_DOT(n, bits, a, b)                                                                             \
  {                                                                                                          \
    "apart_dot" #n "_" #a #b, Type::kInt32, n, apart_dot<n, LESS_##a, LESS_##b>, kHelium,                    \
        a##_POINTER("a") ", " b##_POINTER("b") ", int32_t apart, int32_t sum",                               \
        "  return vmladavaq_s" #bits "(sum, " APART_##n##_##a("a") ", " HELIUM_##n##_##b("b") ");",          \
        ADD_EACH(#n, SIGNED_##a("a[k * apart]") " * " SIGNED_##b("b[k]")), 1, nullptr, kIncludeHelium, true, \
        true                                                                                                 \
  }
#define APART_DOTS(n, bits)                                                           \
  APART_DOT(n, bits, s8, s8), APART_DOT(n, bits, s8, u8), APART_DOT(n, bits, u8, s8), \
      APART_DOT(n, bits, u8, u8)
#define s8_POINTER(p) "const int8_t *" p
#define u8_POINTER(p) "const uint8_t *" p
#define DOTS(n, bits)                                                                     \
  DOT(n, bits, s8, s8), DOT(n, bits, s8, u8), DOT(n, bits, u8, s8), DOT(n, bits, u8, u8), \
      TOTAL(n, bits, s8), TOTAL(n, bits, u8)

// Four bytes in lanes of 32 bits, with their zero.
#define HELIUM_LANES_s8(x, z) "vldrbq_s32(" x " + l)"
#define HELIUM_LANES_u8(x, z) "vreinterpretq_s32_u32(vldrbq_u32(" x " + l))"
#define HELIUM_ADD_ZERO(x, z) \
  "    if (!(__builtin_constant_p(" z ") && " z " == 0)) " x " = vaddq_n_s32(" x ", " z ");\n"
#define PRODUCT_OF_LANES(a, b)                                                                               \
  {                                                                                                          \
    "add_product_" #a #b, Type::kInt32, 1, add_product, "0",                                               \
   a##_POINTER("a") ", " b##_POINTER("b") ", int32_t za, int32_t zb, int32_t sum", "",                    \
   "  return (int32_t)((uint32_t)sum + (uint32_t)((*a + za) * (*b + zb)));", 2,                         \
   "#if defined(__GNUC__) && defined(__ARM_FEATURE_MVE) && !defined(__ARM_BIG_ENDIAN)\n"                 \
   "  for (; l + 4 <= n; l += 4) {\n    int32x4_t x = " HELIUM_LANES_##a("a", "za")                      \
   ";\n    int32x4_t y = " HELIUM_LANES_##b("b", "zb") ";\n    int32x4_t to;\n" HELIUM_ADD_ZERO("x", "za") HELIUM_ADD_ZERO("y", "zb") \
   "    __builtin_memcpy(&to, sum + l, sizeof to);\n    to = vaddq_s32(to, vmulq_s32(x, y));\n"         \
   "    __builtin_memcpy(sum + l, &to, sizeof to);\n  }\n#endif\n", kIncludeHelium, true \
  }

// Four at a time, so that the cycles are those of what lanes read and store: what is rounded is held where it
// was before its zero is added, within 2^22.
#define QUANTISED(letters, type, result)                                                                  \
  {                                                                                                       \
    "requantized_" letters, result, 0, quantised, "0",                                                    \
        "int32_t sum, int32_t bias, float scale, int32_t zero, int32_t low, int32_t high", "",            \
        "  const int32_t x = NAME_requantize((int32_t)((uint32_t)sum + (uint32_t)bias), scale) + zero;\n" \
        "  return (" type ")(x < low ? low : x > high ? high : x);",                                      \
        9,                                                                                                \
        "#if defined(__GNUC__) && defined(__ARM_FEATURE_MVE) && __ARM_FEATURE_MVE & 2 && "                \
        "!defined(__ARM_BIG_ENDIAN)\n"                                                                    \
        "  for (; l + 4 <= n; l += 4) {\n    int32x4_t x;\n    int32x4_t b;\n    float32x4_t s;\n"        \
        "    const uint32x4_t places = {0, (uint32_t)apart, 2 * (uint32_t)apart, 3 * (uint32_t)apart};\n" \
        "    __builtin_memcpy(&x, sum + l, sizeof x);\n    __builtin_memcpy(&b, bias + l, sizeof b);\n"   \
        "    __builtin_memcpy(&s, scale + l, sizeof s);\n"                                                \
        "    x = vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(vaddq_s32(x, b)), s));\n"                         \
        "    x = vminq_s32(vmaxq_s32(x, vdupq_n_s32(low - zero)), vdupq_n_s32(high - zero));\n"           \
        "    x = vaddq_n_s32(x, zero);\n"                                                                 \
        "    if (apart == 1)\n      vstrbq_s32((int8_t *)out + l, x);\n    else\n"                        \
        "      vstrbq_scatter_offset_s32((int8_t *)out + l * apart, places, x);\n  }\n#endif\n",          \
        kIncludeHelium, false, false, 3                                                                   \
  }

}  // namespace

const std::vector<Instruction>& instructions() {
  static const std::vector<Instruction> all = {
      // Halves of words (DSP). Cycles are beside the load of the elements, which counts as a read.
      {"even_s8", Type::kUint32, 4, even, kDsp, "const int8_t *a, int32_t z", EXTEND("sxt", ""),
       HALVES("0", "2"), 1},
      {"odd_s8", Type::kUint32, 4, odd, kDsp, "const int8_t *a, int32_t z", EXTEND("sxt", ", ror #8"),
       HALVES("1", "3"), 1},
      {"even_u8", Type::kUint32, 4, even, kDsp, "const uint8_t *a, int32_t z", EXTEND("uxt", ""),
       HALVES("0", "2"), 1},
      {"odd_u8", Type::kUint32, 4, odd, kDsp, "const uint8_t *a, int32_t z", EXTEND("uxt", ", ror #8"),
       HALVES("1", "3"), 1},
      // PKHBT and PKHTB take a half of each of two words.
      {"join_low", Type::kUint32, 0, join_low, kDsp, kTwo, JOIN("pkhbt %0, %1, %2, lsl #16"),
       "  return (a & 0xffffu) | b << 16;", 1},
      {"join_high", Type::kUint32, 0, join_high, kDsp, kTwo, JOIN("pkhtb %0, %2, %1, asr #16"),
       "  return a >> 16 | (b & 0xffff0000u);", 1},
      {"add_products", Type::kInt32, 0, add_products, kDsp, kSum, ADD("smlad"),
       "  return (int32_t)((uint32_t)sum + (uint32_t)" LOW " + (uint32_t)" HIGH ");", 1},
      {"add_low_product", Type::kInt32, 0, add_low_product, kDsp, kSum, ADD("smlabb"),
       "  return (int32_t)((uint32_t)sum + (uint32_t)" LOW ");", 1},
      {"add_high_product", Type::kInt32, 0, add_high_product, kDsp, kSum, ADD("smlatt"),
       "  return (int32_t)((uint32_t)sum + (uint32_t)" HIGH ");", 1},
      // Words of bytes (little-endian machines; else byte by byte) and what multiplies them, all lanes at
      // once.
      {"word_s8", Type::kUint32, 4, word<128>, kLittleEndian, "const int8_t *a", WORD(" ^ 0x80808080u"),
       BYTES(" + 128"), 1},
      {"word_u8", Type::kUint32, 4, word<0>, kLittleEndian, "const uint8_t *a", WORD(""), BYTES(""), 1},
      {"signed_word_s8", Type::kUint32, 4, word<0>, kLittleEndian, "const int8_t *a", WORD(""), BYTES(""), 1},
      {"signed_word_u8", Type::kUint32, 4, word<128>, kLittleEndian, "const uint8_t *a",
       WORD(" ^ 0x80808080u"), BYTES(" + 128"), 1},
      {"join_bytes", Type::kUint32, 0, word<0>, "0", "int32_t a, int32_t b, int32_t c, int32_t d", "",
       "  return ((uint32_t)a & 0xffu) | ((uint32_t)b & 0xffu) << 8 | ((uint32_t)c & 0xffu) << 16 | "
       "(uint32_t)d << 24;",
       3},
      {"add_byte_products", Type::kInt32, 0, add_byte_products, "0", kSum, "",
       "  return (int32_t)((uint32_t)sum + " PRODUCT("0") " + " PRODUCT("8") " +\n    " PRODUCT(
           "16") " + " PRODUCT("24") ");",
       4,  // without VNNI
       VECTORS("_mm512", "__m512i", "16", "defined(__AVX512VNNI__)", IN_ALL, "defined(__AVX512BW__)",
               "_mm512_loadu_si512((const void *)", "_mm512_storeu_si512((void *)")
           VECTORS("_mm256", "__m256i", "8", "defined(__AVX512VNNI__) && defined(__AVX512VL__)",
                   "_mm512_castsi512_si256(" IN_ALL ")", "defined(__AVX2__)",
                   "_mm256_loadu_si256((const __m256i *)", "_mm256_storeu_si256((__m256i *)")
               VECTORS("_mm", "__m128i", "4", "defined(__AVX512VNNI__) && defined(__AVX512VL__)",
                       "_mm512_castsi512_si128(" IN_ALL ")", "defined(__AVX2__)",
                       "_mm_loadu_si128((const __m128i *)", "_mm_storeu_si128((__m128i *)"),
       kIncludeX86},
      {"add_signed_products", Type::kInt32, 0, add_signed_products, "0", kSum, "",
       "  return (int32_t)((uint32_t)sum + " SIGNED_PRODUCT("0") " + " SIGNED_PRODUCT(
           "8") " +\n    " SIGNED_PRODUCT("16") " + " SIGNED_PRODUCT("24") ");",
       1, kNeonSignedProducts, kIncludeNeon},
      // Clamps to a byte, and whole results.
      {"saturate_s8", Type::kInt32, 0, saturated<-128, 127>, kSaturates, "int32_t x", SATURATE("ssat"),
       "  return x < -128 ? -128 : x > 127 ? 127 : x;", 1},
      {"saturate_u8", Type::kInt32, 0, saturated<0, 255>, kSaturates, "int32_t x", SATURATE("usat"),
       "  return x < 0 ? 0 : x > 255 ? 255 : x;", 1},
      // A clamped result as bytes: of the floating-point kind of Helium, else element by element.
      QUANTISED("s8", "int8_t", Type::kInt8),
      QUANTISED("u8", "uint8_t", Type::kUint8),
      PRODUCT_OF_LANES(s8, s8),
      PRODUCT_OF_LANES(s8, u8),
      PRODUCT_OF_LANES(u8, s8),
      PRODUCT_OF_LANES(u8, u8),
      // Helium: vectors of 16 bytes, or of 8 and 4 that are widened as they are loaded.
      DOTS(16, 8),
      DOTS(8, 16),
      DOTS(4, 32),
      APART_DOTS(8, 16),
      APART_DOTS(4, 32),
  };
  return all;
}

Expr instruction(const std::string& name, std::vector<Expr> operands) {
  const auto& all = instructions();
  for (size_t k = 0; k < all.size(); ++k)
    if (all[k].name == name)
      return Expr(std::make_shared<const Expr::Tree>(
          Expr::Tree{Op::kInstruction, all[k].result, std::move(operands), {}, static_cast<int>(k)}));
  internal_error(__FILE__, __LINE__, "no instruction is called " + name);
}

}  // namespace arenac
