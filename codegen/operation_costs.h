// What one operation of a formula costs on a target, beside that of its operands.
//
//   acc + x * w     the sum: nothing, a product that is added is one operation; the product: a multiplication
#pragma once

#include "frontend/expr.h"
#include "scheduler/schedule.h"

namespace arenac {

constexpr int kScalarBytes = 4;  // that cores without vectors take at a time

// Units of Costs. `e` is no leaf: constants, axes and reads are not operations.
double cycles_of_operation(const Expr& e, const Costs& costs);

}  // namespace arenac
