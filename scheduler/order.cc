#include "scheduler/order.h"

#include <algorithm>
#include <boost/graph/depth_first_search.hpp>
#include <boost/graph/topological_sort.hpp>
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
  std::vector<int64_t> bytes(num_vertices(problem.operators));
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
  std::vector<int> order(num_vertices(problem.operators));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<int> breadth_first_order(const OrderProblem& problem) {
  std::vector<size_t> missing;
  std::deque<size_t> ready;
  for (const auto op : boost::make_iterator_range(vertices(problem.operators))) {
    missing.push_back(in_degree(op, problem.operators));
    if (missing[op] == 0) ready.push_back(op);
  }
  std::vector<int> order;
  for (; !ready.empty(); ready.pop_front()) {
    order.push_back(static_cast<int>(ready.front()));
    for (const auto next : boost::make_iterator_range(adjacent_vertices(ready.front(), problem.operators)))
      if (--missing[next] == 0) ready.push_back(next);
  }
  return order;
}

// Sethi and Ullman, "The generation of optimal code for arithmetic expressions" (1970), with bytes for
// registers; on a graph that is no tree, an operand that ran already needs nothing.
std::vector<int> depth_first_order(const OrderProblem& problem) {
  const size_t n = num_vertices(problem.operators);
  const std::vector<int64_t> result = result_bytes(problem);
  std::vector<int64_t> need(n);
  // An edge to each operand, those first that need most beyond what they leave.
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> depends_on(n);
  for (const auto op : boost::make_iterator_range(vertices(problem.operators))) {
    const auto [begin, end] = inv_adjacent_vertices(op, problem.operators);
    std::vector<size_t> operands(begin, end);
    std::stable_sort(operands.begin(), operands.end(),
                     [&](size_t a, size_t b) { return need[a] - result[a] > need[b] - result[b]; });
    int64_t held = 0;
    for (const size_t before : operands) {
      add_edge(op, before, depends_on);
      need[op] = std::max(need[op], held + need[before]);
      held += result[before];
    }
    need[op] = std::max(need[op], held + result[op] + problem.operators[op].workspace);
  }
  std::vector<int> order;
  std::vector<boost::default_color_type> colors(n);
  const boost::topo_sort_visitor append(std::back_inserter(order));
  for (const auto sink : boost::make_iterator_range(vertices(problem.operators)))
    if (out_degree(sink, problem.operators) == 0)
      depth_first_visit(depends_on, sink, append,
                        make_iterator_property_map(colors.begin(), get(boost::vertex_index, depends_on)));
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
  ARENAC_CHECK(order.size() == num_vertices(problem.operators), "an order without some operator");
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
