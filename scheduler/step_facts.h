// What is known of steps before any are grouped: which rows each slab of them touches, which slabs pull
// which, how long storages live.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "scheduler/deadline.h"
#include "scheduler/slabs.h"

namespace arenac {

constexpr int kLongestGroup = 96;  // steps

// A step cut into slabs, and the slabs of other steps that each of these needs. Producers are steps.
struct StepInSlabs {
  Slabs slabs;              // count 0: cannot be in a group
  std::vector<Pull> pulls;  // of what it reads
  std::vector<Pull> waits;  // of those that touch what it overwrites
};

// What chunks.cc has worked out: groups that are formed have most of their windows in common.
struct KnownWindows {
  using Reads = std::tuple<int, TensorId, int64_t, std::vector<int>>;  // a step, what it reads, chunks, axes
  std::map<Reads, std::vector<Interval>> seen;                         // the columns of each chunk
  std::map<size_t, int64_t> kept_by_turns;  // elements that a ring keeps, by a hash of all that says so
};

// What grouping asks about a schedule of whole nodes, one a step.
struct StepFacts {
  std::vector<StepInSlabs> steps;
  std::vector<Rows> columns;              // per storage, of a row
  std::vector<Rows> rows;                 // per storage
  std::vector<TensorId> source;           // per tensor: itself, or what a step writes and it is a view of
  std::vector<int> writer;                // per source: its step; -1: none
  std::vector<int> last_reader;           // per source: a step, or the number of steps for outputs; -1: none
  std::vector<std::vector<int>> readers;  // per source: steps
  std::vector<std::vector<TensorId>> overwritten;  // per source: earlier ones that lie in some of its bytes
  std::vector<Interval> live;                      // per storage: steps
  std::vector<int64_t> bytes;                      // per storage
  std::vector<bool> callers;                       // per storage: that of an input or output
  std::vector<bool> one_by_one;                    // per step: it only runs row by row
  LimitsHit limits_hit = {};                       // steps that stay whole for what their rows touch
  std::shared_ptr<KnownWindows> known = std::make_shared<KnownWindows>();
};

// A producer is pulled as far as any of its readers asks.
void add(std::vector<Pull>& pulls, Pull pull);

// Whether slab t pulls as far as slab t.
bool in_turn(const Pull& pull);

// Whether the first slab of a reader asks for all of a producer.
bool wants_whole(const Pull& pull, const StepFacts& facts);

StepFacts step_facts(const Graph& graph, const std::vector<Step>& steps, const std::vector<Layout>& layouts);

// The steps [begin, end) with the slabs of those in `strips` taken so many at a time; nothing where they
// cannot be. What they pull is within them.
std::optional<std::vector<StepInSlabs>> in_strips(int begin, int end, const std::map<int, int64_t>& strips,
                                                  const StepFacts& facts, const std::vector<Step>& steps);

// The same with the slabs of every step taken so many at a time that there are at most `turns` of them, as
// far as that comes out even; those that keep many times more stay whole.
StepFacts in_turns(StepFacts facts, int64_t turns, const std::vector<Step>& steps);

}  // namespace arenac
