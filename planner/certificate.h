// Why no plan of a pool is smaller than a bound: a few of its buffers that alone need so much.
//
//   bytes ^
//      12 |    +---------+                {bound 12, buffers a and c, time 1}: both live then, and use 8
//         |    |    c    |                and 4 bytes; b is not needed to say so
//       8 +----+----+----+
//         |    a    |                     {bound 12, buffers a and c}: wherever the two lie, one above the
//         |         +--------------+      other or the other way round, they take 12; all orders are tried,
//         |         |      b       |      which need not be at one time
//       0 +---------+--------------+-->
//         0    1    2    3    4    5  time
//
// It is found with the planner's own searches and checked without them: check_certificate() knows the
// problem's rules and nothing else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/packing.h"
#include "planner/problem.h"

namespace arenac {

struct Certificate {
  int pool = 0;
  int64_t bound = 0;              // bytes
  std::vector<int> buffers = {};  // ids, ascending
  // Their bytes at that time alone need the bound; without it, the order in which they lie is searched.
  std::optional<int64_t> time = {};

  bool operator==(const Certificate&) const = default;
};

// For `bound`, of these members of a pool; takes a checked problem. Of those that are searched none can be
// spared, as far as the effort allows to say so. Nothing where it is spent before the buffers are few enough
// for check_certificate(), or where the bound is none of these.
inline constexpr int64_t kCertificateWork = 3'000'000'000;  // that one is worth where somebody asks for it
std::optional<Certificate> certify(const Problem& problem, int pool, const std::vector<int>& members,
                                   int64_t bound, const Effort& effort);

// What is wrong with it, or nothing if no plan that puts these buffers into the pool is smaller than the
// bound. Takes a checked problem and any certificate. The search ends after kMostCertificateSteps, which is a
// fault, too.
inline constexpr int64_t kMostCertificateSteps = 2'000'000;
[[nodiscard]] std::optional<std::string> check_certificate(const Problem& problem,
                                                           const Certificate& certificate,
                                                           int64_t most_steps = kMostCertificateSteps);

// "'a', 'c' take 12 bytes of pool 'arena' at time 1 alone"
std::string words(const Problem& problem, const Certificate& certificate);

}  // namespace arenac
