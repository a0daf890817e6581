// Boxing: Buchsbaum, Karloff, Kenyon, Reingold and Thorup, "OPT versus LOAD in dynamic storage allocation"
// (2003), as idealloc makes it practical (Lamprakos, Xydis, Soudris et al. 2025).
//
//   +-------------------+   Buffers of about one size are rounded up to it (corollary 15) and put into boxes
//   of | c | d     |   e   |   equal height, rows of lives that do not meet (theorem 2): around critical
//   times
//   +-------------------+   those that begin and end alike go together (lemma 1), the others by interval
//   |     a     |  b    |   colouring, and what no critical time meets is boxed recursively.
//   +-------------------+   Equal boxes are coloured in their turn.
//
// Unboxing then gives each row the height of its largest buffer, not the rounded one, and tightening places
// the buffers anew in the order of the offsets found, each into its tightest gap. Critical times and epsilon
// are drawn from the seed, and the best of several draws is kept. The recursion of theorem 16, small buffers
// boxed before large ones, needs ratios of size beyond any problem met here, so that its last step is all
// there is.
#include <algorithm>
#include <cmath>
#include <map>
#include <queue>

#include "planner/bounds.h"
#include "planner/packing.h"
#include "planner/random.h"
#include "planner/rows/rows.h"

namespace arenac {
namespace {

constexpr int kDraws = 400;
constexpr double kWorkOfDraws = 1e8;  // buffers times live ones, in all draws; one draw at least

// A buffer, or a box of rows from the bottom up, in each of which no two lives meet.
struct Job {
  Span span;
  int64_t size = 0;  // bytes; of a box, of what is in it
  int buffer = -1;
  std::vector<std::vector<int>> rows = {};
};

class Boxing {
 public:
  Boxing(const Problem& problem, const Timeline& timeline, uint64_t seed) : random_(seed) {
    for (int id = 0; id < int(problem.buffers.size()); ++id)
      if (!timeline.pieces(id).empty()) jobs_.push_back({timeline.spans[id], problem.buffers[id].size, id});
    buffers_ = int(jobs_.size());
  }

  // Buffers and the offsets that the boxes give them.
  std::vector<std::pair<int64_t, int>> run(double epsilon) {
    jobs_.resize(buffers_);
    boxes_.clear();
    placed_.clear();
    std::vector<int> all(buffers_);
    int64_t largest = 1;
    for (int i = 0; i < buffers_; ++i) {
      all[i] = i;
      largest = std::max(largest, jobs_[i].size);
    }
    box_by_size(all, int64_t(std::ceil(double(largest) / epsilon)), epsilon);
    int64_t offset = 0;
    for (const std::vector<int>& row : colour(boxes_)) offset += unbox(row, offset);
    return placed_;
  }

  double draw_epsilon() { return 0.05 + double(random_.below(4000)) / 1000; }

 private:
  Span span(int job) const { return jobs_[job].span; }

  // Corollary 15: classes of size (1 + epsilon)^i, each in boxes of `height` bytes.
  void box_by_size(const std::vector<int>& jobs, int64_t height, double epsilon) {
    int64_t largest = height;  // the height is less where epsilon is above 1
    for (int job : jobs) largest = std::max(largest, jobs_[job].size);
    std::vector<double> limits = {1};
    while (limits.back() < double(largest)) limits.push_back(limits.back() * (1 + epsilon));
    std::map<double, std::vector<int>> classes;
    for (int job : jobs)
      classes[*std::lower_bound(limits.begin(), limits.end(), double(jobs_[job].size))].push_back(job);
    for (const auto& [size, members] : classes) {
      const int64_t rows = std::clamp<int64_t>(int64_t(double(height) / size), 1, int64_t(members.size()));
      box(members, rows, epsilon, {});
    }
  }

  // Theorem 2: unit jobs into boxes of so many rows. Without critical times, one is drawn.
  void box(const std::vector<int>& jobs, int64_t rows, double epsilon, std::vector<int> times) {
    const auto meets = [&](int job) {  // one of the times
      auto first = std::lower_bound(times.begin(), times.end(), span(job).begin);
      return first != times.end() && *first < span(job).end;
    };
    if (std::none_of(jobs.begin(), jobs.end(), meets)) {
      const Span any = span(jobs[random_.below(jobs.size())]);
      times.push_back(any.begin + int(random_.below(uint64_t(any.end - any.begin))));
      std::sort(times.begin(), times.end());
    }
    std::map<int, std::vector<int>> crossing, between;  // by critical time, by the next one
    for (int job : jobs) {
      const int next = int(std::lower_bound(times.begin(), times.end(), span(job).begin) - times.begin());
      if (meets(job))
        crossing[middle_time(times, span(job))].push_back(job);
      else
        between[next].push_back(job);
    }
    std::vector<int> unresolved;
    for (auto& [time, members] : crossing) {
      const std::vector<int> left = box_around(members, rows, epsilon);
      unresolved.insert(unresolved.end(), left.begin(), left.end());
    }
    box_rows(colour(unresolved), rows);
    for (const auto& [next, members] : between)
      box(members, rows, epsilon, ends_within(unresolved, times, next));
  }

  // Of the times within the span, the first that halving all times comes to.
  static int middle_time(const std::vector<int>& times, Span span) {
    int low = 0, high = int(times.size());
    while (true) {
      const int middle = low + (high - low) / 2;
      if (times[middle] < span.begin)
        low = middle + 1;
      else if (times[middle] >= span.end)
        high = middle;
      else
        return times[middle];
    }
  }

  // The critical times of those between two: where rows of the others have gaps.
  std::vector<int> ends_within(const std::vector<int>& others, const std::vector<int>& times,
                               int next) const {
    std::vector<int> result;
    for (int job : others)
      for (int time : {span(job).begin, span(job).end})
        if ((next == 0 || times[next - 1] < time) && (next == int(times.size()) || time < times[next]))
          result.push_back(time);
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  }

  // Lemma 1: jobs that all live at one time. Those of the earliest begins and latest ends are left, the
  // others go into strips of similar begin, and there into boxes of similar end.
  std::vector<int> box_around(std::vector<int> jobs, int64_t rows, double epsilon) {
    const double rim = double(rows) * std::ceil(1 / (epsilon * epsilon));
    if (double(jobs.size()) <= 2 * rim) return jobs;
    const auto by_begin = [&](int a, int b) { return span(a).begin < span(b).begin; };
    const auto by_end = [&](int a, int b) { return span(a).end > span(b).end; };
    const size_t edge = size_t(rim), strip = size_t(double(rows) * std::ceil(1 / epsilon));
    std::stable_sort(jobs.begin(), jobs.end(), by_begin);
    std::stable_sort(jobs.begin() + edge, jobs.end(), by_end);
    std::stable_sort(jobs.begin() + 2 * edge, jobs.end(), by_begin);
    for (size_t from = 2 * edge; from < jobs.size(); from += strip) {
      const size_t to = std::min(jobs.size(), from + strip);
      std::stable_sort(jobs.begin() + from, jobs.begin() + to, by_end);
      std::vector<std::vector<int>> stack;
      for (size_t i = from; i < to; ++i) stack.push_back({jobs[i]});
      box_rows(stack, rows);
    }
    jobs.resize(2 * edge);
    return jobs;
  }

  void box_rows(const std::vector<std::vector<int>>& rows, int64_t per_box) {
    for (size_t from = 0; from < rows.size(); from += size_t(per_box)) {
      const size_t to = std::min(rows.size(), from + size_t(per_box));
      Job box;
      box.rows.assign(rows.begin() + from, rows.begin() + to);
      box.span = span(rows[from].front());
      for (const std::vector<int>& row : box.rows) {
        int64_t highest = 0;
        for (int job : row) {
          box.span = {std::min(box.span.begin, span(job).begin), std::max(box.span.end, span(job).end)};
          highest = std::max(highest, jobs_[job].size);
        }
        box.size += highest;
      }
      boxes_.push_back(int(jobs_.size()));
      jobs_.push_back(std::move(box));
    }
  }

  // Interval colouring: the fewest rows, those that are busy for longest first.
  std::vector<std::vector<int>> colour(std::vector<int> jobs) const {
    std::stable_sort(jobs.begin(), jobs.end(), [&](int a, int b) { return span(a).begin < span(b).begin; });
    std::vector<std::vector<int>> rows;
    using Row = std::pair<int, int>;  // free from, number
    std::priority_queue<Row, std::vector<Row>, std::greater<>> free;
    for (int job : jobs) {
      int row = int(rows.size());
      if (!free.empty() && free.top().first <= span(job).begin) {
        row = free.top().second;
        free.pop();
      } else {
        rows.emplace_back();
      }
      rows[row].push_back(job);
      free.push({span(job).end, row});
    }
    const auto busy = [&](const std::vector<int>& row) {
      int64_t sum = 0;
      for (int job : row) sum += span(job).end - span(job).begin;
      return sum;
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const auto& a, const auto& b) { return busy(a) > busy(b); });
    return rows;
  }

  // Places what is in a row; its height.
  int64_t unbox(const std::vector<int>& row, int64_t offset) {
    int64_t height = 0;
    for (int job : row) {
      height = std::max(height, jobs_[job].size);
      if (jobs_[job].buffer >= 0) placed_.push_back({offset, jobs_[job].buffer});
      int64_t inside = offset;
      for (const std::vector<int>& inner : jobs_[job].rows) inside += unbox(inner, inside);
    }
    return height;
  }

  Random random_;
  int buffers_ = 0;  // the first so many jobs
  std::vector<Job> jobs_;
  std::vector<int> boxes_;                       // of equal height
  std::vector<std::pair<int64_t, int>> placed_;  // offset, buffer
};

}  // namespace

Plan idealloc(const Problem& problem, const Search& search) {
  const std::vector<int> ids = all_buffers(problem);
  const Timeline timeline = make_timeline(problem, ids);
  int64_t spans = 0;
  for (const Span& span : timeline.spans) spans += span.end - span.begin;
  const double live = double(spans) / std::max(1, timeline.slots);
  const int draws = int(std::clamp(search.effort * kWorkOfDraws / (double(ids.size()) * (live + 20)), 1.0,
                                   search.effort * kDraws));
  Boxing boxing(problem, timeline, search.seed);
  Plan best;
  for (int draw = 0; draw < std::max(1, draws); ++draw) {
    std::vector<std::pair<int64_t, int>> by_offset = boxing.run(boxing.draw_epsilon());
    for (int id : ids)
      if (timeline.pieces(id).empty()) by_offset.push_back({0, id});
    std::sort(by_offset.begin(), by_offset.end());
    std::vector<int> order;
    for (auto [offset, id] : by_offset) order.push_back(id);
    Plan plan = make_plan(problem, pack(problem, order, Fit::kTightest));
    const auto total = [](const Plan& p) {
      int64_t sum = 0;
      for (const PoolUse& use : p.pools) sum += use.size;
      return sum;
    };
    if (draw == 0 || total(plan) < total(best)) best = std::move(plan);
  }
  return best;
}

}  // namespace arenac
