// The comment above a kernel: its formula and what its loops run over.
//
//   /* conv1 (Conv):
//      out[0, m, y, x] = max(acc + x2[m], 0)
//      acc = sum(c, ky, kx) x1[0, c, y + ky - 1, x + kx - 1] * x0[m, c, ky, kx]
//      where 0 <= y + ky - 1 < 16, 0 <= x + kx - 1 < 16
//      m < 16, y < 16, x < 16, c < 8, ky < 3, kx < 3
//      one call: y = t0, x = 2 * t1 + dx, dx < 2 */
#pragma once

#include <string>
#include <vector>

#include "scheduler/loops.h"

namespace arenac {

// Of the axes of a whole nest, each of its own: n, m, y, x, c, ky, kx where it slides a window over images;
// else i, j, ... of the output and k, ... of what is reduced.
std::vector<std::string> axis_names(const Nest& nest);

// Of the loops over a flat nest made of a part of that one: "yx" is y and x as one, "dx" are the few x of a
// chunk, "x_rest" remainders of x where "x" are its quotients.
std::vector<std::string> loop_names(const Nest& whole, const Nest& part, const FlatNest& flat);

// The lines of the comment on nest number k of a step. `operands` are the names of the pointers in the C.
std::vector<std::string> kernel_comment(const Schedule& schedule, size_t step, size_t k,
                                        const std::vector<std::string>& operands);

}  // namespace arenac
