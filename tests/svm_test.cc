// Classifiers by support vector machines, beside an oracle in float64.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "frontend/error.h"
#include "frontend/import.h"
#include "frontend/interpret.h"
#include "tests/values.h"

namespace arenac {
namespace {

using Numbers = std::vector<double>;
using testing::ElementsAre;

struct Machine {
  size_t classes, features;
  std::vector<size_t> per_class;
  Numbers vectors, coefficients, rho, a, b;
  size_t count() const { return vectors.size() / features; }
};

// Numbers that float32 holds.
Numbers random_numbers(std::mt19937& random, size_t count, double within) {
  Numbers all(count);
  for (double& x : all) x = within * (static_cast<double>(random() % 2049) / 1024 - 1);
  return all;
}

Machine random_machine(std::mt19937& random, size_t classes) {
  Machine m{classes, 1 + random() % 4, {}, {}, {}, {}, {}, {}};
  size_t count = 0;
  for (size_t c = 0; c < classes; ++c) count += m.per_class.emplace_back(1 + random() % 3);
  const size_t pairs = classes * (classes - 1) / 2;
  m.vectors = random_numbers(random, count * m.features, 2);
  m.coefficients = random_numbers(random, (classes - 1) * count, 2);
  m.rho = random_numbers(random, pairs, 1);
  m.a = random_numbers(random, pairs, 4), m.b = random_numbers(random, pairs, 1);
  return m;
}

std::string text(const Machine& m, size_t rows, const std::string& more) {
  std::vector<size_t> labels(m.classes);
  for (size_t c = 0; c < m.classes; ++c) labels[c] = 10 + c;
  return fmt::format(
      R"(<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]>
      g (float[{}, {}] x) => (int64[r] l, float[r, c] s) {{
      l, s = ai.onnx.ml.SVMClassifier <kernel_type = "LINEAR", vectors_per_class = [{}], classlabels_ints = [{}],
        support_vectors = [{:.10f}], coefficients = [{:.10f}], rho = [{:.10f}] {}> (x) }})",
      rows, m.features, fmt::join(m.per_class, ", "), fmt::join(labels, ", "), fmt::join(m.vectors, ", "),
      fmt::join(m.coefficients, ", "), fmt::join(m.rho, ", "), more);
}

std::string calibrated(const Machine& m) {
  return fmt::format(", prob_a = [{:.10f}], prob_b = [{:.10f}]", fmt::join(m.a, ", "), fmt::join(m.b, ", "));
}

// The decision of each pair of classes for one row.
Numbers decisions(const Machine& m, const double* x) {
  Numbers terms(m.count());
  for (size_t s = 0; s < terms.size(); ++s)
    for (size_t k = 0; k < m.features; ++k) terms[s] += x[k] * m.vectors[s * m.features + k];
  std::vector<size_t> class_of;
  for (size_t c = 0; c < m.classes; ++c) class_of.insert(class_of.end(), m.per_class[c], c);
  Numbers all;
  for (size_t i = 0; i < m.classes; ++i)
    for (size_t j = i + 1; j < m.classes; ++j) {
      double sum = m.rho[all.size()];
      for (size_t s = 0; s < terms.size(); ++s) {
        if (class_of[s] == i) sum += terms[s] * m.coefficients[(j - 1) * m.count() + s];
        if (class_of[s] == j) sum += terms[s] * m.coefficients[i * m.count() + s];
      }
      all.push_back(sum);
    }
  return all;
}

using Matrix = std::vector<Numbers>;

// r[i][j]: how probable class i is, if it is i or j.
Matrix pair_probabilities(const Machine& m, const Numbers& decisions) {
  Matrix r(m.classes, Numbers(m.classes));
  size_t p = 0;
  for (size_t i = 0; i < m.classes; ++i)
    for (size_t j = i + 1; j < m.classes; ++j, ++p) {
      r[i][j] = std::clamp(1 / (1 + std::exp(decisions[p] * m.a[p] + m.b[p])), 1e-7, 1 - 1e-7);
      r[j][i] = 1 - r[i][j];
    }
  return r;
}

// "Probability estimates for multi-class classification by pairwise coupling", algorithm 2: one p[i] after
// another is set to solve its row of Q p = (p Q p) 1, and p brought back to the sum 1.
Numbers coupled(const Matrix& r) {
  const size_t n = r.size();
  Matrix q(n, Numbers(n));
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      if (i == j) continue;
      q[i][i] += r[j][i] * r[j][i];
      q[i][j] = -r[j][i] * r[i][j];
    }
  Numbers p(n, 1.0 / static_cast<double>(n));
  const auto row = [&](size_t i) {
    double sum = 0;
    for (size_t j = 0; j < n; ++j) sum += q[i][j] * p[j];
    return sum;
  };
  const auto mean = [&] {
    double sum = 0;
    for (size_t i = 0; i < n; ++i) sum += p[i] * row(i);
    return sum;
  };
  const auto done = [&] {
    for (size_t i = 0; i < n; ++i)
      if (std::abs(row(i) - mean()) >= 0.005 / static_cast<double>(n)) return false;
    return true;
  };
  for (int round = 0; round < 100 && !done(); ++round)
    for (size_t i = 0; i < n; ++i) {
      p[i] += (mean() - row(i)) / q[i][i];
      double sum = 0;
      for (double each : p) sum += each;
      for (double& each : p) each /= sum;
    }
  return p;
}

int64_t most_voted(const Machine& m, const Numbers& decisions) {
  std::vector<int> votes(m.classes);
  size_t p = 0;
  for (size_t i = 0; i < m.classes; ++i)
    for (size_t j = i + 1; j < m.classes; ++j) ++votes[decisions[p++] > 0 ? i : j];
  return 10 + (std::max_element(votes.begin(), votes.end()) - votes.begin());
}

TEST(SupportVectors, CoupleThePairsOfAnyNumberOfClasses) {
  std::mt19937 random(5);
  constexpr size_t kRows = 4;
  for (size_t classes : {2, 2, 3, 3, 4, 5, 9}) {
    const Machine m = random_machine(random, classes);
    const Numbers x = random_numbers(random, kRows * m.features, 2);
    const std::string model = text(m, kRows, calibrated(m));
    SCOPED_TRACE(model);
    const Graph graph = import_text(model);
    const auto values = interpret(graph, {floats({kRows, static_cast<int64_t>(m.features)}, x)});
    const Value &labels = *values.at(graph.outputs[0]), &scores = *values.at(graph.outputs[1]);
    ASSERT_EQ(scores.shape, (Shape{kRows, static_cast<int64_t>(classes)}));
    for (size_t row = 0; row < kRows; ++row) {
      const Numbers d = decisions(m, &x[row * m.features]), p = coupled(pair_probabilities(m, d));
      EXPECT_EQ(load(labels, static_cast<int64_t>(row)).i, most_voted(m, d)) << row;
      for (size_t c = 0; c < classes; ++c)
        EXPECT_NEAR(load(scores, static_cast<int64_t>(row * classes + c)).f, p[c], 2e-6) << row << ", " << c;
    }
  }
}

// Of one row: its label, then its scores.
Numbers classified(const std::string& model, const Numbers& x) {
  const Graph graph = import_text(model);
  const auto values = interpret(graph, {floats({1, static_cast<int64_t>(x.size())}, x)});
  Numbers all = {static_cast<double>(load(*values.at(graph.outputs[0]), 0).i)};
  const Value& scores = *values.at(graph.outputs[1]);
  for (int64_t e = 0; e < scores.count(); ++e) all.push_back(load(scores, e).f);
  return all;
}

TEST(SupportVectors, OfTwoClassesScoreBoth) {
  const Machine m{2, 1, {1, 1}, {1, -1}, {0.5, -0.5}, {0}, {}, {}};  // decides by x itself
  const auto scores = [&](const std::string& how, double x) {
    return classified(text(m, 1, fmt::format(", post_transform = \"{}\"", how)), {x});
  };
  const double l = 1 / (1 + std::exp(2.0F));
  EXPECT_THAT(scores("NONE", 2), ElementsAre(10, -2, 2));
  EXPECT_THAT(scores("NONE", -2), ElementsAre(11, 2, -2));
  EXPECT_THAT(scores("NONE", 0), ElementsAre(11, 0, 0));
  EXPECT_THAT(scores("SOFTMAX", 2), ElementsAre(10, -1, 2));
  EXPECT_THAT(scores("LOGISTIC", 2),
              ElementsAre(10, testing::DoubleNear(l, 1e-7), testing::DoubleNear(1 - l, 1e-7)));
  EXPECT_THAT(scores("PROBIT", 0.75), ElementsAre(10, testing::DoubleNear(0.6745, 2e-3), 0));
}

TEST(SupportVectors, AreNotNeeded) {
  const auto planes = [](const Numbers& coefficients, double rho, double x) {
    return classified(
        fmt::format(R"(<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]>
          g (float[1, 1] x) => (int64[1] l, float[1, c] s) {{
          l, s = ai.onnx.ml.SVMClassifier <kernel_type = "POLY", kernel_params = [9.0, 9.0, 9.0],
            vectors_per_class = [0, 0], classlabels_ints = [{}], coefficients = [{:.2f}], rho = [{:.2f}]> (x) }})",
                    coefficients.size() == 2 ? "10, 11" : "10, 11, 12", fmt::join(coefficients, ", "), rho),
        {x});
  };
  EXPECT_THAT(planes({1, 3, 2}, 1, 2), ElementsAre(11, 3, 7, 5));
  // Of two classes the second is taken from a largest score of 1/2 on, or with a negative coefficient above
  // 0.
  EXPECT_THAT(planes({2, 1}, 0, 0.125), ElementsAre(10, 0.25, 0.125));
  EXPECT_THAT(planes({2, 1}, 0, 0.25), ElementsAre(11, 0.5, 0.25));
  EXPECT_THAT(planes({2, -1}, 0, 0.125), ElementsAre(11, 0.25, -0.125));
  EXPECT_THAT(planes({2, -1}, -3, 1), ElementsAre(10, -1, -4));
  EXPECT_THAT(planes({-1, 2}, -3, 1), ElementsAre(11, -4, -1));
}

}  // namespace
}  // namespace arenac
