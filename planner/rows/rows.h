// The functions behind kPlanners, one file each.
#pragma once

#include "planner/planners.h"

namespace arenac {

Plan portfolio(const Problem& problem, const Search& search);

Plan tflite_by_size(const Problem& problem, const Search& search);
Plan tflite_by_breadth(const Problem& problem, const Search& search);
Plan best_fit_in_order(const Problem& problem, const Search& search);
Plan sekiyama(const Problem& problem, const Search& search);

}  // namespace arenac
