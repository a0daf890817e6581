// Does a pool fit into a capacity? A tree search that fills the skyline from below, for buffers without
// overlaps whose windows, if any, begin at offset 0.
//
//   height ^   ##        A section is a time at which a greatest set of buffers lives; its floor is the top
//   of
//          |   ##   ##   what is already placed there. Take a section of a valley: the lowest buffer still to
//          | ####   ##   come is one of those that fit between the walls, and begins at the floor; or none of
//          | ##########  them begins there, and the floor rises to the next height where one can. Both kinds
//          +----s----->  of step leave floors and a set of remaining buffers, nothing else.
//
// Sources. Moffitt and Fernando 2023 (minimalloc, ASPLOS): solutions in which every buffer rests on another,
// sections with floor plus remaining sizes as the bound, floors raised to the lowest offset at which anything
// may still begin, decomposition where no remaining buffer crosses. Ours: the branch on any valley, the one
// of fewest choices first (not the lowest buffer first), floors and offsets propagated to a fixpoint, failed
// states remembered, and a failure that names the range of sections it came from, so that steps elsewhere are
// not undone one by one (Prosser 1993, conflict-directed backjumping).
//
// What is proven: kNever only if the tree is exhausted. Why that is right: in a plan that fits, let each
// buffer sink as far as it goes; the plan still fits, and each buffer rests on the floor or on another.
// What the search keeps of its steps (floors, remaining buffers) is all that this argument needs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "planner/packing.h"
#include "planner/problem.h"
#include "planner/timeline.h"

namespace arenac {

enum class Verdict { kFits, kNever, kUnknown };

// Buffers of one pool in the coin of the search: sections are slots of the timeline, heights are bytes.
struct Strip {
  struct Run {
    Span sections;
    int64_t height = 0;  // bytes in use there, from the offset up
  };
  struct Item {
    int64_t size = 0, align = 1;
    int64_t fixed = -1;  // the offset, or -1
    std::vector<Run> runs;

    // Calls visit(section, height) for each of its sections.
    template <class Visit>
    void each_section(Visit visit) const {
      for (const auto& [sections, height] : runs)
        for (int s = sections.begin; s < sections.end; ++s) visit(s, height);
    }
  };
  int sections = 0;
  std::vector<Item> items;
};

class StripSearch {
 public:
  explicit StripSearch(const Strip& strip);  // keeps the reference

  // What to branch on next, and what to try first there. kRanked is minimalloc's order: at the lowest floor,
  // the section of what ranks first.
  enum class Valley : uint8_t { kFewest, kFewestLowest, kLowest, kTightest, kRanked };
  enum class Rank : uint8_t { kTotalWidthArea, kTotalAreaWidth, kWidthAreaTotal };
  struct Strategy {
    Valley valley = Valley::kFewest;
    Rank rank = Rank::kTotalWidthArea;
    uint64_t seed = 0;  // 0: the order of the rank as it is
  };

  // Gives up after so many nodes, where the tree is deeper than kMostStack, or when the effort in total is
  // spent. What failed is remembered for the next attempt, whatever its strategy, at the same capacity and
  // those below.
  Verdict attempt(int64_t capacity, const Strategy& strategy, int64_t nodes, const Effort& effort);

  bool is_spent(const Effort& effort) const;
  const std::vector<int64_t>& offsets() const { return offset_; }  // per item, after kFits
  int64_t work() const { return work_; }                           // steps so far, all calls
  int64_t nodes() const { return nodes_; }

 private:
  // Bytes of the stack of whoever calls: floors that rise in small steps make the tree deeper than its items.
  static constexpr std::ptrdiff_t kMostStack = 4 << 20;
  static constexpr int64_t kNowhere = std::numeric_limits<int64_t>::max() / 4;

  struct Change {
    enum Kind : int { kFloor, kLowest } kind;
    int index, source;
    int64_t value;
  };
  struct Raised {
    int section;
    Span reason;
  };
  // What is left to place fits into no capacity up to this one.
  struct Failure {
    uint64_t check = 0;
    int64_t capacity = 0;
    Span reason;
  };
  struct Key {
    uint64_t slot, check;
  };
  struct Branch {
    int section = -1;
    std::vector<int> items;
  };
  // What may begin at the floor of a section: how many items, and the lowest rank among them.
  struct Choices {
    int64_t count = 0;
    int first = std::numeric_limits<int>::max();
  };

  bool start();
  bool is_too_deep() const;
  void rank(Rank rule, uint64_t seed);
  Verdict explore(Span range);
  Verdict explore_parts(Span range);
  Verdict branch(Span range);
  // A trial of one step: what there was before it, what follows from it, and, unless that fits, all as
  // before.
  struct Mark {
    size_t changes, raised, placed;
  };
  Mark begin_trial();
  Verdict explore_trial(Span range, const Mark& before);
  Verdict end_trial(const Mark& before, Verdict verdict);
  Verdict try_item(Span range, int item, int64_t offset);
  Verdict try_waste(Span range, const Branch& branch);
  Branch choose(Span range);
  Choices choices(int section, int64_t most);
  bool may_be_least(int section, int64_t least) const;
  std::array<int64_t, 3> key_of_valley(int section, const Choices& choices) const;
  std::span<const int> remaining(int section) const {
    return {in_section_[section].data(), size_t(left_[section])};
  }
  void place(int item, int64_t offset);
  void unplace();
  bool raise_floor(int section, int64_t floor, Span reason);
  bool raise_lowest(int item, int64_t offset, int source);
  bool propagate();
  bool settle(int section);
  void undo(size_t changes);
  Span reason_of(int section) const;
  Span translated(Span reason, size_t raised) const;
  Key key_of(Span range);

  const Strip& strip_;
  Strategy strategy_;
  Effort effort_;
  int64_t capacity_ = 0;
  const char* stack_ = nullptr;               // where the recursion begins
  std::vector<std::vector<int>> in_section_;  // items, those that are not placed first
  std::vector<Span> hull_;                    // per item
  bool has_steps_ = false;                    // an item has several runs
  std::vector<uint64_t> token_;               // per item, for keys
  std::vector<int> rank_;                     // per item, the first to try has the lowest

  // Per section.
  std::vector<int64_t> floor_, rest_;  // what is placed comes up to here; heights of what is not
  std::vector<int> left_, crossing_;   // how many are not placed; and cross from the section before
  std::vector<uint64_t> tokens_;       // of what is not placed
  std::vector<int> support_;           // an item that begins at the floor at the earliest, if still true
  std::vector<Span> reason_;           // why the floor was raised in this pass
  std::vector<int> pass_of_, queued_of_;

  // Per item.
  std::vector<char> placed_;
  std::vector<int64_t> lowest_, offset_;  // the lowest offset still possible
  std::vector<int> source_;               // the section that made it so, or -1

  std::vector<int> order_;  // the placed ones
  std::vector<Change> changes_;
  std::vector<Raised> raised_;
  std::vector<int> queue_, unsettled_;
  int pass_ = 0;
  Span failed_;  // sections whose floors and remaining items alone make it impossible
  std::vector<Failure> failures_;
  int64_t nodes_ = 0, nodes_left_ = 0, work_ = 0;
};

}  // namespace arenac
