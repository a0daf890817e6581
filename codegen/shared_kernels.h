// Kernels that differ in numbers only, as one that reads them from a table: the least code.
//
//   (const float *x, float *y) { for (int i = 0; i < 16; ++i) y[i] = x[8 * i + 1]; }
//   (const float *x, float *y) { for (int i = 0; i < 32; ++i) y[i] = x[4 * i + 1]; }
//
//   (const float *x, float *y, const int *numbers) {
//     const int k0 = numbers[0], k1 = numbers[1];
//     for (int i = 0; i < k0; ++i) y[i] = x[k1 * i + 1]; }
//   {{16, 8}, {32, 4}}
//
// What is compared is the text; kernels of another shape are left as they are.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace arenac {

struct SharedKernel {
  std::string signature;               // parameters and body
  std::vector<std::vector<int>> rows;  // numbers, for each of the kernels in whose place it is
};

struct SharedKernels {
  struct Row {
    size_t kernel, row;
  };
  std::vector<SharedKernel> kernels;
  std::map<std::string, Row> rows;  // per signature that was given; only those that share a kernel
};

// Of the kernels' parameters and bodies, distinct. Numbers that may differ are those of indices (in
// subscripts, in the heads of `for` and `if`, in `const int`) and zero points (`(uint32_t)(-128)`), but for
// arguments of functions. `restrict_macro` on some of the parameters is left out where not all have it.
SharedKernels shared_kernels(const std::vector<std::string>& signatures, const std::string& restrict_macro);

}  // namespace arenac
