#include "frontend/ops.h"

#include <algorithm>
#include <cstring>

namespace arenac {

std::vector<OperatorRow> operators() {
  static const std::vector<OperatorRow> all = [] {
    const std::span<const OperatorRow> families[] = {
        attention_operators(),   bounded_operators(),  control_operators(),  conv_operators(),
        elementwise_operators(), gather_operators(),   loss_operators(),     matmul_operators(),
        ml_operators(),          movement_operators(), norm_operators(),     pad_operators(),
        pool_operators(),        qlinear_operators(),  quantize_operators(), random_operators(),
        recurrent_operators(),   reduce_operators(),   resize_operators(),   sample_operators(),
        sequence_operators(),    shape_operators(),    signal_operators(),   text_operators(),
        training_operators(),
    };
    std::vector<OperatorRow> rows;
    for (const auto family : families) rows.insert(rows.end(), family.begin(), family.end());
    std::stable_sort(rows.begin(), rows.end(), [](const OperatorRow& a, const OperatorRow& b) {
      const int domain = std::strcmp(a.domain, b.domain);
      return domain != 0 ? domain < 0 : std::strcmp(a.name, b.name) < 0;
    });
    return rows;
  }();
  return all;
}

const OperatorRow* find_operator(const std::string& domain, const std::string& name, int opset) {
  static const std::vector<OperatorRow> all = operators();
  for (const OperatorRow& row : all)
    if (domain == row.domain && name == row.name && opset >= row.since && opset < row.until) return &row;
  return nullptr;
}

}  // namespace arenac
