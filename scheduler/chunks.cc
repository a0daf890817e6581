#include "scheduler/chunks.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "scheduler/chunk_turns.h"
#include "scheduler/families.h"
#include "scheduler/slab_runs.h"

namespace arenac {
namespace {

// Whether it adds to what it wrote before, which it would do twice if it ran again.
bool has_sums(const Node& node) {
  const Nests& nests = std::get<Nests>(node.body);
  return std::any_of(nests.begin(), nests.end(), [](const Nest& nest) { return nest.accumulate; });
}

// Takes the pulls of the stages, which have none then. While hosts and guests are found, pulls of single
// stages mean nothing.
std::vector<std::vector<Pull>> taken_pulls(Group& group) {
  std::vector<std::vector<Pull>> pulls;
  pulls.reserve(group.stages.size());
  for (Stage& stage : group.stages) pulls.push_back(std::exchange(stage.pulls, {}));
  return pulls;
}

// How the stages of a group run within each other, to go back to where an attempt fails.
class HostsBefore {
 public:
  explicit HostsBefore(const Group& group) {
    for (const Stage& stage : group.stages) all_.push_back({stage.host, stage.chunks, stage.chunk_axes});
  }
  void restore(Group& group) {
    for (size_t k = 0; k < all_.size(); ++k) {
      Stage& stage = group.stages[k];
      std::tie(stage.host, stage.chunks) = std::tie(all_[k].host, all_[k].chunks);
      stage.chunk_axes = std::move(all_[k].chunk_axes);
    }
  }

 private:
  struct Before {
    int host;
    int64_t chunks;
    std::vector<int> chunk_axes;
  };
  std::vector<Before> all_;
};

}  // namespace

Chunks::Chunks(const CutSteps& steps, Group& group, int64_t width)
    : group_(group), width_(width), uses_(stage_uses(steps, group, taken_pulls(group))) {}

// Host -1 and one chunk, with the pulls that were taken.
std::vector<Stage> Chunks::plain() const {
  std::vector<Stage> stages;
  for (int k = 0; k < uses_.count(); ++k) {
    const Stage& stage = group_.stages[k];
    stages.push_back({stage.step, stage.slabs, stage.nests, uses_.pulls[k]});
  }
  return stages;
}

// Guests pull nothing: their host does, before its slab.
void Chunks::gather_pulls() {
  std::vector<std::vector<Pull>> pulls = pulls_of_hosts(group_, uses_);
  for (size_t k = 0; k < pulls.size(); ++k) group_.stages[k].pulls = std::move(pulls[k]);
}

// The writer is a guest from now on; its chunks come with cut(). Not of a writer whose rows come once, as the
// caller passes them or each follows from the one before; that adds to what it wrote; or that is a guest
// already.
//
//   a 3x3 convolution whose slab t reads rows [2t - 1, 2t + 2) of h: within its slab t, the writer of h runs
//   its slabs [2t - 1, 2t + 2), of which the first has run in slab t - 1, too
bool Chunks::compute_again(TensorId storage) {
  const auto pair = pair_of(uses_, storage);
  if (!pair) return false;
  Stage& writer = group_.stages[pair->writer];
  const Node& node = uses_.node(pair->writer);
  if (runs_by_rows(node, uses_.graph()) || has_sums(node) || writer.host >= 0) return false;
  auto slabs = slabs_read(read_of(uses_, pair->reader, storage), uses_.slabs(pair->writer).write);
  if (!slabs) return false;
  writer.host = pair->reader;
  writer.slabs_at = std::move(*slabs);
  again_.insert(storage);
  in_chunks_.insert(storage);
  return true;
}

// `rings` says what rows would keep; those that get smaller in chunks are exchanged in it.
bool Chunks::cut(std::vector<KeptRing>& rings) {
  for (Stage& stage : group_.stages) stage.pulls.clear();  // until they are gathered
  // Turns first: windows are placed within the families that these make.
  for (KeptRing& ring : rings)
    if (!in_chunks_.contains(ring.storage)) share(ring, rings);
  for (TensorId storage : again_)  // before others ask when it runs
    if (!slide(storage, rings)) return false;
  for (const KeptRing& ring : rings)
    if (!in_chunks_.contains(ring.storage)) slide(ring.storage, rings);
  return true;
}

// Those who touch the storage take turns, and those who touch what these then meet in, until nobody meets: in
// a slab of the host, no row may be written by one and touched by another but column by column. All or
// nothing: where the end is not reached, hosts and chunks are as before.
bool Chunks::share(KeptRing& ring, std::vector<KeptRing>& rings) {
  std::optional<ColumnTurns> turns = column_turns(group_, uses_, ring.storage, width_);
  if (!turns) return false;
  HostsBefore before(group_);
  const int last = turns->users.back();
  std::vector<KeptRing*> shared;
  for (KeptRing* next = &ring; turns;) {
    take_turns(group_, uses_, *turns);
    in_chunks_.insert(next->storage);
    shared.push_back(next);
    const int host = turns_with(group_, last);
    if (!is_closed(uses_, family_of(group_, host))) break;  // a guest would be asked for out of turn
    const TensorId met = rows_met_in(host, group_, uses_, in_chunks_);
    if (met < 0) {
      for (KeptRing* done : shared) done->ring = ring_of_turns(group_, uses_, done->storage);
      return true;
    }
    const auto at = std::ranges::find(rings, met, &KeptRing::storage);
    if (at == rings.end()) break;
    next = &*at;
    turns = column_turns(group_, uses_, met, width_);
  }
  before.restore(group_);
  for (const KeptRing* undone : shared) in_chunks_.erase(undone->storage);
  return false;
}

// Of a storage whose writer can run in turns with who reads it through windows: what is needed for that, or
// nothing.
std::optional<SlidingWindow> Chunks::window_of(TensorId storage) const {
  const Rows& columns = uses_.facts.columns[storage];
  if (columns.count < 2) return std::nullopt;
  const bool again = again_.contains(storage);
  const auto pair = pair_of(uses_, storage);
  if (!pair || uses_.is_fed(pair->writer)) return std::nullopt;
  const Node& writer = uses_.node(pair->writer);
  if (!again && (group_.stages[pair->writer].host >= 0 || has_sums(writer))) return std::nullopt;
  // Where vectors lie along elements side by side, a ring of these would cut them up.
  if (columns.size == 1 && width_ > 1 && multiply_accumulates(writer) > 0) return std::nullopt;
  // The writer's family runs the reader slab by slab. What is computed again begins anew with each slab of
  // its host, which so runs one after the other.
  const int host = turns_with(group_, pair->reader);
  if (again) {
    if (group_.stages[host].host >= 0) return std::nullopt;
  } else {
    for (int k = 0; k < uses_.count(); ++k)
      if (group_.stages[k].host == pair->writer && computes_again(k)) return std::nullopt;
    for (int k = host; k >= 0; k = group_.stages[k].host)
      if (computes_again(k)) return std::nullopt;
  }
  return SlidingWindow{storage, *pair, again};
}

// The writer runs in turns with its reader where that keeps fewer bytes, or must. What is tried is undone
// where it does not: two stages, and the rings.
bool Chunks::slide(TensorId storage, std::vector<KeptRing>& rings) {
  const auto window = window_of(storage);
  if (!window) return false;
  const auto [writer, reader] = window->stages;
  const Stage writer_before = group_.stages[writer], reader_before = group_.stages[reader];
  const std::vector<KeptRing> before = rings;
  in_chunks_.insert(storage);
  windows_.emplace(storage, *window);
  if (place_window(group_, uses_, *window, width_) &&
      rows_met_in(root_of(group_, writer), group_, uses_, in_chunks_) < 0) {
    // What runs within the writer turns with another host; in which order all others run stays as it was.
    const std::vector<int> moved = family_of(group_, writer);
    for (KeptRing& ring : rings)
      if (const auto at = windows_.find(ring.storage); at != windows_.end()) {
        const bool turned = std::ranges::binary_search(moved, at->second.stages.reader);
        if (ring.storage == storage || turned) ring.ring = ring_of_window(group_, uses_, at->second);
      }
    if (window->is_again || bytes_of(rings) < bytes_of(before)) return true;
  }
  group_.stages[writer] = writer_before;
  group_.stages[reader] = reader_before;
  rings = before;
  in_chunks_.erase(storage);
  windows_.erase(storage);
  return false;
}

int64_t Chunks::bytes_of(const std::vector<KeptRing>& rings) const {
  int64_t bytes = 0;
  for (const auto& [id, ring] : rings) bytes += ring.size() * size_of(uses_.graph().tensors[id].type);
  return bytes;
}

}  // namespace arenac
