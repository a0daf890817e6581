#include "frontend/activation.h"

#include <fmt/format.h>

#include <boost/algorithm/string/predicate.hpp>

namespace arenac {
namespace {

struct Row {
  const char* name;
  float alpha, beta;  // defaults
  Expr (*formula)(const Expr& x, double alpha, double beta);
};

constexpr Row kActivations[] = {
    {"Affine", 1, 0, [](const Expr& x, double a, double b) { return x * a + b; }},
    {"Clip", -3.402823466e38f, 3.402823466e38f,
     [](const Expr& x, double low, double high) { return min(max(x, low), high); }},
    {"Elu", 1, 0, [](const Expr& x, double a, double) { return select(x < 0, (exp(x) - 1) * a, x); }},
    {"HardSigmoid", 0.2f, 0.5f, [](const Expr& x, double a, double b) { return max(min(x * a + b, 1), 0); }},
    {"LeakyRelu", 0.01f, 0, [](const Expr& x, double a, double) { return select(x < 0, x * a, x); }},
    {"Relu", 0, 0, [](const Expr& x, double, double) { return max(x, 0); }},
    {"ScaledTanh", 1, 1, [](const Expr& x, double a, double b) { return tanh(x * b) * a; }},
    {"Sigmoid", 0, 0, [](const Expr& x, double, double) { return 1 / (1 + exp(-x)); }},
    {"Softplus", 0, 0, [](const Expr& x, double, double) { return max(x, 0) + log(1 + exp(-absolute(x))); }},
    {"Softsign", 0, 0, [](const Expr& x, double, double) { return x / (1 + absolute(x)); }},
    {"Tanh", 0, 0, [](const Expr& x, double, double) { return tanh(x); }},
    {"ThresholdedRelu", 1, 0,
     [](const Expr& x, double a, double) { return select(x > a, x, constant(x->type, 0)); }},
};

}  // namespace

std::function<Expr(const Expr&)> activation(const Lowering& node, const std::string& name,
                                            std::optional<float> alpha, std::optional<float> beta) {
  for (const Row& row : kActivations)
    if (boost::algorithm::iequals(name, row.name))
      return [&row, a = alpha.value_or(row.alpha), b = beta.value_or(row.beta)](const Expr& x) {
        return row.formula(x, a, b);
      };
  node.fail(fmt::format("activation '{}' is not known", name));
}

}  // namespace arenac
