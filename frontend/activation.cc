#include "frontend/activation.h"

#include <fmt/format.h>

#include <boost/algorithm/string/predicate.hpp>

namespace arenac {
namespace {

using Parameter = std::optional<float>;  // its default; none of a function that takes no such parameter

struct Row {
  const char* name;
  Parameter alpha, beta;
  Expr (*formula)(const Expr& x, double alpha, double beta);
};

constexpr Row kActivations[] = {
    {"Affine", 1, 0, [](const Expr& x, double a, double b) { return x * a + b; }},
    {"Clip", -3.402823466e38f, 3.402823466e38f,
     [](const Expr& x, double low, double high) { return min(max(x, low), high); }},
    {"Elu", 1, {}, [](const Expr& x, double a, double) { return select(x < 0, (exp(x) - 1) * a, x); }},
    {"HardSigmoid", 0.2f, 0.5f, [](const Expr& x, double a, double b) { return max(min(x * a + b, 1), 0); }},
    {"LeakyRelu", 0.01f, {}, [](const Expr& x, double a, double) { return select(x < 0, x * a, x); }},
    {"Relu", {}, {}, [](const Expr& x, double, double) { return max(x, 0); }},
    {"ScaledTanh", 1, 1, [](const Expr& x, double a, double b) { return tanh(x * b) * a; }},
    {"Sigmoid", {}, {}, [](const Expr& x, double, double) { return 1 / (1 + exp(-x)); }},
    {"Softplus",
     {},
     {},
     [](const Expr& x, double, double) { return max(x, 0) + log(1 + exp(-absolute(x))); }},
    {"Softsign", {}, {}, [](const Expr& x, double, double) { return x / (1 + absolute(x)); }},
    {"Tanh", {}, {}, [](const Expr& x, double, double) { return tanh(x); }},
    {"ThresholdedRelu",
     1,
     {},
     [](const Expr& x, double a, double) { return select(x > a, x, constant(x->type, 0)); }},
};

const Row& row_of(const Lowering& node, const std::string& name) {
  for (const Row& row : kActivations)
    if (boost::algorithm::iequals(name, row.name)) return row;
  node.fail(fmt::format("activation '{}' is not known", name));
}

}  // namespace

Activation activation(const Lowering& node, const std::string& name, std::optional<float> alpha,
                      std::optional<float> beta) {
  const Row& row = row_of(node, name);
  return [&row, a = alpha.value_or(row.alpha.value_or(0)),
          b = beta.value_or(row.beta.value_or(0))](const Expr& x) { return row.formula(x, a, b); };
}

std::vector<Activation> activations(const Lowering& node, const std::vector<std::string>& names,
                                    const std::vector<float>& alphas, const std::vector<float>& betas) {
  std::vector<Activation> all;
  size_t alpha = 0, beta = 0;  // how many are taken
  for (const std::string& name : names) {
    const Row& row = row_of(node, name);
    all.push_back(activation(node, name, row.alpha ? nth(alphas, alpha++) : std::nullopt,
                             row.beta ? nth(betas, beta++) : std::nullopt));
  }
  return all;
}

}  // namespace arenac
