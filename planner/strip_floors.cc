// What a step of the strip search entails: floors and lowest offsets raised to a fixpoint, with the reasons,
// and all of it undone.
#include <algorithm>
#include <utility>

#include "planner/packing.h"
#include "planner/strip_search.h"

namespace arenac {

void StripSearch::undo(size_t changes) {
  while (changes_.size() > changes) {
    const Change& c = changes_.back();
    if (c.kind == Change::kFloor) {
      floor_[c.index] = c.value;
    } else {
      lowest_[c.index] = c.value;
      source_[c.index] = c.source;
    }
    changes_.pop_back();
  }
}

Span StripSearch::reason_of(int section) const {
  return pass_of_[section] == pass_ ? reason_[section] : Span{section, section + 1};
}

bool StripSearch::raise_floor(int section, int64_t floor, Span reason) {
  changes_.push_back({Change::kFloor, section, 0, floor_[section]});
  floor_[section] = floor;
  reason = hull(reason, reason_of(section));
  reason_[section] = reason;
  pass_of_[section] = pass_;
  raised_.push_back({section, reason});
  queue_.push_back(section);
  if (floor + rest_[section] <= capacity_) return true;
  failed_ = reason;
  return false;
}

bool StripSearch::raise_lowest(int i, int64_t offset, int source) {
  const Strip::Item& item = strip_.items[i];
  offset = round_up(offset, item.align);
  int64_t old = lowest_[i];
  if (offset + item.size > capacity_ || (item.fixed >= 0 && offset > item.fixed)) {
    failed_ = reason_of(source);
    return false;
  }
  changes_.push_back({Change::kLowest, i, source_[i], old});
  lowest_[i] = offset;
  source_[i] = source;
  work_ += hull_[i].end - hull_[i].begin;
  item.each_section([&](int s, int64_t) {
    if (floor_[s] < old || queued_of_[s] == pass_) return;
    queued_of_[s] = pass_;
    unsettled_.push_back(s);
  });
  return true;
}

// Raises the floor to where the first remaining item may begin.
bool StripSearch::settle(int section) {
  if (left_[section] == 0) return true;
  int before = support_[section];
  if (before >= 0 && !placed_[before] && lowest_[before] <= floor_[section]) return true;
  int64_t lowest = kNowhere;
  work_ += left_[section];
  for (int i : remaining(section))
    if (lowest_[i] < lowest) {
      lowest = lowest_[i];
      support_[section] = i;
    }
  if (lowest <= floor_[section]) return true;
  Span reason;
  for (int i : remaining(section))
    if (source_[i] >= 0) reason = hull(reason, reason_of(source_[i]));
  return raise_floor(section, lowest, reason);
}

bool StripSearch::propagate() {
  while (!queue_.empty() || !unsettled_.empty()) {
    if (!queue_.empty()) {
      int s = queue_.back();
      queue_.pop_back();
      work_ += left_[s];
      for (int i : remaining(s))
        if (lowest_[i] < floor_[s] && !raise_lowest(i, floor_[s], s)) return false;
      continue;
    }
    int s = unsettled_.back();
    unsettled_.pop_back();
    queued_of_[s] = 0;
    if (!settle(s)) return false;
  }
  return true;
}

void StripSearch::place(int i, int64_t offset) {
  placed_[i] = 1;
  order_.push_back(i);
  offset_[i] = offset;
  work_ += 2 * (hull_[i].end - hull_[i].begin);
  for (int s = hull_[i].begin + 1; s < hull_[i].end; ++s) --crossing_[s];
  strip_.items[i].each_section([&](int s, int64_t height) {
    changes_.push_back({Change::kFloor, s, 0, floor_[s]});
    floor_[s] = offset + height;
    rest_[s] -= height;
    std::vector<int>& here = in_section_[s];
    --left_[s];
    std::swap(*std::find(here.begin(), here.begin() + left_[s], i), here[size_t(left_[s])]);
    tokens_[s] ^= token_[i];
    queue_.push_back(s);
    unsettled_.push_back(s);
    queued_of_[s] = pass_;
  });
}

// Whatever was placed last comes right after the remaining ones of its sections.
void StripSearch::unplace() {
  int i = order_.back();
  order_.pop_back();
  placed_[i] = 0;
  for (int s = hull_[i].begin + 1; s < hull_[i].end; ++s) ++crossing_[s];
  strip_.items[i].each_section([&](int s, int64_t height) {
    rest_[s] += height;
    ++left_[s];
    tokens_[s] ^= token_[i];
  });
}

Span StripSearch::translated(Span reason, size_t raised) const {
  Span result = reason;
  for (size_t r = raised; r < raised_.size(); ++r)
    if (reason.begin <= raised_[r].section && raised_[r].section < reason.end)
      result = hull(result, raised_[r].reason);
  return result;
}

}  // namespace arenac
