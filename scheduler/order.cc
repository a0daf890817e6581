#include "scheduler/order.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <tuple>

#include "frontend/error.h"
#include "scheduler/frontier.h"

namespace arenac {
namespace {

template <std::vector<int> (*simple)(const OrderProblem&)>
OrderResult judged(const OrderProblem& problem, const OrderLimits&) {
  std::vector<int> order = simple(problem);
  const int64_t peak = peak_of(problem, order), bound = lower_bound(problem);
  return {std::move(order), peak, bound, peak == bound, 0};
}

// The bytes of the results of an operator.
std::vector<int64_t> result_bytes(const OrderProblem& problem) {
  std::vector<int64_t> bytes(problem.operators.size());
  for (const OrderTensor& tensor : problem.tensors)
    for (int op : tensor.writers) bytes[op] += tensor.bytes;
  return bytes;
}

}  // namespace

const std::vector<OrderRow>& orders() {
  static const std::vector<OrderRow> all = {
      {"file", "the file's order", judged<file_order>},
      {"breadth_first", "whatever became ready first", judged<breadth_first_order>},
      {"depth_first", "operand after operand, the one that needs most first (Sethi and Ullman)",
       judged<depth_first_order>},
      {"greedy", "the operator after which least is alive", judged<greedy_order>},
      {"optimal", "the best order, searched and proven", optimal_order},
  };
  return all;
}

std::vector<int> file_order(const OrderProblem& problem) {
  std::vector<int> order(problem.operators.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<int> breadth_first_order(const OrderProblem& problem) {
  const size_t n = problem.operators.size();
  std::vector<std::vector<int>> successors(n);
  std::vector<size_t> missing(n);
  std::deque<int> ready;
  for (size_t op = 0; op < n; ++op) {
    for (int before : problem.operators[op].after) successors[before].push_back(static_cast<int>(op));
    missing[op] = problem.operators[op].after.size();
    if (missing[op] == 0) ready.push_back(static_cast<int>(op));
  }
  std::vector<int> order;
  for (; !ready.empty(); ready.pop_front()) {
    order.push_back(ready.front());
    for (int next : successors[ready.front()])
      if (--missing[next] == 0) ready.push_back(next);
  }
  return order;
}

// Sethi and Ullman, "The generation of optimal code for arithmetic expressions" (1970), with bytes for
// registers; on a graph that is no tree, an operand that ran already needs nothing.
std::vector<int> depth_first_order(const OrderProblem& problem) {
  const size_t n = problem.operators.size();
  const std::vector<int64_t> result = result_bytes(problem);
  std::vector<int64_t> need(n);
  std::vector<std::vector<int>> operands(n);  // by what they need beyond what they leave
  std::vector<bool> used(n), done(n);
  for (size_t op = 0; op < n; ++op) {
    operands[op] = problem.operators[op].after;
    std::stable_sort(operands[op].begin(), operands[op].end(),
                     [&](int a, int b) { return need[a] - result[a] > need[b] - result[b]; });
    int64_t held = 0;
    for (int before : operands[op]) {
      need[op] = std::max(need[op], held + need[before]);
      held += result[before];
      used[before] = true;
    }
    need[op] = std::max(need[op], held + result[op] + problem.operators[op].workspace);
  }
  std::vector<int> order, stack;
  for (size_t sink = 0; sink < n; ++sink) {
    if (used[sink]) continue;
    stack.push_back(static_cast<int>(sink));
    while (!stack.empty()) {
      const int op = stack.back();
      const auto open =
          std::find_if(operands[op].begin(), operands[op].end(), [&](int o) { return !done[o]; });
      if (open != operands[op].end()) {
        stack.push_back(*open);
        continue;
      }
      stack.pop_back();
      done[op] = true;
      order.push_back(op);
    }
  }
  return order;
}

std::vector<int> greedy_order(const OrderProblem& problem) {
  Frontier frontier(problem);
  std::vector<int> order;
  while (!frontier.ready().empty()) {
    const auto key = [&](int op) {
      const Frontier::Move move = frontier.move(op);
      return std::tuple(move.after, move.during, op);
    };
    const int next = *std::min_element(frontier.ready().begin(), frontier.ready().end(),
                                       [&](int a, int b) { return key(a) < key(b); });
    order.push_back(next);
    frontier.run(next);
  }
  return order;
}

int64_t peak_of(const OrderProblem& problem, const std::vector<int>& order) {
  ARENAC_CHECK(order.size() == problem.operators.size(), "an order without some operator");
  Frontier frontier(problem);
  int64_t peak = frontier.bytes();
  for (int op : order) {
    const auto& ready = frontier.ready();
    ARENAC_CHECK(std::find(ready.begin(), ready.end(), op) != ready.end(), "an order that cannot run");
    peak = std::max(peak, frontier.move(op).during);
    frontier.run(op);
  }
  return peak;
}

}  // namespace arenac
