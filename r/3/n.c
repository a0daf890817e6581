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
  N_AT_0 = 0, /* 32256 bytes, steps 0 to 1: r2 */
  N_AT_1 = 202496, /* 301056 bytes, steps 0 to 6: r3 */
  N_AT_2 = 1792, /* 1792 bytes, steps 2 to 5: r6 */
  N_AT_3 = 3584, /* 54208 bytes, steps 2 to 6: r9 */
  N_AT_4 = 0, /* 1792 bytes, steps 2 to 5: r11 */
  N_AT_5 = 60928, /* 426496 bytes, steps 2 to 13: r16 */
  N_AT_6 = 35392, /* 2176 bytes, steps 9 to 12: r19 */
  N_AT_7 = 0, /* 35360 bytes, steps 9 to 13: r22 */
  N_AT_8 = 43520, /* 2176 bytes, steps 9 to 12: r24 */
  N_AT_9 = 45696, /* 426496 bytes, steps 9 to 18: r28 */
  N_AT_10 = 0, /* 2176 bytes, steps 14 to 17: r31 */
  N_AT_11 = 472192, /* 35360 bytes, steps 14 to 18: r34 */
  N_AT_12 = 2176, /* 2176 bytes, steps 14 to 17: r36 */
  N_AT_13 = 30464, /* 426496 bytes, steps 14 to 23: r40 */
  N_AT_14 = 464064, /* 2176 bytes, steps 19 to 22: r43 */
  N_AT_15 = 466240, /* 35360 bytes, steps 19 to 23: r46 */
  N_AT_16 = 461888, /* 2176 bytes, steps 19 to 22: r48 */
  N_AT_17 = 15232, /* 426496 bytes, steps 19 to 28: r52 */
  N_AT_18 = 488512, /* 2176 bytes, steps 24 to 27: r55 */
  N_AT_19 = 449344, /* 39168 bytes, steps 24 to 28: r58 */
  N_AT_20 = 445504, /* 3808 bytes, steps 24 to 27: r60 */
  N_AT_21 = 0, /* 213248 bytes, steps 24 to 35: r65 */
  N_AT_22 = 258944, /* 7616 bytes, steps 31 to 32: r68 */
  N_AT_23 = 213248, /* 45696 bytes, steps 31 to 34: r71 */
  N_AT_24 = 258944, /* 7616 bytes, steps 33 to 34: r73 */
  N_AT_25 = 266560, /* 213248 bytes, steps 31 to 40: r77 */
  N_AT_26 = 0, /* 7616 bytes, steps 36 to 37: r80 */
  N_AT_27 = 7616, /* 45696 bytes, steps 36 to 39: r83 */
  N_AT_28 = 479808, /* 7616 bytes, steps 38 to 39: r85 */
  N_AT_29 = 53312, /* 213248 bytes, steps 36 to 45: r89 */
  N_AT_30 = 45696, /* 7616 bytes, steps 41 to 42: r92 */
  N_AT_31 = 0, /* 45696 bytes, steps 41 to 44: r95 */
  N_AT_32 = 45696, /* 7616 bytes, steps 43 to 44: r97 */
  N_AT_33 = 266560, /* 213248 bytes, steps 41 to 50: r101 */
  N_AT_34 = 0, /* 7616 bytes, steps 46 to 47: r104 */
  N_AT_35 = 7616, /* 45696 bytes, steps 46 to 49: r107 */
  N_AT_36 = 0, /* 7616 bytes, steps 48 to 49: r109 */
  N_AT_37 = 53312, /* 213248 bytes, steps 46 to 55: r113 */
  N_AT_38 = 266560, /* 7616 bytes, steps 51 to 52: r116 */
  N_AT_39 = 0, /* 45696 bytes, steps 51 to 54: r119 */
  N_AT_40 = 45696, /* 7616 bytes, steps 53 to 54: r121 */
  N_AT_41 = 274176, /* 213248 bytes, steps 51 to 60: r125 */
  N_AT_42 = 258944, /* 7616 bytes, steps 56 to 57: r128 */
  N_AT_43 = 213248, /* 45696 bytes, steps 56 to 59: r131 */
  N_AT_44 = 258944, /* 7616 bytes, steps 58 to 59: r133 */
  N_AT_45 = 0, /* 213248 bytes, steps 56 to 65: r137 */
  N_AT_46 = 258944, /* 7616 bytes, steps 61 to 62: r140 */
  N_AT_47 = 213248, /* 45696 bytes, steps 61 to 64: r143 */
  N_AT_48 = 258944, /* 7616 bytes, steps 63 to 64: r145 */
  N_AT_49 = 266560, /* 213248 bytes, steps 61 to 70: r149 */
  N_AT_50 = 53312, /* 213248 bytes, steps 66 to 67: r152 */
  N_AT_51 = 0, /* 213248 bytes, steps 67 to 68: r155 */
  N_AT_52 = 213248, /* 53312 bytes, steps 68 to 69: r157 */
  N_AT_53 = 106624, /* 106624 bytes, steps 69 to 77: r162 */
  N_AT_54 = 213248, /* 106624 bytes, steps 73 to 74: r165 */
  N_AT_55 = 0, /* 106624 bytes, steps 74 to 75: r168 */
  N_AT_56 = 213248, /* 106624 bytes, steps 75 to 76: r170 */
  N_AT_57 = 0, /* 106624 bytes, steps 76 to 82: r174 */
  N_AT_58 = 213248, /* 106624 bytes, steps 78 to 79: r177 */
  N_AT_59 = 106624, /* 106624 bytes, steps 79 to 80: r180 */
  N_AT_60 = 213248, /* 106624 bytes, steps 80 to 81: r182 */
  N_AT_61 = 106624, /* 106624 bytes, steps 81 to 87: r186 */
  N_AT_62 = 213248, /* 106624 bytes, steps 83 to 84: r189 */
  N_AT_63 = 0, /* 106624 bytes, steps 84 to 85: r192 */
  N_AT_64 = 213248, /* 106624 bytes, steps 85 to 86: r194 */
  N_AT_65 = 0, /* 106624 bytes, steps 86 to 88: r198 */
  N_AT_66 = 106624, /* 2176 bytes, steps 88 to 89: r199 */
  N_AT_67 = 0, /* 4 bytes, steps 90 to 91: n202 */
  N_AT_68 = 0 /* 4 bytes, steps 92 to 93: n202 */
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
   m < 24, y < 112, x < 112, c < 3, ky < 3, kx < 3
   one call: y = t0 */
static N_NOINLINE void n_conv_batchnormalization_relu_0(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out, int t0)
{
  for (int m = 0; m < 24; m += 8) {
    {
      float acc0[8];
      N_UNROLL(4) for (int l = 0; l < 8; ++l) { acc0[l] = 0.0f; }
      for (int c = 0; c < 3; ++c) {
        const int first_ky = -2 * t0 + 1;
        const int low_ky = first_ky > 0 ? first_ky : 0;
        const int behind_ky = -2 * t0 + 225;
        const int high_ky = behind_ky < 3 ? behind_ky : 3;
        for (int ky = low_ky; ky < high_ky; ++ky) {
          for (int kx = 1; kx < 3; ++kx) {
            N_BARRIER;
            const float v0 = x0[448 * t0 + 50176 * c + 224 * ky + kx - 225];
            N_UNROLL(4) for (int l = 0; l < 8; ++l) {
              acc0[l] += v0 * x1[m + 216 * c + 72 * ky + 24 * kx + l];
            }
          }
        }
      }
      N_UNROLL(4) for (int l = 0; l < 8; ++l) {
        out[m + l + (t0 % 3) * 2688] = n_at_least_f32(acc0[l] + x2[m + l], 0.0f);
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
        const int first_ky = -2 * t0 + 1;
        const int low_ky = first_ky > 0 ? first_ky : 0;
        const int behind_ky = -2 * t0 + 225;
        const int high_ky = behind_ky < 3 ? behind_ky : 3;
        for (int ky = low_ky; ky < high_ky; ++ky) {
          for (int kx = 0; kx < 3; ++kx) {
            N_BARRIER;
            const float v0 = x0[448 * t0 + 2 * x + 50176 * c + 224 * ky + kx - 225];
            const float v1 = x0[448 * t0 + 2 * x + 50176 * c + 224 * ky + kx - 223];
            const float v2 = x0[448 * t0 + 2 * x + 50176 * c + 224 * ky + kx - 221];
            const float v3 = x0[448 * t0 + 2 * x + 50176 * c + 224 * ky + kx - 219];
            const float v4 = x0[448 * t0 + 2 * x + 50176 * c + 224 * ky + kx - 217];
            const float v5 = x0[448 * t0 + 2 * x + 50176 * c + 224 * ky + kx - 215];
            const float v6 = x0[448 * t0 + 2 * x + 50176 * c + 224 * ky + kx - 213];
            const float v7 = x0[448 * t0 + 2 * x + 50176 * c + 224 * ky + kx - 211];
            const float v8 = x0[448 * t0 + 2 * x + 50176 * c + 224 * ky + kx - 209];
            const float v9 = x0[448 * t0 + 2 * x + 50176 * c + 224 * ky + kx - 207];
            const float v10 = x0[448 * t0 + 2 * x + 50176 * c + 224 * ky + kx - 205];
            const float v11 = x0[448 * t0 + 2 * x + 50176 * c + 224 * ky + kx - 203];
            const float v12 = x0[448 * t0 + 2 * x + 50176 * c + 224 * ky + kx - 201];
            const float v13 = x0[448 * t0 + 2 * x + 50176 * c + 224 * ky + kx - 199];
            const float v14 = x0[448 * t0 + 2 * x + 50176 * c + 224 * ky + kx - 197];
            const float v15 = x0[448 * t0 + 2 * x + 50176 * c + 224 * ky + kx - 195];
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
        out[m + 24 * x + l + (t0 % 3) * 2688] = n_at_least_f32(acc0[l] + x2[m + l], 0.0f);
        out[m + 24 * x + l + 24 + (t0 % 3) * 2688] = n_at_least_f32(acc1[l] + x2[m + l], 0.0f);
        out[m + 24 * x + l + 48 + (t0 % 3) * 2688] = n_at_least_f32(acc2[l] + x2[m + l], 0.0f);
        out[m + 24 * x + l + 72 + (t0 % 3) * 2688] = n_at_least_f32(acc3[l] + x2[m + l], 0.0f);
        out[m + 24 * x + l + 96 + (t0 % 3) * 2688] = n_at_least_f32(acc4[l] + x2[m + l], 0.0f);
        out[m + 24 * x + l + 120 + (t0 % 3) * 2688] = n_at_least_f32(acc5[l] + x2[m + l], 0.0f);
        out[m + 24 * x + l + 144 + (t0 % 3) * 2688] = n_at_least_f32(acc6[l] + x2[m + l], 0.0f);
        out[m + 24 * x + l + 168 + (t0 % 3) * 2688] = n_at_least_f32(acc7[l] + x2[m + l], 0.0f);
        out[m + 24 * x + l + 192 + (t0 % 3) * 2688] = n_at_least_f32(acc8[l] + x2[m + l], 0.0f);
        out[m + 24 * x + l + 216 + (t0 % 3) * 2688] = n_at_least_f32(acc9[l] + x2[m + l], 0.0f);
        out[m + 24 * x + l + 240 + (t0 % 3) * 2688] = n_at_least_f32(acc10[l] + x2[m + l], 0.0f);
        out[m + 24 * x + l + 264 + (t0 % 3) * 2688] = n_at_least_f32(acc11[l] + x2[m + l], 0.0f);
        out[m + 24 * x + l + 288 + (t0 % 3) * 2688] = n_at_least_f32(acc12[l] + x2[m + l], 0.0f);
        out[m + 24 * x + l + 312 + (t0 % 3) * 2688] = n_at_least_f32(acc13[l] + x2[m + l], 0.0f);
        out[m + 24 * x + l + 336 + (t0 % 3) * 2688] = n_at_least_f32(acc14[l] + x2[m + l], 0.0f);
        out[m + 24 * x + l + 360 + (t0 % 3) * 2688] = n_at_least_f32(acc15[l] + x2[m + l], 0.0f);
      }
    }
  }
}

/* n3 (MaxPool):
   out[0, m, y, x] = maximum(ky, kx) x0[0, m, y * 2 + ky - 1, x * 2 + kx - 1]
   where 0 <= y * 2 + ky - 1 < 112, 0 <= x * 2 + kx - 1 < 112
   m < 24, y < 56, x < 56, ky < 3, kx < 3
   one call: y = t0 */
static N_NOINLINE void n_maxpool_1(const float *N_RESTRICT x0, float *N_RESTRICT out, int t0)
{
  for (int x = 0; x < 56; ++x) {
    float acc0[8];
    float acc1[8];
    float acc2[8];
    N_UNROLL(4) for (int l = 0; l < 8; ++l) { acc0[l] = (-INFINITY); acc1[l] = (-INFINITY);
        acc2[l] = (-INFINITY); }
    const int first_ky = -2 * t0 + 1;
    const int low_ky = first_ky > 0 ? first_ky : 0;
    const int behind_ky = -2 * t0 + 113;
    const int high_ky = behind_ky < 3 ? behind_ky : 3;
    for (int ky = low_ky; ky < high_ky; ++ky) {
      const int p0 = (2 * t0 + ky + 2) % 3;
      const int first_kx = -2 * x + 1;
      const int low_kx = first_kx > 0 ? first_kx : 0;
      const int behind_kx = -2 * x + 113;
      const int high_kx = behind_kx < 3 ? behind_kx : 3;
      for (int kx = low_kx; kx < high_kx; ++kx) {
        N_BARRIER;
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          acc0[l] = n_max_f32(acc0[l], x0[48 * x + 24 * kx + l + 2688 * p0 - 24]);
          acc1[l] = n_max_f32(acc1[l], x0[48 * x + 24 * kx + l + 2688 * p0 - 16]);
          acc2[l] = n_max_f32(acc2[l], x0[48 * x + 24 * kx + l + 2688 * p0 - 8]);
        }
      }
    }
    N_UNROLL(4) for (int l = 0; l < 8; ++l) { out[1344 * t0 + 24 * x + l] = acc0[l]; }
    N_UNROLL(4) for (int l = 0; l < 8; ++l) { out[1344 * t0 + 24 * x + l + 8] = acc1[l]; }
    N_UNROLL(4) for (int l = 0; l < 8; ++l) { out[1344 * t0 + 24 * x + l + 16] = acc2[l]; }
  }
}

/* Steps 0 to 1, row by row: each stage first runs those it reads, as far as it needs them. */
typedef struct {
  const n_inputs *in;
  const n_outputs *out;
  unsigned char *pool_arena;
  int done[2]; /* slabs, per stage */
} n_group_0;

static void n_step_0(n_group_0 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  const n_inputs *const in = g->in;
  for (; g->done[0] <= last; ++g->done[0]) {
    const int t0 = g->done[0];
    /* 0: n0 */
    n_conv_batchnormalization_relu_0(in->gpu_0_data_0,
        (const float *)(const void *)(n_weights + 2234112),
        (const float *)(const void *)(n_weights + 2233984), (float *)(void *)(pool_arena + N_AT_0),
        t0);
  }
}

static void n_step_1(n_group_0 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[1] <= last; ++g->done[1]) {
    const int t0 = g->done[1];
    n_step_0(g, 2 * t0 + 1);
    /* 1: n3 */
    n_maxpool_1((float *)(void *)(pool_arena + N_AT_0), (float *)(void *)(pool_arena + N_AT_1), t0);
  }
}

/* n4 (Conv+BatchNormalization+Relu):
   out[0, i * 28 + j, y, x] = max(acc + x2[0, i * 28 + j, 0, 0], 0)
   acc = sum(c) x0[0, i * 6 + c, y, x] * x1[i * 28 + j, c, 0, 0]
   i < 4, j < 28, y < 56, x < 56, c < 6
   one call: y = t0, x = t1 * 4 + dx, dx < 4 */
static N_NOINLINE void n_conv_batchnormalization_relu_2(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out, int t0, int t1)
{
  for (int i = 0; i < 4; ++i) {
    for (int from_j = 0; from_j < 28; from_j += 16) {
      const int j = from_j < 12 ? from_j : 12;
      {
        float acc0[16];
        float acc1[16];
        float acc2[16];
        float acc3[16];
        N_UNROLL(8) for (int l = 0; l < 16; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; }
        for (int c = 0; c < 6; ++c) {
          N_BARRIER;
          const float v0 = x0[96 * t1 + 1344 * t0 + 6 * i + c];
          const float v1 = x0[96 * t1 + 1344 * t0 + 6 * i + c + 24];
          const float v2 = x0[96 * t1 + 1344 * t0 + 6 * i + c + 48];
          const float v3 = x0[96 * t1 + 1344 * t0 + 6 * i + c + 72];
          N_UNROLL(8) for (int l = 0; l < 16; ++l) {
            const float v4 = x1[28 * i + j + 112 * c + l];
            acc0[l] += v0 * v4;
            acc1[l] += v1 * v4;
            acc2[l] += v2 * v4;
            acc3[l] += v3 * v4;
          }
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[28 * i + j + l] = n_at_least_f32(acc0[l] + x2[28 * i + j + l], 0.0f);
          out[28 * i + j + l + 112] = n_at_least_f32(acc1[l] + x2[28 * i + j + l], 0.0f);
          out[28 * i + j + l + 224] = n_at_least_f32(acc2[l] + x2[28 * i + j + l], 0.0f);
          out[28 * i + j + l + 336] = n_at_least_f32(acc3[l] + x2[28 * i + j + l], 0.0f);
        }
      }
    }
  }
}

/* n9 (Reshape):
   out[0, i, j, p] = x0[0, i / 4, mod(i, 4), j, p]
   i < 112, j < 56, p < 56
   one call: j = t0, p = t1 * 4 + dp, dp < 4 */
static N_NOINLINE void n_reshape_3(const float *N_RESTRICT x0, float *N_RESTRICT out, int t0,
    int t1)
{
  for (int dp = 0; dp < 4; ++dp) {
    for (int i = 0; i < 28; ++i) {
      for (int i_rest = 0; i_rest < 4; ++i_rest) {
        out[4 * i + i_rest + ((4 * t1 + 56 * t0 + dp) % 121) * 112] = x0[i + 112 * dp + 28 *
            i_rest];
      }
    }
  }
}

/* n10 (Conv+BatchNormalization):
   out[0, m, y, x] = acc + x2[0, m, 0, 0]
   acc = sum(ky, kx) x0[0, m, y * 2 + ky - 1, x * 2 + kx - 1] * x1[m, 0, ky, kx]
   where 0 <= y * 2 + ky - 1 < 56, 0 <= x * 2 + kx - 1 < 56
   m < 112, y < 28, x < 28, ky < 3, kx < 3
   one call: y = t0, x = t1 * 4 + dx, dx < 4 */
static N_NOINLINE void n_conv_batchnormalization_4(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out, int t0, int t1)
{
  for (int from_m = 0; from_m < 112; from_m += 32) {
    const int m = from_m < 80 ? from_m : 80;
    {
      float acc0[32];
      float acc1[32];
      float acc2[32];
      float acc3[32];
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
          acc3[l] = 0.0f; }
      const int first_ky = -2 * t0 + 1;
      const int low_ky = first_ky > 0 ? first_ky : 0;
      const int behind_ky = -2 * t0 + 57;
      const int high_ky = behind_ky < 3 ? behind_ky : 3;
      for (int ky = low_ky; ky < high_ky; ++ky) {
        const int p0 = (8 * t1 + 112 * t0 + 56 * ky + 64) % 121;
        if (0 <= 8 * t1 - 1 && 8 * t1 + 7 < 56 && p0 < 113) {
          for (int kx = 0; kx < 3; ++kx) {
            N_BARRIER;
            N_UNROLL(16) for (int l = 0; l < 32; ++l) {
              const float v0 = x1[m + 336 * ky + 112 * kx + l];
              acc0[l] += x0[m + 112 * kx + l + 112 * p0] * v0;
              acc1[l] += x0[m + 112 * kx + l + 112 * p0 + 224] * v0;
              acc2[l] += x0[m + 112 * kx + l + 112 * p0 + 448] * v0;
              acc3[l] += x0[m + 112 * kx + l + 112 * p0 + 672] * v0;
            }
          }
        } else {
          {
            const int first_kx = -8 * t1 + 1;
            const int low_kx = first_kx > 0 ? first_kx : 0;
            const int behind_kx = -8 * t1 + 57;
            const int high_kx = behind_kx < 3 ? behind_kx : 3;
            for (int kx = low_kx; kx < high_kx; ++kx) {
              N_BARRIER;
              N_UNROLL(16) for (int l = 0; l < 32; ++l) {
                acc0[l] += x0[m + l + ((8 * t1 + 112 * t0 + 56 * ky + kx + 64) % 121) * 112] * x1[m
                    + 336 * ky + 112 * kx + l];
              }
            }
          }
          {
            const int first_kx = -8 * t1 - 1;
            const int low_kx = first_kx > 0 ? first_kx : 0;
            const int behind_kx = -8 * t1 + 55;
            const int high_kx = behind_kx < 3 ? behind_kx : 3;
            for (int kx = low_kx; kx < high_kx; ++kx) {
              N_BARRIER;
              N_UNROLL(16) for (int l = 0; l < 32; ++l) {
                acc1[l] += x0[m + l + ((8 * t1 + 112 * t0 + 56 * ky + kx + 66) % 121) * 112] * x1[m
                    + 336 * ky + 112 * kx + l];
              }
            }
          }
          {
            const int first_kx = -8 * t1 - 3;
            const int low_kx = first_kx > 0 ? first_kx : 0;
            const int behind_kx = -8 * t1 + 53;
            const int high_kx = behind_kx < 3 ? behind_kx : 3;
            for (int kx = low_kx; kx < high_kx; ++kx) {
              N_BARRIER;
              N_UNROLL(16) for (int l = 0; l < 32; ++l) {
                acc2[l] += x0[m + l + ((8 * t1 + 112 * t0 + 56 * ky + kx + 68) % 121) * 112] * x1[m
                    + 336 * ky + 112 * kx + l];
              }
            }
          }
          {
            const int first_kx = -8 * t1 - 5;
            const int low_kx = first_kx > 0 ? first_kx : 0;
            const int behind_kx = -8 * t1 + 51;
            const int high_kx = behind_kx < 3 ? behind_kx : 3;
            for (int kx = low_kx; kx < high_kx; ++kx) {
              N_BARRIER;
              N_UNROLL(16) for (int l = 0; l < 32; ++l) {
                acc3[l] += x0[m + l + ((8 * t1 + 112 * t0 + 56 * ky + kx + 70) % 121) * 112] * x1[m
                    + 336 * ky + 112 * kx + l];
              }
            }
          }
        }
      }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l] = acc0[l] + x2[m + l]; }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l + 112] = acc1[l] + x2[m + l]; }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l + 224] = acc2[l] + x2[m + l]; }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l + 336] = acc3[l] + x2[m + l]; }
    }
  }
}

/* n12 (Conv+BatchNormalization):
   out[0, i * 28 + j, y, x] = acc + x2[0, i * 28 + j, 0, 0]
   acc = sum(c) x0[0, i * 28 + c, y, x] * x1[i * 28 + j, c, 0, 0]
   i < 4, j < 28, y < 28, x < 28, c < 28
   one call: y = t0, x = t1 * 4 + dx, dx < 4 */
static N_NOINLINE void n_conv_batchnormalization_5(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out, int t0, int t1)
{
  for (int i = 0; i < 4; ++i) {
    for (int from_j = 0; from_j < 28; from_j += 16) {
      const int j = from_j < 12 ? from_j : 12;
      {
        float acc0[16];
        float acc1[16];
        float acc2[16];
        float acc3[16];
        N_UNROLL(8) for (int l = 0; l < 16; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; }
        for (int c = 0; c < 28; ++c) {
          N_BARRIER;
          const float v0 = x0[28 * i + c];
          const float v1 = x0[28 * i + c + 112];
          const float v2 = x0[28 * i + c + 224];
          const float v3 = x0[28 * i + c + 336];
          N_UNROLL(8) for (int l = 0; l < 16; ++l) {
            const float v4 = x1[28 * i + j + 112 * c + l];
            acc0[l] += v0 * v4;
            acc1[l] += v1 * v4;
            acc2[l] += v2 * v4;
            acc3[l] += v3 * v4;
          }
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[544 * t1 + 3808 * t0 + 28 * i + j + l] = acc0[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[544 * t1 + 3808 * t0 + 28 * i + j + l + 136] = acc1[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[544 * t1 + 3808 * t0 + 28 * i + j + l + 272] = acc2[l] + x2[28 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[544 * t1 + 3808 * t0 + 28 * i + j + l + 408] = acc3[l] + x2[28 * i + j + l];
        }
      }
    }
  }
}

/* n14 (AveragePool):
   out[0, m, y, x] = acc / ((3 - max(0 - (y * 2 - 1), 0)) * (3 - max(0 - (x * 2 - 1), 0)))
   acc = sum(ky, kx) x0[0, m, y * 2 + ky - 1, x * 2 + kx - 1]
   where 0 <= y * 2 + ky - 1 < 56, 0 <= x * 2 + kx - 1 < 56
   m < 24, y < 28, x < 28, ky < 3, kx < 3
   one call: y = t0 */
static N_NOINLINE void n_averagepool_6(const float *x0, float *out, int t0)
{
  for (int x = 0; x < 28; ++x) {
    float acc0[8];
    float acc1[8];
    float acc2[8];
    N_UNROLL(4) for (int l = 0; l < 8; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f; }
    const int first_ky = -2 * t0 + 1;
    const int low_ky = first_ky > 0 ? first_ky : 0;
    const int behind_ky = -2 * t0 + 57;
    const int high_ky = behind_ky < 3 ? behind_ky : 3;
    for (int ky = low_ky; ky < high_ky; ++ky) {
      const int first_kx = -2 * x + 1;
      const int low_kx = first_kx > 0 ? first_kx : 0;
      const int behind_kx = -2 * x + 57;
      const int high_kx = behind_kx < 3 ? behind_kx : 3;
      for (int kx = low_kx; kx < high_kx; ++kx) {
        N_BARRIER;
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          acc0[l] += x0[2688 * t0 + 48 * x + 1344 * ky + 24 * kx + l - 1368];
          acc1[l] += x0[2688 * t0 + 48 * x + 1344 * ky + 24 * kx + l - 1360];
          acc2[l] += x0[2688 * t0 + 48 * x + 1344 * ky + 24 * kx + l - 1352];
        }
      }
    }
    N_UNROLL(4) for (int l = 0; l < 8; ++l) {
      out[3808 * t0 + 136 * x + l] = acc0[l] / (float)((3 - n_max_i64(0 - ((int64_t)t0 * 2 - 1),
          0)) * (3 - n_max_i64(0 - ((int64_t)x * 2 - 1), 0)));
      out[3808 * t0 + 136 * x + l + 8] = acc1[l] / (float)((3 - n_max_i64(0 - ((int64_t)t0 * 2 - 1),
          0)) * (3 - n_max_i64(0 - ((int64_t)x * 2 - 1), 0)));
      out[3808 * t0 + 136 * x + l + 16] = acc2[l] / (float)((3 - n_max_i64(0 - ((int64_t)t0 * 2 -
          1), 0)) * (3 - n_max_i64(0 - ((int64_t)x * 2 - 1), 0)));
    }
  }
}

/* Steps 2 to 6, row by row: each stage first runs those it reads, as far as it needs them. */
typedef struct {
  const n_inputs *in;
  const n_outputs *out;
  unsigned char *pool_arena;
  int done[5]; /* slabs, per stage */
} n_group_1;

static void n_step_3(n_group_1 *g, int t0, int t1) {
  unsigned char *const pool_arena = g->pool_arena;
  /* 2: n4 */
  n_conv_batchnormalization_relu_2((float *)(void *)(pool_arena + N_AT_1),
      (const float *)(const void *)(n_weights + 2236736),
      (const float *)(const void *)(n_weights + 2180032), (float *)(void *)(pool_arena + N_AT_2),
      t0, t1);
  /* 3: n9 */
  n_reshape_3((float *)(void *)(pool_arena + N_AT_2), (float *)(void *)(pool_arena + N_AT_3), t0,
      t1);
}

static void n_step_5(n_group_1 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[3] <= last; ++g->done[3]) {
    const int t0 = g->done[3];
    for (int t1 = 0; t1 < 7; ++t1) {
      const int slab_end_3 = 2 * t0 + 2;
      for (int slab = 2 * t0; slab < slab_end_3; ++slab) {
        const int chunk_end_3 = 2 * t1 + 2;
        for (int chunk = 2 * t1; chunk < chunk_end_3; ++chunk) {
          n_step_3(g, slab, chunk);
        }
      }
      /* 4: n10 */
      n_conv_batchnormalization_4((float *)(void *)(pool_arena + N_AT_3),
          (const float *)(const void *)(n_weights + 2239424),
          (const float *)(const void *)(n_weights + 2180480),
          (float *)(void *)(pool_arena + N_AT_4), t0, t1);
      /* 5: n12 */
      n_conv_batchnormalization_5((float *)(void *)(pool_arena + N_AT_4),
          (const float *)(const void *)(n_weights + 2243456),
          (const float *)(const void *)(n_weights + 2180928),
          (float *)(void *)(pool_arena + N_AT_5), t0, t1);
    }
  }
}

static void n_step_6(n_group_1 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[4] <= last; ++g->done[4]) {
    const int t0 = g->done[4];
    /* 6: n14 */
    n_averagepool_6((float *)(void *)(pool_arena + N_AT_1),
        (float *)(void *)(pool_arena + N_AT_5 + 448), t0);
  }
}

/* n16 (Relu):
   out[0, i, j, p] = max(out[0, i, j, p], 0)
   i < 136, j < 28, p < 28 */
static N_NOINLINE void n_relu_7(float *N_RESTRICT out)
{
  for (int jpi = 0; jpi < 106624; ++jpi) {
    out[jpi] = n_at_least_f32(out[jpi], 0.0f);
  }
}

/* n17 (Conv+BatchNormalization+Relu):
   out[0, i * 34 + j, y, x] = max(acc + x2[0, i * 34 + j, 0, 0], 0)
   acc = sum(c) x0[0, i * 34 + c, y, x] * x1[i * 34 + j, c, 0, 0]
   i < 4, j < 34, y < 28, x < 28, c < 34
   one call: y = t0, x = t1 * 4 + dx, dx < 4 */
static N_NOINLINE void n_conv_batchnormalization_relu_8(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out, int t0, int t1)
{
  for (int i = 0; i < 4; ++i) {
    for (int from_j = 0; from_j < 34; from_j += 8) {
      const int j = from_j < 26 ? from_j : 26;
      {
        float acc0[8];
        float acc1[8];
        float acc2[8];
        float acc3[8];
        N_UNROLL(4) for (int l = 0; l < 8; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; }
        for (int c = 0; c < 34; ++c) {
          N_BARRIER;
          const float v0 = x0[544 * t1 + 3808 * t0 + 34 * i + c];
          const float v1 = x0[544 * t1 + 3808 * t0 + 34 * i + c + 136];
          const float v2 = x0[544 * t1 + 3808 * t0 + 34 * i + c + 272];
          const float v3 = x0[544 * t1 + 3808 * t0 + 34 * i + c + 408];
          N_UNROLL(4) for (int l = 0; l < 8; ++l) {
            const float v4 = x1[34 * i + j + 136 * c + l];
            acc0[l] += v0 * v4;
            acc1[l] += v1 * v4;
            acc2[l] += v2 * v4;
            acc3[l] += v3 * v4;
          }
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[34 * i + j + l] = n_at_least_f32(acc0[l] + x2[34 * i + j + l], 0.0f);
          out[34 * i + j + l + 136] = n_at_least_f32(acc1[l] + x2[34 * i + j + l], 0.0f);
          out[34 * i + j + l + 272] = n_at_least_f32(acc2[l] + x2[34 * i + j + l], 0.0f);
          out[34 * i + j + l + 408] = n_at_least_f32(acc3[l] + x2[34 * i + j + l], 0.0f);
        }
      }
    }
  }
}

/* n22 (Reshape):
   out[0, i, j, p] = x0[0, i / 4, mod(i, 4), j, p]
   i < 136, j < 28, p < 28
   one call: j = t0, p = t1 * 4 + dp, dp < 4 */
static N_NOINLINE void n_reshape_9(const float *N_RESTRICT x0, float *N_RESTRICT out, int t0,
    int t1)
{
  for (int dp = 0; dp < 4; ++dp) {
    for (int i = 0; i < 34; ++i) {
      for (int i_rest = 0; i_rest < 4; ++i_rest) {
        out[4 * i + i_rest + ((4 * t1 + 28 * t0 + dp) % 65) * 136] = x0[i + 136 * dp + 34 * i_rest];
      }
    }
  }
}

/* n23 (Conv+BatchNormalization):
   out[0, m, y, x] = acc + x2[0, m, 0, 0]
   acc = sum(ky, kx) x0[0, m, y + ky - 1, x + kx - 1] * x1[m, 0, ky, kx]
   where 0 <= y + ky - 1 < 28, 0 <= x + kx - 1 < 28
   m < 136, y < 28, x < 28, ky < 3, kx < 3
   one call: y = t0, x = t1 * 4 + dx, dx < 4 */
static N_NOINLINE void n_conv_batchnormalization_10(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out, int t0, int t1)
{
  for (int from_m = 0; from_m < 136; from_m += 32) {
    const int m = from_m < 104 ? from_m : 104;
    {
      float acc0[32];
      float acc1[32];
      float acc2[32];
      float acc3[32];
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
          acc3[l] = 0.0f; }
      const int first_ky = -t0 + 1;
      const int low_ky = first_ky > 0 ? first_ky : 0;
      const int behind_ky = -t0 + 29;
      const int high_ky = behind_ky < 3 ? behind_ky : 3;
      for (int ky = low_ky; ky < high_ky; ++ky) {
        const int p0 = (4 * t1 + 28 * t0 + 28 * ky + 36) % 65;
        if (0 <= 4 * t1 - 1 && 4 * t1 + 4 < 28 && p0 < 60) {
          for (int kx = 0; kx < 3; ++kx) {
            N_BARRIER;
            N_UNROLL(16) for (int l = 0; l < 32; ++l) {
              const float v0 = x1[m + 408 * ky + 136 * kx + l];
              acc0[l] += x0[m + 136 * kx + l + 136 * p0] * v0;
              acc1[l] += x0[m + 136 * kx + l + 136 * p0 + 136] * v0;
              acc2[l] += x0[m + 136 * kx + l + 136 * p0 + 272] * v0;
              acc3[l] += x0[m + 136 * kx + l + 136 * p0 + 408] * v0;
            }
          }
        } else {
          {
            const int first_kx = -4 * t1 + 1;
            const int low_kx = first_kx > 0 ? first_kx : 0;
            const int behind_kx = -4 * t1 + 29;
            const int high_kx = behind_kx < 3 ? behind_kx : 3;
            for (int kx = low_kx; kx < high_kx; ++kx) {
              N_BARRIER;
              N_UNROLL(16) for (int l = 0; l < 32; ++l) {
                acc0[l] += x0[m + l + ((4 * t1 + 28 * t0 + 28 * ky + kx + 36) % 65) * 136] * x1[m +
                    408 * ky + 136 * kx + l];
              }
            }
          }
          {
            const int first_kx = -4 * t1;
            const int low_kx = first_kx > 0 ? first_kx : 0;
            const int behind_kx = -4 * t1 + 28;
            const int high_kx = behind_kx < 3 ? behind_kx : 3;
            for (int kx = low_kx; kx < high_kx; ++kx) {
              N_BARRIER;
              N_UNROLL(16) for (int l = 0; l < 32; ++l) {
                acc1[l] += x0[m + l + ((4 * t1 + 28 * t0 + 28 * ky + kx + 37) % 65) * 136] * x1[m +
                    408 * ky + 136 * kx + l];
              }
            }
          }
          {
            const int first_kx = -4 * t1 - 1;
            const int low_kx = first_kx > 0 ? first_kx : 0;
            const int behind_kx = -4 * t1 + 27;
            const int high_kx = behind_kx < 3 ? behind_kx : 3;
            for (int kx = low_kx; kx < high_kx; ++kx) {
              N_BARRIER;
              N_UNROLL(16) for (int l = 0; l < 32; ++l) {
                acc2[l] += x0[m + l + ((4 * t1 + 28 * t0 + 28 * ky + kx + 38) % 65) * 136] * x1[m +
                    408 * ky + 136 * kx + l];
              }
            }
          }
          {
            const int first_kx = -4 * t1 - 2;
            const int low_kx = first_kx > 0 ? first_kx : 0;
            const int behind_kx = -4 * t1 + 26;
            const int high_kx = behind_kx < 3 ? behind_kx : 3;
            for (int kx = low_kx; kx < high_kx; ++kx) {
              N_BARRIER;
              N_UNROLL(16) for (int l = 0; l < 32; ++l) {
                acc3[l] += x0[m + l + ((4 * t1 + 28 * t0 + 28 * ky + kx + 39) % 65) * 136] * x1[m +
                    408 * ky + 136 * kx + l];
              }
            }
          }
        }
      }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l] = acc0[l] + x2[m + l]; }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l + 136] = acc1[l] + x2[m + l]; }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l + 272] = acc2[l] + x2[m + l]; }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l + 408] = acc3[l] + x2[m + l]; }
    }
  }
}

/* n25 (Conv+BatchNormalization):
   out[0, i * 34 + j, y, x] = acc + x2[0, i * 34 + j, 0, 0]
   acc = sum(c) x0[0, i * 34 + c, y, x] * x1[i * 34 + j, c, 0, 0]
   i < 4, j < 34, y < 28, x < 28, c < 34
   one call: y = t0, x = t1 * 4 + dx, dx < 4 */
static N_NOINLINE void n_conv_batchnormalization_11(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out, int t0, int t1)
{
  for (int i = 0; i < 4; ++i) {
    for (int from_j = 0; from_j < 34; from_j += 8) {
      const int j = from_j < 26 ? from_j : 26;
      {
        float acc0[8];
        float acc1[8];
        float acc2[8];
        float acc3[8];
        N_UNROLL(4) for (int l = 0; l < 8; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; }
        for (int c = 0; c < 34; ++c) {
          N_BARRIER;
          const float v0 = x0[34 * i + c];
          const float v1 = x0[34 * i + c + 136];
          const float v2 = x0[34 * i + c + 272];
          const float v3 = x0[34 * i + c + 408];
          N_UNROLL(4) for (int l = 0; l < 8; ++l) {
            const float v4 = x1[34 * i + j + 136 * c + l];
            acc0[l] += v0 * v4;
            acc1[l] += v1 * v4;
            acc2[l] += v2 * v4;
            acc3[l] += v3 * v4;
          }
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[544 * t1 + 3808 * t0 + 34 * i + j + l] = acc0[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[544 * t1 + 3808 * t0 + 34 * i + j + l + 136] = acc1[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[544 * t1 + 3808 * t0 + 34 * i + j + l + 272] = acc2[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[544 * t1 + 3808 * t0 + 34 * i + j + l + 408] = acc3[l] + x2[34 * i + j + l];
        }
      }
    }
  }
}

/* n27 (Sum+Relu):
   out[0, i, j, p] = max(out[0, i, j, p] + x0[0, i, j, p], 0)
   i < 136, j < 28, p < 28
   one call: j = t0 */
static N_NOINLINE void n_sum_relu_12(const float *x0, float *out, int t0)
{
  for (int pi = 0; pi < 3808; ++pi) {
    out[3808 * t0 + pi] = n_at_least_f32(out[3808 * t0 + pi] + x0[3808 * t0 + pi], 0.0f);
  }
}

/* Steps 9 to 13, row by row: each stage first runs those it reads, as far as it needs them. */
typedef struct {
  const n_inputs *in;
  const n_outputs *out;
  unsigned char *pool_arena;
  int done[5]; /* slabs, per stage */
} n_group_2;

static void n_step_10(n_group_2 *g, int t0, int t1) {
  unsigned char *const pool_arena = g->pool_arena;
  /* 9: n17 */
  n_conv_batchnormalization_relu_8((float *)(void *)(pool_arena + N_AT_5),
      (const float *)(const void *)(n_weights + 2256000),
      (const float *)(const void *)(n_weights + 2181376), (float *)(void *)(pool_arena + N_AT_6),
      t0, t1);
  /* 10: n22 */
  n_reshape_9((float *)(void *)(pool_arena + N_AT_6), (float *)(void *)(pool_arena + N_AT_7), t0,
      t1);
}

static void n_step_12(n_group_2 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[3] <= last; ++g->done[3]) {
    const int t0 = g->done[3];
    for (int t1 = 0; t1 < 7; ++t1) {
      const int slab_end_10 = t0 + 2 < 28 ? t0 + 2 : 28;
      for (int slab = t0 == 0 ? 0 : t0 + 1; slab < slab_end_10; ++slab) {
        const int chunk_end_10 = t1 + 2 < 7 ? t1 + 2 : 7;
        for (int chunk = (6 * t1 + 4) / 5 < 7 ? (6 * t1 + 4) / 5 : 7; chunk < chunk_end_10;
            ++chunk) {
          n_step_10(g, slab, chunk);
        }
      }
      /* 11: n23 */
      n_conv_batchnormalization_10((float *)(void *)(pool_arena + N_AT_7),
          (const float *)(const void *)(n_weights + 2274496),
          (const float *)(const void *)(n_weights + 2181952),
          (float *)(void *)(pool_arena + N_AT_8), t0, t1);
      /* 12: n25 */
      n_conv_batchnormalization_11((float *)(void *)(pool_arena + N_AT_8),
          (const float *)(const void *)(n_weights + 2279424),
          (const float *)(const void *)(n_weights + 2182528),
          (float *)(void *)(pool_arena + N_AT_9), t0, t1);
    }
  }
}

static void n_step_13(n_group_2 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[4] <= last; ++g->done[4]) {
    const int t0 = g->done[4];
    n_step_12(g, t0);
    /* 13: n27 */
    n_sum_relu_12((float *)(void *)(pool_arena + N_AT_5), (float *)(void *)(pool_arena + N_AT_9),
        t0);
  }
}

/* Steps 14 to 18, row by row: each stage first runs those it reads, as far as it needs them. */
typedef struct {
  const n_inputs *in;
  const n_outputs *out;
  unsigned char *pool_arena;
  int done[5]; /* slabs, per stage */
} n_group_3;

static void n_step_15(n_group_3 *g, int t0, int t1) {
  unsigned char *const pool_arena = g->pool_arena;
  /* 14: n29 */
  n_conv_batchnormalization_relu_8((float *)(void *)(pool_arena + N_AT_9),
      (const float *)(const void *)(n_weights + 2297920),
      (const float *)(const void *)(n_weights + 2183104), (float *)(void *)(pool_arena + N_AT_10),
      t0, t1);
  /* 15: n34 */
  n_reshape_9((float *)(void *)(pool_arena + N_AT_10), (float *)(void *)(pool_arena + N_AT_11), t0,
      t1);
}

static void n_step_17(n_group_3 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[3] <= last; ++g->done[3]) {
    const int t0 = g->done[3];
    for (int t1 = 0; t1 < 7; ++t1) {
      const int slab_end_15 = t0 + 2 < 28 ? t0 + 2 : 28;
      for (int slab = t0 == 0 ? 0 : t0 + 1; slab < slab_end_15; ++slab) {
        const int chunk_end_15 = t1 + 2 < 7 ? t1 + 2 : 7;
        for (int chunk = (6 * t1 + 4) / 5 < 7 ? (6 * t1 + 4) / 5 : 7; chunk < chunk_end_15;
            ++chunk) {
          n_step_15(g, slab, chunk);
        }
      }
      /* 16: n35 */
      n_conv_batchnormalization_10((float *)(void *)(pool_arena + N_AT_11),
          (const float *)(const void *)(n_weights + 2316416),
          (const float *)(const void *)(n_weights + 2183680),
          (float *)(void *)(pool_arena + N_AT_12), t0, t1);
      /* 17: n37 */
      n_conv_batchnormalization_11((float *)(void *)(pool_arena + N_AT_12),
          (const float *)(const void *)(n_weights + 2321344),
          (const float *)(const void *)(n_weights + 2184256),
          (float *)(void *)(pool_arena + N_AT_13), t0, t1);
    }
  }
}

static void n_step_18(n_group_3 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[4] <= last; ++g->done[4]) {
    const int t0 = g->done[4];
    n_step_17(g, t0);
    /* 18: n39 */
    n_sum_relu_12((float *)(void *)(pool_arena + N_AT_9), (float *)(void *)(pool_arena + N_AT_13),
        t0);
  }
}

/* Steps 19 to 23, row by row: each stage first runs those it reads, as far as it needs them. */
typedef struct {
  const n_inputs *in;
  const n_outputs *out;
  unsigned char *pool_arena;
  int done[5]; /* slabs, per stage */
} n_group_4;

static void n_step_20(n_group_4 *g, int t0, int t1) {
  unsigned char *const pool_arena = g->pool_arena;
  /* 19: n41 */
  n_conv_batchnormalization_relu_8((float *)(void *)(pool_arena + N_AT_13),
      (const float *)(const void *)(n_weights + 2339840),
      (const float *)(const void *)(n_weights + 2184832), (float *)(void *)(pool_arena + N_AT_14),
      t0, t1);
  /* 20: n46 */
  n_reshape_9((float *)(void *)(pool_arena + N_AT_14), (float *)(void *)(pool_arena + N_AT_15), t0,
      t1);
}

static void n_step_22(n_group_4 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[3] <= last; ++g->done[3]) {
    const int t0 = g->done[3];
    for (int t1 = 0; t1 < 7; ++t1) {
      const int slab_end_20 = t0 + 2 < 28 ? t0 + 2 : 28;
      for (int slab = t0 == 0 ? 0 : t0 + 1; slab < slab_end_20; ++slab) {
        const int chunk_end_20 = t1 + 2 < 7 ? t1 + 2 : 7;
        for (int chunk = (6 * t1 + 4) / 5 < 7 ? (6 * t1 + 4) / 5 : 7; chunk < chunk_end_20;
            ++chunk) {
          n_step_20(g, slab, chunk);
        }
      }
      /* 21: n47 */
      n_conv_batchnormalization_10((float *)(void *)(pool_arena + N_AT_15),
          (const float *)(const void *)(n_weights + 2358336),
          (const float *)(const void *)(n_weights + 2185408),
          (float *)(void *)(pool_arena + N_AT_16), t0, t1);
      /* 22: n49 */
      n_conv_batchnormalization_11((float *)(void *)(pool_arena + N_AT_16),
          (const float *)(const void *)(n_weights + 2363264),
          (const float *)(const void *)(n_weights + 2185984),
          (float *)(void *)(pool_arena + N_AT_17), t0, t1);
    }
  }
}

static void n_step_23(n_group_4 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[4] <= last; ++g->done[4]) {
    const int t0 = g->done[4];
    n_step_22(g, t0);
    /* 23: n51 */
    n_sum_relu_12((float *)(void *)(pool_arena + N_AT_13), (float *)(void *)(pool_arena + N_AT_17),
        t0);
  }
}

/* n58 (Reshape):
   out[0, i, j, p] = x0[0, i / 4, mod(i, 4), j, p]
   i < 136, j < 28, p < 28
   one call: j = t0, p = t1 * 4 + dp, dp < 4 */
static N_NOINLINE void n_reshape_13(const float *N_RESTRICT x0, float *N_RESTRICT out, int t0,
    int t1)
{
  for (int dp = 0; dp < 4; ++dp) {
    for (int i = 0; i < 34; ++i) {
      for (int i_rest = 0; i_rest < 4; ++i_rest) {
        out[4 * i + i_rest + ((4 * t1 + 28 * t0 + dp) % 72) * 136] = x0[i + 136 * dp + 34 * i_rest];
      }
    }
  }
}

/* n59 (Conv+BatchNormalization):
   out[0, m, y, x] = acc + x2[0, m, 0, 0]
   acc = sum(ky, kx) x0[0, m, y * 2 + ky - 1, x * 2 + kx - 1] * x1[m, 0, ky, kx]
   where 0 <= y * 2 + ky - 1 < 28, 0 <= x * 2 + kx - 1 < 28
   m < 136, y < 14, x < 14, ky < 3, kx < 3
   one call: y = t0, x = t1 * 7 + dx, dx < 7 */
static N_NOINLINE void n_conv_batchnormalization_14(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out, int t0, int t1)
{
  for (int from_m = 0; from_m < 136; from_m += 32) {
    const int m = from_m < 104 ? from_m : 104;
    {
      float acc0[32];
      float acc1[32];
      float acc2[32];
      float acc3[32];
      float acc4[32];
      float acc5[32];
      float acc6[32];
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
          acc3[l] = 0.0f; acc4[l] = 0.0f; acc5[l] = 0.0f; acc6[l] = 0.0f; }
      const int first_ky = -2 * t0 + 1;
      const int low_ky = first_ky > 0 ? first_ky : 0;
      const int behind_ky = -2 * t0 + 29;
      const int high_ky = behind_ky < 3 ? behind_ky : 3;
      for (int ky = low_ky; ky < high_ky; ++ky) {
        const int p0 = (14 * t1 + 56 * t0 + 28 * ky + 43) % 72;
        if (0 <= 14 * t1 - 1 && 14 * t1 + 13 < 28 && p0 < 58) {
          for (int kx = 0; kx < 3; ++kx) {
            N_BARRIER;
            N_UNROLL(16) for (int l = 0; l < 32; ++l) {
              const float v0 = x1[m + 408 * ky + 136 * kx + l];
              acc0[l] += x0[m + 136 * kx + l + 136 * p0] * v0;
              acc1[l] += x0[m + 136 * kx + l + 136 * p0 + 272] * v0;
              acc2[l] += x0[m + 136 * kx + l + 136 * p0 + 544] * v0;
              acc3[l] += x0[m + 136 * kx + l + 136 * p0 + 816] * v0;
              acc4[l] += x0[m + 136 * kx + l + 136 * p0 + 1088] * v0;
              acc5[l] += x0[m + 136 * kx + l + 136 * p0 + 1360] * v0;
              acc6[l] += x0[m + 136 * kx + l + 136 * p0 + 1632] * v0;
            }
          }
        } else {
          {
            const int first_kx = -14 * t1 + 1;
            const int low_kx = first_kx > 0 ? first_kx : 0;
            const int behind_kx = -14 * t1 + 29;
            const int high_kx = behind_kx < 3 ? behind_kx : 3;
            for (int kx = low_kx; kx < high_kx; ++kx) {
              N_BARRIER;
              N_UNROLL(16) for (int l = 0; l < 32; ++l) {
                acc0[l] += x0[m + l + ((14 * t1 + 56 * t0 + 28 * ky + kx + 43) % 72) * 136] * x1[m +
                    408 * ky + 136 * kx + l];
              }
            }
          }
          {
            const int first_kx = -14 * t1 - 1;
            const int low_kx = first_kx > 0 ? first_kx : 0;
            const int behind_kx = -14 * t1 + 27;
            const int high_kx = behind_kx < 3 ? behind_kx : 3;
            for (int kx = low_kx; kx < high_kx; ++kx) {
              N_BARRIER;
              N_UNROLL(16) for (int l = 0; l < 32; ++l) {
                acc1[l] += x0[m + l + ((14 * t1 + 56 * t0 + 28 * ky + kx + 45) % 72) * 136] * x1[m +
                    408 * ky + 136 * kx + l];
              }
            }
          }
          {
            const int first_kx = -14 * t1 - 3;
            const int low_kx = first_kx > 0 ? first_kx : 0;
            const int behind_kx = -14 * t1 + 25;
            const int high_kx = behind_kx < 3 ? behind_kx : 3;
            for (int kx = low_kx; kx < high_kx; ++kx) {
              N_BARRIER;
              N_UNROLL(16) for (int l = 0; l < 32; ++l) {
                acc2[l] += x0[m + l + ((14 * t1 + 56 * t0 + 28 * ky + kx + 47) % 72) * 136] * x1[m +
                    408 * ky + 136 * kx + l];
              }
            }
          }
          {
            const int first_kx = -14 * t1 - 5;
            const int low_kx = first_kx > 0 ? first_kx : 0;
            const int behind_kx = -14 * t1 + 23;
            const int high_kx = behind_kx < 3 ? behind_kx : 3;
            for (int kx = low_kx; kx < high_kx; ++kx) {
              N_BARRIER;
              N_UNROLL(16) for (int l = 0; l < 32; ++l) {
                acc3[l] += x0[m + l + ((14 * t1 + 56 * t0 + 28 * ky + kx + 49) % 72) * 136] * x1[m +
                    408 * ky + 136 * kx + l];
              }
            }
          }
          {
            const int first_kx = -14 * t1 - 7;
            const int low_kx = first_kx > 0 ? first_kx : 0;
            const int behind_kx = -14 * t1 + 21;
            const int high_kx = behind_kx < 3 ? behind_kx : 3;
            for (int kx = low_kx; kx < high_kx; ++kx) {
              N_BARRIER;
              N_UNROLL(16) for (int l = 0; l < 32; ++l) {
                acc4[l] += x0[m + l + ((14 * t1 + 56 * t0 + 28 * ky + kx + 51) % 72) * 136] * x1[m +
                    408 * ky + 136 * kx + l];
              }
            }
          }
          {
            const int first_kx = -14 * t1 - 9;
            const int low_kx = first_kx > 0 ? first_kx : 0;
            const int behind_kx = -14 * t1 + 19;
            const int high_kx = behind_kx < 3 ? behind_kx : 3;
            for (int kx = low_kx; kx < high_kx; ++kx) {
              N_BARRIER;
              N_UNROLL(16) for (int l = 0; l < 32; ++l) {
                acc5[l] += x0[m + l + ((14 * t1 + 56 * t0 + 28 * ky + kx + 53) % 72) * 136] * x1[m +
                    408 * ky + 136 * kx + l];
              }
            }
          }
          {
            const int first_kx = -14 * t1 - 11;
            const int low_kx = first_kx > 0 ? first_kx : 0;
            const int behind_kx = -14 * t1 + 17;
            const int high_kx = behind_kx < 3 ? behind_kx : 3;
            for (int kx = low_kx; kx < high_kx; ++kx) {
              N_BARRIER;
              N_UNROLL(16) for (int l = 0; l < 32; ++l) {
                acc6[l] += x0[m + l + ((14 * t1 + 56 * t0 + 28 * ky + kx + 55) % 72) * 136] * x1[m +
                    408 * ky + 136 * kx + l];
              }
            }
          }
        }
      }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l] = acc0[l] + x2[m + l]; }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l + 136] = acc1[l] + x2[m + l]; }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l + 272] = acc2[l] + x2[m + l]; }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l + 408] = acc3[l] + x2[m + l]; }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l + 544] = acc4[l] + x2[m + l]; }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l + 680] = acc5[l] + x2[m + l]; }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l + 816] = acc6[l] + x2[m + l]; }
    }
  }
}

/* n61 (Conv+BatchNormalization):
   out[0, i * 34 + j, y, x] = acc + x2[0, i * 34 + j, 0, 0]
   acc = sum(c) x0[0, i * 34 + c, y, x] * x1[i * 34 + j, c, 0, 0]
   i < 4, j < 34, y < 14, x < 14, c < 34
   one call: y = t0, x = t1 * 7 + dx, dx < 7 */
static N_NOINLINE void n_conv_batchnormalization_15(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out, int t0, int t1)
{
  for (int i = 0; i < 4; ++i) {
    for (int from_j = 0; from_j < 34; from_j += 8) {
      const int j = from_j < 26 ? from_j : 26;
      {
        float acc0[8];
        float acc1[8];
        float acc2[8];
        float acc3[8];
        float acc4[8];
        float acc5[8];
        float acc6[8];
        N_UNROLL(4) for (int l = 0; l < 8; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
            acc3[l] = 0.0f; acc4[l] = 0.0f; acc5[l] = 0.0f; acc6[l] = 0.0f; }
        for (int c = 0; c < 34; ++c) {
          N_BARRIER;
          const float v0 = x0[34 * i + c];
          const float v1 = x0[34 * i + c + 136];
          const float v2 = x0[34 * i + c + 272];
          const float v3 = x0[34 * i + c + 408];
          const float v4 = x0[34 * i + c + 544];
          const float v5 = x0[34 * i + c + 680];
          const float v6 = x0[34 * i + c + 816];
          N_UNROLL(4) for (int l = 0; l < 8; ++l) {
            const float v7 = x1[34 * i + j + 136 * c + l];
            acc0[l] += v0 * v7;
            acc1[l] += v1 * v7;
            acc2[l] += v2 * v7;
            acc3[l] += v3 * v7;
            acc4[l] += v4 * v7;
            acc5[l] += v5 * v7;
            acc6[l] += v6 * v7;
          }
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[1904 * t1 + 3808 * t0 + 34 * i + j + l] = acc0[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[1904 * t1 + 3808 * t0 + 34 * i + j + l + 272] = acc1[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[1904 * t1 + 3808 * t0 + 34 * i + j + l + 544] = acc2[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[1904 * t1 + 3808 * t0 + 34 * i + j + l + 816] = acc3[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[1904 * t1 + 3808 * t0 + 34 * i + j + l + 1088] = acc4[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[1904 * t1 + 3808 * t0 + 34 * i + j + l + 1360] = acc5[l] + x2[34 * i + j + l];
        }
        N_UNROLL(4) for (int l = 0; l < 8; ++l) {
          out[1904 * t1 + 3808 * t0 + 34 * i + j + l + 1632] = acc6[l] + x2[34 * i + j + l];
        }
      }
    }
  }
}

/* n63 (AveragePool):
   out[0, m, y, x] = acc / ((3 - max(0 - (y * 2 - 1), 0)) * (3 - max(0 - (x * 2 - 1), 0)))
   acc = sum(ky, kx) x0[0, m, y * 2 + ky - 1, x * 2 + kx - 1]
   where 0 <= y * 2 + ky - 1 < 28, 0 <= x * 2 + kx - 1 < 28
   m < 136, y < 14, x < 14, ky < 3, kx < 3
   one call: y = t0 */
static N_NOINLINE void n_averagepool_16(const float *x0, float *out, int t0)
{
  for (int x = 0; x < 14; ++x) {
    {
      float acc0[32];
      float acc1[32];
      float acc2[32];
      float acc3[32];
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
          acc3[l] = 0.0f; }
      const int first_ky = -2 * t0 + 1;
      const int low_ky = first_ky > 0 ? first_ky : 0;
      const int behind_ky = -2 * t0 + 29;
      const int high_ky = behind_ky < 3 ? behind_ky : 3;
      for (int ky = low_ky; ky < high_ky; ++ky) {
        const int first_kx = -2 * x + 1;
        const int low_kx = first_kx > 0 ? first_kx : 0;
        const int behind_kx = -2 * x + 29;
        const int high_kx = behind_kx < 3 ? behind_kx : 3;
        for (int kx = low_kx; kx < high_kx; ++kx) {
          N_BARRIER;
          N_UNROLL(16) for (int l = 0; l < 32; ++l) {
            acc0[l] += x0[7616 * t0 + 272 * x + 3808 * ky + 136 * kx + l - 3944];
            acc1[l] += x0[7616 * t0 + 272 * x + 3808 * ky + 136 * kx + l - 3912];
            acc2[l] += x0[7616 * t0 + 272 * x + 3808 * ky + 136 * kx + l - 3880];
            acc3[l] += x0[7616 * t0 + 272 * x + 3808 * ky + 136 * kx + l - 3848];
          }
        }
      }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) {
        out[3808 * t0 + 272 * x + l] = acc0[l] / (float)((3 - n_max_i64(0 - ((int64_t)t0 * 2 - 1),
            0)) * (3 - n_max_i64(0 - ((int64_t)x * 2 - 1), 0)));
        out[3808 * t0 + 272 * x + l + 32] = acc1[l] / (float)((3 - n_max_i64(0 - ((int64_t)t0 * 2 -
            1), 0)) * (3 - n_max_i64(0 - ((int64_t)x * 2 - 1), 0)));
        out[3808 * t0 + 272 * x + l + 64] = acc2[l] / (float)((3 - n_max_i64(0 - ((int64_t)t0 * 2 -
            1), 0)) * (3 - n_max_i64(0 - ((int64_t)x * 2 - 1), 0)));
        out[3808 * t0 + 272 * x + l + 96] = acc3[l] / (float)((3 - n_max_i64(0 - ((int64_t)t0 * 2 -
            1), 0)) * (3 - n_max_i64(0 - ((int64_t)x * 2 - 1), 0)));
      }
    }
    {
      float acc0[8];
      N_UNROLL(4) for (int l = 0; l < 8; ++l) { acc0[l] = 0.0f; }
      const int first_ky = -2 * t0 + 1;
      const int low_ky = first_ky > 0 ? first_ky : 0;
      const int behind_ky = -2 * t0 + 29;
      const int high_ky = behind_ky < 3 ? behind_ky : 3;
      for (int ky = low_ky; ky < high_ky; ++ky) {
        const int first_kx = -2 * x + 1;
        const int low_kx = first_kx > 0 ? first_kx : 0;
        const int behind_kx = -2 * x + 29;
        const int high_kx = behind_kx < 3 ? behind_kx : 3;
        for (int kx = low_kx; kx < high_kx; ++kx) {
          N_BARRIER;
          N_UNROLL(4) for (int l = 0; l < 8; ++l) {
            acc0[l] += x0[7616 * t0 + 272 * x + 3808 * ky + 136 * kx + l - 3816];
          }
        }
      }
      N_UNROLL(4) for (int l = 0; l < 8; ++l) {
        out[3808 * t0 + 272 * x + l + 128] = acc0[l] / (float)((3 - n_max_i64(0 - ((int64_t)t0 * 2 -
            1), 0)) * (3 - n_max_i64(0 - ((int64_t)x * 2 - 1), 0)));
      }
    }
  }
}

/* Steps 24 to 28, row by row: each stage first runs those it reads, as far as it needs them. */
typedef struct {
  const n_inputs *in;
  const n_outputs *out;
  unsigned char *pool_arena;
  int done[5]; /* slabs, per stage */
} n_group_5;

static void n_step_25(n_group_5 *g, int t0, int t1) {
  unsigned char *const pool_arena = g->pool_arena;
  /* 24: n53 */
  n_conv_batchnormalization_relu_8((float *)(void *)(pool_arena + N_AT_17),
      (const float *)(const void *)(n_weights + 2381760),
      (const float *)(const void *)(n_weights + 2186560), (float *)(void *)(pool_arena + N_AT_18),
      t0, t1);
  /* 25: n58 */
  n_reshape_13((float *)(void *)(pool_arena + N_AT_18), (float *)(void *)(pool_arena + N_AT_19), t0,
      t1);
}

static void n_step_27(n_group_5 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[3] <= last; ++g->done[3]) {
    const int t0 = g->done[3];
    for (int t1 = 0; t1 < 2; ++t1) {
      const int slab_end_25 = 2 * t0 + 2;
      for (int slab = 2 * t0; slab < slab_end_25; ++slab) {
        const int chunk_end_25 = 3 * t1 + 4;
        for (int chunk = 4 * t1; chunk < chunk_end_25; ++chunk) {
          n_step_25(g, slab, chunk);
        }
      }
      /* 26: n59 */
      n_conv_batchnormalization_14((float *)(void *)(pool_arena + N_AT_19),
          (const float *)(const void *)(n_weights + 2400256),
          (const float *)(const void *)(n_weights + 2187136),
          (float *)(void *)(pool_arena + N_AT_20), t0, t1);
      /* 27: n61 */
      n_conv_batchnormalization_15((float *)(void *)(pool_arena + N_AT_20),
          (const float *)(const void *)(n_weights + 2405184),
          (const float *)(const void *)(n_weights + 2187712),
          (float *)(void *)(pool_arena + N_AT_21), t0, t1);
    }
  }
}

static void n_step_28(n_group_5 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[4] <= last; ++g->done[4]) {
    const int t0 = g->done[4];
    /* 28: n63 */
    n_averagepool_16((float *)(void *)(pool_arena + N_AT_17),
        (float *)(void *)(pool_arena + N_AT_21 + 544), t0);
  }
}

/* n65 (Relu):
   out[0, i, j, p] = max(out[0, i, j, p], 0)
   i < 272, j < 14, p < 14 */
static N_NOINLINE void n_relu_17(float *N_RESTRICT out)
{
  for (int jpi = 0; jpi < 53312; ++jpi) {
    out[jpi] = n_at_least_f32(out[jpi], 0.0f);
  }
}

/* n66 (Conv+BatchNormalization+Relu):
   out[0, i * 68 + j, y, x] = max(acc + x2[0, i * 68 + j, 0, 0], 0)
   acc = sum(c) x0[0, i * 68 + c, y, x] * x1[i * 68 + j, c, 0, 0]
   i < 4, j < 68, y < 14, x < 14, c < 68
   one call: y = t0, x = t1 * 7 + dx, dx < 7 */
static N_NOINLINE void n_conv_batchnormalization_relu_18(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out, int t0, int t1)
{
  for (int i = 0; i < 4; ++i) {
    for (int from_j = 0; from_j < 68; from_j += 16) {
      const int j = from_j < 52 ? from_j : 52;
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
        for (int c = 0; c < 68; ++c) {
          N_BARRIER;
          const float v0 = x0[1904 * t1 + 3808 * t0 + 68 * i + c];
          const float v1 = x0[1904 * t1 + 3808 * t0 + 68 * i + c + 272];
          const float v2 = x0[1904 * t1 + 3808 * t0 + 68 * i + c + 544];
          const float v3 = x0[1904 * t1 + 3808 * t0 + 68 * i + c + 816];
          const float v4 = x0[1904 * t1 + 3808 * t0 + 68 * i + c + 1088];
          const float v5 = x0[1904 * t1 + 3808 * t0 + 68 * i + c + 1360];
          const float v6 = x0[1904 * t1 + 3808 * t0 + 68 * i + c + 1632];
          N_UNROLL(8) for (int l = 0; l < 16; ++l) {
            const float v7 = x1[68 * i + j + 272 * c + l];
            acc0[l] += v0 * v7;
            acc1[l] += v1 * v7;
            acc2[l] += v2 * v7;
            acc3[l] += v3 * v7;
            acc4[l] += v4 * v7;
            acc5[l] += v5 * v7;
            acc6[l] += v6 * v7;
          }
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[68 * i + j + l] = n_at_least_f32(acc0[l] + x2[68 * i + j + l], 0.0f);
          out[68 * i + j + l + 272] = n_at_least_f32(acc1[l] + x2[68 * i + j + l], 0.0f);
          out[68 * i + j + l + 544] = n_at_least_f32(acc2[l] + x2[68 * i + j + l], 0.0f);
          out[68 * i + j + l + 816] = n_at_least_f32(acc3[l] + x2[68 * i + j + l], 0.0f);
          out[68 * i + j + l + 1088] = n_at_least_f32(acc4[l] + x2[68 * i + j + l], 0.0f);
          out[68 * i + j + l + 1360] = n_at_least_f32(acc5[l] + x2[68 * i + j + l], 0.0f);
          out[68 * i + j + l + 1632] = n_at_least_f32(acc6[l] + x2[68 * i + j + l], 0.0f);
        }
      }
    }
  }
}

/* n71 (Reshape):
   out[0, i, j, p] = x0[0, i / 4, mod(i, 4), j, p]
   i < 272, j < 14, p < 14
   one call: j = t0, p = t1 * 7 + dp, dp < 7 */
static N_NOINLINE void n_reshape_19(const float *N_RESTRICT x0, float *N_RESTRICT out, int t0,
    int t1)
{
  for (int dp = 0; dp < 7; ++dp) {
    for (int i = 0; i < 68; ++i) {
      for (int i_rest = 0; i_rest < 4; ++i_rest) {
        out[1904 * t1 + 4 * i + 272 * dp + i_rest + (t0 % 3) * 3808] = x0[i + 272 * dp + 68 *
            i_rest];
      }
    }
  }
}

/* n72 (Conv+BatchNormalization):
   out[0, m, y, x] = acc + x2[0, m, 0, 0]
   acc = sum(ky, kx) x0[0, m, y + ky - 1, x + kx - 1] * x1[m, 0, ky, kx]
   where 0 <= y + ky - 1 < 14, 0 <= x + kx - 1 < 14
   m < 272, y < 14, x < 14, ky < 3, kx < 3
   one call: y = t0, x = t1 * 7 + dx, dx < 7 */
static N_NOINLINE void n_conv_batchnormalization_20(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out, int t0, int t1)
{
  for (int from_m = 0; from_m < 272; from_m += 32) {
    const int m = from_m < 240 ? from_m : 240;
    {
      float acc0[32];
      float acc1[32];
      float acc2[32];
      float acc3[32];
      float acc4[32];
      float acc5[32];
      float acc6[32];
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f;
          acc3[l] = 0.0f; acc4[l] = 0.0f; acc5[l] = 0.0f; acc6[l] = 0.0f; }
      const int first_ky = -t0 + 1;
      const int low_ky = first_ky > 0 ? first_ky : 0;
      const int behind_ky = -t0 + 15;
      const int high_ky = behind_ky < 3 ? behind_ky : 3;
      for (int ky = low_ky; ky < high_ky; ++ky) {
        const int p0 = (t0 + ky + 2) % 3;
        if (0 <= 7 * t1 - 1 && 7 * t1 + 7 < 14) {
          for (int kx = 0; kx < 3; ++kx) {
            N_BARRIER;
            N_UNROLL(16) for (int l = 0; l < 32; ++l) {
              const float v0 = x1[m + 816 * ky + 272 * kx + l];
              acc0[l] += x0[1904 * t1 + m + 272 * kx + l + 3808 * p0 - 272] * v0;
              acc1[l] += x0[1904 * t1 + m + 272 * kx + l + 3808 * p0] * v0;
              acc2[l] += x0[1904 * t1 + m + 272 * kx + l + 3808 * p0 + 272] * v0;
              acc3[l] += x0[1904 * t1 + m + 272 * kx + l + 3808 * p0 + 544] * v0;
              acc4[l] += x0[1904 * t1 + m + 272 * kx + l + 3808 * p0 + 816] * v0;
              acc5[l] += x0[1904 * t1 + m + 272 * kx + l + 3808 * p0 + 1088] * v0;
              acc6[l] += x0[1904 * t1 + m + 272 * kx + l + 3808 * p0 + 1360] * v0;
            }
          }
        } else {
          {
            const int first_kx = -7 * t1 + 1;
            const int low_kx = first_kx > 0 ? first_kx : 0;
            const int behind_kx = -7 * t1 + 15;
            const int high_kx = behind_kx < 3 ? behind_kx : 3;
            for (int kx = low_kx; kx < high_kx; ++kx) {
              N_BARRIER;
              N_UNROLL(16) for (int l = 0; l < 32; ++l) {
                acc0[l] += x0[1904 * t1 + m + 272 * kx + l + 3808 * p0 - 272] * x1[m + 816 * ky +
                    272 * kx + l];
              }
            }
          }
          {
            const int first_kx = -7 * t1;
            const int low_kx = first_kx > 0 ? first_kx : 0;
            const int behind_kx = -7 * t1 + 14;
            const int high_kx = behind_kx < 3 ? behind_kx : 3;
            for (int kx = low_kx; kx < high_kx; ++kx) {
              N_BARRIER;
              N_UNROLL(16) for (int l = 0; l < 32; ++l) {
                acc1[l] += x0[1904 * t1 + m + 272 * kx + l + 3808 * p0] * x1[m + 816 * ky + 272 * kx
                    + l];
              }
            }
          }
          {
            const int first_kx = -7 * t1 - 1;
            const int low_kx = first_kx > 0 ? first_kx : 0;
            const int behind_kx = -7 * t1 + 13;
            const int high_kx = behind_kx < 3 ? behind_kx : 3;
            for (int kx = low_kx; kx < high_kx; ++kx) {
              N_BARRIER;
              N_UNROLL(16) for (int l = 0; l < 32; ++l) {
                acc2[l] += x0[1904 * t1 + m + 272 * kx + l + 3808 * p0 + 272] * x1[m + 816 * ky +
                    272 * kx + l];
              }
            }
          }
          {
            const int first_kx = -7 * t1 - 2;
            const int low_kx = first_kx > 0 ? first_kx : 0;
            const int behind_kx = -7 * t1 + 12;
            const int high_kx = behind_kx < 3 ? behind_kx : 3;
            for (int kx = low_kx; kx < high_kx; ++kx) {
              N_BARRIER;
              N_UNROLL(16) for (int l = 0; l < 32; ++l) {
                acc3[l] += x0[1904 * t1 + m + 272 * kx + l + 3808 * p0 + 544] * x1[m + 816 * ky +
                    272 * kx + l];
              }
            }
          }
          {
            const int first_kx = -7 * t1 - 3;
            const int low_kx = first_kx > 0 ? first_kx : 0;
            const int behind_kx = -7 * t1 + 11;
            const int high_kx = behind_kx < 3 ? behind_kx : 3;
            for (int kx = low_kx; kx < high_kx; ++kx) {
              N_BARRIER;
              N_UNROLL(16) for (int l = 0; l < 32; ++l) {
                acc4[l] += x0[1904 * t1 + m + 272 * kx + l + 3808 * p0 + 816] * x1[m + 816 * ky +
                    272 * kx + l];
              }
            }
          }
          {
            const int first_kx = -7 * t1 - 4;
            const int low_kx = first_kx > 0 ? first_kx : 0;
            const int behind_kx = -7 * t1 + 10;
            const int high_kx = behind_kx < 3 ? behind_kx : 3;
            for (int kx = low_kx; kx < high_kx; ++kx) {
              N_BARRIER;
              N_UNROLL(16) for (int l = 0; l < 32; ++l) {
                acc5[l] += x0[1904 * t1 + m + 272 * kx + l + 3808 * p0 + 1088] * x1[m + 816 * ky +
                    272 * kx + l];
              }
            }
          }
          {
            const int first_kx = -7 * t1 - 5;
            const int low_kx = first_kx > 0 ? first_kx : 0;
            const int behind_kx = -7 * t1 + 9;
            const int high_kx = behind_kx < 3 ? behind_kx : 3;
            for (int kx = low_kx; kx < high_kx; ++kx) {
              N_BARRIER;
              N_UNROLL(16) for (int l = 0; l < 32; ++l) {
                acc6[l] += x0[1904 * t1 + m + 272 * kx + l + 3808 * p0 + 1360] * x1[m + 816 * ky +
                    272 * kx + l];
              }
            }
          }
        }
      }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l] = acc0[l] + x2[m + l]; }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l + 272] = acc1[l] + x2[m + l]; }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l + 544] = acc2[l] + x2[m + l]; }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l + 816] = acc3[l] + x2[m + l]; }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l + 1088] = acc4[l] + x2[m + l]; }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l + 1360] = acc5[l] + x2[m + l]; }
      N_UNROLL(16) for (int l = 0; l < 32; ++l) { out[m + l + 1632] = acc6[l] + x2[m + l]; }
    }
  }
}

/* n74 (Conv+BatchNormalization):
   out[0, i * 68 + j, y, x] = acc + x2[0, i * 68 + j, 0, 0]
   acc = sum(c) x0[0, i * 68 + c, y, x] * x1[i * 68 + j, c, 0, 0]
   i < 4, j < 68, y < 14, x < 14, c < 68
   one call: y = t0, x = t1 * 7 + dx, dx < 7 */
static N_NOINLINE void n_conv_batchnormalization_21(const float *N_RESTRICT x0,
    const float *N_RESTRICT x1, const float *N_RESTRICT x2, float *N_RESTRICT out, int t0, int t1)
{
  for (int i = 0; i < 4; ++i) {
    for (int from_j = 0; from_j < 68; from_j += 16) {
      const int j = from_j < 52 ? from_j : 52;
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
        for (int c = 0; c < 68; ++c) {
          N_BARRIER;
          const float v0 = x0[68 * i + c];
          const float v1 = x0[68 * i + c + 272];
          const float v2 = x0[68 * i + c + 544];
          const float v3 = x0[68 * i + c + 816];
          const float v4 = x0[68 * i + c + 1088];
          const float v5 = x0[68 * i + c + 1360];
          const float v6 = x0[68 * i + c + 1632];
          N_UNROLL(8) for (int l = 0; l < 16; ++l) {
            const float v7 = x1[68 * i + j + 272 * c + l];
            acc0[l] += v0 * v7;
            acc1[l] += v1 * v7;
            acc2[l] += v2 * v7;
            acc3[l] += v3 * v7;
            acc4[l] += v4 * v7;
            acc5[l] += v5 * v7;
            acc6[l] += v6 * v7;
          }
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[1904 * t1 + 3808 * t0 + 68 * i + j + l] = acc0[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[1904 * t1 + 3808 * t0 + 68 * i + j + l + 272] = acc1[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[1904 * t1 + 3808 * t0 + 68 * i + j + l + 544] = acc2[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[1904 * t1 + 3808 * t0 + 68 * i + j + l + 816] = acc3[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[1904 * t1 + 3808 * t0 + 68 * i + j + l + 1088] = acc4[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[1904 * t1 + 3808 * t0 + 68 * i + j + l + 1360] = acc5[l] + x2[68 * i + j + l];
        }
        N_UNROLL(8) for (int l = 0; l < 16; ++l) {
          out[1904 * t1 + 3808 * t0 + 68 * i + j + l + 1632] = acc6[l] + x2[68 * i + j + l];
        }
      }
    }
  }
}

/* Steps 31 to 34, row by row: each stage first runs those it reads, as far as it needs them. */
typedef struct {
  const n_inputs *in;
  const n_outputs *out;
  unsigned char *pool_arena;
  int done[4]; /* slabs, per stage */
} n_group_6;

static void n_step_32(n_group_6 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[1] <= last; ++g->done[1]) {
    const int t0 = g->done[1];
    for (int t1 = 0; t1 < 2; ++t1) {
      /* 31: n66 */
      n_conv_batchnormalization_relu_18((float *)(void *)(pool_arena + N_AT_21),
          (const float *)(const void *)(n_weights + 2423680),
          (const float *)(const void *)(n_weights + 2188288),
          (float *)(void *)(pool_arena + N_AT_22), t0, t1);
      /* 32: n71 */
      n_reshape_19((float *)(void *)(pool_arena + N_AT_22), (float *)(void *)(pool_arena + N_AT_23),
          t0, t1);
    }
  }
}

static void n_step_34(n_group_6 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[3] <= last; ++g->done[3]) {
    const int t0 = g->done[3];
    n_step_32(g, t0 + 1 < 13 ? t0 + 1 : 13);
    for (int t1 = 0; t1 < 2; ++t1) {
      /* 33: n72 */
      n_conv_batchnormalization_20((float *)(void *)(pool_arena + N_AT_23),
          (const float *)(const void *)(n_weights + 2497664),
          (const float *)(const void *)(n_weights + 2189376),
          (float *)(void *)(pool_arena + N_AT_24), t0, t1);
      /* 34: n74 */
      n_conv_batchnormalization_21((float *)(void *)(pool_arena + N_AT_24),
          (const float *)(const void *)(n_weights + 2507456),
          (const float *)(const void *)(n_weights + 2190464),
          (float *)(void *)(pool_arena + N_AT_25), t0, t1);
    }
  }
}

/* n76 (Sum+Relu):
   out[0, i, j, p] = max(out[0, i, j, p] + x0[0, i, j, p], 0)
   i < 272, j < 14, p < 14 */
static N_NOINLINE void n_sum_relu_22(const float *N_RESTRICT x0, float *N_RESTRICT out)
{
  for (int jpi = 0; jpi < 53312; ++jpi) {
    out[jpi] = n_at_least_f32(out[jpi] + x0[jpi], 0.0f);
  }
}

/* Steps 36 to 39, row by row: each stage first runs those it reads, as far as it needs them. */
typedef struct {
  const n_inputs *in;
  const n_outputs *out;
  unsigned char *pool_arena;
  int done[4]; /* slabs, per stage */
} n_group_7;

static void n_step_37(n_group_7 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[1] <= last; ++g->done[1]) {
    const int t0 = g->done[1];
    for (int t1 = 0; t1 < 2; ++t1) {
      /* 36: n78 */
      n_conv_batchnormalization_relu_18((float *)(void *)(pool_arena + N_AT_25),
          (const float *)(const void *)(n_weights + 2581440),
          (const float *)(const void *)(n_weights + 2191552),
          (float *)(void *)(pool_arena + N_AT_26), t0, t1);
      /* 37: n83 */
      n_reshape_19((float *)(void *)(pool_arena + N_AT_26), (float *)(void *)(pool_arena + N_AT_27),
          t0, t1);
    }
  }
}

static void n_step_39(n_group_7 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[3] <= last; ++g->done[3]) {
    const int t0 = g->done[3];
    n_step_37(g, t0 + 1 < 13 ? t0 + 1 : 13);
    for (int t1 = 0; t1 < 2; ++t1) {
      /* 38: n84 */
      n_conv_batchnormalization_20((float *)(void *)(pool_arena + N_AT_27),
          (const float *)(const void *)(n_weights + 2655424),
          (const float *)(const void *)(n_weights + 2192640),
          (float *)(void *)(pool_arena + N_AT_28), t0, t1);
      /* 39: n86 */
      n_conv_batchnormalization_21((float *)(void *)(pool_arena + N_AT_28),
          (const float *)(const void *)(n_weights + 2665216),
          (const float *)(const void *)(n_weights + 2193728),
          (float *)(void *)(pool_arena + N_AT_29), t0, t1);
    }
  }
}

/* Steps 41 to 44, row by row: each stage first runs those it reads, as far as it needs them. */
typedef struct {
  const n_inputs *in;
  const n_outputs *out;
  unsigned char *pool_arena;
  int done[4]; /* slabs, per stage */
} n_group_8;

static void n_step_42(n_group_8 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[1] <= last; ++g->done[1]) {
    const int t0 = g->done[1];
    for (int t1 = 0; t1 < 2; ++t1) {
      /* 41: n90 */
      n_conv_batchnormalization_relu_18((float *)(void *)(pool_arena + N_AT_29),
          (const float *)(const void *)(n_weights + 2739200),
          (const float *)(const void *)(n_weights + 2194816),
          (float *)(void *)(pool_arena + N_AT_30), t0, t1);
      /* 42: n95 */
      n_reshape_19((float *)(void *)(pool_arena + N_AT_30), (float *)(void *)(pool_arena + N_AT_31),
          t0, t1);
    }
  }
}

static void n_step_44(n_group_8 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[3] <= last; ++g->done[3]) {
    const int t0 = g->done[3];
    n_step_42(g, t0 + 1 < 13 ? t0 + 1 : 13);
    for (int t1 = 0; t1 < 2; ++t1) {
      /* 43: n96 */
      n_conv_batchnormalization_20((float *)(void *)(pool_arena + N_AT_31),
          (const float *)(const void *)(n_weights + 2813184),
          (const float *)(const void *)(n_weights + 2195904),
          (float *)(void *)(pool_arena + N_AT_32), t0, t1);
      /* 44: n98 */
      n_conv_batchnormalization_21((float *)(void *)(pool_arena + N_AT_32),
          (const float *)(const void *)(n_weights + 2822976),
          (const float *)(const void *)(n_weights + 2196992),
          (float *)(void *)(pool_arena + N_AT_33), t0, t1);
    }
  }
}

/* Steps 46 to 49, row by row: each stage first runs those it reads, as far as it needs them. */
typedef struct {
  const n_inputs *in;
  const n_outputs *out;
  unsigned char *pool_arena;
  int done[4]; /* slabs, per stage */
} n_group_9;

static void n_step_47(n_group_9 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[1] <= last; ++g->done[1]) {
    const int t0 = g->done[1];
    for (int t1 = 0; t1 < 2; ++t1) {
      /* 46: n102 */
      n_conv_batchnormalization_relu_18((float *)(void *)(pool_arena + N_AT_33),
          (const float *)(const void *)(n_weights + 2896960),
          (const float *)(const void *)(n_weights + 2198080),
          (float *)(void *)(pool_arena + N_AT_34), t0, t1);
      /* 47: n107 */
      n_reshape_19((float *)(void *)(pool_arena + N_AT_34), (float *)(void *)(pool_arena + N_AT_35),
          t0, t1);
    }
  }
}

static void n_step_49(n_group_9 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[3] <= last; ++g->done[3]) {
    const int t0 = g->done[3];
    n_step_47(g, t0 + 1 < 13 ? t0 + 1 : 13);
    for (int t1 = 0; t1 < 2; ++t1) {
      /* 48: n108 */
      n_conv_batchnormalization_20((float *)(void *)(pool_arena + N_AT_35),
          (const float *)(const void *)(n_weights + 2970944),
          (const float *)(const void *)(n_weights + 2199168),
          (float *)(void *)(pool_arena + N_AT_36), t0, t1);
      /* 49: n110 */
      n_conv_batchnormalization_21((float *)(void *)(pool_arena + N_AT_36),
          (const float *)(const void *)(n_weights + 2980736),
          (const float *)(const void *)(n_weights + 2200256),
          (float *)(void *)(pool_arena + N_AT_37), t0, t1);
    }
  }
}

/* Steps 51 to 54, row by row: each stage first runs those it reads, as far as it needs them. */
typedef struct {
  const n_inputs *in;
  const n_outputs *out;
  unsigned char *pool_arena;
  int done[4]; /* slabs, per stage */
} n_group_10;

static void n_step_52(n_group_10 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[1] <= last; ++g->done[1]) {
    const int t0 = g->done[1];
    for (int t1 = 0; t1 < 2; ++t1) {
      /* 51: n114 */
      n_conv_batchnormalization_relu_18((float *)(void *)(pool_arena + N_AT_37),
          (const float *)(const void *)(n_weights + 3054720),
          (const float *)(const void *)(n_weights + 2201344),
          (float *)(void *)(pool_arena + N_AT_38), t0, t1);
      /* 52: n119 */
      n_reshape_19((float *)(void *)(pool_arena + N_AT_38), (float *)(void *)(pool_arena + N_AT_39),
          t0, t1);
    }
  }
}

static void n_step_54(n_group_10 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[3] <= last; ++g->done[3]) {
    const int t0 = g->done[3];
    n_step_52(g, t0 + 1 < 13 ? t0 + 1 : 13);
    for (int t1 = 0; t1 < 2; ++t1) {
      /* 53: n120 */
      n_conv_batchnormalization_20((float *)(void *)(pool_arena + N_AT_39),
          (const float *)(const void *)(n_weights + 3128704),
          (const float *)(const void *)(n_weights + 2202432),
          (float *)(void *)(pool_arena + N_AT_40), t0, t1);
      /* 54: n122 */
      n_conv_batchnormalization_21((float *)(void *)(pool_arena + N_AT_40),
          (const float *)(const void *)(n_weights + 3138496),
          (const float *)(const void *)(n_weights + 2203520),
          (float *)(void *)(pool_arena + N_AT_41), t0, t1);
    }
  }
}

/* Steps 56 to 59, row by row: each stage first runs those it reads, as far as it needs them. */
typedef struct {
  const n_inputs *in;
  const n_outputs *out;
  unsigned char *pool_arena;
  int done[4]; /* slabs, per stage */
} n_group_11;

static void n_step_57(n_group_11 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[1] <= last; ++g->done[1]) {
    const int t0 = g->done[1];
    for (int t1 = 0; t1 < 2; ++t1) {
      /* 56: n126 */
      n_conv_batchnormalization_relu_18((float *)(void *)(pool_arena + N_AT_41),
          (const float *)(const void *)(n_weights + 3212480),
          (const float *)(const void *)(n_weights + 2204608),
          (float *)(void *)(pool_arena + N_AT_42), t0, t1);
      /* 57: n131 */
      n_reshape_19((float *)(void *)(pool_arena + N_AT_42), (float *)(void *)(pool_arena + N_AT_43),
          t0, t1);
    }
  }
}

static void n_step_59(n_group_11 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[3] <= last; ++g->done[3]) {
    const int t0 = g->done[3];
    n_step_57(g, t0 + 1 < 13 ? t0 + 1 : 13);
    for (int t1 = 0; t1 < 2; ++t1) {
      /* 58: n132 */
      n_conv_batchnormalization_20((float *)(void *)(pool_arena + N_AT_43),
          (const float *)(const void *)(n_weights + 3286464),
          (const float *)(const void *)(n_weights + 2205696),
          (float *)(void *)(pool_arena + N_AT_44), t0, t1);
      /* 59: n134 */
      n_conv_batchnormalization_21((float *)(void *)(pool_arena + N_AT_44),
          (const float *)(const void *)(n_weights + 3296256),
          (const float *)(const void *)(n_weights + 2206784),
          (float *)(void *)(pool_arena + N_AT_45), t0, t1);
    }
  }
}

/* Steps 61 to 64, row by row: each stage first runs those it reads, as far as it needs them. */
typedef struct {
  const n_inputs *in;
  const n_outputs *out;
  unsigned char *pool_arena;
  int done[4]; /* slabs, per stage */
} n_group_12;

static void n_step_62(n_group_12 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[1] <= last; ++g->done[1]) {
    const int t0 = g->done[1];
    for (int t1 = 0; t1 < 2; ++t1) {
      /* 61: n138 */
      n_conv_batchnormalization_relu_18((float *)(void *)(pool_arena + N_AT_45),
          (const float *)(const void *)(n_weights + 3370240),
          (const float *)(const void *)(n_weights + 2207872),
          (float *)(void *)(pool_arena + N_AT_46), t0, t1);
      /* 62: n143 */
      n_reshape_19((float *)(void *)(pool_arena + N_AT_46), (float *)(void *)(pool_arena + N_AT_47),
          t0, t1);
    }
  }
}

static void n_step_64(n_group_12 *g, int last) {
  unsigned char *const pool_arena = g->pool_arena;
  for (; g->done[3] <= last; ++g->done[3]) {
    const int t0 = g->done[3];
    n_step_62(g, t0 + 1 < 13 ? t0 + 1 : 13);
    for (int t1 = 0; t1 < 2; ++t1) {
      /* 63: n144 */
      n_conv_batchnormalization_20((float *)(void *)(pool_arena + N_AT_47),
          (const float *)(const void *)(n_weights + 3444224),
          (const float *)(const void *)(n_weights + 2208960),
          (float *)(void *)(pool_arena + N_AT_48), t0, t1);
      /* 64: n146 */
      n_conv_batchnormalization_21((float *)(void *)(pool_arena + N_AT_48),
          (const float *)(const void *)(n_weights + 3454016),
          (const float *)(const void *)(n_weights + 2210048),
          (float *)(void *)(pool_arena + N_AT_49), t0, t1);
    }
  }
}

/* n150 (Conv+BatchNormalization+Relu):
   out[0, i * 68 + j, y, x] = max(acc + x2[0, i * 68 + j, 0, 0], 0)
   acc = sum(c) x0[0, i * 68 + c, y, x] * x1[i * 68 + j, c, 0, 0]
   i < 4, j < 68, y < 14, x < 14, c < 68 */
static N_NOINLINE void n_conv_batchnormalization_relu_23(const float *N_RESTRICT x0,
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

/* n155 (Reshape):
   out[0, i, j, p] = x0[0, i / 4, mod(i, 4), j, p]
   i < 272, j < 14, p < 14 */
static N_NOINLINE void n_reshape_24(const float *x0, float *out)
{
  for (int jp = 0; jp < 196; ++jp) {
    for (int i = 0; i < 68; ++i) {
      for (int i_rest = 0; i_rest < 4; ++i_rest) {
        out[4 * i + 272 * jp + i_rest] = x0[i + 272 * jp + 68 * i_rest];
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

/* n160 (AveragePool):
   out[0, m, y, x] = acc / ((3 - max(0 - (y * 2 - 1), 0)) * (3 - max(0 - (x * 2 - 1), 0)))
   acc = sum(ky, kx) x0[0, m, y * 2 + ky - 1, x * 2 + kx - 1]
   where 0 <= y * 2 + ky - 1 < 14, 0 <= x * 2 + kx - 1 < 14
   m < 272, y < 7, x < 7, ky < 3, kx < 3 */
static N_NOINLINE void n_averagepool_27(const float *N_RESTRICT x0, float *N_RESTRICT out)
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

/* n162 (Relu):
   out[0, i, j, p] = max(out[0, i, j, p], 0)
   i < 544, j < 7, p < 7 */
static N_NOINLINE void n_relu_28(float *N_RESTRICT out)
{
  for (int jpi = 0; jpi < 26656; ++jpi) {
    out[jpi] = n_at_least_f32(out[jpi], 0.0f);
  }
}

/* n163 (Conv+BatchNormalization+Relu):
   out[0, i * 136 + j, y, x] = max(acc + x2[0, i * 136 + j, 0, 0], 0)
   acc = sum(c) x0[0, i * 136 + c, y, x] * x1[i * 136 + j, c, 0, 0]
   i < 4, j < 136, y < 7, x < 7, c < 136 */
static N_NOINLINE void n_conv_batchnormalization_relu_29(const float *N_RESTRICT x0,
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
static N_NOINLINE void n_reshape_30(const float *N_RESTRICT x0, float *N_RESTRICT out)
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
static N_NOINLINE void n_conv_batchnormalization_31(const float *N_RESTRICT x0,
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
static N_NOINLINE void n_conv_batchnormalization_32(const float *N_RESTRICT x0,
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
static N_NOINLINE void n_sum_relu_33(const float *N_RESTRICT x0, float *N_RESTRICT out)
{
  for (int jpi = 0; jpi < 26656; ++jpi) {
    out[jpi] = n_at_least_f32(out[jpi] + x0[jpi], 0.0f);
  }
}

/* n199 (AveragePool):
   out[0, m, 0, 0] = acc / 49
   acc = sum(ky, kx) x0[0, m, ky, kx]
   m < 544, ky < 7, kx < 7 */
static N_NOINLINE void n_averagepool_34(const float *N_RESTRICT x0, float *N_RESTRICT out)
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
static N_NOINLINE void n_gemm_35(const float *N_RESTRICT x0, const float *N_RESTRICT x1,
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
static N_NOINLINE void n_softmax_36(const float *N_RESTRICT x0, float *N_RESTRICT out)
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
static N_NOINLINE void n_softmax_37(const float *N_RESTRICT x0, float *N_RESTRICT out)
{
  for (int i = 0; i < 1000; ++i) {
    out[i] = n_exp_f32(out[i] - x0[0]);
  }
}

/* n202 (Softmax):
   out[0, 0] = sum(k) x0[0, k]
   k < 1000 */
static N_NOINLINE void n_softmax_38(const float *N_RESTRICT x0, float *N_RESTRICT out)
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
static N_NOINLINE void n_softmax_39(const float *N_RESTRICT x0, float *N_RESTRICT out)
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

  {
    n_group_0 g = {in, out, pool_arena, {0}};
    n_step_1(&g, 55);
  }
  {
    n_group_1 g = {in, out, pool_arena, {0}};
    for (int turn = 1; turn <= 28; ++turn) {
      n_step_5(&g, turn - 1);
      n_step_6(&g, turn - 1);
    }
  }
  n_relu_7((float *)(void *)(pool_arena + N_AT_5)); /* 8: n16 */
  {
    n_group_2 g = {in, out, pool_arena, {0}};
    n_step_13(&g, 27);
  }
  {
    n_group_3 g = {in, out, pool_arena, {0}};
    n_step_18(&g, 27);
  }
  {
    n_group_4 g = {in, out, pool_arena, {0}};
    n_step_23(&g, 27);
  }
  {
    n_group_5 g = {in, out, pool_arena, {0}};
    for (int turn = 1; turn <= 14; ++turn) {
      n_step_27(&g, turn - 1);
      n_step_28(&g, turn - 1);
    }
  }
  n_relu_17((float *)(void *)(pool_arena + N_AT_21)); /* 30: n65 */
  {
    n_group_6 g = {in, out, pool_arena, {0}};
    n_step_34(&g, 13);
  }
  /* 35: n76 */
  n_sum_relu_22((float *)(void *)(pool_arena + N_AT_21), (float *)(void *)(pool_arena + N_AT_25));
  {
    n_group_7 g = {in, out, pool_arena, {0}};
    n_step_39(&g, 13);
  }
  /* 40: n88 */
  n_sum_relu_22((float *)(void *)(pool_arena + N_AT_25), (float *)(void *)(pool_arena + N_AT_29));
  {
    n_group_8 g = {in, out, pool_arena, {0}};
    n_step_44(&g, 13);
  }
  /* 45: n100 */
  n_sum_relu_22((float *)(void *)(pool_arena + N_AT_29), (float *)(void *)(pool_arena + N_AT_33));
  {
    n_group_9 g = {in, out, pool_arena, {0}};
    n_step_49(&g, 13);
  }
  /* 50: n112 */
  n_sum_relu_22((float *)(void *)(pool_arena + N_AT_33), (float *)(void *)(pool_arena + N_AT_37));
  {
    n_group_10 g = {in, out, pool_arena, {0}};
    n_step_54(&g, 13);
  }
  /* 55: n124 */
  n_sum_relu_22((float *)(void *)(pool_arena + N_AT_37), (float *)(void *)(pool_arena + N_AT_41));
  {
    n_group_11 g = {in, out, pool_arena, {0}};
    n_step_59(&g, 13);
  }
  /* 60: n136 */
  n_sum_relu_22((float *)(void *)(pool_arena + N_AT_41), (float *)(void *)(pool_arena + N_AT_45));
  {
    n_group_12 g = {in, out, pool_arena, {0}};
    n_step_64(&g, 13);
  }
  /* 65: n148 */
  n_sum_relu_22((float *)(void *)(pool_arena + N_AT_45), (float *)(void *)(pool_arena + N_AT_49));
  /* 66: n150 */
  n_conv_batchnormalization_relu_23((float *)(void *)(pool_arena + N_AT_49),
      (const float *)(const void *)(n_weights + 3528000),
      (const float *)(const void *)(n_weights + 2211136), (float *)(void *)(pool_arena + N_AT_50));
  /* 67: n155 */
  n_reshape_24((float *)(void *)(pool_arena + N_AT_50), (float *)(void *)(pool_arena + N_AT_51));
  /* 68: n156 */
  n_conv_batchnormalization_25((float *)(void *)(pool_arena + N_AT_51),
      (const float *)(const void *)(n_weights + 3601984),
      (const float *)(const void *)(n_weights + 2212224), (float *)(void *)(pool_arena + N_AT_52));
  /* 69: n158 */
  n_conv_batchnormalization_26((float *)(void *)(pool_arena + N_AT_52),
      (const float *)(const void *)(n_weights + 3611776),
      (const float *)(const void *)(n_weights + 2213312), (float *)(void *)(pool_arena + N_AT_53));
  /* 70: n160 */
  n_averagepool_27((float *)(void *)(pool_arena + N_AT_49),
      (float *)(void *)(pool_arena + N_AT_53 + 1088));
  n_relu_28((float *)(void *)(pool_arena + N_AT_53)); /* 72: n162 */
  /* 73: n163 */
  n_conv_batchnormalization_relu_29((float *)(void *)(pool_arena + N_AT_53),
      (const float *)(const void *)(n_weights + 3685760),
      (const float *)(const void *)(n_weights + 2214400), (float *)(void *)(pool_arena + N_AT_54));
  /* 74: n168 */
  n_reshape_30((float *)(void *)(pool_arena + N_AT_54), (float *)(void *)(pool_arena + N_AT_55));
  /* 75: n169 */
  n_conv_batchnormalization_31((float *)(void *)(pool_arena + N_AT_55),
      (const float *)(const void *)(n_weights + 3981696),
      (const float *)(const void *)(n_weights + 2216576), (float *)(void *)(pool_arena + N_AT_56));
  /* 76: n171 */
  n_conv_batchnormalization_32((float *)(void *)(pool_arena + N_AT_56),
      (const float *)(const void *)(n_weights + 4001280),
      (const float *)(const void *)(n_weights + 2218752), (float *)(void *)(pool_arena + N_AT_57));
  /* 77: n173 */
  n_sum_relu_33((float *)(void *)(pool_arena + N_AT_53), (float *)(void *)(pool_arena + N_AT_57));
  /* 78: n175 */
  n_conv_batchnormalization_relu_29((float *)(void *)(pool_arena + N_AT_57),
      (const float *)(const void *)(n_weights + 4297216),
      (const float *)(const void *)(n_weights + 2220928), (float *)(void *)(pool_arena + N_AT_58));
  /* 79: n180 */
  n_reshape_30((float *)(void *)(pool_arena + N_AT_58), (float *)(void *)(pool_arena + N_AT_59));
  /* 80: n181 */
  n_conv_batchnormalization_31((float *)(void *)(pool_arena + N_AT_59),
      (const float *)(const void *)(n_weights + 4593152),
      (const float *)(const void *)(n_weights + 2223104), (float *)(void *)(pool_arena + N_AT_60));
  /* 81: n183 */
  n_conv_batchnormalization_32((float *)(void *)(pool_arena + N_AT_60),
      (const float *)(const void *)(n_weights + 4612736),
      (const float *)(const void *)(n_weights + 2225280), (float *)(void *)(pool_arena + N_AT_61));
  /* 82: n185 */
  n_sum_relu_33((float *)(void *)(pool_arena + N_AT_57), (float *)(void *)(pool_arena + N_AT_61));
  /* 83: n187 */
  n_conv_batchnormalization_relu_29((float *)(void *)(pool_arena + N_AT_61),
      (const float *)(const void *)(n_weights + 4908672),
      (const float *)(const void *)(n_weights + 2227456), (float *)(void *)(pool_arena + N_AT_62));
  /* 84: n192 */
  n_reshape_30((float *)(void *)(pool_arena + N_AT_62), (float *)(void *)(pool_arena + N_AT_63));
  /* 85: n193 */
  n_conv_batchnormalization_31((float *)(void *)(pool_arena + N_AT_63),
      (const float *)(const void *)(n_weights + 5204608),
      (const float *)(const void *)(n_weights + 2229632), (float *)(void *)(pool_arena + N_AT_64));
  /* 86: n195 */
  n_conv_batchnormalization_32((float *)(void *)(pool_arena + N_AT_64),
      (const float *)(const void *)(n_weights + 5224192),
      (const float *)(const void *)(n_weights + 2231808), (float *)(void *)(pool_arena + N_AT_65));
  /* 87: n197 */
  n_sum_relu_33((float *)(void *)(pool_arena + N_AT_61), (float *)(void *)(pool_arena + N_AT_65));
  /* 88: n199 */
  n_averagepool_34((float *)(void *)(pool_arena + N_AT_65),
      (float *)(void *)(pool_arena + N_AT_66));
  /* 89: n201 */
  n_gemm_35((const float *)(const void *)(n_weights + 0), (float *)(void *)(pool_arena + N_AT_66),
      (const float *)(const void *)(n_weights + 2176000), out->gpu_0_softmax_1);
  n_softmax_36(out->gpu_0_softmax_1, (float *)(void *)(pool_arena + N_AT_67)); /* 90: n202 */
  n_softmax_37((float *)(void *)(pool_arena + N_AT_67), out->gpu_0_softmax_1); /* 91: n202 */
  n_softmax_38(out->gpu_0_softmax_1, (float *)(void *)(pool_arena + N_AT_68)); /* 92: n202 */
  n_softmax_39((float *)(void *)(pool_arena + N_AT_68), out->gpu_0_softmax_1); /* 93: n202 */
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
const n_tensor n_tensors[69] = {
  {"r2", "arena", 0u, 32256u, 0, 1},
  {"r3", "arena", 202496u, 301056u, 0, 6},
  {"r6", "arena", 1792u, 1792u, 2, 5},
  {"r9", "arena", 3584u, 54208u, 2, 6},
  {"r11", "arena", 0u, 1792u, 2, 5},
  {"r16", "arena", 60928u, 426496u, 2, 13},
  {"r19", "arena", 35392u, 2176u, 9, 12},
  {"r22", "arena", 0u, 35360u, 9, 13},
  {"r24", "arena", 43520u, 2176u, 9, 12},
  {"r28", "arena", 45696u, 426496u, 9, 18},
  {"r31", "arena", 0u, 2176u, 14, 17},
  {"r34", "arena", 472192u, 35360u, 14, 18},
  {"r36", "arena", 2176u, 2176u, 14, 17},
  {"r40", "arena", 30464u, 426496u, 14, 23},
  {"r43", "arena", 464064u, 2176u, 19, 22},
  {"r46", "arena", 466240u, 35360u, 19, 23},
  {"r48", "arena", 461888u, 2176u, 19, 22},
  {"r52", "arena", 15232u, 426496u, 19, 28},
  {"r55", "arena", 488512u, 2176u, 24, 27},
  {"r58", "arena", 449344u, 39168u, 24, 28},
  {"r60", "arena", 445504u, 3808u, 24, 27},
  {"r65", "arena", 0u, 213248u, 24, 35},
  {"r68", "arena", 258944u, 7616u, 31, 32},
  {"r71", "arena", 213248u, 45696u, 31, 34},
  {"r73", "arena", 258944u, 7616u, 33, 34},
  {"r77", "arena", 266560u, 213248u, 31, 40},
  {"r80", "arena", 0u, 7616u, 36, 37},
  {"r83", "arena", 7616u, 45696u, 36, 39},
  {"r85", "arena", 479808u, 7616u, 38, 39},
  {"r89", "arena", 53312u, 213248u, 36, 45},
  {"r92", "arena", 45696u, 7616u, 41, 42},
  {"r95", "arena", 0u, 45696u, 41, 44},
  {"r97", "arena", 45696u, 7616u, 43, 44},
  {"r101", "arena", 266560u, 213248u, 41, 50},
  {"r104", "arena", 0u, 7616u, 46, 47},
  {"r107", "arena", 7616u, 45696u, 46, 49},
  {"r109", "arena", 0u, 7616u, 48, 49},
  {"r113", "arena", 53312u, 213248u, 46, 55},
  {"r116", "arena", 266560u, 7616u, 51, 52},
  {"r119", "arena", 0u, 45696u, 51, 54},
  {"r121", "arena", 45696u, 7616u, 53, 54},
  {"r125", "arena", 274176u, 213248u, 51, 60},
  {"r128", "arena", 258944u, 7616u, 56, 57},
  {"r131", "arena", 213248u, 45696u, 56, 59},
  {"r133", "arena", 258944u, 7616u, 58, 59},
  {"r137", "arena", 0u, 213248u, 56, 65},
  {"r140", "arena", 258944u, 7616u, 61, 62},
  {"r143", "arena", 213248u, 45696u, 61, 64},
  {"r145", "arena", 258944u, 7616u, 63, 64},
  {"r149", "arena", 266560u, 213248u, 61, 70},
  {"r152", "arena", 53312u, 213248u, 66, 67},
  {"r155", "arena", 0u, 213248u, 67, 68},
  {"r157", "arena", 213248u, 53312u, 68, 69},
  {"r162", "arena", 106624u, 106624u, 69, 77},
  {"r165", "arena", 213248u, 106624u, 73, 74},
  {"r168", "arena", 0u, 106624u, 74, 75},
  {"r170", "arena", 213248u, 106624u, 75, 76},
  {"r174", "arena", 0u, 106624u, 76, 82},
  {"r177", "arena", 213248u, 106624u, 78, 79},
  {"r180", "arena", 106624u, 106624u, 79, 80},
  {"r182", "arena", 213248u, 106624u, 80, 81},
  {"r186", "arena", 106624u, 106624u, 81, 87},
  {"r189", "arena", 213248u, 106624u, 83, 84},
  {"r192", "arena", 0u, 106624u, 84, 85},
  {"r194", "arena", 213248u, 106624u, 85, 86},
  {"r198", "arena", 0u, 106624u, 86, 88},
  {"r199", "arena", 106624u, 2176u, 88, 89},
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
