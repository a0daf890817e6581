// Expressions as C, in the semantics of expr.h: integers wrap, division by zero gives zero, float to integer
// saturates.
//
//   CExpr c("kws", helpers, names);
//   c.value(max(read(0, kFloat32, {axis(1)}), constant(kFloat32, 0)))   ->   kws_max_f32(x0[i1], 0.0f)
//
// C's own operators are used where they mean the same for the numbers that can come; where they do not
// (signed overflow and division by zero are undefined, an int promotes small types) a cast or a small static
// function does what expr.h says. Which it is, the intervals of integers decide: acc + x * w is a plain sum
// where a bound of the sum fits int32, and a detour by uint32_t where not. (Of sums in registers
// register_ranges.h knows it.)
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "frontend/facts.h"
#include "frontend/float_functions.h"

namespace arenac {

// What emitted expressions need beside themselves.
struct Helpers {
  std::map<std::string, std::string> functions;  // small static ones and macros, by name, each with its text
  std::set<std::string> preludes;                // what stands before all functions, as includes
};

// What a formula's leaves are called in the function that it stands in.
struct CNames {
  std::function<std::string(int)> axis;                 // of an axis or (negative) an iteration: an int
  std::function<std::string(int)> operand;              // of a read: pointer to its elements, or all of it
  std::function<ClosedInterval(const Expr&)> interval;  // what an integer expression can be
};

class CExpr {
 public:
  CExpr(std::string prefix, Helpers& helpers, CNames names)
      : prefix_(std::move(prefix)), helpers_(helpers), names_(std::move(names)) {}

  std::string value(const Expr& e) const;  // of the C type for e's type; bool as int; as an argument
  std::string index(const Expr& e) const;  // of type int; a sum: what stands beside it may bind looser only
  std::string alone(const Expr& e) const;  // the same where nothing stands beside it
  std::string condition(const Expr& e) const;   // on ints: to stand in parentheses
  std::string element(const Expr& read) const;  // as it is stored
  // Converted to be stored in an element of type `to`.
  std::string stored(Type to, const Expr& value) const;
  // The statement that sets so many lanes of a register to an instruction of each, at once, or elements of
  // the result; "": there is none.
  std::string over_lanes(const Expr& e, int lanes) const;
  std::string stored_over_lanes(const Expr& target, const Expr& e, int lanes) const;
  // The same for a conversion between halves and floats of elements side by side.
  std::string converted_over_lanes(const Expr& target, const Expr& value, int lanes) const;

  // Whether it is a sum, difference or product that cannot leave its type, of which C promotes nothing.
  bool is_exact(const Expr& e) const;

 private:
  // How tightly the outermost operator of a text holds its operands, the loosest first.
  enum class Binds : uint8_t { kChoice, kOr, kAnd, kCompare, kSum, kProduct, kUnary, kPrimary };
  struct Piece {
    Piece(std::string of) : text(std::move(of)) {}
    Piece(std::string of, Binds how) : text(std::move(of)), binds(how) {}
    // As an operand: in parentheses if it binds looser than that.
    std::string in(Binds least) const { return binds < least ? "(" + text + ")" : text; }

    std::string text;
    Binds binds = Binds::kPrimary;
  };

  std::string over_lanes_of_reads(const Expr& e, int lanes) const;
  Piece piece(const Expr& e) const;
  Piece piece_of_condition(const Expr& e) const;
  Piece arithmetic(Op op, const Piece& a, const Piece& b) const;
  Piece stored(Type to, Type from, const Piece& value) const;
  bool of_ints(const Expr& e) const;
  bool chooses_int(const Expr& e) const;
  std::string factor(const Expr& e) const;
  std::string quotient(const Expr& e) const;
  Piece call(const Expr& e) const;
  std::string instruct(const Expr& e) const;
  std::string first_of_lanes(const Expr& read) const;
  bool is_side_by_side(const Expr& read) const;
  Piece cast(Type to, Type from, const Piece& x) const;
  std::string inlined() const;
  std::string text(Scalar value) const;
  std::string equal_texts(const std::string& a, const std::string& b) const;
  Piece operation(Op op, Type type, const Piece& left, const Piece& right) const;
  std::string helper(const std::string& name, const std::string& definition) const;
  std::string float_helper(const FloatFunction& function) const;
  std::string binary_helper(const char* name, Type type, std::string body) const;

  std::string prefix_;
  Helpers& helpers_;
  CNames names_;
};

// The C of Op::kRequantize, a function whose name begins with the prefix, `inlined` ("static inline") where
// it is short.
std::string requantize_text(const std::string& prefix, const std::string& inlined);

// The C type of values of `type`: what arithmetic is done in.
const char* c_value_type(Type type);

}  // namespace arenac
