#include "tests/random_nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "frontend/facts.h"

namespace arenac {
namespace {

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  Graph run() {
    type_ = below(3) ? Type::kFloat32 : Type::kInt32;
    const int kept = 1 + below(3), reduced = below(4);
    Shape out;
    for (int a = 0; a < kept; ++a) nest_.axes.push_back({1 + below(below(3) ? 5 : 40), false});
    for (int a = 0; a < reduced; ++a) nest_.axes.push_back({1 + below(8), true});
    std::vector<int> order(static_cast<size_t>(kept));
    for (int a = 0; a < kept; ++a) order[a] = a;
    std::shuffle(order.begin(), order.end(), random_);
    for (int a : order) nest_.store.push_back(axis(a)), out.push_back(nest_.axes[a].extent);

    graph_.name = "nest";
    nest_.body = operand(true);
    if (below(3)) nest_.body = nest_.body * operand(true);
    if (reduced > 0) {
      constexpr Combine kAll[] = {Combine::kSum, Combine::kSum, Combine::kMax, Combine::kMin};
      nest_.combine = kAll[below(4)];
      for (int k = below(3); k > 0; --k) {
        const Expr index = affine(nest_.axes.size());
        const Interval inside = part_of(interval(index, axis_intervals(nest_), {}));
        nest_.where.push_back({index, inside.begin, inside.end});
      }
      if (below(2)) nest_.finish = accumulator(type_) + operand(false);
    }
    const TensorId y = add(out, "y");
    graph_.outputs = {y}, graph_.output_names = {"y"};
    graph_.block.push_back({"nest", "Nest", reads_, {y}, Nests{nest_}});
    return graph_;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  TensorId add(Shape shape, const std::string& name) {
    graph_.tensors.push_back({name, type_, std::move(shape), nullptr});
    return static_cast<TensorId>(graph_.tensors.size()) - 1;
  }

  // A few axes among the first `axes`, each with a small factor.
  Expr affine(size_t axes) {
    constexpr int kFactors[] = {1, 1, 1, 2, 3, -1, -2};
    Expr sum = integer(below(5) - 2);
    for (int k = 1 + below(2); k > 0; --k)
      sum = sum + axis(below(static_cast<int>(axes))) * integer(kFactors[below(7)]);
    return sum;
  }

  // Without a few values at either end.
  Interval part_of(const Interval& all) {
    const int64_t begin = std::min(all.begin + below(4), all.end - 1);
    return {begin, std::max(begin + 1, all.end - below(4))};
  }

  // A read of a new tensor. Where the nest reduces, an index may leave it: a bound guards that.
  Expr operand(bool in_body) {
    const size_t kept = static_cast<size_t>(
        std::count_if(nest_.axes.begin(), nest_.axes.end(), [](const Axis& a) { return !a.reduced; }));
    const size_t axes = in_body ? nest_.axes.size() : kept;
    std::vector<Expr> indices;
    Shape shape;
    for (int d = 1 + below(2); d > 0; --d) {
      Expr index = affine(axes);
      Interval values = interval(index, axis_intervals(nest_), {});
      const bool guarded = in_body && axes > kept && below(2);
      if (guarded) values = part_of(values);
      // Shifted so that the first element read is element 0.
      const Expr shifted = index + integer(-values.begin);
      if (guarded) nest_.where.push_back({shifted, 0, values.end - values.begin});
      indices.push_back(shifted);
      shape.push_back(values.end - values.begin);
    }
    const TensorId id = add(shape, fmt::format("x{}", reads_.size()));
    reads_.push_back(id);
    if (below(3)) {
      graph_.inputs.push_back(id);
      graph_.input_names.push_back(graph_.tensors[id].name);
    } else {
      auto value = std::make_shared<Value>(type_, shape);
      for (int64_t e = 0; e < value->count(); ++e)
        store(*value, e, convert(type_, Type::kInt64, {.i = below(19) - 9}));
      graph_.tensors[id].constant = value;
    }
    return read(static_cast<int>(reads_.size()) - 1, type_, indices);
  }

  std::mt19937 random_;
  Type type_ = Type::kFloat32;
  Graph graph_;
  Nest nest_;
  std::vector<TensorId> reads_;
};

}  // namespace

Graph random_nest(unsigned seed) { return Generator(seed).run(); }

}  // namespace arenac
