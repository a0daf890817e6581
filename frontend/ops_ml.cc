// Domain ai.onnx.ml: linear models, and the preparation of features. Elsewhere: trees (ops_trees.cc), support
// vector machines (ops_svm.cc), encoders of labels (ops_labels.cc).
#include <fmt/format.h>

#include <cmath>

#include "frontend/ops.h"
#include "frontend/scores.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

// ---- linear models

// x w^T + intercepts: [rows, targets].
TensorId linear(Lowering& node, TensorId x, int64_t targets) {
  const int64_t rows = node.shape(x)[0], features = node.shape(x)[1];
  const TensorId w = float_table(node, {targets, features}, node.floats_attr("coefficients"));
  std::vector<float> b = node.floats_attr("intercepts");
  if (b.empty()) b.resize(targets);
  const TensorId bias = float_table(node, {targets}, b);
  Formula f(node);
  const Expr r = f.axis(rows), t = f.axis(targets), k = f.reduced(features);
  f.sum(f.read(x, {r, k}) * f.read(w, {t, k}));
  f.finish(f.acc() + f.read(bias, {t}));
  return f.emit(Type::kFloat32);
}

void linear_regressor(Lowering& node) {
  const int64_t targets = node.int_attr("targets", 1);
  node.require(targets > 0, "'targets' must be positive");
  node.out(0, transformed(node, linear(node, feature_rows(node), targets)));
}

void linear_classifier(Lowering& node) {
  const TensorId x = feature_rows(node);
  const auto labels = class_labels(node);
  const int64_t features = node.shape(x)[1];
  const auto weights = static_cast<int64_t>(node.floats_attr("coefficients").size());
  node.require(features > 0 && weights > 0 && weights % features == 0,
               "the coefficients do not fit the features");
  const int64_t classes = weights / features;
  const TensorId scores = linear(node, x, classes);
  if (classes > 1) {
    node.require(labels.count() == classes, "there are not as many labels as classes");
    node.out(0, best_label(node, scores, labels));
    node.out(1, transformed(node, scores));
    return;
  }
  node.out(0, binary_label(node, scores, 0, labels));
  const TensorId one = transformed(node, scores);
  node.out(1, labels.count() == 2 ? both_classes(node, one, FirstClass::kComplement) : one);
}

// ---- feature preparation

// A list of one number a feature, or one for all.
Expr per_feature(Lowering& node, Formula& f, const std::vector<float>& numbers, const Expr& k,
                 int64_t features) {
  if (numbers.size() == 1) return constant(Type::kFloat32, numbers[0]);
  return f.read(float_table(node, {features}, numbers), {k});
}

void scaler(Lowering& node) {
  const TensorId x = node.in(0);
  node.require(node.rank(x) > 0, "a scalar has no features");
  const int64_t features = node.shape(x).back();
  std::vector<float> offset = node.floats_attr("offset"), scale = node.floats_attr("scale");
  if (offset.empty()) offset = {0};
  if (scale.empty()) scale = {1};
  Formula f(node);
  const auto out = f.axes(node.shape(x));
  const Expr value = cast(Type::kFloat32, f.read(x, out));
  f.body((value - per_feature(node, f, offset, out.back(), features)) *
         per_feature(node, f, scale, out.back(), features));
  node.out(0, f.emit(Type::kFloat32));
}

void normalizer(Lowering& node) {
  const TensorId x = feature_rows(node);
  const int64_t rows = node.shape(x)[0], features = node.shape(x)[1];
  const std::string how = node.string_attr("norm", "MAX");
  node.require(how == "MAX" || how == "L1" || how == "L2", fmt::format("norm '{}' is unknown", how));
  Formula f(node);
  {
    const Expr r = f.axis(rows), k = f.reduced(features), e = f.read(x, {r, k});
    if (how == "MAX") f.reduce(Combine::kMax, e);
    if (how == "L1") f.sum(absolute(e));
    if (how == "L2") f.sum(e * e), f.finish(sqrt(f.acc()));
  }
  const TensorId norms = f.emit(Type::kFloat32);
  Formula g(node);
  const Expr r = g.axis(rows), k = g.axis(features), norm = g.read(norms, {r}), e = g.read(x, {r, k});
  g.body(select(norm == 0, e, e / norm));
  const TensorId y = g.emit(Type::kFloat32);
  node.out(0, node.rank(node.in(0)) == 2 ? y : node.apply("Reshape", {y, node.constant_ints({features})}));
}

void binarizer(Lowering& node) {
  const TensorId x = node.in(0);
  Formula f(node);
  const Expr value = f.broadcast(x, f.axes(node.shape(x)));
  f.body(cast(value->type, value > static_cast<double>(node.float_attr("threshold", 0))));
  node.out(0, f.emit(node.type(x)));
}

void imputer(Lowering& node) {
  const TensorId x = node.in(0);
  node.require(node.rank(x) > 0, "a scalar has no features");
  const Type type = compute_type(node.type(x));
  const int64_t features = node.shape(x).back();
  Formula f(node);
  const auto out = f.axes(node.shape(x));
  const Expr value = f.read(x, out);
  if (is_float(type)) {
    const double hole = node.float_attr("replaced_value_float", 0);
    const Expr instead =
        cast(type, per_feature(node, f, node.floats_attr("imputed_value_floats"), out.back(), features));
    f.body(select(std::isnan(hole) ? make(Op::kIsNan, {value}) : value == hole, instead, value));
  } else {
    const auto values = node.ints_attr("imputed_value_int64s", {});
    node.require(values.size() == 1 || static_cast<int64_t>(values.size()) == features,
                 "'imputed_value_int64s' needs one number, or one a feature");
    const Expr instead =
        values.size() == 1 ? integer(values[0]) : f.read(node.constant_ints(values), {out.back()});
    const Expr hole = integer(node.int_attr("replaced_value_int64", 0));
    f.body(select(cast(Type::kInt64, value) == hole, cast(type, instead), value));
  }
  node.out(0, f.emit(node.type(x)));
}

void feature_vectorizer(Lowering& node) {
  std::vector<TensorId> parts;
  int64_t rows = 1, total = 0;
  for (int k = 0; k < node.input_count(); ++k) {
    const TensorId x = node.in(k);
    node.require(node.rank(x) == 1 || node.rank(x) == 2, "the features must have rank 1 or 2");
    rows = node.rank(x) == 2 ? node.shape(x)[0] : 1;
    node.require(k == 0 || rows == (node.rank(node.in(0)) == 2 ? node.shape(node.in(0))[0] : 1),
                 "the inputs' rows differ");
    parts.push_back(x);
  }
  node.require(!parts.empty(), "there is no input");
  Formula f(node);
  for (size_t p = 0; p < parts.size(); ++p) {
    if (p > 0) f.next_nest();
    const bool vector = node.rank(parts[p]) == 1;
    const Expr r = f.axis(rows), k = f.axis(node.shape(parts[p]).back());
    f.body(cast(Type::kFloat32, f.read(parts[p], vector ? std::vector{k} : std::vector{r, k})));
    f.store({r, k + integer(total)});
    total += node.shape(parts[p]).back();
  }
  node.out(0, f.emit(Type::kFloat32, {rows, total}));
}

void array_feature_extractor(Lowering& node) {
  const TensorId x = node.in(0), y = node.in(1);
  node.require(node.rank(x) > 0 && node.shape(x).back() > 0, "there are no features");
  node.require(!is_float(node.type(y)), "the indices must be integers");
  const int64_t count = element_count(node.shape(y)), features = node.shape(x).back();
  node.require(count == 0 || node.rank(y) > 0, "the indices must have a rank");
  for (size_t d = 0; d + 1 < node.shape(y).size(); ++d)
    node.require(node.shape(y)[d] == 1, "the indices must be one row");
  Shape shape = node.shape(x);
  shape.back() = count;
  Formula f(node);
  auto out = f.axes(shape);
  std::vector<Expr> at(node.rank(y), integer(0));
  at.back() = out.back();
  const Expr index = cast(Type::kInt64, f.read(y, std::move(at)));
  out.back() = max(min(index, static_cast<double>(features - 1)), 0);
  f.body(f.read(x, std::move(out)));
  const TensorId z = f.emit(node.type(x), shape);
  node.out(0, node.rank(x) > 1 ? z : node.apply("Reshape", {z, node.constant_ints({1, count})}));
}

void zip_map(Lowering& node) {
  node.warn("ZipMap is dropped: its output is the tensor of probabilities, a column for each class");
  node.out(0, node.in(0));
}

}  // namespace

std::span<const OperatorRow> ml_operators() {
  static constexpr OperatorRow kRows[] = {
      {"ai.onnx.ml", "ArrayFeatureExtractor", 1, array_feature_extractor},
      {"ai.onnx.ml", "Binarizer", 1, binarizer},
      {"ai.onnx.ml", "FeatureVectorizer", 1, feature_vectorizer},
      {"ai.onnx.ml", "Imputer", 1, imputer},
      {"ai.onnx.ml", "LinearClassifier", 1, linear_classifier},
      {"ai.onnx.ml", "LinearRegressor", 1, linear_regressor},
      {"ai.onnx.ml", "Normalizer", 1, normalizer},
      {"ai.onnx.ml", "Scaler", 1, scaler},
      {"ai.onnx.ml", "ZipMap", 1, zip_map},
  };
  return kRows;
}

}  // namespace arenac
