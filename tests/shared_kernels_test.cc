// Kernels that differ in numbers only: as statements, and as programs that give the same bytes.
#include "codegen/shared_kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/instructions.h"
#include "codegen/stmt_builder.h"
#include "frontend/import.h"
#include "tests/emitted.h"
#include "tests/random_graph.h"

namespace arenac {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

constexpr Type kFloat = Type::kFloat32;
const Expr i = axis(0);

Expr x_at(const Expr& index) { return read(0, kFloat, {index}); }

// for (int i0 = begin; i0 < end; ++i0) target[index] = value, a few times over: long enough for a number or
// two.
LoweredNest loop(Interval range, const Expr& index, const Expr& value, Aliasing how = Aliasing::kMixed) {
  StmtBuilder at({{0, 100}}, 1);
  at.loop(0, integer(range.begin), integer(range.end), 1, [&] {
    for (int k = 0; k < 3; ++k) at.put(Set{element(kResult, kFloat, index), value});
  });
  return {at.finish(), {{kFloat}, {how}, kFloat}, {}, false};
}

SharedKernels shared(const std::vector<LoweredNest>& nests) {
  Helpers helpers;
  return shared_kernels({nests}, "m", helpers);
}

TEST(SharedKernels, ReadWhatDiffersFromATable) {
  const auto copy = [](int count, int stride) {
    return loop({0, count}, i, x_at(i * integer(stride) + integer(1)));
  };
  const SharedKernels all = shared({copy(16, 8), copy(32, 4), copy(16, 2)});
  ASSERT_EQ(all.kernels.size(), 1u);
  EXPECT_EQ(
      all.kernels[0].signature,
      "(const float *x0, float *out, const int *numbers)\n{\n  const int k0 = numbers[0];\n"
      "  const int k1 = numbers[1];\n"
      "  for (int i0 = 0; i0 < k0; ++i0) {\n    out[i0] = x0[i0 * k1 + 1];\n    out[i0] = x0[i0 * k1 + 1];\n"
      "    out[i0] = x0[i0 * k1 + 1];\n  }\n}\n");
  EXPECT_THAT(all.kernels[0].rows,
              UnorderedElementsAre(ElementsAre(16, 8), ElementsAre(32, 4), ElementsAre(16, 2)));
  EXPECT_EQ(all.rows.size(), 3u);
}

TEST(SharedKernels, TakeOneNumberForPlacesThatAgree) {
  const auto turned = [](int count) { return loop({0, count}, integer(count) - i, x_at(i + integer(7))); };
  EXPECT_THAT(shared({turned(16), turned(32)}).kernels.at(0).rows,
              ElementsAre(ElementsAre(16), ElementsAre(32)));
}

// Whether two loops over 16 that store these values share a kernel.
bool shares(const Expr& a, const Expr& b) {
  return !shared({loop({0, 16}, i, a), loop({0, 16}, i, b)}).rows.empty();
}

TEST(SharedKernels, AreNoneWhereMoreThanIndicesDiffers) {
  const auto value = [](double x) { return constant(kFloat, x); };
  EXPECT_TRUE(shares(x_at(i + integer(1)), x_at(i + integer(2))));
  EXPECT_TRUE(shares(x_at(i + integer(1)), x_at(i + integer(-2))));  // a number has a sign
  EXPECT_FALSE(shares(value(2), value(3)));
  EXPECT_TRUE(shares(x_at(i + integer(1)), x_at(i)));  // none is 0
  EXPECT_FALSE(shares(x_at(i + integer(1)), x_at(i + integer(1)) + value(1)));
  EXPECT_FALSE(shares(x_at(i + integer(1)), x_at(i + integer(99999999999))));
}

TEST(SharedKernels, TakeNumbersThatIntegersAreAddedToOrMultipliedBy) {
  const auto sum = [](int64_t n) { return cast(kFloat, cast(Type::kInt64, x_at(i)) + integer(n)); };
  EXPECT_TRUE(shares(sum(5), sum(6)));
  EXPECT_FALSE(shares(sum(5), sum(99999999999)));
  const auto product = [](int64_t n) { return cast(kFloat, cast(Type::kInt64, x_at(i)) * integer(n)); };
  EXPECT_TRUE(shares(product(5), product(6)));
  const auto pair = [](int zero) {
    return cast(kFloat, instruction("even_s8", {read(0, Type::kInt8, {i}), constant(Type::kInt32, zero)}));
  };
  EXPECT_TRUE(shares(pair(5), pair(-6)));
}

// What differs by the same constant in all of them is one number.
TEST(SharedKernels, TakeOneNumberForPlacesThatAreAsFarApart) {
  const auto two = [](int by) { return loop({0, 16}, i, x_at(i + integer(by)) + x_at(i + integer(by + 3))); };
  const SharedKernels all = shared({two(4), two(9)});
  EXPECT_THAT(all.kernels.at(0).rows, UnorderedElementsAre(ElementsAre(4), ElementsAre(9)));
  EXPECT_THAT(all.kernels.at(0).signature, HasSubstr("x0[i0 + k0] + x0[i0 + k0 + 3]"));
}

// Which axis of its nest a loop runs over, and what that is called, tells no two kernels apart.
TEST(SharedKernels, CallTheirAxesAsTheFirstDoes) {
  const auto over = [](int a, int count, const char* name) {
    StmtBuilder at({{0, 100}, {0, 100}}, 1);
    at.loop(a, integer(0), integer(count), 1, [&] {
      for (int k = 0; k < 3; ++k) at.put(Set{element(kResult, kFloat, axis(a)), x_at(axis(a))});
    });
    LoweredNest nest{at.finish(), {{kFloat}, {Aliasing::kMixed}, kFloat}, {}, false};
    nest.kernel.names = {"y", "y"};
    nest.kernel.names[static_cast<size_t>(a)] = name;
    return nest;
  };
  const SharedKernels all = shared({over(1, 16, "x"), over(0, 12, "yx")});
  ASSERT_EQ(all.kernels.size(), 1u);
  EXPECT_THAT(all.kernels[0].signature, HasSubstr("for (int x = 0; x < k0; ++x) {\n    out[x] = x0[x];"));
}

// A loop in whole steps is one whose last whole step does nothing again.
TEST(SharedKernels, EndInALastWholeStep) {
  const auto in_steps = [](int count) {
    StmtBuilder at({{0, 100}, {0, 8}}, 1);
    const auto body = [&] {
      at.loop(1, integer(0), integer(8), 1, [&] {
        for (int k = 0; k < 3; ++k) at.put(Set{element(kResult, kFloat, i), x_at(i + axis(1))});
      });
    };
    if (count % 2 == 0) {
      at.loop(0, integer(0), integer(count), 2, body);
    } else {
      const Expr from = at.new_int("from_i0", {0, count});
      at.loop(from->index, integer(0), integer(count), 2, [&] {
        at.put(Let{0, min(from, integer(count - 2))});
        body();
      });
    }
    return LoweredNest{at.finish(), {{kFloat}, {Aliasing::kMixed}, kFloat}, {}, false};
  };
  const SharedKernels all = shared({in_steps(16), in_steps(81)});
  EXPECT_EQ(all.rows.size(), 2u);
  EXPECT_THAT(all.kernels.at(0).rows, UnorderedElementsAre(ElementsAre(16), ElementsAre(81)));
  EXPECT_THAT(shared({in_steps(16), in_steps(18)}).kernels.at(0).signature, Not(HasSubstr("from_")));
}

// Loops that go down are those that count up over places from the last to the first.
TEST(SharedKernels, CountUpWhereTheirLoopsGoEitherWay) {
  const auto swept = [](Sweep sweep) {
    StmtBuilder at({{0, 100}, {0, 8}}, 1);
    at.loop(0, integer(0), integer(16), 2, [&] {
      at.loop(1, integer(0), integer(8), 1, [&] {
        for (int k = 0; k < 3; ++k) at.put(Set{element(kResult, kFloat, i), x_at(i + axis(1))});
      });
    });
    LoweredNest nest{at.finish(), {{kFloat}, {Aliasing::kMixed}, kFloat}, {}, false};
    std::get<For>(nest.kernel.body[0].is).sweep = sweep;
    return nest;
  };
  const SharedKernels all = shared({swept(Sweep::kUp), swept(Sweep::kDown)});
  ASSERT_EQ(all.kernels.size(), 1u);
  EXPECT_THAT(all.kernels[0].signature, HasSubstr("for (int from_ = 0; from_ < 8; ++from_) {"));
  EXPECT_THAT(all.kernels[0].rows, UnorderedElementsAre(ElementsAre(0, 2), ElementsAre(14, -2)));
}

TEST(SharedKernels, DivideByNumbers) {
  const auto ring = [](int slots) { return x_at((i + integer(2)) % integer(slots)); };
  EXPECT_TRUE(shares(ring(12), ring(20)));
  const auto below = [](int slots) { return x_at((i - integer(9)) % integer(slots)); };
  EXPECT_FALSE(shares(ring(12), below(12)));  // a remainder of what may be negative is another text
}

TEST(SharedKernels, TakeZeroPoints) {
  const auto moved = [](int zero) {
    const Expr byte = cast(Type::kInt32, read(0, Type::kInt8, {i}));
    return cast(kFloat, byte - constant(Type::kInt32, zero));
  };
  EXPECT_TRUE(shares(moved(-128), moved(3)));
}

TEST(SharedKernels, PromiseNoMoreThanEachOfThem) {
  const auto copy = [](Aliasing how, int count) { return loop({0, count}, i, x_at(i), how); };
  const auto signature = [&](Aliasing how) {
    return shared({copy(Aliasing::kApart, 16), copy(how, 32)}).kernels.at(0).signature;
  };
  EXPECT_THAT(signature(Aliasing::kApart), HasSubstr("M_RESTRICT"));
  EXPECT_THAT(signature(Aliasing::kMixed), Not(HasSubstr("M_RESTRICT")));
}

// float[shape] name = {-6, 1, 8, ...}
std::string weights(const char* name, const Shape& shape) {
  std::vector<int64_t> values;
  for (int64_t k = 0; k < element_count(shape); ++k) values.push_back(k * 7 % 15 - 6);
  return fmt::format("float[{}] {} = {{{}}}", fmt::join(shape, ", "), name, fmt::join(values, ", "));
}

bool reads_a_table(const Compilation& c) {
  return file_named(c, c.name + ".c").find("_numbers[") != std::string::npos;
}

TEST(SharedKernels, GiveTheSameBytes) {
  const std::string text = fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[1, 8, 12, 12] x) => (float[1, 24, 12, 12] y)"
      " <{}, {}, {}> {{ o = Relu(x)  p = Conv<pads = [1, 1, 1, 1]>(o, a)  q = Conv<pads = [1, 1, 1, 1]>(p, b)"
      "  r = Conv<pads = [1, 1, 1, 1]>(q, c)  y = Relu(r) }}",
      weights("a", {16, 8, 3, 3}), weights("b", {24, 16, 3, 3}), weights("c", {24, 24, 3, 3}));
  for (const CompilerRow& compiler : compilers()) {
    std::vector<Emitted> batch;
    for (const Code code : {Code::kFast, Code::kSmall})
      for (const char* scheduler : {"layerwise", "rows"})
        batch.push_back({compile_graph(import_text(text), fmt::format("m{}", batch.size()),
                                       {.target = 1, .scheduler = scheduler, .code = code})});
    for (Emitted& e : batch) e.inputs = random_inputs(*e.compilation.graph, 1, Numbers::kAny);
    EXPECT_FALSE(reads_a_table(batch[1].compilation));
    EXPECT_TRUE(reads_a_table(batch[3].compilation));
    run_emitted(batch, compiler);
    for (const Emitted& e : batch) {
      ASSERT_EQ(e.fault, "") << compiler.name;
      EXPECT_EQ(e.outputs[0].bytes, batch[0].outputs[0].bytes) << compiler.name;
    }
  }
}

}  // namespace
}  // namespace arenac
