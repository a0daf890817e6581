// What blocks become when they are joined, without waste (blocks.h) or with as much as a capacity leaves room
// for (loose_blocks.h), and taken apart again.
//
//   +-----+---+---+         +-----+---+---+      Two whose lives share a begin or an end are piled up, two
//   |  a  | b |###|         |  a  | b | d |      of which one begins where the other ends line up, five make
//   +-----+---+---+         +-----+---+---+      a pinwheel. The first two may lose what is marked #, if the
//   |      c      |         |    c    |###|      load leaves it below the capacity at those times.
//   +-------------+         +---------+---+
//
// Where blocks leave room in the end, something went: the load falls where it began and rises where it ended.
// So the losses are the likelier, the less the load changes once they are added.
#pragma once

#include <boost/container/static_vector.hpp>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "planner/blocks.h"
#include "planner/random.h"
#include "planner/slack.h"

namespace arenac {

class BlockJoiner {
 public:
  struct Part {
    int block;
    int64_t relative;  // bytes from the floor of the whole
  };
  struct Loss {
    Span span = {};
    int64_t bytes = 0;
  };
  struct Block {
    Rectangle rectangle;
    boost::container::static_vector<Part, 5> parts = {};
    Loss loss = {};
  };

  // Of rectangles of at least one byte in times of `slots`, which get the first ids; their sums are at most
  // `capacity` bytes.
  BlockJoiner(const std::vector<Rectangle>& rectangles, int slots, int64_t capacity);

  const Block& operator[](int id) const { return blocks_[id]; }
  size_t size() const { return blocks_.size(); }  // one above the greatest id
  bool is_given(int id) const { return id < given_; }
  bool has_room() const { return has_room_; }  // for losses, at some time

  // How many rectangles of usual size would fill what the blocks leave, by how often the load changes.
  double changes() const { return double(changes_) / twice_usual_; }

  // Of blocks that are no parts: what is left of them, and what was made on the way. A loss may be worth so
  // much, in what it adds to the cost: blocks, and a part of the changes; none at all below zero.
  struct Joined {
    std::vector<int> left, made;
  };
  Joined join(std::vector<int> blocks, double most, Random& random);

  int add(Block block);  // which was made elsewhere; its id
  void forget(const std::vector<int>& ids);
  // Gives back what the block loses, or loses that again.
  void take_apart(int id) { lose(blocks_[id].loss, -1); }
  void put_together(int id) { lose(blocks_[id].loss, 1); }

  static constexpr double kChange = 0.6;  // of a block, in the cost

 private:
  struct Candidate {
    double rank;  // the lower the better
    int first, second;
    bool is_pile;
    bool operator<(const Candidate& other) const { return rank > other.rank; }
  };

  Span span(int id) const { return blocks_[id].rectangle.span; }
  int64_t size(int id) const { return blocks_[id].rectangle.size; }
  int length(int id) const { return span(id).end - span(id).begin; }

  void lose(const Loss& loss, int times);
  double cost(const Loss& loss, int first, int second) const;
  void open(int id);
  void close(int id);
  int make(Block block);

  std::vector<int> open_ones(const std::vector<int>& blocks) const;
  void join_exactly();
  void join_exactly(int id);
  bool stack(int id);
  bool line_up(int id);
  bool pinwheel(int centre);
  void join_loosely(const std::vector<int>& blocks, double most, Random& random);
  void look_for(int id, double most, Random& random);
  Block pile(int lower, int upper) const;
  Block in_line(int left, int right) const;
  Block block_of(const Candidate& c) const {
    return c.is_pile ? pile(c.first, c.second) : in_line(c.first, c.second);
  }

  const int given_;
  std::vector<Block> blocks_;
  std::vector<int> free_;  // ids that are not in use
  Slack slack_;
  std::vector<int64_t> change_;  // of the slack, per slot
  int64_t changes_ = 0;          // bytes, both ways
  double twice_usual_ = 1;       // bytes, of a rectangle
  bool has_room_ = false;

  std::vector<std::vector<int>> begins_, ends_;  // per slot, the open ones: of this join, and no parts
  std::vector<char> is_open_;                    // per block
  std::vector<int> queue_, made_;
  std::vector<Candidate> heap_;
};

}  // namespace arenac
