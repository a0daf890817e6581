#include "frontend/nest_hash.h"

#include <boost/container_hash/hash.hpp>

namespace arenac {
namespace {

template <typename... T>
void combine(size_t& seed, const T&... all) {
  (boost::hash_combine(seed, all), ...);
}

}  // namespace

size_t NestHash::of(const Nests& nests) {
  size_t seed = nests.size();
  for (const Nest& nest : nests) {
    for (const auto& [extent, reduced] : nest.axes) combine(seed, extent, reduced);
    for (const Expr& e : nest.store) combine(seed, of(e));
    for (const auto& [index, begin, end] : nest.where) combine(seed, of(index), begin, end);
    combine(seed, static_cast<int>(nest.combine), nest.accumulate, of(nest.body), of(nest.finish));
  }
  return seed;
}

size_t NestHash::of(const Expr& e) {
  if (e.empty()) return 0;
  if (const auto at = known_.find(&*e); at != known_.end()) return at->second;
  size_t seed = 0;
  combine(seed, static_cast<int>(e->op), static_cast<int>(e->type), e->index, e->extent);
  if (e->op == Op::kConst) combine(seed, e->value.i);  // floats by their bits
  for (const Expr& arg : e->args) combine(seed, of(arg));
  return known_[&*e] = seed;
}

}  // namespace arenac
