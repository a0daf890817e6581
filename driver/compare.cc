#include "driver/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "codegen/c_text.h"
#include "frontend/error.h"

namespace arenac {
namespace {

// |got - want|; infinite where no finite tolerance can help.
double distance(Type type, Scalar got, Scalar want) {
  if (type == Type::kString) return got.i == want.i ? 0 : std::numeric_limits<double>::infinity();
  if (!is_float(type)) {
    const auto a = static_cast<uint64_t>(got.i), b = static_cast<uint64_t>(want.i);
    const bool less = type == Type::kUint64 ? a < b : got.i < want.i;
    return static_cast<double>(less ? b - a : a - b);
  }
  if (got.f == want.f || (std::isnan(got.f) && std::isnan(want.f))) return 0;
  const double off = std::abs(got.f - want.f);
  return std::isfinite(off) ? off : std::numeric_limits<double>::infinity();
}

// The last index turns fastest.
std::string position(const Shape& shape, int64_t element) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0; element /= shape[d]) index[d] = element % shape[d];
  return to_string(index);
}

// The elements of x whose indices lie in `shape`.
Value cropped(const Value& x, const Shape& shape) {
  ARENAC_CHECK(shape.size() == x.shape.size(), "a true shape has the rank of its bound");
  for (size_t d = 0; d < shape.size(); ++d)
    ARENAC_CHECK(0 <= shape[d] && shape[d] <= x.shape[d], "a true extent lies within its bound");
  Value part(x.type, shape);
  const std::vector<int64_t> strides = row_major_strides(x.shape);
  for (int64_t k = 0; k < part.count(); ++k) {
    int64_t from = 0, rest = k;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) from += rest % shape[d] * strides[d];
    store(part, k, load(x, from));
  }
  return part;
}

}  // namespace

// Of integers beyond 2^53 the nearest double: for messages and sums, not for comparisons.
double number(Type type, Scalar value) {
  if (is_float(type)) return value.f;
  return type == Type::kUint64 ? static_cast<double>(static_cast<uint64_t>(value.i))
                               : static_cast<double>(value.i);
}

// Of several that differ the one that is furthest off: near misses and wild numbers have different causes.
std::optional<std::string> difference(const Value& got, const Value& want, const Tolerance& tolerance) {
  if (got.type != want.type)
    return fmt::format("type is {}, expected {}", info(got.type).name, info(want.type).name);
  if (got.shape != want.shape)
    return fmt::format("shape is {}, expected {}", to_string(got.shape), to_string(want.shape));
  constexpr double kRounding = 1.001;  // of products by the scale
  const double least = std::max(tolerance.atol, tolerance.quanta * tolerance.quantum * kRounding);
  int64_t differing = 0, worst = -1;
  double worst_off = -1;
  for (int64_t k = 0; k < got.count(); ++k) {
    const Scalar b = load(want, k);
    const double off = distance(got.type, load(got, k), b);
    const double relative = is_float(got.type) ? tolerance.rtol * std::abs(b.f) : 0;
    if (off == 0 || off <= std::max(least, std::isfinite(relative) ? relative : 0)) continue;
    ++differing;
    if (off > worst_off) worst = k, worst_off = off;
  }
  if (differing == 0) return std::nullopt;
  if (got.type == Type::kString) {
    const auto quoted = [&](const Value& of) { return c_string(std::string(text_of(load(of, worst)))); };
    return fmt::format("element {} is {}, expected {}; {} of {} elements differ", position(got.shape, worst),
                       quoted(got), quoted(want), differing, got.count());
  }
  const std::string quanta =
      tolerance.quantum > 0 ? fmt::format(", {:.3g} quanta of {:.6g}, {:g} allowed",
                                          worst_off / tolerance.quantum, tolerance.quantum, tolerance.quanta)
                            : "";
  return fmt::format("element {} is {:.9g}, expected {:.9g} (off by {:.3g}{}); {} of {} elements differ",
                     position(got.shape, worst), number(got.type, load(got, worst)),
                     number(want.type, load(want, worst)), worst_off, quanta, differing, got.count());
}

// Outputs that hold true shapes are taken away from behind, for indices would move.
std::vector<Value> model_outputs(const Graph& graph, std::vector<Value> outputs) {
  std::set<size_t> holders;
  for (const auto& [output, holder] : graph.true_shapes) {
    holders.insert(holder);
    Shape shape;
    for (int64_t d = 0; d < outputs[holder].count(); ++d) shape.push_back(load(outputs[holder], d).i);
    outputs[output] = cropped(outputs[output], shape);
  }
  for (auto holder = holders.rbegin(); holder != holders.rend(); ++holder)
    outputs.erase(outputs.begin() + static_cast<std::ptrdiff_t>(*holder));
  return outputs;
}

Value reinterpret_bfloat(Value value, Type type) {
  if (type == Type::kBFloat16 && value.type == Type::kUint16) value.type = type;
  return value;
}

}  // namespace arenac
