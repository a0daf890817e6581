#include "frontend/float_functions.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "frontend/float_function_sources.h"

namespace arenac {
namespace {

#include "frontend/float_functions/exp.c"
#include "frontend/float_functions/expm1.c"
#include "frontend/float_functions/log.c"
// These call it.
#include "frontend/float_functions/erf.c"
#include "frontend/float_functions/tanh.c"

constexpr FloatFunction kFunctions[] = {
    {Op::kErf, "erf", NAME_erf_f32, k_erf, k_expm1},
    {Op::kExp, "exp", NAME_exp_f32, k_exp, nullptr},
    {Op::kLog, "log", NAME_log_f32, k_log, nullptr},
    {Op::kTanh, "tanh", NAME_tanh_f32, k_tanh, k_expm1},
};

}  // namespace

const FloatFunction* float_function(Op op) {
  const auto* const row = std::ranges::find(kFunctions, op, &FloatFunction::op);
  return row == std::end(kFunctions) ? nullptr : row;
}

}  // namespace arenac
