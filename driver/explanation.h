// What keeps an arena as large as it is, in words.
//
//   step    1  conv2 (Conv): row by row in g1
//   step    2  conv3 (Conv): whole; row by row with --ram 2368
//   step    3  softmax (Softmax): whole: a row of 'p' reads all 49 rows of 'e': max x0[i1]
//
//   4,352 of the 4,352 bytes of pool 'arena' are in use at step 2: conv3 (Conv)
//            2,304  e, written by step 2, read by step 3
//            2,048  c, 3 of 16 rows, written by step 1, read by step 2
//
//   Less arena, at the price of cycles:
//            2,368  --ram 2368: 6.9 % more cycles
#pragma once

#include <string>

#include "driver/compile.h"

namespace arenac {

// Of a compilation with its rungs. Ends with a line feed.
std::string explanation(const Compilation& compilation);

}  // namespace arenac
