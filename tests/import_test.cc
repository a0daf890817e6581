#include "frontend/import.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "frontend/error.h"
#include "frontend/interpret.h"
#include "tests/values.h"

namespace arenac {
namespace {

std::vector<double> elements(const Value& value) {
  std::vector<double> all;
  for (int64_t k = 0; k < value.count(); ++k)
    all.push_back(convert(Type::kFloat64, value.type, load(value, k)).f);
  return all;
}

TEST(Import, GemmReluRuns) {
  const Graph graph = import_text(R"(<ir_version: 8, opset_import: ["" : 13]>
      g (float[2, 2] x) => (float[2, 2] y)
      <float[2, 2] w = {1, 2, 3, 4}, float[2] b = {-1, 1}>
      { h = Gemm<transB = 1>(x, w, b)  y = Relu(h) })");
  const auto values = interpret(graph, {floats({2, 2}, {1, 0, -1, 2})});
  EXPECT_THAT(elements(*values[graph.outputs[0]]), testing::ElementsAre(0, 4, 2, 6));
}

TEST(Import, FoldsWhatIsConstant) {
  const Graph graph = import_text(R"(<ir_version: 8, opset_import: ["" : 13]>
      g (float[6] x) => (float[2, 3] y)
      <int64[2] s = {1, 3}, int64[2] t = {1, 0}>
      { u = Add(s, t)  y = Reshape(x, u) })");
  EXPECT_EQ(graph.block.size(), 1u) << dump(graph);
}

TEST(Import, NamesEveryUnsupportedNode) {
  const std::string text = R"(<ir_version: 8, opset_import: ["" : 13]>
      g (float[2] x) => (float[2] y) { a = NoSuchOp(x)  b = Frobnicate(x)  y = Add(a, b) })";
  try {
    import_text(text);
    FAIL() << "imported";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("NoSuchOp"));
    EXPECT_THAT(error.what(), testing::HasSubstr("Frobnicate"));
  }
}

// 1 and 2 among zeros at these places of [2, 3]: one index an element, or one for each dimension.
onnx::SparseTensorProto sparse(const std::string& name, const std::vector<int64_t>& indices) {
  onnx::SparseTensorProto tensor;
  tensor.mutable_values()->set_name(name);
  tensor.mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
  tensor.mutable_values()->add_dims(2);
  for (float v : {1.0f, 2.0f}) tensor.mutable_values()->add_float_data(v);
  tensor.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
  tensor.mutable_indices()->add_dims(2);
  if (indices.size() > 2) tensor.mutable_indices()->add_dims(static_cast<int64_t>(indices.size()) / 2);
  for (int64_t k : indices) tensor.mutable_indices()->add_int64_data(k);
  for (int64_t extent : {2, 3}) tensor.add_dims(extent);
  return tensor;
}

Graph sum_with(const onnx::SparseTensorProto& initializer) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  onnx::GraphProto& graph = *model.mutable_graph();
  *graph.add_sparse_initializer() = initializer;
  onnx::NodeProto& constant = *graph.add_node();
  constant.set_op_type("Constant");
  constant.add_output("c");
  onnx::AttributeProto& value = *constant.add_attribute();
  value.set_name("sparse_value");
  value.set_type(onnx::AttributeProto::SPARSE_TENSOR);
  *value.mutable_sparse_tensor() = sparse("", {0, 1});
  onnx::NodeProto& add = *graph.add_node();
  add.set_op_type("Add");
  for (const char* input : {"s", "c"}) add.add_input(input);
  add.add_output("y");
  graph.add_output()->set_name("y");
  return import_bytes(model.SerializeAsString(), "model");
}

TEST(Import, SparseTensorsAreMadeDense) {
  for (const std::vector<int64_t>& indices : {std::vector<int64_t>{1, 5}, {0, 1, 1, 2}}) {
    const Graph graph = sum_with(sparse("s", indices));
    EXPECT_THAT(elements(interpret_outputs(graph, {}).at(0)), testing::ElementsAre(1, 3, 0, 0, 0, 2));
  }
}

TEST(Import, RefusesSparseTensorsThatLie) {
  const auto refusal = [](const onnx::SparseTensorProto& tensor) -> std::string {
    try {
      sum_with(tensor);
    } catch (const UserError& error) {
      return error.what();
    }
    return "imported";
  };
  EXPECT_THAT(refusal(sparse("s", {1, 6})),
              testing::HasSubstr("index 6 of a sparse tensor lies outside [2,3]"));
  EXPECT_THAT(refusal(sparse("s", {0, 1, 2, 0})),
              testing::HasSubstr("index 2 of a sparse tensor lies outside"));
  EXPECT_THAT(refusal(sparse("s", {0, 1, 2, 0, 1, 1})), testing::HasSubstr("the indices of a sparse tensor"));
  onnx::SparseTensorProto huge = sparse("s", {0, 1});
  huge.set_dims(0, int64_t{1} << 35);
  EXPECT_THAT(refusal(huge), testing::HasSubstr("too large to be made dense"));
}

TEST(Interpret, AnOutputWithoutElements) {
  const Graph graph =
      import_text(R"(<ir_version: 8, opset_import: ["" : 13]> g (float[2] x) => (y, float[0, 2] z)
      <int64 trips = {0}> { y, z = Loop<body = b (int64 i, bool c, float[2] v) => (bool c2, float[2] w, float[2] s)
        { c2 = Identity(c)  w = Neg(v)  s = Abs(v) }>(trips, , x) })");
  EXPECT_EQ(interpret_outputs(graph, {floats({2}, {1, 2})}).at(1).shape, (Shape{0, 2}));
}

// Where runtimes read the standard in another way.
TEST(Warnings, SayWhereRuntimesDiffer) {
  const auto warnings = [](const std::string& text) {
    return import_text("<ir_version: 8, opset_import: [\"\" : 17]> " + text).warnings.size();
  };
  const auto resize = [&](const char* mode, const char* scale) {
    return warnings(
        fmt::format("g (float[1, 1, 5, 4] x) => (float[1, 1, a, b] y) <float[4] s = {{1, 1, {}, 1}}> "
                    "{{ y = Resize<mode = \"linear\", coordinate_transformation_mode = \"{}\">(x, , s) }}",
                    scale, mode));
  };
  EXPECT_EQ(resize("align_corners", "0.5"), 1);
  EXPECT_EQ(resize("align_corners", "2"), 0);
  EXPECT_EQ(resize("half_pixel", "0.5"), 0);
  const auto sample = [&](const char* mode, const char* padding) {
    return warnings(
        fmt::format("g (float[1, 1, 5, 4] x, float[1, 2, 2, 2] at) => (float[1, 1, 2, 2] y) "
                    "{{ y = GridSample<mode = \"{}\", padding_mode = \"{}\">(x, at) }}",
                    mode, padding));
  };
  EXPECT_EQ(sample("bicubic", "border"), 1);
  EXPECT_EQ(sample("bicubic", "zeros"), 0);
  EXPECT_EQ(sample("bilinear", "border"), 0);
}

}  // namespace
}  // namespace arenac
