// Whole layers of int8 by the functions of Arm's CMSIS-NN:
//
//   conv   out[0,m,y,x] = sum(c,ky,kx) (x[0,c,y+ky-1,x+kx-1] + 128) * w[m,c,ky,kx]
//                         then int8(min(max(requantize(acc + b[m], s[m]) - 3, -128), 127))
//
//   conv   arm_convolve_wrapper_s8 reads x, filter[m,ky,kx,c], b[m], multiplier[m], shift[m]
//                                  writes out, scratch
//
// Scales are 24 bits and an exponent, and so are the 32 bits of multiplier and the shift: the two differ only
// where they round. Ours rounds the product once, half to even; CMSIS-NN rounds it to a fourth of a step or
// less and that to a step, half away from zero: to the other one where the product is near the middle of two.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "scheduler/cmsis_nn_layer.h"

namespace arenac {

// Which of its sources compilers take for a processor.
enum class CmsisNnCore : uint8_t { kPlain, kDsp, kHelium };

// That of the target; none: it is no Cortex-M.
std::optional<CmsisNnCore> cmsis_nn_core(const Target& target);

// A function of CMSIS-NN. What it takes, in C with the names of CmsisNnLayer's numbers, {multiplier} and
// {shift}: initialisers of `params`, `quant` and `filter_dims`.
struct CmsisNnRow {
  const char* function;
  std::optional<CmsisNnLayer> (*layer)(const LaidOutLayer& of);  // that it computes
  bool (*serves)(const CmsisNnLayer& layer, CmsisNnCore core);
  // Bytes: the most that FUNCTION_get_buffer_size asks for, whatever the compiler.
  int64_t (*scratch)(const CmsisNnLayer& layer, CmsisNnCore core);
  const char *params_type, *params, *quant_type, *quant, *filter_dims;
  const char* sized_by;  // arguments of FUNCTION_get_buffer_size
  bool one_scale;        // for all channels
  double instructions;   // for each product, with DSP instructions
};

// The row of a call; null: it is one of a C kernel.
const CmsisNnRow* cmsis_nn_row(const Call& call);
// The numbers of the layer that it computes, by name; the core whose scratch it has.
std::vector<std::pair<const char*, int64_t>> cmsis_nn_numbers(const Call& call);
CmsisNnCore cmsis_nn_core(const Call& call);

// Makes schedules with such calls of the steps that compute whole layers outside control flow. A call's bytes
// are nobody else's: it overlaps with nothing. Schedules of one model share their filters.
class CmsisNnCalls {
 public:
  explicit CmsisNnCalls(CmsisNnCore core) : core_(core) {}

  Schedule in(Schedule schedule);

 private:
  using Shared = std::shared_ptr<const Value>;
  // A constant that elements were taken of, and where from; what they make.
  std::map<std::pair<Shared, std::vector<int64_t>>, Shared> filters_;
  const CmsisNnCore core_;
};

}  // namespace arenac
