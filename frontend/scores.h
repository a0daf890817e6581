// What classifiers and regressors of ai.onnx.ml have in common: features come in as rows, [rows, features],
// and scores go out, [rows, classes], with a label for each row.
//
//   const TensorId scores = ...;                          // float32 [rows, classes]
//   node.out(0, best_label(node, scores, class_labels(node)));
//   node.out(1, transformed(node, scores));
#pragma once

#include <string>
#include <vector>

#include "frontend/lower.h"

namespace arenac {

// A constant; fails where the elements are not as many as the shape needs.
TensorId float_table(Lowering& node, Shape shape, const std::vector<float>& elements);

// Input 0 as [rows, features]; a vector is one row.
TensorId feature_rows(Lowering& node, Type type = Type::kFloat32);

Expr logistic(const Expr& x);  // 1 / (1 + exp(-x))

// The scores after the attribute `post_transform`, or `how`: "NONE", "LOGISTIC", "PROBIT", "SOFTMAX" or
// "SOFTMAX_ZERO".
TensorId transformed(Lowering& node, TensorId scores);
TensorId transformed(Lowering& node, TensorId scores, const std::string& how);

// The classes' labels, int64 or text; none where the model names none.
Value class_labels(Lowering& node);

// Each row's label: that of the largest score.
TensorId best_label(Lowering& node, TensorId scores, const Value& labels);

// Of scores [rows, 1]: above the threshold the second label, else the first. Of fewer labels than two: 1, and
// 0 or -1 (where there is one label).
TensorId binary_label(Lowering& node, TensorId scores, double threshold, const Value& labels);

// Scores [rows, 1] of the second class as those of both, [rows, 2]. The first class's score of s is 1 - s or
// -s; with kLogistic both are logistic functions, of -s and s.
enum class FirstClass { kComplement, kNegative, kLogistic };
TensorId both_classes(Lowering& node, TensorId score, FirstClass first);

}  // namespace arenac
