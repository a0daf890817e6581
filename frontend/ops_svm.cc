// Domain ai.onnx.ml: support vector machines.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "frontend/ops.h"
#include "frontend/scores.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

// K(x[r], v[s]) of the attributes' kernel: [rows, vectors].
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

// A machine with support vectors: `per_class` of them for each class, in their order.
struct Vectors {
  std::vector<int64_t> per_class;
  int64_t count = 0;
  std::vector<int64_t> first = {};  // of each class
  int64_t classes() const { return std::ssize(per_class); }
  int64_t pairs() const { return classes() * (classes() - 1) / 2; }
};
Vectors vectors_of(const Lowering& node, const Value& labels) {
  Vectors v{node.ints_attr("vectors_per_class", {})};
  node.require(v.classes() >= 2 && v.classes() < 1000, "there must be from 2 to 999 classes");
  node.require(v.classes() == labels.count(), "there are not as many labels as classes");
  for (int64_t n : v.per_class) {
    node.require(n >= 0 && n < (1 << 24), "'vectors_per_class' is out of range");
    v.first.push_back(v.count);
    v.count += n;
  }
  return v;
}

// The coefficient of each support vector in the decision of each pair of classes i < j, and the two classes:
// [pairs, vectors] and [pairs, 2].
struct PairTables {
  TensorId weights, classes;
};
PairTables pair_tables(const Lowering& node, const Vectors& v) {
  const auto coefficients = node.floats_attr("coefficients");
  node.require(std::ssize(coefficients) == (v.classes() - 1) * v.count,
               "'coefficients' do not fit the support vectors");
  Value weights = node.table(Type::kFloat32, {v.pairs(), v.count}),
        classes = node.table(Type::kFloat32, {v.pairs(), 2});
  for (int64_t i = 0, p = 0; i < v.classes(); ++i)
    for (int64_t j = i + 1; j < v.classes(); ++j, ++p) {
      const auto take = [&](int64_t of, int64_t row) {
        for (int64_t s = v.first[of]; s < v.first[of] + v.per_class[of]; ++s)
          store(weights, p * v.count + s, {.f = coefficients[row * v.count + s]});
      };
      take(i, j - 1), take(j, i);
      store(classes, p * 2, {.f = static_cast<double>(i)}),
          store(classes, p * 2 + 1, {.f = static_cast<double>(j)});
    }
  return {node.constant(std::move(weights)), node.constant(std::move(classes))};
}

// How far each row is on class i's side of each pair i < j: [rows, pairs].
TensorId pair_decisions(Lowering& node, TensorId x, const Vectors& v, const PairTables& tables) {
  const int64_t rows = node.shape(x)[0], features = node.shape(x)[1];
  const TensorId terms =
      svm_kernel(node, x, float_table(node, {v.count, features}, node.floats_attr("support_vectors")));
  const TensorId rho = float_table(node, {v.pairs()}, node.floats_attr("rho"));
  Formula f(node);
  const Expr r = f.axis(rows), p = f.axis(v.pairs()), s = f.reduced(v.count);
  f.sum(f.read(terms, {r, s}) * f.read(tables.weights, {p, s}));
  f.finish(f.acc() + f.read(rho, {p}));
  return f.emit(Type::kFloat32);
}

// How many pairs each class wins: [rows, classes].
TensorId votes(Lowering& node, TensorId decisions, const Vectors& v, const PairTables& tables) {
  Formula f(node);
  const Expr r = f.axis(node.shape(decisions)[0]), c = f.axis(v.classes()), p = f.reduced(v.pairs());
  const Expr winner = select(f.read(decisions, {r, p}) > 0, f.read(tables.classes, {p, integer(0)}),
                             f.read(tables.classes, {p, integer(1)}));
  f.sum(cast(Type::kFloat32, winner == cast(Type::kFloat32, c)));
  return f.emit(Type::kFloat32);
}

// The probability of each class, [rows, classes]: those of the pairs, Platt's logistic functions of the
// decisions with the factors prob_a and the terms prob_b, coupled.
TensorId probabilities(Lowering& node, TensorId decisions, const Vectors& v) {
  const TensorId a = float_table(node, {v.pairs()}, node.floats_attr("prob_a")),
                 b = float_table(node, {v.pairs()}, node.floats_attr("prob_b"));
  const auto of_pair = [](const Expr& x, const Expr& factor, const Expr& term) {
    return min(max(1 - logistic(x * factor + term), 1e-7), 1 - 1e-7);  // never 0 or 1
  };
  const TensorId pairs = pointwise(node, Type::kFloat32, of_pair, decisions, a, b);
  const int64_t rows = node.shape(decisions)[0];
  return node.call("pair_coupling", Type::kFloat32, {pairs}, {rows, v.classes()},
                   {{Type::kFloat32, {rows, v.classes()}}, {Type::kFloat32, {2, v.classes()}}})[0];
}

bool is_calibrated(const Lowering& node) {
  return !node.floats_attr("prob_a").empty() || !node.floats_attr("prob_b").empty();
}

// The scores of a machine with support vectors: probabilities where it is calibrated, else the decisions;
// of two classes both classes' scores. With PROBIT onnxruntime gives one score of the two, and 0.
TensorId vector_scores(Lowering& node, TensorId decisions, const Vectors& v) {
  if (is_calibrated(node)) return transformed(node, probabilities(node, decisions, v));
  if (v.classes() > 2) return transformed(node, decisions);
  const std::string how = node.string_attr("post_transform", "NONE");
  if (how == "PROBIT") {
    const TensorId none = filled(node, Type::kFloat32, node.shape(decisions), 0);
    Attribute axis;
    axis.i = 1;
    return node.apply("Concat", {transformed(node, decisions), none}, {{"axis", axis}});
  }
  return both_classes(node, decisions,
                      how == "NONE"       ? FirstClass::kNegative
                      : how == "LOGISTIC" ? FirstClass::kLogistic
                                          : FirstClass::kComplement);
}

// The label of the larger of two scores, [rows, 2]; but of any score above the threshold the second label.
TensorId label_of_two(Lowering& node, TensorId scores, double threshold, const Value& labels) {
  Formula f(node);
  const Expr r = f.axis(node.shape(scores)[0]);
  const Expr first = f.read(scores, {r, integer(0)}), second = f.read(scores, {r, integer(1)});
  f.body(select(max(first, second) > threshold || second > first, constant(labels.type, load(labels, 1)),
                constant(labels.type, load(labels, 0))));
  return f.emit(labels.type);
}

// A machine without support vectors: a plane for each class.
void svm_planes(Lowering& node, TensorId x, const Value& labels) {
  const auto coefficients = node.floats_attr("coefficients"), rho = node.floats_attr("rho");
  node.require(labels.count() >= 2 && !rho.empty(), "a linear machine needs two labels or more, and 'rho'");
  const int64_t rows = node.shape(x)[0], features = node.shape(x)[1];
  const TensorId w = float_table(node, {labels.count(), features}, coefficients);
  Formula f(node);
  const Expr r = f.axis(rows), c = f.axis(labels.count()), k = f.reduced(features);
  f.sum(f.read(x, {r, k}) * f.read(w, {c, k}));
  f.finish(f.acc() + rho[0]);
  const TensorId scores = f.emit(Type::kFloat32);
  // What onnxruntime and ONNX's reference do with two classes: from 1/2 on where no coefficient is negative.
  const bool positive = std::ranges::none_of(coefficients, [](float each) { return each < 0; });
  const double threshold = positive ? std::nextafter(0.5F, 0.0F) : 0;
  node.out(0, labels.count() == 2 && !is_calibrated(node) ? label_of_two(node, scores, threshold, labels)
                                                          : best_label(node, scores, labels));
  node.out(1, transformed(node, scores));
}

void svm_classifier(Lowering& node) {
  const TensorId x = feature_rows(node);
  const Value labels = class_labels(node);
  const auto per_class = node.ints_attr("vectors_per_class", {});
  if (std::ranges::all_of(per_class, [](int64_t n) { return n == 0; })) return svm_planes(node, x, labels);
  const Vectors v = vectors_of(node, labels);
  const PairTables tables = pair_tables(node, v);
  const TensorId decisions = pair_decisions(node, x, v, tables);
  node.out(0, best_label(node, votes(node, decisions, v, tables), labels));
  node.out(1, vector_scores(node, decisions, v));
}

}  // namespace

std::span<const OperatorRow> svm_operators() {
  static constexpr OperatorRow kRows[] = {
      {"ai.onnx.ml", "SVMClassifier", 1, svm_classifier, 1000, "kernel"},
      {"ai.onnx.ml", "SVMRegressor", 1, svm_regressor},
  };
  return kRows;
}

}  // namespace arenac
