// One scheduled nest as statements: blocks of lanes and tiles of pixels whose sums stay in registers.
//
//   out[p, m] = sum over k of x[p, k] * w[k, m]         vector axis m: 4 lanes; tile axis p: 2 pixels
//
//   for m in steps of 4                                 a last block, of fewer lanes or done again, ends m
//     for p in steps of 2
//       acc0[4], acc1[4] = 0
//       for k                                           one accumulator per pixel, of 4 lanes each
//         acc0[l] += x[p, k] * w[k, m + l]
//         acc1[l] += x[p + 1, k] * w[k, m + l]
//       out[p, m + l] = acc0[l], out[p + 1, m + l] = acc1[l]
//
// A term of a block is `tile` reads of x and one vector of w for `tile` * `lanes` products: the block is the
// reuse. That sums stay in registers is why its size is the target's (Target::lanes, tile), and this the
// classical register blocking of matrix products (Goto and van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication", ACM TOMS 34, 2008) for any nest. The bits do not depend on it: each sum adds its terms in
// the order of the reduced axes, whatever block it is in.
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

// `names` are those of the loops over the axes, or none. The nest's addresses are flat and its layouts those
// of the schedule; the plan names each axis once. Nothing that the kernel reads or writes lies outside of the
// operands, of lanes beyond the axis too, whose constants have room (LoopPlan).
Kernel lower_nest(const FlatNest& nest, const LoopPlan& plan, const KernelOperands& operands,
                  std::vector<std::string> names = {});

}  // namespace arenac
