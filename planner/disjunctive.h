// Exact search for a few buffers with any of the problem's features.
//
// Two buffers whose lives meet are a disjunction: a is far enough above b, or b far enough above a, each a
// difference constraint offset(a) - offset(b) >= distance. Any set of such constraints, with alignments and
// fixed offsets, has a least solution (Balas 1969 for the machine scheduling of the same form). The search
// keeps lowest and highest offsets under the constraints chosen so far, chooses where one side has become
// impossible, and branches on a disjunction that the lowest offsets violate. If they violate none they are a
// plan.
#pragma once

#include <vector>

#include "planner/strip_search.h"

namespace arenac {

struct Disjunctive {
  struct Item {
    int64_t size = 0, align = 1;
    int64_t fixed = -1;  // the offset, or -1
  };
  // offset(a) <= offset(b) + below, or offset(a) >= offset(b) + above.
  struct Disjunction {
    int a = 0, b = 0;
    int64_t below = 0, above = 0;
  };
  std::vector<Item> items;
  std::vector<Disjunction> disjunctions;
};

struct DisjunctiveFit {
  Verdict verdict = Verdict::kUnknown;
  std::vector<int64_t> offsets;  // per item, if it fits
  int64_t work = 0;
};

DisjunctiveFit fits(const Disjunctive& problem, int64_t capacity, const Effort& effort);

}  // namespace arenac
