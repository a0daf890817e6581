// Random models of one operator, as ONNX text: valid attributes, operands of random shapes and types.
//
//   for (const OperatorGenerator& g : operator_generators()) import_text(random_operator(g, seed));
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace arenac {

class OneNode;

struct OperatorGenerator {
  std::string_view name;  // "Conv", "com.microsoft.QGemm": as in the table of operators
  void (*generate)(OneNode&);
  int first = 18, last = 22;   // opsets to choose from
  double integers_within = 0;  // how far emitted integers may lie from interpreted ones: a libm is not exact
};
const std::vector<OperatorGenerator>& operator_generators();

// Operators that need no generator, each with the reason.
struct OperatorWithout {
  std::string_view name, reason;
};
const std::vector<OperatorWithout>& operators_without_generator();

std::string random_operator(const OperatorGenerator& generator, unsigned seed);

}  // namespace arenac
