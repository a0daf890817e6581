#include "codegen/operation_costs.h"

#include <algorithm>

#include "codegen/instructions.h"
#include "frontend/float_functions.h"

namespace arenac {
namespace {

constexpr int kOfHalf = 12;  // operations that make a float of a half where there is no instruction

// The operations of their texts (frontend/float_functions): the products and sums of a polynomial (erf has
// twice as many), two conversions, and a division where there is one.
double of_float_function(Op op, const Costs& costs) {
  const int products = op == Op::kErf ? 22 : 10;
  return products * costs.float_multiply + 10 * costs.add + 2 * costs.convert +
         (op == Op::kTanh || op == Op::kLog ? costs.float_divide : 0);
}

bool multiplies(const Expr& sum) {
  return std::any_of(sum->args.begin(), sum->args.end(), [](const Expr& arg) { return arg->op == Op::kMul; });
}

}  // namespace

// Free are a conversion of what is just read, which the load does (LDRSB and its kin, VPMOVSX), and the sum
// around a product: one instruction has both, MLA, SMLAD or FMA. A half is converted in hardware where there
// are vectors, else by a dozen operations.
double cycles_of_operation(const Expr& e, const Costs& costs) {
  const Type type = e->args[0]->type;
  const bool floats = is_float(type);
  switch (e->op) {
    case Op::kInstruction:
      return instructions()[static_cast<size_t>(e->index)].cycles;
    case Op::kCast:
      if (type == Type::kFloat16 && costs.vector_bytes <= kScalarBytes) return kOfHalf * costs.add;
      return floats == is_float(e->type) ? (e->args[0]->op == Op::kRead ? 0 : costs.add) : costs.convert;
    case Op::kMul:  // of a product that is added the sum is the operation
      return floats ? costs.float_multiply : costs.multiply;
    case Op::kAdd:
    case Op::kSub:
      return multiplies(e) ? 0 : floats ? costs.float_add : costs.add;
    case Op::kMin:
    case Op::kMax:
    case Op::kSelect:
    case Op::kAbs:
      return floats ? costs.float_choose : costs.choose;
    case Op::kDiv:
    case Op::kMod:
    case Op::kSqrt:
      return floats ? costs.float_divide : costs.divide;
    case Op::kRequantize:
      return costs.requantize;
    default:
      if (e->type == Type::kFloat32 && float_function(e->op)) return of_float_function(e->op, costs);
      return info(e->op).libm ? costs.function : floats ? costs.float_add : costs.add;
  }
}

}  // namespace arenac
