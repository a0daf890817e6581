// One step of training: domain ai.onnx.preview.training. Inputs are the rate R, the number T of steps before,
// and then lists: all tensors X that are trained, all gradients G, and what the method remembers of each.
#include <fmt/format.h>

#include <cmath>

#include "frontend/ops.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

// Calls step(k, x, g) for each of the tensors; `lists` is the number of lists, X and G among them.
template <typename Step>
void for_each_tensor(Lowering& node, int lists, const Step& step) {
  const int count = (node.input_count() - 2) / lists;
  node.require(node.input_count() > 2 && count * lists == node.input_count() - 2,
               fmt::format("needs R, T and {} lists of one length", lists));
  for (int k : {0, 1})
    node.require(element_count(node.shape(node.in(k))) == 1, "R and T should be one number each");
  node.require(is_float(node.type(node.in(0))) && !is_float(node.type(node.in(1))),
               "R should be a float and T an integer");
  for (int k = 0; k < count; ++k) {
    const TensorId x = node.in(2 + k);
    node.require(is_float(node.type(x)), "only floats can be trained");
    for (int l = 1; l < lists; ++l) {
      const TensorId other = node.in(2 + l * count + k);
      node.require(node.shape(other) == node.shape(x) && node.type(other) == node.type(x),
                   fmt::format("tensor {} and its gradient or its memory differ", k));
    }
    step(k, count);
  }
}

// Tensor k of list l.
TensorId listed(const Lowering& node, int l, int k, int count) { return node.in(2 + l * count + k); }

// norm_coefficient * x + g: the gradient of the loss with its L2 regularisation.
TensorId regularized(Lowering& node, TensorId x, TensorId g) {
  const double norm = node.float_attr("norm_coefficient", 0);
  const auto formula = [&](const Expr& e, const Expr& gradient) { return e * norm + gradient; };
  return pointwise(node, compute_type(node.type(x)), formula, x, g);
}

// A scalar that all tensors share.
Expr rate(const Lowering& node, Formula& f, Type type) {
  return cast(type, read_single(node, f, node.in(0)));
}
Expr steps(const Lowering& node, Formula& f, Type type) {
  return cast(type, read_single(node, f, node.in(1)));
}

// x - step * d / (sqrt(h) + epsilon), where `step` is of the node's scalars.
template <typename StepSize>
TensorId descended(Lowering& node, TensorId x, TensorId d, TensorId h, double epsilon, const StepSize& step) {
  Formula f(node);
  const auto at = f.axes(node.shape(x));
  const Expr e = f.read(x, at);
  f.body(e - step(f, e->type) * f.read(d, at) / (sqrt(f.read(h, at)) + epsilon));
  return f.emit(node.type(x));
}

void adagrad(Lowering& node) {
  const double decay = node.float_attr("decay_factor", 0), epsilon = node.float_attr("epsilon", 1e-6f);
  const auto step = [&](Formula& f, Type type) {
    return rate(node, f, type) / (1 + steps(node, f, type) * decay);
  };
  for_each_tensor(node, 3, [&](int k, int count) {
    const TensorId x = listed(node, 0, k, count), g = regularized(node, x, listed(node, 1, k, count));
    const auto squared = [](const Expr& sum, const Expr& e) { return sum + e * e; };
    const TensorId h = pointwise(node, node.type(x), squared, listed(node, 2, k, count), g);
    node.out(k, descended(node, x, g, h, epsilon, step));
    node.out(count + k, h);
  });
}

void adam(Lowering& node) {
  const double alpha = node.float_attr("alpha", 0.9f), beta = node.float_attr("beta", 0.999f),
               epsilon = node.float_attr("epsilon", 1e-6f),
               post = node.float_attr("norm_coefficient_post", 0);
  // The averages begin at zero; the rate makes up for that.
  const auto step = [&](Formula& f, Type type) {
    const Expr r = rate(node, f, type), t = steps(node, f, type);
    const Expr corrected = r * sqrt(1 - pow(constant(type, beta), t)) / (1 - pow(constant(type, alpha), t));
    return select(t > 0, corrected, r);
  };
  for_each_tensor(node, 4, [&](int k, int count) {
    const TensorId x = listed(node, 0, k, count), g = regularized(node, x, listed(node, 1, k, count));
    const Type type = node.type(x);
    const auto mean = [&](const Expr& v, const Expr& e) { return v * alpha + e * (1 - alpha); };
    const auto square = [&](const Expr& h, const Expr& e) { return h * beta + e * e * (1 - beta); };
    const TensorId v = pointwise(node, type, mean, listed(node, 2, k, count), g);
    const TensorId h = pointwise(node, type, square, listed(node, 3, k, count), g);
    const TensorId y = descended(node, x, v, h, epsilon, step);
    const auto shrunk = [&](const Expr& e) { return e * (1 - post); };
    node.out(k, post == 0 ? y : pointwise(node, type, shrunk, y));
    node.out(count + k, v);
    node.out(2 * count + k, h);
  });
}

void momentum(Lowering& node) {
  const double alpha = node.attribute("alpha").f, beta = node.attribute("beta").f;
  const std::string mode = node.attribute("mode").s;
  node.require(mode == "standard" || mode == "nesterov", fmt::format("unknown mode '{}'", mode));
  for_each_tensor(node, 3, [&](int k, int count) {
    const TensorId x = listed(node, 0, k, count), g = regularized(node, x, listed(node, 1, k, count));
    Formula velocity(node);
    {
      const auto at = velocity.axes(node.shape(x));
      const Expr e = velocity.read(g, at), t = steps(node, velocity, e->type);
      velocity.body(velocity.read(listed(node, 2, k, count), at) * alpha +
                    select(t > 0, constant(e->type, beta), constant(e->type, 1)) * e);
    }
    const TensorId v = velocity.emit(node.type(x));
    Formula f(node);
    const auto at = f.axes(node.shape(x));
    const Expr e = f.read(x, at), speed = f.read(v, at);
    f.body(e - rate(node, f, e->type) * (mode == "nesterov" ? f.read(g, at) + speed * alpha : speed));
    node.out(k, f.emit(node.type(x)));
    node.out(count + k, v);
  });
}

}  // namespace

std::span<const OperatorRow> training_operators() {
  static constexpr OperatorRow kRows[] = {
      {"ai.onnx.preview.training", "Adagrad", 1, adagrad},
      {"ai.onnx.preview.training", "Adam", 1, adam},
      {"ai.onnx.preview.training", "Momentum", 1, momentum},
  };
  return kRows;
}

}  // namespace arenac
