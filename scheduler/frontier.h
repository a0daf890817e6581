// A set of operators that have run, what is alive after them and what may run next; one step on or back in
// time proportional to the operator's edges.
#pragma once

#include "scheduler/order.h"

namespace arenac {

class Frontier {
 public:
  explicit Frontier(const OrderProblem& problem);

  // The bytes while an operator that is ready runs, and after it.
  struct Move {
    int64_t during, after;
  };
  Move move(int op) const;

  void run(int op);
  void undo(int op);  // the operator that ran last

  const std::vector<int>& ready() const { return ready_; }
  int64_t bytes() const { return bytes_; }

 private:
  struct Op {
    std::vector<int> writes, uses;  // tensors; what it writes is among what it uses
    std::vector<int> successors;
    int64_t workspace;
    std::vector<InPlace> in_place;
  };

  void make_ready(int op);
  void make_unready(int op);

  std::vector<Op> ops_;
  std::vector<int64_t> tensor_bytes_;
  std::vector<int> written_;  // per tensor: writers that ran; one more if it has none
  std::vector<int> pending_;  // per tensor: readers and writers that have not run
  std::vector<int> missing_;  // per operator: predecessors that have not run
  std::vector<int> ready_, place_;
  int64_t bytes_ = 0;
};

}  // namespace arenac
