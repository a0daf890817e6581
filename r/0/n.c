/* model.onnx compiled by arenac 0.1.0. Do not edit. */
#define N_INTERNAL
#include "n.h"

#include <float.h>
#include <limits.h>
#include <math.h>

#if CHAR_BIT != 8 || UINT_MAX < 0xffffffffu || FLT_RADIX != 2 || FLT_MANT_DIG != 24 || FLT_MAX_EXP != 128
#error "n.c takes bytes of 8 bits, an int of at least 32 and IEEE 754 numbers for granted"
#endif
/* It also takes for granted that negative numbers are two's complement and that >> keeps the sign. */
typedef char n_takes_for_granted[(int32_t)0xfffffffeu == -2 && -2 >> 1 == -1 && sizeof(float) == 4 ?
    1 : -1];

#if (defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) || defined(__BIG_ENDIAN__) || \
    defined(__ARMEB__) || (defined(__IAR_SYSTEMS_ICC__) && !__LITTLE_ENDIAN__)
#define N_BIG_ENDIAN
#endif
#ifdef N_BIG_ENDIAN
#error "n_weights.bin is little-endian: arenac compile --weights c writes what is right for both"
#endif

#if defined(__GNUC__) && defined(__x86_64__)
#ifdef __clang__
#if !(defined(__AVX2__) && defined(__FMA__) && defined(__F16C__) && defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__))
#define N_OPTIONS
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
#endif
#else
#define N_OPTIONS
#pragma GCC push_options
#if defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__)
#pragma GCC optimize("O3")
#endif
#if !(defined(__AVX2__) && defined(__FMA__) && defined(__F16C__) && defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__))
#pragma GCC target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")
#endif
#endif
#endif

#if defined(__GNUC__)
#define N_RESTRICT __restrict__
#define N_ALIGNED(n) __attribute__((aligned(n)))
#define N_SLACK(n) 0u
#define N_NOINLINE __attribute__((noinline)) /* loops of several in one function spill */
#elif !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L
#define N_RESTRICT restrict
#else
#define N_RESTRICT
#endif
#ifndef N_NOINLINE
#define N_NOINLINE
#endif
#ifndef N_ALIGNED
#define N_ALIGNED(n)
#define N_SLACK(n) ((n) - 1u) /* bytes more, to round up */
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Where each buffer lies, in bytes. */
enum {
  N_AT_0 = 0, /* 1204224 bytes, steps 0 to 1: r2 */
  N_AT_1 = 1404928, /* 301056 bytes, steps 1 to 3: r3 */
  N_AT_2 = 0, /* 1404928 bytes, steps 2 to 4: r6 */
  N_AT_3 = 384, /* 1404928 bytes, steps 4 to 5: r9 */
  N_AT_4 = 1056768, /* 351232 bytes, steps 5 to 6: r11 */
  N_AT_5 = 426496, /* 351232 bytes, steps 6 to 7: r13 */
  N_AT_6 = 1630656, /* 75264 bytes, steps 3 to 7: r14 */
  N_AT_7 = 0, /* 426496 bytes, steps 7 to 13: r16 */
  N_AT_8 = 426496, /* 426496 bytes, steps 9 to 10: r19 */
  N_AT_9 = 852992, /* 426496 bytes, steps 10 to 11: r22 */
  N_AT_10 = 426496, /* 426496 bytes, steps 11 to 12: r24 */
  N_AT_11 = 852992, /* 426496 bytes, steps 12 to 18: r28 */
  N_AT_12 = 0, /* 426496 bytes, steps 14 to 15: r31 */
  N_AT_13 = 426496, /* 426496 bytes, steps 15 to 16: r34 */
  N_AT_14 = 0, /* 426496 bytes, steps 16 to 17: r36 */
  N_AT_15 = 426496, /* 426496 bytes, steps 17 to 23: r40 */
  N_AT_16 = 0, /* 426496 bytes, steps 19 to 20: r43 */
  N_AT_17 = 852992, /* 426496 bytes, steps 20 to 21: r46 */
  N_AT_18 = 0, /* 426496 bytes, steps 21 to 22: r48 */
  N_AT_19 = 852992, /* 426496 bytes, steps 22 to 25: r52 */
  N_AT_20 = 0, /* 426496 bytes, steps 24 to 26: r55 */
  N_AT_21 = 426496, /* 426496 bytes, steps 26 to 27: r58 */
  N_AT_22 = 0, /* 106624 bytes, steps 27 to 28: r60 */
  N_AT_23 = 1279488, /* 213248 bytes, steps 25 to 35: r65 */
  N_AT_24 = 0, /* 213248 bytes, steps 31 to 32: r68 */
  N_AT_25 = 213248, /* 213248 bytes, steps 32 to 33: r71 */
  N_AT_26 = 0, /* 213248 bytes, steps 33 to 34: r73 */
  N_AT_27 = 213248, /* 213248 bytes, steps 34 to 40: r77 */
  N_AT_28 = 0, /* 213248 bytes, steps 36 to 37: r80 */
  N_AT_29 = 426496, /* 213248 bytes, steps 37 to 38: r83 */
  N_AT_30 = 0, /* 213248 bytes, steps 38 to 39: r85 */
  N_AT_31 = 426496, /* 213248 bytes, steps 39 to 45: r89 */
  N_AT_32 = 0, /* 213248 bytes, steps 41 to 42: r92 */
  N_AT_33 = 213248, /* 213248 bytes, steps 42 to 43: r95 */
  N_AT_34 = 0, /* 213248 bytes, steps 43 to 44: r97 */
  N_AT_35 = 213248, /* 213248 bytes, steps 44 to 50: r101 */
  N_AT_36 = 0, /* 213248 bytes, steps 46 to 47: r104 */
  N_AT_37 = 426496, /* 213248 bytes, steps 47 to 48: r107 */
  N_AT_38 = 0, /* 213248 bytes, steps 48 to 49: r109 */
  N_AT_39 = 426496, /* 213248 bytes, steps 49 to 55: r113 */
  N_AT_40 = 0, /* 213248 bytes, steps 51 to 52: r116 */
  N_AT_41 = 213248, /* 213248 bytes, steps 52 to 53: r119 */
  N_AT_42 = 0, /* 213248 bytes, steps 53 to 54: r121 */
  N_AT_43 = 213248, /* 213248 bytes, steps 54 to 60: r125 */
  N_AT_44 = 0, /* 213248 bytes, steps 56 to 57: r128 */
  N_AT_45 = 426496, /* 213248 bytes, steps 57 to 58: r131 */
  N_AT_46 = 0, /* 213248 bytes, steps 58 to 59: r133 */
  N_AT_47 = 426496, /* 213248 bytes, steps 59 to 65: r137 */
  N_AT_48 = 0, /* 213248 bytes, steps 61 to 62: r140 */
  N_AT_49 = 213248, /* 213248 bytes, steps 62 to 63: r143 */
  N_AT_50 = 0, /* 213248 bytes, steps 63 to 64: r145 */
  N_AT_51 = 213248, /* 213248 bytes, steps 64 to 67: r149 */
  N_AT_52 = 0, /* 213248 bytes, steps 66 to 68: r152 */
  N_AT_53 = 213248, /* 213248 bytes, steps 68 to 69: r155 */
  N_AT_54 = 0, /* 53312 bytes, steps 69 to 70: r157 */
  N_AT_55 = 426496, /* 106624 bytes, steps 67 to 77: r162 */
  N_AT_56 = 0, /* 106624 bytes, steps 73 to 74: r165 */
  N_AT_57 = 106624, /* 106624 bytes, steps 74 to 75: r168 */
  N_AT_58 = 0, /* 106624 bytes, steps 75 to 76: r170 */
  N_AT_59 = 106624, /* 106624 bytes, steps 76 to 82: r174 */
  N_AT_60 = 0, /* 106624 bytes, steps 78 to 79: r177 */
  N_AT_61 = 213248, /* 106624 bytes, steps 79 to 80: r180 */
  N_AT_62 = 0, /* 106624 bytes, steps 80 to 81: r182 */
  N_AT_63 = 213248, /* 106624 bytes, steps 81 to 87: r186 */
  N_AT_64 = 0, /* 106624 bytes, steps 83 to 84: r189 */
  N_AT_65 = 106624, /* 106624 bytes, steps 84 to 85: r192 */
  N_AT_66 = 0, /* 106624 bytes, steps 85 to 86: r194 */
  N_AT_67 = 106624, /* 106624 bytes, steps 86 to 88: r198 */
  N_AT_68 = 0, /* 2176 bytes, steps 88 to 89: r199 */
  N_AT_69 = 0, /* 4 bytes, steps 90 to 91: n202 */
  N_AT_70 = 0 /* 4 bytes, steps 92 to 93: n202 */
};

#if defined(__GNUC__) && !defined(__clang__)
#define N_BARRIER __asm__ __volatile__("")
#else
#define N_BARRIER (void)0
#endif

#if defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE_SIZE__) && \
    (defined(__SSE2__) || defined(__ARM_NEON))
#define N_UNROLL_(x) _Pragma(#x)
#define N_UNROLL(n) N_UNROLL_(GCC unroll n)
#else
#define N_UNROLL(n)
#endif

static inline float n_at_least_f32(float a, float b) {
  return a <= b ? b : a;
}
/* e^x = 2^n e^r with |r| <= log(2) / 2, where the Taylor series may end at r^7; n log(2) in two parts, of
   which the first is exact. Within 1.3 units in the last place. No branches: a loop over it vectorises. */
static inline float n_exp_f32(float x) {
  union word {
    float value;
    int32_t bits;
  } in;
  union word y;
  union word low;
  union word high;
  float r;
  float p;
  int32_t size;
  int32_t n;
  in.value = x;
  size = in.bits & 0x7fffffff;
  y.bits = (size < 0x42d00000 ? size : 0x42d00000) | (in.bits ^ size); /* within 104 of 0 */
  n = (int32_t)(y.value * 1.44269504f + 152.5f) - 152;
  r = (y.value - (float)n * 0.693359375f) + (float)n * 2.12194440e-4f;
  p = 1.0f / 720.0f + r * (1.0f / 5040.0f);
  p = 0.5f + r * (1.0f / 6.0f + r * (1.0f / 24.0f + r * (1.0f / 120.0f + r * p)));
  p = 1.0f + r * (1.0f + r * p);
  low.bits = ((n >> 1) + 127) * 0x800000;
  high.bits = (n - (n >> 1) + 127) * 0x800000;
  y.value = p * low.value * high.value;
  y.bits |= ((0x7f800000 - size) >> 31) & 0x7fc00000; /* NaN stays NaN */
  return y.value;
}
static inline float n_max_f32(float a, float b) {
  b = a > b ? a : b;
  return a == a ? b : a;
}
static inline int64_t n_max_i64(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* n0 (Conv+BatchNormalization+Relu):
   out[0, m, y, x] = max(acc + x2[m], 0)
   acc = sum(c, ky, kx) x0[0, c, y * 2 + ky - 1, x * 2 + kx - 1] * x1[m, c, ky, kx]
   where 0 <= y * 2 + ky - 1 < 224, 0 <= x * 2 + kx - 1 < 224
   m < 24, y < 112, x < 112, c < 3, ky < 3, kx < 3 */
static N_NOINLINE void n_conv_batchnormalization_relu_0(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out)
{
  for (int y = 0; y < 112; ++y) {
    for (int m = 0; m < 24; m += 8) {
      {
        float acc0[8];
        N_UNROLL(4) for (int l = 0; l < 8; ++l) { acc0[l] = 0.0f; }
        for (int c = 0; c < 3; ++c) {
          const int first_ky = -2 * y + 1;
          const int low_ky = first_ky > 0 ? first_ky : 0;
          const int behind_ky = -2 * y + 225;
          const int high_ky = behind_ky < 3 ? behind_ky : 3;
          for (int ky = low_ky; ky < high_ky; ++ky) {
            for (int kx = 1; kx < 3; ++kx) {
              N_BARRIER;
              const float v0 = x0[448 * y + 50176 * c + 224 * ky + kx - 225];
              N_UNROLL(4) for (int l = 0; l < 8; ++l) {
                acc0[l] += v0 * x1[m + 216 * c + 72 * ky + 24 * kx + l];
              }
            }
          }
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[m + 2688 * y + l] = n_at_least_f32(acc0[l] + x2[m + l], 0.0f);
        }
      }
      for (int from_x = 1; from_x < 112; from_x += 16) {
        const int x = from_x < 96 ? from_x : 96;
        float acc0[8];
        float acc1[8];
        float acc2[8];
        float acc3[8];
        float acc4[8];
        float acc5[8];
        float acc6[8];
        float acc7[8];
        float acc8[8];
        float acc9[8];
        float acc10[8];
        float acc11[8];
        float acc12[8];
        float acc13[8];
        float acc14[8];
        float acc15[8];
        N_UNROLL(4) for (int l = 0; l < 8; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; acc4[l] = 0.0f; acc5[l] = 0.0f; acc6[l] = 0.0f; acc7[l] = 0.0f;
            acc8[l] = 0.0f; acc9[l] = 0.0f; acc10[l] = 0.0f; acc11[l] = 0.0f; acc12[l] = 0.0f;
            acc13[l] = 0.0f; acc14[l] = 0.0f; acc15[l] = 0.0f; }
        for (int c = 0; c < 3; ++c) {
          const int first_ky = -2 * y + 1;
          const int low_ky = first_ky > 0 ? first_ky : 0;
          const int behind_ky = -2 * y + 225;
          const int high_ky = behind_ky < 3 ? behind_ky : 3;
          for (int ky = low_ky; ky < high_ky; ++ky) {
            for (int kx = 0; kx < 3; ++kx) {
              N_BARRIER;
              const float v0 = x0[448 * y + 2 * x + 50176 * c + 224 * ky + kx - 225];
              const float v1 = x0[448 * y + 2 * x + 50176 * c + 224 * ky + kx - 223];
              const float v2 = x0[448 * y + 2 * x + 50176 * c + 224 * ky + kx - 221];
              const float v3 = x0[448 * y + 2 * x + 50176 * c + 224 * ky + kx - 219];
              const float v4 = x0[448 * y + 2 * x + 50176 * c + 224 * ky + kx - 217];
              const float v5 = x0[448 * y + 2 * x + 50176 * c + 224 * ky + kx - 215];
              const float v6 = x0[448 * y + 2 * x + 50176 * c + 224 * ky + kx - 213];
              const float v7 = x0[448 * y + 2 * x + 50176 * c + 224 * ky + kx - 211];
              const float v8 = x0[448 * y + 2 * x + 50176 * c + 224 * ky + kx - 209];
              const float v9 = x0[448 * y + 2 * x + 50176 * c + 224 * ky + kx - 207];
              const float v10 = x0[448 * y + 2 * x + 50176 * c + 224 * ky + kx - 205];
              const float v11 = x0[448 * y + 2 * x + 50176 * c + 224 * ky + kx - 203];
              const float v12 = x0[448 * y + 2 * x + 50176 * c + 224 * ky + kx - 201];
              const float v13 = x0[448 * y + 2 * x + 50176 * c + 224 * ky + kx - 199];
              const float v14 = x0[448 * y + 2 * x + 50176 * c + 224 * ky + kx - 197];
              const float v15 = x0[448 * y + 2 * x + 50176 * c + 224 * ky + kx - 195];
              N_UNROLL(4) for (int l = 0; l < 8; ++l) {
                const float v16 = x1[m + 216 * c + 72 * ky + 24 * kx + l];
                acc0[l] += v0 * v16;
                acc1[l] += v1 * v16;
                acc2[l] += v2 * v16;
                acc3[l] += v3 * v16;
                acc4[l] += v4 * v16;
                acc5[l] += v5 * v16;
                acc6[l] += v6 * v16;
                acc7[l] += v7 * v16;
                acc8[l] += v8 * v16;
                acc9[l] += v9 * v16;
                acc10[l] += v10 * v16;
                acc11[l] += v11 * v16;
                acc12[l] += v12 * v16;
                acc13[l] += v13 * v16;
                acc14[l] += v14 * v16;
                acc15[l] += v15 * v16;
              }
            }
          }
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[m + 2688 * y + 24 * x + l] = n_at_least_f32(acc0[l] + x2[m + l], 0.0f);
          out[m + 2688 * y + 24 * x + l + 24] = n_at_least_f32(acc1[l] + x2[m + l], 0.0f);
          out[m + 2688 * y + 24 * x + l + 48] = n_at_least_f32(acc2[l] + x2[m + l], 0.0f);
          out[m + 2688 * y + 24 * x + l + 72] = n_at_least_f32(acc3[l] + x2[m + l], 0.0f);
          out[m + 2688 * y + 24 * x + l + 96] = n_at_least_f32(acc4[l] + x2[m + l], 0.0f);
          out[m + 2688 * y + 24 * x + l + 120] = n_at_least_f32(acc5[l] + x2[m + l], 0.0f);
          out[m + 2688 * y + 24 * x + l + 144] = n_at_least_f32(acc6[l] + x2[m + l], 0.0f);
          out[m + 2688 * y + 24 * x + l + 168] = n_at_least_f32(acc7[l] + x2[m + l], 0.0f);
          out[m + 2688 * y + 24 * x + l + 192] = n_at_least_f32(acc8[l] + x2[m + l], 0.0f);
          out[m + 2688 * y + 24 * x + l + 216] = n_at_least_f32(acc9[l] + x2[m + l], 0.0f);
          out[m + 2688 * y + 24 * x + l + 240] = n_at_least_f32(acc10[l] + x2[m + l], 0.0f);
          out[m + 2688 * y + 24 * x + l + 264] = n_at_least_f32(acc11[l] + x2[m + l], 0.0f);
          out[m + 2688 * y + 24 * x + l + 288] = n_at_least_f32(acc12[l] + x2[m + l], 0.0f);
          out[m + 2688 * y + 24 * x + l + 312] = n_at_least_f32(acc13[l] + x2[m + l], 0.0f);
          out[m + 2688 * y + 24 * x + l + 336] = n_at_least_f32(acc14[l] + x2[m + l], 0.0f);
          out[m + 2688 * y + 24 * x + l + 360] = n_at_least_f32(acc15[l] + x2[m + l], 0.0f);
        }
      }
    }
  }
}

/* n3 (MaxPool):
   out[0, m, y, x] = maximum(ky, kx) x0[0, m, y * 2 + ky - 1, x * 2 + kx - 1]
   where 0 <= y * 2 + ky - 1 < 112, 0 <= x * 2 + kx - 1 < 112
   m < 24, y < 56, x < 56, ky < 3, kx < 3 */
static N_NOINLINE void n_maxpool_1(const float *N_RESTRICT x0, float *N_RESTRICT out)
{
  for (int y = 0; y < 56; ++y) {
    for (int x = 0; x < 56; ++x) {
      float acc0[8];
      float acc1[8];
      float acc2[8];
      N_UNROLL(4) for (int l = 0; l < 8; ++l) { acc0[l] = (-INFINITY); acc1[l] = (-INFINITY);
          acc2[l] = (-INFINITY); }
      const int first_ky = -2 * y + 1;
      const int low_ky = first_ky > 0 ? first_ky : 0;
      const int behind_ky = -2 * y + 113;
      const int high_ky = behind_ky < 3 ? behind_ky : 3;
      for (int ky = low_ky; ky < high_ky; ++ky) {
        const int first_kx = -2 * x + 1;
        const int low_kx = first_kx > 0 ? first_kx : 0;
        const int behind_kx = -2 * x + 113;
        const int high_kx = behind_kx < 3 ? behind_kx : 3;
        for (int kx = low_kx; kx < high_kx; ++kx) {
          N_BARRIER;
          N_UNROLL(4) for (int l = 0; l < 8; ++l) {
            acc0[l] = n_max_f32(acc0[l], x0[5376 * y + 48 * x + 2688 * ky + 24 * kx + l - 2712]);
            acc1[l] = n_max_f32(acc1[l], x0[5376 * y + 48 * x + 2688 * ky + 24 * kx + l - 2704]);
            acc2[l] = n_max_f32(acc2[l], x0[5376 * y + 48 * x + 2688 * ky + 24 * kx + l - 2696]);
          }
        }
      }
      N_UNROLL(4) for (int l = 0; l < 8; ++l) { out[1344 * y + 24 * x + l] = acc0[l]; }
      N_UNROLL(4) for (int l = 0; l < 8; ++l) { out[1344 * y + 24 * x + l + 8] = acc1[l]; }
      N_UNROLL(4) for (int l = 0; l < 8; ++l) { out[1344 * y + 24 * x + l + 16] = acc2[l]; }
    }
  }
}

/* n4 (Conv+BatchNormalization+Relu):
   out[0, i * 28 + j, y, x] = max(acc + x2[0, i * 28 + j, 0, 0], 0)
   acc = sum(c) x0[0, i * 6 + c, y, x] * x1[i * 28 + j, c, 0, 0]
   i < 4, j < 28, y < 56, x < 56, c < 6 */
static N_NOINLINE void n_conv_batchnormalization_relu_2(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out)
{
  for (int i = 0; i < 4; ++i) {
    for (int from_j = 0; from_j < 28; from_j += 16) {
      const int j = from_j < 12 ? from_j : 12;
      for (int from_yx = 0; from_yx < 3136; from_yx += 24) {
        const int yx = from_yx < 3112 ? from_yx : 3112;
        float acc0[16];
        float acc1[16];
        float acc2[16];
        float acc3[16];
        float acc4[16];
        float acc5[16];
        float acc6[16];
        float acc7[16];
        float acc8[16];
        float acc9[16];
        float acc10[16];
        float acc11[16];
        float acc12[16];
        float acc13[16];
        float acc14[16];
        float acc15[16];
        float acc16[16];
        float acc17[16];
        float acc18[16];
        float acc19[16];
        float acc20[16];
        float acc21[16];
        float acc22[16];
        float acc23[16];
        N_UNROLL(8) for (int l = 0; l < 16; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; acc4[l] = 0.0f; acc5[l] = 0.0f; acc6[l] = 0.0f; acc7[l] = 0.0f;
            acc8[l] = 0.0f; acc9[l] = 0.0f; acc10[l] = 0.0f; acc11[l] = 0.0f; acc12[l] = 0.0f;
            acc13[l] = 0.0f; acc14[l] = 0.0f; acc15[l] = 0.0f; acc16[l] = 0.0f; acc17[l] = 0.0f;
            acc18[l] = 0.0f; acc19[l] = 0.0f; acc20[l] = 0.0f; acc21[l] = 0.0f; acc22[l] = 0.0f;
            acc23[l] = 0.0f; }
        for (int c = 0; c < 6; ++c) {
          N_BARRIER;
          const float v0 = x0[6 * i + 24 * yx + c];
          const float v1 = x0[6 * i + 24 * yx + c + 24];
          const float v2 = x0[6 * i + 24 * yx + c + 48];
          const float v3 = x0[6 * i + 24 * yx + c + 72];
          const float v4 = x0[6 * i + 24 * yx + c + 96];
          const float v5 = x0[6 * i + 24 * yx + c + 120];
          const float v6 = x0[6 * i + 24 * yx + c + 144];
          const float v7 = x0[6 * i + 24 * yx + c + 168];
          const float v8 = x0[6 * i + 24 * yx + c + 192];
          const float v9 = x0[6 * i + 24 * yx + c + 216];
          const float v10 = x0[6 * i + 24 * yx + c + 240];
          const float v11 = x0[6 * i + 24 * yx + c + 264];
          const float v12 = x0[6 * i + 24 * yx + c + 288];
          const float v13 = x0[6 * i + 24 * yx + c + 312];
          const float v14 = x0[6 * i + 24 * yx + c + 336];
          const float v15 = x0[6 * i + 24 * yx + c + 360];
          const float v16 = x0[6 * i + 24 * yx + c + 384];
          const float v17 = x0[6 * i + 24 * yx + c + 408];
          const float v18 = x0[6 * i + 24 * yx + c + 432];
          const float v19 = x0[6 * i + 24 * yx + c + 456];
          const float v20 = x0[6 * i + 24 * yx + c + 480];
          const float v21 = x0[6 * i + 24 * yx + c + 504];
          const float v22 = x0[6 * i + 24 * yx + c + 528];
          const float v23 = x0[6 * i + 24 * yx + c + 552];
          N_UNROLL(8) for (int l = 0; l < 16; ++l) {
            const float v24 = x1[28 * i + j + 112 * c + l];
            acc0[l] += v0 * v24;
            acc1[l] += v1 * v24;
            acc2[l] += v2 * v24;
            acc3[l] += v3 * v24;
            acc4[l] += v4 * v24;
            acc5[l] += v5 * v24;
            acc6[l] += v6 * v24;
            acc7[l] += v7 * v24;
            acc8[l] += v8 * v24;
            acc9[l] += v9 * v24;
            acc10[l] += v10 * v24;
            acc11[l] += v11 * v24;
            acc12[l] += v12 * v24;
            acc13[l] += v13 * v24;
            acc14[l] += v14 * v24;
            acc15[l] += v15 * v24;
            acc16[l] += v16 * v24;
            acc17[l] += v17 * v24;
            acc18[l] += v18 * v24;
            acc19[l] += v19 * v24;
            acc20[l] += v20 * v24;
            acc21[l] += v21 * v24;
            acc22[l] += v22 * v24;
            acc23[l] += v23 * v24;
          }
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l] = n_at_least_f32(acc0[l] + x2[28 * i + j + l], 0.0f);
          out[28 * i + j + 112 * yx + l + 112] = n_at_least_f32(acc1[l] + x2[28 * i + j + l], 0.0f);
          out[28 * i + j + 112 * yx + l + 224] = n_at_least_f32(acc2[l] + x2[28 * i + j + l], 0.0f);
          out[28 * i + j + 112 * yx + l + 336] = n_at_least_f32(acc3[l] + x2[28 * i + j + l], 0.0f);
          out[28 * i + j + 112 * yx + l + 448] = n_at_least_f32(acc4[l] + x2[28 * i + j + l], 0.0f);
          out[28 * i + j + 112 * yx + l + 560] = n_at_least_f32(acc5[l] + x2[28 * i + j + l], 0.0f);
          out[28 * i + j + 112 * yx + l + 672] = n_at_least_f32(acc6[l] + x2[28 * i + j + l], 0.0f);
          out[28 * i + j + 112 * yx + l + 784] = n_at_least_f32(acc7[l] + x2[28 * i + j + l], 0.0f);
          out[28 * i + j + 112 * yx + l + 896] = n_at_least_f32(acc8[l] + x2[28 * i + j + l], 0.0f);
          out[28 * i + j + 112 * yx + l + 1008] = n_at_least_f32(acc9[l] + x2[28 * i + j + l],
              0.0f);
          out[28 * i + j + 112 * yx + l + 1120] = n_at_least_f32(acc10[l] + x2[28 * i + j + l],
              0.0f);
          out[28 * i + j + 112 * yx + l + 1232] = n_at_least_f32(acc11[l] + x2[28 * i + j + l],
              0.0f);
          out[28 * i + j + 112 * yx + l + 1344] = n_at_least_f32(acc12[l] + x2[28 * i + j + l],
              0.0f);
          out[28 * i + j + 112 * yx + l + 1456] = n_at_least_f32(acc13[l] + x2[28 * i + j + l],
              0.0f);
          out[28 * i + j + 112 * yx + l + 1568] = n_at_least_f32(acc14[l] + x2[28 * i + j + l],
              0.0f);
          out[28 * i + j + 112 * yx + l + 1680] = n_at_least_f32(acc15[l] + x2[28 * i + j + l],
              0.0f);
          out[28 * i + j + 112 * yx + l + 1792] = n_at_least_f32(acc16[l] + x2[28 * i + j + l],
              0.0f);
          out[28 * i + j + 112 * yx + l + 1904] = n_at_least_f32(acc17[l] + x2[28 * i + j + l],
              0.0f);
          out[28 * i + j + 112 * yx + l + 2016] = n_at_least_f32(acc18[l] + x2[28 * i + j + l],
              0.0f);
          out[28 * i + j + 112 * yx + l + 2128] = n_at_least_f32(acc19[l] + x2[28 * i + j + l],
              0.0f);
          out[28 * i + j + 112 * yx + l + 2240] = n_at_least_f32(acc20[l] + x2[28 * i + j + l],
              0.0f);
          out[28 * i + j + 112 * yx + l + 2352] = n_at_least_f32(acc21[l] + x2[28 * i + j + l],
              0.0f);
          out[28 * i + j + 112 * yx + l + 2464] = n_at_least_f32(acc22[l] + x2[28 * i + j + l],
              0.0f);
          out[28 * i + j + 112 * yx + l + 2576] = n_at_least_f32(acc23[l] + x2[28 * i + j + l],
              0.0f);
        }
      }
    }
  }
}

/* n14 (AveragePool):
   out[0, m, y, x] = acc / ((3 - max(0 - (y * 2 - 1), 0)) * (3 - max(0 - (x * 2 - 1), 0)))
   acc = sum(ky, kx) x0[0, m, y * 2 + ky - 1, x * 2 + kx - 1]
   where 0 <= y * 2 + ky - 1 < 56, 0 <= x * 2 + kx - 1 < 56
   m < 24, y < 28, x < 28, ky < 3, kx < 3 */
static N_NOINLINE void n_averagepool_3(const float *x0, float *out)
{
  for (int y = 27; y >= 0; --y) {
    for (int x = 27; x >= 0; --x) {
      float acc0[8];
      float acc1[8];
      float acc2[8];
      N_UNROLL(4) for (int l = 0; l < 8; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f; }
      const int first_ky = -2 * y + 1;
      const int low_ky = first_ky > 0 ? first_ky : 0;
      const int behind_ky = -2 * y + 57;
      const int high_ky = behind_ky < 3 ? behind_ky : 3;
      for (int ky = low_ky; ky < high_ky; ++ky) {
        const int first_kx = -2 * x + 1;
        const int low_kx = first_kx > 0 ? first_kx : 0;
        const int behind_kx = -2 * x + 57;
        const int high_kx = behind_kx < 3 ? behind_kx : 3;
        for (int kx = low_kx; kx < high_kx; ++kx) {
          N_BARRIER;
          N_UNROLL(4) for (int l = 0; l < 8; ++l) {
            acc0[l] += x0[2688 * y + 48 * x + 1344 * ky + 24 * kx + l - 1368];
            acc1[l] += x0[2688 * y + 48 * x + 1344 * ky + 24 * kx + l - 1360];
            acc2[l] += x0[2688 * y + 48 * x + 1344 * ky + 24 * kx + l - 1352];
          }
        }
      }
      N_UNROLL(4) for (int l = 0; l < 8; ++l) {
        out[672 * y + 24 * x + l] = acc0[l] / (float)((3 - n_max_i64(0 - ((int64_t)y * 2 - 1),
            0)) * (3 - n_max_i64(0 - ((int64_t)x * 2 - 1), 0)));
        out[672 * y + 24 * x + l + 8] = acc1[l] / (float)((3 - n_max_i64(0 - ((int64_t)y * 2 - 1),
            0)) * (3 - n_max_i64(0 - ((int64_t)x * 2 - 1), 0)));
        out[672 * y + 24 * x + l + 16] = acc2[l] / (float)((3 - n_max_i64(0 - ((int64_t)y * 2 - 1),
            0)) * (3 - n_max_i64(0 - ((int64_t)x * 2 - 1), 0)));
      }
    }
  }
}

/* n9 (Reshape):
   out[0, i, j, p] = x0[0, i / 4, mod(i, 4), j, p]
   i < 112, j < 56, p < 56 */
static N_NOINLINE void n_reshape_4(const float *x0, float *out)
{
  for (int jp = 3135; jp >= 0; --jp) {
    for (int i = 27; i >= 0; --i) {
      for (int i_rest = 3; i_rest >= 0; --i_rest) {
        out[4 * i + 112 * jp + i_rest] = x0[i + 112 * jp + 28 * i_rest];
      }
    }
  }
}

/* n10 (Conv+BatchNormalization):
   out[0, m, y, x] = acc + x2[0, m, 0, 0]
   acc = sum(ky, kx) x0[0, m, y * 2 + ky - 1, x * 2 + kx - 1] * x1[m, 0, ky, kx]
   where 0 <= y * 2 + ky - 1 < 56, 0 <= x * 2 + kx - 1 < 56
   m < 112, y < 28, x < 28, ky < 3, kx < 3 */
static N_NOINLINE void n_conv_batchnormalization_5(const float *x0, const float *N_RESTRICT x1,
    const float *N_RESTRICT x2, float *out)
{
  for (int y = 27; y >= 0; --y) {
    {
      float acc0[16];
      float acc1[16];
      float acc2[16];
      float acc3[16];
      float acc4[16];
      float acc5[16];
      N_UNROLL(8) for (int l = 0; l < 16; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
          acc3[l] = 0.0f; acc4[l] = 0.0f; acc5[l] = 0.0f; }
      const int first_ky = -2 * y + 1;
      const int low_ky = first_ky > 0 ? first_ky : 0;
      const int behind_ky = -2 * y + 57;
      const int high_ky = behind_ky < 3 ? behind_ky : 3;
      for (int ky = low_ky; ky < high_ky; ++ky) {
        for (int kx = 0; kx < 3; ++kx) {
          N_BARRIER;
          N_UNROLL(8) for (int l = 0; l < 16; ++l) {
            const float v0 = x1[336 * ky + 112 * kx + l + 96];
            acc0[l] += x0[12544 * y + 6272 * ky + 112 * kx + l - 1360] * v0;
            acc1[l] += x0[12544 * y + 6272 * ky + 112 * kx + l - 1136] * v0;
            acc2[l] += x0[12544 * y + 6272 * ky + 112 * kx + l - 912] * v0;
            acc3[l] += x0[12544 * y + 6272 * ky + 112 * kx + l - 688] * v0;
            acc4[l] += x0[12544 * y + 6272 * ky + 112 * kx + l - 464] * v0;
            acc5[l] += x0[12544 * y + 6272 * ky + 112 * kx + l - 240] * v0;
          }
        }
      }
      N_UNROLL(8) for (int l = 0; l < 16; ++l) { out[3136 * y + l + 2560] = acc0[l] + x2[l + 96]; }
      N_UNROLL(8) for (int l = 0; l < 16; ++l) { out[3136 * y + l + 2672] = acc1[l] + x2[l + 96]; }
      N_UNROLL(8) for (int l = 0; l < 16; ++l) { out[3136 * y + l + 2784] = acc2[l] + x2[l + 96]; }
      N_UNROLL(8) for (int l = 0; l < 16; ++l) { out[3136 * y + l + 2896] = acc3[l] + x2[l + 96]; }
      N_UNROLL(8) for (int l = 0; l < 16; ++l) { out[3136 * y + l + 3008] = acc4[l] + x2[l + 96]; }
      N_UNROLL(8) for (int l = 0; l < 16; ++l) { out[3136 * y + l + 3120] = acc5[l] + x2[l + 96]; }
    }
    for (int m = 64; m >= 0; m -= 32) {
      float acc0[32];
      float acc1[32];
      float acc2[32];
      float acc3[32];
      float acc4[32];
      float acc5[32];
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
          acc3[l] = 0.0f; acc4[l] = 0.0f; acc5[l] = 0.0f; }
      const int first_ky = -2 * y + 1;
      const int low_ky = first_ky > 0 ? first_ky : 0;
      const int behind_ky = -2 * y + 57;
      const int high_ky = behind_ky < 3 ? behind_ky : 3;
      for (int ky = low_ky; ky < high_ky; ++ky) {
        for (int kx = 0; kx < 3; ++kx) {
          N_BARRIER;
          N_UNROLL(16) for (int l = 0; l < 32; ++l) {
            const float v0 = x1[m + 336 * ky + 112 * kx + l];
            acc0[l] += x0[m + 12544 * y + 6272 * ky + 112 * kx + l - 1456] * v0;
            acc1[l] += x0[m + 12544 * y + 6272 * ky + 112 * kx + l - 1232] * v0;
            acc2[l] += x0[m + 12544 * y + 6272 * ky + 112 * kx + l - 1008] * v0;
            acc3[l] += x0[m + 12544 * y + 6272 * ky + 112 * kx + l - 784] * v0;
            acc4[l] += x0[m + 12544 * y + 6272 * ky + 112 * kx + l - 560] * v0;
            acc5[l] += x0[m + 12544 * y + 6272 * ky + 112 * kx + l - 336] * v0;
          }
        }
      }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) {
        out[m + 3136 * y + l + 2464] = acc0[l] + x2[m + l];
      }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) {
        out[m + 3136 * y + l + 2576] = acc1[l] + x2[m + l];
      }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) {
        out[m + 3136 * y + l + 2688] = acc2[l] + x2[m + l];
      }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) {
        out[m + 3136 * y + l + 2800] = acc3[l] + x2[m + l];
      }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) {
        out[m + 3136 * y + l + 2912] = acc4[l] + x2[m + l];
      }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) {
        out[m + 3136 * y + l + 3024] = acc5[l] + x2[m + l];
      }
    }
    for (int x = 15; x >= 1; x -= 7) {
      {
        float acc0[16];
        float acc1[16];
        float acc2[16];
        float acc3[16];
        float acc4[16];
        float acc5[16];
        float acc6[16];
        N_UNROLL(8) for (int l = 0; l < 16; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; acc4[l] = 0.0f; acc5[l] = 0.0f; acc6[l] = 0.0f; }
        const int first_ky = -2 * y + 1;
        const int low_ky = first_ky > 0 ? first_ky : 0;
        const int behind_ky = -2 * y + 57;
        const int high_ky = behind_ky < 3 ? behind_ky : 3;
        for (int ky = low_ky; ky < high_ky; ++ky) {
          for (int kx = 0; kx < 3; ++kx) {
            N_BARRIER;
            N_UNROLL(8) for (int l = 0; l < 16; ++l) {
              const float v0 = x1[336 * ky + 112 * kx + l + 96];
              acc0[l] += x0[12544 * y + 224 * x + 6272 * ky + 112 * kx + l - 6288] * v0;
              acc1[l] += x0[12544 * y + 224 * x + 6272 * ky + 112 * kx + l - 6064] * v0;
              acc2[l] += x0[12544 * y + 224 * x + 6272 * ky + 112 * kx + l - 5840] * v0;
              acc3[l] += x0[12544 * y + 224 * x + 6272 * ky + 112 * kx + l - 5616] * v0;
              acc4[l] += x0[12544 * y + 224 * x + 6272 * ky + 112 * kx + l - 5392] * v0;
              acc5[l] += x0[12544 * y + 224 * x + 6272 * ky + 112 * kx + l - 5168] * v0;
              acc6[l] += x0[12544 * y + 224 * x + 6272 * ky + 112 * kx + l - 4944] * v0;
            }
          }
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[3136 * y + 112 * x + l + 96] = acc0[l] + x2[l + 96];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[3136 * y + 112 * x + l + 208] = acc1[l] + x2[l + 96];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[3136 * y + 112 * x + l + 320] = acc2[l] + x2[l + 96];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[3136 * y + 112 * x + l + 432] = acc3[l] + x2[l + 96];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[3136 * y + 112 * x + l + 544] = acc4[l] + x2[l + 96];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[3136 * y + 112 * x + l + 656] = acc5[l] + x2[l + 96];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[3136 * y + 112 * x + l + 768] = acc6[l] + x2[l + 96];
        }
      }
      for (int m = 64; m >= 0; m -= 32) {
        float acc0[32];
        float acc1[32];
        float acc2[32];
        float acc3[32];
        float acc4[32];
        float acc5[32];
        float acc6[32];
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; acc4[l] = 0.0f; acc5[l] = 0.0f; acc6[l] = 0.0f; }
        const int first_ky = -2 * y + 1;
        const int low_ky = first_ky > 0 ? first_ky : 0;
        const int behind_ky = -2 * y + 57;
        const int high_ky = behind_ky < 3 ? behind_ky : 3;
        for (int ky = low_ky; ky < high_ky; ++ky) {
          for (int kx = 0; kx < 3; ++kx) {
            N_BARRIER;
            N_UNROLL(16) for (int l = 0; l < 32; ++l) {
              const float v0 = x1[m + 336 * ky + 112 * kx + l];
              acc0[l] += x0[m + 12544 * y + 224 * x + 6272 * ky + 112 * kx + l - 6384] * v0;
              acc1[l] += x0[m + 12544 * y + 224 * x + 6272 * ky + 112 * kx + l - 6160] * v0;
              acc2[l] += x0[m + 12544 * y + 224 * x + 6272 * ky + 112 * kx + l - 5936] * v0;
              acc3[l] += x0[m + 12544 * y + 224 * x + 6272 * ky + 112 * kx + l - 5712] * v0;
              acc4[l] += x0[m + 12544 * y + 224 * x + 6272 * ky + 112 * kx + l - 5488] * v0;
              acc5[l] += x0[m + 12544 * y + 224 * x + 6272 * ky + 112 * kx + l - 5264] * v0;
              acc6[l] += x0[m + 12544 * y + 224 * x + 6272 * ky + 112 * kx + l - 5040] * v0;
            }
          }
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3136 * y + 112 * x + l] = acc0[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3136 * y + 112 * x + l + 112] = acc1[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3136 * y + 112 * x + l + 224] = acc2[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3136 * y + 112 * x + l + 336] = acc3[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3136 * y + 112 * x + l + 448] = acc4[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3136 * y + 112 * x + l + 560] = acc5[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3136 * y + 112 * x + l + 672] = acc6[l] + x2[m + l];
        }
      }
    }
    {
      float acc0[16];
      N_UNROLL(8) for (int l = 0; l < 16; ++l) { acc0[l] = 0.0f; }
      const int first_ky = -2 * y + 1;
      const int low_ky = first_ky > 0 ? first_ky : 0;
      const int behind_ky = -2 * y + 57;
      const int high_ky = behind_ky < 3 ? behind_ky : 3;
      for (int ky = low_ky; ky < high_ky; ++ky) {
        for (int kx = 1; kx < 3; ++kx) {
          N_BARRIER;
          N_UNROLL(8) for (int l = 0; l < 16; ++l) {
            acc0[l] += x0[12544 * y + 6272 * ky + 112 * kx + l - 6288] * x1[336 * ky + 112 * kx + l
                + 96];
          }
        }
      }
      N_UNROLL(8) for (int l = 0; l < 16; ++l) { out[3136 * y + l + 96] = acc0[l] + x2[l + 96]; }
    }
    for (int m = 64; m >= 0; m -= 32) {
      float acc0[32];
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; }
      const int first_ky = -2 * y + 1;
      const int low_ky = first_ky > 0 ? first_ky : 0;
      const int behind_ky = -2 * y + 57;
      const int high_ky = behind_ky < 3 ? behind_ky : 3;
      for (int ky = low_ky; ky < high_ky; ++ky) {
        for (int kx = 1; kx < 3; ++kx) {
          N_BARRIER;
          N_UNROLL(16) for (int l = 0; l < 32; ++l) {
            acc0[l] += x0[m + 12544 * y + 6272 * ky + 112 * kx + l - 6384] * x1[m + 336 * ky + 112 *
                kx + l];
          }
        }
      }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + 3136 * y + l] = acc0[l] + x2[m + l]; }
    }
  }
}

/* n12 (Conv+BatchNormalization):
   out[0, i * 28 + j, y, x] = acc + x2[0, i * 28 + j, 0, 0]
   acc = sum(c) x0[0, i * 28 + c, y, x] * x1[i * 28 + j, c, 0, 0]
   i < 4, j < 28, y < 28, x < 28, c < 28 */
static N_NOINLINE void n_conv_batchnormalization_6(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out)
{
  for (int i = 0; i < 4; ++i) {
    for (int from_j = 0; from_j < 28; from_j += 16) {
      const int j = from_j < 12 ? from_j : 12;
      for (int from_yx = 0; from_yx < 784; from_yx += 24) {
        const int yx = from_yx < 760 ? from_yx : 760;
        float acc0[16];
        float acc1[16];
        float acc2[16];
        float acc3[16];
        float acc4[16];
        float acc5[16];
        float acc6[16];
        float acc7[16];
        float acc8[16];
        float acc9[16];
        float acc10[16];
        float acc11[16];
        float acc12[16];
        float acc13[16];
        float acc14[16];
        float acc15[16];
        float acc16[16];
        float acc17[16];
        float acc18[16];
        float acc19[16];
        float acc20[16];
        float acc21[16];
        float acc22[16];
        float acc23[16];
        N_UNROLL(8) for (int l = 0; l < 16; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; acc4[l] = 0.0f; acc5[l] = 0.0f; acc6[l] = 0.0f; acc7[l] = 0.0f;
            acc8[l] = 0.0f; acc9[l] = 0.0f; acc10[l] = 0.0f; acc11[l] = 0.0f; acc12[l] = 0.0f;
            acc13[l] = 0.0f; acc14[l] = 0.0f; acc15[l] = 0.0f; acc16[l] = 0.0f; acc17[l] = 0.0f;
            acc18[l] = 0.0f; acc19[l] = 0.0f; acc20[l] = 0.0f; acc21[l] = 0.0f; acc22[l] = 0.0f;
            acc23[l] = 0.0f; }
        for (int c = 0; c < 28; ++c) {
          N_BARRIER;
          const float v0 = x0[28 * i + 112 * yx + c];
          const float v1 = x0[28 * i + 112 * yx + c + 112];
          const float v2 = x0[28 * i + 112 * yx + c + 224];
          const float v3 = x0[28 * i + 112 * yx + c + 336];
          const float v4 = x0[28 * i + 112 * yx + c + 448];
          const float v5 = x0[28 * i + 112 * yx + c + 560];
          const float v6 = x0[28 * i + 112 * yx + c + 672];
          const float v7 = x0[28 * i + 112 * yx + c + 784];
          const float v8 = x0[28 * i + 112 * yx + c + 896];
          const float v9 = x0[28 * i + 112 * yx + c + 1008];
          const float v10 = x0[28 * i + 112 * yx + c + 1120];
          const float v11 = x0[28 * i + 112 * yx + c + 1232];
          const float v12 = x0[28 * i + 112 * yx + c + 1344];
          const float v13 = x0[28 * i + 112 * yx + c + 1456];
          const float v14 = x0[28 * i + 112 * yx + c + 1568];
          const float v15 = x0[28 * i + 112 * yx + c + 1680];
          const float v16 = x0[28 * i + 112 * yx + c + 1792];
          const float v17 = x0[28 * i + 112 * yx + c + 1904];
          const float v18 = x0[28 * i + 112 * yx + c + 2016];
          const float v19 = x0[28 * i + 112 * yx + c + 2128];
          const float v20 = x0[28 * i + 112 * yx + c + 2240];
          const float v21 = x0[28 * i + 112 * yx + c + 2352];
          const float v22 = x0[28 * i + 112 * yx + c + 2464];
          const float v23 = x0[28 * i + 112 * yx + c + 2576];
          N_UNROLL(8) for (int l = 0; l < 16; ++l) {
            const float v24 = x1[28 * i + j + 112 * c + l];
            acc0[l] += v0 * v24;
            acc1[l] += v1 * v24;
            acc2[l] += v2 * v24;
            acc3[l] += v3 * v24;
            acc4[l] += v4 * v24;
            acc5[l] += v5 * v24;
            acc6[l] += v6 * v24;
            acc7[l] += v7 * v24;
            acc8[l] += v8 * v24;
            acc9[l] += v9 * v24;
            acc10[l] += v10 * v24;
            acc11[l] += v11 * v24;
            acc12[l] += v12 * v24;
            acc13[l] += v13 * v24;
            acc14[l] += v14 * v24;
            acc15[l] += v15 * v24;
            acc16[l] += v16 * v24;
            acc17[l] += v17 * v24;
            acc18[l] += v18 * v24;
            acc19[l] += v19 * v24;
            acc20[l] += v20 * v24;
            acc21[l] += v21 * v24;
            acc22[l] += v22 * v24;
            acc23[l] += v23 * v24;
          }
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l] = acc0[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 112] = acc1[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 224] = acc2[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 336] = acc3[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 448] = acc4[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 560] = acc5[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 672] = acc6[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 784] = acc7[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 896] = acc8[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 1008] = acc9[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 1120] = acc10[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 1232] = acc11[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 1344] = acc12[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 1456] = acc13[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 1568] = acc14[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 1680] = acc15[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 1792] = acc16[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 1904] = acc17[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 2016] = acc18[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 2128] = acc19[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 2240] = acc20[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 2352] = acc21[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 2464] = acc22[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + 112 * yx + l + 2576] = acc23[l] + x2[28 * i + j + l];
        }
      }
    }
  }
}

/* n15 (Concat):
   out[0, i, j, p] = x0[0, i, j, p]
   i < 112, j < 28, p < 28 */
static N_NOINLINE void n_concat_7(const float *N_RESTRICT x0, float *N_RESTRICT out)
{
  for (int jp = 0; jp < 784; ++jp) {
    for (int i = 0; i < 112; ++i) {
      out[i + 136 * jp] = x0[i + 112 * jp];
    }
  }
}

/* n15 (Concat):
   out[0, i + 112, j, p] = x0[0, i, j, p]
   i < 24, j < 28, p < 28 */
static N_NOINLINE void n_concat_8(const float *N_RESTRICT x0, float *N_RESTRICT out)
{
  for (int jp = 0; jp < 784; ++jp) {
    for (int i = 0; i < 24; ++i) {
      out[i + 136 * jp + 112] = x0[i + 24 * jp];
    }
  }
}

/* n16 (Relu):
   out[0, i, j, p] = max(out[0, i, j, p], 0)
   i < 136, j < 28, p < 28 */
static N_NOINLINE void n_relu_9(float *N_RESTRICT out)
{
  for (int jpi = 0; jpi < 106624; ++jpi) {
    out[jpi] = n_at_least_f32(out[jpi], 0.0f);
  }
}

/* n17 (Conv+BatchNormalization+Relu):
   out[0, i * 34 + j, y, x] = max(acc + x2[0, i * 34 + j, 0, 0], 0)
   acc = sum(c) x0[0, i * 34 + c, y, x] * x1[i * 34 + j, c, 0, 0]
   i < 4, j < 34, y < 28, x < 28, c < 34 */
static N_NOINLINE void n_conv_batchnormalization_relu_10(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out)
{
  for (int i = 0; i < 4; ++i) {
    for (int from_j = 0; from_j < 34; from_j += 8) {
      const int j = from_j < 26 ? from_j : 26;
      for (int from_yx = 0; from_yx < 784; from_yx += 24) {
        const int yx = from_yx < 760 ? from_yx : 760;
        float acc0[8];
        float acc1[8];
        float acc2[8];
        float acc3[8];
        float acc4[8];
        float acc5[8];
        float acc6[8];
        float acc7[8];
        float acc8[8];
        float acc9[8];
        float acc10[8];
        float acc11[8];
        float acc12[8];
        float acc13[8];
        float acc14[8];
        float acc15[8];
        float acc16[8];
        float acc17[8];
        float acc18[8];
        float acc19[8];
        float acc20[8];
        float acc21[8];
        float acc22[8];
        float acc23[8];
        N_UNROLL(4) for (int l = 0; l < 8; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; acc4[l] = 0.0f; acc5[l] = 0.0f; acc6[l] = 0.0f; acc7[l] = 0.0f;
            acc8[l] = 0.0f; acc9[l] = 0.0f; acc10[l] = 0.0f; acc11[l] = 0.0f; acc12[l] = 0.0f;
            acc13[l] = 0.0f; acc14[l] = 0.0f; acc15[l] = 0.0f; acc16[l] = 0.0f; acc17[l] = 0.0f;
            acc18[l] = 0.0f; acc19[l] = 0.0f; acc20[l] = 0.0f; acc21[l] = 0.0f; acc22[l] = 0.0f;
            acc23[l] = 0.0f; }
        for (int c = 0; c < 34; ++c) {
          N_BARRIER;
          const float v0 = x0[34 * i + 136 * yx + c];
          const float v1 = x0[34 * i + 136 * yx + c + 136];
          const float v2 = x0[34 * i + 136 * yx + c + 272];
          const float v3 = x0[34 * i + 136 * yx + c + 408];
          const float v4 = x0[34 * i + 136 * yx + c + 544];
          const float v5 = x0[34 * i + 136 * yx + c + 680];
          const float v6 = x0[34 * i + 136 * yx + c + 816];
          const float v7 = x0[34 * i + 136 * yx + c + 952];
          const float v8 = x0[34 * i + 136 * yx + c + 1088];
          const float v9 = x0[34 * i + 136 * yx + c + 1224];
          const float v10 = x0[34 * i + 136 * yx + c + 1360];
          const float v11 = x0[34 * i + 136 * yx + c + 1496];
          const float v12 = x0[34 * i + 136 * yx + c + 1632];
          const float v13 = x0[34 * i + 136 * yx + c + 1768];
          const float v14 = x0[34 * i + 136 * yx + c + 1904];
          const float v15 = x0[34 * i + 136 * yx + c + 2040];
          const float v16 = x0[34 * i + 136 * yx + c + 2176];
          const float v17 = x0[34 * i + 136 * yx + c + 2312];
          const float v18 = x0[34 * i + 136 * yx + c + 2448];
          const float v19 = x0[34 * i + 136 * yx + c + 2584];
          const float v20 = x0[34 * i + 136 * yx + c + 2720];
          const float v21 = x0[34 * i + 136 * yx + c + 2856];
          const float v22 = x0[34 * i + 136 * yx + c + 2992];
          const float v23 = x0[34 * i + 136 * yx + c + 3128];
          N_UNROLL(4) for (int l = 0; l < 8; ++l) {
            const float v24 = x1[34 * i + j + 136 * c + l];
            acc0[l] += v0 * v24;
            acc1[l] += v1 * v24;
            acc2[l] += v2 * v24;
            acc3[l] += v3 * v24;
            acc4[l] += v4 * v24;
            acc5[l] += v5 * v24;
            acc6[l] += v6 * v24;
            acc7[l] += v7 * v24;
            acc8[l] += v8 * v24;
            acc9[l] += v9 * v24;
            acc10[l] += v10 * v24;
            acc11[l] += v11 * v24;
            acc12[l] += v12 * v24;
            acc13[l] += v13 * v24;
            acc14[l] += v14 * v24;
            acc15[l] += v15 * v24;
            acc16[l] += v16 * v24;
            acc17[l] += v17 * v24;
            acc18[l] += v18 * v24;
            acc19[l] += v19 * v24;
            acc20[l] += v20 * v24;
            acc21[l] += v21 * v24;
            acc22[l] += v22 * v24;
            acc23[l] += v23 * v24;
          }
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l] = n_at_least_f32(acc0[l] + x2[34 * i + j + l], 0.0f);
          out[34 * i + j + 136 * yx + l + 136] = n_at_least_f32(acc1[l] + x2[34 * i + j + l], 0.0f);
          out[34 * i + j + 136 * yx + l + 272] = n_at_least_f32(acc2[l] + x2[34 * i + j + l], 0.0f);
          out[34 * i + j + 136 * yx + l + 408] = n_at_least_f32(acc3[l] + x2[34 * i + j + l], 0.0f);
          out[34 * i + j + 136 * yx + l + 544] = n_at_least_f32(acc4[l] + x2[34 * i + j + l], 0.0f);
          out[34 * i + j + 136 * yx + l + 680] = n_at_least_f32(acc5[l] + x2[34 * i + j + l], 0.0f);
          out[34 * i + j + 136 * yx + l + 816] = n_at_least_f32(acc6[l] + x2[34 * i + j + l], 0.0f);
          out[34 * i + j + 136 * yx + l + 952] = n_at_least_f32(acc7[l] + x2[34 * i + j + l], 0.0f);
          out[34 * i + j + 136 * yx + l + 1088] = n_at_least_f32(acc8[l] + x2[34 * i + j + l],
              0.0f);
          out[34 * i + j + 136 * yx + l + 1224] = n_at_least_f32(acc9[l] + x2[34 * i + j + l],
              0.0f);
          out[34 * i + j + 136 * yx + l + 1360] = n_at_least_f32(acc10[l] + x2[34 * i + j + l],
              0.0f);
          out[34 * i + j + 136 * yx + l + 1496] = n_at_least_f32(acc11[l] + x2[34 * i + j + l],
              0.0f);
          out[34 * i + j + 136 * yx + l + 1632] = n_at_least_f32(acc12[l] + x2[34 * i + j + l],
              0.0f);
          out[34 * i + j + 136 * yx + l + 1768] = n_at_least_f32(acc13[l] + x2[34 * i + j + l],
              0.0f);
          out[34 * i + j + 136 * yx + l + 1904] = n_at_least_f32(acc14[l] + x2[34 * i + j + l],
              0.0f);
          out[34 * i + j + 136 * yx + l + 2040] = n_at_least_f32(acc15[l] + x2[34 * i + j + l],
              0.0f);
          out[34 * i + j + 136 * yx + l + 2176] = n_at_least_f32(acc16[l] + x2[34 * i + j + l],
              0.0f);
          out[34 * i + j + 136 * yx + l + 2312] = n_at_least_f32(acc17[l] + x2[34 * i + j + l],
              0.0f);
          out[34 * i + j + 136 * yx + l + 2448] = n_at_least_f32(acc18[l] + x2[34 * i + j + l],
              0.0f);
          out[34 * i + j + 136 * yx + l + 2584] = n_at_least_f32(acc19[l] + x2[34 * i + j + l],
              0.0f);
          out[34 * i + j + 136 * yx + l + 2720] = n_at_least_f32(acc20[l] + x2[34 * i + j + l],
              0.0f);
          out[34 * i + j + 136 * yx + l + 2856] = n_at_least_f32(acc21[l] + x2[34 * i + j + l],
              0.0f);
          out[34 * i + j + 136 * yx + l + 2992] = n_at_least_f32(acc22[l] + x2[34 * i + j + l],
              0.0f);
          out[34 * i + j + 136 * yx + l + 3128] = n_at_least_f32(acc23[l] + x2[34 * i + j + l],
              0.0f);
        }
      }
    }
  }
}

/* n22 (Reshape):
   out[0, i, j, p] = x0[0, i / 4, mod(i, 4), j, p]
   i < 136, j < 28, p < 28 */
static N_NOINLINE void n_reshape_11(const float *N_RESTRICT x0, float *N_RESTRICT out)
{
  for (int jp = 0; jp < 784; ++jp) {
    for (int i = 0; i < 34; ++i) {
      for (int i_rest = 0; i_rest < 4; ++i_rest) {
        out[4 * i + 136 * jp + i_rest] = x0[i + 136 * jp + 34 * i_rest];
      }
    }
  }
}

/* n23 (Conv+BatchNormalization):
   out[0, m, y, x] = acc + x2[0, m, 0, 0]
   acc = sum(ky, kx) x0[0, m, y + ky - 1, x + kx - 1] * x1[m, 0, ky, kx]
   where 0 <= y + ky - 1 < 28, 0 <= x + kx - 1 < 28
   m < 136, y < 28, x < 28, ky < 3, kx < 3 */
static N_NOINLINE void n_conv_batchnormalization_12(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out)
{
  for (int y = 0; y < 28; ++y) {
    for (int from_m = 0; from_m < 136; from_m += 32) {
      const int m = from_m < 104 ? from_m : 104;
      {
        float acc0[32];
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; }
        const int first_ky = -y + 1;
        const int low_ky = first_ky > 0 ? first_ky : 0;
        const int behind_ky = -y + 29;
        const int high_ky = behind_ky < 3 ? behind_ky : 3;
        for (int ky = low_ky; ky < high_ky; ++ky) {
          for (int kx = 1; kx < 3; ++kx) {
            N_BARRIER;
            N_UNROLL(16) for (int l = 0; l < 32; ++l) {
              acc0[l] += x0[m + 3808 * y + 3808 * ky + 136 * kx + l - 3944] * x1[m + 408 * ky + 136
                  * kx + l];
            }
          }
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + 3808 * y + l] = acc0[l] + x2[m + l]; }
      }
      for (int from_x = 1; from_x < 27; from_x += 7) {
        const int x = from_x < 20 ? from_x : 20;
        float acc0[32];
        float acc1[32];
        float acc2[32];
        float acc3[32];
        float acc4[32];
        float acc5[32];
        float acc6[32];
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; acc4[l] = 0.0f; acc5[l] = 0.0f; acc6[l] = 0.0f; }
        const int first_ky = -y + 1;
        const int low_ky = first_ky > 0 ? first_ky : 0;
        const int behind_ky = -y + 29;
        const int high_ky = behind_ky < 3 ? behind_ky : 3;
        for (int ky = low_ky; ky < high_ky; ++ky) {
          for (int kx = 0; kx < 3; ++kx) {
            N_BARRIER;
            N_UNROLL(16) for (int l = 0; l < 32; ++l) {
              const float v0 = x1[m + 408 * ky + 136 * kx + l];
              acc0[l] += x0[m + 3808 * y + 136 * x + 3808 * ky + 136 * kx + l - 3944] * v0;
              acc1[l] += x0[m + 3808 * y + 136 * x + 3808 * ky + 136 * kx + l - 3808] * v0;
              acc2[l] += x0[m + 3808 * y + 136 * x + 3808 * ky + 136 * kx + l - 3672] * v0;
              acc3[l] += x0[m + 3808 * y + 136 * x + 3808 * ky + 136 * kx + l - 3536] * v0;
              acc4[l] += x0[m + 3808 * y + 136 * x + 3808 * ky + 136 * kx + l - 3400] * v0;
              acc5[l] += x0[m + 3808 * y + 136 * x + 3808 * ky + 136 * kx + l - 3264] * v0;
              acc6[l] += x0[m + 3808 * y + 136 * x + 3808 * ky + 136 * kx + l - 3128] * v0;
            }
          }
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + 136 * x + l] = acc0[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + 136 * x + l + 136] = acc1[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + 136 * x + l + 272] = acc2[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + 136 * x + l + 408] = acc3[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + 136 * x + l + 544] = acc4[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + 136 * x + l + 680] = acc5[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + 136 * x + l + 816] = acc6[l] + x2[m + l];
        }
      }
      {
        float acc0[32];
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; }
        const int first_ky = -y + 1;
        const int low_ky = first_ky > 0 ? first_ky : 0;
        const int behind_ky = -y + 29;
        const int high_ky = behind_ky < 3 ? behind_ky : 3;
        for (int ky = low_ky; ky < high_ky; ++ky) {
          for (int kx = 0; kx < 2; ++kx) {
            N_BARRIER;
            N_UNROLL(16) for (int l = 0; l < 32; ++l) {
              acc0[l] += x0[m + 3808 * y + 3808 * ky + 136 * kx + l - 272] * x1[m + 408 * ky + 136 *
                  kx + l];
            }
          }
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + l + 3672] = acc0[l] + x2[m + l];
        }
      }
    }
  }
}

/* n25 (Conv+BatchNormalization):
   out[0, i * 34 + j, y, x] = acc + x2[0, i * 34 + j, 0, 0]
   acc = sum(c) x0[0, i * 34 + c, y, x] * x1[i * 34 + j, c, 0, 0]
   i < 4, j < 34, y < 28, x < 28, c < 34 */
static N_NOINLINE void n_conv_batchnormalization_13(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out)
{
  for (int i = 0; i < 4; ++i) {
    for (int from_j = 0; from_j < 34; from_j += 8) {
      const int j = from_j < 26 ? from_j : 26;
      for (int from_yx = 0; from_yx < 784; from_yx += 24) {
        const int yx = from_yx < 760 ? from_yx : 760;
        float acc0[8];
        float acc1[8];
        float acc2[8];
        float acc3[8];
        float acc4[8];
        float acc5[8];
        float acc6[8];
        float acc7[8];
        float acc8[8];
        float acc9[8];
        float acc10[8];
        float acc11[8];
        float acc12[8];
        float acc13[8];
        float acc14[8];
        float acc15[8];
        float acc16[8];
        float acc17[8];
        float acc18[8];
        float acc19[8];
        float acc20[8];
        float acc21[8];
        float acc22[8];
        float acc23[8];
        N_UNROLL(4) for (int l = 0; l < 8; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; acc4[l] = 0.0f; acc5[l] = 0.0f; acc6[l] = 0.0f; acc7[l] = 0.0f;
            acc8[l] = 0.0f; acc9[l] = 0.0f; acc10[l] = 0.0f; acc11[l] = 0.0f; acc12[l] = 0.0f;
            acc13[l] = 0.0f; acc14[l] = 0.0f; acc15[l] = 0.0f; acc16[l] = 0.0f; acc17[l] = 0.0f;
            acc18[l] = 0.0f; acc19[l] = 0.0f; acc20[l] = 0.0f; acc21[l] = 0.0f; acc22[l] = 0.0f;
            acc23[l] = 0.0f; }
        for (int c = 0; c < 34; ++c) {
          N_BARRIER;
          const float v0 = x0[34 * i + 136 * yx + c];
          const float v1 = x0[34 * i + 136 * yx + c + 136];
          const float v2 = x0[34 * i + 136 * yx + c + 272];
          const float v3 = x0[34 * i + 136 * yx + c + 408];
          const float v4 = x0[34 * i + 136 * yx + c + 544];
          const float v5 = x0[34 * i + 136 * yx + c + 680];
          const float v6 = x0[34 * i + 136 * yx + c + 816];
          const float v7 = x0[34 * i + 136 * yx + c + 952];
          const float v8 = x0[34 * i + 136 * yx + c + 1088];
          const float v9 = x0[34 * i + 136 * yx + c + 1224];
          const float v10 = x0[34 * i + 136 * yx + c + 1360];
          const float v11 = x0[34 * i + 136 * yx + c + 1496];
          const float v12 = x0[34 * i + 136 * yx + c + 1632];
          const float v13 = x0[34 * i + 136 * yx + c + 1768];
          const float v14 = x0[34 * i + 136 * yx + c + 1904];
          const float v15 = x0[34 * i + 136 * yx + c + 2040];
          const float v16 = x0[34 * i + 136 * yx + c + 2176];
          const float v17 = x0[34 * i + 136 * yx + c + 2312];
          const float v18 = x0[34 * i + 136 * yx + c + 2448];
          const float v19 = x0[34 * i + 136 * yx + c + 2584];
          const float v20 = x0[34 * i + 136 * yx + c + 2720];
          const float v21 = x0[34 * i + 136 * yx + c + 2856];
          const float v22 = x0[34 * i + 136 * yx + c + 2992];
          const float v23 = x0[34 * i + 136 * yx + c + 3128];
          N_UNROLL(4) for (int l = 0; l < 8; ++l) {
            const float v24 = x1[34 * i + j + 136 * c + l];
            acc0[l] += v0 * v24;
            acc1[l] += v1 * v24;
            acc2[l] += v2 * v24;
            acc3[l] += v3 * v24;
            acc4[l] += v4 * v24;
            acc5[l] += v5 * v24;
            acc6[l] += v6 * v24;
            acc7[l] += v7 * v24;
            acc8[l] += v8 * v24;
            acc9[l] += v9 * v24;
            acc10[l] += v10 * v24;
            acc11[l] += v11 * v24;
            acc12[l] += v12 * v24;
            acc13[l] += v13 * v24;
            acc14[l] += v14 * v24;
            acc15[l] += v15 * v24;
            acc16[l] += v16 * v24;
            acc17[l] += v17 * v24;
            acc18[l] += v18 * v24;
            acc19[l] += v19 * v24;
            acc20[l] += v20 * v24;
            acc21[l] += v21 * v24;
            acc22[l] += v22 * v24;
            acc23[l] += v23 * v24;
          }
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l] = acc0[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 136] = acc1[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 272] = acc2[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 408] = acc3[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 544] = acc4[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 680] = acc5[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 816] = acc6[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 952] = acc7[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 1088] = acc8[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 1224] = acc9[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 1360] = acc10[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 1496] = acc11[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 1632] = acc12[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 1768] = acc13[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 1904] = acc14[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 2040] = acc15[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 2176] = acc16[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 2312] = acc17[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 2448] = acc18[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 2584] = acc19[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 2720] = acc20[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 2856] = acc21[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 2992] = acc22[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 136 * yx + l + 3128] = acc23[l] + x2[34 * i + j + l];
        }
      }
    }
  }
}

/* n27 (Sum+Relu):
   out[0, i, j, p] = max(out[0, i, j, p] + x0[0, i, j, p], 0)
   i < 136, j < 28, p < 28 */
static N_NOINLINE void n_sum_relu_14(const float *N_RESTRICT x0, float *N_RESTRICT out)
{
  for (int jpi = 0; jpi < 106624; ++jpi) {
    out[jpi] = n_at_least_f32(out[jpi] + x0[jpi], 0.0f);
  }
}

/* n63 (AveragePool):
   out[0, m, y, x] = acc / ((3 - max(0 - (y * 2 - 1), 0)) * (3 - max(0 - (x * 2 - 1), 0)))
   acc = sum(ky, kx) x0[0, m, y * 2 + ky - 1, x * 2 + kx - 1]
   where 0 <= y * 2 + ky - 1 < 28, 0 <= x * 2 + kx - 1 < 28
   m < 136, y < 14, x < 14, ky < 3, kx < 3 */
static N_NOINLINE void n_averagepool_15(const float *N_RESTRICT x0, float *N_RESTRICT out)
{
  for (int y = 0; y < 14; ++y) {
    for (int x = 0; x < 14; ++x) {
      for (int from_m = 0; from_m < 136; from_m += 128) {
        const int m = from_m < 8 ? from_m : 8;
        float acc0[32];
        float acc1[32];
        float acc2[32];
        float acc3[32];
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; }
        const int first_ky = -2 * y + 1;
        const int low_ky = first_ky > 0 ? first_ky : 0;
        const int behind_ky = -2 * y + 29;
        const int high_ky = behind_ky < 3 ? behind_ky : 3;
        for (int ky = low_ky; ky < high_ky; ++ky) {
          const int first_kx = -2 * x + 1;
          const int low_kx = first_kx > 0 ? first_kx : 0;
          const int behind_kx = -2 * x + 29;
          const int high_kx = behind_kx < 3 ? behind_kx : 3;
          for (int kx = low_kx; kx < high_kx; ++kx) {
            N_BARRIER;
            N_UNROLL(16) for (int l = 0; l < 32; ++l) {
              acc0[l] += x0[m + 7616 * y + 272 * x + 3808 * ky + 136 * kx + l - 3944];
              acc1[l] += x0[m + 7616 * y + 272 * x + 3808 * ky + 136 * kx + l - 3912];
              acc2[l] += x0[m + 7616 * y + 272 * x + 3808 * ky + 136 * kx + l - 3880];
              acc3[l] += x0[m + 7616 * y + 272 * x + 3808 * ky + 136 * kx + l - 3848];
            }
          }
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + 272 * x + l] = acc0[l] / (float)((3 - n_max_i64(0 - ((int64_t)y * 2 -
              1), 0)) * (3 - n_max_i64(0 - ((int64_t)x * 2 - 1), 0)));
          out[m + 3808 * y + 272 * x + l + 32] = acc1[l] / (float)((3 - n_max_i64(0 - ((int64_t)y *
              2 - 1), 0)) * (3 - n_max_i64(0 - ((int64_t)x * 2 - 1), 0)));
          out[m + 3808 * y + 272 * x + l + 64] = acc2[l] / (float)((3 - n_max_i64(0 - ((int64_t)y *
              2 - 1), 0)) * (3 - n_max_i64(0 - ((int64_t)x * 2 - 1), 0)));
          out[m + 3808 * y + 272 * x + l + 96] = acc3[l] / (float)((3 - n_max_i64(0 - ((int64_t)y *
              2 - 1), 0)) * (3 - n_max_i64(0 - ((int64_t)x * 2 - 1), 0)));
        }
      }
    }
  }
}

/* n59 (Conv+BatchNormalization):
   out[0, m, y, x] = acc + x2[0, m, 0, 0]
   acc = sum(ky, kx) x0[0, m, y * 2 + ky - 1, x * 2 + kx - 1] * x1[m, 0, ky, kx]
   where 0 <= y * 2 + ky - 1 < 28, 0 <= x * 2 + kx - 1 < 28
   m < 136, y < 14, x < 14, ky < 3, kx < 3 */
static N_NOINLINE void n_conv_batchnormalization_16(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out)
{
  for (int y = 0; y < 14; ++y) {
    for (int from_m = 0; from_m < 136; from_m += 32) {
      const int m = from_m < 104 ? from_m : 104;
      {
        float acc0[32];
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; }
        const int first_ky = -2 * y + 1;
        const int low_ky = first_ky > 0 ? first_ky : 0;
        const int behind_ky = -2 * y + 29;
        const int high_ky = behind_ky < 3 ? behind_ky : 3;
        for (int ky = low_ky; ky < high_ky; ++ky) {
          for (int kx = 1; kx < 3; ++kx) {
            N_BARRIER;
            N_UNROLL(16) for (int l = 0; l < 32; ++l) {
              acc0[l] += x0[m + 7616 * y + 3808 * ky + 136 * kx + l - 3944] * x1[m + 408 * ky + 136
                  * kx + l];
            }
          }
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + 1904 * y + l] = acc0[l] + x2[m + l]; }
      }
      for (int from_x = 1; from_x < 14; from_x += 7) {
        const int x = from_x < 7 ? from_x : 7;
        float acc0[32];
        float acc1[32];
        float acc2[32];
        float acc3[32];
        float acc4[32];
        float acc5[32];
        float acc6[32];
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; acc4[l] = 0.0f; acc5[l] = 0.0f; acc6[l] = 0.0f; }
        const int first_ky = -2 * y + 1;
        const int low_ky = first_ky > 0 ? first_ky : 0;
        const int behind_ky = -2 * y + 29;
        const int high_ky = behind_ky < 3 ? behind_ky : 3;
        for (int ky = low_ky; ky < high_ky; ++ky) {
          for (int kx = 0; kx < 3; ++kx) {
            N_BARRIER;
            N_UNROLL(16) for (int l = 0; l < 32; ++l) {
              const float v0 = x1[m + 408 * ky + 136 * kx + l];
              acc0[l] += x0[m + 7616 * y + 272 * x + 3808 * ky + 136 * kx + l - 3944] * v0;
              acc1[l] += x0[m + 7616 * y + 272 * x + 3808 * ky + 136 * kx + l - 3672] * v0;
              acc2[l] += x0[m + 7616 * y + 272 * x + 3808 * ky + 136 * kx + l - 3400] * v0;
              acc3[l] += x0[m + 7616 * y + 272 * x + 3808 * ky + 136 * kx + l - 3128] * v0;
              acc4[l] += x0[m + 7616 * y + 272 * x + 3808 * ky + 136 * kx + l - 2856] * v0;
              acc5[l] += x0[m + 7616 * y + 272 * x + 3808 * ky + 136 * kx + l - 2584] * v0;
              acc6[l] += x0[m + 7616 * y + 272 * x + 3808 * ky + 136 * kx + l - 2312] * v0;
            }
          }
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 1904 * y + 136 * x + l] = acc0[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 1904 * y + 136 * x + l + 136] = acc1[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 1904 * y + 136 * x + l + 272] = acc2[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 1904 * y + 136 * x + l + 408] = acc3[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 1904 * y + 136 * x + l + 544] = acc4[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 1904 * y + 136 * x + l + 680] = acc5[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 1904 * y + 136 * x + l + 816] = acc6[l] + x2[m + l];
        }
      }
    }
  }
}

/* n61 (Conv+BatchNormalization):
   out[0, i * 34 + j, y, x] = acc + x2[0, i * 34 + j, 0, 0]
   acc = sum(c) x0[0, i * 34 + c, y, x] * x1[i * 34 + j, c, 0, 0]
   i < 4, j < 34, y < 14, x < 14, c < 34 */
static N_NOINLINE void n_conv_batchnormalization_17(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out)
{
  for (int i = 0; i < 4; ++i) {
    for (int from_j = 0; from_j < 34; from_j += 8) {
      const int j = from_j < 26 ? from_j : 26;
      for (int from_yx = 0; from_yx < 196; from_yx += 22) {
        const int yx = from_yx < 174 ? from_yx : 174;
        float acc0[8];
        float acc1[8];
        float acc2[8];
        float acc3[8];
        float acc4[8];
        float acc5[8];
        float acc6[8];
        float acc7[8];
        float acc8[8];
        float acc9[8];
        float acc10[8];
        float acc11[8];
        float acc12[8];
        float acc13[8];
        float acc14[8];
        float acc15[8];
        float acc16[8];
        float acc17[8];
        float acc18[8];
        float acc19[8];
        float acc20[8];
        float acc21[8];
        N_UNROLL(4) for (int l = 0; l < 8; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; acc4[l] = 0.0f; acc5[l] = 0.0f; acc6[l] = 0.0f; acc7[l] = 0.0f;
            acc8[l] = 0.0f; acc9[l] = 0.0f; acc10[l] = 0.0f; acc11[l] = 0.0f; acc12[l] = 0.0f;
            acc13[l] = 0.0f; acc14[l] = 0.0f; acc15[l] = 0.0f; acc16[l] = 0.0f; acc17[l] = 0.0f;
            acc18[l] = 0.0f; acc19[l] = 0.0f; acc20[l] = 0.0f; acc21[l] = 0.0f; }
        for (int c = 0; c < 34; ++c) {
          N_BARRIER;
          const float v0 = x0[34 * i + 136 * yx + c];
          const float v1 = x0[34 * i + 136 * yx + c + 136];
          const float v2 = x0[34 * i + 136 * yx + c + 272];
          const float v3 = x0[34 * i + 136 * yx + c + 408];
          const float v4 = x0[34 * i + 136 * yx + c + 544];
          const float v5 = x0[34 * i + 136 * yx + c + 680];
          const float v6 = x0[34 * i + 136 * yx + c + 816];
          const float v7 = x0[34 * i + 136 * yx + c + 952];
          const float v8 = x0[34 * i + 136 * yx + c + 1088];
          const float v9 = x0[34 * i + 136 * yx + c + 1224];
          const float v10 = x0[34 * i + 136 * yx + c + 1360];
          const float v11 = x0[34 * i + 136 * yx + c + 1496];
          const float v12 = x0[34 * i + 136 * yx + c + 1632];
          const float v13 = x0[34 * i + 136 * yx + c + 1768];
          const float v14 = x0[34 * i + 136 * yx + c + 1904];
          const float v15 = x0[34 * i + 136 * yx + c + 2040];
          const float v16 = x0[34 * i + 136 * yx + c + 2176];
          const float v17 = x0[34 * i + 136 * yx + c + 2312];
          const float v18 = x0[34 * i + 136 * yx + c + 2448];
          const float v19 = x0[34 * i + 136 * yx + c + 2584];
          const float v20 = x0[34 * i + 136 * yx + c + 2720];
          const float v21 = x0[34 * i + 136 * yx + c + 2856];
          N_UNROLL(4) for (int l = 0; l < 8; ++l) {
            const float v22 = x1[34 * i + j + 136 * c + l];
            acc0[l] += v0 * v22;
            acc1[l] += v1 * v22;
            acc2[l] += v2 * v22;
            acc3[l] += v3 * v22;
            acc4[l] += v4 * v22;
            acc5[l] += v5 * v22;
            acc6[l] += v6 * v22;
            acc7[l] += v7 * v22;
            acc8[l] += v8 * v22;
            acc9[l] += v9 * v22;
            acc10[l] += v10 * v22;
            acc11[l] += v11 * v22;
            acc12[l] += v12 * v22;
            acc13[l] += v13 * v22;
            acc14[l] += v14 * v22;
            acc15[l] += v15 * v22;
            acc16[l] += v16 * v22;
            acc17[l] += v17 * v22;
            acc18[l] += v18 * v22;
            acc19[l] += v19 * v22;
            acc20[l] += v20 * v22;
            acc21[l] += v21 * v22;
          }
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 272 * yx + l] = acc0[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 272 * yx + l + 272] = acc1[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 272 * yx + l + 544] = acc2[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 272 * yx + l + 816] = acc3[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 272 * yx + l + 1088] = acc4[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 272 * yx + l + 1360] = acc5[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 272 * yx + l + 1632] = acc6[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 272 * yx + l + 1904] = acc7[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 272 * yx + l + 2176] = acc8[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 272 * yx + l + 2448] = acc9[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 272 * yx + l + 2720] = acc10[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 272 * yx + l + 2992] = acc11[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 272 * yx + l + 3264] = acc12[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 272 * yx + l + 3536] = acc13[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 272 * yx + l + 3808] = acc14[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 272 * yx + l + 4080] = acc15[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 272 * yx + l + 4352] = acc16[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 272 * yx + l + 4624] = acc17[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 272 * yx + l + 4896] = acc18[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 272 * yx + l + 5168] = acc19[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 272 * yx + l + 5440] = acc20[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + 272 * yx + l + 5712] = acc21[l] + x2[34 * i + j + l];
        }
      }
    }
  }
}

/* n65 (Relu):
   out[0, i, j, p] = max(out[0, i, j, p], 0)
   i < 272, j < 14, p < 14 */
static N_NOINLINE void n_relu_18(float *N_RESTRICT out)
{
  for (int jpi = 0; jpi < 53312; ++jpi) {
    out[jpi] = n_at_least_f32(out[jpi], 0.0f);
  }
}

/* n66 (Conv+BatchNormalization+Relu):
   out[0, i * 68 + j, y, x] = max(acc + x2[0, i * 68 + j, 0, 0], 0)
   acc = sum(c) x0[0, i * 68 + c, y, x] * x1[i * 68 + j, c, 0, 0]
   i < 4, j < 68, y < 14, x < 14, c < 68 */
static N_NOINLINE void n_conv_batchnormalization_relu_19(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out)
{
  for (int i = 0; i < 4; ++i) {
    for (int from_j = 0; from_j < 68; from_j += 16) {
      const int j = from_j < 52 ? from_j : 52;
      for (int from_yx = 0; from_yx < 196; from_yx += 22) {
        const int yx = from_yx < 174 ? from_yx : 174;
        float acc0[16];
        float acc1[16];
        float acc2[16];
        float acc3[16];
        float acc4[16];
        float acc5[16];
        float acc6[16];
        float acc7[16];
        float acc8[16];
        float acc9[16];
        float acc10[16];
        float acc11[16];
        float acc12[16];
        float acc13[16];
        float acc14[16];
        float acc15[16];
        float acc16[16];
        float acc17[16];
        float acc18[16];
        float acc19[16];
        float acc20[16];
        float acc21[16];
        N_UNROLL(8) for (int l = 0; l < 16; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; acc4[l] = 0.0f; acc5[l] = 0.0f; acc6[l] = 0.0f; acc7[l] = 0.0f;
            acc8[l] = 0.0f; acc9[l] = 0.0f; acc10[l] = 0.0f; acc11[l] = 0.0f; acc12[l] = 0.0f;
            acc13[l] = 0.0f; acc14[l] = 0.0f; acc15[l] = 0.0f; acc16[l] = 0.0f; acc17[l] = 0.0f;
            acc18[l] = 0.0f; acc19[l] = 0.0f; acc20[l] = 0.0f; acc21[l] = 0.0f; }
        for (int c = 0; c < 68; ++c) {
          N_BARRIER;
          const float v0 = x0[68 * i + 272 * yx + c];
          const float v1 = x0[68 * i + 272 * yx + c + 272];
          const float v2 = x0[68 * i + 272 * yx + c + 544];
          const float v3 = x0[68 * i + 272 * yx + c + 816];
          const float v4 = x0[68 * i + 272 * yx + c + 1088];
          const float v5 = x0[68 * i + 272 * yx + c + 1360];
          const float v6 = x0[68 * i + 272 * yx + c + 1632];
          const float v7 = x0[68 * i + 272 * yx + c + 1904];
          const float v8 = x0[68 * i + 272 * yx + c + 2176];
          const float v9 = x0[68 * i + 272 * yx + c + 2448];
          const float v10 = x0[68 * i + 272 * yx + c + 2720];
          const float v11 = x0[68 * i + 272 * yx + c + 2992];
          const float v12 = x0[68 * i + 272 * yx + c + 3264];
          const float v13 = x0[68 * i + 272 * yx + c + 3536];
          const float v14 = x0[68 * i + 272 * yx + c + 3808];
          const float v15 = x0[68 * i + 272 * yx + c + 4080];
          const float v16 = x0[68 * i + 272 * yx + c + 4352];
          const float v17 = x0[68 * i + 272 * yx + c + 4624];
          const float v18 = x0[68 * i + 272 * yx + c + 4896];
          const float v19 = x0[68 * i + 272 * yx + c + 5168];
          const float v20 = x0[68 * i + 272 * yx + c + 5440];
          const float v21 = x0[68 * i + 272 * yx + c + 5712];
          N_UNROLL(8) for (int l = 0; l < 16; ++l) {
            const float v22 = x1[68 * i + j + 272 * c + l];
            acc0[l] += v0 * v22;
            acc1[l] += v1 * v22;
            acc2[l] += v2 * v22;
            acc3[l] += v3 * v22;
            acc4[l] += v4 * v22;
            acc5[l] += v5 * v22;
            acc6[l] += v6 * v22;
            acc7[l] += v7 * v22;
            acc8[l] += v8 * v22;
            acc9[l] += v9 * v22;
            acc10[l] += v10 * v22;
            acc11[l] += v11 * v22;
            acc12[l] += v12 * v22;
            acc13[l] += v13 * v22;
            acc14[l] += v14 * v22;
            acc15[l] += v15 * v22;
            acc16[l] += v16 * v22;
            acc17[l] += v17 * v22;
            acc18[l] += v18 * v22;
            acc19[l] += v19 * v22;
            acc20[l] += v20 * v22;
            acc21[l] += v21 * v22;
          }
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l] = n_at_least_f32(acc0[l] + x2[68 * i + j + l], 0.0f);
          out[68 * i + j + 272 * yx + l + 272] = n_at_least_f32(acc1[l] + x2[68 * i + j + l], 0.0f);
          out[68 * i + j + 272 * yx + l + 544] = n_at_least_f32(acc2[l] + x2[68 * i + j + l], 0.0f);
          out[68 * i + j + 272 * yx + l + 816] = n_at_least_f32(acc3[l] + x2[68 * i + j + l], 0.0f);
          out[68 * i + j + 272 * yx + l + 1088] = n_at_least_f32(acc4[l] + x2[68 * i + j + l],
              0.0f);
          out[68 * i + j + 272 * yx + l + 1360] = n_at_least_f32(acc5[l] + x2[68 * i + j + l],
              0.0f);
          out[68 * i + j + 272 * yx + l + 1632] = n_at_least_f32(acc6[l] + x2[68 * i + j + l],
              0.0f);
          out[68 * i + j + 272 * yx + l + 1904] = n_at_least_f32(acc7[l] + x2[68 * i + j + l],
              0.0f);
          out[68 * i + j + 272 * yx + l + 2176] = n_at_least_f32(acc8[l] + x2[68 * i + j + l],
              0.0f);
          out[68 * i + j + 272 * yx + l + 2448] = n_at_least_f32(acc9[l] + x2[68 * i + j + l],
              0.0f);
          out[68 * i + j + 272 * yx + l + 2720] = n_at_least_f32(acc10[l] + x2[68 * i + j + l],
              0.0f);
          out[68 * i + j + 272 * yx + l + 2992] = n_at_least_f32(acc11[l] + x2[68 * i + j + l],
              0.0f);
          out[68 * i + j + 272 * yx + l + 3264] = n_at_least_f32(acc12[l] + x2[68 * i + j + l],
              0.0f);
          out[68 * i + j + 272 * yx + l + 3536] = n_at_least_f32(acc13[l] + x2[68 * i + j + l],
              0.0f);
          out[68 * i + j + 272 * yx + l + 3808] = n_at_least_f32(acc14[l] + x2[68 * i + j + l],
              0.0f);
          out[68 * i + j + 272 * yx + l + 4080] = n_at_least_f32(acc15[l] + x2[68 * i + j + l],
              0.0f);
          out[68 * i + j + 272 * yx + l + 4352] = n_at_least_f32(acc16[l] + x2[68 * i + j + l],
              0.0f);
          out[68 * i + j + 272 * yx + l + 4624] = n_at_least_f32(acc17[l] + x2[68 * i + j + l],
              0.0f);
          out[68 * i + j + 272 * yx + l + 4896] = n_at_least_f32(acc18[l] + x2[68 * i + j + l],
              0.0f);
          out[68 * i + j + 272 * yx + l + 5168] = n_at_least_f32(acc19[l] + x2[68 * i + j + l],
              0.0f);
          out[68 * i + j + 272 * yx + l + 5440] = n_at_least_f32(acc20[l] + x2[68 * i + j + l],
              0.0f);
          out[68 * i + j + 272 * yx + l + 5712] = n_at_least_f32(acc21[l] + x2[68 * i + j + l],
              0.0f);
        }
      }
    }
  }
}

/* n71 (Reshape):
   out[0, i, j, p] = x0[0, i / 4, mod(i, 4), j, p]
   i < 272, j < 14, p < 14 */
static N_NOINLINE void n_reshape_20(const float *N_RESTRICT x0, float *N_RESTRICT out)
{
  for (int jp = 0; jp < 196; ++jp) {
    for (int i = 0; i < 68; ++i) {
      for (int i_rest = 0; i_rest < 4; ++i_rest) {
        out[4 * i + 272 * jp + i_rest] = x0[i + 272 * jp + 68 * i_rest];
      }
    }
  }
}

/* n72 (Conv+BatchNormalization):
   out[0, m, y, x] = acc + x2[0, m, 0, 0]
   acc = sum(ky, kx) x0[0, m, y + ky - 1, x + kx - 1] * x1[m, 0, ky, kx]
   where 0 <= y + ky - 1 < 14, 0 <= x + kx - 1 < 14
   m < 272, y < 14, x < 14, ky < 3, kx < 3 */
static N_NOINLINE void n_conv_batchnormalization_21(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out)
{
  for (int y = 0; y < 14; ++y) {
    for (int from_m = 0; from_m < 272; from_m += 32) {
      const int m = from_m < 240 ? from_m : 240;
      {
        float acc0[32];
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; }
        const int first_ky = -y + 1;
        const int low_ky = first_ky > 0 ? first_ky : 0;
        const int behind_ky = -y + 15;
        const int high_ky = behind_ky < 3 ? behind_ky : 3;
        for (int ky = low_ky; ky < high_ky; ++ky) {
          for (int kx = 1; kx < 3; ++kx) {
            N_BARRIER;
            N_UNROLL(16) for (int l = 0; l < 32; ++l) {
              acc0[l] += x0[m + 3808 * y + 3808 * ky + 272 * kx + l - 4080] * x1[m + 816 * ky + 272
                  * kx + l];
            }
          }
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + 3808 * y + l] = acc0[l] + x2[m + l]; }
      }
      for (int from_x = 1; from_x < 13; from_x += 7) {
        const int x = from_x < 6 ? from_x : 6;
        float acc0[32];
        float acc1[32];
        float acc2[32];
        float acc3[32];
        float acc4[32];
        float acc5[32];
        float acc6[32];
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; acc4[l] = 0.0f; acc5[l] = 0.0f; acc6[l] = 0.0f; }
        const int first_ky = -y + 1;
        const int low_ky = first_ky > 0 ? first_ky : 0;
        const int behind_ky = -y + 15;
        const int high_ky = behind_ky < 3 ? behind_ky : 3;
        for (int ky = low_ky; ky < high_ky; ++ky) {
          for (int kx = 0; kx < 3; ++kx) {
            N_BARRIER;
            N_UNROLL(16) for (int l = 0; l < 32; ++l) {
              const float v0 = x1[m + 816 * ky + 272 * kx + l];
              acc0[l] += x0[m + 3808 * y + 272 * x + 3808 * ky + 272 * kx + l - 4080] * v0;
              acc1[l] += x0[m + 3808 * y + 272 * x + 3808 * ky + 272 * kx + l - 3808] * v0;
              acc2[l] += x0[m + 3808 * y + 272 * x + 3808 * ky + 272 * kx + l - 3536] * v0;
              acc3[l] += x0[m + 3808 * y + 272 * x + 3808 * ky + 272 * kx + l - 3264] * v0;
              acc4[l] += x0[m + 3808 * y + 272 * x + 3808 * ky + 272 * kx + l - 2992] * v0;
              acc5[l] += x0[m + 3808 * y + 272 * x + 3808 * ky + 272 * kx + l - 2720] * v0;
              acc6[l] += x0[m + 3808 * y + 272 * x + 3808 * ky + 272 * kx + l - 2448] * v0;
            }
          }
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + 272 * x + l] = acc0[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + 272 * x + l + 272] = acc1[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + 272 * x + l + 544] = acc2[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + 272 * x + l + 816] = acc3[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + 272 * x + l + 1088] = acc4[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + 272 * x + l + 1360] = acc5[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + 272 * x + l + 1632] = acc6[l] + x2[m + l];
        }
      }
      {
        float acc0[32];
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; }
        const int first_ky = -y + 1;
        const int low_ky = first_ky > 0 ? first_ky : 0;
        const int behind_ky = -y + 15;
        const int high_ky = behind_ky < 3 ? behind_ky : 3;
        for (int ky = low_ky; ky < high_ky; ++ky) {
          for (int kx = 0; kx < 2; ++kx) {
            N_BARRIER;
            N_UNROLL(16) for (int l = 0; l < 32; ++l) {
              acc0[l] += x0[m + 3808 * y + 3808 * ky + 272 * kx + l - 544] * x1[m + 816 * ky + 272 *
                  kx + l];
            }
          }
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + l + 3536] = acc0[l] + x2[m + l];
        }
      }
    }
  }
}

/* n74 (Conv+BatchNormalization):
   out[0, i * 68 + j, y, x] = acc + x2[0, i * 68 + j, 0, 0]
   acc = sum(c) x0[0, i * 68 + c, y, x] * x1[i * 68 + j, c, 0, 0]
   i < 4, j < 68, y < 14, x < 14, c < 68 */
static N_NOINLINE void n_conv_batchnormalization_22(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out)
{
  for (int i = 0; i < 4; ++i) {
    for (int from_j = 0; from_j < 68; from_j += 16) {
      const int j = from_j < 52 ? from_j : 52;
      for (int from_yx = 0; from_yx < 196; from_yx += 22) {
        const int yx = from_yx < 174 ? from_yx : 174;
        float acc0[16];
        float acc1[16];
        float acc2[16];
        float acc3[16];
        float acc4[16];
        float acc5[16];
        float acc6[16];
        float acc7[16];
        float acc8[16];
        float acc9[16];
        float acc10[16];
        float acc11[16];
        float acc12[16];
        float acc13[16];
        float acc14[16];
        float acc15[16];
        float acc16[16];
        float acc17[16];
        float acc18[16];
        float acc19[16];
        float acc20[16];
        float acc21[16];
        N_UNROLL(8) for (int l = 0; l < 16; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; acc4[l] = 0.0f; acc5[l] = 0.0f; acc6[l] = 0.0f; acc7[l] = 0.0f;
            acc8[l] = 0.0f; acc9[l] = 0.0f; acc10[l] = 0.0f; acc11[l] = 0.0f; acc12[l] = 0.0f;
            acc13[l] = 0.0f; acc14[l] = 0.0f; acc15[l] = 0.0f; acc16[l] = 0.0f; acc17[l] = 0.0f;
            acc18[l] = 0.0f; acc19[l] = 0.0f; acc20[l] = 0.0f; acc21[l] = 0.0f; }
        for (int c = 0; c < 68; ++c) {
          N_BARRIER;
          const float v0 = x0[68 * i + 272 * yx + c];
          const float v1 = x0[68 * i + 272 * yx + c + 272];
          const float v2 = x0[68 * i + 272 * yx + c + 544];
          const float v3 = x0[68 * i + 272 * yx + c + 816];
          const float v4 = x0[68 * i + 272 * yx + c + 1088];
          const float v5 = x0[68 * i + 272 * yx + c + 1360];
          const float v6 = x0[68 * i + 272 * yx + c + 1632];
          const float v7 = x0[68 * i + 272 * yx + c + 1904];
          const float v8 = x0[68 * i + 272 * yx + c + 2176];
          const float v9 = x0[68 * i + 272 * yx + c + 2448];
          const float v10 = x0[68 * i + 272 * yx + c + 2720];
          const float v11 = x0[68 * i + 272 * yx + c + 2992];
          const float v12 = x0[68 * i + 272 * yx + c + 3264];
          const float v13 = x0[68 * i + 272 * yx + c + 3536];
          const float v14 = x0[68 * i + 272 * yx + c + 3808];
          const float v15 = x0[68 * i + 272 * yx + c + 4080];
          const float v16 = x0[68 * i + 272 * yx + c + 4352];
          const float v17 = x0[68 * i + 272 * yx + c + 4624];
          const float v18 = x0[68 * i + 272 * yx + c + 4896];
          const float v19 = x0[68 * i + 272 * yx + c + 5168];
          const float v20 = x0[68 * i + 272 * yx + c + 5440];
          const float v21 = x0[68 * i + 272 * yx + c + 5712];
          N_UNROLL(8) for (int l = 0; l < 16; ++l) {
            const float v22 = x1[68 * i + j + 272 * c + l];
            acc0[l] += v0 * v22;
            acc1[l] += v1 * v22;
            acc2[l] += v2 * v22;
            acc3[l] += v3 * v22;
            acc4[l] += v4 * v22;
            acc5[l] += v5 * v22;
            acc6[l] += v6 * v22;
            acc7[l] += v7 * v22;
            acc8[l] += v8 * v22;
            acc9[l] += v9 * v22;
            acc10[l] += v10 * v22;
            acc11[l] += v11 * v22;
            acc12[l] += v12 * v22;
            acc13[l] += v13 * v22;
            acc14[l] += v14 * v22;
            acc15[l] += v15 * v22;
            acc16[l] += v16 * v22;
            acc17[l] += v17 * v22;
            acc18[l] += v18 * v22;
            acc19[l] += v19 * v22;
            acc20[l] += v20 * v22;
            acc21[l] += v21 * v22;
          }
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l] = acc0[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l + 272] = acc1[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l + 544] = acc2[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l + 816] = acc3[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l + 1088] = acc4[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l + 1360] = acc5[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l + 1632] = acc6[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l + 1904] = acc7[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l + 2176] = acc8[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l + 2448] = acc9[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l + 2720] = acc10[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l + 2992] = acc11[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l + 3264] = acc12[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l + 3536] = acc13[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l + 3808] = acc14[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l + 4080] = acc15[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l + 4352] = acc16[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l + 4624] = acc17[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l + 4896] = acc18[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l + 5168] = acc19[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l + 5440] = acc20[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 272 * yx + l + 5712] = acc21[l] + x2[68 * i + j + l];
        }
      }
    }
  }
}

/* n76 (Sum+Relu):
   out[0, i, j, p] = max(out[0, i, j, p] + x0[0, i, j, p], 0)
   i < 272, j < 14, p < 14 */
static N_NOINLINE void n_sum_relu_23(const float *N_RESTRICT x0, float *N_RESTRICT out)
{
  for (int jpi = 0; jpi < 53312; ++jpi) {
    out[jpi] = n_at_least_f32(out[jpi] + x0[jpi], 0.0f);
  }
}

/* n160 (AveragePool):
   out[0, m, y, x] = acc / ((3 - max(0 - (y * 2 - 1), 0)) * (3 - max(0 - (x * 2 - 1), 0)))
   acc = sum(ky, kx) x0[0, m, y * 2 + ky - 1, x * 2 + kx - 1]
   where 0 <= y * 2 + ky - 1 < 14, 0 <= x * 2 + kx - 1 < 14
   m < 272, y < 7, x < 7, ky < 3, kx < 3 */
static N_NOINLINE void n_averagepool_24(const float *N_RESTRICT x0, float *N_RESTRICT out)
{
  for (int y = 0; y < 7; ++y) {
    for (int x = 0; x < 7; ++x) {
      for (int from_m = 0; from_m < 272; from_m += 128) {
        const int m = from_m < 144 ? from_m : 144;
        float acc0[32];
        float acc1[32];
        float acc2[32];
        float acc3[32];
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; }
        const int first_ky = -2 * y + 1;
        const int low_ky = first_ky > 0 ? first_ky : 0;
        const int behind_ky = -2 * y + 15;
        const int high_ky = behind_ky < 3 ? behind_ky : 3;
        for (int ky = low_ky; ky < high_ky; ++ky) {
          const int first_kx = -2 * x + 1;
          const int low_kx = first_kx > 0 ? first_kx : 0;
          const int behind_kx = -2 * x + 15;
          const int high_kx = behind_kx < 3 ? behind_kx : 3;
          for (int kx = low_kx; kx < high_kx; ++kx) {
            N_BARRIER;
            N_UNROLL(16) for (int l = 0; l < 32; ++l) {
              acc0[l] += x0[m + 7616 * y + 544 * x + 3808 * ky + 272 * kx + l - 4080];
              acc1[l] += x0[m + 7616 * y + 544 * x + 3808 * ky + 272 * kx + l - 4048];
              acc2[l] += x0[m + 7616 * y + 544 * x + 3808 * ky + 272 * kx + l - 4016];
              acc3[l] += x0[m + 7616 * y + 544 * x + 3808 * ky + 272 * kx + l - 3984];
            }
          }
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + 544 * x + l] = acc0[l] / (float)((3 - n_max_i64(0 - ((int64_t)y * 2 -
              1), 0)) * (3 - n_max_i64(0 - ((int64_t)x * 2 - 1), 0)));
          out[m + 3808 * y + 544 * x + l + 32] = acc1[l] / (float)((3 - n_max_i64(0 - ((int64_t)y *
              2 - 1), 0)) * (3 - n_max_i64(0 - ((int64_t)x * 2 - 1), 0)));
          out[m + 3808 * y + 544 * x + l + 64] = acc2[l] / (float)((3 - n_max_i64(0 - ((int64_t)y *
              2 - 1), 0)) * (3 - n_max_i64(0 - ((int64_t)x * 2 - 1), 0)));
          out[m + 3808 * y + 544 * x + l + 96] = acc3[l] / (float)((3 - n_max_i64(0 - ((int64_t)y *
              2 - 1), 0)) * (3 - n_max_i64(0 - ((int64_t)x * 2 - 1), 0)));
        }
      }
    }
  }
}

/* n156 (Conv+BatchNormalization):
   out[0, m, y, x] = acc + x2[0, m, 0, 0]
   acc = sum(ky, kx) x0[0, m, y * 2 + ky - 1, x * 2 + kx - 1] * x1[m, 0, ky, kx]
   where 0 <= y * 2 + ky - 1 < 14, 0 <= x * 2 + kx - 1 < 14
   m < 272, y < 7, x < 7, ky < 3, kx < 3 */
static N_NOINLINE void n_conv_batchnormalization_25(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out)
{
  for (int y = 0; y < 7; ++y) {
    for (int from_m = 0; from_m < 272; from_m += 32) {
      const int m = from_m < 240 ? from_m : 240;
      {
        float acc0[32];
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; }
        const int first_ky = -2 * y + 1;
        const int low_ky = first_ky > 0 ? first_ky : 0;
        const int behind_ky = -2 * y + 15;
        const int high_ky = behind_ky < 3 ? behind_ky : 3;
        for (int ky = low_ky; ky < high_ky; ++ky) {
          for (int kx = 1; kx < 3; ++kx) {
            N_BARRIER;
            N_UNROLL(16) for (int l = 0; l < 32; ++l) {
              acc0[l] += x0[m + 7616 * y + 3808 * ky + 272 * kx + l - 4080] * x1[m + 816 * ky + 272
                  * kx + l];
            }
          }
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + 1904 * y + l] = acc0[l] + x2[m + l]; }
      }
      {
        float acc0[32];
        float acc1[32];
        float acc2[32];
        float acc3[32];
        float acc4[32];
        float acc5[32];
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; acc4[l] = 0.0f; acc5[l] = 0.0f; }
        const int first_ky = -2 * y + 1;
        const int low_ky = first_ky > 0 ? first_ky : 0;
        const int behind_ky = -2 * y + 15;
        const int high_ky = behind_ky < 3 ? behind_ky : 3;
        for (int ky = low_ky; ky < high_ky; ++ky) {
          for (int kx = 0; kx < 3; ++kx) {
            N_BARRIER;
            N_UNROLL(16) for (int l = 0; l < 32; ++l) {
              const float v0 = x1[m + 816 * ky + 272 * kx + l];
              acc0[l] += x0[m + 7616 * y + 3808 * ky + 272 * kx + l - 3536] * v0;
              acc1[l] += x0[m + 7616 * y + 3808 * ky + 272 * kx + l - 2992] * v0;
              acc2[l] += x0[m + 7616 * y + 3808 * ky + 272 * kx + l - 2448] * v0;
              acc3[l] += x0[m + 7616 * y + 3808 * ky + 272 * kx + l - 1904] * v0;
              acc4[l] += x0[m + 7616 * y + 3808 * ky + 272 * kx + l - 1360] * v0;
              acc5[l] += x0[m + 7616 * y + 3808 * ky + 272 * kx + l - 816] * v0;
            }
          }
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 1904 * y + l + 272] = acc0[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 1904 * y + l + 544] = acc1[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 1904 * y + l + 816] = acc2[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 1904 * y + l + 1088] = acc3[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 1904 * y + l + 1360] = acc4[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 1904 * y + l + 1632] = acc5[l] + x2[m + l];
        }
      }
    }
  }
}

/* n158 (Conv+BatchNormalization):
   out[0, i * 68 + j, y, x] = acc + x2[0, i * 68 + j, 0, 0]
   acc = sum(c) x0[0, i * 68 + c, y, x] * x1[i * 68 + j, c, 0, 0]
   i < 4, j < 68, y < 7, x < 7, c < 68 */
static N_NOINLINE void n_conv_batchnormalization_26(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out)
{
  for (int i = 0; i < 4; ++i) {
    for (int from_j = 0; from_j < 68; from_j += 16) {
      const int j = from_j < 52 ? from_j : 52;
      for (int from_yx = 0; from_yx < 49; from_yx += 17) {
        const int yx = from_yx < 32 ? from_yx : 32;
        float acc0[16];
        float acc1[16];
        float acc2[16];
        float acc3[16];
        float acc4[16];
        float acc5[16];
        float acc6[16];
        float acc7[16];
        float acc8[16];
        float acc9[16];
        float acc10[16];
        float acc11[16];
        float acc12[16];
        float acc13[16];
        float acc14[16];
        float acc15[16];
        float acc16[16];
        N_UNROLL(8) for (int l = 0; l < 16; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; acc4[l] = 0.0f; acc5[l] = 0.0f; acc6[l] = 0.0f; acc7[l] = 0.0f;
            acc8[l] = 0.0f; acc9[l] = 0.0f; acc10[l] = 0.0f; acc11[l] = 0.0f; acc12[l] = 0.0f;
            acc13[l] = 0.0f; acc14[l] = 0.0f; acc15[l] = 0.0f; acc16[l] = 0.0f; }
        for (int c = 0; c < 68; ++c) {
          N_BARRIER;
          const float v0 = x0[68 * i + 272 * yx + c];
          const float v1 = x0[68 * i + 272 * yx + c + 272];
          const float v2 = x0[68 * i + 272 * yx + c + 544];
          const float v3 = x0[68 * i + 272 * yx + c + 816];
          const float v4 = x0[68 * i + 272 * yx + c + 1088];
          const float v5 = x0[68 * i + 272 * yx + c + 1360];
          const float v6 = x0[68 * i + 272 * yx + c + 1632];
          const float v7 = x0[68 * i + 272 * yx + c + 1904];
          const float v8 = x0[68 * i + 272 * yx + c + 2176];
          const float v9 = x0[68 * i + 272 * yx + c + 2448];
          const float v10 = x0[68 * i + 272 * yx + c + 2720];
          const float v11 = x0[68 * i + 272 * yx + c + 2992];
          const float v12 = x0[68 * i + 272 * yx + c + 3264];
          const float v13 = x0[68 * i + 272 * yx + c + 3536];
          const float v14 = x0[68 * i + 272 * yx + c + 3808];
          const float v15 = x0[68 * i + 272 * yx + c + 4080];
          const float v16 = x0[68 * i + 272 * yx + c + 4352];
          N_UNROLL(8) for (int l = 0; l < 16; ++l) {
            const float v17 = x1[68 * i + j + 272 * c + l];
            acc0[l] += v0 * v17;
            acc1[l] += v1 * v17;
            acc2[l] += v2 * v17;
            acc3[l] += v3 * v17;
            acc4[l] += v4 * v17;
            acc5[l] += v5 * v17;
            acc6[l] += v6 * v17;
            acc7[l] += v7 * v17;
            acc8[l] += v8 * v17;
            acc9[l] += v9 * v17;
            acc10[l] += v10 * v17;
            acc11[l] += v11 * v17;
            acc12[l] += v12 * v17;
            acc13[l] += v13 * v17;
            acc14[l] += v14 * v17;
            acc15[l] += v15 * v17;
            acc16[l] += v16 * v17;
          }
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 544 * yx + l] = acc0[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 544 * yx + l + 544] = acc1[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 544 * yx + l + 1088] = acc2[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 544 * yx + l + 1632] = acc3[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 544 * yx + l + 2176] = acc4[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 544 * yx + l + 2720] = acc5[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 544 * yx + l + 3264] = acc6[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 544 * yx + l + 3808] = acc7[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 544 * yx + l + 4352] = acc8[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 544 * yx + l + 4896] = acc9[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 544 * yx + l + 5440] = acc10[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 544 * yx + l + 5984] = acc11[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 544 * yx + l + 6528] = acc12[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 544 * yx + l + 7072] = acc13[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 544 * yx + l + 7616] = acc14[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 544 * yx + l + 8160] = acc15[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + 544 * yx + l + 8704] = acc16[l] + x2[68 * i + j + l];
        }
      }
    }
  }
}

/* n162 (Relu):
   out[0, i, j, p] = max(out[0, i, j, p], 0)
   i < 544, j < 7, p < 7 */
static N_NOINLINE void n_relu_27(float *N_RESTRICT out)
{
  for (int jpi = 0; jpi < 26656; ++jpi) {
    out[jpi] = n_at_least_f32(out[jpi], 0.0f);
  }
}

/* n163 (Conv+BatchNormalization+Relu):
   out[0, i * 136 + j, y, x] = max(acc + x2[0, i * 136 + j, 0, 0], 0)
   acc = sum(c) x0[0, i * 136 + c, y, x] * x1[i * 136 + j, c, 0, 0]
   i < 4, j < 136, y < 7, x < 7, c < 136 */
static N_NOINLINE void n_conv_batchnormalization_relu_28(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out)
{
  for (int i = 0; i < 4; ++i) {
    for (int from_j = 0; from_j < 136; from_j += 32) {
      const int j = from_j < 104 ? from_j : 104;
      for (int from_yx = 0; from_yx < 49; from_yx += 10) {
        const int yx = from_yx < 39 ? from_yx : 39;
        float acc0[32];
        float acc1[32];
        float acc2[32];
        float acc3[32];
        float acc4[32];
        float acc5[32];
        float acc6[32];
        float acc7[32];
        float acc8[32];
        float acc9[32];
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; acc4[l] = 0.0f; acc5[l] = 0.0f; acc6[l] = 0.0f; acc7[l] = 0.0f;
            acc8[l] = 0.0f; acc9[l] = 0.0f; }
        for (int c = 0; c < 136; ++c) {
          N_BARRIER;
          const float v0 = x0[136 * i + 544 * yx + c];
          const float v1 = x0[136 * i + 544 * yx + c + 544];
          const float v2 = x0[136 * i + 544 * yx + c + 1088];
          const float v3 = x0[136 * i + 544 * yx + c + 1632];
          const float v4 = x0[136 * i + 544 * yx + c + 2176];
          const float v5 = x0[136 * i + 544 * yx + c + 2720];
          const float v6 = x0[136 * i + 544 * yx + c + 3264];
          const float v7 = x0[136 * i + 544 * yx + c + 3808];
          const float v8 = x0[136 * i + 544 * yx + c + 4352];
          const float v9 = x0[136 * i + 544 * yx + c + 4896];
          N_UNROLL(16) for (int l = 0; l < 32; ++l) {
            const float v10 = x1[136 * i + j + 544 * c + l];
            acc0[l] += v0 * v10;
            acc1[l] += v1 * v10;
            acc2[l] += v2 * v10;
            acc3[l] += v3 * v10;
            acc4[l] += v4 * v10;
            acc5[l] += v5 * v10;
            acc6[l] += v6 * v10;
            acc7[l] += v7 * v10;
            acc8[l] += v8 * v10;
            acc9[l] += v9 * v10;
          }
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[136 * i + j + 544 * yx + l] = n_at_least_f32(acc0[l] + x2[136 * i + j + l], 0.0f);
          out[136 * i + j + 544 * yx + l + 544] = n_at_least_f32(acc1[l] + x2[136 * i + j + l],
              0.0f);
          out[136 * i + j + 544 * yx + l + 1088] = n_at_least_f32(acc2[l] + x2[136 * i + j + l],
              0.0f);
          out[136 * i + j + 544 * yx + l + 1632] = n_at_least_f32(acc3[l] + x2[136 * i + j + l],
              0.0f);
          out[136 * i + j + 544 * yx + l + 2176] = n_at_least_f32(acc4[l] + x2[136 * i + j + l],
              0.0f);
          out[136 * i + j + 544 * yx + l + 2720] = n_at_least_f32(acc5[l] + x2[136 * i + j + l],
              0.0f);
          out[136 * i + j + 544 * yx + l + 3264] = n_at_least_f32(acc6[l] + x2[136 * i + j + l],
              0.0f);
          out[136 * i + j + 544 * yx + l + 3808] = n_at_least_f32(acc7[l] + x2[136 * i + j + l],
              0.0f);
          out[136 * i + j + 544 * yx + l + 4352] = n_at_least_f32(acc8[l] + x2[136 * i + j + l],
              0.0f);
          out[136 * i + j + 544 * yx + l + 4896] = n_at_least_f32(acc9[l] + x2[136 * i + j + l],
              0.0f);
        }
      }
    }
  }
}

/* n168 (Reshape):
   out[0, i, j, p] = x0[0, i / 4, mod(i, 4), j, p]
   i < 544, j < 7, p < 7 */
static N_NOINLINE void n_reshape_29(const float *N_RESTRICT x0, float *N_RESTRICT out)
{
  for (int jp = 0; jp < 49; ++jp) {
    for (int i = 0; i < 136; ++i) {
      for (int i_rest = 0; i_rest < 4; ++i_rest) {
        out[4 * i + 544 * jp + i_rest] = x0[i + 544 * jp + 136 * i_rest];
      }
    }
  }
}

/* n169 (Conv+BatchNormalization):
   out[0, m, y, x] = acc + x2[0, m, 0, 0]
   acc = sum(ky, kx) x0[0, m, y + ky - 1, x + kx - 1] * x1[m, 0, ky, kx]
   where 0 <= y + ky - 1 < 7, 0 <= x + kx - 1 < 7
   m < 544, y < 7, x < 7, ky < 3, kx < 3 */
static N_NOINLINE void n_conv_batchnormalization_30(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out)
{
  for (int y = 0; y < 7; ++y) {
    for (int m = 0; m < 544; m += 32) {
      {
        float acc0[32];
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; }
        const int first_ky = -y + 1;
        const int low_ky = first_ky > 0 ? first_ky : 0;
        const int behind_ky = -y + 8;
        const int high_ky = behind_ky < 3 ? behind_ky : 3;
        for (int ky = low_ky; ky < high_ky; ++ky) {
          for (int kx = 1; kx < 3; ++kx) {
            N_BARRIER;
            N_UNROLL(16) for (int l = 0; l < 32; ++l) {
              acc0[l] += x0[m + 3808 * y + 3808 * ky + 544 * kx + l - 4352] * x1[m + 1632 * ky + 544
                  * kx + l];
            }
          }
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + 3808 * y + l] = acc0[l] + x2[m + l]; }
      }
      {
        float acc0[32];
        float acc1[32];
        float acc2[32];
        float acc3[32];
        float acc4[32];
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; acc4[l] = 0.0f; }
        const int first_ky = -y + 1;
        const int low_ky = first_ky > 0 ? first_ky : 0;
        const int behind_ky = -y + 8;
        const int high_ky = behind_ky < 3 ? behind_ky : 3;
        for (int ky = low_ky; ky < high_ky; ++ky) {
          for (int kx = 0; kx < 3; ++kx) {
            N_BARRIER;
            N_UNROLL(16) for (int l = 0; l < 32; ++l) {
              const float v0 = x1[m + 1632 * ky + 544 * kx + l];
              acc0[l] += x0[m + 3808 * y + 3808 * ky + 544 * kx + l - 3808] * v0;
              acc1[l] += x0[m + 3808 * y + 3808 * ky + 544 * kx + l - 3264] * v0;
              acc2[l] += x0[m + 3808 * y + 3808 * ky + 544 * kx + l - 2720] * v0;
              acc3[l] += x0[m + 3808 * y + 3808 * ky + 544 * kx + l - 2176] * v0;
              acc4[l] += x0[m + 3808 * y + 3808 * ky + 544 * kx + l - 1632] * v0;
            }
          }
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + l + 544] = acc0[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + l + 1088] = acc1[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + l + 1632] = acc2[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + l + 2176] = acc3[l] + x2[m + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + l + 2720] = acc4[l] + x2[m + l];
        }
      }
      {
        float acc0[32];
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; }
        const int first_ky = -y + 1;
        const int low_ky = first_ky > 0 ? first_ky : 0;
        const int behind_ky = -y + 8;
        const int high_ky = behind_ky < 3 ? behind_ky : 3;
        for (int ky = low_ky; ky < high_ky; ++ky) {
          for (int kx = 0; kx < 2; ++kx) {
            N_BARRIER;
            N_UNROLL(16) for (int l = 0; l < 32; ++l) {
              acc0[l] += x0[m + 3808 * y + 3808 * ky + 544 * kx + l - 1088] * x1[m + 1632 * ky + 544
                  * kx + l];
            }
          }
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[m + 3808 * y + l + 3264] = acc0[l] + x2[m + l];
        }
      }
    }
  }
}

/* n171 (Conv+BatchNormalization):
   out[0, i * 136 + j, y, x] = acc + x2[0, i * 136 + j, 0, 0]
   acc = sum(c) x0[0, i * 136 + c, y, x] * x1[i * 136 + j, c, 0, 0]
   i < 4, j < 136, y < 7, x < 7, c < 136 */
static N_NOINLINE void n_conv_batchnormalization_31(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out)
{
  for (int i = 0; i < 4; ++i) {
    for (int from_j = 0; from_j < 136; from_j += 32) {
      const int j = from_j < 104 ? from_j : 104;
      for (int from_yx = 0; from_yx < 49; from_yx += 10) {
        const int yx = from_yx < 39 ? from_yx : 39;
        float acc0[32];
        float acc1[32];
        float acc2[32];
        float acc3[32];
        float acc4[32];
        float acc5[32];
        float acc6[32];
        float acc7[32];
        float acc8[32];
        float acc9[32];
        N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; acc4[l] = 0.0f; acc5[l] = 0.0f; acc6[l] = 0.0f; acc7[l] = 0.0f;
            acc8[l] = 0.0f; acc9[l] = 0.0f; }
        for (int c = 0; c < 136; ++c) {
          N_BARRIER;
          const float v0 = x0[136 * i + 544 * yx + c];
          const float v1 = x0[136 * i + 544 * yx + c + 544];
          const float v2 = x0[136 * i + 544 * yx + c + 1088];
          const float v3 = x0[136 * i + 544 * yx + c + 1632];
          const float v4 = x0[136 * i + 544 * yx + c + 2176];
          const float v5 = x0[136 * i + 544 * yx + c + 2720];
          const float v6 = x0[136 * i + 544 * yx + c + 3264];
          const float v7 = x0[136 * i + 544 * yx + c + 3808];
          const float v8 = x0[136 * i + 544 * yx + c + 4352];
          const float v9 = x0[136 * i + 544 * yx + c + 4896];
          N_UNROLL(16) for (int l = 0; l < 32; ++l) {
            const float v10 = x1[136 * i + j + 544 * c + l];
            acc0[l] += v0 * v10;
            acc1[l] += v1 * v10;
            acc2[l] += v2 * v10;
            acc3[l] += v3 * v10;
            acc4[l] += v4 * v10;
            acc5[l] += v5 * v10;
            acc6[l] += v6 * v10;
            acc7[l] += v7 * v10;
            acc8[l] += v8 * v10;
            acc9[l] += v9 * v10;
          }
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[136 * i + j + 544 * yx + l] = acc0[l] + x2[136 * i + j + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[136 * i + j + 544 * yx + l + 544] = acc1[l] + x2[136 * i + j + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[136 * i + j + 544 * yx + l + 1088] = acc2[l] + x2[136 * i + j + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[136 * i + j + 544 * yx + l + 1632] = acc3[l] + x2[136 * i + j + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[136 * i + j + 544 * yx + l + 2176] = acc4[l] + x2[136 * i + j + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[136 * i + j + 544 * yx + l + 2720] = acc5[l] + x2[136 * i + j + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[136 * i + j + 544 * yx + l + 3264] = acc6[l] + x2[136 * i + j + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[136 * i + j + 544 * yx + l + 3808] = acc7[l] + x2[136 * i + j + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[136 * i + j + 544 * yx + l + 4352] = acc8[l] + x2[136 * i + j + l];
        }
        N_UNROLL(16) for (int l = 0; l < 32; ++l) {
          out[136 * i + j + 544 * yx + l + 4896] = acc9[l] + x2[136 * i + j + l];
        }
      }
    }
  }
}

/* n173 (Sum+Relu):
   out[0, i, j, p] = max(out[0, i, j, p] + x0[0, i, j, p], 0)
   i < 544, j < 7, p < 7 */
static N_NOINLINE void n_sum_relu_32(const float *N_RESTRICT x0, float *N_RESTRICT out)
{
  for (int jpi = 0; jpi < 26656; ++jpi) {
    out[jpi] = n_at_least_f32(out[jpi] + x0[jpi], 0.0f);
  }
}

/* n199 (AveragePool):
   out[0, m, 0, 0] = acc / 49
   acc = sum(ky, kx) x0[0, m, ky, kx]
   m < 544, ky < 7, kx < 7 */
static N_NOINLINE void n_averagepool_33(const float *N_RESTRICT x0, float *N_RESTRICT out)
{
  for (int from_m = 0; from_m < 544; from_m += 128) {
    const int m = from_m < 416 ? from_m : 416;
    float acc0[32];
    float acc1[32];
    float acc2[32];
    float acc3[32];
    N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
        acc3[l] = 0.0f; }
    for (int kykx = 0; kykx < 49; ++kykx) {
      N_BARRIER;
      N_UNROLL(16) for (int l = 0; l < 32; ++l) {
        acc0[l] += x0[m + 544 * kykx + l];
        acc1[l] += x0[m + 544 * kykx + l + 32];
        acc2[l] += x0[m + 544 * kykx + l + 64];
        acc3[l] += x0[m + 544 * kykx + l + 96];
      }
    }
    N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l] = acc0[l] / 49.0f; }
    N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l + 32] = acc1[l] / 49.0f; }
    N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l + 64] = acc2[l] / 49.0f; }
    N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l + 96] = acc3[l] / 49.0f; }
  }
}

/* n201 (Gemm):
   out[0, i] = acc + x2[i]
   acc = sum(k) x1[0, k] * x0[i, k]
   i < 1000, k < 544 */
static N_NOINLINE void n_gemm_34(const float *N_RESTRICT x0, const float *N_RESTRICT x1,
    const float *N_RESTRICT x2, float *N_RESTRICT out)
{
  for (int from_i = 0; from_i < 1000; from_i += 128) {
    const int i = from_i < 872 ? from_i : 872;
    float acc0[32];
    float acc1[32];
    float acc2[32];
    float acc3[32];
    N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
        acc3[l] = 0.0f; }
    for (int k = 0; k < 544; ++k) {
      N_BARRIER;
      const float v0 = x1[k];
      N_UNROLL(16) for (int l = 0; l < 32; ++l) {
        acc0[l] += v0 * x0[i + 1000 * k + l];
        acc1[l] += v0 * x0[i + 1000 * k + l + 32];
        acc2[l] += v0 * x0[i + 1000 * k + l + 64];
        acc3[l] += v0 * x0[i + 1000 * k + l + 96];
      }
    }
    N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[i + l] = acc0[l] + x2[i + l]; }
    N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[i + l + 32] = acc1[l] + x2[i + l + 32]; }
    N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[i + l + 64] = acc2[l] + x2[i + l + 64]; }
    N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[i + l + 96] = acc3[l] + x2[i + l + 96]; }
  }
}

/* n202 (Softmax):
   out[0, 0] = maximum(k) x0[0, k]
   k < 1000 */
static N_NOINLINE void n_softmax_35(const float *N_RESTRICT x0, float *N_RESTRICT out)
{
  float acc0 = (-INFINITY);
  for (int k = 0; k < 1000; ++k) {
    acc0 = n_max_f32(acc0, x0[k]);
  }
  out[0] = acc0;
}

/* n202 (Softmax):
   out[0, i] = exp(out[0, i] - x0[0, 0])
   i < 1000 */
static N_NOINLINE void n_softmax_36(const float *N_RESTRICT x0, float *N_RESTRICT out)
{
  for (int i = 0; i < 1000; ++i) {
    out[i] = n_exp_f32(out[i] - x0[0]);
  }
}

/* n202 (Softmax):
   out[0, 0] = sum(k) x0[0, k]
   k < 1000 */
static N_NOINLINE void n_softmax_37(const float *N_RESTRICT x0, float *N_RESTRICT out)
{
  float acc0 = 0.0f;
  for (int k = 0; k < 1000; ++k) {
    acc0 += x0[k];
  }
  out[0] = acc0;
}

/* n202 (Softmax):
   out[0, i] = out[0, i] / x0[0, 0]
   i < 1000 */
static N_NOINLINE void n_softmax_38(const float *N_RESTRICT x0, float *N_RESTRICT out)
{
  for (int i = 0; i < 1000; ++i) {
    out[i] = out[i] / x0[0];
  }
}

int n_run(const n_workspace *w, const n_inputs *in, const n_outputs *out)
{
  unsigned char *pool_arena;
  if (!w || !w->arena || !in || !out || !in->gpu_0_data_0 || !out->gpu_0_softmax_1) return N_ENULL;
  if ((uintptr_t)w->arena % N_ARENA_ALIGN != 0) return N_EALIGN;
  pool_arena = (unsigned char *)w->arena;

  /* 0: n0 */
  n_conv_batchnormalization_relu_0(in->gpu_0_data_0,
      (const float *)(const void *)(n_weights + 2234112),
      (const float *)(const void *)(n_weights + 2233984), (float *)(void *)(pool_arena + N_AT_0));
  /* 1: n3 */
  n_maxpool_1((float *)(void *)(pool_arena + N_AT_0), (float *)(void *)(pool_arena + N_AT_1));
  /* 2: n4 */
  n_conv_batchnormalization_relu_2((float *)(void *)(pool_arena + N_AT_1),
      (const float *)(const void *)(n_weights + 2236736),
      (const float *)(const void *)(n_weights + 2180032), (float *)(void *)(pool_arena + N_AT_2));
  /* 3: n14 */
  n_averagepool_3((float *)(void *)(pool_arena + N_AT_1), (float *)(void *)(pool_arena + N_AT_6));
  /* 4: n9 */
  n_reshape_4((float *)(void *)(pool_arena + N_AT_2), (float *)(void *)(pool_arena + N_AT_3));
  /* 5: n10 */
  n_conv_batchnormalization_5((float *)(void *)(pool_arena + N_AT_3),
      (const float *)(const void *)(n_weights + 2239424),
      (const float *)(const void *)(n_weights + 2180480), (float *)(void *)(pool_arena + N_AT_4));
  /* 6: n12 */
  n_conv_batchnormalization_6((float *)(void *)(pool_arena + N_AT_4),
      (const float *)(const void *)(n_weights + 2243456),
      (const float *)(const void *)(n_weights + 2180928), (float *)(void *)(pool_arena + N_AT_5));
  /* 7: n15 */
  n_concat_7((float *)(void *)(pool_arena + N_AT_5), (float *)(void *)(pool_arena + N_AT_7));
  /* 7: n15 */
  n_concat_8((float *)(void *)(pool_arena + N_AT_6), (float *)(void *)(pool_arena + N_AT_7));
  n_relu_9((float *)(void *)(pool_arena + N_AT_7)); /* 8: n16 */
  /* 9: n17 */
  n_conv_batchnormalization_relu_10((float *)(void *)(pool_arena + N_AT_7),
      (const float *)(const void *)(n_weights + 2256000),
      (const float *)(const void *)(n_weights + 2181376), (float *)(void *)(pool_arena + N_AT_8));
  /* 10: n22 */
  n_reshape_11((float *)(void *)(pool_arena + N_AT_8), (float *)(void *)(pool_arena + N_AT_9));
  /* 11: n23 */
  n_conv_batchnormalization_12((float *)(void *)(pool_arena + N_AT_9),
      (const float *)(const void *)(n_weights + 2274496),
      (const float *)(const void *)(n_weights + 2181952), (float *)(void *)(pool_arena + N_AT_10));
  /* 12: n25 */
  n_conv_batchnormalization_13((float *)(void *)(pool_arena + N_AT_10),
      (const float *)(const void *)(n_weights + 2279424),
      (const float *)(const void *)(n_weights + 2182528), (float *)(void *)(pool_arena + N_AT_11));
  /* 13: n27 */
  n_sum_relu_14((float *)(void *)(pool_arena + N_AT_7), (float *)(void *)(pool_arena + N_AT_11));
  /* 14: n29 */
  n_conv_batchnormalization_relu_10((float *)(void *)(pool_arena + N_AT_11),
      (const float *)(const void *)(n_weights + 2297920),
      (const float *)(const void *)(n_weights + 2183104), (float *)(void *)(pool_arena + N_AT_12));
  /* 15: n34 */
  n_reshape_11((float *)(void *)(pool_arena + N_AT_12), (float *)(void *)(pool_arena + N_AT_13));
  /* 16: n35 */
  n_conv_batchnormalization_12((float *)(void *)(pool_arena + N_AT_13),
      (const float *)(const void *)(n_weights + 2316416),
      (const float *)(const void *)(n_weights + 2183680), (float *)(void *)(pool_arena + N_AT_14));
  /* 17: n37 */
  n_conv_batchnormalization_13((float *)(void *)(pool_arena + N_AT_14),
      (const float *)(const void *)(n_weights + 2321344),
      (const float *)(const void *)(n_weights + 2184256), (float *)(void *)(pool_arena + N_AT_15));
  /* 18: n39 */
  n_sum_relu_14((float *)(void *)(pool_arena + N_AT_11), (float *)(void *)(pool_arena + N_AT_15));
  /* 19: n41 */
  n_conv_batchnormalization_relu_10((float *)(void *)(pool_arena + N_AT_15),
      (const float *)(const void *)(n_weights + 2339840),
      (const float *)(const void *)(n_weights + 2184832), (float *)(void *)(pool_arena + N_AT_16));
  /* 20: n46 */
  n_reshape_11((float *)(void *)(pool_arena + N_AT_16), (float *)(void *)(pool_arena + N_AT_17));
  /* 21: n47 */
  n_conv_batchnormalization_12((float *)(void *)(pool_arena + N_AT_17),
      (const float *)(const void *)(n_weights + 2358336),
      (const float *)(const void *)(n_weights + 2185408), (float *)(void *)(pool_arena + N_AT_18));
  /* 22: n49 */
  n_conv_batchnormalization_13((float *)(void *)(pool_arena + N_AT_18),
      (const float *)(const void *)(n_weights + 2363264),
      (const float *)(const void *)(n_weights + 2185984), (float *)(void *)(pool_arena + N_AT_19));
  /* 23: n51 */
  n_sum_relu_14((float *)(void *)(pool_arena + N_AT_15), (float *)(void *)(pool_arena + N_AT_19));
  /* 24: n53 */
  n_conv_batchnormalization_relu_10((float *)(void *)(pool_arena + N_AT_19),
      (const float *)(const void *)(n_weights + 2381760),
      (const float *)(const void *)(n_weights + 2186560), (float *)(void *)(pool_arena + N_AT_20));
  /* 25: n63 */
  n_averagepool_15((float *)(void *)(pool_arena + N_AT_19),
      (float *)(void *)(pool_arena + N_AT_23 + 544));
  /* 26: n58 */
  n_reshape_11((float *)(void *)(pool_arena + N_AT_20), (float *)(void *)(pool_arena + N_AT_21));
  /* 27: n59 */
  n_conv_batchnormalization_16((float *)(void *)(pool_arena + N_AT_21),
      (const float *)(const void *)(n_weights + 2400256),
      (const float *)(const void *)(n_weights + 2187136), (float *)(void *)(pool_arena + N_AT_22));
  /* 28: n61 */
  n_conv_batchnormalization_17((float *)(void *)(pool_arena + N_AT_22),
      (const float *)(const void *)(n_weights + 2405184),
      (const float *)(const void *)(n_weights + 2187712), (float *)(void *)(pool_arena + N_AT_23));
  n_relu_18((float *)(void *)(pool_arena + N_AT_23)); /* 30: n65 */
  /* 31: n66 */
  n_conv_batchnormalization_relu_19((float *)(void *)(pool_arena + N_AT_23),
      (const float *)(const void *)(n_weights + 2423680),
      (const float *)(const void *)(n_weights + 2188288), (float *)(void *)(pool_arena + N_AT_24));
  /* 32: n71 */
  n_reshape_20((float *)(void *)(pool_arena + N_AT_24), (float *)(void *)(pool_arena + N_AT_25));
  /* 33: n72 */
  n_conv_batchnormalization_21((float *)(void *)(pool_arena + N_AT_25),
      (const float *)(const void *)(n_weights + 2497664),
      (const float *)(const void *)(n_weights + 2189376), (float *)(void *)(pool_arena + N_AT_26));
  /* 34: n74 */
  n_conv_batchnormalization_22((float *)(void *)(pool_arena + N_AT_26),
      (const float *)(const void *)(n_weights + 2507456),
      (const float *)(const void *)(n_weights + 2190464), (float *)(void *)(pool_arena + N_AT_27));
  /* 35: n76 */
  n_sum_relu_23((float *)(void *)(pool_arena + N_AT_23), (float *)(void *)(pool_arena + N_AT_27));
  /* 36: n78 */
  n_conv_batchnormalization_relu_19((float *)(void *)(pool_arena + N_AT_27),
      (const float *)(const void *)(n_weights + 2581440),
      (const float *)(const void *)(n_weights + 2191552), (float *)(void *)(pool_arena + N_AT_28));
  /* 37: n83 */
  n_reshape_20((float *)(void *)(pool_arena + N_AT_28), (float *)(void *)(pool_arena + N_AT_29));
  /* 38: n84 */
  n_conv_batchnormalization_21((float *)(void *)(pool_arena + N_AT_29),
      (const float *)(const void *)(n_weights + 2655424),
      (const float *)(const void *)(n_weights + 2192640), (float *)(void *)(pool_arena + N_AT_30));
  /* 39: n86 */
  n_conv_batchnormalization_22((float *)(void *)(pool_arena + N_AT_30),
      (const float *)(const void *)(n_weights + 2665216),
      (const float *)(const void *)(n_weights + 2193728), (float *)(void *)(pool_arena + N_AT_31));
  /* 40: n88 */
  n_sum_relu_23((float *)(void *)(pool_arena + N_AT_27), (float *)(void *)(pool_arena + N_AT_31));
  /* 41: n90 */
  n_conv_batchnormalization_relu_19((float *)(void *)(pool_arena + N_AT_31),
      (const float *)(const void *)(n_weights + 2739200),
      (const float *)(const void *)(n_weights + 2194816), (float *)(void *)(pool_arena + N_AT_32));
  /* 42: n95 */
  n_reshape_20((float *)(void *)(pool_arena + N_AT_32), (float *)(void *)(pool_arena + N_AT_33));
  /* 43: n96 */
  n_conv_batchnormalization_21((float *)(void *)(pool_arena + N_AT_33),
      (const float *)(const void *)(n_weights + 2813184),
      (const float *)(const void *)(n_weights + 2195904), (float *)(void *)(pool_arena + N_AT_34));
  /* 44: n98 */
  n_conv_batchnormalization_22((float *)(void *)(pool_arena + N_AT_34),
      (const float *)(const void *)(n_weights + 2822976),
      (const float *)(const void *)(n_weights + 2196992), (float *)(void *)(pool_arena + N_AT_35));
  /* 45: n100 */
  n_sum_relu_23((float *)(void *)(pool_arena + N_AT_31), (float *)(void *)(pool_arena + N_AT_35));
  /* 46: n102 */
  n_conv_batchnormalization_relu_19((float *)(void *)(pool_arena + N_AT_35),
      (const float *)(const void *)(n_weights + 2896960),
      (const float *)(const void *)(n_weights + 2198080), (float *)(void *)(pool_arena + N_AT_36));
  /* 47: n107 */
  n_reshape_20((float *)(void *)(pool_arena + N_AT_36), (float *)(void *)(pool_arena + N_AT_37));
  /* 48: n108 */
  n_conv_batchnormalization_21((float *)(void *)(pool_arena + N_AT_37),
      (const float *)(const void *)(n_weights + 2970944),
      (const float *)(const void *)(n_weights + 2199168), (float *)(void *)(pool_arena + N_AT_38));
  /* 49: n110 */
  n_conv_batchnormalization_22((float *)(void *)(pool_arena + N_AT_38),
      (const float *)(const void *)(n_weights + 2980736),
      (const float *)(const void *)(n_weights + 2200256), (float *)(void *)(pool_arena + N_AT_39));
  /* 50: n112 */
  n_sum_relu_23((float *)(void *)(pool_arena + N_AT_35), (float *)(void *)(pool_arena + N_AT_39));
  /* 51: n114 */
  n_conv_batchnormalization_relu_19((float *)(void *)(pool_arena + N_AT_39),
      (const float *)(const void *)(n_weights + 3054720),
      (const float *)(const void *)(n_weights + 2201344), (float *)(void *)(pool_arena + N_AT_40));
  /* 52: n119 */
  n_reshape_20((float *)(void *)(pool_arena + N_AT_40), (float *)(void *)(pool_arena + N_AT_41));
  /* 53: n120 */
  n_conv_batchnormalization_21((float *)(void *)(pool_arena + N_AT_41),
      (const float *)(const void *)(n_weights + 3128704),
      (const float *)(const void *)(n_weights + 2202432), (float *)(void *)(pool_arena + N_AT_42));
  /* 54: n122 */
  n_conv_batchnormalization_22((float *)(void *)(pool_arena + N_AT_42),
      (const float *)(const void *)(n_weights + 3138496),
      (const float *)(const void *)(n_weights + 2203520), (float *)(void *)(pool_arena + N_AT_43));
  /* 55: n124 */
  n_sum_relu_23((float *)(void *)(pool_arena + N_AT_39), (float *)(void *)(pool_arena + N_AT_43));
  /* 56: n126 */
  n_conv_batchnormalization_relu_19((float *)(void *)(pool_arena + N_AT_43),
      (const float *)(const void *)(n_weights + 3212480),
      (const float *)(const void *)(n_weights + 2204608), (float *)(void *)(pool_arena + N_AT_44));
  /* 57: n131 */
  n_reshape_20((float *)(void *)(pool_arena + N_AT_44), (float *)(void *)(pool_arena + N_AT_45));
  /* 58: n132 */
  n_conv_batchnormalization_21((float *)(void *)(pool_arena + N_AT_45),
      (const float *)(const void *)(n_weights + 3286464),
      (const float *)(const void *)(n_weights + 2205696), (float *)(void *)(pool_arena + N_AT_46));
  /* 59: n134 */
  n_conv_batchnormalization_22((float *)(void *)(pool_arena + N_AT_46),
      (const float *)(const void *)(n_weights + 3296256),
      (const float *)(const void *)(n_weights + 2206784), (float *)(void *)(pool_arena + N_AT_47));
  /* 60: n136 */
  n_sum_relu_23((float *)(void *)(pool_arena + N_AT_43), (float *)(void *)(pool_arena + N_AT_47));
  /* 61: n138 */
  n_conv_batchnormalization_relu_19((float *)(void *)(pool_arena + N_AT_47),
      (const float *)(const void *)(n_weights + 3370240),
      (const float *)(const void *)(n_weights + 2207872), (float *)(void *)(pool_arena + N_AT_48));
  /* 62: n143 */
  n_reshape_20((float *)(void *)(pool_arena + N_AT_48), (float *)(void *)(pool_arena + N_AT_49));
  /* 63: n144 */
  n_conv_batchnormalization_21((float *)(void *)(pool_arena + N_AT_49),
      (const float *)(const void *)(n_weights + 3444224),
      (const float *)(const void *)(n_weights + 2208960), (float *)(void *)(pool_arena + N_AT_50));
  /* 64: n146 */
  n_conv_batchnormalization_22((float *)(void *)(pool_arena + N_AT_50),
      (const float *)(const void *)(n_weights + 3454016),
      (const float *)(const void *)(n_weights + 2210048), (float *)(void *)(pool_arena + N_AT_51));
  /* 65: n148 */
  n_sum_relu_23((float *)(void *)(pool_arena + N_AT_47), (float *)(void *)(pool_arena + N_AT_51));
  /* 66: n150 */
  n_conv_batchnormalization_relu_19((float *)(void *)(pool_arena + N_AT_51),
      (const float *)(const void *)(n_weights + 3528000),
      (const float *)(const void *)(n_weights + 2211136), (float *)(void *)(pool_arena + N_AT_52));
  /* 67: n160 */
  n_averagepool_24((float *)(void *)(pool_arena + N_AT_51),
      (float *)(void *)(pool_arena + N_AT_55 + 1088));
  /* 68: n155 */
  n_reshape_20((float *)(void *)(pool_arena + N_AT_52), (float *)(void *)(pool_arena + N_AT_53));
  /* 69: n156 */
  n_conv_batchnormalization_25((float *)(void *)(pool_arena + N_AT_53),
      (const float *)(const void *)(n_weights + 3601984),
      (const float *)(const void *)(n_weights + 2212224), (float *)(void *)(pool_arena + N_AT_54));
  /* 70: n158 */
  n_conv_batchnormalization_26((float *)(void *)(pool_arena + N_AT_54),
      (const float *)(const void *)(n_weights + 3611776),
      (const float *)(const void *)(n_weights + 2213312), (float *)(void *)(pool_arena + N_AT_55));
  n_relu_27((float *)(void *)(pool_arena + N_AT_55)); /* 72: n162 */
  /* 73: n163 */
  n_conv_batchnormalization_relu_28((float *)(void *)(pool_arena + N_AT_55),
      (const float *)(const void *)(n_weights + 3685760),
      (const float *)(const void *)(n_weights + 2214400), (float *)(void *)(pool_arena + N_AT_56));
  /* 74: n168 */
  n_reshape_29((float *)(void *)(pool_arena + N_AT_56), (float *)(void *)(pool_arena + N_AT_57));
  /* 75: n169 */
  n_conv_batchnormalization_30((float *)(void *)(pool_arena + N_AT_57),
      (const float *)(const void *)(n_weights + 3981696),
      (const float *)(const void *)(n_weights + 2216576), (float *)(void *)(pool_arena + N_AT_58));
  /* 76: n171 */
  n_conv_batchnormalization_31((float *)(void *)(pool_arena + N_AT_58),
      (const float *)(const void *)(n_weights + 4001280),
      (const float *)(const void *)(n_weights + 2218752), (float *)(void *)(pool_arena + N_AT_59));
  /* 77: n173 */
  n_sum_relu_32((float *)(void *)(pool_arena + N_AT_55), (float *)(void *)(pool_arena + N_AT_59));
  /* 78: n175 */
  n_conv_batchnormalization_relu_28((float *)(void *)(pool_arena + N_AT_59),
      (const float *)(const void *)(n_weights + 4297216),
      (const float *)(const void *)(n_weights + 2220928), (float *)(void *)(pool_arena + N_AT_60));
  /* 79: n180 */
  n_reshape_29((float *)(void *)(pool_arena + N_AT_60), (float *)(void *)(pool_arena + N_AT_61));
  /* 80: n181 */
  n_conv_batchnormalization_30((float *)(void *)(pool_arena + N_AT_61),
      (const float *)(const void *)(n_weights + 4593152),
      (const float *)(const void *)(n_weights + 2223104), (float *)(void *)(pool_arena + N_AT_62));
  /* 81: n183 */
  n_conv_batchnormalization_31((float *)(void *)(pool_arena + N_AT_62),
      (const float *)(const void *)(n_weights + 4612736),
      (const float *)(const void *)(n_weights + 2225280), (float *)(void *)(pool_arena + N_AT_63));
  /* 82: n185 */
  n_sum_relu_32((float *)(void *)(pool_arena + N_AT_59), (float *)(void *)(pool_arena + N_AT_63));
  /* 83: n187 */
  n_conv_batchnormalization_relu_28((float *)(void *)(pool_arena + N_AT_63),
      (const float *)(const void *)(n_weights + 4908672),
      (const float *)(const void *)(n_weights + 2227456), (float *)(void *)(pool_arena + N_AT_64));
  /* 84: n192 */
  n_reshape_29((float *)(void *)(pool_arena + N_AT_64), (float *)(void *)(pool_arena + N_AT_65));
  /* 85: n193 */
  n_conv_batchnormalization_30((float *)(void *)(pool_arena + N_AT_65),
      (const float *)(const void *)(n_weights + 5204608),
      (const float *)(const void *)(n_weights + 2229632), (float *)(void *)(pool_arena + N_AT_66));
  /* 86: n195 */
  n_conv_batchnormalization_31((float *)(void *)(pool_arena + N_AT_66),
      (const float *)(const void *)(n_weights + 5224192),
      (const float *)(const void *)(n_weights + 2231808), (float *)(void *)(pool_arena + N_AT_67));
  /* 87: n197 */
  n_sum_relu_32((float *)(void *)(pool_arena + N_AT_63), (float *)(void *)(pool_arena + N_AT_67));
  /* 88: n199 */
  n_averagepool_33((float *)(void *)(pool_arena + N_AT_67),
      (float *)(void *)(pool_arena + N_AT_68));
  /* 89: n201 */
  n_gemm_34((const float *)(const void *)(n_weights + 0), (float *)(void *)(pool_arena + N_AT_68),
      (const float *)(const void *)(n_weights + 2176000), out->gpu_0_softmax_1);
  n_softmax_35(out->gpu_0_softmax_1, (float *)(void *)(pool_arena + N_AT_69)); /* 90: n202 */
  n_softmax_36((float *)(void *)(pool_arena + N_AT_69), out->gpu_0_softmax_1); /* 91: n202 */
  n_softmax_37(out->gpu_0_softmax_1, (float *)(void *)(pool_arena + N_AT_70)); /* 92: n202 */
  n_softmax_38((float *)(void *)(pool_arena + N_AT_70), out->gpu_0_softmax_1); /* 93: n202 */
  return N_OK;
}

#ifndef N_NO_STATIC_ARENA
static union {
  unsigned char bytes[N_ARENA_SIZE + N_SLACK(N_ARENA_ALIGN)];
  double real;
  int64_t whole;
} n_pool_arena N_ALIGNED(N_ARENA_ALIGN);

static void *n_aligned(unsigned char *bytes, unsigned align)
{
  const unsigned over = (unsigned)((uintptr_t)bytes % align);
  return over ? bytes + (align - over) : bytes;
}
int n_invoke(const n_inputs *in, const n_outputs *out)
{
  n_workspace w;
  w.arena = n_aligned(n_pool_arena.bytes, N_ARENA_ALIGN);
  return n_run(&w, in, out);
}
#endif

#ifndef N_NO_TENSOR_TABLE
const n_tensor n_tensors[71] = {
  {"r2", "arena", 0u, 1204224u, 0, 1},
  {"r3", "arena", 1404928u, 301056u, 1, 3},
  {"r6", "arena", 0u, 1404928u, 2, 4},
  {"r9", "arena", 384u, 1404928u, 4, 5},
  {"r11", "arena", 1056768u, 351232u, 5, 6},
  {"r13", "arena", 426496u, 351232u, 6, 7},
  {"r14", "arena", 1630656u, 75264u, 3, 7},
  {"r16", "arena", 0u, 426496u, 7, 13},
  {"r19", "arena", 426496u, 426496u, 9, 10},
  {"r22", "arena", 852992u, 426496u, 10, 11},
  {"r24", "arena", 426496u, 426496u, 11, 12},
  {"r28", "arena", 852992u, 426496u, 12, 18},
  {"r31", "arena", 0u, 426496u, 14, 15},
  {"r34", "arena", 426496u, 426496u, 15, 16},
  {"r36", "arena", 0u, 426496u, 16, 17},
  {"r40", "arena", 426496u, 426496u, 17, 23},
  {"r43", "arena", 0u, 426496u, 19, 20},
  {"r46", "arena", 852992u, 426496u, 20, 21},
  {"r48", "arena", 0u, 426496u, 21, 22},
  {"r52", "arena", 852992u, 426496u, 22, 25},
  {"r55", "arena", 0u, 426496u, 24, 26},
  {"r58", "arena", 426496u, 426496u, 26, 27},
  {"r60", "arena", 0u, 106624u, 27, 28},
  {"r65", "arena", 1279488u, 213248u, 25, 35},
  {"r68", "arena", 0u, 213248u, 31, 32},
  {"r71", "arena", 213248u, 213248u, 32, 33},
  {"r73", "arena", 0u, 213248u, 33, 34},
  {"r77", "arena", 213248u, 213248u, 34, 40},
  {"r80", "arena", 0u, 213248u, 36, 37},
  {"r83", "arena", 426496u, 213248u, 37, 38},
  {"r85", "arena", 0u, 213248u, 38, 39},
  {"r89", "arena", 426496u, 213248u, 39, 45},
  {"r92", "arena", 0u, 213248u, 41, 42},
  {"r95", "arena", 213248u, 213248u, 42, 43},
  {"r97", "arena", 0u, 213248u, 43, 44},
  {"r101", "arena", 213248u, 213248u, 44, 50},
  {"r104", "arena", 0u, 213248u, 46, 47},
  {"r107", "arena", 426496u, 213248u, 47, 48},
  {"r109", "arena", 0u, 213248u, 48, 49},
  {"r113", "arena", 426496u, 213248u, 49, 55},
  {"r116", "arena", 0u, 213248u, 51, 52},
  {"r119", "arena", 213248u, 213248u, 52, 53},
  {"r121", "arena", 0u, 213248u, 53, 54},
  {"r125", "arena", 213248u, 213248u, 54, 60},
  {"r128", "arena", 0u, 213248u, 56, 57},
  {"r131", "arena", 426496u, 213248u, 57, 58},
  {"r133", "arena", 0u, 213248u, 58, 59},
  {"r137", "arena", 426496u, 213248u, 59, 65},
  {"r140", "arena", 0u, 213248u, 61, 62},
  {"r143", "arena", 213248u, 213248u, 62, 63},
  {"r145", "arena", 0u, 213248u, 63, 64},
  {"r149", "arena", 213248u, 213248u, 64, 67},
  {"r152", "arena", 0u, 213248u, 66, 68},
  {"r155", "arena", 213248u, 213248u, 68, 69},
  {"r157", "arena", 0u, 53312u, 69, 70},
  {"r162", "arena", 426496u, 106624u, 67, 77},
  {"r165", "arena", 0u, 106624u, 73, 74},
  {"r168", "arena", 106624u, 106624u, 74, 75},
  {"r170", "arena", 0u, 106624u, 75, 76},
  {"r174", "arena", 106624u, 106624u, 76, 82},
  {"r177", "arena", 0u, 106624u, 78, 79},
  {"r180", "arena", 213248u, 106624u, 79, 80},
  {"r182", "arena", 0u, 106624u, 80, 81},
  {"r186", "arena", 213248u, 106624u, 81, 87},
  {"r189", "arena", 0u, 106624u, 83, 84},
  {"r192", "arena", 106624u, 106624u, 84, 85},
  {"r194", "arena", 0u, 106624u, 85, 86},
  {"r198", "arena", 106624u, 106624u, 86, 88},
  {"r199", "arena", 0u, 2176u, 88, 89},
  {"n202", "arena", 0u, 4u, 90, 91},
  {"n202", "arena", 0u, 4u, 92, 93},
};
#endif

#ifdef __cplusplus
}
#endif

#ifdef N_OPTIONS
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
