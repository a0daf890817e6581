// Groups of equal keys are equal: of random layers, one after the other and twice the same.
#include "scheduler/group_keys.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "frontend/import.h"
#include "frontend/rewrites.h"
#include "scheduler/groups.h"
#include "scheduler/storage.h"
#include "tests/random_layers.h"
#include "tests/seeds.h"

namespace arenac {
namespace {

// What a group comes to, with places in its key for tensors.
struct Outcome {
  bool can_be = false;
  std::vector<std::tuple<size_t, int64_t, int64_t>> rings, overlaps;

  bool operator==(const Outcome&) const = default;
};

Outcome outcome(const std::optional<GroupPlan>& plan, const std::vector<TensorId>& tensors) {
  const auto place = [&](TensorId id) {
    return static_cast<size_t>(std::ranges::find(tensors, id) - tensors.begin());
  };
  Outcome all{plan.has_value(), {}, {}};
  if (!plan) return all;
  for (const auto& [storage, ring] : plan->rings)
    all.rings.emplace_back(place(storage), ring.row * ring.kept, ring.column * ring.columns);
  for (const StorageOverlap& o : plan->overlaps)
    all.overlaps.emplace_back(place(o.above), static_cast<int64_t>(place(o.below)), o.distance);
  std::ranges::sort(all.rings);
  std::ranges::sort(all.overlaps);
  return all;
}

// Groups of which an earlier one has the key.
int repeated_groups(const Graph& graph) {
  const Schedule whole = schedule_layerwise(graph);
  const StepFacts facts = step_facts(graph, whole.steps, whole.layouts);
  const GroupKeys keys(whole, facts, facts.bytes);
  std::map<size_t, Outcome> known;
  int repeated = 0;
  const int count = static_cast<int>(whole.steps.size());
  for (int begin = 0; begin < count; ++begin)
    for (int end = begin + 1; end <= count && facts.steps[end - 1].slabs.count > 0; ++end) {
      const GroupKeys::Key key = keys.of(begin, end);
      const Outcome found = outcome(form_group(whole, facts, begin, end, {}), key.tensors);
      const auto [at, is_new] = known.try_emplace(key.hash, found);
      EXPECT_EQ(at->second, found) << begin << " to " << end << "\n" << dump(whole);
      repeated += !is_new;
    }
  return repeated;
}

TEST(GroupKeys, OfRandomLayersTellGroupsApart) {
  for (unsigned seed = 0; seed < seeds(100); ++seed) {
    SCOPED_TRACE(seed);
    repeated_groups(rewritten(import_text(random_layers(seed)), layerwise_peak));
  }
}

// But for one, which reads more rows.
TEST(GroupKeys, OfTheSameBlocksAreEqual) {
  std::string blocks;
  for (int k = 0; k < 8; ++k)
    blocks += fmt::format(
        "  a{0} = Conv<kernel_shape = [{2}, {2}], pads = [{3}, {3}, {3}, {3}]>(y{0}, w{2})\n  y{1} = "
        "Relu(a{0})\n",
        k, k + 1, k == 4 ? 5 : 3, k == 4 ? 2 : 1);
  const auto zeros = [](const std::string& name, int size) {
    std::string values = "0";
    for (int k = 1; k < 4 * size * size; ++k) values += ", 0";
    return fmt::format("float[2, 2, {0}, {0}] {1} = {{{2}}}", size, name, values);
  };
  const Graph graph = import_text(fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[1, 2, 9, 24] x) => (float[1, 2, 9, 24] z)\n"
      "  <{}, {}> {{\n  y0 = Relu(x)\n{}  z = Neg(y8)\n}}",
      zeros("w3", 3), zeros("w5", 5), blocks));
  EXPECT_GE(repeated_groups(graph), 20);
}

}  // namespace
}  // namespace arenac
