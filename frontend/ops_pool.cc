// Pooling: a reduction over the taps of a window, channel by channel.
#include <fmt/format.h>

#include "frontend/ops.h"
#include "frontend/steps.h"
#include "frontend/window.h"

namespace arenac {
namespace {

Window pooling_window(const Lowering& node, TensorId x) {
  const Shape& input = node.shape(x);
  node.require(input.size() >= 3, "pooling needs an input of rank 3 or more");
  return parse_window(node, Shape(input.begin() + 2, input.end()), node.attribute("kernel_shape").ints);
}

// The axes n, c, spatial..., taps..., and the input indices there.
struct Pooling {
  std::vector<Expr> out, x;
};

Pooling pooling(const Lowering& node, Formula& f, TensorId x, const Window& window) {
  Pooling p;
  p.out = f.axes({node.shape(x)[0], node.shape(x)[1]});
  const std::vector<Expr> spatial = f.axes(output_extents(window));
  p.x = p.out;
  p.out.insert(p.out.end(), spatial.begin(), spatial.end());
  const std::vector<Expr> taps = tap_axes(f, window);
  for (const Expr& index : window_indices(f, window, spatial, taps)) p.x.push_back(index);
  return p;
}

// Where each maximum lies, as an index into the flat input: the first in row-major order of those that equal
// it. `column_major` counts the spatial dimensions from the first to the last.
TensorId max_indices(Lowering& node, TensorId x, TensorId y, const Window& window, int64_t column_major) {
  const Shape& shape = node.shape(x);
  Formula f(node);
  const Pooling p = pooling(node, f, x, window);
  Expr flat = integer(0);
  for (size_t d = 0; d < shape.size(); ++d) flat = flat * integer(shape[d]) + p.x[d];
  const Expr never = integer(element_count(shape));
  f.reduce(Combine::kMin, select(f.read(x, p.x) == f.read(y, p.out), flat, never));
  if (column_major) {
    int64_t plane = 1, stride = 1;
    for (const WindowDim& d : window) plane *= d.input;
    Expr index = f.acc() / integer(plane) * integer(plane), rest = f.acc() % integer(plane);
    for (const WindowDim& d : window) {
      plane /= d.input;
      index = index + rest / integer(plane) * integer(stride);
      rest = rest % integer(plane);
      stride *= d.input;
    }
    f.finish(index);
  }
  return f.emit(Type::kInt64);
}

void max_pool(Lowering& node) {
  const TensorId x = node.in(0);
  const Window window = pooling_window(node, x);
  Formula f(node);
  f.reduce(Combine::kMax, f.read(x, pooling(node, f, x, window).x));
  const TensorId y = f.emit(node.type(x));
  node.out(0, y);
  if (node.wants(1)) node.out(1, max_indices(node, x, y, window, node.int_attr("storage_order", 0)));
}

void average_pool(Lowering& node) {
  const TensorId x = node.in(0);
  const Window window = pooling_window(node, x);
  const Counted counted = node.int_attr("count_include_pad", 0) ? Counted::kPadding : Counted::kInput;
  Formula f(node);
  const Pooling p = pooling(node, f, x, window);
  f.sum(f.read(x, p.x));
  const Expr divisor = averaged_taps(window, std::vector(p.out.begin() + 2, p.out.end()), counted);
  f.finish(f.acc() / cast(f.acc()->type, divisor));
  node.out(0, f.emit(node.type(x)));
}

void lp_pool(Lowering& node) {
  const TensorId x = node.in(0);
  const double p = norm_attr(node);
  const Window window = pooling_window(node, x);
  Formula f(node);
  const Expr value = f.read(x, pooling(node, f, x, window).x);
  const Expr magnitude = absolute(value);
  if (p == 1) {
    f.sum(magnitude);
  } else if (p == 2) {
    f.sum(value * value);
    f.finish(sqrt(f.acc()));
  } else {
    f.sum(pow(magnitude, constant(magnitude->type, p)));
    f.finish(pow(f.acc(), constant(magnitude->type, 1.0 / p)));
  }
  node.out(0, f.emit(node.type(x)));
}

// Puts every element of x where MaxPool's `indices` say it came from; zero elsewhere. The indices count in
// the tensor whose shape the window implies, even if output_shape asks for a larger one.
void max_unpool(Lowering& node) {
  const TensorId x = node.in(0), indices = node.in(1);
  const Shape& from = node.shape(x);
  node.require(node.shape(indices) == from && from.size() >= 3, "indices and data differ in shape");
  const Window window =
      parse_steps(node, Shape(from.begin() + 2, from.end()), node.attribute("kernel_shape").ints);
  const auto pads = node.ints_attr("pads", std::vector<int64_t>(2 * window.size(), 0));
  node.require(pads.size() == 2 * window.size(), "'pads' has the wrong length");
  Shape inferred = {from[0], from[1]};
  for (size_t k = 0; k < window.size(); ++k) {
    for (int64_t v : {pads[k], pads[window.size() + k]})
      node.require(v > -kLargestWindow && v < kLargestWindow, "'pads' makes no sense");
    inferred.push_back((from[k + 2] - 1) * window[k].stride + window[k].kernel - pads[k] -
                       pads[window.size() + k]);
    node.require(inferred.back() > 0, "the output is empty");
  }
  const Shape to = node.has_input(2) ? node.constant_ints(node.in(2), "output_shape") : inferred;
  node.require(to.size() == from.size(), "output_shape has the wrong length");
  for (size_t d = 0; d < to.size(); ++d)
    node.require(to[d] >= inferred[d],
                 fmt::format("output_shape {} is smaller than {}", to_string(to), to_string(inferred)));
  Formula f(node);
  f.axes(to);
  f.body(constant(compute_type(node.type(x)), 0));
  f.next_nest();
  const std::vector<Expr> at = f.axes(from);
  Expr flat = min(max(cast(Type::kInt64, f.read(indices, at)), 0), integer(element_count(inferred) - 1));
  std::vector<Expr> store(to.size());
  for (size_t d = to.size(); d-- > 0;) {
    store[d] = flat % integer(inferred[d]);
    flat = flat / integer(inferred[d]);
  }
  f.store(store);
  f.body(f.read(x, at));
  node.out(0, f.emit(node.type(x), to));
}

}  // namespace

std::span<const OperatorRow> pool_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "AveragePool", 1, average_pool},
      {"", "LpPool", 1, lp_pool},
      {"", "MaxPool", 1, max_pool},
      {"", "MaxUnpool", 9, max_unpool},
  };
  return kRows;
}

}  // namespace arenac
