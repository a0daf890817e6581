#include "codegen/group_copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "codegen/c_text.h"
#include "codegen/constant_pools.h"
#include "codegen/cycles.h"
#include "frontend/error.h"
#include "planner/packing.h"
#include "planner/planners.h"

namespace arenac {
namespace {

// A constant that the steps [begin, end) could read in a copy.
struct Candidate {
  int begin, end;
  int weight;  // of Weights::all
  bool pinned;
  double saved = 0;  // cycles of a run, without those of copying
};

// The groups, and each step outside of them by itself: one after the other.
std::vector<Interval> units_of(const Schedule& schedule) {
  std::vector<Interval> units;
  auto group = schedule.groups.begin();
  for (int64_t s = 0; s < static_cast<int64_t>(schedule.steps.size()); s = units.back().end) {
    const bool begins = group != schedule.groups.end() && group->begin == s;
    units.push_back({s, begins ? group->end : s + 1});
    if (begins) ++group;
  }
  return units;
}

// What copies would save. A candidate is a constant in a unit, a group or a step: copies live as long as
// that, so units compete for nothing but their own time, and the choice is one knapsack a unit.
class Chooser {
 public:
  Chooser(const Schedule& schedule, const Weights& weights, const ConstantPools& constants,
          const Target& target)
      : schedule_(schedule),
        weights_(weights),
        constants_(constants),
        group_(*constants.group),
        costs_(target.costs),
        pinned_(weights.all.size()),
        iterations_(iterations_of(schedule.steps)) {
    for (const Pin& pin : group_.pins)
      for (const int weight : named_by(pin, weights, *schedule.graph))
        pinned_[static_cast<size_t>(weight)] = true;
  }

  // Those that pay or are pinned; `waits` as waits_for_constants() returns them. The best of each unit first.
  // Saved by a copy: what the reads of all steps of the unit wait, less what copying takes. A constant that
  // two steps of a group read is one candidate.
  std::vector<Candidate> candidates(const std::vector<std::vector<double>>& waits) const {
    std::vector<Candidate> all;
    for (const Interval& unit : units_of(schedule_)) {
      // Per constant, of all steps of the unit.
      std::map<int, double> saved;
      for (auto s = static_cast<size_t>(unit.begin); s < static_cast<size_t>(unit.end); ++s)
        for (size_t k = 0; k < waits[s].size(); ++k)
          if (const auto at = weights_.of_tensor.find(schedule_.steps[s].node->reads[k]);
              at != weights_.of_tensor.end())
            saved[at->second] += waits[s][k];
      std::vector<Candidate> own;
      for (const auto& [weight, cycles] : saved) {
        const Candidate c = {static_cast<int>(unit.begin), static_cast<int>(unit.end), weight,
                             pinned_[static_cast<size_t>(weight)], cycles - of_copying(unit.begin, weight)};
        if (c.pinned || c.saved > 0) own.push_back(c);
      }
      std::ranges::stable_sort(own, {}, [&](const Candidate& c) {
        return std::pair(!c.pinned, -c.saved / static_cast<double>(bytes_of(c.weight)));
      });
      all.insert(all.end(), own.begin(), own.end());
    }
    return all;
  }

  // How much longer a read of the constant takes where it lies than in the copy.
  double wait_for(TensorId id) const {
    const auto at = weights_.of_tensor.find(id);
    return at == weights_.of_tensor.end() ? 0
                                          : static_cast<double>(std::max<int64_t>(wait_of(at->second), 0));
  }

  int64_t bytes_of(int weight) const {
    return static_cast<int64_t>(weights_.all[static_cast<size_t>(weight)].bytes.size());
  }
  const std::string& name_of(int weight) const {
    return schedule_.graph->tensors[weights_.all[static_cast<size_t>(weight)].tensor].name;
  }

 private:
  // Of pools of constants and without any of the flash, as many cycles more than in the pool of the copies.
  // Memories in front of that pool are as fast unless something is said of them, those behind it, and flash,
  // wait kUsualWait.
  int64_t wait_of(int weight) const {
    const size_t home = weights_.all[static_cast<size_t>(weight)].blob;
    const bool faster = !constants_.pools.empty() && home < group_.behind;
    const auto said = constants_.pools.empty() ? std::nullopt : constants_.pools[home].wait;
    return said.value_or(faster ? 0 : kUsualWait) - group_.wait;
  }

  // Copying reads every word once, and waits for it as a kernel would.
  double of_copying(int64_t step, int weight) const {
    return static_cast<double>(iterations_[static_cast<size_t>(step)]) *
           (cycles_of_copying(bytes_of(weight), costs_) +
            static_cast<double>(ceil_div(bytes_of(weight), kWordBytes) *
                                std::max<int64_t>(wait_of(weight), 0)));
  }

  const Schedule& schedule_;
  const Weights& weights_;
  const ConstantPools& constants_;
  const GroupPool& group_;
  const Costs& costs_;
  std::vector<bool> pinned_;  // per constant
  const std::vector<int64_t> iterations_;
};

// What finds no room, in words.
std::string words_of(const Candidate& c, const Chooser& chooser, const Pool& pool) {
  return fmt::format("constant '{}' of {} bytes for steps {} to {} finds no room in the {} of pool '{}'",
                     c_comment(chooser.name_of(c.weight)), chooser.bytes_of(c.weight), c.begin, c.end - 1,
                     *pool.capacity, pool.name);
}

// Candidates that the pool holds, and what it does not in words.
struct Fitting {
  std::vector<Candidate> chosen = {};
  std::string left_out = {};
};

// Of candidates in order, of a unit the best first. Units are apart in time, so that each has the whole pool.
// Greedily by cycles saved for a byte; all of a unit's copies live at once, so their sizes add up, and
// offsets can always be found for what fits in sum.
Fitting that_fit(const std::vector<Candidate>& all, const Chooser& chooser, const Pool& pool) {
  Fitting fitting;
  int unit = -1, out = 0;
  int64_t left = 0;
  for (const Candidate& c : all) {
    if (c.begin != unit) unit = c.begin, left = pool.capacity.value_or(std::numeric_limits<int64_t>::max());
    const int64_t room = round_up(chooser.bytes_of(c.weight), pool.align);
    if (room > left) {
      if (c.pinned) throw UserError("--pin: " + words_of(c, chooser, pool), Exit::kDoesNotFit);
      // The first is named, the others counted.
      if (out++ == 0) fitting.left_out = words_of(c, chooser, pool);
      continue;
    }
    left -= room;
    fitting.chosen.push_back(c);
  }
  if (all.empty())
    fitting.left_out = fmt::format("no constant is read so often that a copy in pool '{}' pays", pool.name);
  if (out > 1) fitting.left_out += fmt::format(", and {} more", out - 1);
  return fitting;
}

}  // namespace

// The plan of the rest stays as it is: copies are a problem of their own, in one pool behind the others. The
// schedule is lowered for the counts alone, and again afterwards by whoever emits it: reads of a copy are the
// same kernels.
WithCopies with_group_copies(const Schedule& schedule, Lifetimes lifetimes, Plan plan,
                             const EmitOptions& options, const Target& target) {
  WithCopies all = {std::move(lifetimes), std::move(plan)};
  if (!options.constants.group) return all;
  const Weights weights = collect_weights(schedule, options);
  const Chooser chooser(schedule, weights, options.constants, target);
  const std::vector<Candidate> candidates = chooser.candidates(waits_for_constants(
      lower(schedule, all.lifetimes, all.plan), target, [&](TensorId id) { return chooser.wait_for(id); }));
  Problem copies = {.pools = {options.constants.group->pool}, .buffers = {}};
  Pool& pool = copies.pools[0];
  // Kernels may read a copy by vectors, as they read the constant.
  pool.align = std::max<int64_t>({pool.align, target.align, kConstantAlign});
  Fitting fitting = that_fit(candidates, chooser, pool);
  all.left_out = std::move(fitting.left_out);
  for (const Candidate& c : fitting.chosen) {
    copies.buffers.push_back(
        {chooser.name_of(c.weight), chooser.bytes_of(c.weight), pool.align, c.begin, c.end});
    all.lifetimes.tensor_of.push_back(weights.all[static_cast<size_t>(c.weight)].tensor);
    all.saved += c.saved;
  }
  const Plan placed = arenac::plan(copies);
  const int number = static_cast<int>(all.lifetimes.problem.pools.size());
  all.lifetimes.problem.pools.push_back(pool);
  all.plan.pools.push_back(placed.pools[0]);
  for (size_t b = 0; b < copies.buffers.size(); ++b) {
    copies.buffers[b].pools = {number};
    all.lifetimes.problem.buffers.push_back(copies.buffers[b]);
    all.plan.placements.push_back({number, placed.placements[b].offset});
  }
  return all;
}

// A constant has no buffer of its own, so one that is named after it is a copy.
bool is_copy(const Graph& graph, const Lifetimes& lifetimes, size_t buffer) {
  const TensorId id = lifetimes.tensor_of[buffer];
  return graph.tensors[id].constant &&
         lifetimes.buffer_of[static_cast<size_t>(id)] != static_cast<int>(buffer);
}

}  // namespace arenac
