// In which order to run operators so that few bytes are alive at once: bytes and dependencies, no ONNX.
//
//            ┌─▶ b1 ──64──▶ b2 ──1──┐        a b1 c1 b2 c2 d   129 bytes and more (breadth first)
//   a ──16──▶│                      ├─▶ d
//            └─▶ c1 ──64──▶ c2 ──1──┘        a b1 b2 c1 c2 d    81 bytes: optimal
//
//   OrderResult best = optimal_order(problem);       // {order, peak, lower_bound, proven}
//
// Source: down-set search after Liu (1987) and Ahn et al., "SERENITY" (MLSys 2020); free moves and chains,
// cuts and the search by levels are ours.
#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <boost/range/iterator_range.hpp>
#include <cstdint>
#include <vector>

#include "scheduler/deadline.h"

namespace arenac {

// Alive from before its first writer runs until after the last of its readers and writers has run. Without
// writers: alive from the start.
struct OrderTensor {
  int64_t bytes = 0;
  std::vector<int> writers, readers;  // operators
};

// The operator's result may lie where `tensor` lay, if that dies there: `bytes` less at that step. The bytes
// are no more than those of results which no other operator writes.
struct InPlace {
  int tensor;
  int64_t bytes;
};

struct OrderOperator {
  int64_t workspace = 0;          // bytes, only while it runs
  std::vector<InPlace> in_place;  // the best of them counts
};

// An edge from each operator to those that must run after it, all of larger index: the order of the indices,
// the file's order, can run. There are no parallel edges.
using Precedence = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, OrderOperator>;

struct OrderProblem {
  std::vector<OrderTensor> tensors;
  Precedence operators;
};

// What a search may spend. Bounded by states alone, results are the same on every machine.
struct OrderLimits {
  int64_t states = 300'000;
  Deadline deadline = kNoDeadline;
};

struct OrderResult {
  std::vector<int> order;
  int64_t peak = 0;           // bytes
  int64_t lower_bound = 0;    // no order has a lower peak
  bool proven = false;        // the two are equal
  int64_t states = 0;         // down-sets that the search visited
  LimitsHit limits_hit = {};  // empty where it is proven
};

// One row of the table of orders.
struct OrderRow {
  const char* name;
  const char* description;
  OrderResult (*order)(const OrderProblem& problem, const OrderLimits& limits);
};
const std::vector<OrderRow>& orders();

std::vector<int> file_order(const OrderProblem& problem);
std::vector<int> breadth_first_order(const OrderProblem& problem);
std::vector<int> depth_first_order(const OrderProblem& problem);
std::vector<int> greedy_order(const OrderProblem& problem);
OrderResult optimal_order(const OrderProblem& problem, const OrderLimits& limits = {});

// The most bytes alive while one of the operators runs; InternalError unless the order can run.
int64_t peak_of(const OrderProblem& problem, const std::vector<int>& order);

// A bound by ancestors and descendants: what is alive while an operator runs, whatever the order.
int64_t lower_bound(const OrderProblem& problem);

}  // namespace arenac
