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

// How many points of the nest read the operand: all in its body, those of a result behind it.
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

// Per constant how often a run reads an element of it.
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
      const auto elements = static_cast<double>(element_count(schedule.graph->tensors[node.reads[k]].shape));
      if (const auto* nests = std::get_if<Nests>(&node.body))
        for (const Nest& nest : *nests) points += points_reading(nest, static_cast<int>(k));
      else
        points = elements;  // a C kernel
      reads[static_cast<size_t>(at->second)] += points / elements * static_cast<double>(trips[s]);
    }
  }
  return reads;
}

[[noreturn]] void no_room(const Weight& weight, const Schedule& schedule, const std::vector<Pool>& allowed) {
  std::string pools;
  for (const Pool& pool : allowed)
    pools += fmt::format("{}{} ({} bytes)", pools.empty() ? "" : ", ", pool.name, *pool.capacity);
  throw UserError(fmt::format("{}: constant '{}' of {} bytes finds no room in {}\n"
                              "  a --pool of kind=constants without a size takes what the others cannot",
                              schedule.graph->name, c_comment(schedule.graph->tensors[weight.tensor].name),
                              weight.bytes.size(), pools),
                  Exit::kDoesNotFit);
}

// Per constant the pool that a pin names; -1: none does.
std::vector<int> pinned(const Weights& weights, const Schedule& schedule, const ConstantPools& pools) {
  std::vector<int> pool_of(weights.all.size(), -1);
  for (const Pin& pin : pools.pins) {
    const int pool =
        static_cast<int>(std::ranges::find(pools.pools, pin.pool, &Pool::name) - pools.pools.begin());
    bool found = false;
    std::vector<std::string> names;
    for (const auto& [id, weight] : weights.of_tensor) {
      names.push_back(schedule.graph->tensors[id].name);
      if (names.back() != pin.tensor) continue;
      int& own = pool_of[static_cast<size_t>(weight)];
      if (own >= 0 && own != pool)
        throw UserError(fmt::format("--pin {}={}: its bytes are also those of a constant pinned to {}",
                                    pin.tensor, pin.pool, pools.pools[static_cast<size_t>(own)].name),
                        Exit::kUsage);
      own = pool;
      found = true;
    }
    if (!found)
      throw UserError(fmt::format("--pin {}={}: no constant of the compiled model has this name{}",
                                  pin.tensor, pin.pool, did_you_mean(pin.tensor, names)),
                      Exit::kUsage);
  }
  return pool_of;
}

}  // namespace

void place_constants(Weights& weights, const Schedule& schedule, const ConstantPools& in) {
  const std::vector<Pool> pools = in.pools.empty() ? std::vector<Pool>{{}} : in.pools;
  weights.blobs.clear();
  for (size_t k = 0; k < pools.size(); ++k) {
    const int64_t align = std::max<int64_t>(pools[k].align, kConstantAlign);
    if (in.pools.empty())
      weights.blobs.push_back({.align = align});
    else
      weights.blobs.push_back(
          {"weights_" + pools[k].name, "CONST_" + upper_case(pools[k].name), in.sections[k], align});
  }
  const std::vector<double> reads = reads_of(weights, schedule);
  const std::vector<int> pins = pinned(weights, schedule, in);
  std::vector<size_t> order(weights.all.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](size_t k) { return std::pair(pins[k] < 0, -reads[k]); });
  for (size_t k : order) {
    Weight& weight = weights.all[k];
    const size_t first = pins[k] < 0 ? 0 : static_cast<size_t>(pins[k]),
                 end = pins[k] < 0 ? pools.size() : first + 1;
    const auto fits = [&] {
      return weights.blobs[weight.blob].total + weights.room_for(weight) <=
             pools[weight.blob].capacity.value_or(INT64_MAX);
    };
    for (weight.blob = first; weight.blob < end && !fits();) ++weight.blob;
    if (weight.blob == end) no_room(weight, schedule, {pools.begin() + first, pools.begin() + end});
    weights.blobs[weight.blob].total += weights.room_for(weight);
  }
  std::vector<int64_t> at(pools.size());
  for (Weight& weight : weights.all)
    weight.offset = std::exchange(at[weight.blob], at[weight.blob] + weights.room_for(weight));
  for (size_t k = 1; k < pools.size(); ++k)
    weights.blobs[k].begin = weights.blobs[k - 1].begin + weights.blobs[k - 1].total;
}

}  // namespace arenac
