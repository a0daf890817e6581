// Reductions: out[kept...] = after(combine over the reduced dimensions of before(x[i...])).
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "frontend/importer.h"
#include "frontend/ops.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

// The dimensions whose reduction makes `to` of `from`, if there is one choice only.
std::optional<std::vector<int64_t>> reduced_dims(const Shape& from, const Shape& to, bool keeps) {
  std::optional<std::vector<int64_t>> only;
  if (from.size() > 16) return only;
  for (uint32_t choice = 0; choice < 1u << from.size(); ++choice) {
    Shape left;
    std::vector<int64_t> dims;
    bool minimal = true;  // a kept dimension of 1 may be reduced or not
    for (size_t d = 0; d < from.size(); ++d) {
      const bool reduces = choice >> d & 1;
      if (reduces) dims.push_back(static_cast<int64_t>(d));
      minimal &= !(reduces && keeps && from[d] == 1);
      if (!reduces) left.push_back(from[d]);
      if (reduces && keeps) left.push_back(1);
    }
    if (left != to || !minimal) continue;
    if (only) return std::nullopt;
    only = dims;
  }
  return only;
}

// Axes that only the run knows are taken to be `dims`, in any order and counted from either end. A run with
// others ends with an error.
void assume_dims(Lowering& node, TensorId axes, const std::vector<int64_t>& dims, int64_t rank) {
  const int64_t count = element_count(node.shape(axes));
  node.require(node.rank(axes) <= 1 && !is_float(node.type(axes)), "the axes must be a vector of integers");
  if (count == 0) return;
  Formula f(node);
  const Expr axis = cast(Type::kInt64, f.read(axes, std::vector<Expr>(node.rank(axes), f.reduced(count))));
  Expr other = constant(Type::kBool, 1);
  for (const int64_t d : dims) other = other && !is_dimension(axis, d, rank);
  f.reduce(Combine::kMax, other);
  node.importer().guard(f.emit(Type::kBool),
                        fmt::format("the axes of '{}' are not those that its declared shape lacks",
                                    printable(node.onnx_node().origin)));
}

// What an operator reduces: 'axes' is an input in newer versions, an attribute in older ones.
std::vector<int64_t> axes_of(Lowering& node, TensorId x) {
  if (const auto declared = node.declared_for(1))
    if (const auto dims = reduced_dims(node.shape(x), *declared, node.int_attr("keepdims", 1) != 0)) {
      assume_dims(node, node.in(1), *dims, node.rank(x));
      return *dims;
    }
  std::vector<int64_t> axes =
      node.has_input(1) ? node.constant_ints(node.in(1), "the axes") : node.ints_attr("axes", {});
  if (axes.empty() && node.int_attr("noop_with_empty_axes", 0) == 0) return dims_between(0, node.rank(x));
  std::set<int64_t> dims;
  for (int64_t axis : axes) dims.insert(node.normalized_axis(axis, node.rank(x)));
  return {dims.begin(), dims.end()};
}

TensorId reduce(Lowering& node, TensorId x, const std::vector<int64_t>& dims, const Reduction& reduction) {
  const bool keep = node.int_attr("keepdims", 1) != 0;
  return (keep ? reduced : reduced_away)(node, x, dims, reduction, node.type(x));
}

// Floats as they are; integers in float64.
Expr in_floats(const Expr& x) { return is_float(x->type) ? x : cast(Type::kFloat64, x); }
Expr square(const Expr& x) { return x * x; }

constexpr auto kSame = [](const Expr& x) { return x; };
constexpr auto kSquare = [](const Expr& x) { return square(x); };
constexpr auto kRealSquare = [](const Expr& x) { return square(in_floats(x)); };
constexpr auto kAbsolute = [](const Expr& x) { return absolute(x); };
constexpr auto kRoot = [](const Expr& x) { return sqrt(x); };
constexpr auto kLog = [](const Expr& x) { return log(in_floats(x)); };

template <Combine kCombine, auto kBefore = kSame, auto kAfter = kSame>
void reduction(Lowering& node) {
  const TensorId x = node.in(0);
  const bool ordered = kCombine == Combine::kMin || kCombine == Combine::kMax;
  node.require(ordered || node.type(x) != Type::kBool, "is not defined on bool");
  node.out(0, reduce(node, x, axes_of(node, x), {kCombine, kBefore, kAfter}));
}

void mean(Lowering& node) {
  const TensorId x = node.in(0);
  node.require(node.type(x) != Type::kBool, "is not defined on bool");
  const auto dims = axes_of(node, x);
  const auto count = static_cast<double>(reduced_count(node.shape(x), dims));
  node.out(0, reduce(node, x, dims, {Combine::kSum, {}, [&](const Expr& sum) { return sum / count; }}));
}

// log(sum(exp(x))) as m + log(sum(exp(x - m))) with m the largest x, or 0 where that is infinite.
void log_sum_exp(Lowering& node) {
  const TensorId x = node.in(0);
  node.require(node.type(x) != Type::kBool, "is not defined on bool");
  const auto dims = axes_of(node, x);
  const Type type = is_float(node.type(x)) ? compute_type(node.type(x)) : Type::kFloat64;
  const auto finite = [](const Expr& m) { return select(make(Op::kIsInf, {m}), constant(m->type, 0), m); };
  const Reduction largest{Combine::kMax, [](const Expr& e) { return in_floats(e); }, finite};
  const TensorId m = reduced(node, x, dims, largest, type);
  const TensorId shifted = pointwise(
      node, type, [](const Expr& e, const Expr& top) { return exp(in_floats(e) - top); }, x, m);
  const TensorId logs = reduced(node, shifted, dims, {Combine::kSum, {}, kLog}, type);
  const TensorId y = pointwise(
      node, node.type(x), [](const Expr& l, const Expr& top) { return l + top; }, logs, m);
  node.out(0, node.int_attr("keepdims", 1) ? y : reduced_away(node, y, dims, {Combine::kSum}, node.type(x)));
}

// The extreme, then the first (or last) index where it stands.
template <Combine kExtreme>
void arg_extreme(Lowering& node) {
  const TensorId x = node.in(0);
  const int64_t axis = node.normalized_axis(node.int_attr("axis", 0), node.rank(x));
  const int64_t extent = node.shape(x)[axis];
  node.require(extent > 0, "the axis is empty");
  const TensorId extreme = reduced(node, x, {axis}, {kExtreme}, node.type(x));

  const bool keep = node.int_attr("keepdims", 1) != 0, last = node.int_attr("select_last_index", 0) != 0;
  Formula f(node);
  std::vector<Expr> indices, store;
  Shape shape;
  for (int64_t d = 0; d < node.rank(x); ++d) {
    indices.push_back(d == axis ? f.reduced(extent) : f.axis(node.shape(x)[d]));
    if (d == axis && !keep) continue;
    store.push_back(d == axis ? integer(0) : indices[d]);
    shape.push_back(d == axis ? 1 : node.shape(x)[d]);
  }
  const Expr here = f.read(x, indices) == f.broadcast(extreme, indices);
  f.reduce(last ? Combine::kMax : Combine::kMin, select(here, indices[axis], integer(last ? 0 : extent - 1)));
  f.store(store);
  node.out(0, f.emit(Type::kInt64, shape));
}

// The spatial dimensions of x[N,C,spatial...].
std::vector<int64_t> spatial_dims(const Lowering& node, TensorId x) {
  node.require(node.rank(x) >= 3 && is_float(node.type(x)), "needs a float input [N, C, spatial...]");
  return dims_between(2, node.rank(x));
}

void global_average_pool(Lowering& node) {
  const TensorId x = node.in(0);
  const auto dims = spatial_dims(node, x);
  const auto count = static_cast<double>(reduced_count(node.shape(x), dims));
  const auto divide = [&](const Expr& sum) { return sum / count; };
  node.out(0, reduced(node, x, dims, {Combine::kSum, {}, divide}, node.type(x)));
}

void global_max_pool(Lowering& node) {
  const TensorId x = node.in(0);
  node.out(0, reduced(node, x, spatial_dims(node, x), {Combine::kMax}, node.type(x)));
}

void global_lp_pool(Lowering& node) {
  const TensorId x = node.in(0);
  const double p = norm_attr(node);
  const auto power = [&](const Expr& e) {
    return p == 2 ? square(e) : p == 1 ? absolute(e) : pow(absolute(e), constant(e->type, p));
  };
  const auto root = [&](const Expr& sum) {
    return p == 2 ? sqrt(sum) : p == 1 ? sum : pow(sum, constant(sum->type, 1 / p));
  };
  node.out(0, reduced(node, x, spatial_dims(node, x), {Combine::kSum, power, root}, node.type(x)));
}

}  // namespace

std::span<const OperatorRow> reduce_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "ArgMax", 1, arg_extreme<Combine::kMax>},
      {"", "ArgMin", 1, arg_extreme<Combine::kMin>},
      {"", "GlobalAveragePool", 1, global_average_pool},
      {"", "GlobalLpPool", 1, global_lp_pool},
      {"", "GlobalMaxPool", 1, global_max_pool},
      {"", "ReduceL1", 1, reduction<Combine::kSum, kAbsolute>},
      {"", "ReduceL2", 1, reduction<Combine::kSum, kRealSquare, kRoot>},
      {"", "ReduceLogSum", 1, reduction<Combine::kSum, kSame, kLog>},
      {"", "ReduceLogSumExp", 1, log_sum_exp},
      {"", "ReduceMax", 1, reduction<Combine::kMax>},
      {"", "ReduceMean", 1, mean},
      {"", "ReduceMin", 1, reduction<Combine::kMin>},
      {"", "ReduceProd", 1, reduction<Combine::kProduct>},
      {"", "ReduceSum", 1, reduction<Combine::kSum>},
      {"", "ReduceSumSquare", 1, reduction<Combine::kSum, kSquare>},
  };
  return kRows;
}

}  // namespace arenac
