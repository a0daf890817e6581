// The families of operators. A family is one file, frontend/ops_FAMILY.cc, whose last lines are its table.
#pragma once

#include <span>

#include "frontend/lower.h"

namespace arenac {

std::span<const OperatorRow> attention_operators();
std::span<const OperatorRow> bounded_operators();
std::span<const OperatorRow> conv_operators();
std::span<const OperatorRow> control_operators();
std::span<const OperatorRow> random_operators();
std::span<const OperatorRow> recurrent_operators();
std::span<const OperatorRow> sequence_operators();
std::span<const OperatorRow> microsoft_operators();
std::span<const OperatorRow> ml_operators();
std::span<const OperatorRow> elementwise_operators();
std::span<const OperatorRow> gather_operators();
std::span<const OperatorRow> grouped_operators();
std::span<const OperatorRow> heads_operators();
std::span<const OperatorRow> label_operators();
std::span<const OperatorRow> list_operators();
std::span<const OperatorRow> loss_operators();
std::span<const OperatorRow> matmul_operators();
std::span<const OperatorRow> movement_operators();
std::span<const OperatorRow> norm_operators();
std::span<const OperatorRow> packed_operators();
std::span<const OperatorRow> pad_operators();
std::span<const OperatorRow> pool_operators();
std::span<const OperatorRow> qlinear_operators();
std::span<const OperatorRow> quantize_operators();
std::span<const OperatorRow> reduce_operators();
std::span<const OperatorRow> resize_operators();
std::span<const OperatorRow> sample_operators();
std::span<const OperatorRow> shape_operators();
std::span<const OperatorRow> signal_operators();
std::span<const OperatorRow> svm_operators();
std::span<const OperatorRow> text_operators();
std::span<const OperatorRow> training_operators();
std::span<const OperatorRow> tree_operators();

}  // namespace arenac
