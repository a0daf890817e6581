// One scheduled nest as statements: blocks of lanes and tiles of pixels whose sums stay in registers.
//
//   out[p, m] = sum over k of x[p, k] * w[k, m]         vector axis m: 4 lanes; tile axis p: 2 pixels
//
//   for m in steps of 4                                 a last block of fewer lanes, or one done again, ends
//   m
//     for p in steps of 2
//       acc0[4], acc1[4] = 0
//       for k                                           one accumulator per pixel, of 4 lanes each
//         acc0[l] += x[p, k] * w[k, m + l]
//         acc1[l] += x[p + 1, k] * w[k, m + l]
//       out[p, m + l] = acc0[l], out[p + 1, m + l] = acc1[l]
#pragma once

#include "codegen/stmt.h"
#include "scheduler/loops.h"

namespace arenac {

// How an operand relates to the result's memory.
enum class Aliasing : uint8_t {
  kApart,    // no common byte
  kInPlace,  // the same address for the same element: read through the result's pointer
  kMixed,    // the same memory otherwise: no promise to the C compiler
};

// What a nest reads, per operand of its node, and writes.
struct KernelOperands {
  std::vector<Type> read_types;
  std::vector<Aliasing> aliasing;
  Type write_type;
};

// `names` are those of the loops over the axes, or none.
Kernel lower_nest(const FlatNest& nest, const LoopPlan& plan, const KernelOperands& operands,
                  std::vector<std::string> names = {});

}  // namespace arenac
