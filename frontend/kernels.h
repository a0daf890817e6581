// C kernels: operators that are no loop nest (sort, scan, search). Each is one plain C99 file under
// frontend/kernels/, used twice: compiled into arenac to fold constants, and embedded as text into the
// emitted C.
//
// The file defines one function, in terms of two macros that whoever includes it sets:
//
//   static void ARENAC_NAME(const void *const *reads, void *const *writes, const int64_t *p)   /* ARENAC_T:
//   element type */
//
// It may use <math.h> and <stdint.h>. Operands are dense and row-major; p holds extents and attributes as the
// file's first comment lists them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "frontend/type.h"

namespace arenac {

using KernelFunction = void(const void* const* reads, void* const* writes, const int64_t* parameters);

struct KernelRow {
  std::string_view name;
  std::string_view description;
  std::string_view source;            // the C file's text
  KernelFunction* (*instance)(Type);  // compiled in; null for a type that it does not serve
};

std::span<const KernelRow> kernels();
const KernelRow& kernel(std::string_view name);  // InternalError when there is none

}  // namespace arenac
