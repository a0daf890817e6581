#include "codegen/constant_pools.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "codegen/c_text.h"
#include "frontend/error.h"
#include "frontend/nearest.h"

namespace arenac {
namespace {

// How many points of the nest read the operand: all in its body, those of a result behind it. A loop that
// keeps a value in a register reads it less often; what counts is the comparison with other constants.
//
//   y[m, p] = sum(k) w[m, k] * x[k, p] + b[m]       w: m * k * p points       b: m * p
double points_reading(const Nest& nest, int operand) {
  const auto reads = [&](const Expr& e) { return e->op == Op::kRead && e->index == operand; };
  double of_result = 1, all = 1;
  for (const Axis& axis : nest.axes) {
    all *= static_cast<double>(axis.extent);
    if (!axis.reduced) of_result *= static_cast<double>(axis.extent);
  }
  return (any_of(nest.body, reads) ? all : 0) +
         (!nest.finish.empty() && any_of(nest.finish, reads) ? of_result : 0);
}

// Per constant how many elements a run reads for each byte that it takes: what room in fast memory is given
// by, as a load of a byte takes what one of four takes. A constant that several steps read has the sum.
std::vector<double> reads_of(const Weights& weights, const Schedule& schedule) {
  std::vector<double> reads(weights.all.size());
  const std::vector<int64_t> trips = iterations_of(schedule.steps);
  for (size_t s = 0; s < schedule.steps.size(); ++s) {
    const Node& node = *schedule.steps[s].node;
    if (schedule.steps[s].kind != StepKind::kRun) continue;
    for (size_t k = 0; k < node.reads.size(); ++k) {
      const auto at = weights.of_tensor.find(node.reads[k]);
      if (at == weights.of_tensor.end()) continue;
      double points = 0;
      const Tensor& tensor = schedule.graph->tensors[node.reads[k]];
      if (const auto* nests = std::get_if<Nests>(&node.body))
        for (const Nest& nest : *nests) points += points_reading(nest, static_cast<int>(k));
      else
        points = static_cast<double>(element_count(tensor.shape));  // a C kernel
      reads[static_cast<size_t>(at->second)] +=
          points / static_cast<double>(bytes_of(tensor)) * static_cast<double>(trips[s]);
    }
  }
  return reads;
}

[[noreturn]] void no_room(const Weight& weight, const Schedule& schedule,
                          const std::vector<ConstantPool>& allowed) {
  std::string pools;
  for (const ConstantPool& each : allowed)
    pools += fmt::format("{}{} ({} bytes{})", pools.empty() ? "" : ", ", each.name(), *each.pool.capacity,
                         each.of_others > 0 ? fmt::format(" beside {} of other models", each.of_others) : "");
  throw UserError(fmt::format("{}: constant '{}' of {} bytes finds no room in {}\n"
                              "  a --pool of kind=constants without a size takes what the others cannot",
                              schedule.graph->name, c_comment(schedule.graph->tensors[weight.tensor].name),
                              weight.bytes.size(), pools),
                  Exit::kDoesNotFit);
}

// Per constant the pool that a pin names; -1: none does.
// Constants of the same bytes are one and lie in one place, so that two pins of them have to agree.
std::vector<int> pinned(const Weights& weights, const Schedule& schedule, const ConstantPools& pools) {
  std::vector<int> pool_of(weights.all.size(), -1);
  for (const Pin& pin : pools.pins) {
    const int pool =
        static_cast<int>(std::ranges::find(pools.pools, pin.pool, &ConstantPool::name) - pools.pools.begin());
    for (const int weight : named_by(pin, weights, *schedule.graph)) {
      int& own = pool_of[static_cast<size_t>(weight)];
      if (own >= 0 && own != pool)
        throw UserError(fmt::format("--pin {}={}: its bytes are also those of a constant pinned to {}",
                                    pin.tensor, pin.pool, pools.pools[static_cast<size_t>(own)].name()),
                        Exit::kUsage);
      own = pool;
    }
  }
  return pool_of;
}

// A blob for each pool that is named, in their order, which is from fast to slow; without pools one for all.
std::vector<Blob> blobs_of(const ConstantPools& in) {
  if (in.pools.empty()) return {{.align = kConstantAlign}};
  std::vector<Blob> blobs;
  for (const ConstantPool& each : in.pools)
    blobs.push_back({"weights_" + each.name(), "CONST_" + upper_case(each.name()),
                     each.copied ? "" : each.section, each.copied ? each.name() : "",
                     std::max<int64_t>(each.pool.align, kConstantAlign)});
  return blobs;
}

// Those that are pinned first, then those that are read most: into the first pool with room. Greedy by
// density, the usual heuristic for a knapsack (Dantzig 1957), and first fit over pools. Constants of one
// density keep the order of their numbers, so that a build is the same every time.
//
//   reads of an element    conv1 2,304    conv2 576    dense 1
//   itcm, 16K              [conv1] [conv2]                         dense takes 40,960
//   qspi                                               [dense]
void choose_blobs(Weights& weights, const Schedule& schedule, const ConstantPools& in) {
  const std::vector<double> reads = reads_of(weights, schedule);
  const std::vector<int> pins = pinned(weights, schedule, in);
  std::vector<size_t> order(weights.all.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](size_t k) { return std::pair(pins[k] < 0, -reads[k]); });
  std::vector<int64_t> left;
  for (const ConstantPool& each : in.pools) left.push_back(each.pool.capacity.value_or(INT64_MAX));
  for (size_t k : order) {
    Weight& weight = weights.all[k];
    const size_t first = pins[k] < 0 ? 0 : static_cast<size_t>(pins[k]),
                 end = pins[k] < 0 ? in.pools.size() : first + 1;
    // A pinned one has a single pool to look at.
    for (weight.blob = first; weight.blob < end && weights.room_for(weight) > left[weight.blob];)
      ++weight.blob;
    if (weight.blob == end) no_room(weight, schedule, {in.pools.begin() + first, in.pools.begin() + end});
    left[weight.blob] -= weights.room_for(weight);
  }
}

}  // namespace

// Several tensors may have one name, or one weight several tensors.
std::set<int> named_by(const Pin& pin, const Weights& weights, const Graph& graph) {
  std::set<int> found;
  std::vector<std::string> names;
  for (const auto& [id, weight] : weights.of_tensor) {
    names.push_back(graph.tensors[id].name);
    if (names.back() == pin.tensor) found.insert(weight);
  }
  if (found.empty())
    throw UserError(fmt::format("--pin {}={}: no constant of the compiled model has this name{}", pin.tensor,
                                pin.pool, did_you_mean(pin.tensor, names)),
                    Exit::kUsage);
  return found;
}

// Offsets follow the order of constants and not of choice: a .bin changes little where a pool does.
void place_constants(Weights& weights, const Schedule& schedule, const ConstantPools& pools) {
  weights.blobs = blobs_of(pools);
  if (!pools.pools.empty()) choose_blobs(weights, schedule, pools);
  for (Weight& weight : weights.all) {
    Blob& blob = weights.blobs[weight.blob];
    weight.offset = blob.total;
    blob.total += weights.room_for(weight);
  }
  for (size_t k = 1; k < weights.blobs.size(); ++k)
    weights.blobs[k].begin = weights.blobs[k - 1].begin + weights.blobs[k - 1].total;
}

}  // namespace arenac
