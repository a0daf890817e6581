// Every row that has a published figure reaches it: makespan over load on minimalloc's problems A to F and on
// traces of four networks, each algorithm measured once by others (notes/planning.md in the shared folder).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "frontend/error.h"
#include "planner/bounds.h"
#include "planner/csv.h"
#include "planner/planners.h"
#include "planner/timeline.h"

namespace arenac {
namespace {

constexpr const char* kProblems[] = {"minimalloc_A", "minimalloc_B",   "minimalloc_C", "minimalloc_D",
                                     "minimalloc_E", "minimalloc_F",   "resnet50",     "tiny_bert",
                                     "bert_base",    "iree_mobilebert"};
constexpr size_t kHard =
    6;  // minimalloc.s come first; their figures were rounded to four digits, then to three
constexpr double kNone = 0;   // no figure is known
constexpr double kSlow = -1;  // takes seconds, not measured here

struct Row {
  const char* name;
  std::vector<double> figures;  // in the order of kProblems
};

const std::vector<Row> kPublished = {
    {"tflite_by_size", {1.310, 1.347, 1.363, 1.334, 1.401, 1.375, 1.0069, 1.0009, 1.0000, 1.0000}},
    {"tflite_micro", {1.290, 1.355, 1.363, 1.310, 1.369, 1.367, 1.0064, 1.0008, 1.0000, 1.0000}},
    {"iree", {1.752, 1.693, 1.754, 1.489, 1.855, 1.222, 1.0030, 1.0604, 1.0035, 1.0000}},
    {"xla_by_size", {1.310, 1.347, 1.363, 1.323, 1.401, 1.367, kNone, kNone, kNone, kNone}},
    {"xla_by_lifetime", {1.456, 1.503, 1.473, 1.484, 1.600, 1.408, kNone, kNone, kNone, kNone}},
    {"xla_best_of_both", {1.310, 1.347, 1.363, 1.323, 1.401, 1.367, 1.0045, 1.0010, 1.0000, 1.0000}},
    {"by_area_first_fit", {1.669, 1.889, 1.966, 1.534, 1.706, 1.356, 1.0072, 1.0096, 1.0000, 1.0000}},
    {"by_area_best_fit", {2.051, 1.872, 2.001, 1.422, 1.714, 1.356, kNone, kNone, kNone, kNone}},
    {"by_duration_first_fit", {1.456, 1.503, 1.473, 1.469, 1.600, 1.408, 1.0087, 1.0117, 1.0064, 1.0000}},
    {"by_size_first_fit", {1.290, 1.347, 1.363, 1.309, 1.369, 1.367, 1.0064, 1.0008, 1.0000, 1.0000}},
    {"glow_linear", {1.534, 1.693, 1.702, 1.569, 1.890, 1.219, 1.0086, 1.0749, 1.0035, 1.0000}},
    {"online_worst_fit", {1.965, 1.909, 1.958, 1.779, 2.155, 1.294, kNone, kNone, kNone, kNone}},
    {"tvm_by_size", {1.705, 1.606, 1.928, 1.849, 1.893, 1.773, 1.1883, 1.6670, 1.1101, 1.2349}},
    {"tvm_by_conflicts", {2.058, 2.565, 1.835, 2.175, 2.946, 2.588, 1.1131, 1.4839, 1.0574, 1.0000}},
    {"tflite_objects_in_order", {2.746, 2.826, 2.749, 1.994, 3.411, 1.381, 1.0669, 1.5019, 1.2610, 1.2339}},
    {"tflite_objects_equality", {8.278, 9.577, 11.746, 3.724, 13.317, 5.834, kNone, kNone, kNone, kNone}},
    {"tflite_objects_by_breadth", {2.078, 2.121, 2.166, 1.851, 2.597, 1.491, 1.0391, 1.2198, 1.0053, 1.0000}},
    {"tflite_objects_by_size_distance",
     {1.961, 1.962, 2.144, 1.584, 2.175, 1.395, 1.0384, 1.2094, 1.0012, 1.0000}},
    // Published: 2.423, 2.386, 2.516, 1.686, 2.675, 1.385, by another choice among equally cheap flows.
    {"tflite_objects_min_cost_flow",
     {2.434, 2.386, 2.520, 1.676, 2.737, 1.384, 1.0418, kNone, kNone, 1.2350}},
    {"executorch_in_order", {2.747, 2.823, 2.749, 1.994, 3.422, 1.385, kNone, kNone, kNone, kNone}},
    {"executorch_greedy", {1.442, 1.520, 1.504, 1.334, 1.588, 1.409, 1.0055, 1.0261, 1.0000, 1.0000}},
    {"tvm_hill_climb", {1.205, 1.147, 1.193, 1.214, 1.238, 1.220, kSlow, kSlow, kNone, 1.0000}},
    {"somas", {1.287, 1.355, 1.363, 1.310, 1.369, 1.367, 1.0064, 1.0008, 1.0000, 1.0000}},
    {"triton_colouring", {1.469, 1.514, 1.420, 1.508, 1.480, 1.480, 1.0282, 1.0500, kSlow, 1.0000}},
    // Published for C, E and bert_base: 1.688, 1.515 and 1.0075, for the arena whose top no buffer reaches.
    {"merge_alloc_hot_chunks", {1.548, 1.540, 1.683, 1.406, 1.476, 1.145, 1.0071, 1.1031, 1.0052, 1.0000}},
    {"merge_alloc_size_first", {1.685, 1.499, 1.688, 1.375, 1.546, 1.092, 1.0020, 1.0374, 1.0000, 1.0000}},
    {"sekiyama", {1.162, 1.225, 1.262, 1.208, 1.403, 1.272, 1.0042, 1.0332, 1.0000, 1.0000}},
};

Problem read_csv(const std::filesystem::path& path) {
  std::ifstream file(path);
  return problem_from_csv({std::istreambuf_iterator<char>(file), {}}, path.filename().string());
}

TEST(Rows, AgreeWithThePublishedFigures) {
  const std::filesystem::path folder = std::filesystem::path(ARENAC_SOURCE_DIR) / "../shared/planning";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no ../shared/planning beside the project";
  for (size_t i = 0; i < std::size(kProblems); ++i) {
    const Problem p = read_csv(folder / fmt::format("{}.csv", kProblems[i]));
    const int64_t least = load(p, all_buffers(p));
    for (const Row& row : kPublished) {
      if (row.figures[i] == kNone || row.figures[i] == kSlow) continue;
      const double ratio = double(plan(p, row.name).pools[0].size) / double(least);
      EXPECT_NEAR(ratio, row.figures[i], i < kHard ? 0.0006 : 0.00006) << row.name << " on " << kProblems[i];
    }
  }
}

// plan() verifies. Rows without search that see whole buffers only; the others have tests of their own. Sizes
// of nothing, equal lives, gaps with windows, odd alignments and overlaps among many.
TEST(Rows, CopeWithAllThatTheySupport) {
  std::mt19937 random(11);
  const auto below = [&](int n) { return int64_t(random() % n); };
  for (int round = 0; round < 40; ++round) {
    Problem p{.pools = {{.name = "arena", .align = 1 + below(3)}}, .buffers = {}};
    for (int i = 0; i < 30; ++i) {
      const int64_t begin = below(20), end = begin + 1 + below(8), size = below(4) * below(12);
      Buffer& b = p.buffers.emplace_back(Buffer{fmt::format("b{}", i), size, 1 + below(4), begin, end});
      if (end - begin > 3) b.gaps = {{begin + 1, begin + 2}, {begin + 2, begin + 3, size / 3, size / 2}};
    }
    for (int i = 0; i < 10; ++i) p.overlaps.push_back({i, 29 - i, below(5) - 2});
    for (const Planner& row : kPlanners)
      if (row.supports == (kAlignment | kGaps | kOverlaps)) {
        EXPECT_NO_THROW(plan(p, row.name, {.effort = 0.002})) << row.name << " in round " << round;
      }
  }
}

TEST(Portfolio, SolvesMinimallocsProblemsAtTheirCapacity) {
  const std::filesystem::path folder = std::filesystem::path(ARENAC_SOURCE_DIR) / "../shared/planning";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no ../shared/planning beside the project";
  for (const char* name : {"A", "B", "C", "D", "E", "F", "K"}) {
    Problem p = read_csv(folder / fmt::format("minimalloc_{}.csv", name));
    p.pools[0].capacity = 1'048'576;
    EXPECT_LE(plan_at_best(p, kDefaultPlanner, {.goal = Goal::kFits}).pools[0].size, 1'048'576) << name;
  }
}

TEST(Rows, RefuseWhatIsTooMuchForThem) {
  Problem p{.pools = {{.name = "arena"}}, .buffers = {{"a", 8, int64_t{1} << 30, 0, 2}, {"b", 4, 3, 1, 5}}};
  EXPECT_THROW(plan(p, "merge_alloc_size_first"), UserError);
  EXPECT_THROW(plan(p, "glow_bidirectional"), UserError);
  EXPECT_EQ(plan(p, "executorch_greedy").pools[0].size, 13);  // b at 9
  for (int i = 0; i < 3000; ++i) p.buffers.push_back({"c", i, 1, i, i + 1});
  EXPECT_THROW(plan(p, "tflite_objects_min_cost_flow"), UserError);
  p.buffers[0].fixed_offset = 0;
  EXPECT_THROW(plan(p, "somas"), UserError);
}

TEST(Rows, DoNotHangOnManyBuffers) {
  Problem p{.pools = {{.name = "arena"}}, .buffers = {}};
  for (int i = 0; i < 100'000; ++i) p.buffers.push_back({"b", 16, 1, 0, 10});  // five billion pairs
  for (const Planner& row : kPlanners) {
    try {
      EXPECT_EQ(plan(p, row.name).pools[0].size, 1'600'000) << row.name;
      EXPECT_TRUE(row.growth == Growth::kNearLinear || row.most_pairs > 5e9) << row.name;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("minutes")) << row.name;
    }
  }
}

}  // namespace
}  // namespace arenac
