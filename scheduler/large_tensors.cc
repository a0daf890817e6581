#include "scheduler/large_tensors.h"

#include <algorithm>
#include <ranges>

namespace arenac {

std::optional<OrderProblem> of_large_tensors(const OrderProblem& problem, int64_t least) {
  const auto is_small = [&](const OrderTensor& t) { return 0 < t.bytes && t.bytes < least; };
  if (std::ranges::none_of(problem.tensors, is_small)) return std::nullopt;
  OrderProblem large = problem;
  for (OrderTensor& tensor : large.tensors)
    if (is_small(tensor)) tensor.bytes = 0;
  // A result in place saves no more than what it, and what dies there, still take.
  std::vector<int64_t> results(num_vertices(large.operators));
  for (const OrderTensor& tensor : large.tensors)
    if (tensor.writers.size() == 1) results[tensor.writers[0]] += tensor.bytes;
  for (size_t op = 0; op < results.size(); ++op)
    for (InPlace& place : large.operators[op].in_place)
      place.bytes = std::min({place.bytes, results[op], large.tensors[place.tensor].bytes});
  return large;
}

std::vector<int> with_small_late(const OrderProblem& problem, const std::vector<int>& order, int64_t least) {
  const Precedence& operators = problem.operators;
  std::vector<bool> late(order.size(), true);
  for (const OrderTensor& tensor : problem.tensors)
    for (const int op : tensor.writers)
      if (tensor.bytes >= least) late[op] = false;
  std::vector<size_t> missing(order.size());  // successors not placed yet
  for (size_t op = 0; op < order.size(); ++op) {
    missing[op] = out_degree(op, operators);
    if (missing[op] == 0) late[op] = false;  // nothing to wait for
  }
  std::vector<int> backwards;
  const auto place = [&](int op) {
    for (std::vector<int> next = {op}; !next.empty();) {
      backwards.push_back(next.back());
      next.pop_back();
      for (const auto before : boost::make_iterator_range(inv_adjacent_vertices(backwards.back(), operators)))
        if (--missing[before] == 0 && late[before]) next.push_back(static_cast<int>(before));
    }
  };
  for (const int op : order | std::views::reverse)
    if (!late[op]) place(op);
  return {backwards.rbegin(), backwards.rend()};
}

}  // namespace arenac
