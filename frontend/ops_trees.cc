// Domain ai.onnx.ml: decision trees. tree_table.h says how their nodes are stored.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "frontend/ops.h"
#include "frontend/partial_sums.h"
#include "frontend/scores.h"
#include "frontend/steps.h"
#include "frontend/tree_table.h"

namespace arenac {
namespace {

// How several trees' weights for one target become its score, as the kernel numbers it.
enum class Aggregate { kSum, kAverage, kMin, kMax };

// The trees' scores, [rows, targets], before base values.
TensorId tree_scores(Lowering& node, TensorId x, const TreeTable& table, int64_t targets, Aggregate how) {
  const Type real = node.type(x);
  const auto constant = [&](Type type, const auto& elements) {
    Value value = node.table(type, {static_cast<int64_t>(elements.size())});
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
  const auto trees = static_cast<int64_t>(table.roots.size());
  const std::vector<int64_t> parameters = {rows, node.shape(x)[1], targets, trees, static_cast<int64_t>(how)};
  const Shape part = {trees > kLongSum ? targets : 1};
  return node.call("tree_ensemble", real, reads, parameters,
                   {{real, {rows, targets}}, {Type::kUint8, {targets}}, {real, part}})[0];
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
  const TensorId table = float_table(node, {targets}, {base.begin(), base.end()});
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
  const FirstClass first = all_positive  ? FirstClass::kComplement
                           : is_logistic ? FirstClass::kLogistic
                                         : FirstClass::kNegative;
  node.out(1, both_classes(node, score, first));
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

}  // namespace

std::span<const OperatorRow> tree_operators() {
  static constexpr OperatorRow kRows[] = {
      {"ai.onnx.ml", "TreeEnsemble", 5, tree_ensemble, 1000, "kernel"},
      {"ai.onnx.ml", "TreeEnsembleClassifier", 1, tree_classifier, 1000, "kernel"},
      {"ai.onnx.ml", "TreeEnsembleRegressor", 1, tree_regressor, 1000, "kernel"},
  };
  return kRows;
}

}  // namespace arenac
