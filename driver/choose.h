// Which schedule: of those that there are to choose from, by what their plans come to.
//
//   Chosen c = choose(graph, {options, states, target, deadline, times});   // as --optimize, --ram and
//   --pool say c.schedule, c.lifetimes, c.plan
//
// Without a budget the smallest arena that --optimize has: `speed` of whole layers a tenth slower than the
// fastest of these at most, `balanced` of what takes at most --slowdown longer than that. With one (--ram, or
// pools of a given size) the fastest that fits: wholly in the first pool, if what --optimize has does; else
// with the least in the slowest pools. Time is the cycles that codegen/cycles.h foresees.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "codegen/cycles.h"
#include "driver/compile.h"
#include "scheduler/cmsis_nn.h"

namespace arenac {

constexpr double kPlannersTime = 0.1;  // of --time, what the plans may take; the schedules take the rest

struct Chosen {
  Schedule schedule;
  Lifetimes lifetimes;
  Plan plan;
  // Bytes of the arena of whole layers, what --optimize speed takes in one pool; none where this is that
  // arena.
  std::optional<int64_t> layerwise_arena = {};
  std::vector<Rung> rungs = {};  // as in Compilation
};

// A plan of choose(): candidates have problems in common, and are asked for again in one pool.
struct MadePlan {
  Problem problem;
  double effort;
  Plan plan;
};

struct Choosing {
  const CompileOptions& options;
  const std::vector<StateNames>& states;
  const Target& target;
  Deadline deadline;                              // of the searches for schedules
  StageTimes& times;                              // to which those of problems, plans and cycles are added
  std::function<void(int64_t bytes)> found = {};  // called with what each plan of choose() comes to
  std::shared_ptr<ScheduleCycles> cycles = std::make_shared<ScheduleCycles>(target);
  std::shared_ptr<CmsisNnCalls> cmsis_nn = {};  // null: kernels of our own
  std::shared_ptr<std::vector<MadePlan>> made = std::make_shared<std::vector<MadePlan>>();
};

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Bytes of all pools together.
int64_t total_size(const Plan& plan);

// What is chosen is verified, schedule and plan. UserError with Exit::kDoesNotFit says which size would do.
Chosen choose(const Graph& graph, const Choosing& choosing);

}  // namespace arenac
