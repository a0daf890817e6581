// Operands that move into the storage of a result, one after the other from the last step to the first:
//
//   conv -> c   relu -> r   concat(r, p) -> y        r moves into y at the concat, then c into y at the relu
#pragma once

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "scheduler/liveness.h"
#include "scheduler/views.h"

namespace arenac {

// A block in which no two storages have any of their bytes in common: its steps, without those of views, and
// where tensors lie.
struct ViewedBlock {
  std::vector<Step> steps;
  std::vector<Layout> layouts;
  Views views;
};

// The layout that the storage of x must have for x itself to lie as wanted, through whatever views; nothing
// where it may not lie elsewhere, or x is not all of it.
std::optional<Layout> layout_of_whole(const StorageFacts& facts, const std::vector<Layout>& layouts,
                                      const Views& views, TensorId x, const Layout& wanted);

class StorageMoves {
 public:
  // Who is in use when: `occupied`, per storage of the block. All outlive this.
  StorageMoves(const StorageFacts& facts, const ViewedBlock& block, const std::vector<Occupancy>& occupied);

  const std::vector<Layout>& layouts() const { return layouts_; }

  // Lays x, and the storage that it is all of, out as wanted in the storage that nest k of step s writes;
  // false, and nothing changed, where that storage is in use or x cannot move.
  bool move(TensorId x, const Layout& wanted, int s, int k);

 private:
  // Where nests of concats placed a tensor: tensors in different parts of one concat never touch.
  using Path = std::vector<std::pair<int, int>>;  // (step, nest), ascending

  static bool are_apart(const Path& a, const Path& b);
  bool is_free(TensorId storage, const Path& path, TensorId moved, int s) const;
  bool lay_out(TensorId storage, const Layout& layout);
  int64_t first_use(TensorId id) const;

  const StorageFacts& facts_;
  const ViewedBlock& block_;
  const std::vector<Occupancy>& occupied_;
  std::vector<Layout> layouts_;
  // Per storage: the tensors in it, views apart, by their first uses.
  std::vector<std::set<std::pair<int64_t, TensorId>>> held_;
  std::vector<Path> paths_;  // per tensor
  std::vector<bool> moved_;  // per tensor
};

}  // namespace arenac
