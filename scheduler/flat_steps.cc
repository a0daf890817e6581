#include "scheduler/flat_steps.h"

namespace arenac {
namespace {

void add_steps(const Node& node, std::vector<Step>& steps) {
  const auto add_block = [&](const Block& block) {
    for (const Node& inner : block) add_steps(inner, steps);
  };
  if (const If* branch = std::get_if<If>(&node.body)) {
    steps.push_back({StepKind::kIf, &node});
    add_block(branch->then_block);
    steps.push_back({StepKind::kElse, &node});
    add_block(branch->else_block);
    steps.push_back({StepKind::kEndIf, &node});
  } else if (const Loop* loop = std::get_if<Loop>(&node.body)) {
    steps.push_back({StepKind::kLoop, &node});
    add_block(loop->body);
    steps.push_back({StepKind::kEndLoop, &node});
  } else {
    steps.push_back({StepKind::kRun, &node});
  }
}

}  // namespace

std::vector<Step> flat_steps(const Graph& graph, const std::vector<int>& order) {
  std::vector<Step> steps;
  for (const int node : order) add_steps(graph.block[static_cast<size_t>(node)], steps);
  return steps;
}

std::vector<Step> with_partners(std::vector<Step> steps) {
  std::vector<int> open;  // steps that begin a construct or a branch
  for (int s = 0; s < static_cast<int>(steps.size()); ++s) {
    const StepKind kind = steps[s].kind;
    if (kind == StepKind::kRun) continue;
    const bool opens = kind == StepKind::kIf || kind == StepKind::kLoop;
    if (!opens) {  // goes on, or ends
      Step& before = steps[open.back()];
      steps[s].partner = before.kind == StepKind::kElse ? before.partner : open.back();  // the If, or Loop
      before.partner = s;
      open.pop_back();
    }
    if (opens || kind == StepKind::kElse) open.push_back(s);
  }
  return steps;
}

}  // namespace arenac
