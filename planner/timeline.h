// Lives in the coin of planners: slots instead of times.
//
//   time   0   1   2   3   4         slot   0     1        begins without an end between them share
//   a      [=======)                 a      [=====)        a slot: whoever lives at the first of
//   b          [===========)    ->   b      [===========)  them still lives at the last
//   c              [=======)         c            [=====)
//
// Two lives meet if and only if their spans of slots do, and there are at most as many slots as buffers.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "planner/problem.h"

namespace arenac {

struct Span {
  int begin = 0, end = 0;  // half-open range of slots
};

inline bool meet(Span a, Span b) { return a.begin < b.end && b.begin < a.end; }

// The least span that covers both.
inline Span hull(Span a, Span b) {
  if (a.begin >= a.end) return b;
  if (b.begin >= b.end) return a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

// What a buffer occupies meanwhile: bytes [low, high) from its offset. A buffer without gaps is one piece.
struct Piece {
  Span slots;
  int64_t low = 0, high = 0;
};

struct Event {
  int64_t time;
  bool begins;  // else ends
  int id;
  int64_t low, high;  // bytes of the piece
};

// Begin and end of every piece of these buffers that has bytes, by time; ends before begins of the same time,
// then by id.
std::vector<Event> events(const Problem& problem, const std::vector<int>& members);

struct Timeline {
  int slots = 0;
  std::vector<Span> spans;  // per buffer of the problem, gaps included; empty for those that are no members

  // In order of time, not overlapping; none for a buffer without bytes.
  std::span<const Piece> pieces(int id) const {
    return {all_pieces.data() + first_piece[id], size_t(first_piece[id + 1] - first_piece[id])};
  }
  std::vector<Piece> all_pieces;
  std::vector<int> first_piece;  // per buffer, and the end
};

Timeline make_timeline(const Problem& problem, const std::vector<int>& members);

// How many pairs of lives meet, each with itself included; a measure of what packing costs.
double meetings(const Timeline& timeline);

// 0, 1, ..., n - 1: the ids of all buffers.
std::vector<int> all_buffers(const Problem& problem);

// A set of pieces that answers which of them meet a given span: a binary tree over the slots in which each
// piece waits at the lowest node that covers it. Memory is linear in pieces and slots.
class PieceIndex {
 public:
  explicit PieceIndex(int slots);
  void insert(int id, const Piece& piece);
  void insert(int id, const Timeline& timeline) {
    for (const Piece& piece : timeline.pieces(id)) insert(id, piece);
  }

  // Calls visit(id, piece) once for each piece in the set that meets `span`, in no useful order.
  template <class Visit>
  void meeting(Span span, Visit visit) const {
    descend(1, 0, leaves_, span, visit);
  }

 private:
  struct Item {
    int id;
    Piece piece;
  };
  struct Node {
    std::vector<Item> items;
    bool used = false;  // here or below
  };

  template <class Visit>
  void descend(int node, int begin, int end, Span span, Visit& visit) const {
    if (!nodes_[node].used || span.begin >= end || begin >= span.end) return;
    for (const Item& item : nodes_[node].items)
      if (item.piece.slots.begin < span.end && span.begin < item.piece.slots.end) visit(item.id, item.piece);
    if (node >= leaves_) return;
    int middle = begin + (end - begin) / 2;
    descend(2 * node, begin, middle, span, visit);
    descend(2 * node + 1, middle, end, span, visit);
  }

  int leaves_;               // a power of two
  std::vector<Node> nodes_;  // a heap: node i has children 2i and 2i + 1, the root is 1
};

}  // namespace arenac
