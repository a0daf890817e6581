// Liveness over the flat steps against a dumb oracle: runs of random programs, step by step, with branches
// taken and loops repeated as it happens.
#include "scheduler/liveness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "frontend/import.h"
#include "scheduler/storage.h"
#include "tests/random_graph.h"

namespace arenac {
namespace {

void collect_written(const Node& node, std::set<TensorId>& written) {
  written.insert(node.writes.begin(), node.writes.end());
  for (const Block* block : blocks_of(node))
    for (const Node& inner : *block) collect_written(inner, written);
}

// The top-level nodes in any order that can run.
std::vector<int> random_order(const Graph& graph, std::mt19937& random) {
  std::vector<std::set<TensorId>> written, touched;
  for (const Node& node : graph.block) {
    collect_written(node, written.emplace_back());
    touched.push_back(written.back());
    for (TensorId id : tensors_read(node)) touched.back().insert(id);
  }
  const auto meet = [](const std::set<TensorId>& a, const std::set<TensorId>& b) {
    return std::any_of(a.begin(), a.end(), [&](TensorId id) { return b.contains(id); });
  };
  std::vector<int> order, left(graph.block.size());
  for (size_t k = 0; k < left.size(); ++k) left[k] = static_cast<int>(k);
  while (!left.empty()) {
    std::vector<size_t> ready;
    for (size_t k = 0; k < left.size(); ++k)
      if (std::none_of(left.begin(), left.begin() + static_cast<long>(k), [&](int before) {
            return meet(written[before], touched[left[k]]) || meet(touched[before], written[left[k]]);
          }))
        ready.push_back(k);
    const size_t next = ready[random() % ready.size()];
    order.push_back(left[next]);
    left.erase(left.begin() + static_cast<long>(next));
  }
  return order;
}

// The steps that one run passes, one after the other.
class Path {
 public:
  Path(const std::vector<Step>& steps, std::mt19937& random) : steps_(steps), random_(random) {
    pass(0, static_cast<int>(steps.size()));
  }
  std::vector<int> passed;

 private:
  void pass(int begin, int end) {
    for (int s = begin; s < end; ++s) {
      passed.push_back(s);
      const int partner = steps_[s].partner;
      if (steps_[s].kind == StepKind::kIf) {
        const int last = steps_[partner].partner;
        if (random_() % 2 == 0)
          pass(s + 1, partner), passed.push_back(partner);
        else
          pass(partner + 1, last);
        passed.push_back(last);
        s = last;
      } else if (steps_[s].kind == StepKind::kLoop) {
        for (unsigned trips = random_() % 4; trips > 0; --trips)
          pass(s + 1, partner), passed.push_back(partner);
        s = partner;
      }
    }
  }

  const std::vector<Step>& steps_;
  std::mt19937& random_;
};

// Per storage the half-steps at which a path needs it.
class Needed {
 public:
  Needed(const Graph& graph, const Storage& storage)
      : half_steps(graph.tensors.size()), graph_(graph), storage_(storage) {}

  std::vector<std::set<int64_t>> half_steps;

  void add(const std::vector<int>& path) {
    std::set<TensorId> live;
    for (TensorId id : graph_.outputs) live.insert(root(id));
    for (auto s = path.rbegin(); s != path.rend(); ++s) {
      forget_filled(*s, live);
      mark(live, 2 * int64_t{*s} + 1);
      before(*s, live);
      mark(live, 2 * int64_t{*s});
    }
  }

 private:
  TensorId root(TensorId id) const { return storage_.layouts[id].root; }
  void mark(const std::set<TensorId>& live, int64_t at) {
    for (TensorId id : live) half_steps[id].insert(at);
  }
  void use(TensorId id, std::set<TensorId>& live) const {
    if (!graph_.tensors[root(id)].constant) live.insert(root(id));
  }

  // Storage that a loop is the first to write holds nothing before its first iteration.
  void forget_filled(int s, std::set<TensorId>& live) const {
    const Step& step = storage_.steps[s];
    if (step.kind == StepKind::kLoop)
      std::erase_if(live, [&](TensorId id) { return s < first_write(id) && first_write(id) < step.partner; });
  }

  // What is live before a step, from what is after it. Loops and branches decide once they are entered or at
  // the end of an iteration: what they ask is needed after the step.
  void before(int s, std::set<TensorId>& live) {
    const Step& step = storage_.steps[s];
    const int64_t after = 2 * int64_t{s} + 1;
    const auto asked = [&](TensorId id) {
      use(id, live);
      if (live.contains(root(id))) half_steps[root(id)].insert(after);
    };
    if (step.kind == StepKind::kRun) {
      for (TensorId id : step.node->writes) {
        half_steps[root(id)].insert({after - 1, after});
        if (!is_slice(*step.node)) live.erase(root(id));
      }
      for (TensorId id : step.node->reads) use(id, live);
    } else if (step.kind == StepKind::kIf) {
      asked(step.node->reads[0]);
    } else if (step.kind == StepKind::kLoop) {
      if (const auto& count = std::get<Loop>(step.node->body).count) asked(*count);
    } else if (step.kind == StepKind::kEndLoop) {
      if (const auto& condition = std::get<Loop>(step.node->body).condition) asked(*condition);
    }
  }

  int first_write(TensorId storage) const {
    for (size_t s = 0; s < storage_.steps.size(); ++s)
      if (storage_.steps[s].kind == StepKind::kRun)
        for (TensorId id : storage_.steps[s].node->writes)
          if (root(id) == storage) return static_cast<int>(s);
    return -1;
  }

  // Whether each iteration writes a part.
  static bool is_slice(const Node& node) {
    const Nests* nests = std::get_if<Nests>(&node.body);
    return nests && std::any_of(nests->begin(), nests->end(), [](const Nest& nest) {
             return std::any_of(nest.store.begin(), nest.store.end(), [](const Expr& index) {
               return any_of(index, [](const Expr& e) { return e->op == Op::kAxis && e->index < 0; });
             });
           });
  }

  const Graph& graph_;
  const Storage& storage_;
};

std::set<int64_t> half_steps_of(const Occupancy& occupancy) {
  std::set<int64_t> all;
  for (const Interval& part : occupancy)
    for (int64_t at = part.begin; at < part.end; ++at) all.insert(at);
  return all;
}

bool has_control_flow(const Storage& storage) {
  return std::any_of(storage.steps.begin(), storage.steps.end(),
                     [](const Step& step) { return step.kind != StepKind::kRun; });
}

void is_what_runs_need(const Graph& graph, const std::vector<int>& order, std::mt19937& random) {
  const Storage storage = assign_storage(graph, order);
  const std::vector<Occupancy> occupied = occupancies(graph, storage.steps, storage.layouts);
  const bool plain = !has_control_flow(storage);
  Needed needed(graph, storage);
  for (int run = 0; run < (plain ? 1 : 40); ++run) needed.add(Path(storage.steps, random).passed);
  for (size_t id = 0; id < occupied.size(); ++id) {
    const std::set<int64_t> said = half_steps_of(occupied[id]), &must = needed.half_steps[id];
    EXPECT_TRUE(std::includes(said.begin(), said.end(), must.begin(), must.end()))
        << graph.tensors[id].name << " does not live long enough";
    EXPECT_TRUE(!plain || said == must) << graph.tensors[id].name << " lives too long";
  }
}

TEST(Liveness, IsWhatRunsNeed) {
  for (unsigned seed = 0; seed < seeds(200); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = import_text(random_graph(seed));
    std::mt19937 random(seed);
    for (int k = 0; k < 3; ++k) is_what_runs_need(graph, random_order(graph, random), random);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace arenac
