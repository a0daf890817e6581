/* lstm_kws.onnx compiled by arenac 0.1.0. Do not edit. */
#ifndef LSTM_KWS_H
#define LSTM_KWS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LSTM_KWS_ARENA_SIZE 51968u /* bytes */
#define LSTM_KWS_ARENA_ALIGN 16u
#define LSTM_KWS_WEIGHTS_SIZE 245040u /* bytes of constants */
#define LSTM_KWS_MODEL_SHA256 "4c9a4aa424451720bcdae926fc8b1b2d15bd6816df00c4727628eb40d3e8773f"

#define LSTM_KWS_INPUT_INPUT_COUNT 3920u
#define LSTM_KWS_INPUT_INPUT_RANK 3
#define LSTM_KWS_INPUT_INPUT_DIM0 1
#define LSTM_KWS_INPUT_INPUT_DIM1 98
#define LSTM_KWS_INPUT_INPUT_DIM2 40
#define LSTM_KWS_OUTPUT_OUTPUT_COUNT 12u
#define LSTM_KWS_OUTPUT_OUTPUT_RANK 2
#define LSTM_KWS_OUTPUT_OUTPUT_DIM0 1
#define LSTM_KWS_OUTPUT_OUTPUT_DIM1 12

/* Members are called as the model calls its inputs and outputs: other characters are '_', and '_' follows a
   name that is a word of C or C++ or could be a macro (int_, NAN_, X1_). */
typedef struct {
  const float *input; /* float32 [1,98,40], row-major: input */
} lstm_kws_inputs;
typedef struct {
  float *output; /* float32 [1,12], row-major: output */
} lstm_kws_outputs;
typedef struct {
  void *arena; /* LSTM_KWS_ARENA_SIZE bytes, aligned to LSTM_KWS_ARENA_ALIGN */
} lstm_kws_workspace;

enum { LSTM_KWS_OK = 0, LSTM_KWS_ENULL = 1 /* a pointer is null */,
    LSTM_KWS_EALIGN = 2 /* the arena is misaligned */,
       LSTM_KWS_EBRANCH = 3 /* the inputs select a branch that arenac left out, with a warning */,
       LSTM_KWS_EVALUE = 4 /* a value is not the one that was compiled in */ };

/* One inference. Re-entrant: all state is in the workspace, whose content before the call does not matter.
   Inputs, outputs and arena must not overlap. */
int lstm_kws_run(const lstm_kws_workspace *w, const lstm_kws_inputs *in,
    const lstm_kws_outputs *out);

#ifndef LSTM_KWS_NO_STATIC_ARENA
/* The same on a static arena: not re-entrant. */
int lstm_kws_invoke(const lstm_kws_inputs *in, const lstm_kws_outputs *out);
#endif

#ifndef LSTM_KWS_NO_TENSOR_TABLE
/* What lies in the arena: [offset, offset + size) during the steps [first, last]. */
typedef struct {
  const char *name, *pool;
  size_t offset, size;
  int first, last;
} lstm_kws_tensor;
#define LSTM_KWS_TENSOR_COUNT 12
extern const lstm_kws_tensor lstm_kws_tensors[12];
#endif

#ifdef __cplusplus
}
#endif
#endif

/* The constants, for lstm_kws.c and lstm_kws_weights.c. LSTM_KWS_CONST stands before each of them: define it to place them,
   -D'LSTM_KWS_CONST=const __attribute__((section(".qspi")))'. */
#if defined(LSTM_KWS_INTERNAL) && !defined(LSTM_KWS_CONSTANTS_H)
#define LSTM_KWS_CONSTANTS_H
#if !defined(LSTM_KWS_CONST) && defined(__GNUC__)
#define LSTM_KWS_CONST const __attribute__((aligned(8)))
#elif !defined(LSTM_KWS_CONST)
#define LSTM_KWS_CONST const
#endif
#ifdef __cplusplus
extern "C" {
#endif
union lstm_kws_weights_blob { unsigned char bytes[245057]; int64_t whole; double real; };
extern LSTM_KWS_CONST union lstm_kws_weights_blob lstm_kws_weights;
#ifdef __cplusplus
}
#endif
#endif

