#include <algorithm>
#include <boost/dynamic_bitset.hpp>
#include <numeric>

#include "scheduler/order_search.h"

namespace arenac {
namespace {

// A tensor as one segment sees it.
struct Seen {
  const OrderTensor* tensor;
  bool before, after;  // begun before the segment, used after it
};

// What is alive while an operator of the segment runs, at least: what it writes and uses, and what ancestors
// wrote for it or its descendants.
int64_t bound_of(const OrderProblem& problem, Interval segment, const std::vector<Seen>& seen) {
  const size_t n = static_cast<size_t>(segment.end - segment.begin);
  // The closure in sets: in the lists of boost::transitive_closure it takes three times as long.
  using Set = boost::dynamic_bitset<>;
  std::vector<Set> ancestors(n, Set(n)), descendants(n, Set(n));
  const auto inside = [&](int op) { return segment.begin <= op && op < segment.end; };
  const auto local = [&](int64_t op) { return static_cast<size_t>(op - segment.begin); };
  for (int64_t op = segment.begin; op < segment.end; ++op)
    for (const auto before : boost::make_iterator_range(inv_adjacent_vertices(op, problem.operators)))
      if (inside(before)) (ancestors[local(op)] |= ancestors[local(before)]).set(local(before));
  for (int64_t op = segment.end; op-- > segment.begin;)
    for (const auto before : boost::make_iterator_range(inv_adjacent_vertices(op, problem.operators)))
      if (inside(before)) (descendants[local(before)] |= descendants[local(op)]).set(local(op));

  std::vector<int64_t> bytes(n);
  for (const Seen& s : seen) {
    Set writes(n), begun(n), used(n);  // an operator, or before it, or at or after it
    for (const int op : s.tensor->writers)
      if (inside(op)) begun |= descendants[local(op)], writes.set(local(op));
    for (const auto* users : {&s.tensor->writers, &s.tensor->readers})
      for (const int op : *users)
        if (inside(op)) (used |= ancestors[local(op)]).set(local(op));
    if (s.before) begun.set();
    if (s.after) used.set();
    const Set alive = writes | (begun & used);
    for (size_t v = alive.find_first(); v != Set::npos; v = alive.find_next(v)) bytes[v] += s.tensor->bytes;
  }

  int64_t bound = 0;
  for (size_t v = 0; v < n; ++v) {
    const OrderOperator& of = problem.operators[segment.begin + static_cast<int64_t>(v)];
    const auto later = [&](int user) {
      return user >= segment.end || (inside(user) && descendants[v].test(local(user)));
    };
    int64_t saved = 0;
    for (const InPlace& in_place : of.in_place) {
      const OrderTensor& tensor = problem.tensors[in_place.tensor];
      if (std::none_of(tensor.readers.begin(), tensor.readers.end(), later) &&
          std::none_of(tensor.writers.begin(), tensor.writers.end(), later))
        saved = std::max(saved, in_place.bytes);
    }
    bound = std::max(bound, of.workspace + bytes[v] - saved);
  }
  return bound;
}

}  // namespace

std::vector<Interval> segments_of(const OrderProblem& problem) {
  // Operator c is comparable to all others when every earlier one has a successor up to c, and every later
  // one a predecessor from c on.
  const int n = static_cast<int>(num_vertices(problem.operators));
  std::vector<int> first_successor(n, n), last_predecessor(n, -1);
  for (const auto edge : boost::make_iterator_range(edges(problem.operators))) {
    const int before = static_cast<int>(source(edge, problem.operators));
    const int after = static_cast<int>(target(edge, problem.operators));
    first_successor[before] = std::min(first_successor[before], after);
    last_predecessor[after] = std::max(last_predecessor[after], before);
  }
  std::vector<int> earliest(n + 1, n);  // of last_predecessor over [c, n)
  for (int c = n; c-- > 0;) earliest[c] = std::min(earliest[c + 1], last_predecessor[c]);
  std::vector<Interval> segments;
  int begin = 0, latest = -1;
  for (int c = 0; c < n; ++c) {
    if (c + 1 == n || (latest <= c && earliest[c + 1] >= c)) {
      segments.push_back({begin, c + 1});
      begin = c + 1;
    }
    latest = std::max(latest, first_successor[c]);
  }
  return segments;
}

std::vector<int64_t> lower_bounds(const OrderProblem& problem, const std::vector<Interval>& segments) {
  std::vector<int> segment_of(num_vertices(problem.operators));
  for (size_t k = 0; k < segments.size(); ++k)
    std::fill(segment_of.begin() + segments[k].begin, segment_of.begin() + segments[k].end,
              static_cast<int>(k));
  std::vector<std::vector<Seen>> seen(segments.size());
  std::vector<int64_t> across(segments.size() + 1);  // by how much more of tensors from before to after
  for (const OrderTensor& tensor : problem.tensors) {
    int first = -1, last = -1;  // segments: of the first writer, of the last user
    if (!tensor.writers.empty())
      first = segment_of[*std::min_element(tensor.writers.begin(), tensor.writers.end())];
    for (const auto* users : {&tensor.writers, &tensor.readers})
      for (int op : *users) last = std::max(last, segment_of[op]);
    if (last < 0) continue;
    if (first >= 0 && first < last) seen[first].push_back({&tensor, false, true});
    seen[last].push_back({&tensor, first < last, false});
    if (first + 1 < last) across[first + 1] += tensor.bytes, across[last] -= tensor.bytes;
  }
  std::partial_sum(across.begin(), across.end(), across.begin());
  std::vector<int64_t> bounds;
  for (size_t k = 0; k < segments.size(); ++k) {
    const bool large = segments[k].end - segments[k].begin > kLargestSegment;
    bounds.push_back(across[k] + (large ? 0 : bound_of(problem, segments[k], seen[k])));
  }
  return bounds;
}

int64_t lower_bound(const OrderProblem& problem) {
  const auto bounds = lower_bounds(problem, segments_of(problem));
  return bounds.empty() ? 0 : *std::max_element(bounds.begin(), bounds.end());
}

}  // namespace arenac
