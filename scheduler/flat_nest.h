// From a nest over logical indices to loops over memory: every access becomes one element address, and loops
// that walk memory without a seam are joined.
//
//   out[i, j] = f(x[i, j]), i < 8, j < 16          out[ij] = f(x[ij]), ij < 128
#pragma once

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

// All reads of an expression, which may be empty.
std::vector<const Expr*> reads_of(const Expr& body);
// Of each sum; at most INT64_MAX.
int64_t terms_of(const FlatNest& nest);
// The innermost of the reduced axes in that order; -1: none.
int innermost_reduced(const FlatNest& nest, const std::vector<int>& order);

}  // namespace arenac
