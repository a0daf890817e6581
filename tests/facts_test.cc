// What facts.h claims and rewrites, held against every point of random integer expressions.
#include "frontend/facts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "frontend/interpret.h"
#include "tests/seeds.h"

namespace arenac {
namespace {

constexpr Type kIntegers[] = {Type::kInt64,  Type::kInt64,  Type::kInt64, Type::kInt8,
                              Type::kInt16,  Type::kInt32,  Type::kUint8, Type::kUint16,
                              Type::kUint32, Type::kUint64, Type::kBool};
constexpr int64_t kAxes = 2;

// A nest of plain axes, what its reads are of, and expressions of both.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {
    for (int64_t a = 0; a < kAxes; ++a)
      nest_.axes.push_back({1 + below(12), false}), nest_.store.push_back(axis(a));
    for (const Type type : {Type::kInt64, Type::kInt64, Type::kInt8, Type::kUint64, Type::kInt32}) {
      Value value(type, {nest_.axes[0].extent});
      for (int64_t k = 0; k < value.count(); ++k)
        store(value, k, convert(type, Type::kInt64, {.i = number()}));
      values_.push_back(std::make_shared<Value>(std::move(value)));
      tensors_.push_back({"x", type, values_.back()->shape, below(2) ? values_.back() : nullptr});
    }
  }

  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }

  // Small, or near an end of some type.
  int64_t number() {
    constexpr int64_t kEnds[] = {INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX, UINT32_MAX,       -128, 127,
                                 255,       -32768,    32767,     65535,     int64_t{1} << 62, 0};
    if (below(4)) return below(40) - 20;
    return static_cast<int64_t>(static_cast<uint64_t>(kEnds[below(std::size(kEnds))]) +
                                static_cast<uint64_t>(below(5) - 2));
  }

  // As indices are: sums, multiples, quotients and remainders, mostly of constants.
  Expr index(int depth) {
    if (depth == 0 || below(8) == 0)
      return below(3) ? axis(static_cast<int>(below(kAxes))) : integer(number());
    const Expr a = index(depth - 1);
    switch (below(8)) {
      case 0:
        return a + index(depth - 1);
      case 1:
        return a - index(depth - 1);
      case 2:
        return a + integer(number());
      case 3:
        return a * integer(number());
      case 4:
      case 5:
        return a / integer(divisor());
      default:
        return a % integer(divisor());
    }
  }

  Expr value(Type type, int depth) {
    if (depth == 0 || below(8) == 0) {
      if (below(4) == 0) return constant(type, Scalar{.i = number()});
      if (below(2)) return cast(type, axis(static_cast<int>(below(kAxes))) - integer(below(10)));
      const int operand = static_cast<int>(below(static_cast<int64_t>(tensors_.size())));
      return cast(type, read(operand, tensors_[operand].type, {axis(0)}));
    }
    constexpr Op kBinary[] = {Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kMod, Op::kMin,
                              Op::kMax, Op::kAnd, Op::kShr, Op::kAdd, Op::kMul, Op::kMod};
    switch (below(6)) {
      case 0:
        return cast(type, value(kIntegers[below(std::size(kIntegers))], depth - 1));
      case 1:
        return select(condition(depth - 1), value(type, depth - 1), value(type, depth - 1));
      case 2:
        return type == Type::kBool ? condition(depth - 1)
                                   : make(below(2) ? Op::kNeg : Op::kAbs, {value(type, depth - 1)});
      case 3:
        if (type == Type::kInt64) return index(depth);
        [[fallthrough]];
      default:
        return make(kBinary[below(std::size(kBinary))], {value(type, depth - 1), value(type, depth - 1)});
    }
  }

  // The values of an integer expression at every point, row-major.
  Value at_every_point(const Expr& e) const {
    Nest nest = nest_;
    nest.body = e;
    std::vector<const Value*> reads;
    for (const auto& value : values_) reads.push_back(value.get());
    Value all(e->type, {nest.axes[0].extent, nest.axes[1].extent});
    run_nest(nest, reads, all);
    return all;
  }

  // Part of the axes.
  std::vector<Interval> part() {
    std::vector<Interval> all;
    for (const Axis& a : nest_.axes) {
      const int64_t begin = below(a.extent);
      all.push_back({begin, begin + 1 + below(a.extent - begin)});
    }
    return all;
  }

  std::vector<Interval> whole() const { return axis_intervals(nest_); }
  std::vector<const Tensor*> tensors() const {
    std::vector<const Tensor*> all;
    for (const Tensor& t : tensors_) all.push_back(&t);
    return all;
  }

 private:
  int64_t divisor() { return below(6) ? 1 + below(12) : number(); }
  Expr condition(int depth) {
    constexpr Op kCompare[] = {Op::kEq, Op::kLt, Op::kLe};
    const Type type = kIntegers[below(std::size(kIntegers))];
    return make(kCompare[below(3)], {value(type, depth), value(type, depth)});
  }

  std::mt19937_64 random_;
  Nest nest_;
  std::vector<std::shared_ptr<Value>> values_;
  std::vector<Tensor> tensors_;
};

TEST(Facts, IntervalsHoldEveryValue) {
  for (unsigned seed = 0; seed < seeds(20000); ++seed) {
    Generator g(seed);
    const Expr e = g.value(kIntegers[g.below(std::size(kIntegers))], 4);
    const std::vector<Interval> axes = g.part();
    const std::vector<const Tensor*> tensors = g.tensors();
    const ClosedInterval range = closed_interval(e, axes, tensors);
    const Interval half_open = interval(e, axes, tensors);
    const Value values = g.at_every_point(e);
    for (int64_t i = axes[0].begin; i < axes[0].end; ++i)
      for (int64_t j = axes[1].begin; j < axes[1].end; ++j) {
        const int64_t v = load(values, i * values.shape[1] + j).i;
        ASSERT_TRUE(range.low <= v && v <= range.high)
            << fmt::format("seed {}: {} is {} at ({}, {}), not in [{}, {}]", seed, to_string(e), v, i, j,
                           range.low, range.high);
        ASSERT_TRUE(half_open.begin <= v && (v < half_open.end || half_open.end == INT64_MAX)) << seed;
      }
  }
}

TEST(Facts, SimplifiedIndicesAreTheSame) {
  for (unsigned seed = 0; seed < seeds(20000); ++seed) {
    Generator g(seed);
    const Expr e = g.below(4) ? g.index(5) : g.value(Type::kInt64, 4);
    const Expr simple = simplify_index(e, g.whole());
    ASSERT_EQ(simple->type, Type::kInt64);
    ASSERT_EQ(g.at_every_point(e).bytes, g.at_every_point(simple).bytes)
        << fmt::format("seed {}: {} -> {}", seed, to_string(e), to_string(simple));
  }
}

Expr expression_of(const Affine& form) {
  Expr sum = integer(form.constant);
  for (const auto& [a, factor] : form.terms) sum = sum + axis(a) * integer(factor);
  return sum;
}

TEST(Facts, AffineFormsAreTheSame) {
  int found = 0;
  for (unsigned seed = 0; seed < seeds(20000); ++seed) {
    Generator g(seed);
    const Expr e = g.index(3);
    const auto form = affine_form(e);
    if (form) {
      ++found;
      ASSERT_EQ(g.at_every_point(e).bytes, g.at_every_point(expression_of(*form)).bytes)
          << fmt::format("seed {}: {} -> {}", seed, to_string(e), to_string(expression_of(*form)));
    }
    // What moves by a constant factor along an axis.
    const Value values = g.at_every_point(e);
    const auto factor = coefficient_along(e, 1);
    for (int64_t k = 1; factor && k < values.count(); ++k) {
      if (k % values.shape[1] == 0) continue;
      ASSERT_EQ(static_cast<uint64_t>(load(values, k).i) - static_cast<uint64_t>(load(values, k - 1).i),
                static_cast<uint64_t>(*factor))
          << fmt::format("seed {}: {} along i1", seed, to_string(e));
    }
  }
  EXPECT_GT(found, static_cast<int>(seeds(2000)));
}

TEST(Facts, AffineAddressesAreTheSame) {
  int found = 0;
  for (unsigned seed = 0; seed < seeds(20000); ++seed) {
    Generator g(seed);
    // The digits of one index, or any.
    const Expr e = g.index(2);
    const int64_t inner = 1 + g.below(6), outer = 1 + g.below(6), stride = 1 + g.below(9);
    const std::vector<Expr> indices =
        g.below(4) ? std::vector{e / integer(inner * outer), (e / integer(inner)) % integer(outer),
                                 e % integer(inner)}
                   : std::vector{g.index(2), g.index(2), g.index(2)};
    const std::vector<int64_t> strides = {stride * inner * outer, stride * inner, stride};
    const auto form = affine_address(indices, strides, g.whole());
    if (!form) continue;
    ++found;
    Expr sum = integer(0);
    for (size_t d = 0; d < indices.size(); ++d) sum = sum + indices[d] * integer(strides[d]);
    ASSERT_EQ(g.at_every_point(sum).bytes, g.at_every_point(expression_of(*form)).bytes)
        << fmt::format("seed {}: {} -> {}", seed, to_string(sum), to_string(expression_of(*form)));
  }
  EXPECT_GT(found, static_cast<int>(seeds(2000)));
}

TEST(Facts, PartsOfAnIndexAreThoseOfItsAxes) {
  const auto simple = [](const Expr& e) { return to_string(simplify_index(e, {{0, 32}, {0, 32}, {0, 32}})); };
  const Expr i = axis(0), j = axis(1), k = axis(2), joined = (i * integer(32) + j) * integer(32) + k;
  EXPECT_EQ(simple(joined / integer(4096)), "i0 / 4");
  EXPECT_EQ(simple(joined / integer(128)), "i0 * 8 + i1 / 4");
  EXPECT_EQ(simple(joined % integer(4096)), "mod(i0, 4) * 1024 + (i1 * 32 + i2)");
  EXPECT_EQ(simple((joined % integer(4096)) / integer(1024)), "mod(i0, 4)");
  EXPECT_EQ(simple(joined / integer(32) % integer(32)), "i1");
  EXPECT_EQ(simple(joined % integer(48)), "mod(i0 * 1024 + i1 * 32 + i2, 48)");  // 1024 is no multiple
}

// Each wrong once: a value at the end of int64, a remainder of what may be negative, digits of it.
TEST(Facts, KnowTheEnds) {
  const ClosedInterval all = {INT64_MIN, INT64_MAX};
  EXPECT_EQ(closed_interval(read(0, Type::kInt64, {}), {}, {}), all);
  EXPECT_EQ(interval(read(0, Type::kInt64, {}), {}, {}), (Interval{INT64_MIN, INT64_MAX}));
  EXPECT_EQ(closed_interval(axis(0) + integer(INT64_MAX), {{0, 2}}, {}), all);
  EXPECT_EQ(closed_interval(axis(0) + integer(INT64_MAX), {{0, 1}}, {}),
            (ClosedInterval{INT64_MAX, INT64_MAX}));
  const Expr third = ((axis(0) - integer(5)) % integer(12)) / integer(4);
  EXPECT_EQ(to_string(simplify_index(third, {{0, 12}})), "mod(1 + (3 + i0) / 4, 3)");
  EXPECT_EQ(to_string(simplify_index(third, {{5, 17}})), "(i0 - 5) / 4");
}

}  // namespace
}  // namespace arenac
