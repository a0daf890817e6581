// One number for several values:  hash_of(rows.size, rows.count, hash_of(slabs_at))
#pragma once

#include <boost/container_hash/hash.hpp>
#include <vector>

#include "frontend/facts.h"

namespace arenac {

template <typename... T>
size_t hash_of(const T&... all) {
  size_t seed = 0;
  (boost::hash_combine(seed, all), ...);
  return seed;
}

inline size_t hash_of(const std::vector<Interval>& parts) {
  size_t seed = parts.size();
  for (const auto& [begin, end] : parts) boost::hash_combine(seed, begin), boost::hash_combine(seed, end);
  return seed;
}

}  // namespace arenac
