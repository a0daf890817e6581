// A second reading of what a schedule and a plan mean: the steps run on one arena of bytes, element by
// element, beside the interpreter, which gives every tensor memory of its own. A tensor whose bytes another
// one overwrote too early differs from then on, so that the first differing step names the culprit.
//
//   EXPECT_EQ(shadow_fault(made, inputs, random), "");
#pragma once

#include <random>
#include <string>
#include <vector>

#include "driver/compare.h"
#include "driver/compile.h"

namespace arenac {

// How far two computations of the same elements in different orders may lie apart; integers, unless said
// otherwise, not at all.
Tolerance tolerance_of(Type type, double integers_within = 0);

// The first step (of a group, the first group) at which the arena does not hold what the interpreter
// computes, or at which an access leaves its buffer; "" when there is none. It runs twice, on arenas filled
// with 0xA5: with the axes in random orders, and by the statements that are emitted, whose cost
// model must foresee every access. Floats of 32 bits and more may differ by floats_within.
std::string shadow_fault(const Compilation& compilation, const std::vector<Value>& inputs,
                         std::mt19937& random, double floats_within = 1e-5);

}  // namespace arenac
