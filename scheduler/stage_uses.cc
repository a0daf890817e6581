#include "scheduler/stage_uses.h"

#include <algorithm>

namespace arenac {

StageUses stage_uses(const CutSteps& steps, const Group& group, std::vector<std::vector<Pull>> pulls) {
  StageUses uses{steps, group, std::move(pulls), std::vector<std::vector<int>>(steps.cut.size())};
  auto& touching = uses.touching;
  const auto touch = [&](TensorId tensor, int k) {
    const std::pair touched(uses.root(tensor), k);
    if (touching.empty() || touching.back() != touched) touching.push_back(touched);
  };
  for (int k = 0; k < uses.count(); ++k) {
    touch(uses.slabs(k).write.tensor, k);
    for (const RowAccess& read : uses.slabs(k).reads) touch(read.tensor, k);
    for (const Pull& pull : uses.pulls[k]) uses.pulled_by[pull.producer].push_back(k);
  }
  std::ranges::sort(touching);
  touching.erase(std::unique(touching.begin(), touching.end()), touching.end());
  return uses;
}

bool reads(const StageUses& uses, int k, TensorId storage) {
  return std::ranges::any_of(uses.slabs(k).reads,
                             [&](const RowAccess& r) { return uses.root(r.tensor) == storage; });
}

const RowAccess& read_of(const StageUses& uses, int k, TensorId storage) {
  return *std::ranges::find_if(uses.slabs(k).reads,
                               [&](const RowAccess& r) { return uses.root(r.tensor) == storage; });
}

const ColumnAxes& column_axes_of(const StageUses& uses, int k, TensorId storage) {
  static const ColumnAxes none = {};
  const auto& all = uses.slabs(k).columns;
  const auto at = std::ranges::find(all, storage, &ColumnAxes::storage);
  return at == all.end() ? none : *at;
}

std::vector<int> users_of(const StageUses& uses, TensorId storage) {
  const auto& touching = uses.touching;
  std::vector<int> users;
  for (auto at = std::ranges::lower_bound(touching, std::pair(storage, 0));
       at != touching.end() && at->first == storage; ++at)
    users.push_back(at->second);
  if (!users.empty() && uses.writes(users.back(), storage)) users.clear();
  return users;
}

std::optional<StagePair> pair_of(const StageUses& uses, TensorId storage) {
  const std::vector<int> users = users_of(uses, storage);
  if (users.size() != 2 || reads(uses, users[0], storage) || !is_closed(uses, users)) return std::nullopt;
  const auto here = [&](const RowAccess& r) { return uses.root(r.tensor) == storage; };
  if (std::ranges::count_if(uses.slabs(users[1]).reads, here) != 1) return std::nullopt;
  return StagePair{users[0], users[1]};
}

bool is_closed(const StageUses& uses, const std::vector<int>& stages) {
  const auto in = [](const std::vector<int>& all, int k) { return std::ranges::count(all, k) > 0; };
  const auto asked_for = [&](int k) {
    const auto outside = [&](int reader) { return !in(stages, reader); };
    return std::ranges::any_of(uses.pulled_by[k], outside) || in(uses.group.sinks, k) ||
           in(uses.group.completed, k);
  };
  return std::ranges::none_of(stages, [&](int k) { return k != stages.back() && asked_for(k); });
}

bool is_in_step(const StageUses& uses, int guest, int host) {
  if (guest == host) return true;
  if (uses.slabs(guest).count != uses.slabs(host).count) return false;
  for (int k : uses.pulled_by[guest])
    for (const Pull& pull : uses.pulls[k])
      if (pull.producer == guest && !in_turn(pull)) return false;
  return true;
}

bool touch_same_rows(const StageUses& uses, const std::vector<int>& users, TensorId storage) {
  const RowAccess& first = uses.slabs(users[0]).write;
  const auto same = [&](const RowAccess& access) {
    return uses.root(access.tensor) != storage || access.rows == first.rows;
  };
  for (int k : users)
    if (!same(uses.slabs(k).write) || !std::ranges::all_of(uses.slabs(k).reads, same)) return false;
  for (size_t t = 0; t < first.rows.size(); ++t) {
    const bool next = t == 0 || first.rows[t].begin == first.rows[t - 1].end;
    if (first.rows[t].end - first.rows[t].begin != height_of(first) || !next) return false;
  }
  return uses.writes(users[0], storage);
}

}  // namespace arenac
