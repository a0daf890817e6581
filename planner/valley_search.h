// Plans by need (skyline.h), drawn again and again: which plan comes out depends on small things, so that the
// best of many is good.
//
//   draw   rectangles from   looks   ahead   mirrored   bias        makespan of the load
//     0        all            128     no       no        none              1.0252
//     1        all            128     no       yes       none              1.0167
//     2        2 KB            32     yes      no        up to 1 %         1.0083
//    ...
//
// Buffers below a drawn size are left out at first: they find room in what the others lose.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "planner/cutoff.h"
#include "planner/packing.h"
#include "planner/problem.h"
#include "planner/random.h"
#include "planner/skyline.h"
#include "planner/timeline.h"

namespace arenac {

// Of a problem with one pool, which outlives it as its timeline does.
class ValleySearch {
 public:
  ValleySearch(const Problem& problem, const Timeline& timeline, uint64_t seed);

  // The best of so many more draws, or of as many as there is work for, or until one comes to at most `goal`
  // bytes; nothing where none is below `size`. Draws are made by several threads, the same for any number.
  struct Limits {
    int64_t goal = 0;  // bytes
    int draws = 0;
    Effort effort;
    int threads = 1;
  };
  std::optional<std::vector<Placement>> smaller_than(int64_t size, const Limits& limits);

 private:
  struct Draw {
    int64_t least_size = 0;  // bytes
    bool mirrored = false;   // in time
    ByNeed by = {};
  };
  struct Drawn {
    std::optional<std::vector<Placement>> placements;  // nothing where that would be too much work
    int64_t work = 0;
  };

  Draw next();
  Draw plain() const;
  Draw settings();
  std::vector<int64_t> bias();
  Drawn drawn(const Draw& draw, const Effort& effort) const;
  std::vector<int> order_by(const std::vector<int64_t>& offsets, const std::vector<int>& filled) const;
  Drawn in_order(const std::vector<int>& order, bool is_whole, const Effort& effort) const;
  int64_t top_of(const std::vector<Placement>& placements) const;

  const Problem& problem_;
  const Timeline& timeline_;
  const int64_t load_;
  Random random_;
  std::vector<int> fixed_, free_, by_size_;
  int draws_ = 0;  // so far
  Draw best_;
  int64_t best_size_;
};

}  // namespace arenac
