// The functions behind kPlanners, one file each.
#pragma once

#include "planner/planners.h"

namespace arenac {

Plan portfolio(const Problem& problem, const Search& search);

Plan tflite_by_size(const Problem& problem, const Search& search);
Plan tflite_by_breadth(const Problem& problem, const Search& search);
Plan tflite_micro(const Problem& problem, const Search& search);
Plan tflite_objects_in_order(const Problem& problem, const Search& search);
Plan tflite_objects_equality(const Problem& problem, const Search& search);
Plan tflite_objects_by_breadth(const Problem& problem, const Search& search);
Plan tflite_objects_by_size_distance(const Problem& problem, const Search& search);
Plan tflite_objects_min_cost_flow(const Problem& problem, const Search& search);
Plan executorch_greedy(const Problem& problem, const Search& search);
Plan executorch_in_order(const Problem& problem, const Search& search);
Plan glow_pool(const Problem& problem, const Search& search);
Plan tvm_by_size(const Problem& problem, const Search& search);
Plan tvm_by_conflicts(const Problem& problem, const Search& search);
Plan tvm_hill_climb(const Problem& problem, const Search& search);
Plan xla_by_size(const Problem& problem, const Search& search);
Plan xla_by_lifetime(const Problem& problem, const Search& search);
Plan xla_best_of_both(const Problem& problem, const Search& search);
Plan xla_repacker(const Problem& problem, const Search& search);
Plan minimalloc(const Problem& problem, const Search& search);
Plan idealloc(const Problem& problem, const Search& search);
Plan telamalloc(const Problem& problem, const Search& search);
Plan somas(const Problem& problem, const Search& search);
Plan triton_colouring(const Problem& problem, const Search& search);
Plan merge_alloc_size_first(const Problem& problem, const Search& search);
Plan merge_alloc_hot_chunks(const Problem& problem, const Search& search);
Plan glow_bidirectional(const Problem& problem, const Search& search);
Plan iree(const Problem& problem, const Search& search);
Plan glow_linear(const Problem& problem, const Search& search);
Plan online_worst_fit(const Problem& problem, const Search& search);
Plan by_area_first_fit(const Problem& problem, const Search& search);
Plan by_area_best_fit(const Problem& problem, const Search& search);
Plan by_duration_first_fit(const Problem& problem, const Search& search);
Plan by_size_first_fit(const Problem& problem, const Search& search);
Plan sekiyama(const Problem& problem, const Search& search);

}  // namespace arenac
