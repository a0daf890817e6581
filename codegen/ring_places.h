// Where in a ring a kernel reads: a division found once, outside of the loops that do not change it.
//
//   for k: sum += x[(4 * p + k) % 12]           const int p0 = 4 * p % 12;
//                                               if (p0 < 12 - 3) for k: sum += x[p0 + k]
//                                               else             for k: sum += x[(4 * p + k) % 12]
//
// and where a division is a call, none that the axes of the sum change:
//
//   for k: const int p0 = (p + k + 2) % 3;      const int start_p0 = (p + 2) % 3;
//                                               for k: const int p0 = start_p0 + k < 3 ? start_p0 + k : ...
//
// A ring keeps a few rows of an image, row y in slot y % kept (scheduler/README.md), so every read of one has
// a remainder in its address. In an inner loop that is a division for each term, and an address that no
// compiler makes a vector or a moving pointer of.
//
//   slots    0   1   2   3        rows 4 5 2 3: a window of rows 3 to 5 begins in slot 3 and goes on in slot
//            0
//           [4] [5] [2] [3]       "goes around"; one of rows 2 and 3 does not
#pragma once

#include <map>

#include "codegen/scheduled_nest.h"
#include "codegen/stmt_builder.h"

namespace arenac {

// The index of the axis that moves the places of the body least; what is outside of it moves by whole rows.
// Their count: none does.
size_t moves_least(const Expr& body, const std::vector<int>& axes);

// A body with names for places that stay the same for all of a block and for all of the last of its axes.
struct PlacedBody {
  Expr body;
  std::multimap<int, Let> found;  // per reduced axis: what its loop begins with
  int count;                      // of names
};
// Of the nest's body; puts the places that none of the axes moves.
PlacedBody with_places(const ScheduledNest& nest, StmtBuilder& at, const std::vector<int>& axes);

// A body and when it may stand for another; empty: always.
struct UnwoundBody {
  Expr body, whole;
};
// The body with its places as they are while the `inner` axes and the pixels of a tile do not go around them.
UnwoundBody within_rings(const ScheduledNest& nest, StmtBuilder& at, const PlacedBody& placed,
                         const std::vector<int>& inner, int tile);

}  // namespace arenac
