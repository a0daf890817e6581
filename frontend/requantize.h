// Quantised results of integers without a float:
//
//   int8(round(((float)acc * s[m] + b[m]) / sy) + z)           a convolution between dequantised operands
//   int8(min(max(requantize(acc + b'[m], r[m]) + z, -128), 127))      b' = b / s, r = s / sy
//
//   int8(round((sigmoid((float)(x - z) * s)) / sy) + zy)       any function of one 8-bit number
//   table[x + 128]
#pragma once

#include "frontend/graph.h"

namespace arenac {

// The graph in which a quantised result (a rounded float32 that becomes an integer of 16 bits or less) is
// one product and integer arithmetic, wherever it is that of
//
//   one integer, scaled and shifted by constants   requantize(integer + shift, scale)
//   several such, added                            (sum of integer * multiplier + shift) / 2^k, in 64 bits
//   the integer itself, in the end                 that integer: dequantised and quantised alike, nothing is
//   left an 8-bit integer, by any formula               a table of 256
//
// and clamped on the way; and a greatest or least element is found before it is dequantised. One integer that
// is scaled gives what the float form gives, but for where that rounds in between (dequantised, then
// divided). Sums of several are exact to 2^-17 of a step and rounded once, to nearest even: the result
// differs from the float form by one step at most, and only so near to a tie. What does not fit stays as it
// is.
//
// A shift that is a whole number of scales is added to the integer where the result stays float, too: no sum
// of a product and a number is left that a fused multiply-add would round otherwise.
Graph with_requantization(Graph graph);

}  // namespace arenac
