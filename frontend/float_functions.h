// Functions of float32 that arenac brings with it: one C text each, which the interpreter runs and the
// emitter copies, so that both give the same bits on every machine (fused multiply-adds apart).
//
//   float_function(Op::kExp)->run(1.0f)     2.71828175f
//   float_function(Op::kExp)->text          "... static inline float NAME_exp_f32(float x) { ... }"
//   float_function(Op::kSin)                null: the C library's
#pragma once

#include "frontend/expr.h"

namespace arenac {

struct FloatFunction {
  Op op;
  const char* name;  // "exp"
  float (*run)(float x);
  const char* text;    // of a C99 function NAME_exp_f32
  const char* before;  // that of one it calls, NAME_expm1_f32; null: none
};
const FloatFunction* float_function(Op op);  // null: there is none

}  // namespace arenac
