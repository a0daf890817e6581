// Weights that a model keeps narrow stay narrow where that is worth it, and every bit of the results stays.
#include "frontend/narrow_constants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <set>

#include "frontend/import.h"
#include "frontend/rewrites.h"
#include "scheduler/schedule.h"
#include "scheduler/storage.h"
#include "scheduler/weight_blocks.h"
#include "tests/emitted.h"
#include "tests/random_graph.h"
#include "tests/same_bits.h"

namespace arenac {
namespace {

Graph graph_of(const std::string& model) {
  return import_text(R"(<ir_version: 10, opset_import: ["" : 21]> g )" + model);
}

constexpr ConstantWidths kWide = {ConstantWidth::kWide}, kNarrow = {ConstantWidth::kNarrow};

Graph with_widths(const Graph& graph, const ConstantWidths& widths) {
  return rewritten(graph, {layerwise_peak, kEveryConstant, widths});
}

// Of the constants that are read.
int64_t constant_bytes(const Graph& graph) {
  std::set<TensorId> read;
  for (const Node& top : graph.block)
    visit_nodes(top, [&](const Node& node) {
      for (TensorId id : node.reads)
        if (graph.tensors[id].constant) read.insert(id);
    });
  int64_t bytes = 0;
  for (TensorId id : read) bytes += bytes_of(graph.tensors[id]);
  return bytes;
}

// An initialiser of numbers in [low, high), the same ones each time.
std::string numbers(const std::string& type, const std::string& name, const Shape& shape, int low, int high,
                    double unit = 1) {
  std::vector<double> values;
  for (int64_t k = 0; k < element_count(shape); ++k)
    values.push_back((low + static_cast<int>((k * 37 + 11) % 101 % (high - low))) * unit);
  const std::string dims = shape.empty() ? "" : fmt::format("[{}]", fmt::join(shape, ", "));
  return fmt::format("{}{} {} = {{{}}}", type, dims, name, fmt::join(values, ", "));
}

// How weights are kept: their type, and what has a scale and zero point of its own.
struct Kept {
  const char* type;
  enum Each { kTensor, kAxis, kBlock } each;
  bool has_zeros;
  friend void PrintTo(const Kept& kept, std::ostream* out) {
    *out << kept.type << " " << kept.each << (kept.has_zeros ? " with zeros" : "");
  }
};

struct Weights {
  std::string initializers, node;  // that makes w of them
};

// The last dimension is that of axes, the first that of blocks.
Weights weights(const Kept& kept, const Shape& shape) {
  const std::string type = kept.type;
  // The text of a model has no numbers of these types.
  if (type.ends_with("float16"))
    return {numbers("float", "q32", shape, -50, 50, 0.0625),
            fmt::format("q = Cast<to = {}>(q32)  w = Cast<to = 1>(q)", type[0] == 'b' ? 16 : 10)};
  const bool is_small = type.ends_with("int4"), is_unsigned = type[0] == 'u';
  const int low = is_unsigned ? 0 : is_small ? -8 : -50, high = is_small ? low + 16 : low + 100;
  Shape parameters;
  if (kept.each == Kept::kAxis) parameters = {shape.back()};
  if (kept.each == Kept::kBlock) parameters = shape, parameters[0] /= 4;
  const std::string attributes = kept.each == Kept::kTensor ? ""
                                 : kept.each == Kept::kAxis ? fmt::format("<axis = {}>", shape.size() - 1)
                                                            : "<axis = 0, block_size = 4>";
  const std::string stored = is_small ? "int8" : type;
  const auto in_type = [&](const char* name) {
    return is_small ? fmt::format("{0} = Cast<to = {1}>({0}8)  ", name, is_unsigned ? 21 : 22) : "";
  };
  const std::string digit = is_small ? "8" : "";
  return {
      numbers(stored, "q" + digit, shape, low, high) + ", " +
          numbers("float", "s", parameters, 1, 90, 0.0123) +
          (kept.has_zeros ? ", " + numbers(stored, "z" + digit, parameters, is_unsigned ? 0 : -5, 7) : ""),
      in_type("q") + (kept.has_zeros ? in_type("z") : "") +
          fmt::format("w = DequantizeLinear{}(q, s{})", attributes, kept.has_zeros ? ", z" : "")};
}

struct Use {
  const char* interface;
  Shape weights;
  const char* nodes;
};

// MatMul of one row and of several, Gemm, Conv, Gather, LSTM, of two nodes, transposed for one of them.
const Use kUses[] = {
    {"(float[1, 24] x) => (float[1, 40] y)", {24, 40}, "y = MatMul(x, w)"},
    {"(float[7, 24] x) => (float[7, 40] y)", {24, 40}, "y = MatMul(x, w)"},
    {"(float[2, 24] x) => (float[2, 40] y)", {40, 24}, "y = Gemm<transB = 1>(x, w)"},
    {"(float[1, 8, 5, 5] x) => (float[1, 16, 5, 5] y)",
     {16, 8, 3, 3},
     "c = Conv<pads = [1, 1, 1, 1]>(x, w)  y = Relu(c)"},
    {"(int64[3] x) => (float[3, 24] y)", {40, 24}, "y = Gather(w, x)"},
    {"(float[5, 1, 8] x) => (float[5, 1, 1, 8] y)",
     {32, 8},
     "a = Constant<value_ints = [0]>()  v = Unsqueeze(w, a)  y = LSTM<hidden_size = 8>(x, v, v)"},
    {"(float[4, 24] x) => (float[4, 24] y)",
     {24, 40},
     "a = MatMul(x, w)  b = Relu(a)  t = Transpose(w)  y = MatMul(b, t)"},
    {"(float[3, 24] x) => (float[3, 24] y, float[3, 24] v)",
     {24, 24},
     "y = MatMul(x, w)  r = Relu(x)  v = MatMul(r, w)"},
    {"(float[1, 60] x) => (float[1, 16] y)",
     {12, 80},
     "f = Constant<value_ints = [60, 16]>()  v = Reshape(w, f)  y = MatMul(x, v)"},
};

class KeptConstants : public testing::TestWithParam<Kept> {};

TEST_P(KeptConstants, AreSmallerAndKeepEveryBit) {
  for (const Use& use : kUses) {
    const auto& [initializers, node] = weights(GetParam(), use.weights);
    SCOPED_TRACE(use.nodes);
    // Folding forgets what takes so many operations.
    const bool is_long = GetParam().each == Kept::kBlock && GetParam().has_zeros &&
                         std::string_view(use.nodes).find("Reshape") != std::string_view::npos;
    const Graph imported =
        graph_of(fmt::format("{} <{}> {{ {}  {} }}", use.interface, initializers, node, use.nodes));
    const Graph wide = with_widths(imported, kWide), narrow = with_widths(imported, kNarrow);
    for (unsigned seed = 0; seed < 3; ++seed) assert_same_bits(wide, narrow, seed, Numbers::kWhole);
    const int64_t floats = 4 * element_count(use.weights);
    EXPECT_GE(constant_bytes(wide), floats);
    if (!is_long) {
      EXPECT_LE(constant_bytes(narrow), constant_bytes(wide) - floats / 8) << dump(narrow);
    }
  }
}

// On vectors with blocks of weights that a cache of 256 bytes does not hold, and on scalars.
TEST_P(KeptConstants, KeepEveryBitInC) {
  std::vector<Emitted> batch;
  for (const char* name : {"portable", "cortex-m4"}) {
    const auto row = std::ranges::find(targets(), std::string(name), &Target::name);
    Target target = *row;
    target.costs.cache = std::min<int64_t>(target.costs.cache, 256);
    for (const Use& use : kUses)
      for (const ConstantWidths& widths : {kWide, kNarrow}) {
        const auto& [initializers, node] = weights(GetParam(), use.weights);
        auto graph = std::make_unique<const Graph>(with_weight_blocks(
            with_widths(
                graph_of(fmt::format("{} <{}> {{ {}  {} }}", use.interface, initializers, node, use.nodes)),
                widths),
            target));
        const auto inputs = random_inputs(*graph, 1, Numbers::kWhole);
        Schedule schedule = scheduler_named("layerwise").schedule(*graph, target, kNoDeadline);
        const Way way = {.target = static_cast<size_t>(row - targets().begin())};
        batch.push_back(
            {compile_schedule(std::move(graph), std::move(schedule), fmt::format("u{}", batch.size()), way),
             inputs});
      }
  }
  for (const CompilerRow& compiler : {compilers().front(), compilers().back()}) {
    run_emitted(batch, compiler);
    for (size_t k = 0; k < batch.size(); k += 2) {
      ASSERT_EQ(batch[k].fault + batch[k + 1].fault, "");
      for (size_t y = 0; y < batch[k].outputs.size(); ++y)
        EXPECT_EQ(batch[k].outputs[y].bytes, batch[k + 1].outputs[y].bytes)
            << compiler.name << " " << kUses[k / 2 % std::size(kUses)].nodes;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, KeptConstants,
                         testing::Values(Kept{"int8", Kept::kTensor, false}, Kept{"int8", Kept::kAxis, false},
                                         Kept{"uint8", Kept::kAxis, true}, Kept{"uint8", Kept::kTensor, true},
                                         Kept{"int8", Kept::kBlock, true}, Kept{"int4", Kept::kBlock, false},
                                         Kept{"uint4", Kept::kAxis, true},
                                         Kept{"float16", Kept::kTensor, false},
                                         Kept{"bfloat16", Kept::kTensor, false}));

std::string product(const std::string& outputs, const Shape& shape, int64_t rows) {
  const auto& [initializers, node] = weights({"int8", Kept::kTensor, false}, shape);
  return fmt::format("(float[{}, {}] x) => ({}) <{}> {{ {}  y = MatMul(x, w) }}", rows, shape[0],
                     fmt::format(fmt::runtime(outputs), rows, shape[1]), initializers, node);
}

TEST(NarrowConstants, StayFloatsWhereFewBytesAreSaved) {
  const Graph tiny = graph_of(product("float[{}, {}] y", {8, 8}, 1));
  EXPECT_EQ(constant_bytes(with_widths(tiny, kNarrow)), 8 * 8 * 4);
}

// A graph output is computed of them in each run.
TEST(NarrowConstants, ArePassedOnAsFloats) {
  const Graph graph = graph_of(product("float[{0}, {1}] y, float[24, 40] w", {24, 40}, 1));
  const Graph narrow = with_widths(graph, kNarrow);
  assert_same_bits(with_widths(graph, kWide), narrow, 1, Numbers::kWhole);
  EXPECT_EQ(constant_bytes(narrow), 24 * 40);
}

// As floats these have 3,840 bytes: a last cache of so many holds them.
TEST(NarrowConstants, AreReadOncePerRunWhereACacheHoldsOthers) {
  const Graph once = graph_of(product("float[{}, {}] y", {24, 40}, 1)),
              again = graph_of(product("float[{}, {}] y", {24, 40}, 5));
  const auto bytes = [](const Graph& graph, int64_t cache) {
    return constant_bytes(with_widths(graph, {ConstantWidth::kAuto, cache}));
  };
  EXPECT_EQ(bytes(once, 3840 / 32 - 1), 24 * 40);
  EXPECT_EQ(bytes(once, 3840 / 32), 24 * 40 * 4);
  EXPECT_EQ(bytes(again, 3840 / 32 - 1), 24 * 40 * 4);
  EXPECT_EQ(bytes(again, 0), 24 * 40);
}

// The weights of a model of 16-bit floats, whose operators compute in float32.
TEST(NarrowConstants, AreHalvesOfModelsOfHalves) {
  const Graph graph = graph_of("(float16[1, 24] x) => (float16[1, 40] y) <" +
                               numbers("float", "f", {24, 40}, -50, 50, 0.0625) +
                               "> { w = Cast<to = 10>(f)  y = MatMul(x, w) }");
  const Graph wide = with_widths(graph, kWide), narrow = with_widths(graph, kNarrow);
  assert_same_bits(wide, narrow, 1, Numbers::kWhole);
  EXPECT_EQ(constant_bytes(wide), 24 * 40 * 4);
  EXPECT_EQ(constant_bytes(narrow), 24 * 40 * 2);
  EXPECT_EQ(constant_bytes(with_widths(graph, {ConstantWidth::kAuto, 0})), 24 * 40 * 4);
}

}  // namespace
}  // namespace arenac
