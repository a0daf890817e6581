// Scalar expressions: the language in which every formula is written.
//
//   Expr y = axis(1), k = axis(3);                          // loop variables of a nest
//   Expr x = read(0, Type::kFloat32, {axis(0), y * 2 + k - 1});    // element of the node's operand 0
//   Expr r = max(x, constant(Type::kFloat32, 0));           // relu
//
// An Expr is an immutable tree; copies share it. Index expressions are Exprs of type int64. Constructors fold
// constants and drop neutral elements, so that index arithmetic stays small.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "frontend/type.h"

namespace arenac {

enum class Op : uint8_t {
  kConst,
  kAxis,
  kRead,
  kAcc,
  // unary
  kNeg,
  kAbs,
  kSqrt,
  kExp,
  kLog,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kErf,
  kFloor,
  kCeil,
  kRound,
  kTrunc,
  kNot,
  kIsNan,
  kIsInf,
  kCast,
  kBitCast,
  // binary, both arguments of one type but for kRequantize
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kPow,
  kMin,
  kMax,
  kAnd,
  kOr,
  kXor,
  kShl,
  kShr,
  kEq,
  kLt,
  kLe,
  kRequantize,  // int32 by float32
  // condition (bool), value if true, value if false; only the chosen one is evaluated
  kSelect,
  // a row of codegen/instructions.h: in kernels' statements only, never in a Graph
  kInstruction,
};

// How each operation is spelt and typed. Semantics: kDiv truncates on integers (x/0 is 0); kMod is floor
// modulo (the sign of the divisor; x%0 is 0); kRound goes to nearest even; kAnd, kOr, kXor and kNot are
// bitwise on integers and logical on bool; kCast float to integer truncates and saturates (NaN gives 0),
// integer to integer wraps, anything to bool is != 0. kRequantize is
// round((float)sum * scale) as float32 rounds, within [-kMostSteps, kMostSteps), of an int32 and a scale in
// [kLeastScale, kScaleLimit). There is nothing that a fused multiply-add could round otherwise, and where
// floats are soft it is integer arithmetic: the same bits on every machine.
struct OpInfo {
  Op op;
  const char* name;
  int arity;         // -1: any
  bool boolean;      // the result is bool, whatever the arguments
  const char* libm;  // the C function for float arguments, or null
};
const OpInfo& info(Op op);

// Of kRequantize. Scales below the least one round every product to 0.
constexpr float kLeastScale = 0x1p-33f;
constexpr float kScaleLimit = 0.25f;
constexpr int32_t kMostSteps = 1 << 22;

class Expr {
 public:
  struct Tree;
  Expr() = default;
  explicit Expr(std::shared_ptr<const Tree> tree) : tree_(std::move(tree)) {}

  bool empty() const { return tree_ == nullptr; }
  const Tree* operator->() const { return tree_.get(); }
  const Tree& operator*() const { return *tree_; }

 private:
  std::shared_ptr<const Tree> tree_;
};

struct Expr::Tree {
  Op op;
  Type type;
  std::vector<Expr> args;  // kRead: one index per dimension
  Scalar value = {};       // kConst
  // kAxis: the axis of the enclosing nest, or, when negative, -1 - s for the iteration number of the
  // enclosing loop with symbol s, whose trip count is `extent`. kRead: the operand, an index into the node's
  // reads. kInstruction: the row.
  int index = 0;
  int64_t extent = 0;
};

Expr constant(Type type, double value);
Expr constant(Type type, Scalar value);
Expr integer(int64_t value);  // an int64 constant
Expr axis(int index);
Expr iteration(int symbol, int64_t trips);
Expr read(int operand, Type type, std::vector<Expr> indices);
Expr accumulator(Type type);  // in a nest's finish: the reduced value

Expr make(Op op, std::vector<Expr> args);  // any unary or binary operation, checked and folded
Expr cast(Type type, const Expr& x);       // x itself if it has that type
Expr bit_cast(Type type, const Expr& x);
Expr with_arguments(const Expr& e, std::vector<Expr> args);  // the same operation of others of the same types
Expr select(const Expr& condition, const Expr& yes, const Expr& no);

inline Expr operator+(const Expr& a, const Expr& b) { return make(Op::kAdd, {a, b}); }
inline Expr operator-(const Expr& a, const Expr& b) { return make(Op::kSub, {a, b}); }
inline Expr operator*(const Expr& a, const Expr& b) { return make(Op::kMul, {a, b}); }
inline Expr operator/(const Expr& a, const Expr& b) { return make(Op::kDiv, {a, b}); }
inline Expr operator%(const Expr& a, const Expr& b) { return make(Op::kMod, {a, b}); }
inline Expr operator-(const Expr& a) { return make(Op::kNeg, {a}); }
inline Expr operator==(const Expr& a, const Expr& b) { return make(Op::kEq, {a, b}); }
inline Expr operator<(const Expr& a, const Expr& b) { return make(Op::kLt, {a, b}); }
inline Expr operator<=(const Expr& a, const Expr& b) { return make(Op::kLe, {a, b}); }
inline Expr operator>(const Expr& a, const Expr& b) { return b < a; }
inline Expr operator>=(const Expr& a, const Expr& b) { return b <= a; }
inline Expr operator!(const Expr& a) { return make(Op::kNot, {a}); }
inline Expr operator&&(const Expr& a, const Expr& b) { return make(Op::kAnd, {a, b}); }
inline Expr operator||(const Expr& a, const Expr& b) { return make(Op::kOr, {a, b}); }
inline Expr min(const Expr& a, const Expr& b) { return make(Op::kMin, {a, b}); }
inline Expr max(const Expr& a, const Expr& b) { return make(Op::kMax, {a, b}); }
inline Expr exp(const Expr& x) { return make(Op::kExp, {x}); }
inline Expr log(const Expr& x) { return make(Op::kLog, {x}); }
inline Expr absolute(const Expr& x) { return make(Op::kAbs, {x}); }
inline Expr sqrt(const Expr& x) { return make(Op::kSqrt, {x}); }
inline Expr tanh(const Expr& x) { return make(Op::kTanh, {x}); }
inline Expr pow(const Expr& x, const Expr& y) { return make(Op::kPow, {x, y}); }
inline Expr requantize(const Expr& sum, const Expr& scale) { return make(Op::kRequantize, {sum, scale}); }

// A literal beside an Expr takes the Expr's type.
inline Expr operator+(const Expr& a, double b) { return a + constant(a->type, b); }
inline Expr operator-(const Expr& a, double b) { return a - constant(a->type, b); }
inline Expr operator*(const Expr& a, double b) { return a * constant(a->type, b); }
inline Expr operator/(const Expr& a, double b) { return a / constant(a->type, b); }
inline Expr operator%(const Expr& a, double b) { return a % constant(a->type, b); }
inline Expr operator+(double a, const Expr& b) { return constant(b->type, a) + b; }
inline Expr operator-(double a, const Expr& b) { return constant(b->type, a) - b; }
inline Expr operator*(double a, const Expr& b) { return constant(b->type, a) * b; }
inline Expr operator/(double a, const Expr& b) { return constant(b->type, a) / b; }
inline Expr operator<(const Expr& a, double b) { return a < constant(a->type, b); }
inline Expr operator>(const Expr& a, double b) { return a > constant(a->type, b); }
inline Expr operator<=(const Expr& a, double b) { return a <= constant(a->type, b); }
inline Expr operator>=(const Expr& a, double b) { return a >= constant(a->type, b); }
inline Expr operator==(const Expr& a, double b) { return a == constant(a->type, b); }
inline Expr min(const Expr& a, double b) { return min(a, constant(a->type, b)); }
inline Expr max(const Expr& a, double b) { return max(a, constant(a->type, b)); }

// The value of one operation on scalars; `type` is the (first) argument's type. The definition that folding,
// the interpreter and the emitted C agree on.
Scalar apply(Op op, Type type, Scalar a, Scalar b);
Scalar convert(Type to, Type from, Scalar value);

bool is_constant(const Expr& e, double value);
bool same(const Expr& a, const Expr& b);  // structurally equal
bool any_of(const Expr& e, const std::function<bool(const Expr&)>& predicate);
// A nest's `finish` with the reduced value in it; of an empty one the value itself.
Expr finished(const Expr& finish, const Expr& value);
// The tree with every node for which `replace` returns a non-empty Expr exchanged for it (outermost first).
Expr substitute(const Expr& e, const std::function<Expr(const Expr&)>& replace);

// How a formula is written: (i0 + 1) * x0[i0] unless other names are given.
struct Notation {
  std::function<std::string(int)> axis = {}, operand = {};
  std::string accumulator = "acc";
  std::function<bool(const Expr&)> shows_cast = {};  // none: all are shown
};
// The formula with the parentheses that it needs.
std::string to_string(const Expr& e, const Notation& notation = {});

}  // namespace arenac
