#include "scheduler/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "scheduler/cmsis_nn.h"
#include "scheduler/slabs.h"

namespace arenac {
namespace {

// What a nest does with the elements of operand `id`, in the notation of expressions.
std::string reads_of(const Node& node, TensorId id) {
  std::string text;
  for (const Nest& nest : std::get<Nests>(node.body))
    visit_reads(nest, [&](const Expr& read) {
      if (node.reads[read->index] == id && text.empty()) text = to_string(read);
    });
  return text;
}

// Why the step's result is one slab.
std::string whole(const Node& node, const Graph& graph, const std::vector<Rows>& rows,
                  const std::vector<Layout>& layouts) {
  const TensorId write = node.writes[0];
  const Rows& in = rows[layouts[write].root];
  if (in.count <= 1)
    return fmt::format("'{}' has no rows: it is one block of memory", graph.tensors[write].name);
  std::string at;
  for (const Expr& index : std::get<Nests>(node.body)[0].store)
    at += (at.empty() ? "" : ", ") + to_string(index);
  return fmt::format("the rows of '{}' do not follow one axis: they are stored at [{}]",
                     graph.tensors[write].name, at);
}

std::string of_nests(const Schedule& schedule, const Node& node, const std::vector<Rows>& rows) {
  const Graph& graph = *schedule.graph;
  const Slabs slabs = slabs_of(node, graph, schedule.layouts, rows);
  if (slabs.count == 1) return whole(node, graph, rows, schedule.layouts);
  for (const RowAccess& read : slabs.reads) {
    const int64_t count = rows[schedule.layouts[read.tensor].root].count;
    const bool all = std::any_of(read.rows.begin(), read.rows.end(), [&](Interval i) {
      return i == Interval{0, count};
    });
    if (all && count > 1)
      return fmt::format("a row of '{}' reads all {} rows of '{}': {}", graph.tensors[node.writes[0]].name,
                         count, graph.tensors[read.tensor].name, reads_of(node, read.tensor));
  }
  return "";
}

}  // namespace

std::string why_not_by_rows(const Schedule& schedule, size_t step) {
  const Node& node = *schedule.steps[step].node;
  if (const Call* call = std::get_if<Call>(&node.body))
    return fmt::format("{} '{}' takes whole tensors", cmsis_nn_row(*call) ? "CMSIS-NN's" : "the C kernel",
                       call->kernel);
  if (schedule.steps[step].kind == StepKind::kRun && std::holds_alternative<Nests>(node.body))
    return of_nests(schedule, node, storage_rows(*schedule.graph, schedule.layouts));
  return "control flow takes whole tensors";
}

}  // namespace arenac
