#include "scheduler/byte_walks.h"

namespace arenac {
namespace {

std::optional<ByteFactor> byte_factor(const Expr& e) {
  if (e->op == Op::kAdd || e->op == Op::kSub) {
    if (e->args[1]->op != Op::kConst || std::abs(e->args[1]->value.i) > 255) return std::nullopt;
    auto factor = byte_factor(e->args[0]);
    if (!factor || factor->zero != 0) return std::nullopt;
    factor->zero = e->op == Op::kAdd ? e->args[1]->value.i : -e->args[1]->value.i;
    return factor;
  }
  if (e->op != Op::kCast || e->type != Type::kInt32 || e->args[0]->op != Op::kRead) return std::nullopt;
  if (e->args[0]->type != Type::kInt8 && e->args[0]->type != Type::kUint8) return std::nullopt;
  return ByteFactor{e->args[0], 0};
}

}  // namespace

std::optional<std::array<ByteFactor, 2>> byte_factors(const Expr& body) {
  if (body->op != Op::kMul || body->type != Type::kInt32) return std::nullopt;
  const auto a = byte_factor(body->args[0]), b = byte_factor(body->args[1]);
  if (!a || !b) return std::nullopt;
  return std::array{*a, *b};
}

constexpr int64_t kMostApart = 65535 / 7;  // of 8 bytes at 16-bit offsets

bool walks_bytes(const FlatNest& nest, int a, const std::function<bool(const Expr&)>& any_layout) {
  const auto factors = byte_factors(nest.body);
  if (a < 0 || nest.axes[a].extent < kBytes || !factors || nest.combine != Combine::kSum) return false;
  return std::all_of(factors->begin(), factors->end(), [&](const ByteFactor& factor) {
    const auto stride = coefficient_along(factor.read->args[0], a);
    return stride == 1 || (any_layout(factor.read) && stride.value_or(0) != 0);
  });
}

bool walks_bytes_in_vectors(const FlatNest& nest, int a, const std::function<bool(const Expr&)>& any_layout) {
  if (walks_bytes(nest, a, any_layout)) return true;
  const auto factors = byte_factors(nest.body);
  if (a < 0 || nest.axes[a].extent < kBytes || !factors || nest.combine != Combine::kSum) return false;
  for (const Bound& bound : nest.where)
    if (names_axis(bound.index, a)) return false;
  const auto stride = [&](const ByteFactor& factor) { return coefficient_along(factor.read->args[0], a); };
  const auto fit = [&](const ByteFactor& apart, const ByteFactor& near) {
    const int64_t distance = stride(apart).value_or(0);
    return distance > 0 && distance <= kMostApart && !any_layout(apart.read) && fits_int8(near) &&
           (stride(near) == 1 || (any_layout(near.read) && stride(near).value_or(0) != 0));
  };
  return fit((*factors)[0], (*factors)[1]) || fit((*factors)[1], (*factors)[0]);
}

bool walks_bytes_of_pixels(const FlatNest& nest, const LoopPlan& plan,
                           const std::function<bool(const Expr&)>& any_layout) {
  const int a = innermost_reduced(nest, plan.order), p = plan.tile_axis, v = plan.vector_axis;
  const auto factors = byte_factors(nest.body);
  if (a < 0 || p < 0 || v < 0 || p == v || !factors || nest.combine != Combine::kSum) return false;
  if (nest.axes[a].extent < kBytes || nest.axes[p].extent < kBytes) return false;
  for (const Bound& bound : nest.where)
    if (names_axis(bound.index, a) || names_axis(bound.index, v)) return false;
  const auto stride = [](const ByteFactor& factor, int axis) {
    return coefficient_along(factor.read->args[0], axis);
  };
  const auto fit = [&](const ByteFactor& pixels, const ByteFactor& lanes) {
    return stride(pixels, p) == 1 && stride(pixels, v) == 0 && stride(pixels, a).has_value() &&
           stride(lanes, p) == 0 && (stride(lanes, a) == 1 || any_layout(lanes.read));
  };
  return fit((*factors)[0], (*factors)[1]) || fit((*factors)[1], (*factors)[0]);
}

bool fits_int8(const ByteFactor& factor) {
  return factor.zero == (factor.read->type == Type::kInt8 ? 0 : -128);
}

bool walks_bytes_of_lanes(const FlatNest& nest, const LoopPlan& plan,
                          const std::function<bool(const Expr&)>& any_layout) {
  const int a = innermost_reduced(nest, plan.order), v = plan.vector_axis;
  const auto factors = byte_factors(nest.body);
  if (a < 0 || v < 0 || !factors || nest.combine != Combine::kSum || nest.axes[a].extent < kBytes)
    return false;
  for (const Bound& bound : nest.where)
    if (names_axis(bound.index, a) || names_axis(bound.index, v)) return false;
  const auto stride = [](const ByteFactor& factor, int axis) {
    return coefficient_along(factor.read->args[0], axis);
  };
  const auto fit = [&](const ByteFactor& pixels, const ByteFactor& lanes) {
    return stride(pixels, a) == 1 && stride(pixels, v) == 0 && fits_int8(lanes) &&
           stride(lanes, a).value_or(0) != 0 && (stride(lanes, v) == 1 || any_layout(lanes.read));
  };
  return fit((*factors)[0], (*factors)[1]) || fit((*factors)[1], (*factors)[0]);
}

}  // namespace arenac
