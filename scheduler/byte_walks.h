// Sums of products of bytes whose factors lie so that instructions take several of them at once.
//
//   acc[m] = sum(k) (x[k] - 3) * w[m, k]       x and w side by side along k: walks_bytes(nest, k, ...)
#pragma once

#include <array>
#include <functional>
#include <optional>

#include "scheduler/flat_nest.h"

namespace arenac {

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

}  // namespace arenac
