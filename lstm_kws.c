/* lstm_kws.onnx compiled by arenac 0.1.0. Do not edit. */
#define LSTM_KWS_INTERNAL
#include "lstm_kws.h"

#include <float.h>
#include <limits.h>
#include <math.h>

#if CHAR_BIT != 8 || UINT_MAX < 0xffffffffu || FLT_RADIX != 2 || FLT_MANT_DIG != 24 || FLT_MAX_EXP != 128
#error "lstm_kws.c takes bytes of 8 bits, an int of at least 32 and IEEE 754 numbers for granted"
#endif
/* It also takes for granted that negative numbers are two's complement and that >> keeps the sign. */
typedef char lstm_kws_takes_for_granted[(int32_t)0xfffffffeu == -2 && -2 >> 1 == -1 && sizeof(float)
    == 4 ? 1 : -1];


#if defined(__GNUC__)
#define LSTM_KWS_RESTRICT __restrict__
#define LSTM_KWS_ALIGNED(n) __attribute__((aligned(n)))
#define LSTM_KWS_SLACK(n) 0u
#define LSTM_KWS_NOINLINE __attribute__((noinline)) /* loops of several in one function spill */
#elif !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L
#define LSTM_KWS_RESTRICT restrict
#else
#define LSTM_KWS_RESTRICT
#endif
#ifndef LSTM_KWS_NOINLINE
#define LSTM_KWS_NOINLINE
#endif
#ifndef LSTM_KWS_ALIGNED
#define LSTM_KWS_ALIGNED(n)
#define LSTM_KWS_SLACK(n) ((n) - 1u) /* bytes more, to round up */
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Where each buffer lies, in bytes. */
enum {
  LSTM_KWS_AT_0 = 0, /* 25088 bytes, steps 3 to 11: lstm5_n */
  LSTM_KWS_AT_1 = 26112, /* 256 bytes, steps 0 to 10: lstm5_n */
  LSTM_KWS_AT_2 = 26368, /* 256 bytes, steps 1 to 10: lstm5_n */
  LSTM_KWS_AT_3 = 25088, /* 1024 bytes, steps 3 to 6: lstm5_n */
  LSTM_KWS_AT_4 = 26624, /* 256 bytes, steps 5 to 9: lstm5_n */
  LSTM_KWS_AT_5 = 25088, /* 25088 bytes, steps 11 to 22: lstm5 */
  LSTM_KWS_AT_6 = 0, /* 25088 bytes, steps 15 to 23: lstm12_n */
  LSTM_KWS_AT_7 = 51200, /* 256 bytes, steps 12 to 22: lstm12_n */
  LSTM_KWS_AT_8 = 51456, /* 256 bytes, steps 13 to 22: lstm12_n */
  LSTM_KWS_AT_9 = 50176, /* 1024 bytes, steps 15 to 18: lstm12_n */
  LSTM_KWS_AT_10 = 51712, /* 256 bytes, steps 17 to 21: lstm12_n */
  LSTM_KWS_AT_11 = 25088 /* 25088 bytes, steps 23 to 24: lstm12 */
};

#if defined(__GNUC__) && !defined(__clang__)
#define LSTM_KWS_BARRIER __asm__ __volatile__("")
#else
#define LSTM_KWS_BARRIER (void)0
#endif

#if defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE_SIZE__) && \
    (defined(__SSE2__) || defined(__ARM_NEON))
#define LSTM_KWS_UNROLL_(x) _Pragma(#x)
#define LSTM_KWS_UNROLL(n) LSTM_KWS_UNROLL_(GCC unroll n)
#else
#define LSTM_KWS_UNROLL(n)
#endif


/* lstm5_n (Copy):
   out[0, i] = x0[0, i]
   i < 64 */
static LSTM_KWS_NOINLINE void lstm_kws_copy_0(const float *LSTM_KWS_RESTRICT x0,
    float *LSTM_KWS_RESTRICT out)
{
  for (int i = 0; i < 64; ++i) {
    out[i] = x0[i];
  }
}

/* lstm5_n (LSTM):
   out[0, i] = acc + x2[0, i] + x2[0, i + 256]
   acc = sum(k) x1[t0, 0, k] * x0[0, i, k]
   i < 256, k < 40 */
static LSTM_KWS_NOINLINE void lstm_kws_lstm_1(const float *LSTM_KWS_RESTRICT x0,
    const float *LSTM_KWS_RESTRICT x1, const float *LSTM_KWS_RESTRICT x2,
    float *LSTM_KWS_RESTRICT out, int t0)
{
  for (int i = 0; i < 256; i += 64) {
    float acc0[16], acc1[16], acc2[16], acc3[16];
    LSTM_KWS_UNROLL(8) for (int l = 0; l < 16; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f;
        acc2[l] = 0.0f; acc3[l] = 0.0f; }
    for (int k = 0; k < 40; ++k) {
      LSTM_KWS_BARRIER;
      const float v0 = x1[40 * t0 + k];
      LSTM_KWS_UNROLL(8) for (int l = 0; l < 16; ++l) {
        acc0[l] += v0 * x0[i + 256 * k + l];
        acc1[l] += v0 * x0[i + 256 * k + l + 16];
        acc2[l] += v0 * x0[i + 256 * k + l + 32];
        acc3[l] += v0 * x0[i + 256 * k + l + 48];
      }
    }
    LSTM_KWS_UNROLL(8) for (int l = 0; l < 16; ++l) {
      out[i + l] = acc0[l] + x2[i + l] + x2[i + l + 256];
    }
    LSTM_KWS_UNROLL(8) for (int l = 0; l < 16; ++l) {
      out[i + l + 16] = acc1[l] + x2[i + l + 16] + x2[i + l + 272];
    }
    LSTM_KWS_UNROLL(8) for (int l = 0; l < 16; ++l) {
      out[i + l + 32] = acc2[l] + x2[i + l + 32] + x2[i + l + 288];
    }
    LSTM_KWS_UNROLL(8) for (int l = 0; l < 16; ++l) {
      out[i + l + 48] = acc3[l] + x2[i + l + 48] + x2[i + l + 304];
    }
  }
}

/* lstm5_n (LSTM):
   out[0, i] = acc + out[0, i]
   acc = sum(k) x1[0, k] * x0[0, i, k]
   i < 256, k < 64 */
static LSTM_KWS_NOINLINE void lstm_kws_lstm_2(const float *LSTM_KWS_RESTRICT x0,
    const float *LSTM_KWS_RESTRICT x1, float *LSTM_KWS_RESTRICT out)
{
  for (int i = 0; i < 256; i += 64) {
    float acc0[16], acc1[16], acc2[16], acc3[16];
    LSTM_KWS_UNROLL(8) for (int l = 0; l < 16; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f;
        acc2[l] = 0.0f; acc3[l] = 0.0f; }
    for (int k = 0; k < 64; ++k) {
      LSTM_KWS_BARRIER;
      const float v0 = x1[k];
      LSTM_KWS_UNROLL(8) for (int l = 0; l < 16; ++l) {
        acc0[l] += v0 * x0[i + 256 * k + l];
        acc1[l] += v0 * x0[i + 256 * k + l + 16];
        acc2[l] += v0 * x0[i + 256 * k + l + 32];
        acc3[l] += v0 * x0[i + 256 * k + l + 48];
      }
    }
    LSTM_KWS_UNROLL(8) for (int l = 0; l < 16; ++l) { out[i + l] = acc0[l] + out[i + l]; }
    LSTM_KWS_UNROLL(8) for (int l = 0; l < 16; ++l) { out[i + l + 16] = acc1[l] + out[i + l + 16]; }
    LSTM_KWS_UNROLL(8) for (int l = 0; l < 16; ++l) { out[i + l + 32] = acc2[l] + out[i + l + 32]; }
    LSTM_KWS_UNROLL(8) for (int l = 0; l < 16; ++l) { out[i + l + 48] = acc3[l] + out[i + l + 48]; }
  }
}

/* lstm5_n (LSTM):
   out[0, i] = 1 / (1 + exp(-x0[0, i + 128])) * x1[0, i] + 1 / (1 + exp(-x0[0, i])) * tanh(x0[0, i +
     192])
   i < 64 */
static LSTM_KWS_NOINLINE void lstm_kws_lstm_3(const float *LSTM_KWS_RESTRICT x0,
    const float *LSTM_KWS_RESTRICT x1, float *LSTM_KWS_RESTRICT out)
{
  for (int i = 0; i < 64; ++i) {
    out[i] = 1.0f / (1.0f + expf(-x0[i + 128])) * x1[i] + 1.0f / (1.0f + expf(-x0[i])) * tanhf(x0[i
        + 192]);
  }
}

/* lstm5_n (LSTM):
   out[0, i] = 1 / (1 + exp(-x1[0, i + 64])) * tanh(x0[0, i])
   i < 64 */
static LSTM_KWS_NOINLINE void lstm_kws_lstm_4(const float *LSTM_KWS_RESTRICT x0,
    const float *LSTM_KWS_RESTRICT x1, float *LSTM_KWS_RESTRICT out)
{
  for (int i = 0; i < 64; ++i) {
    out[i] = 1.0f / (1.0f + expf(-x1[i + 64])) * tanhf(x0[i]);
  }
}

/* lstm5_n (LSTM):
   out[t0, 0, i] = x0[0, i]
   i < 64 */
static LSTM_KWS_NOINLINE void lstm_kws_lstm_5(const float *LSTM_KWS_RESTRICT x0,
    float *LSTM_KWS_RESTRICT out, int t0)
{
  for (int i = 0; i < 64; ++i) {
    out[64 * t0 + i] = x0[i];
  }
}

/* lstm5_n (LSTM):
   out[i, 0, 0, j] = x0[i, 0, j]
   i < 98, j < 64 */
static LSTM_KWS_NOINLINE void lstm_kws_lstm_6(const float *LSTM_KWS_RESTRICT x0,
    float *LSTM_KWS_RESTRICT out)
{
  for (int ij = 0; ij < 6272; ++ij) {
    out[ij] = x0[ij];
  }
}

/* lstm12_n (LSTM):
   out[0, i] = acc + x2[0, i] + x2[0, i + 256]
   acc = sum(k) x1[t1, 0, k] * x0[0, i, k]
   i < 256, k < 64 */
static LSTM_KWS_NOINLINE void lstm_kws_lstm_7(const float *LSTM_KWS_RESTRICT x0,
    const float *LSTM_KWS_RESTRICT x1, const float *LSTM_KWS_RESTRICT x2,
    float *LSTM_KWS_RESTRICT out, int t1)
{
  for (int i = 0; i < 256; i += 64) {
    float acc0[16], acc1[16], acc2[16], acc3[16];
    LSTM_KWS_UNROLL(8) for (int l = 0; l < 16; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f;
        acc2[l] = 0.0f; acc3[l] = 0.0f; }
    for (int k = 0; k < 64; ++k) {
      LSTM_KWS_BARRIER;
      const float v0 = x1[64 * t1 + k];
      LSTM_KWS_UNROLL(8) for (int l = 0; l < 16; ++l) {
        acc0[l] += v0 * x0[i + 256 * k + l];
        acc1[l] += v0 * x0[i + 256 * k + l + 16];
        acc2[l] += v0 * x0[i + 256 * k + l + 32];
        acc3[l] += v0 * x0[i + 256 * k + l + 48];
      }
    }
    LSTM_KWS_UNROLL(8) for (int l = 0; l < 16; ++l) {
      out[i + l] = acc0[l] + x2[i + l] + x2[i + l + 256];
    }
    LSTM_KWS_UNROLL(8) for (int l = 0; l < 16; ++l) {
      out[i + l + 16] = acc1[l] + x2[i + l + 16] + x2[i + l + 272];
    }
    LSTM_KWS_UNROLL(8) for (int l = 0; l < 16; ++l) {
      out[i + l + 32] = acc2[l] + x2[i + l + 32] + x2[i + l + 288];
    }
    LSTM_KWS_UNROLL(8) for (int l = 0; l < 16; ++l) {
      out[i + l + 48] = acc3[l] + x2[i + l + 48] + x2[i + l + 304];
    }
  }
}

/* lstm12_n (LSTM):
   out[t1, 0, i] = x0[0, i]
   i < 64 */
static LSTM_KWS_NOINLINE void lstm_kws_lstm_8(const float *LSTM_KWS_RESTRICT x0,
    float *LSTM_KWS_RESTRICT out, int t1)
{
  for (int i = 0; i < 64; ++i) {
    out[64 * t1 + i] = x0[i];
  }
}

/* gemm24_n (Gemm):
   out[0, i] = acc + x2[i]
   acc = sum(k) x1[0, k] * x0[i, k]
   i < 12, k < 64 */
static LSTM_KWS_NOINLINE void lstm_kws_gemm_9(const float *LSTM_KWS_RESTRICT x0,
    const float *LSTM_KWS_RESTRICT x1, const float *LSTM_KWS_RESTRICT x2,
    float *LSTM_KWS_RESTRICT out)
{
  float acc0[4], acc1[4], acc2[4];
  LSTM_KWS_UNROLL(2) for (int l = 0; l < 4; ++l) { acc0[l] = 0.0f; acc1[l] = 0.0f; acc2[l] = 0.0f; }
  for (int k = 0; k < 64; ++k) {
    LSTM_KWS_BARRIER;
    const float v0 = x1[k];
    LSTM_KWS_UNROLL(2) for (int l = 0; l < 4; ++l) {
      acc0[l] += v0 * x0[12 * k + l];
      acc1[l] += v0 * x0[12 * k + l + 4];
      acc2[l] += v0 * x0[12 * k + l + 8];
    }
  }
  LSTM_KWS_UNROLL(2) for (int l = 0; l < 4; ++l) { out[l] = acc0[l] + x2[l]; }
  LSTM_KWS_UNROLL(2) for (int l = 0; l < 4; ++l) { out[l + 4] = acc1[l] + x2[l + 4]; }
  LSTM_KWS_UNROLL(2) for (int l = 0; l < 4; ++l) { out[l + 8] = acc2[l] + x2[l + 8]; }
}

int lstm_kws_run(const lstm_kws_workspace *w, const lstm_kws_inputs *in,
    const lstm_kws_outputs *out)
{
  unsigned char *pool_arena;
  if (!w || !w->arena || !in || !out || !in->input || !out->output) return LSTM_KWS_ENULL;
  if ((uintptr_t)w->arena % LSTM_KWS_ARENA_ALIGN != 0) return LSTM_KWS_EALIGN;
  pool_arena = (unsigned char *)w->arena;

  /* 0: lstm5_n */
  lstm_kws_copy_0((const float *)(const void *)(lstm_kws_weights.bytes + 244800),
      (float *)(void *)(pool_arena + LSTM_KWS_AT_1));
  /* 1: lstm5_n */
  lstm_kws_copy_0((const float *)(const void *)(lstm_kws_weights.bytes + 244800),
      (float *)(void *)(pool_arena + LSTM_KWS_AT_2));
  for (int t0 = 0; t0 < 98; ++t0) {
    /* 3: lstm5_n */
    lstm_kws_lstm_1((const float *)(const void *)(lstm_kws_weights.bytes + 0), in->input,
        (const float *)(const void *)(lstm_kws_weights.bytes + 106496),
        (float *)(void *)(pool_arena + LSTM_KWS_AT_3), t0);
    /* 4: lstm5_n */
    lstm_kws_lstm_2((const float *)(const void *)(lstm_kws_weights.bytes + 40960),
        (float *)(void *)(pool_arena + LSTM_KWS_AT_1),
        (float *)(void *)(pool_arena + LSTM_KWS_AT_3));
    /* 5: lstm5_n */
    lstm_kws_lstm_3((float *)(void *)(pool_arena + LSTM_KWS_AT_3),
        (float *)(void *)(pool_arena + LSTM_KWS_AT_2),
        (float *)(void *)(pool_arena + LSTM_KWS_AT_4));
    /* 6: lstm5_n */
    lstm_kws_lstm_4((float *)(void *)(pool_arena + LSTM_KWS_AT_4),
        (float *)(void *)(pool_arena + LSTM_KWS_AT_3),
        (float *)(void *)(pool_arena + LSTM_KWS_AT_1));
    /* 7: lstm5_n */
    lstm_kws_lstm_5((float *)(void *)(pool_arena + LSTM_KWS_AT_1),
        (float *)(void *)(pool_arena + LSTM_KWS_AT_0), t0);
    /* 9: lstm5_n */
    lstm_kws_copy_0((float *)(void *)(pool_arena + LSTM_KWS_AT_4),
        (float *)(void *)(pool_arena + LSTM_KWS_AT_2));
  }
  /* 11: lstm5_n */
  lstm_kws_lstm_6((float *)(void *)(pool_arena + LSTM_KWS_AT_0),
      (float *)(void *)(pool_arena + LSTM_KWS_AT_5));
  /* 12: lstm12_n */
  lstm_kws_copy_0((const float *)(const void *)(lstm_kws_weights.bytes + 244800),
      (float *)(void *)(pool_arena + LSTM_KWS_AT_7));
  /* 13: lstm12_n */
  lstm_kws_copy_0((const float *)(const void *)(lstm_kws_weights.bytes + 244800),
      (float *)(void *)(pool_arena + LSTM_KWS_AT_8));
  for (int t1 = 0; t1 < 98; ++t1) {
    /* 15: lstm12_n */
    lstm_kws_lstm_7((const float *)(const void *)(lstm_kws_weights.bytes + 108544),
        (float *)(void *)(pool_arena + LSTM_KWS_AT_5),
        (const float *)(const void *)(lstm_kws_weights.bytes + 239616),
        (float *)(void *)(pool_arena + LSTM_KWS_AT_9), t1);
    /* 16: lstm12_n */
    lstm_kws_lstm_2((const float *)(const void *)(lstm_kws_weights.bytes + 174080),
        (float *)(void *)(pool_arena + LSTM_KWS_AT_7),
        (float *)(void *)(pool_arena + LSTM_KWS_AT_9));
    /* 17: lstm12_n */
    lstm_kws_lstm_3((float *)(void *)(pool_arena + LSTM_KWS_AT_9),
        (float *)(void *)(pool_arena + LSTM_KWS_AT_8),
        (float *)(void *)(pool_arena + LSTM_KWS_AT_10));
    /* 18: lstm12_n */
    lstm_kws_lstm_4((float *)(void *)(pool_arena + LSTM_KWS_AT_10),
        (float *)(void *)(pool_arena + LSTM_KWS_AT_9),
        (float *)(void *)(pool_arena + LSTM_KWS_AT_7));
    /* 19: lstm12_n */
    lstm_kws_lstm_8((float *)(void *)(pool_arena + LSTM_KWS_AT_7),
        (float *)(void *)(pool_arena + LSTM_KWS_AT_6), t1);
    /* 21: lstm12_n */
    lstm_kws_copy_0((float *)(void *)(pool_arena + LSTM_KWS_AT_10),
        (float *)(void *)(pool_arena + LSTM_KWS_AT_8));
  }
  /* 23: lstm12_n */
  lstm_kws_lstm_6((float *)(void *)(pool_arena + LSTM_KWS_AT_6),
      (float *)(void *)(pool_arena + LSTM_KWS_AT_11));
  /* 24: gemm24_n */
  lstm_kws_gemm_9((const float *)(const void *)(lstm_kws_weights.bytes + 241664),
      (float *)(void *)(pool_arena + LSTM_KWS_AT_11 + 24832),
      (const float *)(const void *)(lstm_kws_weights.bytes + 244736), out->output);
  return LSTM_KWS_OK;
}

#ifndef LSTM_KWS_NO_STATIC_ARENA
static union {
  unsigned char bytes[LSTM_KWS_ARENA_SIZE + LSTM_KWS_SLACK(LSTM_KWS_ARENA_ALIGN)];
  double real;
  int64_t whole;
} lstm_kws_pool_arena LSTM_KWS_ALIGNED(LSTM_KWS_ARENA_ALIGN);

static void *lstm_kws_aligned(unsigned char *bytes, unsigned align)
{
  const unsigned over = (unsigned)((uintptr_t)bytes % align);
  return over ? bytes + (align - over) : bytes;
}
int lstm_kws_invoke(const lstm_kws_inputs *in, const lstm_kws_outputs *out)
{
  lstm_kws_workspace w;
  w.arena = lstm_kws_aligned(lstm_kws_pool_arena.bytes, LSTM_KWS_ARENA_ALIGN);
  return lstm_kws_run(&w, in, out);
}
#endif

#ifndef LSTM_KWS_NO_TENSOR_TABLE
const lstm_kws_tensor lstm_kws_tensors[12] = {
  {"lstm5_n", "arena", 0u, 25088u, 3, 11},
  {"lstm5_n", "arena", 26112u, 256u, 0, 10},
  {"lstm5_n", "arena", 26368u, 256u, 1, 10},
  {"lstm5_n", "arena", 25088u, 1024u, 3, 6},
  {"lstm5_n", "arena", 26624u, 256u, 5, 9},
  {"lstm5", "arena", 25088u, 25088u, 11, 22},
  {"lstm12_n", "arena", 0u, 25088u, 15, 23},
  {"lstm12_n", "arena", 51200u, 256u, 12, 22},
  {"lstm12_n", "arena", 51456u, 256u, 13, 22},
  {"lstm12_n", "arena", 50176u, 1024u, 15, 18},
  {"lstm12_n", "arena", 51712u, 256u, 17, 21},
  {"lstm12", "arena", 25088u, 25088u, 23, 24},
};
#endif

#ifdef __cplusplus
}
#endif
