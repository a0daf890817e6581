// Sums in the order that needs least memory.
#include "scheduler/sums.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "frontend/import.h"
#include "frontend/inline.h"
#include "scheduler/ordered.h"
#include "tests/random_graph.h"
#include "tests/same_bits.h"

namespace arenac::sums_test {
namespace {

using testing::HasSubstr;

Graph graph_of(const std::string& text) {
  return with_inlined_elements(import_text(R"(<ir_version: 8, opset_import: ["" : 17]> g )" + text));
}

int64_t peak_of(const Graph& graph) { return best_order(graph).report.peak; }

// Each of four tensors, of 400 bytes, is made of the one before it; the last is added first.
std::string chain(const char* type, const char* sum) {
  return fmt::format(
      "({0}[100] x) => ({0}[100] y) {{ z = Constant<value_int = 0>()  a = CumSum(x, z)"
      "  b = CumSum(a, z)  c = CumSum(b, z)  d = CumSum(c, z)  {1}  y = CumSum(s, z) }}",
      type, sum);
}

TEST(Sums, AreAddedUpAsTheirTermsComeToBe) {
  const Graph before = graph_of(chain("int32", "p = Add(d, c)  q = Add(p, b)  s = Add(q, a)"));
  const Graph after = with_reordered_sums(before);
  for (unsigned seed = 0; seed < 3; ++seed) assert_same_bits(before, after, seed, Numbers::kWhole);
  EXPECT_EQ(peak_of(before), 4 * 400);
  EXPECT_EQ(peak_of(after), 3 * 400);
}

TEST(Sums, KeepTheirTail) {
  const Graph before =
      graph_of(chain("float", "p = Add(a, b)  q = Add(c, d)  r = Add(p, q)  t = Mul(r, r)  s = Relu(t)"));
  const Graph other = graph_of(chain("float", "p = Add(d, c)  q = Add(p, b)  r = Add(a, q)  s = Relu(r)"));
  for (const Graph& graph : {before, other}) {
    const Graph after = with_reordered_sums(graph);
    for (unsigned seed = 0; seed < 3; ++seed) assert_same_bits(graph, after, seed, Numbers::kWhole);
    EXPECT_LE(peak_of(after), peak_of(graph));
  }
  EXPECT_EQ(peak_of(with_reordered_sums(other)), 3 * 400);
}

TEST(Sums, StayWhereAnIntermediateOneIsOfUse) {
  const Graph before = graph_of(
      "(int32[100] x) => (int32[100] y, int32[100] q) { z = Constant<value_int = 0>()  a = CumSum(x, z)"
      "  b = CumSum(a, z)  c = CumSum(b, z)  d = CumSum(c, z)  p = Add(d, c)  q = Add(p, b)  y = Add(q, a) "
      "}");
  EXPECT_EQ(dump(with_reordered_sums(before)), dump(before));
}

// Sums of random trees over chains and each other.
TEST(Sums, OfRandomTreesKeepTheirBits) {
  int changed = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
    std::string body;
    std::vector<std::string> names = {"x"};
    std::vector<std::string> sums;
    const auto define = [&](const std::string& value) {
      names.push_back(fmt::format("v{}", names.size()));
      body += fmt::format("  {} = {}\n", names.back(), value);
      return names.back();
    };
    for (size_t k = 0; k < 4 + below(8); ++k)
      define(fmt::format("CumSum({}, z)", names[below(names.size())]));
    std::vector<std::string> terms(names.begin() + 1, names.end());
    while (terms.size() > 1) {
      const size_t a = below(terms.size());
      const std::string first = terms[a];
      terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(a));
      const size_t b = below(terms.size());
      terms[b] =
          define(fmt::format("Add({}, {})", first, below(9) == 0 ? names[below(names.size())] : terms[b]));
    }
    const Graph before = graph_of("(int32[9] x) => (int32[9] y) { z = Constant<value_int = 0>()\n" + body +
                                  "  y = CumSum(" + terms[0] + ", z) }");
    const Graph after = with_reordered_sums(before);
    assert_same_bits(before, after, seed, Numbers::kWhole);
    ASSERT_LE(peak_of(after), peak_of(before));
    changed += peak_of(after) < peak_of(before);
  }
  EXPECT_GT(changed, 10);
}

}  // namespace
}  // namespace arenac::sums_test
