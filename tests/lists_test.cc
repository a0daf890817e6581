// Sequences and optionals: text models through the interpreter, and the inputs and outputs that they become.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include "frontend/error.h"
#include "frontend/import.h"
#include "frontend/interpret.h"

namespace arenac::lists_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// ONNX's text form has tensor types only: here seq_NAME declares a sequence NAME of such tensors, opt_NAME an
// optional one.
void mend_types(onnx::GraphProto& graph) {
  for (auto* values : {graph.mutable_input(), graph.mutable_output()}) {
    for (onnx::ValueInfoProto& value : *values) {
      const onnx::TypeProto element = value.type();
      const bool sequence = value.name().starts_with("seq_"), optional = value.name().starts_with("opt_");
      if (sequence) *value.mutable_type()->mutable_sequence_type()->mutable_elem_type() = element;
      if (optional) *value.mutable_type()->mutable_optional_type()->mutable_elem_type() = element;
      if (sequence || optional) value.set_name(value.name().substr(4));
    }
  }
  for (onnx::NodeProto& node : *graph.mutable_node())
    for (onnx::AttributeProto& attribute : *node.mutable_attribute())
      if (attribute.has_g()) mend_types(*attribute.mutable_g());
}

Graph imported(const std::string& text, const ImportOptions& options = {}) {
  const std::string whole = "<ir_version: 8, opset_import: [\"\" : 17]> g " + text;
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser(whole.c_str()).Parse(model);
  if (!status.IsOK()) throw std::runtime_error(status.ErrorMessage());
  mend_types(*model.mutable_graph());
  return import_bytes(model.SerializeAsString(), "text", options);
}

Value numbers(Type type, Shape shape, const std::vector<double>& elements) {
  Value value(type, std::move(shape));
  for (size_t k = 0; k < elements.size(); ++k)
    store(value, static_cast<int64_t>(k), convert(type, Type::kFloat64, {.f = elements[k]}));
  return value;
}

Value floats(Shape shape, const std::vector<double>& elements) {
  return numbers(Type::kFloat32, std::move(shape), elements);
}

// The elements of every output.
std::vector<std::vector<double>> outputs(const Graph& graph, const std::vector<Value>& inputs) {
  const auto values = interpret(graph, inputs);
  std::vector<std::vector<double>> all;
  for (TensorId id : graph.outputs) {
    const Value& value = *values.at(id);
    all.emplace_back();
    for (int64_t e = 0; e < value.count(); ++e)
      all.back().push_back(convert(Type::kFloat64, value.type, load(value, e)).f);
  }
  return all;
}

std::string refusal(const std::string& text, const ImportOptions& options = {}) {
  try {
    imported(text, options);
  } catch (const UserError& error) {
    return error.what();
  }
  return "imported";
}

TEST(Sequence, InputsAndOutputsAreTheirElements) {
  const Graph graph = imported(R"((float[n] seq_s, float[1] x) => (float[n] seq_t) {
      u = SequenceInsert(s, x)
      t = Identity(u)
    })",
                               {.sequences = {{"s", {{2}, {3}}}}});
  EXPECT_THAT(graph.input_names, ElementsAre("s_0", "s_1", "x"));
  EXPECT_THAT(graph.output_names, ElementsAre("t_0", "t_1", "t_2"));
  EXPECT_THAT(outputs(graph, {floats({2}, {1, 2}), floats({3}, {3, 4, 5}), floats({1}, {6})}),
              ElementsAre(ElementsAre(1, 2), ElementsAre(3, 4, 5), ElementsAre(6)));
}

TEST(Sequence, PositionsCountFromEitherEnd) {
  const std::string text = R"((float[1] a, float[1] b, float[1] c) => (float[1] seq_t, float[1] y)
      <int64 first = {0}, int64 last = {-1}, int64 middle = {1}> {
      s = SequenceConstruct(a, b)
      u = SequenceInsert(s, c, last)
      v = SequenceErase(u, first)
      t = SequenceInsert(v, a, middle)
      y = SequenceAt(t, last)
    })";
  EXPECT_THAT(outputs(imported(text), {floats({1}, {1}), floats({1}, {2}), floats({1}, {3})}),
              ElementsAre(ElementsAre(3), ElementsAre(1), ElementsAre(2), ElementsAre(2)));
}

TEST(Sequence, RefusesPositionsOutside) {
  EXPECT_THAT(refusal(R"((float[1] a) => (float[1] y) <int64 k = {-2}> {
      s = SequenceConstruct(a)
      y = SequenceAt(s, k)
    })"),
              HasSubstr("position -2 is outside a sequence of 1"));
  EXPECT_THAT(refusal(R"((float[1] a) => (float[1] seq_y) <int64 k = {2}> {
      s = SequenceConstruct(a)
      y = SequenceInsert(s, a, k)
    })"),
              HasSubstr("position 2 is outside a sequence of 1"));
  EXPECT_THAT(refusal(R"(() => (float[1] seq_y) {
      s = SequenceEmpty()
      y = SequenceErase(s)
    })"),
              HasSubstr("an empty sequence has no element"));
}

TEST(Sequence, APositionOfTheRunChoosesAmongEqualShapes) {
  const Graph graph = imported(R"((int64 k, float[2] a, float[2] b, float[2] c) => (float[2] y) {
      s = SequenceConstruct(a, b, c)
      y = SequenceAt(s, k)
    })");
  for (int k = -3; k < 3; ++k) {
    const double at = (k + 3) % 3;
    EXPECT_THAT(outputs(graph, {numbers(Type::kInt64, {}, {1.0 * k}), floats({2}, {0, 10}),
                                floats({2}, {1, 11}), floats({2}, {2, 12})}),
                ElementsAre(ElementsAre(at, at + 10)));
  }
  EXPECT_THAT(refusal(R"((int64 k, float[2] a, float[3] b) => (float[n] y) {
      s = SequenceConstruct(a, b)
      y = SequenceAt(s, k)
    })"),
              HasSubstr("('k') is computed at run time; arenac needs it at compile time"));
}

TEST(Sequence, SplitsAndJoins) {
  const Graph graph = imported(R"((float[2,5] x) => (float[a,b] seq_p, float[c] seq_q, float[5,2] y)
      <int64 two = {2}, int64[2] sizes = {1, 4}> {
      p = SplitToSequence <axis = 1> (x, two)
      r = SplitToSequence <axis = -1> (x, sizes)
      q = SplitToSequence <axis = 0, keepdims = 0> (x)
      y = ConcatFromSequence <axis = -1, new_axis = 1> (q)
    })");
  EXPECT_THAT(graph.output_names, ElementsAre("p_0", "p_1", "p_2", "q_0", "q_1", "y"));
  EXPECT_THAT(outputs(graph, {floats({2, 5}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})}),
              ElementsAre(ElementsAre(0, 1, 5, 6), ElementsAre(2, 3, 7, 8), ElementsAre(4, 9),
                          ElementsAre(0, 1, 2, 3, 4), ElementsAre(5, 6, 7, 8, 9),
                          ElementsAre(0, 5, 1, 6, 2, 7, 3, 8, 4, 9)));
}

TEST(Sequence, IsMappedByABody) {
  const Graph graph = imported(
      R"((float[n] seq_s, float[1] x, float[1] outer) => (float[n] seq_t, int64[1] seq_l) {
      t, l = SequenceMap (s, x) <body = b (float[n] e, float[1] f) => (float[n] g, int64[1] h) {
        m = Mul(e, f)
        g = Add(m, outer)
        h = Shape(e)
      }>
    })",
      {.sequences = {{"s", {{2}, {1}}}}});
  EXPECT_THAT(outputs(graph, {floats({2}, {1, 2}), floats({1}, {3}), floats({1}, {10}), floats({1}, {100})}),
              ElementsAre(ElementsAre(110, 120), ElementsAre(130), ElementsAre(2), ElementsAre(1)));
}

TEST(Sequence, OfARunTimeIfIsMergedElementByElement) {
  const std::string text = R"((bool c, float[2] x, float[1] z) => (float[n] seq_y) {
      y = If (c) <then_branch = t () => (float[n] seq_p) { p = SequenceConstruct(x, z) },
                  else_branch = e () => (float[n] seq_q) { r = Neg(x)
                                                            q = SequenceConstruct(r, z) }>
    })";
  const Graph graph = imported(text);
  const auto run = [&](double c) {
    return outputs(graph, {numbers(Type::kBool, {}, {c}), floats({2}, {1, 2}), floats({1}, {3})});
  };
  EXPECT_THAT(run(1), ElementsAre(ElementsAre(1, 2), ElementsAre(3)));
  EXPECT_THAT(run(0), ElementsAre(ElementsAre(-1, -2), ElementsAre(3)));
  EXPECT_THAT(refusal(R"((bool c, float[2] x) => (float[n] seq_y) {
      y = If (c) <then_branch = t () => (float[n] seq_p) { p = SequenceConstruct(x, x) },
                  else_branch = e () => (float[n] seq_q) { q = SequenceConstruct(x) }>
    })"),
              HasSubstr("output 0 is sequence of 2 float32 [2] [2] in the then-branch and sequence of 1"));
}

const std::string kGrowing = R"((int64 m, float[2] x) => (float[2] seq_y) <bool c = {1}> {
      s = SequenceEmpty()
      y = Loop (m, c, s) <body = b (int64 t, bool i, float[2] seq_u) => (bool o, float[2] seq_v) {
        o = Identity(i)
        f = Cast <to = 1> (t)
        a = Add(x, f)
        v = SequenceInsert(u, a)
      }>
    })";

TEST(Sequence, GrowsInALoopOfKnownTrips) {
  std::string text = kGrowing;
  text.replace(text.find("int64 m, "), 9, "");
  text.replace(text.find("<bool c"), 1, "<int64 m = {3}, ");
  EXPECT_THAT(outputs(imported(text), {floats({2}, {1, 5})}),
              ElementsAre(ElementsAre(1, 5), ElementsAre(2, 6), ElementsAre(3, 7)));
  EXPECT_THAT(refusal(kGrowing), HasSubstr("needs a trip count known at compile time"));
}

TEST(Sequence, OfEqualLengthIsCarriedThroughALoopOfTheRun) {
  const Graph graph = imported(R"((int64 m, float[1] a, float[1] b) => (float[1] seq_y)
      <bool c = {1}, int64 one = {1}, int64 zero = {0}> {
      s = SequenceConstruct(a, b)
      y = Loop (m, c, s) <body = l (int64 t, bool i, float[1] seq_u) => (bool o, float[1] seq_v) {
        o = Identity(i)
        p = SequenceAt(u, zero)
        q = SequenceAt(u, one)
        r = Add(p, q)
        v = SequenceConstruct(q, r)
      }>
    })");
  EXPECT_THAT(outputs(graph, {numbers(Type::kInt64, {}, {5}), floats({1}, {0}), floats({1}, {1})}),
              ElementsAre(ElementsAre(5), ElementsAre(8)));
}

TEST(Sequence, IsNoTensor) {
  EXPECT_THAT(refusal(R"((float[2] x) => (float[2] y) {
      s = SequenceConstruct(x)
      y = Relu(s)
    })"),
              HasSubstr("inputs sequence of 1 float32 [2]): input 0 is a sequence, a tensor is needed"));
  EXPECT_THAT(refusal(R"((float[2] x) => (int64 y) { y = SequenceLength(x) })"),
              HasSubstr("input 0 is a tensor, a sequence is needed"));
  EXPECT_THAT(refusal(R"((float[2] seq_s) => (int64 y) { y = SequenceLength(s) })"),
              HasSubstr("input 's' is a sequence: give the shapes of its elements with --shape s=2x3,2x3"));
  EXPECT_THAT(refusal(R"((float[2] seq_s) => (int64 y) { y = SequenceLength(s) })",
                      {.sequences = {{"s", {{2}, {3}}}}}),
              HasSubstr("--shape s=3 gives [3], but dimension 0 is 2 in the model"));
}

TEST(Optional, IsWhatItHoldsOrNothing) {
  const std::string text = R"((float[2] opt_a) => (bool h, float[2] opt_b) {
      h = OptionalHasElement(a)
      b = Identity(a)
    })";
  const Graph present = imported(text), absent = imported(text, {.absent = {"a"}});
  EXPECT_THAT(outputs(present, {floats({2}, {1, 2})}), ElementsAre(ElementsAre(1), ElementsAre(1, 2)));
  EXPECT_THAT(absent.input_names, IsEmpty());
  EXPECT_THAT(absent.output_names, ElementsAre("h"));
  EXPECT_THAT(outputs(absent, {}), ElementsAre(ElementsAre(0)));
  EXPECT_THAT(refusal(R"((float[2] opt_a) => (float[2] b) { b = OptionalGetElement(a) })", {.absent = {"a"}}),
              HasSubstr("the optional holds nothing"));
}

}  // namespace
}  // namespace arenac::lists_test
