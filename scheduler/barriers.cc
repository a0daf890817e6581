#include "scheduler/barriers.h"

#include <algorithm>
#include <bitset>
#include <numeric>

namespace arenac {
namespace {

constexpr int64_t kPart = 16;  // of a storage one part in as many at most would be saved without a barrier

using Steps = std::bitset<kLongestGroup>;  // by their places in a group

int64_t length_of(const Interval& rows) { return rows.end - rows.begin; }

// From the first to the last row of slabs from `first` on.
int64_t rows_from(size_t first, const std::vector<Interval>& rows) {
  Interval all = {0, 0};
  for (size_t t = first; t < rows.size(); ++t) all = hull(all, rows[t]);
  return length_of(all);
}

}  // namespace

Barriers::Barriers(const Schedule& whole, const StepFacts& facts) {
  for (const auto& [slabs, pulls, waits] : facts.steps) {
    std::vector<Link>& links = links_.emplace_back();
    for (const Pull& pull : pulls) {
      const Slabs& producer = facts.steps[pull.producer].slabs;
      if (pull.upto.empty() || producer.count == 0) continue;
      Link link{.producer = pull.producer,
                .runs_all = wants_whole(pull, facts),
                .ends_all = pull.upto.back() == producer.count - 1,
                .runs_one = pull.upto.front() <= 0};
      const int64_t count = facts.rows[whole.layouts[producer.write.tensor].root].count;
      const int64_t first = length_of(producer.write.rows.front());
      for (const RowAccess& read : slabs.reads) {
        if (facts.source[read.tensor] != producer.write.tensor) continue;
        link.keeps_all |= rows_from(0, read.rows) >= count;
        link.keeps_later |= first * kPart <= count && rows_from(1, read.rows) >= count - first;
      }
      links.push_back(link);
    }
  }
}

bool Barriers::within(int begin, int end) const {
  const int count = end - begin;
  // Complete by the first slab of a step, by its last, and by the second one of those that come in turns.
  std::vector<Steps> first(count), all(count), second(count);
  const auto links_of = [&](int k, const auto& f) {
    for (const Link& link : links_[begin + k])
      if (link.producer >= begin) f(link, link.producer - begin);
  };
  for (int k = 0; k < count; ++k)
    links_of(k, [&](const Link& link, int p) {
      first[k] |= first[p];
      if (link.runs_all) first[k] |= all[p], first[k].set(p);
      if (link.ends_all) all[k] |= all[p], all[k].set(p);
    });
  std::vector<Steps> before_second(count, Steps().set());  // what all readers have complete by then
  Steps pulled, in_turns = Steps().set();
  for (int k = count - 1; k >= 0; --k) {
    second[k] = first[k];
    if (pulled[k] && in_turns[k]) second[k] |= before_second[k];
    links_of(k, [&](const Link& link, int p) {
      pulled.set(p);
      if (!link.runs_one) in_turns.reset(p);
      before_second[p] &= second[k];
    });
  }
  Steps whole;
  for (int k = 0; k < count; ++k)
    links_of(k, [&](const Link& link, int p) {
      if ((link.runs_all && link.keeps_all) || (second[k][p] && link.keeps_later)) whole.set(p);
    });
  // How many hold the place before a step together: what is not whole until its last reader, what none reads
  // to the end.
  std::vector<int> held(count + 1);
  for (int k = 0; k < count; ++k) {
    links_of(k, [&](const Link&, int p) {
      if (!whole[p]) ++held[p + 1], --held[k + 1];
    });
    if (!pulled[k]) ++held[k + 1];
  }
  // A step by itself is no group: it lies over what it reads element by element alone.
  std::partial_sum(held.begin(), held.end(), held.begin());
  for (int s = 2; s + 2 <= count; ++s)
    if (held[s] == 0) return true;
  return false;
}

}  // namespace arenac
