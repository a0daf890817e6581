// Domain ai.onnx.ml: support vector machines.
#include <fmt/format.h>

#include <iterator>

#include "frontend/ops.h"
#include "frontend/scores.h"

namespace arenac {
namespace {

// K(x[r], v[s]): [rows, vectors].
TensorId svm_kernel(Lowering& node, TensorId x, TensorId vectors) {
  const int64_t rows = node.shape(x)[0], features = node.shape(x)[1], count = node.shape(vectors)[0];
  std::vector<float> parameters = node.floats_attr("kernel_params");
  parameters.resize(3);
  const double gamma = parameters[0], coef0 = parameters[1], degree = parameters[2];
  const std::string type = node.string_attr("kernel_type", "LINEAR");
  Formula f(node);
  const Expr r = f.axis(rows), s = f.axis(count), k = f.reduced(features);
  const Expr a = f.read(x, {r, k}), b = f.read(vectors, {s, k});
  if (type == "RBF") {
    f.sum((a - b) * (a - b));
    f.finish(exp(f.acc() * -gamma));
  } else {
    f.sum(a * b);
    const Expr inner = f.acc() * gamma + coef0;
    if (type == "POLY")
      f.finish(pow(inner, constant(Type::kFloat32, degree)));
    else if (type == "SIGMOID")
      f.finish(tanh(inner));
    else
      node.require(type == "LINEAR", fmt::format("kernel_type '{}' is unknown", type));
  }
  return f.emit(Type::kFloat32);
}

void svm_regressor(Lowering& node) {
  const TensorId x = feature_rows(node);
  const int64_t rows = node.shape(x)[0], features = node.shape(x)[1], count = node.int_attr("n_supports", 0);
  const auto coefficients = node.floats_attr("coefficients"), rho = node.floats_attr("rho");
  node.require(rho.size() == 1, "'rho' needs one number");
  node.require(count >= 0 && count <= (1 << 24), "'n_supports' is out of range");
  TensorId terms = x;
  if (count > 0)
    terms = svm_kernel(node, x, float_table(node, {count, features}, node.floats_attr("support_vectors")));
  const int64_t n = count > 0 ? count : features;
  const TensorId w = float_table(node, {n}, coefficients);
  Formula f(node);
  const Expr r = f.axis(rows), k = f.reduced(n);
  f.sum(f.read(terms, {r, k}) * f.read(w, {k}));
  Expr y = f.acc() + rho[0];
  if (node.int_attr("one_class", 0))
    y = select(y > 0, constant(Type::kFloat32, 1.0), constant(Type::kFloat32, -1.0));
  f.finish(y);
  const TensorId column = f.emit(Type::kFloat32);
  Formula g(node);
  const Expr row = g.axis(rows), zero = g.axis(1);
  g.body(g.read(column, {row}));
  node.out(0, transformed(node, g.emit(Type::kFloat32)));
}

// The decision of every pair of classes i < j, [rows, pairs], and the winner by votes.
void svm_pairs(Lowering& node, TensorId x, const Value& labels, const std::vector<int64_t>& per_class) {
  const auto classes = static_cast<int64_t>(per_class.size());
  const int64_t rows = node.shape(x)[0], features = node.shape(x)[1], pairs = classes * (classes - 1) / 2;
  int64_t count = 0;
  std::vector<int64_t> first;
  for (int64_t n : per_class) {
    node.require(n >= 0 && n < (1 << 24), "'vectors_per_class' is out of range");
    first.push_back(count);
    count += n;
  }
  const auto coefficients = node.floats_attr("coefficients"), rho = node.floats_attr("rho");
  node.require(static_cast<int64_t>(coefficients.size()) == (classes - 1) * count &&
                   static_cast<int64_t>(rho.size()) == pairs,
               "'coefficients' or 'rho' do not fit the support vectors");
  const TensorId terms =
      svm_kernel(node, x, float_table(node, {count, features}, node.floats_attr("support_vectors")));
  std::vector<float> weights(pairs * count), votes(pairs * 2);
  for (int64_t i = 0, p = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j, ++p) {
      for (int64_t s = first[i]; s < first[i] + per_class[i]; ++s)
        weights[p * count + s] = coefficients[(j - 1) * count + s];
      for (int64_t s = first[j]; s < first[j] + per_class[j]; ++s)
        weights[p * count + s] = coefficients[i * count + s];
      votes[p * 2] = static_cast<float>(i), votes[p * 2 + 1] = static_cast<float>(j);
    }
  const TensorId w = float_table(node, {pairs, count}, weights), b = float_table(node, {pairs}, rho),
                 v = float_table(node, {pairs, 2}, votes);
  Formula f(node);
  {
    const Expr r = f.axis(rows), p = f.axis(pairs), s = f.reduced(count);
    f.sum(f.read(terms, {r, s}) * f.read(w, {p, s}));
    f.finish(f.acc() + f.read(b, {p}));
  }
  const TensorId decisions = f.emit(Type::kFloat32);
  Formula g(node);
  {
    const Expr r = g.axis(rows), c = g.axis(classes), p = g.reduced(pairs);
    const Expr winner =
        select(g.read(decisions, {r, p}) > 0, g.read(v, {p, integer(0)}), g.read(v, {p, integer(1)}));
    g.sum(cast(Type::kFloat32, winner == cast(Type::kFloat32, c)));
  }
  node.out(0, best_label(node, g.emit(Type::kFloat32), labels));
  node.out(1, transformed(node, decisions));
}

void svm_classifier(Lowering& node) {
  const TensorId x = feature_rows(node);
  const auto labels = class_labels(node);
  node.require(node.floats_attr("prob_a").empty() && node.floats_attr("prob_b").empty(),
               "calibrated probabilities (prob_a, prob_b) are not supported");
  const auto per_class = node.ints_attr("vectors_per_class", {});
  if (!per_class.empty()) {
    node.require(per_class.size() > 2 && per_class.size() < 1000,
                 "fewer than three classes are not supported");
    node.require(std::ssize(per_class) == labels.count(), "there are not as many labels as classes");
    return svm_pairs(node, x, labels, per_class);
  }
  const auto rho = node.floats_attr("rho");
  const auto classes = labels.count();
  node.require(classes > 2 && rho.size() == 1, "a linear machine needs three classes or more, and one 'rho'");
  const TensorId w = float_table(node, {classes, node.shape(x)[1]}, node.floats_attr("coefficients"));
  const TensorId terms = svm_kernel(node, x, w);
  Formula f(node);
  f.body(f.broadcast(terms, f.axes(node.shape(terms))) + rho[0]);
  const TensorId scores = f.emit(Type::kFloat32);
  node.out(0, best_label(node, scores, labels));
  node.out(1, transformed(node, scores));
}

}  // namespace

std::span<const OperatorRow> svm_operators() {
  static constexpr OperatorRow kRows[] = {
      {"ai.onnx.ml", "SVMClassifier", 1, svm_classifier},
      {"ai.onnx.ml", "SVMRegressor", 1, svm_regressor},
  };
  return kRows;
}

}  // namespace arenac
