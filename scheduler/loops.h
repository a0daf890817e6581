// From a nest over logical indices to loops over memory: every access becomes one element address, loops that
// walk memory without a seam are joined, and an order is chosen in which the innermost loop has unit stride.
//
//   out[n,m,y,x] = sum(c,ky,kx) x[n,c,y+ky-1,x+kx-1] * w[m,c,ky,kx]      n y | m in blocks of 16 | x in tiles
//   | ky kx c
#pragma once

#include <array>
#include <functional>
#include <optional>

#include "scheduler/schedule.h"

namespace arenac {

// A nest whose reads and store have one index each, the element address relative to the operand's layout
// offset.
struct FlatNest {
  // Joined-away axes have extent 1; no expression names an axis of extent 1. What accumulates has reduced
  // axes where all that is added to an element may be added at once: those that the store does not name.
  std::vector<Axis> axes;
  Combine combine;
  bool accumulate;
  std::vector<Bound> where;
  Expr store, body, finish;
  std::vector<std::vector<int>> walks;  // per axis, those that it runs over, outermost first
  std::vector<int> divided;  // per axis: that of which it is the remainder, where a loop runs over quotients
                             // and one over remainders; -1: none
  std::vector<Words> words;  // per operand, of its layout: its addresses are as if it had none
};

FlatNest flat_nest(const Nest& nest, const Node& node, const std::vector<Layout>& layouts);

// Whether it has sums that are in registers while terms are added to them.
bool has_sums(const FlatNest& nest);

// Whether it is what was read, or computed of it, converted to a type of another size.
bool widens_read(const Expr& e);
// Whether any of the sums' terms is, of what lies along the vector axis.
bool widens(const FlatNest& nest, int vector_axis);

// A factor of the terms of a sum of products of bytes: (element of the read) + zero, as an int32.
struct ByteFactor {
  Expr read;
  int64_t zero;  // in [-255, 255]
};
// The factors of a body that is a product of two such.
std::optional<std::array<ByteFactor, 2>> byte_factors(const Expr& body);

// Whether both factors of a sum of products of bytes lie side by side along axis a, kBytes of them or more.
// Those of `any_layout` need only move.
bool walks_bytes(const FlatNest& nest, int a, const std::function<bool(const Expr&)>& any_layout);
// The same, or only one does, of the other's elements each lies as far from the next, and those in a vector
// of 16-bit offsets; the zero of the one is then within int8.
bool walks_bytes_in_vectors(const FlatNest& nest, int a, const std::function<bool(const Expr&)>& any_layout);
// Whether one of the factors (or, not yet, one of `any_layout`) lies side by side along the innermost reduced
// axis, kBytes of them or more inside of all bounds, and the other along the tile axis.
bool walks_bytes_of_pixels(const FlatNest& nest, const LoopPlan& plan,
                           const std::function<bool(const Expr&)>& any_layout);
// Whether one of the factors lies side by side along the innermost reduced axis, kBytes of them or more, and
// the other, with its zero within int8, along the vector axis, and bounds name neither.
bool walks_bytes_of_lanes(const FlatNest& nest, const LoopPlan& plan,
                          const std::function<bool(const Expr&)>& any_layout);
// Whether a factor with its zero is within int8.
bool fits_int8(const ByteFactor& factor);
// The innermost of the reduced axes in that order; -1: none.
int innermost_reduced(const FlatNest& nest, const std::vector<int>& order);

// Chooses how to walk the nest. Constant operands count as if they had whatever layout serves best.
LoopPlan plan_loops(const Nest& nest, const Node& node, const Graph& graph,
                    const std::vector<Layout>& layouts, const Target& target);

// The column of a read in the rows that it walks along the innermost reduced axis of a sum of products of
// bytes over lanes (walks_bytes_of_lanes), and these rows: the factor's whose elements the lanes are. Nothing
// where rows are not blocks of the whole operand.
struct WalkedRows {
  Words rows;
  Affine column;
};
std::optional<WalkedRows> walked_rows(const FlatNest& nest, const LoopPlan& plan, const Expr& read);

struct PlannedNest {
  const Nest* nest;
  const Node* node;
  const LoopPlan* plan;
};
// Gives constants of bytes, but those that C kernels were `called` with, words where every one of all nests
// that reads them walks_bytes_of_lanes in these rows.
void pack_words(const std::vector<PlannedNest>& nests, const Graph& graph, const std::vector<bool>& called,
                std::vector<Layout>& layouts);

// Gives constants the layout in which their (first) reader walks them.
void pack_constants(const Nests& nests, const Node& node, const std::vector<LoopPlan>& plans,
                    const Graph& graph, std::vector<bool>& packed, std::vector<Layout>& layouts);

}  // namespace arenac
