// Lives in the coin of planners: slots instead of times.
//
//   time   0   1   2   3   4         slot   0     1        begins without an end between them share
//   a      [=======)                 a      [=====)        a slot: whoever lives at the first of
//   b          [===========)    ->   b      [===========)  them still lives at the last
//   c              [=======)         c            [=====)
//
// Two lives meet if and only if their spans of slots do, and there are at most as many slots as buffers.
#pragma once

#include <vector>

#include "planner/problem.h"

namespace arenac {

struct Event {
  int64_t time;
  bool begins;  // else ends
  int id;
};

// Of these buffers, by time; ends before begins of the same time, then by id.
std::vector<Event> events(const Problem& problem, const std::vector<int>& members);

struct Span {
  int begin = 0, end = 0;  // half-open range of slots
};

struct Timeline {
  int slots = 0;
  std::vector<Span> spans;  // per buffer of the problem; empty for those that are no members
};

Timeline make_timeline(const Problem& problem, const std::vector<int>& members);

// 0, 1, ..., n - 1: the ids of all buffers.
std::vector<int> all_buffers(const Problem& problem);

// A set of spans that answers which of them meet a given one: a binary tree over the slots in which each span
// waits at the lowest node that covers it. Memory is linear in spans and slots.
class SpanIndex {
 public:
  explicit SpanIndex(int slots);
  void insert(int id, Span span);

  // Calls visit(id) once for each span in the set that meets `span`, in no useful order.
  template <class Visit>
  void meeting(Span span, Visit visit) const {
    descend(1, 0, leaves_, span, visit);
  }

 private:
  struct Item {
    int id;
    Span span;
  };
  struct Node {
    std::vector<Item> items;
    bool used = false;  // here or below
  };

  template <class Visit>
  void descend(int node, int begin, int end, Span span, Visit& visit) const {
    if (!nodes_[node].used || span.begin >= end || begin >= span.end) return;
    for (const Item& item : nodes_[node].items)
      if (item.span.begin < span.end && span.begin < item.span.end) visit(item.id);
    if (node >= leaves_) return;
    int middle = begin + (end - begin) / 2;
    descend(2 * node, begin, middle, span, visit);
    descend(2 * node + 1, middle, end, span, visit);
  }

  int leaves_;               // a power of two
  std::vector<Node> nodes_;  // a heap: node i has children 2i and 2i + 1, the root is 1
};

}  // namespace arenac
