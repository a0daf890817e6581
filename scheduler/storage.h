// Which tensors share storage, and how their elements lie in it.
#pragma once

#include <vector>

#include "scheduler/schedule.h"

namespace arenac {

struct Storage {
  std::vector<Step> steps;  // the block's nodes without those that became views
  std::vector<Layout> layouts;
  int64_t peak = 0;  // bytes live at one step, graph inputs and outputs apart
  LimitsHit limits_hit = {};
};

// Three passes over the nodes of `graph`:
//  1. forwards: every result gets an order of dimensions (channels-last where a window slides over trailing
//     dimensions, else that of its largest operand, or what its readers want), and nests that only rename
//     elements of an earlier tensor (affine address, unit cost) become views of it;
//  2. backwards: an operand that dies at a step moves into the storage of the result, where the nest reads
//     each element of it only to write the same address (in place), or where the nest is a copy (concat's
//     parts, reshapes to an output, values carried by control flow);
//  3. parts move into a concat's storage only where this does not raise the peak of live bytes.
// A view of a part keeps the whole alive: where the peak is lower so, the part is copied instead.
// `order` lists the top-level nodes, by index in graph.block, as they run; without it, the file's order.
//
// Pointers of these types may be to the same bytes: C lets those to characters meet any, others only their
// own type. In place and overlapping storages keep to it.
bool may_meet(Type a, Type b);

// Of several operands that could move, the first does, or rather one that nobody else reads: the storage of a
// residual then has rows of nothing else, whose readers need not be done when rows of the sum appear. Parts
// of a concat that others read, too, are then copied: what is copied lives for as many rows as the concat is
// read for, the part only for those of its own readers. In another order of dimensions than its own an
// operand then moves neither to the caller nor where others read it: planes have no rows that could be told
// apart.
//
//   r [24, y, x] by pixels      y1 = f(image, r[:3])   y2 = f(y1, r[3:6])   ...   y8, the caller's, by
//   planes:
//                               a row of each where y1 lies by pixels, all of r where it moves into y8
enum class Moves : uint8_t { kFirst, kUnshared };

// The outermost dimension of a product of two operands that both have its outer ones: that of the larger
// operand, or what one of them alone has, so that rows of it need all of the other.
//
//   scores[head, token, other] = sum(i) q[head, token, i] * k[head, other, i]     head, or token
enum class Products : uint8_t { kShared, kRows };

// What a step reads through windows: the channels of a pixel side by side, pixels by rows; or by columns,
// where other steps read whole columns; or, channel by channel, a plane after the other, where one of these
// and all of the reader's result take less than the rows under a window (late layers, whose windows are as
// large as their images: an expansion is then never there whole).
//
//   expand   c0 . . . c1 . . . c2 . . .      writes plane after plane,
//   dw       c0 . c1 . c2 .                  reads each once: one is in memory
enum class Windowed : uint8_t { kPixels, kPlanes, kColumns };

// A factor of such products (products.h): so that neighbouring sums take elements that lie side by side, or
// as the step that writes it walks.
enum class Factors : uint8_t { kInLanes, kAsWritten };

struct StorageChoice {
  Moves moves = Moves::kFirst;
  Products products = Products::kShared;
  Windowed windowed = Windowed::kPixels;
  Factors factors = Factors::kInLanes;
};
Storage assign_storage(const Graph& graph, const std::vector<int>& order, const StorageChoice& choice = {},
                       Deadline deadline = kNoDeadline);
Storage assign_storage(const Graph& graph, Deadline deadline = kNoDeadline);

// The peak of assign_storage(graph), which no choice of a scheduler's changes: what rewrites ask for.
int64_t layerwise_peak(const Graph& graph);

// What assign_storage() may do whatever the order.
struct Sharing {
  // `from` may lie in the storage of `to`, which `node` writes, if it dies there.
  struct Move {
    const Node* node;
    TensorId from, to;                                   // storages
    enum class Kind : uint8_t { kInPlace, kPart } kind;  // kPart: one of several nests copies it
  };
  std::vector<TensorId> roots;     // per tensor: the tensor that it is a view of, or itself
  std::vector<const Node*> views;  // nodes that take no step
  std::vector<Move> moves;         // of nodes outside control flow
};
Sharing possible_sharing(const Graph& graph);

}  // namespace arenac
