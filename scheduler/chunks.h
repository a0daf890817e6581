// Inside a group: rows need not be in memory whole.
//
// A row that one stage writes and others read at the same columns: they run in turns, a few columns at a
// time.
//
//   dw   a a a . . . . . . b b b . . .        writes columns [3t, 3t + 3) of its row
//   pw   . . . a a a . . . . . . b b b        reads them: three columns are in memory
//
// So do all that touch several such rows, for which they take turns together: head after head of an attention
// its scores, their greatest and their sum.
//
// Rows that one stage reads through a window: their writer runs in turns with it, too, a little ahead.
//
//   . . . # # # * * *                         a 3x3 window at `#`; what is kept begins with it and ends
//   * * * # # # * * *                         where the writer is,
//   * * * # # #
//
//   . . . # # # . . .                         or is the window alone: two of its rows are computed again for
//   . . . # # # . . .                         the next row of windows (MCUNetV2's patches in one direction)
//   . . . # # #
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>

#include "scheduler/groups.h"

namespace arenac {

// Whether slab t pulls as far as slab t.
bool in_turn(const Pull& pull);

// Makes hosts and guests of a group's stages.
class Chunks {
 public:
  // `cut`: the steps of the group as it takes them.
  Chunks(Group& group, std::span<const StepInSlabs> cut, int64_t width, const Schedule& whole,
         const StepFacts& facts);

  // The writer of the storage computes what a slab of its reader sees for each slab. False: it cannot.
  bool compute_again(TensorId storage);

  // Makes chunks of columns of the rings that can be, the smaller of rows and columns each. False: what is to
  // be computed again cannot be in chunks.
  bool cut(std::vector<KeptRing>& rings);

  // Whether anything is cut or computed again.
  bool any() const { return !chunked_.empty() || !again_.empty(); }

  // The stages as they were, in rows.
  std::vector<Stage> plain() const;

  // Hosts pull what their guests read, then what they read themselves.
  void gather_pulls();

 private:
  struct Pair {
    int writer, reader;  // stages
  };
  // Of those who touch a storage, chunk by chunk of its columns.
  struct Turns {
    std::vector<int> users;  // stages, ascending
    int host;                // stage within which the others run
    int64_t chunks;
  };
  TensorId root(TensorId id) const { return layouts_[id].root; }
  const Slabs& slabs(int k) const { return cut_[k].slabs; }
  const Node& node(int k) const { return *steps_[group_.stages[k].step].node; }
  // What the caller passes row by row, once.
  bool is_fed(int k) const { return fed_to(node(k), graph_) >= 0; }
  int count() const { return static_cast<int>(group_.stages.size()); }

  bool reads(int k, TensorId storage) const;
  const ColumnAxes& column_axes_of(int k, TensorId storage) const;
  bool writes(int k, TensorId storage) const { return root(slabs(k).write.tensor) == storage; }
  std::vector<int> users_of(TensorId storage) const;
  std::optional<Pair> pair_of(TensorId storage) const;
  std::vector<int> family_of(int host) const;
  int turns_with(int k) const;
  Interval slabs_in(int k, int host, int64_t slab) const;
  bool in_step(int guest, int host) const;
  bool same_rows(const std::vector<int>& users, TensorId storage) const;
  bool closed(const std::vector<int>& family) const;
  TensorId rows_met_in(int host) const;
  std::vector<Pull> needed_by(int k) const;

  bool share(KeptRing& ring, std::vector<KeptRing>& rings);
  std::optional<Turns> turns_of(TensorId storage) const;
  void take(const Turns& turns, TensorId storage);
  int64_t chunks_of(const std::vector<int>& users, TensorId storage) const;
  bool multiplies_apart(const std::vector<int>& users, TensorId storage) const;
  Ring columns_kept(TensorId storage) const;
  bool computes_again(int k) const;
  bool hosts_again(int host) const;
  bool slide(TensorId storage, std::vector<KeptRing>& rings);
  bool place_window(TensorId storage, const Pair& pair, int host);
  const std::vector<Interval>& columns_seen(TensorId storage, const Pair& pair) const;
  Ring kept_of(TensorId storage) const;

  Group& group_;
  const std::span<const StepInSlabs> cut_;
  const int64_t width_;
  const std::vector<Step>& steps_;
  const std::vector<Layout>& layouts_;
  const Graph& graph_;
  const StepFacts& facts_;
  std::vector<std::vector<Pull>> pulls_;           // per stage, without hosts and guests
  std::vector<std::pair<TensorId, int>> touched_;  // storages and the stages that touch them, ascending
  std::vector<std::vector<int>> pulled_by_;        // per stage, those that pull it
  std::set<TensorId> again_, chunked_;
  std::map<TensorId, Pair> windows_;
};

}  // namespace arenac
