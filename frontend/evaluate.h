// The value of an expression, given those of its leaves: what the interpreters share.
//
//   evaluate(e, [&](const Expr& leaf) { return leaf->op == Op::kAxis ? Scalar{.i = 3} : element(leaf); })
#pragma once

#include "frontend/expr.h"

namespace arenac {

// `value_of` is of every axis, accumulator, read and instruction. Of a selection only the chosen side is
// looked at.
template <typename ValueOf>
Scalar evaluate(const Expr& e, const ValueOf& value_of) {
  switch (e->op) {
    case Op::kConst:
      return e->value;
    case Op::kAxis:
    case Op::kAcc:
    case Op::kRead:
    case Op::kInstruction:
      return value_of(e);
    case Op::kSelect:
      return evaluate(e->args[evaluate(e->args[0], value_of).i ? 1 : 2], value_of);
    case Op::kCast:
      return convert(e->type, e->args[0]->type, evaluate(e->args[0], value_of));
    case Op::kBitCast: {
      std::byte room[8] = {};
      store(e->args[0]->type, room, evaluate(e->args[0], value_of));
      return load(e->type, room);
    }
    default: {
      const Scalar a = evaluate(e->args[0], value_of);
      return apply(e->op, e->args[0]->type, a, e->args.size() > 1 ? evaluate(e->args[1], value_of) : a);
    }
  }
}

}  // namespace arenac
