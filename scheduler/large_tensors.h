// An order by the large tensors alone: what small ones need hardly counts, but each of them that may be there
// or not doubles the states of a search.
//
//   time ── embed1 ─ 128 ─────────┐     Of some hundred kilobytes 128 bytes here and there are nothing: the
//    │                            ▼     search without them sees one chain. Each embed then runs just before
//    ├───── embed2 ─ 128 ─────┐  conv1  what reads it.
//    :                        ▼
//   image ── conv0 ── 64 K ── conv2 ─ ...
#pragma once

#include <optional>

#include "scheduler/order.h"

namespace arenac {

// The problem as if tensors of fewer than `least` bytes took none: no order of `problem` has a lower peak
// than the best one has here. Nothing where there are no such tensors.
std::optional<OrderProblem> of_large_tensors(const OrderProblem& problem, int64_t least);

// `order` with the operators whose results are all smaller than `least` bytes as late as they can run.
std::vector<int> with_small_late(const OrderProblem& problem, const std::vector<int>& order, int64_t least);

}  // namespace arenac
