// The down-sets that a search has visited: whole sets as keys, and how each was reached.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace arenac {

class StateTable {
 public:
  using Id = uint32_t;

  explicit StateTable(size_t operators) : words_((operators + 63) / 64), slots_(1 << 10, kFree) {}

  // Adds the set, reached from `parent` by `moves`, and returns true; false if it is there already.
  bool insert(std::span<const uint64_t> set, Id parent, std::span<const int> moves);

  size_t size() const { return states_.size(); }
  Id last() const { return static_cast<Id>(states_.size() - 1); }
  size_t words() const { return words_; }

  // The operators that lead from the first state to this one.
  std::vector<int> path(Id id) const;

 private:
  static constexpr Id kFree = ~Id{0};
  struct State {
    Id parent;
    size_t moves_begin, moves_end;
  };

  size_t slot_of(std::span<const uint64_t> set) const;  // its own or a free one
  void grow();

  size_t words_;
  std::vector<uint64_t> keys_;
  std::vector<Id> slots_;
  std::vector<State> states_;
  std::vector<int> moves_;
};

}  // namespace arenac
