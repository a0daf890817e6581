// How factors of sums of products (frontend/products.h) lie best:
//
//   scores[h, t, o] = sum(i) q[h, t, i] * k[h, i, o]
//
//   neighbouring results are lanes of a vector where the elements of k that they take lie side by side. A
//   projection writes k token by token: k[h, i, o] at 256 * o + 64 * h + i
#pragma once

#include "scheduler/storage_facts.h"

namespace arenac {

// Whether the only reader of a tensor sums such products of which the tensor, laid out so, has the elements
// for neighbouring results apart.
bool lanes_lie_apart(const StorageFacts& facts, TensorId factor, const Layout& layout);

// The strides given; or where the tensor, or its only view, has its lanes apart with them, those in which
// another dimension is innermost, if that brings the lanes together.
std::vector<int64_t> strides_in_lanes(const StorageFacts& facts, TensorId factor,
                                      const std::vector<int64_t>& given);

}  // namespace arenac
