#include "scheduler/chunk_turns.h"

#include <algorithm>

#include "scheduler/families.h"
#include "scheduler/groups.h"

namespace arenac {
namespace {

// Whether those who touch the storage multiply, and none of them reads for one column what another one needs.
bool multiply_apart(const StageUses& uses, const std::vector<int>& users, TensorId storage) {
  const auto have = [&](ColumnFactors factors) {
    return std::ranges::any_of(users,
                               [&](int k) { return column_axes_of(uses, k, storage).factors == factors; });
  };
  return have(ColumnFactors::kOwn) && !have(ColumnFactors::kShared);
}

// Chunks that those who touch the storage run in: as some of them do already, or as suits all.
int64_t chunks_of(const Group& group, const StageUses& uses, const std::vector<int>& users, TensorId storage,
                  int64_t width) {
  for (int k : users)
    if (group.stages[k].chunks > 1) return group.stages[k].chunks;
  const int64_t count = uses.facts.columns[storage].count;
  return multiply_apart(uses, users, storage) ? count : count / width_of_chunk(count, width);
}

}  // namespace

int64_t width_of_chunk(int64_t columns, int64_t least) {
  for (int64_t width = least; width < columns; ++width)
    if (columns % width == 0) return width;
  if (least > Keep{}.width) return columns;
  return columns % 2 == 0 ? 2 : 1;
}

std::optional<ColumnTurns> column_turns(const Group& group, const StageUses& uses, TensorId storage,
                                        int64_t width) {
  const Rows& columns = uses.facts.columns[storage];
  if (columns.size == 0 || columns.count < 2) return std::nullopt;
  std::vector<int> users = users_of(uses, storage);
  if (users.size() < 2 || uses.is_fed(users[0]) || !touch_same_rows(uses, users, storage))
    return std::nullopt;
  const int64_t chunks = chunks_of(group, uses, users, storage, width);
  if (chunks == 1) return std::nullopt;
  const int host = turns_with(group, users.back());
  for (int k : users) {
    const Stage& stage = group.stages[k];
    const std::vector<int>& axes = column_axes_of(uses, k, storage).axes;
    const bool other = stage.chunks > 1 && (stage.chunks != chunks || stage.chunk_axes != axes);
    if (axes.empty() || other || stage.seen_through_window() || !is_in_step(uses, k, host))
      return std::nullopt;
  }
  return ColumnTurns{storage, std::move(users), host, chunks};
}

void take_turns(Group& group, const StageUses& uses, const ColumnTurns& turns) {
  for (Stage& stage : group.stages)
    if (std::ranges::binary_search(turns.users, stage.host)) stage.host = turns.host;
  for (int k : turns.users) {
    Stage& stage = group.stages[k];
    stage.chunks = turns.chunks;
    stage.chunk_axes = column_axes_of(uses, k, turns.storage).axes;
    if (k != turns.host) stage.host = turns.host;
  }
}

Ring ring_of_turns(const Group& group, const StageUses& uses, TensorId storage) {
  const Rows &rows = uses.facts.rows[storage], &columns = uses.facts.columns[storage];
  const int writer = users_of(uses, storage).front();
  return {rows.size, height_of(uses.slabs(writer).write), columns.size,
          columns.count / group.stages[writer].chunks};
}

}  // namespace arenac
