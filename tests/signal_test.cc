// Fourier transforms beside their definition in complex numbers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <random>

#include "frontend/error.h"
#include "frontend/import.h"
#include "frontend/interpret.h"
#include "tests/values.h"

namespace arenac {
namespace {

using Complex = std::complex<double>;

// `length` elements of x, zeros behind it, turned by `direction` (-1: forwards).
std::vector<Complex> turned(std::vector<Complex> x, size_t length, double direction) {
  x.resize(length);
  std::vector<Complex> y(length);
  const double turn = direction * 2 * std::acos(-1.0) / static_cast<double>(length);
  for (size_t k = 0; k < length; ++k)
    for (size_t n = 0; n < length; ++n) y[k] += x[n] * std::polar(1.0, turn * static_cast<double>(k * n));
  if (direction > 0)
    for (Complex& c : y) c /= static_cast<double>(length);
  return y;
}

// The whole spectrum of a real signal from its bins 0 .. length/2, whose ends are real.
std::vector<Complex> with_conjugates(std::vector<Complex> bins, size_t length) {
  bins.resize(length / 2 + 1);
  std::vector<Complex> all(length);
  for (size_t k = 0; k < length; ++k) all[k] = 2 * k <= length ? bins[k] : std::conj(bins[length - k]);
  all[0] = all[0].real();
  if (length % 2 == 0) all[length / 2] = all[length / 2].real();
  return all;
}

struct Direction {
  bool inverse, onesided;
};

std::string model(Direction d, int opset, int64_t extent, int64_t components, std::optional<size_t> length) {
  return fmt::format(
      "<ir_version: 8, opset_import: [\"\" : {}]> g (float[{}, {}] x) => (float[a, b, c] y) {} {{\n"
      "s = Constant<value_ints = [1, {}, {}]>() r = Reshape(x, s) y = DFT<inverse = {}, onesided = {}>(r{}) "
      "}}",
      opset, extent, components, length ? fmt::format("<int64 n = {{{}}}>", *length) : "", extent, components,
      int{d.inverse}, int{d.onesided}, length ? ", n" : "");
}

void check(Direction d, int opset, int64_t extent, int64_t components, std::optional<size_t> length) {
  const std::string text = model(d, opset, extent, components, length);
  SCOPED_TRACE(text);
  std::mt19937 random(static_cast<unsigned>(extent));
  std::vector<double> elements;
  std::vector<Complex> x;
  for (int64_t k = 0; k < extent; ++k) {
    for (int64_t c = 0; c < components; ++c)
      elements.push_back(static_cast<double>(random() % 2049) / 1024 - 1);
    x.emplace_back(elements[k * components], components == 2 ? elements.back() : 0);
  }
  const bool real = d.inverse && d.onesided;
  const size_t n = length.value_or(real ? 2 * (extent - 1) : extent);
  if (!d.inverse || !d.onesided) x.resize(std::min(x.size(), n));
  auto expected = turned(real ? with_conjugates(x, n) : x, n, d.inverse ? 1 : -1);
  if (d.onesided && !d.inverse) expected.resize(n / 2 + 1);
  const Graph graph = import_text(text);
  const auto y = interpret(graph, {floats({extent, components}, elements)}).at(graph.outputs[0]);
  ASSERT_EQ(y->shape, (Shape{1, static_cast<int64_t>(expected.size()), real ? 1 : 2}));
  for (int64_t e = 0; e < y->count(); ++e) {
    const Complex& bin = expected[real ? e : e / 2];
    const double exact = !real && e % 2 ? bin.imag() : bin.real();
    EXPECT_NEAR(load(*y, e).f, exact, std::abs(exact) / (1 << 24) + 1e-10) << e;  // rounded once
  }
}

TEST(Dft, IsItsDefinitionInEveryDirection) {
  for (int opset : {17, 20})
    for (const Direction d : {Direction{false, false}, {false, true}, {true, false}, {true, true}})
      for (int64_t extent : {2, 3, 4, 7})
        for (int64_t components : {1, 2}) {
          if (components == 1 && d.inverse && d.onesided) continue;
          check(d, opset, extent, components, std::nullopt);
          for (size_t length : {1, 2, 5, 6, 15}) check(d, opset, extent, components, length);
        }
}

// Lengths whose transforms take several steps: of even and odd factors, powers, with zeros behind the signal
// and without its end.
TEST(Dft, InStepsIsItsDefinition) {
  for (const Direction d : {Direction{false, false}, {false, true}, {true, false}, {true, true}})
    for (int64_t components : {1, 2}) {
      if (components == 1 && d.inverse && d.onesided) continue;
      for (int64_t extent : {64, 105, 225, 250, 1024}) check(d, 20, extent, components, std::nullopt);
      for (size_t length : {96, 343, 512}) check(d, 20, 200, components, length);
    }
}

TEST(Dft, RefusesWhatHasNoMeaning) {
  const auto refusal = [](int64_t extent, int64_t components) -> std::string {
    try {
      import_text(model({true, true}, 20, extent, components, std::nullopt));
    } catch (const UserError& error) {
      return error.what();
    }
    return "imported";
  };
  EXPECT_THAT(refusal(4, 1), testing::HasSubstr("needs a complex signal"));
  EXPECT_THAT(refusal(1, 2), testing::HasSubstr("a transform of length 0"));
}

}  // namespace
}  // namespace arenac
