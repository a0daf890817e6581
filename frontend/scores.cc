#include "frontend/scores.h"

#include <fmt/format.h>

#include <cmath>

#include "frontend/steps.h"

namespace arenac {
namespace {

// The quantile of the normal distribution, by Winitzki's approximation of the inverse error function
// ("A handy approximation for the error function and its inverse", 2008), as ONNX's implementations do it.
Expr probit(const Expr& p) {
  constexpr double kA = 0.147, kPi = 3.14159265358979323846;
  const Expr x = 2 * p - 1, l = log((1 - x) * (1 + x));
  const Expr v = 2 / (kPi * kA) + 0.5 * l;
  const Expr size = sqrt(sqrt(v * v - l / kA) - v) * std::sqrt(2.0);
  return select(x < 0, -size, size);
}

// Softmax over the scores that are not zero, within 1e-7; those become next to nothing.
TensorId softmax_zero(Lowering& node, TensorId x) {
  const Type real = node.type(x);
  const TensorId most = reduced(node, x, {1}, {.combine = Combine::kMax}, real);
  const auto power = [&](const Expr& e, const Expr& m) {
    return select(absolute(e) <= 1e-7, e * exp(-m), exp(e - m));
  };
  const TensorId powers = pointwise(node, real, power, x, most);
  const auto share = [&](const Expr& e, const Expr& sum) {
    return select(sum == 0, constant(real, 0), e / sum);
  };
  return pointwise(node, real, share, powers, reduced(node, powers, {1}, {}, real));
}

}  // namespace

Expr logistic(const Expr& x) { return 1 / (1 + exp(-x)); }

TensorId float_table(Lowering& node, Shape shape, const std::vector<float>& elements) {
  node.require(element_count(shape) == static_cast<int64_t>(elements.size()),
               fmt::format("{} numbers are given where {} are needed", elements.size(), to_string(shape)));
  Value value = node.listed(elements);
  value.shape = std::move(shape);
  return node.constant(std::move(value));
}

TensorId feature_rows(Lowering& node, Type type) {
  const TensorId x = node.in(0);
  node.require(node.rank(x) == 1 || node.rank(x) == 2, "the features must have rank 1 or 2");
  const bool vector = node.rank(x) == 1;
  Formula f(node);
  const Expr r = f.axis(vector ? 1 : node.shape(x)[0]), k = f.axis(node.shape(x).back());
  f.body(cast(type, f.read(x, vector ? std::vector{k} : std::vector{r, k})));
  return f.emit(type);
}

TensorId transformed(Lowering& node, TensorId scores, const std::string& how) {
  if (how == "NONE") return scores;
  if (how == "LOGISTIC") return pointwise(node, node.type(scores), logistic, scores);
  if (how == "PROBIT") return pointwise(node, node.type(scores), probit, scores);
  if (how == "SOFTMAX_ZERO") return softmax_zero(node, scores);
  node.require(how == "SOFTMAX", fmt::format("post_transform '{}' is unknown", how));
  Attribute axis;
  axis.i = 1;
  return node.apply("Softmax", {scores}, {{"axis", axis}});
}

TensorId transformed(Lowering& node, TensorId scores) {
  return transformed(node, scores, node.string_attr("post_transform", "NONE"));
}

Value class_labels(Lowering& node) {
  for (const char* name : {"classlabels_int64s", "classlabels_ints"})
    if (node.has(name) && !node.attribute(name).ints.empty()) return node.listed(node.attribute(name).ints);
  if (!node.has("classlabels_strings")) return node.listed(std::vector<int64_t>{});
  return node.listed(node.attribute("classlabels_strings").strings);
}

TensorId best_label(Lowering& node, TensorId scores, const Value& labels) {
  node.require(labels.count() > 0 && node.shape(scores)[1] > 0, "the model names no class labels");
  const TensorId table = node.constant(labels);
  Attribute axis, keep;
  axis.i = 1;
  const TensorId index = node.apply("ArgMax", {scores}, {{"axis", axis}, {"keepdims", keep}});
  Formula f(node);
  const Expr r = f.axis(node.shape(index)[0]);
  f.body(f.read(table, {max(min(f.read(index, {r}), static_cast<double>(labels.count() - 1)), 0)}));
  return f.emit(labels.type);
}

TensorId binary_label(Lowering& node, TensorId scores, double threshold, const Value& labels) {
  const bool two = labels.count() == 2;
  node.require(two || labels.type == Type::kInt64, "a machine of one score needs two labels");
  const auto label = [&](int64_t k, int64_t otherwise) {
    return two ? constant(labels.type, load(labels, k)) : integer(otherwise);
  };
  Formula f(node);
  const Expr r = f.axis(node.shape(scores)[0]);
  f.body(select(f.read(scores, {r, integer(0)}) > threshold, label(1, 1),
                label(0, labels.count() == 0 ? 0 : -1)));
  return f.emit(labels.type);
}

TensorId both_classes(Lowering& node, TensorId score, FirstClass first) {
  const int64_t rows = node.shape(score)[0];
  const auto first_score = [&](const Expr& x) {
    return first == FirstClass::kComplement ? 1 - x : first == FirstClass::kNegative ? -x : logistic(-x);
  };
  Formula f(node);
  for (int column = 0; column < 2; ++column) {
    if (column) f.next_nest();
    const Expr r = f.axis(rows), x = f.read(score, {r, integer(0)});
    f.body(column == 0 ? first_score(x) : first == FirstClass::kLogistic ? logistic(x) : x);
    f.store({r, integer(column)});
  }
  return f.emit(Type::kFloat32, {rows, 2});
}

}  // namespace arenac
