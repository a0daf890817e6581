// The tick planner of oneDNN Graph Compiler and of MLIR's merge-alloc pass (static_memory_planner.cpp): an
// allocator at run time whose memory is a row of chunks that may still be moved, for nothing has run yet.
//
//   | a | free | b | c |  --d-->  | a |    d    | b | c |     d extends the free chunk, b and c move up
//
// A buffer takes the start of a free chunk that is large enough, or extends one that is not; a new chunk is
// made at the end only if none is free. Freed chunks merge with free neighbours. Which chunk:
//   size first    the smallest that is large enough, else the largest; of equal ones the lowest
//   hot chunks    the best score: nearness of the sizes (1 more if nothing is extended), plus 1 less a tenth
//                 for each allocation or release since the chunk was freed; of equal ones the lowest
//
// Published figures are for the whole row of chunks. Buffers of the past stay where they were inside a chunk
// that merged, split and was extended later, so nobody may reach the top of the row: the makespan is smaller
// then, for hot chunks on minimalloc's C and E and on bert_base.
#include <algorithm>
#include <cmath>
#include <list>

#include "planner/bounds.h"
#include "planner/packing.h"
#include "planner/rows/orders.h"
#include "planner/rows/rows.h"

namespace arenac {
namespace {

struct Chunk {
  int64_t size = 0;  // bytes
  bool free = false;
  int64_t freed_at = 0;  // tick
  int place = 0;
};

// Where a chunk that has merged began: so many bytes after the place it is part of now.
struct Place {
  int part_of = -1;  // a place; -1: a chunk of the row, whose start counts
  int64_t start = 0;
};

using Chunks = std::list<Chunk>;

class Row {
 public:
  // The free chunk to take for so many bytes, of which there is one at least.
  using Choose = Chunks::iterator (*)(Chunks& chunks, int64_t size, int64_t tick);

  // The place of the buffer.
  int take(int64_t size, Choose choose) {
    ++tick_;
    if (free_ == 0) {
      chunks_.push_back({size, false, 0, new_place()});
      return stand_at(std::prev(chunks_.end()));
    }
    const auto chosen = choose(chunks_, size, tick_);
    if (chosen->size > size)
      chunks_.insert(std::next(chosen), {chosen->size - size, true, chosen->freed_at, new_place()});
    else
      --free_;
    chosen->size = size;
    chosen->free = false;
    return stand_at(chosen);
  }

  void release(int place) {
    const auto chunk = chunk_at_[place];
    chunk->free = true;
    chunk->freed_at = ++tick_;
    ++free_;
    if (auto right = std::next(chunk); right != chunks_.end() && right->free) join(chunk, right);
    if (chunk != chunks_.begin() && std::prev(chunk)->free) join(std::prev(chunk), chunk);
  }

  // Bytes, per place; when all is done.
  std::vector<int64_t> starts() {
    int64_t start = 0;
    for (const Chunk& chunk : chunks_) {
      places_[chunk.place].start = start;
      start += chunk.size;
    }
    std::vector<int64_t> result;
    for (int place = 0; place < int(places_.size()); ++place) result.push_back(resolve(place));
    return result;
  }

 private:
  int new_place() {
    places_.emplace_back();
    chunk_at_.emplace_back();
    return int(places_.size()) - 1;
  }

  int stand_at(Chunks::iterator chunk) {
    chunk_at_[chunk->place] = chunk;
    return chunk->place;
  }

  void join(Chunks::iterator left, Chunks::iterator right) {
    places_[right->place] = {left->place, left->size};
    left->size += right->size;
    left->freed_at = tick_;
    chunks_.erase(right);
    --free_;
  }

  // The start, after making the place and all on the way part of a chunk directly.
  int64_t resolve(int place) {
    std::vector<int> way;
    for (; places_[place].part_of >= 0; place = places_[place].part_of) way.push_back(place);
    int64_t start = places_[place].start;
    for (; !way.empty(); way.pop_back()) {
      start += places_[way.back()].start;
      places_[way.back()] = {-1, start};
    }
    return start;
  }

  Chunks chunks_;  // by offset
  int free_ = 0;   // how many of them are
  std::vector<Place> places_;
  std::vector<Chunks::iterator> chunk_at_;  // per place of a buffer that lives
  int64_t tick_ = 0;
};

Chunks::iterator size_first(Chunks& chunks, int64_t size, int64_t) {
  auto best = chunks.end();
  for (auto it = chunks.begin(); it != chunks.end(); ++it) {
    if (!it->free) continue;
    const bool enough = it->size >= size;
    if (best == chunks.end() || (best->size < size ? it->size > best->size : enough && it->size < best->size))
      best = it;
  }
  return best;
}

Chunks::iterator hot_chunks(Chunks& chunks, int64_t size, int64_t tick) {
  auto best = chunks.end();
  double best_score = 0;
  for (auto it = chunks.begin(); it != chunks.end(); ++it) {
    if (!it->free) continue;
    const double nearness = -std::abs(double(it->size - size)) / double(std::max(it->size, size));
    const double heat = 1 - std::min(double(tick - it->freed_at) / 10, 1.0);
    const double score = nearness + (size <= it->size ? 1 : 0) + heat;
    if (best == chunks.end() || score > best_score) {
      best = it;
      best_score = score;
    }
  }
  return best;
}

Plan merge_alloc(const Problem& problem, Row::Choose choose) {
  const int64_t step = common_alignment(problem);  // chunks move by multiples of it
  Row row;
  std::vector<int> place(problem.buffers.size(), -1);
  for (const Event& event : events(without_sharing(problem), all_buffers(problem))) {
    if (event.begins)
      place[event.id] = row.take(round_up(problem.buffers[event.id].size, step), choose);
    else
      row.release(place[event.id]);
  }
  const std::vector<int64_t> starts = row.starts();
  std::vector<Placement> placements(problem.buffers.size());
  for (size_t id = 0; id < placements.size(); ++id)
    if (place[id] >= 0) placements[id].offset = starts[place[id]];
  return make_plan(problem, placements);
}

}  // namespace

Plan merge_alloc_size_first(const Problem& problem, const Search&) {
  return merge_alloc(problem, size_first);
}
Plan merge_alloc_hot_chunks(const Problem& problem, const Search&) {
  return merge_alloc(problem, hot_chunks);
}

}  // namespace arenac
