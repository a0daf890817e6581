#include "planner/valley_search.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "planner/blocks.h"
#include "planner/bounds.h"
#include "planner/parallel.h"
#include "planner/stack.h"

namespace arenac {
namespace {

constexpr int kLooksOf[] = {32, 128, 512};
constexpr size_t kManyRectangles = 20'000;  // looking ahead more than a little costs too much
constexpr int kBatch = 8;                   // draws that know nothing of each other
constexpr int kPlainDraws = 6;              // each second one the mirror of the one before
constexpr int kWholeDraws = 4;              // of these, that leave nothing out
constexpr int kPlainShift = 9;              // halvings of the load to the least size in the others
constexpr int kWholeIn = 5;                 // later, one draw in so many leaves nothing out
constexpr int kLeastShift = 4;         // in the others the least size is a sixteenth of the load or less,
constexpr uint64_t kShifts = 8;        // by so many halvings
constexpr uint64_t kBiasSteps = 1024;  // of a fiftieth of the load, squared: small ones more often
constexpr int kBiasBlocks = 200;       // of equal bias, in all slots
constexpr int64_t kStackWork = 500;    // per buffer

}  // namespace

ValleySearch::ValleySearch(const Problem& problem, const Timeline& timeline, uint64_t seed)
    : problem_(problem),
      timeline_(timeline),
      load_(peak_load(problem, all_buffers(problem)).bytes),
      random_(seed),
      best_size_(std::numeric_limits<int64_t>::max()) {
  for (int id : all_buffers(problem)) (problem.buffers[id].fixed_offset ? fixed_ : free_).push_back(id);
  by_size_ = free_;
  std::ranges::stable_sort(by_size_, std::greater(), [&](int id) { return problem.buffers[id].size; });
}

std::optional<std::vector<Placement>> ValleySearch::smaller_than(int64_t size, const Limits& limits) {
  std::optional<std::vector<Placement>> smallest;
  int64_t left = limits.effort.work;
  const auto goes_on = [&] { return size > limits.goal && left > 0 && !limits.effort.cutoff.has_passed(); };
  for (int done = 0; done < limits.draws && goes_on(); done += kBatch) {
    std::vector<Draw> batch;
    for (int k = 0; k < std::min(kBatch, limits.draws - done); ++k) batch.push_back(next());
    const int64_t work = left;
    int taken = 0;
    in_parallel(
        limits.threads, int(batch.size()), limits.effort.cutoff,
        [&](int k, const Cutoff& cutoff) {
          return drawn(batch[k], {work, cutoff});
        },
        [&](Drawn result) {
          const Draw& draw = batch[taken++];
          left -= result.work;
          if (!result.placements) return goes_on();
          const int64_t top = top_of(*result.placements);
          if (top < best_size_) {
            best_size_ = top;
            best_ = draw;
          }
          if (top < size) {
            size = top;
            smallest = std::move(result.placements);
          }
          return goes_on();
        });
  }
  return smallest;
}

int64_t ValleySearch::top_of(const std::vector<Placement>& placements) const {
  int64_t top = 0;
  for (size_t id = 0; id < placements.size(); ++id)
    top = std::max(top, placements[id].offset + problem_.buffers[id].size);
  return top;
}

// After the plain ones, half are the best so far with another bias.
ValleySearch::Draw ValleySearch::next() {
  const bool is_plain = draws_ < kPlainDraws;
  Draw draw = is_plain ? plain() : random_.below(2) == 0 ? best_ : settings();
  if (draw.by.looks_ahead && free_.size() > kManyRectangles) draw.by.looks = kLooksOf[0];
  if (!is_plain) draw.by.bias = bias();
  ++draws_;
  return draw;
}

ValleySearch::Draw ValleySearch::plain() const {
  return {.least_size = draws_ < kWholeDraws ? 0 : load_ >> kPlainShift,
          .mirrored = draws_ % 2 == 1,
          .by = {.looks = kLooksOf[1], .looks_ahead = draws_ >= 2}};
}

ValleySearch::Draw ValleySearch::settings() {
  Draw draw{
      .mirrored = random_.below(2) == 0,
      .by = {.looks = kLooksOf[random_.below(std::size(kLooksOf))], .looks_ahead = random_.below(2) == 0}};
  if (random_.below(kWholeIn) > 0)
    draw.least_size = (load_ >> (kLeastShift + random_.below(kShifts))) * int64_t(8 + random_.below(8)) / 16;
  return draw;
}

std::vector<int64_t> ValleySearch::bias() {
  const uint64_t step = random_.below(kBiasSteps);
  const double amount = double(load_) / 50 * double(step * step) / double(kBiasSteps * kBiasSteps);
  const int block = std::max(1, timeline_.slots / kBiasBlocks);
  std::vector<int64_t> bias;
  for (int slot = 0; slot < timeline_.slots; ++slot)
    bias.push_back(slot % block ? bias.back()
                                : int64_t(amount * double(random_.below(kBiasSteps)) / kBiasSteps));
  return bias;
}

ValleySearch::Drawn ValleySearch::drawn(const Draw& draw, const Effort& effort) const {
  std::vector<int> first;
  std::vector<Rectangle> rectangles;
  for (int id : free_) {
    if (problem_.buffers[id].size < draw.least_size || timeline_.pieces(id).empty()) continue;
    const Span life = timeline_.spans[id];
    const Span mirrored = {timeline_.slots - life.end, timeline_.slots - life.begin};
    first.push_back(id);
    rectangles.push_back({draw.mirrored ? mirrored : life, problem_.buffers[id].size});
  }
  const Filled filled = fill_valleys(rectangles, timeline_.slots, draw.by);
  Drawn result = in_order(order_by(filled.offsets, first), first.size() == free_.size(),
                          {effort.work - filled.work, effort.cutoff});
  result.work += filled.work;
  return result;
}

// Those at fixed offsets, those filled in by offset, the others by size.
std::vector<int> ValleySearch::order_by(const std::vector<int64_t>& offsets,
                                        const std::vector<int>& filled) const {
  std::vector<std::pair<int64_t, int>> by_offset;
  std::vector<char> is_filled(problem_.buffers.size(), 0);
  for (size_t i = 0; i < filled.size(); ++i) {
    by_offset.push_back({offsets[i], filled[i]});
    is_filled[filled[i]] = 1;
  }
  std::ranges::sort(by_offset);
  std::vector<int> order = fixed_;
  for (const auto& [offset, id] : by_offset) order.push_back(id);
  for (int id : by_size_)
    if (!is_filled[id]) order.push_back(id);
  return order;
}

// On top of each other where nothing was left out and no bytes may be shared, which is quicker.
ValleySearch::Drawn ValleySearch::in_order(const std::vector<int>& order, bool is_whole,
                                           const Effort& effort) const {
  if (!is_whole || !problem_.overlaps.empty()) {
    Packed packed = pack_within(problem_, order, Fit::kLowest, effort);
    return {std::move(packed.placements), packed.work};
  }
  std::vector<Placement> placements;
  for (int64_t offset : stack(problem_, timeline_, 0, order)) placements.push_back({0, offset});
  return {std::move(placements), kStackWork * int64_t(order.size())};
}

}  // namespace arenac
