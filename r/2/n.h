/* model.onnx compiled by arenac 0.1.0. Do not edit. */
/* Options: --name n --slowdown 30 --target native */
#ifndef N_H
#define N_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define N_ARENA_SIZE 517888u /* bytes */
#define N_ARENA_ALIGN 64u
#define N_WEIGHTS_SIZE 5519520u /* bytes of constants */
#define N_STACK_BYTES 2384u /* at most, beside functions of the C library */
#define N_MODEL_SHA256 "b4a6207cc481cbe520eefc928d80b91e697e1852bbab2bbee505bd5dfa1741e7"

#define N_INPUT_GPU_0_DATA_0_COUNT 150528u
#define N_INPUT_GPU_0_DATA_0_RANK 4
#define N_INPUT_GPU_0_DATA_0_DIM0 1
#define N_INPUT_GPU_0_DATA_0_DIM1 3
#define N_INPUT_GPU_0_DATA_0_DIM2 224
#define N_INPUT_GPU_0_DATA_0_DIM3 224
#define N_OUTPUT_GPU_0_SOFTMAX_1_COUNT 1000u
#define N_OUTPUT_GPU_0_SOFTMAX_1_RANK 2
#define N_OUTPUT_GPU_0_SOFTMAX_1_DIM0 1
#define N_OUTPUT_GPU_0_SOFTMAX_1_DIM1 1000

/* Members are called as the model calls its inputs and outputs: other characters are '_', and '_' follows a
   name that is a word of C or C++ or could be a macro (int_, NAN_, X1_). */
typedef struct {
  const float *gpu_0_data_0; /* float32 [1,3,224,224], row-major: gpu_0/data_0 */
} n_inputs;
typedef struct {
  float *gpu_0_softmax_1; /* float32 [1,1000], row-major: gpu_0/softmax_1 */
} n_outputs;
typedef struct {
  void *arena; /* N_ARENA_SIZE bytes, aligned to N_ARENA_ALIGN */
} n_workspace;

enum { N_OK = 0, N_ENULL = 1 /* a pointer is null */, N_EALIGN = 2 /* the arena is misaligned */,
       N_EBRANCH = 3 /* the inputs select a branch that arenac left out, with a warning */,
       N_EVALUE = 4 /* a value is not the one that was compiled in */ };

/* One inference. Re-entrant: all state is in the workspace, whose content before the call does not matter.
   Inputs, outputs and arena must not overlap. */
int n_run(const n_workspace *w, const n_inputs *in, const n_outputs *out);

#ifndef N_NO_STATIC_ARENA
/* The same on a static arena: not re-entrant. */
int n_invoke(const n_inputs *in, const n_outputs *out);
#endif

#ifndef N_NO_TENSOR_TABLE
/* What lies in the arena: [offset, offset + size) during the steps [first, last]. */
typedef struct {
  const char *name;
  const char *pool;
  size_t offset;
  size_t size;
  int first;
  int last;
} n_tensor;
#define N_TENSOR_COUNT 71
extern const n_tensor n_tensors[71];
#endif

#ifdef __cplusplus
}
#endif
#endif

/* The constants, for n.c and n_weights.c. N_CONST stands before each of them: define it to place them,
   -D'N_CONST=const __attribute__((section(".qspi")))'. */
#if defined(N_INTERNAL) && !defined(N_CONSTANTS_H)
#define N_CONSTANTS_H
#if !defined(N_CONST) && defined(__GNUC__)
#define N_CONST const __attribute__((aligned(8)))
#elif !defined(N_CONST)
#define N_CONST const
#endif
#ifdef __cplusplus
extern "C" {
#endif
extern const unsigned char n_weights[5520128];
#ifdef __cplusplus
}
#endif
#endif

