// One scheduled nest as the text of a C function body.
//
//   static void kws_conv_0(const float *KWS_RESTRICT x0, const float *KWS_RESTRICT x1, float *KWS_RESTRICT y)
//   {
//     ...loops...
//   }
#pragma once

#include <string>
#include <vector>

#include "codegen/c_expr.h"
#include "scheduler/loops.h"

namespace arenac {

// What a kernel takes, in this order: pointers to the operands in `reads`, the pointer to the result, the
// numbers of the iterations in `symbols`.
struct CKernel {
  std::string signature;     // parameters and body: two nests with equal text are one function
  std::vector<int> reads;    // operand of the node per pointer parameter
  std::vector<int> symbols;  // loops whose iteration number it takes
};

// How an operand relates to the result's memory.
enum class Aliasing : uint8_t {
  kApart,    // no common byte
  kInPlace,  // the same address for the same element: read through the result's pointer
  kMixed,    // the same memory otherwise: no promise to the C compiler
};

CKernel c_kernel(const FlatNest& nest, const LoopPlan& plan, const std::vector<Type>& read_types,
                 Type write_type, const std::vector<Aliasing>& aliasing, const std::string& prefix,
                 Helpers& helpers);

}  // namespace arenac
