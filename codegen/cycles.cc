#include "codegen/cycles.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "codegen/fetches.h"
#include "codegen/group_copies.h"
#include "codegen/kernel_cycles.h"
#include "codegen/operation_costs.h"
#include "codegen/stage_runs.h"
#include "scheduler/cmsis_nn.h"

namespace arenac {
namespace {

constexpr int64_t kMostRuns = 128;     // of a stage that are looked at
constexpr double kElementOfCall = 12;  // operations of a C kernel for each element that it reads or writes

// A nest of a step and its cycles, run after run.
struct StepNest {
  const LoweredNest& lowered;
  KernelCycles cycles;
};

// Of one run of a step outside of groups or, at a slab and chunk, of a stage.
double cycles_of_run(std::vector<StepNest>& nests, const Costs& costs, int64_t slab, int64_t chunk) {
  const int64_t iterations[] = {slab, chunk};
  static_assert(kSlabSymbol == 0 && kChunkSymbol == 1);
  double sum = costs.call;
  for (StepNest& nest : nests)
    if (nest.lowered.runs_at(slab, chunk)) sum += nest.cycles.run(iterations);
  return sum;
}

// Of a step; of a stage that runs its chunks so often. Of very many, only some are looked at: each stands for
// the `stride` from it on. A stride that has a factor in common with the number of chunks would look at some
// chunks of a slab and never at others, such as the first, which alone does the nests that are not cut.
double cycles_of_nests(const std::vector<LoweredNest>& lowered, const Costs& costs, const Stage* stage,
                       const std::vector<int64_t>& times, const std::vector<double>& between,
                       const Waiting& waiting = {}) {
  std::vector<StepNest> nests;
  for (const LoweredNest& nest : lowered)
    nests.push_back({nest, KernelCycles(nest.kernel, costs, between, waiting)});
  if (!stage) return cycles_of_run(nests, costs, 0, 0);
  const auto runs = static_cast<int64_t>(times.size());
  int64_t stride = ceil_div(runs, kMostRuns);
  while (std::gcd(stride, stage->chunks) > 1) ++stride;  // every chunk has its turn
  double sum = 0;
  for (int64_t run = 0; run < runs; run += stride)
    if (const int64_t often = times[static_cast<size_t>(run)]; often > 0)
      sum += static_cast<double>(often * stride) *
             cycles_of_run(nests, costs, run / stage->chunks, run % stage->chunks);
  return sum;
}

// CMSIS-NN by the instructions for each multiply-accumulate that its row says, of cores that take 4 bytes at
// a time; with vectors as many fewer. C kernels (sort, scan) by their elements: they are seldom where the
// time goes.
double cycles_of_call(const Node& node, const Graph& graph, const Costs& costs) {
  const Call& call = std::get<Call>(node.body);
  if (const CmsisNnRow* row = cmsis_nn_row(call))
    return costs.call + row->instructions * costs.add * static_cast<double>(call.macs * kScalarBytes) /
                            static_cast<double>(costs.vector_bytes);
  double elements = 0;
  for (const auto* operands : {&node.reads, &node.writes})
    for (TensorId id : *operands) elements += static_cast<double>(element_count(graph.tensors[id].shape));
  return costs.call + elements * kElementOfCall * costs.add;
}

// Once, of a step that is made of `lowered`.
double cycles_of_step(const Schedule& schedule, size_t s, const std::vector<LoweredNest>& lowered,
                      const StepRuns& runs, const Costs& costs) {
  const Step& step = schedule.steps[s];
  if (step.kind != StepKind::kRun) return 0;
  if (std::holds_alternative<Call>(step.node->body))
    return costs.unit * cycles_of_call(*step.node, *schedule.graph, costs);
  if (!runs_nests(*step.node, *schedule.graph)) return 0;
  return costs.unit *
         cycles_of_nests(lowered, costs, stage_of(schedule, s), runs.times, bytes_between(schedule, s, runs));
}

// Numbers one after another; ranges with their lengths.
// What a memo knows a step by. Ranges begin with their length, so that two lists cannot run into each other.
class Key {
 public:
  void add(int64_t number) { numbers.push_back(number); }
  template <typename T>
  void add_all(const std::vector<T>& all) {
    add(static_cast<int64_t>(all.size()));
    for (const T& one : all) add(static_cast<int64_t>(one));
  }

  std::vector<int64_t> numbers;
};

void add_layout(Key& key, const Layout& layout) {
  key.add(layout.root), key.add(layout.offset), key.add_all(layout.strides);
  const auto& [row, kept, column, columns] = layout.ring;
  key.add(row), key.add(kept), key.add(column), key.add(columns);
  key.add(layout.words.row), key.add(layout.words.rows);
}

void add_loops(Key& key, const LoopPlan& loops) {
  key.add_all(loops.order);
  key.add(loops.vector_axis), key.add(loops.lanes), key.add(loops.tile_axis), key.add(loops.tile);
  key.add(static_cast<int64_t>(loops.sweep)), key.add(static_cast<int64_t>(loops.registers));
  key.add(static_cast<int64_t>(loops.division)), key.add(static_cast<int64_t>(loops.bytes));
}

// What lowered_step() and the counts of runs depend on. A member that is missing here makes costs of one
// schedule those of another: what Layout, LoopPlan and Stage get, these lists get as well. The node is known
// by its address, which is why graphs are kept (graphs_).
std::vector<int64_t> key_of(const Schedule& schedule, const Lifetimes& lifetimes, const Plan& plan, size_t s,
                            const StepRuns& runs) {
  const Node& node = *schedule.steps[s].node;
  Key key;
  // An address is the key of a table here and nothing else: no result depends on how addresses compare.
  key.add(reinterpret_cast<intptr_t>(&node));
  add_layout(key, schedule.layouts[node.writes[0]]);
  for (TensorId id : node.reads) {
    add_layout(key, schedule.layouts[id]);
    key.add(!schedule.graph->tensors[id].constant && share_bytes(lifetimes, plan, id, node.writes[0]));
  }
  const StorageOverlap* overlap = overlap_in_use(schedule, lifetimes, plan, static_cast<int>(s));
  for (const LoopPlan& loops : overlap ? *overlap->loops : schedule.loops[s]) add_loops(key, loops);
  if (const Stage* stage = stage_of(schedule, s)) {
    for (const auto& [axis, width, begin] : stage->nests) key.add(axis), key.add(width), key.add(begin);
    key.add(stage->slabs), key.add(stage->chunks), key.add_all(stage->chunk_axes), key.add_all(runs.times);
  }
  return key.numbers;
}

}  // namespace

double cycles_of(const Kernel& kernel, const Costs& costs, std::span<const int64_t> iterations) {
  return costs.unit * KernelCycles(kernel, costs).run(iterations);
}

// Copies belong to the step that they are made before. In a loop's body they are made in each trip.
std::vector<double> cycles_of(const Lowered& lowered, const Target& target) {
  const Schedule& schedule = lowered.schedule;
  const auto runs = runs_per_step(schedule, target.costs);
  const std::vector<int64_t> iterations = iterations_of(schedule.steps);
  std::vector<double> cycles;
  for (size_t s = 0; s < schedule.steps.size(); ++s)
    cycles.push_back(cycles_of_step(schedule, s, lowered.steps[s], runs[s], target.costs) *
                     static_cast<double>(iterations[s]));
  for (size_t b = 0; b < lowered.lifetimes.tensor_of.size(); ++b)
    if (is_copy(*schedule.graph, lowered.lifetimes, b)) {
      const Buffer& copy = lowered.lifetimes.problem.buffers[b];
      const auto begin = static_cast<size_t>(copy.begin);
      cycles[begin] += cycles_of_copying(copy.size, target.costs) * static_cast<double>(iterations[begin]);
    }
  return cycles;
}

// Word by word, with a loop's turn for each. A loop that stays one of bytes takes more, a DMA controller
// less.
double cycles_of_copying(int64_t bytes, const Costs& costs) {
  return costs.unit * (costs.call + static_cast<double>(ceil_div(bytes, kWordBytes)) *
                                        (costs.load + costs.store + costs.loop));
}

namespace {

// Of a layer by CMSIS-NN, which multiplies each word of its weights, the largest constant, with those of two
// pixels: a read for every 2 * kWordBytes products.
double reads_in_call(const Node& node, size_t operand, const Graph& graph) {
  const Call* call = std::get_if<Call>(&node.body);
  const auto bytes = [&](TensorId id) {
    return graph.tensors[id].constant ? bytes_of(graph.tensors[id]) : 0;
  };
  if (!call || !cmsis_nn_row(*call)) return 0;
  const TensorId largest = *std::ranges::max_element(node.reads, {}, bytes);
  return largest == node.reads[operand] ? static_cast<double>(call->macs) / (2 * kWordBytes) : 0;
}

}  // namespace

std::vector<std::vector<double>> waits_for_constants(const Lowered& lowered, const Target& target,
                                                     const std::function<double(TensorId)>& wait) {
  const Schedule& schedule = lowered.schedule;
  const Graph& graph = *schedule.graph;
  const auto runs = runs_per_step(schedule, target.costs);
  const std::vector<int64_t> iterations = iterations_of(schedule.steps);
  std::vector<std::vector<double>> all(schedule.steps.size());
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    const Node& node = *schedule.steps[s].node;
    if (schedule.steps[s].kind != StepKind::kRun) continue;
    // The wait of one operand is the difference that it makes to the whole: so it is counted where reads are,
    // with loops multiplied out as ever.
    const auto cycles = [&](const Waiting& waiting) {
      return target.costs.unit * cycles_of_nests(lowered.steps[s], target.costs, stage_of(schedule, s),
                                                 runs[s].times, bytes_between(schedule, s, runs[s]), waiting);
    };
    // Of a step that reads several constants, counted once.
    std::optional<double> without;
    for (size_t k = 0; k < node.reads.size(); ++k) {
      const double each = graph.tensors[node.reads[k]].constant ? wait(node.reads[k]) : 0;
      double waits = reads_in_call(node, k, graph) * each;
      if (each > 0 && runs_nests(node, graph)) {
        if (!without) without = cycles({});
        waits += cycles({static_cast<int>(k), each / target.costs.unit}) - *without;
      }
      all[s].push_back(waits * static_cast<double>(iterations[s]));
    }
  }
  return all;
}

// Candidates of one model have most steps in common. Bytes between two runs of a step differ in nearly all of
// them, and matter only by the caches that they pass: those are in the key.
double ScheduleCycles::of(const Schedule& schedule, const Lifetimes& lifetimes, const Plan& plan) {
  const auto runs = runs_per_step(schedule, target_.costs);
  const std::vector<int64_t> iterations = iterations_of(schedule.steps);
  graphs_.insert(schedule.graph);
  double cycles = 0;
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    if (schedule.steps[s].kind != StepKind::kRun || schedule.steps[s].node->writes.empty()) continue;
    std::vector<int64_t> key = key_of(schedule, lifetimes, plan, s, runs[s]);
    for (double bytes : bytes_between(schedule, s, runs[s]))
      key.push_back(caches_passed(bytes, target_.costs));
    const auto [at, fresh] = known_.emplace(std::move(key), 0);
    if (fresh)
      at->second =
          cycles_of_step(schedule, s, lowered_step(schedule, lifetimes, plan, s), runs[s], target_.costs);
    cycles += at->second * static_cast<double>(iterations[s]);
  }
  return cycles;
}

}  // namespace arenac
