// Float sums of dequantised operands against the same sums in integers, on random shapes and parameters.
#include "frontend/integer_sums.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "frontend/import.h"
#include "frontend/inline.h"
#include "frontend/interpret.h"
#include "tests/random_graph.h"

namespace arenac {
namespace {

Graph in_integers(const Graph& graph) { return with_integer_sums(with_inlined_elements(graph)); }

// The nests of the top level that sum in each type, and the bytes of the constants that are read.
struct Sums {
  int integers = 0, floats = 0;
  int64_t constant_bytes = 0;
};

Sums sums_of(const Graph& graph) {
  Sums sums;
  std::vector<bool> seen(graph.tensors.size());
  for (const Node& node : graph.block) {
    for (const Nest& nest : std::get<Nests>(node.body))
      if (nest.combine == Combine::kSum) ++(is_float(nest.body->type) ? sums.floats : sums.integers);
    for (TensorId id : node.reads) {
      const Tensor& t = graph.tensors[id];
      if (t.constant && !seen[id]) sums.constant_bytes += static_cast<int64_t>(t.constant->bytes.size());
      seen[id] = true;
    }
  }
  return sums;
}

class Model {
 public:
  explicit Model(unsigned seed) : random_(seed) {}

  // A reduction of dequantised x by dequantised constants, perhaps with a bias and an activation; y is its
  // float value, q that value quantised.
  std::string text() {
    switch (below(6)) {
      case 0: {
        const int groups = one_of({1, 1, 2, 3}), in = groups * one_of({1, 2, 3}),
                  out = groups * one_of({1, 2, 4});
        convolution("Conv", groups, {out, in / groups, one_of({1, 2, 3}), one_of({1, 3})}, out, in);
        break;
      }
      case 1: {
        const int in = one_of({1, 2, 3}), out = one_of({1, 2, 5});
        convolution("ConvTranspose", 1, {in, out, 2, 3}, out, in);
        break;
      }
      case 2: {
        const int m = 1 + below(5), k = 1 + below(9), n = 1 + below(6), batch = 1 + below(3);
        shape_ = fmt::format("{}, {}, {}", batch, m, k);
        operate(fmt::format("MatMul(x, {})", weights({k, n}, 1)));
        if (one_in(2)) operate(fmt::format("Add({}, {})", last_, bias(n)));
        break;
      }
      case 3: {
        const int m = 1 + below(5), k = 1 + below(9), n = 1 + below(6);
        shape_ = fmt::format("{}, {}", m, k);
        const std::string w = weights({n, k}, 0);
        operate(fmt::format("Gemm<transB = 1>(x, {}, {})", w, bias(n)));
        break;
      }
      case 4:
        shape_ = "2, 3, 5, 7";
        operate(fmt::format(
            "AveragePool<kernel_shape = [2, 3], pads = [1, 1, 0, 1], count_include_pad = {}>(x)", below(2)));
        break;
      default:
        shape_ = "2, 3, 4, 5";
        operate("GlobalAveragePool(x)");
        break;
    }
    if (one_in(2)) operate(fmt::format("{}({})", one_in(2) ? "Relu" : "Sigmoid", last_));
    operate(fmt::format("Mul({}, one)", last_));
    const char* type = one_in(2) ? "int8" : "uint8";
    const int zero = type[0] == 'u' ? 128 : 3;
    return fmt::format(
        R"(<ir_version: 8, opset_import: ["" : 17]> g ({0}[{1}] x8) => ({2}, q)
<float one = {{1}}, float sx = {{{3}}}, {0} zx = {{{4}}}, float sy = {{{5}}}{6}>
{{ x = DequantizeLinear(x8, sx, zx)
{7}q = QuantizeLinear({2}, sy, zx) }})",
        type, shape_, last_, scale(), zero, 8 * scale(), constants_, nodes_);
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool one_in(int n) { return below(n) == 0; }
  int one_of(const std::vector<int>& all) {
    return all[static_cast<size_t>(below(static_cast<int>(all.size())))];
  }
  double scale() { return (1 + below(1000)) / 4096.0; }

  void operate(const std::string& expression) {
    last_ = fmt::format("t{}", count_++);
    nodes_ += fmt::format("{} = {}\n", last_, expression);
  }

  void constant(const std::string& type, const std::string& name, const std::vector<int>& shape,
                const std::function<double()>& element) {
    int size = 1;
    for (int d : shape) size *= d;
    std::string values;
    for (int k = 0; k < size; ++k) values += fmt::format("{}{}", k ? ", " : "", element());
    const std::string dims = shape.empty() ? "" : fmt::format("[{}]", fmt::join(shape, ", "));
    constants_ += fmt::format(", {}{} {} = {{{}}}", type, dims, name, values);
  }

  // Scales, and zero points, for all or one for each index of dimension `axis`.
  std::string weights(const std::vector<int>& shape, int axis) {
    const bool each = one_in(2), centred = one_in(2);
    const std::vector<int> parameters =
        each ? std::vector<int>{shape[static_cast<size_t>(axis)]} : std::vector<int>{};
    constant("int8", "w8", shape, [&] { return below(256) - 128; });
    constant("float", "sw", parameters, [&] { return scale(); });
    constant("int8", "zw", parameters, [&] { return centred ? 0 : below(9) - 4; });
    nodes_ += fmt::format("w = DequantizeLinear<axis = {}>(w8, sw, zw)\n", axis);
    return "w";
  }

  std::string bias(int n) {
    constant("int32", "b32", {n}, [&] { return below(2000) - 1000; });
    constants_ += fmt::format(", float sb = {{{}}}, int32 zb = {{0}}", scale());
    nodes_ += "b = DequantizeLinear(b32, sb, zb)\n";
    return "b";
  }

  void convolution(const char* op, int groups, const std::vector<int>& w, int out, int in) {
    shape_ = fmt::format("{}, {}, {}, {}", 1 + below(2), in, 3 + below(6), 3 + below(6));
    const std::string b = one_in(2) ? ", " + bias(out) : "";
    operate(fmt::format("{}<group = {}, pads = [1, 0, 1, 1], strides = [{}, {}]>(x, {}{})", op, groups,
                        1 + below(2), 1 + below(2), weights(w, op[4] == 'T' ? 1 : 0), b));
  }

  std::mt19937 random_;
  std::string shape_, constants_, nodes_, last_;
  int count_ = 0;
};

TEST(IntegerSums, AreWithinAQuantumOfFloatSums) {
  for (unsigned seed = 0; seed < 600; ++seed) {
    const std::string text = Model(seed).text();
    const Graph before = import_text(text), after = in_integers(before);
    verify(after);
    const Sums sums = sums_of(after);
    EXPECT_EQ(sums.floats, 0) << text << dump(after);
    EXPECT_GT(sums.integers, 0) << text << dump(after);
    const auto inputs = random_inputs(before, seed, Numbers::kAny);
    const auto want = interpret(before, inputs), got = interpret(after, inputs);
    const Value &real = *want[before.outputs[0]], &near = *got[after.outputs[0]];
    const Value &q = *want[before.outputs[1]], &r = *got[after.outputs[1]];
    for (int64_t k = 0; k < real.count(); ++k) {
      // The float sum's own error grows with what cancels in it.
      ASSERT_NEAR(load(near, k).f, load(real, k).f, 1e-3 + 1e-5 * std::abs(load(real, k).f)) << text;
      ASSERT_LE(std::abs(load(q, k).i - load(r, k).i), 1) << text;
    }
  }
}

Graph matrix_product(int inner, const std::string& x_type) {
  return import_text(fmt::format(R"(<ir_version: 8, opset_import: ["" : 17]>
    g ({1}[2, {0}] a8, {1}[{0}, 3] b8) => (float[2, 3] y) <float s = {{0.5}}, {1} z = {{0}}>
    {{ a = DequantizeLinear(a8, s, z) b = DequantizeLinear(b8, s, z) y = MatMul(a, b) }})",
                                 inner, x_type));
}

TEST(IntegerSums, StayFloatsWhereTheyMightOverflow) {
  EXPECT_EQ(sums_of(in_integers(matrix_product(131071, "int8"))).integers, 1);  // 2^14 a product
  EXPECT_EQ(sums_of(in_integers(matrix_product(131072, "int8"))).floats, 1);
  EXPECT_EQ(sums_of(in_integers(matrix_product(1, "int16"))).integers, 1);
  EXPECT_EQ(sums_of(in_integers(matrix_product(2, "int16"))).floats, 1);
}

TEST(IntegerSums, KeepFloatOperands) {
  const Graph graph = import_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (int8[2, 3] a8, float[3, 2] b) => (float[2, 2] y) <float s = {0.5}, int8 z = {0}>
    { a = DequantizeLinear(a8, s, z) y = MatMul(a, b) })");
  EXPECT_EQ(sums_of(in_integers(graph)).floats, 1);
}

TEST(IntegerSums, KeepScalesThatChangeAlongTheSum) {
  const Graph graph = import_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (int8[2, 3] a8, int8[3, 2] b8) => (float[2, 2] y) <float[3] s = {0.5, 1, 2}, int8[3] z = {0, 0, 0}>
    { a = DequantizeLinear<axis = 1>(a8, s, z) b = DequantizeLinear<axis = 0>(b8, s, z) y = MatMul(a, b) })");
  EXPECT_EQ(sums_of(in_integers(graph)).floats, 1);
}

// Through transpositions too, which fold at import.
TEST(IntegerSums, ReadConstantsAsTheyAreStored) {
  const Graph graph = import_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (int8[2, 3] x8) => (float[2, 2] y) <float s = {0.5}, int8 z = {0}, int8[2, 3] w8 = {1, 2, 3, 4, 5, 6}>
    { x = DequantizeLinear(x8, s, z) w = DequantizeLinear(w8, s, z) t = Transpose(w) y = MatMul(x, t) })");
  EXPECT_GE(sums_of(graph).constant_bytes, 24);
  const Graph after = in_integers(graph);
  EXPECT_EQ(sums_of(after).constant_bytes, 6);
  const auto inputs = random_inputs(graph, 1, Numbers::kAny);
  EXPECT_EQ(interpret(after, inputs)[after.outputs[0]]->bytes,
            interpret(graph, inputs)[graph.outputs[0]]->bytes);
}

}  // namespace
}  // namespace arenac
