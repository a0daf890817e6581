#include "scheduler/state_table.h"

#include <algorithm>

namespace arenac {

size_t StateTable::slot_of(std::span<const uint64_t> set) const {
  uint64_t hash = 0;
  for (uint64_t word : set) {  // as the finaliser of MurmurHash3
    hash = (hash ^ word) * 0xff51afd7ed558ccd;
    hash ^= hash >> 32;
  }
  const size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const Id id = slots_[slot];
    if (id == kFree || std::equal(set.begin(), set.end(), keys_.begin() + static_cast<long>(id * words_)))
      return slot;
  }
}

bool StateTable::insert(std::span<const uint64_t> set, Id parent, std::span<const int> moves) {
  if (states_.size() * 2 >= slots_.size()) grow();
  const size_t slot = slot_of(set);
  if (slots_[slot] != kFree) return false;
  slots_[slot] = static_cast<Id>(states_.size());
  keys_.insert(keys_.end(), set.begin(), set.end());
  states_.push_back({parent, moves_.size(), moves_.size() + moves.size()});
  moves_.insert(moves_.end(), moves.begin(), moves.end());
  return true;
}

void StateTable::grow() {
  slots_.assign(slots_.size() * 4, kFree);
  for (Id id = 0; id < states_.size(); ++id) slots_[slot_of({keys_.data() + id * words_, words_})] = id;
}

std::vector<int> StateTable::path(Id id) const {
  std::vector<int> reversed;
  for (;; id = states_[id].parent) {
    const State& state = states_[id];
    for (size_t k = state.moves_end; k-- > state.moves_begin;) reversed.push_back(moves_[k]);
    if (id == 0) break;
  }
  std::reverse(reversed.begin(), reversed.end());
  return reversed;
}

}  // namespace arenac
