// What --optimize promises, of every bundled and shared model, wherever inputs and outputs lie, for every
// target: the arena of `ram` is at most that of `balanced`, which is at most that of `speed`; `balanced`
// multiplies nothing twice for rows and takes hardly longer than `speed`, and what has a smaller arena than
// `balanced` takes longer.
//
// A way is a target and a place of inputs and outputs. Small models take one in kTurns each, in turn, so that
// several take every way. ARENAC_MODELS: part of the names to try, of models of any size, in every way; of
// all models (an empty part) each in one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "driver/choose.h"
#include "driver/compile.h"
#include "driver/files.h"
#include "frontend/rewrites.h"
#include "models/model_table.h"
#include "models/onnx_builder.h"
#include "scheduler/storage.h"
#include "tests/conformance.h"
#include "tests/random_graph.h"
#include "tests/random_layers.h"
#include "tests/seeds.h"

namespace arenac {
namespace {

namespace fs = std::filesystem;

// What one choice comes to.
struct Found {
  int64_t arena, again, again_in_rows;  // bytes, multiply-accumulates
  int64_t cycles;                       // foreseen
  double seconds;                       // of this processor
};

// Plans differ, by which overlaps they use, in more than what was foreseen of their schedules.
constexpr double kOfPlans = 1.03;

// Of the schedule that is chosen, which the verifiers have seen; what is made of it is for other tests.
Found found(const Graph& graph, CompileOptions options, Optimize optimize,
            const std::shared_ptr<ScheduleCycles>& cycles) {
  options.optimize = optimize;
  const std::vector<StateNames> states;
  StageTimes times;
  const Choosing choosing = {options, states, target_named(options.target), kNoDeadline, times, {}, cycles};
  const std::clock_t begin = std::clock();
  const Chosen c = choose(graph, choosing);
  return {total_size(c.plan), work_again(c.schedule), work_again_in_rows(c.schedule),
          static_cast<int64_t>(cycles->of(c.schedule, c.lifetimes, c.plan)),
          static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC};
}

// Of whole layers of the graph as it is: `speed` may take recurrences apart (scheduler/hoisted_sums.h).
Found of_whole_layers(const Graph& graph, CompileOptions options,
                      const std::shared_ptr<ScheduleCycles>& cycles) {
  options.scheduler = "layerwise";
  return found(graph, std::move(options), Optimize::kSpeed, cycles);
}

bool has_loops(const Graph& graph) {
  return std::ranges::any_of(graph.block,
                             [](const Node& node) { return std::holds_alternative<Loop>(node.body); });
}

const char* asked_for() { return std::getenv("ARENAC_MODELS"); }

// One of how many ways a model takes.
size_t turns() {
  constexpr size_t kTurns = 7;
  if (!asked_for()) return kTurns;
  return *asked_for() == 0 ? 2 * targets().size() : 1;
}

// `turn`: the number of the model.
void expect_in_order(const std::string& name, CompileOptions options, size_t turn) {
  const Graph graph = rewritten(import_model(options.model, options.import), layerwise_peak);
  size_t way = turn;
  for (const Target& target : targets())
    for (const Io io : {Io::kExternal, Io::kArena}) {
      if (way++ % turns() != 0) continue;
      options.target = target.name;
      options.io = io;
      const auto of = std::make_shared<ScheduleCycles>(target);
      const Found speed = found(graph, options, Optimize::kSpeed, of),
                  balanced = found(graph, options, Optimize::kBalanced, of),
                  ram = found(graph, options, Optimize::kRam, of);
      const std::string row = fmt::format(
          "{} {} {}: ram {} ({} cycles, {:.2f} s) balanced {} ({} cycles, {:.2f} s) speed {} ({} "
          "cycles, {:.2f} s)",
          name, target.name, io == Io::kArena ? "arena" : "external", ram.arena, ram.cycles, ram.seconds,
          balanced.arena, balanced.cycles, balanced.seconds, speed.arena, speed.cycles, speed.seconds);
      fmt::print("{}\n", row);
      std::fflush(stdout);
      EXPECT_LE(ram.arena, balanced.arena) << row;
      EXPECT_LE(balanced.arena, speed.arena) << row;
      EXPECT_EQ(balanced.again_in_rows, 0) << row;
      EXPECT_LE(balanced.again, work_allowed(graph, Freedom::kSecondPasses)) << row;
      EXPECT_EQ(speed.again, 0) << row;
      const auto cycles = [](const Found& found) { return static_cast<double>(found.cycles); };
      const double whole = has_loops(graph) ? cycles(of_whole_layers(graph, options, of)) : cycles(speed);
      EXPECT_LE(cycles(balanced), (1 + options.slowdown) * whole * kOfPlans) << row;
      EXPECT_LE(ram.arena < balanced.arena ? cycles(balanced) : 0, cycles(ram) * kOfPlans) << row;
    }
}

// As expect_in_order(), of a graph.
void expect_choices_in_order(Graph imported, unsigned seed) {
  const Graph graph = rewritten(std::move(imported), layerwise_peak);
  CompileOptions options;
  options.io = seed % 2 ? Io::kArena : Io::kExternal;
  const Target& target = targets()[seed / 2 % targets().size()];
  for (const Schedule& schedule :
       schedules_to_choose_from(graph, Freedom::kAnyAgain, target, kNoDeadline, options.io))
    verify(schedule);
  const std::vector<StateNames> states;
  StageTimes times;
  const Choosing choosing = {options, states, target, kNoDeadline, times};
  options.optimize = Optimize::kSpeed;
  const int64_t speed = total_size(choose(graph, choosing).plan);
  const auto arena_of = [&](Optimize optimize) {
    options.optimize = optimize;
    const Chosen c = choose(graph, choosing);
    EXPECT_EQ(c.layerwise_arena.value_or(total_size(c.plan)), speed);
    return total_size(c.plan);
  };
  const int64_t balanced = arena_of(Optimize::kBalanced), ram = arena_of(Optimize::kRam);
  EXPECT_LE(ram, balanced);
  EXPECT_LE(balanced, speed);
  options.ram = ram;
  EXPECT_LE(total_size(choose(graph, choosing).plan), ram);
}

TEST(Optimize, OrdersTheArenasOfRandomModels) {
  for (unsigned seed = 0; seed < seeds(200); ++seed) {
    SCOPED_TRACE(seed);
    expect_choices_in_order(import_text(seed % 4 == 3 ? random_graph(seed) : random_layers(seed)), seed);
  }
}

bool is_small(const std::string& name) {
  return name == "tiny_cnn" || name == "ds_cnn_qop" || name == "resnet8_qop" || name == "resnet8_qdq" ||
         name == "mobilenet_v1_025_96_qop";
}

TEST(Optimize, OrdersTheArenasOfBundledModels) {
  const TemporaryFolder folder;
  size_t tried = 0;
  for (const models::ModelRow& row : models::model_table()) {
    const std::string name = row.name;
    if (asked_for() ? name.find(asked_for()) == std::string::npos : !is_small(name)) continue;
    const fs::path file = folder.path() / (name + ".onnx");
    write_text(file.string(), models::serialize(row.make()));
    CompileOptions options;
    options.model = file.string();
    expect_in_order(name, options, tried++);
  }
}

TEST(Optimize, OrdersTheArenasOfSharedModels) {
  size_t tried = 0;
  for (const Case& model : model_suite().cases) {
    if (asked_for() ? model.id.find(asked_for()) == std::string::npos
                    : fs::file_size(model.model()) > 120'000)
      continue;
    CompileOptions options;
    options.model = model.model().string();
    options.import = read_data_set(data_sets(model.folder).at(0)).import;
    expect_in_order(model.id, options, tried++);
  }
  if (tried == 0) GTEST_SKIP() << "no such models in ../shared/models";
}

}  // namespace
}  // namespace arenac
