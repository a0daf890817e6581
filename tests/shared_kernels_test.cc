// Kernels that differ in numbers only: as texts, and as programs that give the same bytes.
#include "codegen/shared_kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/import.h"
#include "tests/emitted.h"
#include "tests/random_graph.h"

namespace arenac {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A kernel whose text is long enough for a number or two.
std::string kernel(const std::string& parameters, const std::string& statement) {
  return fmt::format("({})\n{{\n  /* copies what is there, one element after the other */\n  {}\n}}\n",
                     parameters, statement);
}

TEST(SharedKernels, ReadWhatDiffersFromATable) {
  const auto copy = [](int count, int stride) {
    return kernel("const float *x0, float *y",
                  fmt::format("for (int i1 = 0; i1 < {}; ++i1) y[i1] = x0[{} * i1 + 1];", count, stride));
  };
  const SharedKernels shared = shared_kernels({copy(16, 8), copy(32, 4), copy(16, 2)}, "RESTRICT");
  ASSERT_EQ(shared.kernels.size(), 1u);
  EXPECT_EQ(
      shared.kernels[0].signature,
      "(const float *x0, float *y, const int *numbers)\n{\n  const int k0 = numbers[0], k1 = numbers[1];\n"
      "  /* copies what is there, one element after the other */\n"
      "  for (int i1 = 0; i1 < k0; ++i1) y[i1] = x0[k1 * i1 + 1];\n}\n");
  EXPECT_THAT(shared.kernels[0].rows,
              ElementsAre(ElementsAre(16, 8), ElementsAre(32, 4), ElementsAre(16, 2)));
  EXPECT_EQ(shared.rows.at(copy(32, 4)).row, 1u);
}

TEST(SharedKernels, TakeOneNumberForPlacesThatAgree) {
  const auto fill = [](int count) {
    return kernel("float *y",
                  fmt::format("for (int i1 = 0; i1 < {0}; i1 += 4) y[{0} - i1] = y[i1 + 7];", count));
  };
  EXPECT_THAT(shared_kernels({fill(16), fill(32)}, "RESTRICT").kernels.at(0).rows,
              ElementsAre(ElementsAre(16), ElementsAre(32)));
}

TEST(SharedKernels, AreNoneWhereMoreThanIndicesDiffers) {
  const auto none = [](const std::string& a, const std::string& b) {
    return shared_kernels({kernel("float *y", a), kernel("float *y", b)}, "RESTRICT").rows;
  };
  EXPECT_THAT(none("y[i1 + 1] = 2.0f;", "y[i1 + 1] = 3.0f;"), IsEmpty());
  EXPECT_THAT(none("float a0[4]; y[0] = a0[l];", "float a0[8]; y[0] = a0[l];"), IsEmpty());
  EXPECT_THAT(none("y[i1 + 1] = 2;", "y[i1 - 1] = 2;"), IsEmpty());
  EXPECT_THAT(none("if (x0[i1] < 9.5e-07) y[i1] = 2;", "if (x0[i1] < 9.5e-06) y[i1] = 2;"), IsEmpty());
  EXPECT_THAT(none("y[m_mod(i1, 5)] = 2;", "y[m_mod(i1, 6)] = 2;"), IsEmpty());
  EXPECT_THAT(none("y[i1 + INT64_C(5)] = 2;", "y[i1 + INT64_C(6)] = 2;"), IsEmpty());
  EXPECT_THAT(none("y[i1 + 1] = 2;", "y[i1 + 99999999999] = 2;"), IsEmpty());
}

TEST(SharedKernels, PromiseNoMoreThanEachOfThem) {
  const auto copy = [](const char* restricted, int count) {
    return kernel(fmt::format("const float *{}x0, float *y", restricted),
                  fmt::format("for (int i1 = 0; i1 < {}; ++i1) y[i1] = x0[i1];", count));
  };
  EXPECT_THAT(
      shared_kernels({copy("RESTRICT ", 16), copy("RESTRICT ", 32)}, "RESTRICT").kernels.at(0).signature,
      HasSubstr("RESTRICT"));
  EXPECT_THAT(shared_kernels({copy("RESTRICT ", 16), copy("", 32)}, "RESTRICT").kernels.at(0).signature,
              Not(HasSubstr("RESTRICT")));
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
