// Models of a stretch of time as models of a stream: calls in turn against one call with all of it.
#include "frontend/stream.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "driver/compile.h"
#include "frontend/error.h"
#include "frontend/interpret.h"
#include "frontend/rewrites.h"
#include "scheduler/storage.h"
#include "tests/emitted.h"
#include "tests/random_graph.h"

namespace arenac::stream_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kMoments = 12;

// "{0.5, -1, ...}"
std::string numbers(int count, double unit = 0.125) {
  std::vector<double> all;
  for (int k = 0; k < count; ++k) all.push_back(unit * (k * 7 % 11 - 5));
  return fmt::format("{{{}}}", fmt::join(all, ", "));
}

struct Model {
  const char* name;
  std::string text;         // $T: moments of x, $N: of y
  int64_t in = 2, out = 2;  // the dimensions of x and y that are time
  int64_t pace = 1;         // a call brings a multiple of as many
};

const std::vector<Model>& causal_models() {
  static const std::vector<Model> all = {
      {"dilated", "(float[1, 3, $T] x) => (float[1, 4, $N] y) <float[4, 3, 3] w = " + numbers(36) +
                      "> { y = Conv<dilations = [2], pads = [4, 0]>(x, w) }"},
      {"padded_by_a_node", "(float[1, 3, $T] x) => (float[1, 4, $N] y) <float[4, 3, 3] w = " + numbers(36) +
                               ", int64[6] p = {0, 0, 2, 0, 0, 0}> { a = Pad(x, p)  y = Conv(a, w) }"},
      {"cut_off", "(float[1, 3, $T] x) => (float[1, 3, $N] y) <float[3, 3, 3] w = " + numbers(27) +
                      ", int64[1] from = {0}, int64[1] to = {-2}, int64[1] axis = {2}> {\n"
                      "  c = Conv<pads = [2, 2]>(x, w)  s = Slice(c, from, to, axis)  r = Relu(s)\n"
                      "  d = Conv<pads = [2, 2]>(r, w)  e = Slice(d, from, to, axis)  y = Add(e, x) }"},
      {"rows", "(float[1, 2, $T, 5] x) => (float[1, 3, $N, 5] y) <float[3, 2, 3, 3] w = " + numbers(54) +
                   "> { c = Conv<pads = [2, 1, 0, 1]>(x, w)  y = Tanh(c) }"},
      {"every_other",
       "(float[1, 3, $T] x) => (float[1, 2, $N] y) <float[2, 3, 4] w = " + numbers(24) +
           ", float[2, 2, 2] v = " + numbers(8) +
           "> { c = Conv<strides = [2], pads = [2, 0]>(x, w)  y = Conv<pads = [1, 0]>(c, v) }",
       2, 2, 2},
      {"average",
       "(float[1, 3, $T] x) => (float[1, 3, $N] y) {\n"
       "  y = AveragePool<kernel_shape = [3], pads = [2, 0], count_include_pad = 1>(x) }"},
      {"average_over_a_growing_start",
       "(float[1, 3, $T] x) => (float[1, 3, $N] y) {\n"
       "  a = AveragePool<kernel_shape = [4], pads = [3, 0]>(x)\n"
       "  y = AveragePool<kernel_shape = [3], strides = [2], pads = [1, 0]>(a) }",
       2, 2, 2},
      {"residual", "(float[1, 3, $T] x) => (float[1, 3, $N] y) <float[3, 3, 3] w = " + numbers(27) +
                       "> { c = Conv<pads = [2, 0]>(x, w)  r = Relu(c)  y = Add(r, x) }"},
      {"gru",
       "(float[$T, 1, 3] x) => (float[$N, 1, 4] y) <float[1, 12, 3] w = " + numbers(36) +
           ", float[1, 12, 4] r = " + numbers(48) +
           ", int64[1] direction = {1}> { h = GRU<hidden_size = 4>(x, w, r)  y = Squeeze(h, direction) }",
       0, 0},
      {"layers_of_lstms", "(float[1, 3, $T] x) => (float[1, 4, $N] y) <float[3, 3, 3] v = " + numbers(27) +
                              ", float[1, 16, 3] w = " + numbers(48) +
                              ", float[1, 16, 4] r = " + numbers(64) +
                              ", int64[1] direction = {1}> {\n"
                              "  c = Conv<pads = [2, 0]>(x, v)  t = Transpose<perm = [2, 0, 1]>(c)\n"
                              "  a = LSTM<hidden_size = 4>(t, w, r)  b = Squeeze(a, direction)\n"
                              "  d = LSTM<hidden_size = 4>(b, r, r)  e = Squeeze(d, direction)\n"
                              "  y = Transpose<perm = [1, 2, 0]>(e) }"},
      {"scan",
       "(float[$T, 3] x) => (float[$N, 3] y) <float[3] zeros = {0, 0, 0}, float half = {0.5}> {\n"
       "  last, y = Scan<num_scan_inputs = 1, body = b (float[3] s, float[3] v) => (float[3] n, float[3] o) "
       "{\n"
       "    a = Add(s, v)  n = Mul(a, half)  o = Neg(n) }>(zeros, x) }",
       0, 0},
      {"depthwise",
       "(float[1, 3, $T] x) => (float[1, 3, $N] y) <float[3, 1, 2] w = " + numbers(6) +
           "> { a = Conv<group = 3, pads = [1, 0]>(x, w)  y = Conv<group = 3, pads = [1, 0]>(a, w) }"},
      {"two_pasts", "(float[1, 2, $T] x) => (float[1, 2, $N] y) <float[2, 2, 3] w = " + numbers(12) +
                        ", float[2, 2, 2] v = " + numbers(8) +
                        "> { a = Conv<pads = [2, 0]>(x, w)  b = Conv<dilations = [5], pads = [5, 0]>(x, v)\n"
                        "  c = Add(a, b)  y = Mul(c, x) }"},
      {"moments_first",
       "(float[$T, 4] x) => (float[$N, 4] y) <float[4, 4] m = " + numbers(16) +
           ", float[4] g = " + numbers(4) + ", float[4, 4, 3] w = " + numbers(48) +
           ", int64[1] zero = {0}> {\n"
           "  a = MatMul(x, m)  b = LayerNormalization(a, g)  c = Transpose(b)  d = Unsqueeze(c, zero)\n"
           "  e = Conv<pads = [2, 0]>(d, w)  f = Squeeze(e, zero)  h = Transpose(f)  y = Softmax(h) }",
       0, 0},
      {"frames",  // whose transform takes two steps: each frame's moments are then along two axes
       "(float[1, $T] x) => (float[1, $N, 65, 2] y) <int64[4] p = {0, 126, 0, 0}, int64 step = {2}, int64 n "
       "= "
       "{128}> { a = Pad(x, p)  y = STFT(a, step, , n) }",
       1, 1, 2},
      // Of what it reads nothing is behind the last moment of a call, though its operand has more.
      {"cut_off_later", "(float[1, 3, $T] x) => (float[1, 3, $N] y) <float[3, 3, 3] w = " + numbers(27) +
                            ", int64[1] from = {0}, int64[1] to = {-2}, int64[1] axis = {2}> {\n"
                            "  c = Conv<pads = [2, 2]>(x, w)  d = Conv<pads = [2, 0]>(c, w)\n"
                            "  y = Slice(d, from, to, axis) }"},
      {"quantised",
       "(int8[1, 3, $T] x) => (int8[1, 4, $N] y) <float sx = {0.1}, int8 zx = {3}, float sw = {0.05}, int8 "
       "zw "
       "= {0},\n"
       "  int8[4, 3, 3] w = " +
           numbers(36, 9) + ", int8[4, 4, 3] v = " + numbers(48, 5) +
           ", float sy = {0.2}, int8 zy = {-7}> {\n"
           "  c = QLinearConv<pads = [2, 0]>(x, sx, zx, w, sw, zw, sy, zy)\n"
           "  y = QLinearConv<group = 1, pads = [4, 0], dilations = [2]>(c, sy, zy, v, sw, zw, sy, zy) }"},
  };
  return all;
}

// With `moments` in the model's stretch of time.
Graph graph_of(const Model& model, int64_t moments = kMoments) {
  std::string text = model.text;
  const auto put = [&](const std::string& name, int64_t value) {
    for (size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, name.size(), std::to_string(value));
  };
  put("$T", moments), put("$N", moments / model.pace);
  return rewritten(
      import_text(fmt::format("<ir_version: 8, opset_import: [\"\" : 17]>\n{} {}", model.name, text)),
      layerwise_peak);
}

// With `moments` in a call.
Streamed streamed_model(const Model& model, int64_t moments) {
  return streamed(graph_of(model), {{"x", model.in, moments}});
}

// The moments [begin, end) of a value.
Value part(const Value& value, int64_t dimension, int64_t begin, int64_t end) {
  Shape shape = value.shape;
  shape[dimension] = end - begin;
  Value some(value.type, shape);
  int64_t inner = size_of(value.type);
  for (size_t d = dimension + 1; d < shape.size(); ++d) inner *= shape[d];
  const int64_t from = value.shape[dimension] * inner, to = shape[dimension] * inner;
  for (int64_t k = 0; k * to < static_cast<int64_t>(some.bytes.size()); ++k)
    std::memcpy(some.bytes.data() + k * to, value.bytes.data() + k * from + begin * inner, to);
  return some;
}

// The states before the first call.
std::vector<Value> first_states(const Streamed& model) {
  std::vector<Value> states;
  for (size_t k = 0; k < model.states.size(); ++k) {
    const Tensor& tensor = model.graph.tensors[model.graph.inputs[1 + k]];
    Value& value = states.emplace_back(tensor.type, tensor.shape);
    std::fill(value.bytes.begin(), value.bytes.end(), std::byte{model.states[k].initial});
  }
  return states;
}

TEST(Stream, CallsInTurnAreOneCallWithAll) {
  for (const Model& model : causal_models()) {
    const Graph whole = graph_of(model, kMoments);
    const auto inputs = random_inputs(whole, 1, Numbers::kAny);
    const Value want = interpret_outputs(whole, inputs)[0];
    for (int64_t moments : {1, 2, 3, 4, 6, 12}) {
      if (moments % model.pace != 0) continue;
      SCOPED_TRACE(fmt::format("{}: {} moments a call", model.name, moments));
      const Streamed stream = streamed_model(model, moments);
      verify(stream.graph);
      ASSERT_FALSE(stream.states.empty());
      std::vector<Value> given = first_states(stream);
      for (int64_t t = 0; t < kMoments; t += moments) {
        given.insert(given.begin(), part(inputs[0], model.in, t, t + moments));
        given = interpret_outputs(stream.graph, given);
        const Value expected = part(want, model.out, t / model.pace, (t + moments) / model.pace);
        ASSERT_EQ(given[0].bytes, expected.bytes) << "at " << t << "\n" << dump(stream.graph);
        given.erase(given.begin());  // what is left are the states
      }
    }
  }
}

TEST(Stream, IsTheSameInC) {
  std::vector<Emitted> batch;
  std::vector<std::vector<Value>> want;
  for (const Model& model : causal_models())
    for (const char* scheduler : {"layerwise", "rows", "fused"}) {
      const Streamed stream = streamed_model(model, 4);
      const std::string name = fmt::format("{}_{}", model.name, scheduler);
      Emitted& one = batch.emplace_back(Emitted{compile_graph(stream.graph, name, {.scheduler = scheduler})});
      one.inputs = random_inputs(stream.graph, 2, Numbers::kAny);
      want.push_back(interpret_outputs(stream.graph, one.inputs));
    }
  run_emitted(batch, compilers()[0]);
  for (size_t k = 0; k < batch.size(); ++k) {
    EXPECT_EQ(batch[k].fault, "") << batch[k].compilation.name;
    ASSERT_EQ(batch[k].outputs.size(), want[k].size());
    for (size_t j = 0; j < want[k].size(); ++j)
      for (int64_t e = 0; e < want[k][j].count(); ++e)
        if (is_float(want[k][j].type))
          ASSERT_NEAR(load(batch[k].outputs[j], e).f, load(want[k][j], e).f, 1e-5)
              << batch[k].compilation.name;
        else
          ASSERT_EQ(load(batch[k].outputs[j], e).i, load(want[k][j], e).i) << batch[k].compilation.name;
  }
}

// Zeros are what a quantised model calls its zero point.
TEST(Stream, BeginsWithTheZeroPoint) {
  const Streamed stream = streamed_model(causal_models().back(), 4);
  ASSERT_EQ(stream.states.size(), 2u);
  EXPECT_EQ(stream.states[0].initial, 3);
  EXPECT_EQ(stream.states[1].initial, static_cast<uint8_t>(-7));
  const Compilation c = compile_graph(stream.graph, "m", {}, stream.states);
  EXPECT_THAT(file_named(c, "m.h"), HasSubstr("not all zeros: call this before the first run"));
  EXPECT_THAT(file_named(c, "m.c"), AllOf(HasSubstr("[t0] = 3;"), HasSubstr("[t0] = 249;")));
}

// Numbers of an index that no byte holds are no zero points.
TEST(Stream, AZeroPointIsAValueOfTheOperand) {
  const Streamed stream = streamed_model(
      {"m",
       "(int8[1, 1, $T] x) => (int8[1, 1, $N] y) <float s = {0.1}, int8 zx = {127}, int8 zw = {0},\n"
       "  int8[1, 1, 2] w = {1, 2}> { y = QLinearConv<pads = [128, 0], dilations = [128]>(x, s, zx, w, s, "
       "zw, s, zx) }"},
      4);
  ASSERT_EQ(stream.states.size(), 1u);
  EXPECT_EQ(stream.states[0].initial, 127);
}

std::string fault_of(const Model& model, int64_t moments = 4) {
  try {
    streamed_model(model, moments);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

std::string fault_of(const std::string& text, int64_t moments = 4) {
  return fault_of(Model{"m", text}, moments);
}

TEST(Stream, WhatDoesNotGoOnIsExplained) {
  const std::string head = "(float[1, 3, $T] x) => (float[1, 3, $N] y) ",
                    weights = "float[3, 3, 3] w = " + numbers(27);
  EXPECT_THAT(
      fault_of(head + "<" + weights + "> { y = Conv<pads = [1, 1]>(x, w) }"),
      HasSubstr(
          "text: --stream: calls cannot go on from each other:\n  node 'y' (Conv) needs 1 later moments"));
  EXPECT_THAT(fault_of("(float[1, 3, $T] x) => (float[1, 3, k] y) <" + weights + "> { y = Conv(x, w) }"),
              HasSubstr("has fewer moments than it reads: pad before the first moment"));
  EXPECT_THAT(fault_of(head + "{ y = MaxPool<kernel_shape = [3], pads = [2, 0]>(x) }"),
              HasSubstr("only sums go on from call to call"));
  EXPECT_THAT(fault_of(head + "<float[12] p = " + numbers(12) + "> { y = Add(x, p) }"),
              HasSubstr("depends on the number of a moment"));
  EXPECT_THAT(fault_of(head + "<" + weights +
                       ", int64[6] p = {0, 0, 2, 0, 0, -3}> {\n"
                       "  a = Pad(x, p)  y = Conv<pads = [0, 3]>(a, w) }"),
              HasSubstr("depends on the number of a moment"));
  EXPECT_THAT(
      fault_of(head + "<int64[1, 1, 12] i = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, float[1, 1, 12] u = " +
               numbers(12) + "> { y = ScatterElements<axis = 1>(x, i, u) }"),
      HasSubstr("depends on the number of a moment"));
  EXPECT_THAT(fault_of("(float[1, 3, $T] x, float[1, 3, $T] z) => (float[1, 3, $N] y) { y = Add(x, z) }"),
              HasSubstr("lacks its --stream"));
  EXPECT_THAT(fault_of("(float[1, 1, $T] x) => (float[1, 1, k] y) <float[1, 1, 12] w = " + numbers(12) +
                           "> { y = Conv<strides = [12]>(x, w) }",
                       12),
              HasSubstr("has a single moment as its result"));
  EXPECT_THAT(fault_of("(float[1, 3, $T] x) => (float[1, 3, 1] y) <" + weights +
                           "> { c = Conv<pads = [2, 2]>(x, w)  y = GlobalAveragePool(c) }",
                       12),
              HasSubstr("reads moments behind the last of the call"));
  EXPECT_THAT(fault_of("(float[1, 3, $T] x) => (float[1, 4, $N] y) <float[1, 1, 12] p = " + numbers(12) +
                       "> { y = Concat<axis = 1>(x, p) }"),
              HasSubstr("depends on the number of a moment"));
  EXPECT_THAT(fault_of("(float[1, 3, $T] x) => (float[1, 3, k] y) <float[1, 3, 1] p = " + numbers(3) +
                       "> { y = Concat<axis = 2>(p, x) }"),
              HasSubstr("moves or splits the axis of time"));
  EXPECT_THAT(fault_of(head + "<" + weights + "> { y = Conv<strides = [2], pads = [1, 0]>(x, w) }", 3),
              HasSubstr("takes every 2. moment: bind the model, and a call, to a multiple of as many"));
  EXPECT_THAT(fault_of("(float[1, 3, $T] x) => (float[1, 3, k] y) <" + weights +
                       "> { y = Conv<pads = [2, 2]>(x, w) }"),
              HasSubstr("has moments behind the last of the call"));
  EXPECT_THAT(fault_of("(float[1, 3, $T] x) => (float[1, 3, 1] y) { y = GlobalAveragePool(x) }"),
              HasSubstr("works on all 12 moments of the model, of which a call has 4"));
  EXPECT_THAT(fault_of("(float[1, 3, $T] x) => (float[1, 3, $N] y, int64[1, 3, $N] i) <int64[1] k = {12}> {\n"
                       "  y, i = TopK(x, k) }"),
              HasSubstr("works through its operands in an order of its own"));
}

TEST(Stream, InputAndDimensionMustBeThere) {
  const Model& model = causal_models()[0];
  const auto fault = [&](const StreamInput& input) -> std::string {
    try {
      streamed(graph_of(model, 4), {input});
    } catch (const UserError& error) {
      EXPECT_EQ(error.status, Exit::kUsage);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(fault({"z", 2}), "--stream z=2: no input has this name; there is: x");
  EXPECT_EQ(fault({"x", 3}), "--stream x=3: the input has the shape [1,3,4]");
  EXPECT_EQ(fault({"x", -4}), "--stream x=-4: the input has the shape [1,3,4]");
  EXPECT_EQ(
      fault({"x", 0}),
      "--stream x=0: the dimension has 1 moments: bind it to more, and let a call bring one by --stream "
      "x=0:1");
  EXPECT_EQ(fault({"x", 2, 5}),
            "--stream x=2: a call may bring 1 to 4 moments, as many as the input has: bind it to more");
  EXPECT_EQ(fault({"x", -1}), "");
  EXPECT_THROW(streamed(graph_of(model, 4), {{"x", 2, 2}, {"x", 1}}), UserError);
}

TEST(Stream, LoopsThatDoNotGoOnAreExplained) {
  const auto fault = [](const std::string& attributes, const std::string& operands) {
    return fault_of(
        Model{"m",
              "(float[$T, 1, 3] x, float[1, 1, 4] z) => (float[$N, 1, 1, 4] y) <float[1, 16, 3] w = " +
                  numbers(48) + ", float[1, 16, 4] r = " + numbers(64) +
                  ", float[1, 1, 4] one = {0, 1, 0, 0}, int32[1] n = {5}> {\n  s = Sin(z)\n" +
                  "  y = LSTM<hidden_size = 4" + attributes + ">(" + operands + ") }",
              0, 0});
  };
  EXPECT_THAT(fault(", direction = \"reverse\"", "x, w, r"), HasSubstr("begins with the last moment"));
  EXPECT_THAT(fault("", "x, w, r, , n"), HasSubstr("depends on the number of a moment"));
  EXPECT_THAT(fault("", "x, w, r, , , one"), HasSubstr("begins with what is computed"));
  EXPECT_THAT(fault("", "x, w, r, , , s"), HasSubstr("begins with what is computed"));
  EXPECT_EQ(fault("", "x, w, r, , , z"), "");  // the model's own state
}

// What is left when all moments have been is what one call with all would leave.
TEST(Stream, LastStatesAreThoseSoFar) {
  const Model model{"m", "(float[$T, 1, 3] x) => (float[1, 1, 4] h) <float[1, 12, 3] w = " + numbers(36) +
                             ", float[1, 12, 4] r = " + numbers(48) +
                             "> { y, h = GRU<hidden_size = 4>(x, w, r) }"};
  const Graph whole = graph_of(model);
  const auto inputs = random_inputs(whole, 1, Numbers::kAny);
  const Streamed stream = streamed(graph_of(model), {{"x", 0, 3}});
  std::vector<Value> given = first_states(stream);
  for (int64_t t = 0; t < kMoments; t += 3) {
    given.insert(given.begin(), part(inputs[0], 0, t, t + 3));
    given = interpret_outputs(stream.graph, given);
    if (t + 3 < kMoments) given.erase(given.begin());
  }
  EXPECT_EQ(given[0].bytes, interpret_outputs(whole, inputs)[0].bytes);
}

// Control flow is no operand of the node that it is in.
TEST(Stream, BranchesAreRefused) {
  EXPECT_THAT(fault_of("(float[1, 3, $T] x, bool b) => (float[1, 3, $N] y) {\n"
                       "  y = If(b)<then_branch = g () => (float[1, 3, $N] p) { p = Relu(x) },\n"
                       "            else_branch = h () => (float[1, 3, $N] q) { q = Neg(x) }> }"),
              HasSubstr("works through its operands in an order of its own; give its state by --state"));
}

TEST(Stream, InputsBringAsManyMoments) {
  const Graph graph = graph_of({"m",
                                "(float[1, 3, $T] x, float[1, 3, $T] z) => (float[1, 6, $N] y) {\n"
                                "  y = Concat<axis = 1>(x, z) }"});
  EXPECT_THROW(streamed(graph, {{"x", 2, 6}, {"z", 2, 4}}), UserError);
  EXPECT_TRUE(streamed(graph, {{"x", 2, 6}, {"z", 2, 6}}).states.empty());
}

// What a call says of itself alone has no state, and is told of.
TEST(Stream, SummariesAreOfOneCall) {
  const Streamed stream =
      streamed_model({"m", "(float[1, 3, $T] x) => (float[1, 3, 1] y) <float[3, 3, 3] w = " + numbers(27) +
                               "> { c = Conv<pads = [2, 0]>(x, w)  y = GlobalAveragePool(c) }"},
                     kMoments);
  EXPECT_EQ(stream.states.size(), 1u);
  EXPECT_THAT(stream.graph.warnings,
              ElementsAre("node 'y' (GlobalAveragePool) works on the moments of one call alone"));
}

}  // namespace
}  // namespace arenac::stream_test
