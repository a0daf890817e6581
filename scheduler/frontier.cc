#include "scheduler/frontier.h"

#include <algorithm>

namespace arenac {

// An operator that reads and writes a tensor uses it once. What nobody writes is alive from the start, if
// anybody uses it.
Frontier::Frontier(const OrderProblem& problem) {
  const size_t n = num_vertices(problem.operators), m = problem.tensors.size();
  ops_.resize(n), missing_.resize(n), place_.assign(n, -1);
  tensor_bytes_.resize(m), written_.resize(m), pending_.resize(m);
  for (size_t t = 0; t < m; ++t) {
    const OrderTensor& tensor = problem.tensors[t];
    const int id = static_cast<int>(t);
    // each operator once, whether it writes, reads or both
    std::vector<int> users = tensor.writers;
    users.insert(users.end(), tensor.readers.begin(), tensor.readers.end());
    std::sort(users.begin(), users.end());
    users.erase(std::unique(users.begin(), users.end()), users.end());
    for (int op : users) ops_[op].uses.push_back(id);
    for (int op : tensor.writers) ops_[op].writes.push_back(id);
    tensor_bytes_[t] = tensor.bytes;
    pending_[t] = static_cast<int>(users.size());
    written_[t] = tensor.writers.empty() ? 1 : 0;
    if (written_[t] && pending_[t]) bytes_ += tensor.bytes;
  }
  for (size_t op = 0; op < n; ++op) {
    const OrderOperator& from = problem.operators[op];
    ops_[op].workspace = from.workspace;
    ops_[op].in_place = from.in_place;
    const auto [begin, end] = adjacent_vertices(op, problem.operators);
    ops_[op].successors.assign(begin, end);
    missing_[op] = static_cast<int>(in_degree(op, problem.operators));
  }
  for (size_t op = 0; op < n; ++op)
    if (missing_[op] == 0) make_ready(static_cast<int>(op));
}

//   during = alive before + results that begin now + workspace - what lies in place of a dying operand
//   after  = alive before + results that begin now - what this was the last to use
Frontier::Move Frontier::move(int op) const {
  const Op& o = ops_[op];
  int64_t opened = 0, closed = 0, saved = 0;
  for (int t : o.writes)
    if (written_[t] == 0) opened += tensor_bytes_[t];
  for (int t : o.uses)
    if (pending_[t] == 1) closed += tensor_bytes_[t];
  // only an operand that dies here gives its place
  for (const InPlace& in_place : o.in_place)
    if (pending_[in_place.tensor] == 1) saved = std::max(saved, in_place.bytes);
  return {bytes_ + opened + o.workspace - saved, bytes_ + opened - closed};
}

// bytes_ is what is alive after all that has run: a tensor counts from its first writer to its last user.
void Frontier::run(int op) {
  const Op& o = ops_[op];
  for (int t : o.writes)
    if (written_[t]++ == 0) bytes_ += tensor_bytes_[t];
  for (int t : o.uses)
    if (--pending_[t] == 0) bytes_ -= tensor_bytes_[t];
  make_unready(op);
  for (int next : o.successors)
    if (--missing_[next] == 0) make_ready(next);
}

// The exact opposite of run(), step by step backwards: counters and bytes are what they were. The order of
// ready_ may be another one.
void Frontier::undo(int op) {
  const Op& o = ops_[op];
  for (int next : o.successors)
    if (missing_[next]++ == 0) make_unready(next);
  make_ready(op);
  for (int t : o.uses)
    if (pending_[t]++ == 0) bytes_ += tensor_bytes_[t];
  for (int t : o.writes)
    if (--written_[t] == 0) bytes_ -= tensor_bytes_[t];
}

// Behind all that is ready already.
void Frontier::make_ready(int op) {
  place_[op] = static_cast<int>(ready_.size());
  ready_.push_back(op);
}

// The last one takes its place: constant time.
void Frontier::make_unready(int op) {
  const int last = ready_.back();
  ready_[place_[op]] = last;
  place_[last] = place_[op];
  ready_.pop_back();
}

}  // namespace arenac
