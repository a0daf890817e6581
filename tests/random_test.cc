// The random numbers: their distribution over many elements, their independence, what they depend on.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "frontend/error.h"
#include "frontend/import.h"
#include "frontend/interpret.h"

namespace arenac::random_test {
namespace {

// y of the graph `signature` { body }.
Value run(const std::string& signature, const std::string& body, const std::vector<Value>& inputs = {}) {
  const Graph graph = import_text(
      fmt::format("<ir_version: 8, opset_import: [\"\" : 18]> g ({}) => (y) {{ {} }}", signature, body));
  return *interpret(graph, inputs)[graph.outputs[0]];
}

std::vector<double> numbers(const Value& value) {
  std::vector<double> all;
  for (int64_t k = 0; k < value.count(); ++k)
    all.push_back(convert(Type::kFloat64, value.type, load(value, k)).f);
  return all;
}

Value filled(Type type, Shape shape, double value) {
  Value all(type, std::move(shape));
  for (int64_t k = 0; k < all.count(); ++k) store(all, k, convert(type, Type::kFloat64, {.f = value}));
  return all;
}

constexpr int64_t kMany = 200'000;

double mean(const std::vector<double>& x, int power = 1, double centre = 0) {
  double sum = 0;
  for (double v : x) sum += std::pow(v - centre, power);
  return sum / static_cast<double>(x.size());
}

// The correlation of x[k] with x[k + distance].
double correlation(const std::vector<double>& x, size_t distance) {
  const double m = mean(x), variance = mean(x, 2, m);
  double sum = 0;
  for (size_t k = 0; k + distance < x.size(); ++k) sum += (x[k] - m) * (x[k + distance] - m);
  return sum / static_cast<double>(x.size() - distance) / variance;
}

// An estimate from n independent numbers strays less than five of its deviations, but for one in 10^6.
constexpr double kFive = 5 / 447.2;  // five over the root of kMany

TEST(RandomUniform, IsUniform) {
  for (const char* type : {"1", "11"}) {
    const auto x = numbers(run("", fmt::format("y = RandomUniform<shape = [400, 500], dtype = {}>()", type)));
    ASSERT_EQ(static_cast<int64_t>(x.size()), kMany);
    EXPECT_NEAR(mean(x), 0.5, kFive * std::sqrt(1 / 12.0));
    EXPECT_NEAR(mean(x, 2), 1 / 3.0, kFive * std::sqrt(4 / 45.0));
    EXPECT_NEAR(mean(x, 3), 1 / 4.0, kFive * std::sqrt(9 / 112.0));
    EXPECT_GE(*std::min_element(x.begin(), x.end()), 0);
    EXPECT_LT(*std::min_element(x.begin(), x.end()), 1e-4);
    EXPECT_LT(*std::max_element(x.begin(), x.end()), 1);
    EXPECT_GT(*std::max_element(x.begin(), x.end()), 1 - 1e-4);
    // Chi-square of 256 boxes, of pairs of neighbours in 16 x 16, and of pairs a row apart.
    for (const size_t distance : {0, 1, 2, 500}) {
      std::vector<double> boxes(256);
      for (size_t k = 0; k + distance < x.size(); ++k)
        ++boxes[distance == 0
                    ? static_cast<size_t>(x[k] * 256)
                    : static_cast<size_t>(x[k] * 16) * 16 + static_cast<size_t>(x[k + distance] * 16)];
      double chi = 0;
      const double expected = static_cast<double>(x.size() - distance) / 256;
      for (double n : boxes) chi += (n - expected) * (n - expected) / expected;
      EXPECT_NEAR(chi, 255, 5 * std::sqrt(2 * 255.0)) << distance;
    }
    for (const size_t distance : {1, 2, 3, 500}) EXPECT_NEAR(correlation(x, distance), 0, kFive) << distance;
  }
}

TEST(RandomUniform, ReachesFromLowToHigh) {
  const auto x = numbers(run("", "y = RandomUniform<shape = [20000], low = -3.0, high = 5.0>()"));
  EXPECT_NEAR(*std::min_element(x.begin(), x.end()), -3, 1e-2);
  EXPECT_NEAR(*std::max_element(x.begin(), x.end()), 5, 1e-2);
}

TEST(RandomNormal, IsNormal) {
  for (const char* type : {"1", "11"}) {
    const auto x = numbers(run(
        "", fmt::format("y = RandomNormal<shape = [200000], dtype = {}, mean = 2.0, scale = 0.5>()", type)));
    EXPECT_NEAR(mean(x), 2, kFive * 0.5);
    EXPECT_NEAR(mean(x, 2, 2), 0.25, kFive * 0.25 * std::sqrt(2.0));
    EXPECT_NEAR(mean(x, 3, 2), 0, kFive * 0.125 * std::sqrt(15.0));
    EXPECT_NEAR(mean(x, 4, 2), 3 * 0.0625, kFive * 0.0625 * std::sqrt(96.0));
    EXPECT_NEAR(correlation(x, 1), 0, kFive);
    EXPECT_GT(*std::max_element(x.begin(), x.end()), 2 + 0.5 * 3.8);
    EXPECT_LT(*std::min_element(x.begin(), x.end()), 2 - 0.5 * 3.8);
  }
}

TEST(Random, DependsOnSeedNameAndIndexAlone) {
  const auto draw = [](const std::string& seed) {
    return numbers(run("", fmt::format("y = RandomUniform<shape = [50] {}>()", seed)));
  };
  EXPECT_EQ(draw(""), draw(""));
  EXPECT_EQ(draw(", seed = 1.0"), draw(", seed = 1.0"));
  const std::vector<std::vector<double>> all = {draw(""), draw(", seed = 0.0"), draw(", seed = 1.0"),
                                                draw(", seed = 2.0")};
  const std::set<std::vector<double>> distinct(all.begin(), all.end());
  EXPECT_EQ(distinct.size(), all.size());
  const auto two = numbers(run("",
                               "a = RandomUniform<shape = [50]>() b = RandomUniform<shape = [50]>() "
                               "y = Equal(a, b)"));
  EXPECT_LT(mean(two), 0.1);
  // Sequences of seeds that differ little do not overlap, shifted or not.
  const auto one = draw(", seed = 1.0");
  for (const double v : draw(", seed = 1.0000001")) EXPECT_EQ(std::count(one.begin(), one.end(), v), 0);
}

// Facts about numpy: the first numbers of RandomState(0) and of RandomState(42).
TEST(Random, OfASeedIsThatOfTheReferenceImplementation) {
  const auto expect = [](const std::string& node, const std::vector<double>& want) {
    const auto got = numbers(run("", "y = " + node + "()"));
    for (size_t k = 0; k < want.size(); ++k) EXPECT_NEAR(got.at(k), want[k], 1e-8) << node << " " << k;
  };
  expect("RandomUniform<dtype = 11, shape = [4], seed = 0.0>",
         {0.5488135, 0.71518937, 0.60276338, 0.54488318});
  expect("RandomUniform<dtype = 11, shape = [3], seed = 42.0>", {0.37454012, 0.95071431, 0.73199394});
  expect("RandomNormal<dtype = 11, shape = [4], seed = 0.0>",
         {1.76405235, 0.40015721, 0.97873798, 2.2408932});
  expect("RandomNormal<dtype = 11, shape = [3], seed = 42.0>", {0.49671415, -0.1382643, 0.64768854});
}

TEST(Random, OfASeedIsAsRandom) {
  for (const double p : {0.0, 0.3, 0.8, 1.0}) {
    const auto x = numbers(
        run("float[4096] p", "y = Bernoulli<dtype = 6, seed = 3.0>(p)", {filled(Type::kFloat32, {4096}, p)}));
    EXPECT_NEAR(mean(x), p, 5 / 64.0 * std::sqrt(p * (1 - p))) << p;
  }
}

// The 836th number of this seed rounds to 1 as a float32.
TEST(Random, OfASeedIsBelowOne) {
  for (const double p : {0.0, 1.0}) {
    const auto x = numbers(run("float[836] p", "y = Bernoulli<dtype = 6, seed = 43517.0>(p)",
                               {filled(Type::kFloat32, {836}, p)}));
    EXPECT_EQ(mean(x), p);
  }
  EXPECT_LT(numbers(run("", "y = RandomUniform<shape = [836], seed = 43517.0>()")).back(), 1);
}

TEST(Random, LikeTakesShapeAndType) {
  const Value x = filled(Type::kFloat16, {3, 7}, 1);
  EXPECT_EQ(run("float16[3, 7] x", "y = RandomNormalLike(x)", {x}).type, Type::kFloat16);
  EXPECT_EQ(run("float16[3, 7] x", "y = RandomUniformLike<dtype = 11>(x)", {x}).type, Type::kFloat64);
  EXPECT_EQ(run("float16[3, 7] x", "y = RandomUniformLike(x)", {x}).shape, (Shape{3, 7}));
  EXPECT_THROW(run("int32[3] x", "y = RandomUniformLike(x)"), UserError);
}

TEST(Bernoulli, DrawsOnesAsOftenAsAsked) {
  for (const double p : {0.0, 0.1, 0.5, 1.0}) {
    const auto x =
        numbers(run("float[200000] p", "y = Bernoulli<dtype = 6>(p)", {filled(Type::kFloat32, {kMany}, p)}));
    EXPECT_NEAR(mean(x), p, kFive * std::sqrt(p * (1 - p))) << p;
    EXPECT_NEAR(mean(x, 2), mean(x), 0);
  }
}

TEST(Multinomial, DrawsClassesByTheirWeight) {
  Value x(Type::kFloat32, {2, 4});
  const double weights[2][4] = {{1, 2, 3, 4}, {0, 0, 5, 0}};
  for (int64_t k = 0; k < 8; ++k) store(x, k, {.f = std::log(weights[k / 4][k % 4])});
  const auto drawn = numbers(run("float[2, 4] x", "y = Multinomial<sample_size = 200000>(x)", {x}));
  std::vector<double> count(8);
  for (size_t k = 0; k < drawn.size(); ++k)
    ++count[k / static_cast<size_t>(kMany) * 4 + static_cast<size_t>(drawn[k])];
  for (size_t c = 0; c < 4; ++c) {
    const double p = weights[0][c] / 10;
    EXPECT_NEAR(count[c] / kMany, p, kFive * std::sqrt(p * (1 - p)));
    EXPECT_EQ(count[4 + c], c == 2 ? kMany : 0);
  }
}

TEST(Dropout, DropsInTrainingOnly) {
  const std::string signature = "float[200000] x, float ratio, bool training";
  const auto dropped = [&](const std::string& output, double ratio, bool training) {
    return numbers(run(signature, "z, mask = Dropout(x, ratio, training) y = Cast<to = 1>(" + output + ")",
                       {filled(Type::kFloat32, {kMany}, 3), filled(Type::kFloat32, {}, ratio),
                        filled(Type::kBool, {}, training)}));
  };
  for (const double ratio : {0.0, 0.25, 0.9, 1.0}) {
    const auto y = dropped("z", ratio, true), mask = dropped("mask", ratio, true);
    EXPECT_NEAR(mean(mask), 1 - ratio, kFive * std::sqrt(ratio * (1 - ratio)));
    for (size_t k = 0; k < y.size(); ++k) ASSERT_NEAR(y[k], mask[k] != 0 ? 3 / (1 - ratio) : 0, 1e-4) << k;
    EXPECT_EQ(dropped("z", ratio, false), std::vector<double>(kMany, 3));
    EXPECT_EQ(mean(dropped("mask", ratio, false)), 1);
  }
}

}  // namespace
}  // namespace arenac::random_test
