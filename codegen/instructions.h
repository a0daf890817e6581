// Instructions of processors that C has no operator for, as rows of a table. In formulas they are
// Op::kInstruction, whose `index` is the row.
//
//   A sum of four products of bytes, in two instructions that multiply two 16-bit halves each:
//
//     memory     a0 a1 a2 a3                    b0 b1 b2 b3
//     even_s8    a0+z | a2+z                    b0   | b2
//     odd_s8     a1+z | a3+z                    b1   | b3
//     acc        add_products(odd a, odd b, add_products(even a, even b, acc))
//
// the same of four pixels, whose first factors x lie side by side for the pixels instead:
//
//     rows 0, 2 of x     p0 p1 p2 p3, q0 q1 q2 q3      (rows 1 and 3 likewise)
//     join_low(even p, even q)     p0 | q0             of pixel 0; join_high: p2 | q2, of pixel 2
//
// or a product of each of four lanes:
//
//     acc0, acc2   add_low_product(even a, even b, acc0), add_high_product(even a, even b, acc2)
//     acc1, acc3   the same of odd a, odd b
//
// A sum of four products of bytes in each lane of a vector, of words of the one factor from 0 to 255 and of
// the other from -128 to 127, which lies side by side for the lanes:
//
//     word_u8     x0 x1 x2 x3                          of memory
//     join_bytes  w0 w1 w2 w3                          of a lane, from four places; or, where they lie as
//     signed_word_s8                                   words (Words in scheduler/schedule.h), of memory
//     acc[l] = add_byte_products(x, w[l], acc[l])      of all lanes at once: over_lanes
//
// The same of words of -128 to 127: signed_word_s8, signed_word_u8 (less 128), add_signed_products.
//
// A sum of the products of so many neighbours, of bytes that are brought to -128 to 127 (u8: less 128), in
// one instruction of a processor with vectors that are added up across; and their sum:
//
//     a0 a1 ... a15    b0 b1 ... b15                   of memory
//     acc = dot16_s8s8(a, b, acc)
//     total = total16_s8(b, total)                     times a's zero: what that adds to acc
//     acc = apart_dot8_s8s8(a, b, 256, acc)            of a[0], a[256], a[512], ...
//
// A product of bytes and their zeros in each lane, of bytes that lie side by side for the lanes:
//
//     acc[l] = add_product_s8s8(&a[l], &b[l], za, zb, acc[l])      of all lanes at once
//
// A quantised result of each lane, stored as bytes that may lie apart:
//
//     y[7 * l] = requantized_s8(acc[l], bias[l], scale[l], zero, low, high)
//         min(max(requantize(acc[l] + bias[l], scale[l]) + zero, low), high), of all lanes at once
//
// A row is chosen by what a nest computes (scheduler/loops.h), for targets that have it. Its meaning, its
// native and its portable text have to give the same bits: tests compare the first with the interpreter,
// compiled models and boards the others.
#pragma once

#include <span>

#include "frontend/expr.h"

namespace arenac {

struct Instruction {
  const char* name;
  Type result;
  int elements;  // neighbours in memory that the first operand, a read of their first, stands for; 0: a value
  // Of the elements (or the first value) and the further operands; of two_reads of both reads' elements.
  Scalar (*meaning)(std::span<const Scalar> operands);
  const char* guard;       // of the preprocessor: whether there is the instruction
  const char* parameters;  // in C
  const char* native;      // body of a C function with that result: where there is, and
  const char* portable;    // where there is not; may call NAME_requantize: the row is named behind that
  double cycles;           // where there is
  // Body of a C function of (TYPE *sum, first parameter, const UINT32 *b, int n), or of two_reads of (int32_t
  // *sum, a, b, za, zb, int n), for lanes [l, n) that first does as many as vectors hold, from int l = 0 on,
  // the rest of which are done one by one; null: only one by one.
  const char* over_lanes = nullptr;
  const char* include = nullptr;  // lines of C that stand before all functions
  bool two_reads = false;         // the second operand stands for as many elements
  bool is_apart = false;          // those of the first lie as far apart as the third says
  // Over lanes, so many first operands are those of all lanes, side by side, and what it gives is stored:
  // (TYPE *out, int apart, const A *a, ..., the further operands, int n). 0: as above.
  size_t lane_operands = 0;
};
inline constexpr const char* kIncludeX86 =
    "#if defined(__GNUC__) && defined(__x86_64__)\n#include <immintrin.h>\n#endif\n";

// Whether operand k is a read of the first of some elements.
inline bool reads_elements(const Instruction& row, size_t k) {
  return row.elements > 0 && k < (row.two_reads ? 2 : 1);
}
// The table, in the same order for as long as the program runs: formulas name rows by number.
const std::vector<Instruction>& instructions();

// The row of that name applied to operands, in the order of its `meaning`. A name that no row has is a bug of
// ours and said as one.
Expr instruction(const std::string& name, std::vector<Expr> operands);

}  // namespace arenac
