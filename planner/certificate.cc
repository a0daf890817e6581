#include "planner/certificate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "planner/bounds.h"
#include "planner/exact.h"
#include "planner/groups.h"
#include "planner/timeline.h"

namespace arenac {
namespace {

constexpr int64_t kOneTrial = 20'000'000;  // steps of a search that leaves buffers out

// Of the buffers that live at a time, which share bytes with no other of them, the largest first, until they
// take the bound.
std::vector<int> apart(const Problem& problem, const std::vector<std::vector<Overlap>>& overlaps,
                       const std::map<int, int64_t>& bytes, int64_t bound) {
  std::vector<int> order, chosen;
  for (const auto& [id, size] : bytes) order.push_back(id);
  std::ranges::stable_sort(order, [&](int a, int b) { return bytes.at(a) > bytes.at(b); });
  std::vector<char> is_chosen(problem.buffers.size(), 0);
  int64_t sum = 0;
  for (const int id : order) {
    const auto shares = [&](const Overlap& o) { return is_chosen[o.above] || is_chosen[o.below]; };
    if (sum >= bound || std::ranges::any_of(overlaps[id], shares)) continue;
    is_chosen[id] = 1, sum += bytes.at(id);
    chosen.push_back(id);
  }
  std::ranges::sort(chosen);
  return chosen;
}

// A time at which so much lives. Where padding decides, as many times as could be it are looked at as
// kMostTimes.
std::optional<Certificate> at_one_time(const Problem& problem, int pool, const std::vector<int>& members,
                                       int64_t bound) {
  constexpr int kMostTimes = 100;
  const auto overlaps = overlaps_by_buffer(problem);
  std::map<int, int64_t> bytes;  // of those that live
  int64_t sum = 0, padding = 0;
  int times = 0;
  for (const int id : members) padding = std::max(padding, alignment_in(problem, id, pool) - 1);
  for (const auto& [time, begins, id, low, high] : events(problem, members)) {
    if (!begins) {
      bytes.erase(id), sum -= high - low;
      continue;
    }
    bytes[id] = high - low, sum += high - low;
    if (sum + padding * static_cast<int64_t>(bytes.size()) < bound) continue;
    Certificate c = {pool, bound, apart(problem, overlaps, bytes, bound), time};
    if (!check_certificate(problem, c)) return c;
    if (++times == kMostTimes) break;
  }
  return std::nullopt;
}

// Leaves out what is not needed for the bound: halves, quarters, ... and each by itself (Zeller and
// Hildebrandt 2002, delta debugging).
class Reduction {
 public:
  Reduction(const Problem& problem, int pool, int64_t bound, const Effort& effort)
      : problem_(problem), pool_(pool), bound_(bound), effort_(effort) {}

  std::optional<std::vector<int>> run(std::vector<int> members) {
    if (!needs_bound(members)) return std::nullopt;
    for (size_t size = std::max<size_t>(members.size() / 2, 1);; size = std::max<size_t>(size / 2, 1)) {
      bool smaller = false;
      for (size_t begin = 0; begin < members.size();) {
        std::vector<int> rest = members;
        const auto first = rest.begin() + static_cast<std::ptrdiff_t>(begin);
        rest.erase(first, rest.begin() + static_cast<std::ptrdiff_t>(std::min(begin + size, rest.size())));
        if (!rest.empty() && needs_bound(rest))
          members = std::move(rest), smaller = true;
        else
          begin += size;
      }
      if (size == 1 && !smaller) return members;
    }
  }

 private:
  // Whether no plan of these is smaller, as far as a search of a limited length says.
  bool needs_bound(const std::vector<int>& members) {
    const int64_t work = std::min(kOneTrial, effort_.work);
    if (work <= 0 || effort_.cutoff.has_passed()) return false;
    const int64_t least = lower_bound(problem_, pool_, members);
    const Exact exact = search_exactly(problem_, pool_, members, bound_, least, {work, effort_.cutoff});
    effort_.work -= std::max<int64_t>(exact.work, 1000);
    return exact.offsets.empty() && exact.lower_bound >= bound_;
  }

  const Problem& problem_;
  const int pool_;
  const int64_t bound_;
  Effort effort_;
};

// Of a problem without groups.
std::optional<Certificate> certify_ungrouped(const Problem& problem, int pool,
                                             const std::vector<int>& members, int64_t bound,
                                             const Effort& effort) {
  for (const int id : members)
    if (const auto& at = problem.buffers[id].fixed_offset; at && *at + problem.buffers[id].size >= bound)
      return Certificate{pool, bound, {id}, {}};
  if (auto c = at_one_time(problem, pool, members, bound)) return c;
  auto needed = Reduction(problem, pool, bound, effort).run(members);
  if (!needed) return std::nullopt;
  std::ranges::sort(*needed);
  Certificate c = {pool, bound, std::move(*needed), {}};
  if (check_certificate(problem, c)) return std::nullopt;
  return c;
}

}  // namespace

std::optional<Certificate> certify(const Problem& problem, int pool, const std::vector<int>& members,
                                   int64_t bound, const Effort& effort) {
  if (problem.same_offset.empty()) return certify_ungrouped(problem, pool, members, bound, effort);
  const Merged merged = merge_groups(problem);
  std::vector<int> of_merged;
  for (const int id : members) of_merged.push_back(merged.buffer_of[id]);
  std::ranges::sort(of_merged);
  of_merged.erase(std::ranges::unique(of_merged).begin(), of_merged.end());
  auto c = certify_ungrouped(merged.problem, pool, of_merged, bound, effort);
  if (!c) return std::nullopt;
  // Of a group those that are in use at the time; all where there is a search.
  std::vector<int> buffers;
  for (const int id : members)
    if (std::ranges::binary_search(c->buffers, merged.buffer_of[id])) buffers.push_back(id);
  std::ranges::sort(buffers);
  c->buffers = std::move(buffers);
  if (c->time)
    std::erase_if(c->buffers, [&](int id) {
      return problem.buffers[id].begin > *c->time || problem.buffers[id].end <= *c->time;
    });
  if (check_certificate(problem, *c)) return std::nullopt;
  return c;
}

std::string words(const Problem& problem, const Certificate& c) {
  constexpr size_t kMostNames = 8;
  std::vector<std::string> names;
  for (const int id : c.buffers)
    if (names.size() < kMostNames) names.push_back(fmt::format("'{}'", problem.buffers[id].name));
  const size_t more = c.buffers.size() - names.size();
  return fmt::format("{}{} take {} bytes of pool '{}' {}", fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "", c.bound, problem.pools[c.pool].name,
                     c.time ? fmt::format("at time {} alone", *c.time) : "in whatever order they lie");
}

}  // namespace arenac
