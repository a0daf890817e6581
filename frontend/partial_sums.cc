#include "frontend/partial_sums.h"

namespace arenac {
namespace {

constexpr int64_t kPart = 256;        // terms of a part that an axis is cut into
constexpr int64_t kMostInPart = 384;  // of one that is whole axes: no cut for little more
constexpr int64_t kLeastPart = 8;     // terms that one value of an axis makes a part with

}  // namespace

bool sums_in_parts(Combine combine, Type type) { return combine == Combine::kSum && is_float(type); }

std::vector<std::vector<int64_t>> widths_of_parts(std::span<const int64_t> extents) {
  std::vector<std::vector<int64_t>> widths(extents.size());
  int64_t terms = 1;
  for (int64_t extent : extents)
    if (__builtin_mul_overflow(terms, extent, &terms)) terms = INT64_MAX;
  if (terms <= kLongSum) return widths;
  int64_t added = 1;  // one after the other, in a part as it is so far
  for (size_t k = extents.size(); k-- > 0;) {
    int64_t width = added >= kLeastPart ? 1 : kPart / added;
    for (added *= extents[k]; added > kMostInPart; width *= kPart) {
      widths[k].insert(widths[k].begin(), width);
      added = (extents[k] + width - 1) / width;
    }
  }
  return widths;
}

}  // namespace arenac
