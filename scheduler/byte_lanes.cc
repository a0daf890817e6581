#include "scheduler/byte_lanes.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace arenac {

int byte_vectors(int lanes, const Target& target) {
  const int widest = target.lanes / 2, rest = lanes % widest;
  return lanes / widest + std::popcount(static_cast<unsigned>(rest / kBytes));
}

int byte_lanes_for(int64_t extent, int64_t room, const Target& target) {
  int best = static_cast<int>(std::min<int64_t>(extent, target.byte_lanes));
  std::tuple least(INT64_MAX, INT64_MAX);
  for (int lanes = target.byte_lanes; lanes >= kBytes; lanes -= kBytes) {
    if (lanes > std::max(extent, room)) continue;
    const int64_t blocks = ceil_div(extent, lanes);
    const std::tuple work(blocks * (1 + byte_vectors(lanes, target)), blocks * lanes);
    if (work <= least) best = lanes, least = work;  // narrower blocks are of more pixels
  }
  return best;
}

int64_t byte_room_for(int64_t columns, const Target& target) {
  return std::max<int64_t>(columns, byte_lanes_for(columns, target.byte_lanes, target));
}

}  // namespace arenac
