#include "codegen/stmt.h"

namespace arenac {

Expr element(int operand, Type type, const Expr& index) {
  return Expr(std::make_shared<const Expr::Tree>(Expr::Tree{Op::kRead, type, {index}, {}, operand}));
}

Expr register_at(const Kernel& kernel, int number) {
  const Register& is = kernel.registers[static_cast<size_t>(number)];
  std::vector<Expr> index;
  if (is.lanes > 1) index.push_back(axis(kLane));
  return Expr(std::make_shared<const Expr::Tree>(
      Expr::Tree{Op::kRead, is.type, std::move(index), {}, kRegisters + number}));
}

}  // namespace arenac
