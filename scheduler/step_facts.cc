#include "scheduler/step_facts.h"

#include <algorithm>

#include "scheduler/liveness.h"

namespace arenac {
namespace {

// The slabs of `producer` that write the rows which each slab of a reader needs.
std::vector<int64_t> pulled(const std::vector<Interval>& written, const std::vector<Interval>& needed) {
  std::vector<int64_t> least;  // per slab, from the last: the least begin of those so far
  for (auto p = written.rbegin(); p != written.rend(); ++p)
    least.push_back(least.empty() ? p->begin : std::min(least.back(), p->begin));
  std::vector<int64_t> upto;
  for (const Interval rows : needed) {
    // Those behind begin too late.
    const auto late =
        std::partition_point(least.begin(), least.end(), [&](int64_t b) { return b >= rows.end; });
    auto p = static_cast<int64_t>(least.end() - late);
    while (p-- > 0 && !(written[p].begin < rows.end && rows.begin < written[p].end)) {
    }
    const int64_t before = upto.empty() ? -1 : upto.back();
    upto.push_back(rows.begin < rows.end ? std::max(p, before) : before);
  }
  return upto;
}

std::vector<Pull> pulls_of(int step, const StepFacts& facts) {
  std::vector<Pull> pulls;
  for (const RowAccess& access : facts.slabs[step].reads) {
    const int writer = facts.writer[facts.source[access.tensor]];
    if (writer < 0 || writer >= step || facts.slabs[writer].count == 0) continue;
    Pull pull{writer, pulled(facts.slabs[writer].write.rows, access.rows)};
    const auto same =
        std::find_if(pulls.begin(), pulls.end(), [&](const Pull& other) { return other.producer == writer; });
    if (same == pulls.end()) {
      pulls.push_back(std::move(pull));
      continue;
    }
    for (size_t t = 0; t < pull.upto.size(); ++t) same->upto[t] = std::max(same->upto[t], pull.upto[t]);
  }
  return pulls;
}

// Steps inside loops and branches, those that run no nests, write nothing or something that others write too
// stay whole.
std::vector<bool> can_be_cut(const Graph& graph, const std::vector<Step>& steps) {
  std::vector<int> writers(graph.tensors.size());
  for (const Step& step : steps)
    if (step.kind == StepKind::kRun)
      for (TensorId id : step.node->writes) ++writers[id];
  std::vector<bool> all;
  int depth = 0;
  for (const Step& step : steps) {
    depth += step.kind == StepKind::kIf || step.kind == StepKind::kLoop;
    depth -= step.kind == StepKind::kEndIf || step.kind == StepKind::kEndLoop;
    const Node& node = *step.node;
    all.push_back(depth == 0 && step.kind == StepKind::kRun && std::holds_alternative<Nests>(node.body) &&
                  writers[node.writes[0]] == 1 && element_count(graph.tensors[node.writes[0]].shape) > 0);
  }
  return all;
}

}  // namespace

StepFacts step_facts(const Graph& graph, const std::vector<Step>& steps, const std::vector<Layout>& layouts) {
  const size_t n = graph.tensors.size();
  const int end = static_cast<int>(steps.size());
  StepFacts facts{{},
                  {},
                  storage_rows(graph, layouts),
                  {},
                  std::vector<int>(n, -1),
                  std::vector<int>(n, -1),
                  std::vector<Interval>(n, {0, 0}),
                  std::vector<int64_t>(n)};
  const auto cut = can_be_cut(graph, steps);
  for (int s = 0; s < end; ++s) {
    facts.slabs.push_back({0, {}, {}, {}});
    if (cut[s]) facts.slabs.back() = slabs_of(*steps[s].node, graph, layouts, facts.rows);
    if (steps[s].kind == StepKind::kRun)
      for (TensorId id : steps[s].node->writes) facts.writer[id] = s;
  }
  facts.source.resize(n);
  for (size_t id = 0; id < n; ++id) facts.source[id] = static_cast<TensorId>(id);
  for (const Node& node : graph.block) {
    const Nests* nests = std::get_if<Nests>(&node.body);
    if (!nests || facts.writer[node.writes[0]] >= 0) continue;
    if (const Expr* from = copied_read(nests->front(), node, graph))
      facts.source[node.writes[0]] = facts.source[node.reads[(*from)->index]];
  }
  for (int s = 0; s < end; ++s)
    for (TensorId id : steps[s].node->reads) facts.last_reader[facts.source[id]] = s;
  for (TensorId id : graph.outputs) facts.last_reader[facts.source[id]] = end;

  for (int s = 0; s < end; ++s) facts.pulls.push_back(pulls_of(s, facts));

  facts.bytes = storage_bytes(graph, layouts);
  const auto occupied = occupancies(graph, steps, layouts);
  for (size_t id = 0; id < n; ++id)
    if (!occupied[id].empty())
      facts.live[id] = {occupied[id].front().begin / 2, (occupied[id].back().end + 1) / 2};
  for (TensorId id : graph.inputs) facts.bytes[layouts[id].root] = 0;
  for (TensorId id : graph.outputs) facts.bytes[layouts[id].root] = 0;
  return facts;
}

std::optional<StepFacts> in_strips(const StepFacts& facts, const std::map<int, int64_t>& strips,
                                   const std::vector<Step>& steps) {
  StepFacts all = facts;
  for (const auto& [s, strip] : strips) {
    auto slabs = in_strips(facts.slabs[s], *steps[s].node, strip);
    if (!slabs) return std::nullopt;
    all.slabs[s] = std::move(*slabs);
  }
  for (int s = 0; s < static_cast<int>(steps.size()); ++s) {
    const auto& pulls = facts.pulls[s];
    const bool changed =
        std::any_of(pulls.begin(), pulls.end(), [&](const Pull& p) { return strips.contains(p.producer); });
    if (changed || strips.contains(s)) all.pulls[s] = pulls_of(s, all);
  }
  return all;
}

}  // namespace arenac
