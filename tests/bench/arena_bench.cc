// arena_bench: the arena of every model beside its naive peak, what the scheduler is for.
//
//   arena_bench --model mobilenet
//
// Bytes; inputs and outputs are the caller's. "naive" is the most that is alive at one operator when they run
// in the file's order and every tensor, the caller's too, has memory of its own; "whole" and "fused" are the
// planned arenas layer by layer and with groups of rows, nothing computed twice.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "frontend/facts.h"
#include "frontend/rewrites.h"
#include "models/model_table.h"
#include "models/onnx_builder.h"
#include "planner/lifetime.h"
#include "planner/planners.h"
#include "scheduler/storage.h"
#include "tests/conformance.h"

namespace arenac {
namespace {

constexpr size_t kLargest = 20;  // models by naive peak, of which the mean is judged
constexpr double kTarget = 0.25;

struct Row {
  std::string model;
  int64_t naive, whole, fused;  // bytes
  double milliseconds;          // of scheduling

  double ratio() const { return static_cast<double>(fused) / static_cast<double>(naive); }
};

// The first and last time at which each tensor is touched, control flow inside out: what a block touches, its
// node touches.
void touch(const Block& block, std::vector<Interval>& lives, int64_t& time) {
  for (const Node& node : block) {
    for (const Block* inner : blocks_of(node)) touch(*inner, lives, time);
    for (const auto* ids : {&node.reads, &node.writes})
      for (TensorId id : *ids)
        lives[id] = {std::min(lives[id].begin, time), std::max(lives[id].end, time + 1)};
    ++time;
  }
}

int64_t naive_peak(const Graph& graph) {
  std::vector<Interval> lives(graph.tensors.size(), {INT64_MAX, 0});
  int64_t steps = 0;
  touch(graph.block, lives, steps);
  std::vector<int64_t> change(static_cast<size_t>(steps + 1));
  for (size_t id = 0; id < lives.size(); ++id) {
    const Tensor& tensor = graph.tensors[id];
    if (tensor.constant || lives[id].begin >= lives[id].end) continue;
    const int64_t bytes = element_count(tensor.shape) * size_of(tensor.type);
    change[lives[id].begin] += bytes;
    change[lives[id].end] -= bytes;
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  return *std::max_element(change.begin(), change.end());
}

int64_t arena_of(const Schedule& schedule) {
  return plan(lifetimes(schedule, Io::kExternal, targets().front().align).problem).pools[0].size;
}

Row measured(const std::string& model, const Graph& imported) {
  const Graph graph = rewritten(imported, layerwise_peak);
  const auto start = std::chrono::steady_clock::now();
  const Schedule fused = scheduler_named("fused").schedule(graph, targets().front(), kNoDeadline);
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
  const Row row = {model, naive_peak(imported), arena_of(schedule_layerwise(graph)), arena_of(fused),
                   spent.count()};
  fmt::print("{:<28}{:>14}{:>14}{:>14}{:>9.3f}{:>10.0f}\n", row.model, row.naive, row.whole, row.fused,
             row.ratio(), row.milliseconds);
  std::fflush(stdout);
  return row;
}

void print_mean(std::vector<Row> rows) {
  const size_t count = std::min(kLargest, rows.size());
  std::partial_sort(rows.begin(), rows.begin() + static_cast<long>(count), rows.end(),
                    [](const Row& a, const Row& b) { return a.naive > b.naive; });
  double logarithms = 0;
  for (size_t k = 0; k < count; ++k) logarithms += std::log(rows[k].ratio());
  fmt::print(
      "geometric mean of fused / naive over the {} shared models with the largest naive peak: {:.3f} (target "
      "{})\n",
      count, std::exp(logarithms / static_cast<double>(count)), kTarget);
}

}  // namespace
}  // namespace arenac

int main(int argc, char** argv) {
  using namespace arenac;
  std::string part;
  CLI::App app("the arena of every model beside its naive peak");
  app.add_option("--model", part, "part of the names to run");
  CLI11_PARSE(app, argc, argv);
  const auto is_asked = [&](const std::string& name) { return name.find(part) != std::string::npos; };

  fmt::print("{:<28}{:>14}{:>14}{:>14}{:>9}{:>10}\n", "model", "naive", "whole", "fused", "ratio", "ms");
  for (const models::ModelRow& row : models::model_table())
    if (is_asked(row.name)) measured(row.name, import_bytes(models::serialize(row.make()), row.name));
  std::vector<Row> shared;
  for (const Case& model : model_suite().cases) {
    if (!is_asked(model.id)) continue;
    const DataSet data = read_data_set(data_sets(model.folder).at(0));
    shared.push_back(measured(model.id, import_model(model.model().string(), data.import)));
  }
  if (!shared.empty()) print_mean(shared);
}
