// Domain ai.onnx.ml: classical machine learning on numbers (its encoders of labels: ops_labels.cc).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>

#include "frontend/ops.h"
#include "frontend/steps.h"
#include "frontend/tree_table.h"

namespace arenac {
namespace {

TensorId floats(Lowering& node, Shape shape, const std::vector<float>& elements) {
  node.require(element_count(shape) == static_cast<int64_t>(elements.size()),
               fmt::format("{} numbers are given where {} are needed", elements.size(), to_string(shape)));
  Value value(Type::kFloat32, std::move(shape));
  for (size_t k = 0; k < elements.size(); ++k) store(value, static_cast<int64_t>(k), {.f = elements[k]});
  return node.constant(std::move(value));
}

std::vector<float> floats_attr(const Lowering& node, const std::string& name) {
  return node.has(name) ? node.attribute(name).floats : std::vector<float>{};
}

// The features as rows: [rows, features]; a vector is one row.
TensorId feature_rows(Lowering& node, Type type = Type::kFloat32) {
  const TensorId x = node.in(0);
  node.require(node.rank(x) == 1 || node.rank(x) == 2, "the features must have rank 1 or 2");
  const bool vector = node.rank(x) == 1;
  Formula f(node);
  const Expr r = f.axis(vector ? 1 : node.shape(x)[0]), k = f.axis(node.shape(x).back());
  f.body(cast(type, f.read(x, vector ? std::vector{k} : std::vector{r, k})));
  return f.emit(type);
}

// ---- post_transform, on [rows, scores]

TensorId elementwise(Lowering& node, TensorId x, Expr (*function)(const Expr&)) {
  Formula f(node);
  f.body(function(f.broadcast(x, f.axes(node.shape(x)))));
  return f.emit(node.type(x));
}

Expr logistic(const Expr& x) { return 1 / (1 + exp(-x)); }

// The quantile of the normal distribution, by Winitzki's approximation of the inverse error function
// ("A handy approximation for the error function and its inverse", 2008), as ONNX's implementations do it.
Expr probit(const Expr& p) {
  constexpr double kA = 0.147, kPi = 3.14159265358979323846;
  const Expr x = 2 * p - 1, l = log((1 - x) * (1 + x));
  const Expr v = 2 / (kPi * kA) + 0.5 * l;
  const Expr size = sqrt(sqrt(v * v - l / kA) - v) * std::sqrt(2.0);
  return select(x < 0, -size, size);
}

// Softmax over the scores that are not zero; zeros stay.
TensorId softmax_zero(Lowering& node, TensorId x) {
  const Type real = node.type(x);
  const int64_t rows = node.shape(x)[0], n = node.shape(x)[1];
  Formula best(node);
  {
    const Expr r = best.axis(rows), k = best.reduced(n);
    best.reduce(Combine::kMax, best.read(x, {r, k}));
  }
  const TensorId most = best.emit(real);
  Formula power(node);
  {
    const Expr r = power.axis(rows), k = power.axis(n), e = power.read(x, {r, k});
    power.body(select(e == 0, constant(real, 0), exp(e - power.read(most, {r}))));
  }
  const TensorId powers = power.emit(real);
  Formula total(node);
  {
    const Expr r = total.axis(rows), k = total.reduced(n);
    total.sum(total.read(powers, {r, k}));
  }
  const TensorId sums = total.emit(real);
  Formula f(node);
  const Expr r = f.axis(rows), k = f.axis(n), sum = f.read(sums, {r});
  f.body(select(sum == 0, constant(real, 0), f.read(powers, {r, k}) / sum));
  return f.emit(real);
}

TensorId transformed(Lowering& node, TensorId scores, const std::string& how) {
  if (how == "NONE") return scores;
  if (how == "LOGISTIC") return elementwise(node, scores, logistic);
  if (how == "PROBIT") return elementwise(node, scores, probit);
  if (how == "SOFTMAX_ZERO") return softmax_zero(node, scores);
  node.require(how == "SOFTMAX", fmt::format("post_transform '{}' is unknown", how));
  Attribute axis;
  axis.i = 1;
  return node.apply("Softmax", {scores}, {{"axis", axis}});
}

TensorId transformed(Lowering& node, TensorId scores) {
  return transformed(node, scores, node.string_attr("post_transform", "NONE"));
}

// ---- labels

// The classes' labels, int64 or text.
Value class_labels(Lowering& node) {
  for (const char* name : {"classlabels_int64s", "classlabels_ints"})
    if (node.has(name) && !node.attribute(name).ints.empty()) return vector_value(node.attribute(name).ints);
  if (!node.has("classlabels_strings")) return vector_value(std::vector<int64_t>{});
  return vector_value(node.attribute("classlabels_strings").strings);
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

// Of scores [rows, 1]: above the threshold the second label, else the first. Of fewer labels than two: 1, and
// 0 or -1 (where there is one label).
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

// [rows, 1] scores s as [rows, 2]: the first column from `negative`.
TensorId both_classes(Lowering& node, TensorId score, Expr (*negative)(const Expr&),
                      Expr (*positive)(const Expr&)) {
  const int64_t rows = node.shape(score)[0];
  Formula f(node);
  for (int column = 0; column < 2; ++column) {
    if (column) f.next_nest();
    const Expr r = f.axis(rows);
    f.body((column ? positive : negative)(f.read(score, {r, integer(0)})));
    f.store({r, integer(column)});
  }
  return f.emit(Type::kFloat32, {rows, 2});
}

Expr itself(const Expr& x) { return x; }
Expr complement(const Expr& x) { return 1 - x; }
Expr negated(const Expr& x) { return -x; }
Expr logistic_of_negative(const Expr& x) { return logistic(-x); }

// ---- linear models

// x w^T + intercepts: [rows, targets].
TensorId linear(Lowering& node, TensorId x, int64_t targets) {
  const int64_t rows = node.shape(x)[0], features = node.shape(x)[1];
  const TensorId w = floats(node, {targets, features}, floats_attr(node, "coefficients"));
  std::vector<float> b = floats_attr(node, "intercepts");
  if (b.empty()) b.resize(targets);
  const TensorId bias = floats(node, {targets}, b);
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
  const auto weights = static_cast<int64_t>(floats_attr(node, "coefficients").size());
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
  node.out(1, labels.count() == 2 ? both_classes(node, one, complement, itself) : one);
}

// ---- decision trees

// How several trees' weights for one target become its score, as the kernel numbers it.
enum class Aggregate { kSum, kAverage, kMin, kMax };

// The trees' scores, [rows, targets], before base values.
TensorId tree_scores(Lowering& node, TensorId x, const TreeTable& table, int64_t targets, Aggregate how) {
  const Type real = node.type(x);
  const auto constant = [&](Type type, const auto& elements) {
    Value value(type, {static_cast<int64_t>(elements.size())});
    for (size_t k = 0; k < elements.size(); ++k) {
      const auto e = static_cast<double>(elements[k]);
      arenac::store(value, static_cast<int64_t>(k), convert(type, Type::kFloat64, {.f = e}));
    }
    return node.constant(std::move(value));
  };
  const std::vector<TensorId> reads = {x,
                                       constant(Type::kInt32, table.feature),
                                       constant(real, table.threshold),
                                       constant(Type::kUint8, table.mode),
                                       constant(Type::kInt32, table.yes),
                                       constant(Type::kInt32, table.no),
                                       constant(Type::kInt32, table.roots),
                                       constant(Type::kInt32, table.target),
                                       constant(real, table.weight)};
  const int64_t rows = node.shape(x)[0];
  const std::vector<int64_t> parameters = {
      rows, node.shape(x)[1], targets, static_cast<int64_t>(table.roots.size()), static_cast<int64_t>(how)};
  return node.call("tree_ensemble", real, reads, parameters,
                   {{real, {rows, targets}}, {Type::kUint8, {targets}}})[0];
}

// Of the older operators, whose scores are float32 and whose rows are compared in their own precision.
TensorId tree_scores(Lowering& node, TensorId x, const TreeTable& table, int64_t targets) {
  const std::string how = node.string_attr("aggregate_function", "SUM");
  const std::vector<std::string> all = {"SUM", "AVERAGE", "MIN", "MAX"};
  const auto at = std::find(all.begin(), all.end(), how);
  node.require(at != all.end(), fmt::format("aggregate_function '{}' is unknown", how));
  return converted(node, tree_scores(node, x, table, targets, static_cast<Aggregate>(at - all.begin())),
                   Type::kFloat32);
}

TensorId tree_rows(Lowering& node) {
  const bool wide = node.type(node.in(0)) == Type::kFloat64;
  return feature_rows(node, wide ? Type::kFloat64 : Type::kFloat32);
}

TensorId with_base(Lowering& node, TensorId scores, const std::vector<double>& base) {
  if (base.empty()) return scores;
  const int64_t targets = node.shape(scores)[1];
  const TensorId table = floats(node, {targets}, {base.begin(), base.end()});
  Formula f(node);
  const Expr r = f.axis(node.shape(scores)[0]), t = f.axis(targets);
  f.body(f.read(scores, {r, t}) + f.read(table, {t}));
  return f.emit(Type::kFloat32);
}

void tree_regressor(Lowering& node) {
  const TensorId x = tree_rows(node);
  const int64_t targets = node.int_attr("n_targets", 1);
  node.require(targets > 0 && targets <= (1 << 20), "'n_targets' is out of range");
  const TreeTable table = tree_table(node, "target", targets, node.shape(x)[1]);
  const auto base = floats_or_tensor(node, "base_values");
  node.require(base.empty() || static_cast<int64_t>(base.size()) == targets,
               "'base_values' needs one number a target");
  node.out(0, transformed(node, with_base(node, tree_scores(node, x, table, targets), base)));
}

// Two classes scored by one number. Which of them wins, and what the other one's score is, ONNX leaves open;
// this is what its implementations agree on.
void binary_trees(Lowering& node, TensorId x, const TreeTable& table, std::vector<double> base,
                  const Value& labels) {
  if (base.size() == 2) base = {base[1]};
  node.require(base.size() <= 1, "'base_values' needs one number a class");
  const TensorId score = with_base(node, tree_scores(node, x, table, 1), base);
  const bool all_positive =
      std::all_of(table.weight.begin(), table.weight.end(), [](double w) { return w >= 0; });
  node.out(0, binary_label(node, score, all_positive ? 0.5 : 0, labels));
  const bool is_logistic = node.string_attr("post_transform", "NONE") == "LOGISTIC";
  if (all_positive)
    node.out(1, both_classes(node, score, complement, itself));
  else if (is_logistic)
    node.out(1, both_classes(node, score, logistic_of_negative, logistic));
  else
    node.out(1, both_classes(node, score, negated, itself));
}

void tree_classifier(Lowering& node) {
  const TensorId x = tree_rows(node);
  const auto labels = class_labels(node);
  const auto classes = labels.count();
  node.require(classes > 0 && classes <= (1 << 20), "the model names no class labels");
  TreeTable table = tree_table(node, "class", classes, node.shape(x)[1]);
  const auto base = floats_or_tensor(node, "base_values");
  const bool one_score = classes == 2 && std::adjacent_find(table.target.begin(), table.target.end(),
                                                            std::not_equal_to<>()) == table.target.end();
  if (one_score) {
    std::fill(table.target.begin(), table.target.end(), 0);
    return binary_trees(node, x, table, base, labels);
  }
  node.require(base.empty() || static_cast<int64_t>(base.size()) == classes,
               "'base_values' needs one number a class");
  const TensorId scores = with_base(node, tree_scores(node, x, table, classes), base);
  node.out(0, best_label(node, scores, labels));
  node.out(1, transformed(node, scores));
}

// TreeEnsemble: attributes are numbers where the older operators have names.
void tree_ensemble(Lowering& node) {
  const TensorId x = tree_rows(node);
  const int64_t targets = node.int_attr("n_targets", 1), how = node.int_attr("aggregate_function", 1),
                after = node.int_attr("post_transform", 0);
  node.require(targets > 0 && targets <= (1 << 20), "'n_targets' is out of range");
  constexpr Aggregate kAggregates[] = {Aggregate::kAverage, Aggregate::kSum, Aggregate::kMin,
                                       Aggregate::kMax};
  constexpr const char* kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  node.require(how >= 0 && how < std::ssize(kAggregates),
               fmt::format("aggregate_function {} is unknown", how));
  node.require(after >= 0 && after < std::ssize(kTransforms),
               fmt::format("post_transform {} is unknown", after));
  const TreeTable table = ensemble_table(node, targets, node.shape(x)[1]);
  const TensorId scores = tree_scores(node, x, table, targets, kAggregates[how]);
  node.out(0, converted(node, transformed(node, scores, kTransforms[after]), node.type(node.in(0))));
}

// ---- support vector machines

// K(x[r], v[s]): [rows, vectors].
TensorId svm_kernel(Lowering& node, TensorId x, TensorId vectors) {
  const int64_t rows = node.shape(x)[0], features = node.shape(x)[1], count = node.shape(vectors)[0];
  std::vector<float> parameters = floats_attr(node, "kernel_params");
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
  const auto coefficients = floats_attr(node, "coefficients"), rho = floats_attr(node, "rho");
  node.require(rho.size() == 1, "'rho' needs one number");
  node.require(count >= 0 && count <= (1 << 24), "'n_supports' is out of range");
  TensorId terms = x;
  if (count > 0)
    terms = svm_kernel(node, x, floats(node, {count, features}, floats_attr(node, "support_vectors")));
  const int64_t n = count > 0 ? count : features;
  const TensorId w = floats(node, {n}, coefficients);
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
  const auto coefficients = floats_attr(node, "coefficients"), rho = floats_attr(node, "rho");
  node.require(static_cast<int64_t>(coefficients.size()) == (classes - 1) * count &&
                   static_cast<int64_t>(rho.size()) == pairs,
               "'coefficients' or 'rho' do not fit the support vectors");
  const TensorId terms =
      svm_kernel(node, x, floats(node, {count, features}, floats_attr(node, "support_vectors")));
  std::vector<float> weights(pairs * count), votes(pairs * 2);
  for (int64_t i = 0, p = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j, ++p) {
      for (int64_t s = first[i]; s < first[i] + per_class[i]; ++s)
        weights[p * count + s] = coefficients[(j - 1) * count + s];
      for (int64_t s = first[j]; s < first[j] + per_class[j]; ++s)
        weights[p * count + s] = coefficients[i * count + s];
      votes[p * 2] = static_cast<float>(i), votes[p * 2 + 1] = static_cast<float>(j);
    }
  const TensorId w = floats(node, {pairs, count}, weights), b = floats(node, {pairs}, rho),
                 v = floats(node, {pairs, 2}, votes);
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
  node.require(floats_attr(node, "prob_a").empty() && floats_attr(node, "prob_b").empty(),
               "calibrated probabilities (prob_a, prob_b) are not supported");
  const auto per_class = node.ints_attr("vectors_per_class", {});
  if (!per_class.empty()) {
    node.require(per_class.size() > 2 && per_class.size() < 1000,
                 "fewer than three classes are not supported");
    node.require(std::ssize(per_class) == labels.count(), "there are not as many labels as classes");
    return svm_pairs(node, x, labels, per_class);
  }
  const auto rho = floats_attr(node, "rho");
  const auto classes = labels.count();
  node.require(classes > 2 && rho.size() == 1, "a linear machine needs three classes or more, and one 'rho'");
  const TensorId w = floats(node, {classes, node.shape(x)[1]}, floats_attr(node, "coefficients"));
  const TensorId terms = svm_kernel(node, x, w);
  Formula f(node);
  f.body(f.broadcast(terms, f.axes(node.shape(terms))) + rho[0]);
  const TensorId scores = f.emit(Type::kFloat32);
  node.out(0, best_label(node, scores, labels));
  node.out(1, transformed(node, scores));
}

// ---- feature preparation

// A list of one number a feature, or one for all.
Expr per_feature(Lowering& node, Formula& f, const std::vector<float>& numbers, const Expr& k,
                 int64_t features) {
  if (numbers.size() == 1) return constant(Type::kFloat32, numbers[0]);
  return f.read(floats(node, {features}, numbers), {k});
}

void scaler(Lowering& node) {
  const TensorId x = node.in(0);
  node.require(node.rank(x) > 0, "a scalar has no features");
  const int64_t features = node.shape(x).back();
  std::vector<float> offset = floats_attr(node, "offset"), scale = floats_attr(node, "scale");
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
        cast(type, per_feature(node, f, floats_attr(node, "imputed_value_floats"), out.back(), features));
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
      {"ai.onnx.ml", "SVMClassifier", 1, svm_classifier},
      {"ai.onnx.ml", "SVMRegressor", 1, svm_regressor},
      {"ai.onnx.ml", "Scaler", 1, scaler},
      {"ai.onnx.ml", "TreeEnsemble", 5, tree_ensemble, 1000, "kernel"},
      {"ai.onnx.ml", "TreeEnsembleClassifier", 1, tree_classifier, 1000, "kernel"},
      {"ai.onnx.ml", "TreeEnsembleRegressor", 1, tree_regressor, 1000, "kernel"},
      {"ai.onnx.ml", "ZipMap", 1, zip_map},
  };
  return kRows;
}

}  // namespace arenac
