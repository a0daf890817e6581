// What a barrier takes apart gains nothing together: of every group with one, two parts take hardly more
// bytes. And the order in which what waits for all of a tensor comes last.
#include "scheduler/barriers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "frontend/import.h"
#include "frontend/rewrites.h"
#include "scheduler/groups.h"
#include "scheduler/phases.h"
#include "scheduler/step_bytes.h"
#include "tests/random_layers.h"
#include "tests/seeds.h"

namespace arenac {
namespace {

// Of a schedule of whole layers, all groups that there can be.
class Groups {
 public:
  explicit Groups(const Graph& graph)
      : whole_(schedule_layerwise(graph)),
        facts_(step_facts(graph, whole_.steps, whole_.layouts)),
        bytes_(whole_, facts_),
        barriers_(whole_, facts_) {}

  // Of the steps [begin, end) together, or each by itself.
  int64_t bytes(int begin, int end) const {
    int64_t apart = 0;
    for (int s = begin; s < end; ++s) apart = std::max(apart, bytes_.at(s));
    const auto plan = form_group(whole_, facts_, begin, end, {});
    return plan ? std::min(apart, bytes_.of(*plan)) : apart;
  }

  // The best of two parts.
  int64_t in_two(int begin, int end) const {
    int64_t least = INT64_MAX;
    for (int s = begin + 1; s < end; ++s) least = std::min(least, std::max(bytes(begin, s), bytes(s, end)));
    return least;
  }

  // Checks all groups with a barrier, and says how many there are.
  int with_barriers() const {
    int count = 0;
    const int steps = static_cast<int>(whole_.steps.size());
    for (int begin = 0; begin < steps; ++begin)
      for (int end = begin + 1; end <= steps && facts_.steps[end - 1].slabs.count > 0; ++end) {
        if (!barriers_.within(begin, end)) continue;
        ++count;
        const int64_t together = bytes(begin, end);
        EXPECT_LE(in_two(begin, end), together + together / 16) << begin << " to " << end << "\n"
                                                                << dump(whole_);
      }
    return count;
  }

 private:
  const Schedule whole_;
  const StepFacts facts_;
  const StepBytes bytes_;
  const Barriers barriers_;
};

int with_barriers(const std::string& body) {
  return Groups(import_text(fmt::format("<ir_version: 8, opset_import: [\"\" : 17]>\n"
                                        "g (float[1, 4, 16, 8] x) => (float[1, 4, 16, 8] y) {{ {} }}",
                                        body)))
      .with_barriers();
}

TEST(Barriers, OfRandomLayersTakeApartWhatGainsNothing) {
  int count = 0;
  for (unsigned seed = 0; seed < seeds(100); ++seed) {
    SCOPED_TRACE(seed);
    count += Groups(rewritten(import_text(random_layers(seed)), layerwise_peak)).with_barriers();
  }
  EXPECT_GE(count, 20);
}

// The second pass over `b` waits for its greatest element, whole.
TEST(Barriers, AreBeforeWhatWaitsForAllOfATensor) {
  EXPECT_GE(with_barriers("a = Sin(x) b = Softsign(a) m = ReduceMax<axes = [0, 1, 2, 3]>(b) c = Mul(b, m)"
                          "d = MaxPool<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(c) y = Cos(d)"),
            1);
}

// Rows come in turns to the end.
TEST(Barriers, AreNotInChainsOfRows) {
  const char* pool = "MaxPool<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>";
  EXPECT_EQ(with_barriers(fmt::format("a = {0}(x) b = {0}(a) c = {0}(b) d = {0}(c) y = Add(d, a)", pool)), 0);
}

// What waits comes after what reads rows in turns with what it waits for.
TEST(Phases, BeginWithWhatWaitsForAllOfATensor) {
  const Graph graph = import_text(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[1, 4, 16, 8] x) => (float[1, 4, 16, 8] c, "
      "float[1, 4, 16, 8] d) { a = Sin(x) b = Softsign(a) m = ReduceMax<axes = [0, 1, 2, 3]>(b) c = Mul(b, m)"
      "d = Cos(a) }");
  std::vector<std::string> names;
  for (const int node : order_by_phases(graph, assign_storage(graph)))
    names.push_back(graph.block[static_cast<size_t>(node)].op);
  EXPECT_EQ(names, (std::vector<std::string>{"Sin", "Softsign", "Cos", "ReduceMax", "Mul"}));
}

}  // namespace
}  // namespace arenac
