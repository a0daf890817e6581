// The interpreter of statements: what a kernel does, without a C compiler.
//
//   run_kernel(lowered.kernel, lowered.operands.write_type, iterations, [&](int operand, int64_t element) {
//     return address of that element; })
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "codegen/stmt.h"

namespace arenac {

// The bytes of an element of an operand, or of the result (kResult).
using ElementAt = std::function<std::byte*(int operand, int64_t element)>;

// Checks on the way that no register is read before it is set and that every int and register keeps to its
// range.
void run_kernel(const Kernel& kernel, std::span<const int64_t> iterations, const ElementAt& at);

}  // namespace arenac
