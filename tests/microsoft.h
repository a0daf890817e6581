// Models of com.microsoft's operators in the interpreter, and numbers to compare.
//
//   expect_near(output("(float[2] x) => (float[2] y) { y = com.microsoft.Gelu(x) }", {x}), {0.84, 1.95});
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "frontend/import.h"
#include "frontend/interpret.h"

namespace arenac::microsoft_test {

inline Value random_value(std::mt19937& random, Shape shape) {
  Value value(Type::kFloat32, std::move(shape));
  for (int64_t k = 0; k < value.count(); ++k)
    store(value, k, {.f = static_cast<int>(random() % 41) / 16.0 - 1.25});
  return value;
}

inline Value integers(Type type, Shape shape, const std::vector<int64_t>& elements) {
  Value value(type, std::move(shape));
  for (size_t k = 0; k < elements.size(); ++k) store(value, static_cast<int64_t>(k), {.i = elements[k]});
  return value;
}

inline double at(const Value& value, const std::vector<int64_t>& index) {
  int64_t k = 0;
  for (size_t d = 0; d < index.size(); ++d) k = k * value.shape[d] + index[d];
  return load(value, k).f;
}

inline std::vector<double> numbers(const Value& value) {
  std::vector<double> all;
  for (int64_t k = 0; k < value.count(); ++k)
    all.push_back(convert(Type::kFloat64, value.type, load(value, k)).f);
  return all;
}

inline std::vector<double> output(const std::string& text, const std::vector<Value>& inputs, int k = 0) {
  const Graph graph =
      import_text("<ir_version: 8, opset_import: [\"\" : 16, \"com.microsoft\" : 1]> g " + text);
  return numbers(*interpret(graph, inputs).at(graph.outputs.at(k)));
}

inline void expect_near(const std::vector<double>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], want[k], 1e-5) << "element " << k;
}

}  // namespace arenac::microsoft_test
