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

class Row {
 public:
  // The chunk to take for so many bytes; -1 if none is free.
  using Choose = int (*)(const std::vector<Chunk>& chunks, int64_t size, int64_t tick);

  // The place of the buffer.
  int take(int64_t size, Choose choose) {
    const int chosen = choose(chunks_, size, ++tick_);
    if (chosen < 0) {
      chunks_.push_back({size, false, 0, new_place()});
      return chunks_.back().place;
    }
    if (chunks_[chosen].size > size) {
      Chunk rest{chunks_[chosen].size - size, true, chunks_[chosen].freed_at, new_place()};
      chunks_.insert(chunks_.begin() + chosen + 1, rest);
    }
    chunks_[chosen].size = size;
    chunks_[chosen].free = false;
    return chunks_[chosen].place;
  }

  void release(int place) {
    auto it = std::find_if(chunks_.begin(), chunks_.end(), [&](const Chunk& c) { return c.place == place; });
    it->free = true;
    it->freed_at = ++tick_;
    if (auto right = std::next(it); right != chunks_.end() && right->free) join(it, right);
    if (it != chunks_.begin() && std::prev(it)->free) join(std::prev(it), it);
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
    return int(places_.size()) - 1;
  }

  void join(std::vector<Chunk>::iterator left, std::vector<Chunk>::iterator right) {
    places_[right->place] = {left->place, left->size};
    left->size += right->size;
    left->freed_at = tick_;
    chunks_.erase(right);
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

  std::vector<Chunk> chunks_;  // by offset
  std::vector<Place> places_;
  int64_t tick_ = 0;
};

int size_first(const std::vector<Chunk>& chunks, int64_t size, int64_t) {
  int best = -1;
  for (int i = 0; i < int(chunks.size()); ++i) {
    if (!chunks[i].free) continue;
    const bool enough = chunks[i].size >= size;
    if (best < 0 || (chunks[best].size < size ? chunks[i].size > chunks[best].size
                                              : enough && chunks[i].size < chunks[best].size))
      best = i;
  }
  return best;
}

int hot_chunks(const std::vector<Chunk>& chunks, int64_t size, int64_t tick) {
  int best = -1;
  double best_score = 0;
  for (int i = 0; i < int(chunks.size()); ++i) {
    const Chunk& c = chunks[i];
    if (!c.free) continue;
    const double nearness = -std::abs(double(c.size - size)) / double(std::max(c.size, size));
    const double heat = 1 - std::min(double(tick - c.freed_at) / 10, 1.0);
    const double score = nearness + (size <= c.size ? 1 : 0) + heat;
    if (best < 0 || score > best_score) {
      best = i;
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
