#include "frontend/ops.h"

namespace arenac {
std::span<const OperatorRow> quantize_operators() { return {}; }
}  // namespace arenac
