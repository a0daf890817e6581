// How a step can run a few rows at a time, and which rows of which storage each part touches.
//
//   conv 3x3 stride 2 on 48 rows: 24 slabs; slab t writes row [t, t+1) and reads rows [2t-1, 2t+2) within [0,
//   48)
//
// All of it is interval arithmetic on the nest with one axis held to a few values, so it holds for any
// formula: what reads everything, by whatever index, is seen to read everything.
#pragma once

#include <algorithm>
#include <vector>

#include "scheduler/schedule.h"

namespace arenac {

// A storage as rows: the outermost dimension of its memory. One row of size 0: not in rows.
struct Rows {
  int64_t size = 0;  // elements
  int64_t count = 1;
  bool only_written = false;  // the caller's: steps write their parts of it in whatever order
};

// Per tensor that is a storage; in rows only where every tensor in it is.
std::vector<Rows> storage_rows(const Graph& graph, const std::vector<Layout>& layouts);

// The row of the storage in which an element lies, as an index expression.
Expr row_index(const Layout& layout, const Rows& rows, const Shape& shape, const std::vector<Expr>& indices);

// The least interval that has both; an empty one adds nothing.
inline Interval hull(Interval a, Interval b) {
  if (a.begin >= a.end) return b;
  if (b.begin >= b.end) return a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

// Rows of the storage of `tensor` that each slab touches.
struct RowAccess {
  TensorId tensor;
  std::vector<Interval> rows;  // per slab; may be empty
  // Per slab, from the first to the last of the storage's elements that it touches; of the inputs and outputs
  // of the graph alone, whose rows lie as the caller has them.
  std::vector<Interval> elements = {};
};

// What products of neighbouring columns multiply: each its own elements, as the heads of an attention do, or
// some that are the same for all, as pixels do weights, which wider chunks read less often.
enum class ColumnFactors : uint8_t { kNone, kOwn, kShared };

// Per nest, the axis that alone is the column of a storage (columns.h); empty where there is none.
struct ColumnAxes {
  TensorId storage;
  std::vector<int> axes;
  ColumnFactors factors;
};

struct Slabs {
  int64_t count = 1;
  std::vector<NestSlabs> nests;
  std::vector<RowAccess> reads;  // constants apart
  RowAccess write;
  std::vector<ColumnAxes> columns = {};  // of storages that have any
  bool too_many = false;                 // accesses of rows, so that all of it is one
};

constexpr int64_t kMostAccesses = 1 << 19;  // of a step: operands times slabs

// Whether a slab adds several rows to sums. These go on along a row: of several, cut into columns, the first
// columns of all rows would come before the next ones.
bool adds_rows(const Nests& nests, const std::vector<NestSlabs>& parts);

// Of a step that runs nests. Where its rows cannot be told apart, or touch more than `most_accesses`, all of
// it is one slab.
Slabs slabs_of(const Node& node, const Graph& graph, const std::vector<Layout>& layouts,
               const std::vector<Rows>& rows, int64_t most_accesses = kMostAccesses);

// The slabs of a step taken `strip` at a time; nothing where that does not come out even.
std::optional<Slabs> in_strips(const Slabs& slabs, const Node& node, int64_t strip);

// The slabs of a step as a stage takes them.
Slabs slabs_of_stage(const Stage& stage, const Slabs& slabs, const Node& node);

// The part of a nest that slab t computes, t being the iteration `symbol` of `slabs`.
Nest slab_nest(const Nest& nest, const NestSlabs& part, int symbol, int64_t slabs);

// The slabs at which a nest computes anything.
Interval active_slabs(const Nest& nest, const NestSlabs& part, int64_t slabs);

}  // namespace arenac
