// The innermost statements of a sum: what its terms at one point of the reduced axes, or at some side by
// side, add to the accumulators of all lanes and pixels.
//
//   const float v0 = x[p], v1 = x[p + 1];               what does not depend on the lane
//   for each lane l:
//     const float v2 = w[k + l];                        what does not depend on the pixel
//     acc0[l] += v0 * v2, acc1[l] += v1 * v2
//
// Here is where nearly all of a network's time goes, so each way that a processor multiplies has its
// statements, by the plan's ByteProducts. All of them give the same bits: sums of integers wrap and can be
// added in any order, and of floats each accumulator adds its terms one after the other.
#pragma once

#include "codegen/scheduled_nest.h"
#include "codegen/stmt_builder.h"
#include "codegen/sums.h"

namespace arenac {

// One term.
void add_term(const ScheduledNest& nest, StmtBuilder& at, const Sums& sums, const Expr& term);

// Whether terms along reduced axis a, of which no sums have parts, are added some at once.
bool has_terms_along(const ScheduledNest& nest, StmtBuilder& at, int a, const Sums& sums, const Expr& term);

// All of them: kBytes at once (is_along_sum()), or of halves that are converted at once.
void add_terms_along(const ScheduledNest& nest, StmtBuilder& at, int a, const Sums& sums, const Expr& term);

// Whether there are such (shared_zeros() in lower_sums.h); what they add along reduced axis a for each lane.
bool has_shared_zeros(const ScheduledNest& nest, StmtBuilder& at);
void add_shared_zeros(const ScheduledNest& nest, StmtBuilder& at, int a, const Sums& sums);

}  // namespace arenac
