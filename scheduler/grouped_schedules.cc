#include "scheduler/grouped_schedules.h"

#include <algorithm>
#include <map>
#include <memory>
#include <ranges>
#include <set>
#include <utility>

#include "scheduler/fusion.h"
#include "scheduler/made_schedules.h"
#include "scheduler/step_bytes.h"

namespace arenac {
namespace {

// Of how many slabs at most the steps of groups are made beside those of single rows: the fewer, the longer
// are the loops of each.
constexpr int64_t kTurns[] = {8, 16, 32, 64};

constexpr double kMuchWork = 1;  // of searches, in what one may take

// Makes schedules of groups, each kind once.
class Collected {
 public:
  Collected(const std::vector<Schedule>& plain, const Target& target)
      : plain_(plain), target_(target), seen_(plain.size()), made_(plain.size()) {}

  void add(size_t whole, std::vector<GroupPlan> groups) {
    auto& seen = seen_[whole];
    if (groups.empty() || std::find(seen.begin(), seen.end(), groups) != seen.end()) return;
    seen.push_back(groups);
    std::vector<const Schedule*> known = {&plain_[whole]};
    for (const size_t k : made_[whole]) known.push_back(&schedules[k]);
    made_[whole].push_back(schedules.size());
    schedules.push_back(with_groups(plain_[whole], std::move(groups), target_, known));
  }
  void add_all(size_t whole, std::vector<std::vector<GroupPlan>> all) {
    for (std::vector<GroupPlan>& groups : all) add(whole, std::move(groups));
  }

  std::vector<Schedule> schedules;

 private:
  const std::vector<Schedule>& plain_;
  const Target& target_;
  std::vector<std::vector<std::vector<GroupPlan>>> seen_;  // per plain schedule
  std::vector<std::vector<size_t>> made_;                  // per plain schedule, numbers of schedules of it
};

// Of the plain schedules the one whose groups have the lowest peak.
struct Least {
  int64_t peak = INT64_MAX;
  size_t schedule = 0;
};

// The searches for groups of plain schedules, and what they have found.
class GroupedSearches {
 public:
  GroupedSearches(const Graph& graph, const PlainSchedules& whole, const Target& target, Deadline deadline)
      : plain_(whole.schedules),
        accumulating_(whole.accumulating),
        again_(whole.again),
        deadline_(deadline),
        count_(plain_.size() - accumulating_ + (accumulating_ > 0)),
        allowed_work_(work_allowed(graph, Freedom::kSomeAgain)),
        all_(plain_, target) {
    for (size_t k = 0; k < plain_.size(); ++k) note(plain_[k], k);
  }

  // Of those that accumulate, and of their counterparts as far as that is fast.
  void search_plain() {
    for (size_t k = accumulating_; k < plain_.size(); ++k) search(k);
    double work = 0;
    for (const auto& [k, search] : searches_) work += search.work();
    const size_t other = some_.schedule < accumulating_ ? some_.schedule : some_.schedule - accumulating_;
    for (size_t k = 0; k < accumulating_; ++k)
      if (work < kMuchWork || k == std::min(other, accumulating_ - 1)) search(k);
    for (auto& [k, search] : searches_) all_.add_all(k, search.without_windows());
  }

  // Of the smallest ones, in fewer turns.
  void search_in_turns() {
    for (const size_t k : std::set<size_t>{once_.schedule, some_.schedule, any_.schedule})
      for (const int64_t turns : kTurns) {
        std::shared_ptr<const StepFacts> cut = facts_of(k);
        if (cut) cut = std::make_shared<const StepFacts>(in_turns(*cut, turns, plain_[k].steps));
        of_few_turns_.emplace_back(plain_[k], std::move(cut), count_, deadline_, known_);
        all_.add_all(k, of_few_turns_.back().without_windows());
      }
  }

  // Ever lower peaks for work that is done again, up to what is allowed. Once such work pays, no lower peak
  // is expected of the other plain schedules.
  void search_some_again() {
    Expect expect = Expect::kSome;
    for (auto& [k, search] : std::views::reverse(searches_)) {  // those first that were changed most for it
      const int64_t allowed = allowed_work_ - work_again(plain_[k]);
      if (allowed < 0) continue;
      const size_t before = all_.schedules.size();
      all_.add_all(k, search.least_below(some_.peak, allowed, expect));
      if (all_.schedules.size() == before) continue;
      some_.peak = std::min(some_.peak, peak_of(all_.schedules.back()));
      if (work_again(all_.schedules.back()) > 0) expect = Expect::kNone;
    }
  }

  // For whatever work.
  void search_any_again() {
    for (auto& [k, search] : searches_) all_.add_all(k, search.below_least());
  }

  GroupedSchedules result() {
    GroupedSchedules result{std::move(all_.schedules)};
    for (const auto& [k, search] : searches_) result.limits_hit.merge(search.limits_hit());
    for (const GroupSearch& search : of_few_turns_) result.limits_hit.merge(search.limits_hit());
    return result;
  }

 private:
  // A schedule of the steps of plain schedule k.
  void note(const Schedule& schedule, size_t k) {
    const int64_t peak = peak_of(schedule);
    if (peak < any_.peak) any_ = {peak, k};
    if (peak < once_.peak && k < again_) once_ = {peak, k};
    if (peak < some_.peak && work_again(plain_[k]) <= allowed_work_) some_ = {peak, k};
  }

  // Null once the deadline has passed.
  const std::shared_ptr<const StepFacts>& facts_of(size_t k) {
    auto& facts = facts_[k];
    if (!facts && !has_passed(deadline_))
      facts =
          std::make_shared<const StepFacts>(step_facts(*plain_[k].graph, plain_[k].steps, plain_[k].layouts));
    return facts;
  }

  // The groups of plain schedule k with the lowest peaks, in columns as they are and of one column.
  void search(size_t k) {
    GroupSearch& search =
        searches_.try_emplace(k, plain_[k], facts_of(k), count_, deadline_, known_).first->second;
    const size_t before = all_.schedules.size();
    all_.add_all(k, search.near_least());
    all_.add_all(k, search.least_with_windows());
    for (size_t n = before; n < all_.schedules.size(); ++n) note(all_.schedules[n], k);
  }

  const std::vector<Schedule>& plain_;
  const size_t accumulating_, again_;  // of PlainSchedules
  const Deadline deadline_;
  const size_t count_;          // of searches, which share what may be formed
  const int64_t allowed_work_;  // that may be done again, with kSomeAgain
  Collected all_;
  FormedGroups known_;
  std::map<size_t, std::shared_ptr<const StepFacts>> facts_;  // by the number of the plain schedule
  std::map<size_t, GroupSearch> searches_;                    // the same
  std::vector<GroupSearch> of_few_turns_;                     // on facts of their own
  // Of the plain schedules that do nothing again, of those that do as much as is allowed, and of all.
  Least once_, some_, any_;
};

}  // namespace

GroupedSchedules grouped(const Graph& graph, const PlainSchedules& whole, Freedom freedom,
                         const Target& target, Deadline deadline) {
  GroupedSearches searches(graph, whole, target, deadline);
  searches.search_plain();
  searches.search_in_turns();
  if (freedom >= Freedom::kSomeAgain) searches.search_some_again();
  if (freedom >= Freedom::kAnyAgain) searches.search_any_again();
  return searches.result();
}

}  // namespace arenac
