// A number for what nests compute:
//
//   out[i0] = x0[i0] + 1     twice, of whatever operands: one number
//   out[i0] = x0[i0] + 2     another, as a rule
//
// Nests that are the same to the last index have the same number; operands count by their positions.
#pragma once

#include <unordered_map>

#include "frontend/graph.h"

namespace arenac {

// Trees that nests share are walked once, so that all nests outlive this.
class NestHash {
 public:
  size_t of(const Nests& nests);

 private:
  size_t of(const Expr& e);

  std::unordered_map<const Expr::Tree*, size_t> known_;
};

}  // namespace arenac
