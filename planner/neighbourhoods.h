// Search over what each item of many takes of common room, for any kind of item.
//
//   place one by one ->  all in the room?  no: what found none goes first, again
//                        yes: take out one that costs more than it might and some that are in its way,
//                             place them again, keep that if it costs hardly more; and so on
//
// (Squeaky wheel optimisation, Joslin and Clements 1999; large neighbourhood search, Shaw 1998; threshold
// accepting, Dueck and Scheuer 1990.)
//
// A Placing, which knows the items and what room is left, has
//   State, Cost                            of an item; costs have +, - and an order
//   bool place(int id)                     the best way there is room for; false if there is none
//   State remove(int id)                   and how it was placed
//   void restore(int id, State)
//   Cost cost(int id)                      impossible if it is not placed
//   const std::vector<State>& states()     per item
//   std::vector<int> neighbours(Random&)   an item that costs more than it might, and those in its way in a
//                                          random order; none if nothing is to gain
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "planner/random.h"

namespace arenac {

template <class State, class Cost>
struct Arrangement {
  std::vector<State> states;  // per item
  Cost cost;
};

template <class Placing>
using ArrangementOf = Arrangement<typename Placing::State, typename Placing::Cost>;

// Of what is placed now.
template <class Placing>
ArrangementOf<Placing> arrangement_of(const Placing& placing) {
  typename Placing::Cost total = {};
  for (size_t id = 0; id < placing.states().size(); ++id) total = total + placing.cost(int(id));
  return {placing.states(), total};
}

// The ids of the items, those of the greatest keys first.
template <class Item>
std::vector<int> sorted_ids(const std::vector<Item>& items, auto&& key) {
  std::vector<double> keys;
  for (const Item& item : items) keys.push_back(key(item));
  std::vector<int> ids(items.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::ranges::stable_sort(ids, std::greater(), [&](int id) { return keys[id]; });
  return ids;
}

// Places all in this order, each try with a new Placing.
template <class MakePlacing>
auto place_in_order(MakePlacing make_placing, std::vector<int> order) {
  constexpr int kTries = 20;
  for (int tries = 0;; ++tries) {
    auto placing = make_placing();
    std::vector<char> without(order.size());
    bool all = true;
    for (const int id : order)
      if (!placing.place(id)) without[id] = 1, all = false;
    if (all || tries == kTries) return arrangement_of(placing);
    std::ranges::stable_partition(order, [&](int id) { return without[id] != 0; });
  }
}

template <class Placing>
class Neighbourhoods {
 public:
  using Cost = typename Placing::Cost;

  // `placing` has placed nothing; `from` has placed everything.
  Neighbourhoods(Placing placing, const ArrangementOf<Placing>& from, uint64_t seed)
      : placing_(std::move(placing)), random_(seed), cost_(from.cost), best_(from) {
    for (size_t id = 0; id < from.states.size(); ++id) placing_.restore(int(id), from.states[id]);
  }

  // Changes nothing if that would cost more than so much more.
  void try_one(const Cost& threshold) {
    std::vector<int> ids = placing_.neighbours(random_);
    if (ids.empty()) return;
    ids.resize(std::min(ids.size(), size_t(2 + random_.below(kMostVictims))));
    if (random_.below(3) == 0) std::swap(ids[0], ids[random_.below(ids.size())]);
    Cost before = {}, after = {};
    std::vector<typename Placing::State> old;
    for (const int k : ids) before = before + placing_.cost(k), old.push_back(placing_.remove(k));
    for (const int k : ids) {
      placing_.place(k);
      after = after + placing_.cost(k);
    }
    if (after <= before || after <= before + threshold) {
      cost_ = cost_ + (after - before);
      if (cost_ < best_.cost) best_ = {placing_.states(), cost_};
      return;
    }
    for (const int k : ids) placing_.remove(k);
    for (size_t k = 0; k < ids.size(); ++k) placing_.restore(ids[k], std::move(old[k]));
  }

  const ArrangementOf<Placing>& best() const { return best_; }

 private:
  static constexpr uint64_t kMostVictims = 6;

  Placing placing_;
  Random random_;
  Cost cost_;
  ArrangementOf<Placing> best_;
};

}  // namespace arenac
