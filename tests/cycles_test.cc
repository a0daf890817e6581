// The cost model: what it foresees of kernels whose times are known to differ.
#include "codegen/cycles.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/import.h"
#include "tests/emitted.h"
#include "tests/random_graph.h"

namespace arenac::cycles_test {
namespace {

struct Products {
  std::string type;
  int64_t rows, terms, columns;
};

double cycles_of_products(const Products& of, const Target& target) {
  const bool floats = of.type == "float";
  const Graph graph =
      import_text(fmt::format("<ir_version: 8, opset_import: [\"\" : 17]>\n"
                              "g ({0}[{1}, {2}] x, {0}[{2}, {3}] w) => ({4}[{1}, {3}] y) {{ y = {5}(x, w) }}",
                              of.type, of.rows, of.terms, of.columns, floats ? "float" : "int32",
                              floats ? "MatMul" : "MatMulInteger"));
  const Schedule schedule = schedule_layerwise(graph, target);
  const Lifetimes all = lifetimes(schedule, Io::kExternal, 16);
  Plan plan{{}, std::vector<PoolUse>(1)};
  for (size_t b = 0; b < all.problem.buffers.size(); ++b) plan.placements.push_back({});
  return ScheduleCycles(target).of(schedule, all, plan);
}

// Cycles of each of so many rows, multiplied by one matrix.
double cycles_of_row(const std::string& type, int64_t rows, const char* target) {
  return cycles_of_products({type, rows, 256, 16}, target_named(target)) / static_cast<double>(rows);
}

// An addition to a sum of floats waits for the one before: one row has but few sums to go on with meanwhile.
TEST(Cycles, OfFewSumsOfFloatsAreThoseOfWaiting) {
  const auto alone = [](const char* type, const char* target) {
    return cycles_of_row(type, 1, target) / cycles_of_row(type, 20, target);
  };
  EXPECT_GT(alone("float", "portable"), 1.7);
  EXPECT_LT(alone("int8", "portable"), 1.5);
  EXPECT_LT(alone("float", "cortex-m4"), 1.7);
}

// While short sums wait the next ones are added to; long ones wait for themselves: of 16 columns, cycles of a
// term of each.
TEST(Cycles, OfShortSumsAreNotThoseOfWaiting) {
  const auto of_term = [](int64_t terms) {
    Target target = target_named("x86-64-v4");
    target.costs.near_bytes = 0;
    return cycles_of_products({"float", 1, terms, 16}, target) / static_cast<double>(terms);
  };
  EXPECT_GT(of_term(512), 1.5 * of_term(32));
}

// What functions are of is on its way to the loop that has them: a copy alone would be one by memcpy(), to
// which gcc gives addresses of the sums, so that they are in memory as long as they are added to.
TEST(Functions, OfSumsTakeMoreThanCopies) {
  const auto text_of = [](const std::string& body) {
    const Graph graph = import_text(
        "<ir_version: 8, opset_import: [\"\" : 17]>\n"
        "g (float[8, 64] x, float[64, 32] w, float[32] b) => (float[8, 32] y) { p = MatMul(x, w)  " +
        body + " }");
    const Compilation c = compile_graph(graph, "m", {});
    return file_named(c, "m.c");
  };
  EXPECT_THAT(text_of("s = Add(p, b)  t = Sigmoid(s)  y = Mul(s, t)"),
              testing::HasSubstr("sums[l] = acc0[l] + x2[j + l];"));
  EXPECT_THAT(text_of("y = Sigmoid(p)"), testing::HasSubstr("sums[l] = -acc0[l];"));
  EXPECT_THAT(text_of("e = Exp(b)  y = Mul(p, e)"), testing::Not(testing::HasSubstr("sums[l] = acc0[l] *")));
}

// gcc may compute both ways of a choice, which are vectors then; that changes no bit.
TEST(Choices, MayBeVectors) {
  const Graph graph = import_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[8, 64] x, float[64, 32] w, float[32] b) => (float[8, 32] y, float[8, 32] z)
    { p = MatMul(x, w)  s = Add(p, b)  y = HardSwish(s)  z = LeakyRelu<alpha = 0.1>(p) })");
  std::vector<Emitted> ways;
  for (const size_t target : {0, 1}) {
    Way way;
    way.target = target;
    ways.push_back(Emitted{compile_graph(graph, fmt::format("m{}", target), way)});
    ways.back().inputs = random_inputs(graph, 1, Numbers::kAny);
  }
  EXPECT_THAT(file_named(ways[0].compilation, "m0.c"),
              testing::HasSubstr("#pragma GCC optimize(\"no-trapping-math\", "));
  for (const CompilerRow& compiler : compilers()) {
    run_emitted(ways, compiler);
    for (const Emitted& e : ways) {
      ASSERT_EQ(e.fault, "") << compiler.name;
      for (const size_t o : {0, 1})
        EXPECT_EQ(e.outputs[o].bytes, ways[0].outputs[o].bytes) << compiler.name << " " << o;
    }
  }
}

}  // namespace
}  // namespace arenac::cycles_test
