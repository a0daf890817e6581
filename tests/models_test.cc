// The models of our own making are valid ONNX, are what README.md says, and are the same everywhere.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/shape_inference/implementation.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/calibrate.h"
#include "models/export.h"
#include "models/model_table.h"
#include "models/onnx_builder.h"
#include "models/quantize.h"
#include "models/topologies.h"

namespace arenac::models {

// How GoogleTest writes a row in the name of a test.
void PrintTo(const ModelRow& row, std::ostream* out) { *out << row.name; }

namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::SizeIs;

const std::string kFolder = std::string(ARENAC_ROOT) + "/models/";

std::string read_file(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  EXPECT_TRUE(stream) << file;
  return {std::istreambuf_iterator<char>(stream), {}};
}

const ModelRow& row_named(const std::string& name) {
  for (const ModelRow& row : model_table())
    if (row.name == name) return row;
  throw std::out_of_range(name);
}

bool only_standard_domain(const onnx::ModelProto& model) { return model.opset_import_size() == 1; }

std::vector<int64_t> shape_of(const onnx::TypeProto& type) {
  std::vector<int64_t> shape;
  for (const auto& dim : type.tensor_type().shape().dim()) shape.push_back(dim.dim_value());
  return shape;
}

int64_t elements(const std::vector<int64_t>& shape) {
  int64_t product = 1;
  for (const int64_t extent : shape) product *= extent;
  return product;
}

std::map<std::string, int64_t> initializer_elements(const onnx::ModelProto& model) {
  std::map<std::string, int64_t> sizes;
  for (const auto& tensor : model.graph().initializer())
    sizes[tensor.name()] = elements({tensor.dims().begin(), tensor.dims().end()});
  return sizes;
}

int64_t parameters(const onnx::ModelProto& model) {
  int64_t sum = 0;
  for (const auto& [name, size] : initializer_elements(model)) {
    for (const std::string suffix : {"_weight", "_bias", "_weight_quantized", "_bias_quantized"})
      if (name.ends_with(suffix)) sum += size;
  }
  return sum;
}

// Multiply-accumulates of a float model, biases not counted.
int64_t macs(onnx::ModelProto model) {
  onnx::shape_inference::InferShapes(model);
  std::map<std::string, int64_t> activations;
  for (const auto& info : model.graph().value_info())
    activations[info.name()] = elements(shape_of(info.type()));
  auto weights = initializer_elements(model);
  int64_t sum = 0;
  for (const auto& node : model.graph().node()) {
    const auto& op = node.op_type();
    if (op == "Conv") {  // one filter for every element of the output
      sum += activations.at(node.output(0)) * weights.at(node.input(1)) / weights.at(node.input(2));
    } else if (op == "Gemm") {
      sum += weights.at(node.input(1));
    } else if (op == "LSTM" || op == "GRU") {
      const int64_t frames = shape_of(model.graph().input(0).type()).at(1);
      sum += frames * (weights.at(node.input(1)) + weights.at(node.input(2)));
    }
  }
  return sum;
}

std::string float_name(std::string name) {
  if (name.ends_with("_qdq") || name.ends_with("_qop")) name.resize(name.size() - 4);
  return name;
}

class EveryModel : public ::testing::TestWithParam<ModelRow> {};

std::string row_name(const ::testing::TestParamInfo<ModelRow>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Table, EveryModel, ::testing::ValuesIn(model_table().begin(), model_table().end()),
                         row_name);

TEST_P(EveryModel, IsValidAndHasStaticShapes) {
  onnx::ModelProto model = GetParam().make();
  EXPECT_EQ(model.graph().name(), GetParam().name);
  EXPECT_EQ(model.ir_version(), 8);
  EXPECT_EQ(model.opset_import(0).version(), 13);
  EXPECT_NO_THROW(onnx::checker::check_model(model));
  EXPECT_GT(elements(shape_of(model.graph().input(0).type())), 0);

  const auto declared = shape_of(model.graph().output(0).type());
  EXPECT_GT(elements(declared), 0);
  if (only_standard_domain(model)) {
    const onnx::ShapeInferenceOptions strict(true, 1);
    ASSERT_NO_THROW(onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), strict));
    EXPECT_EQ(shape_of(model.graph().output(0).type()), declared);
    // Every node's output is known: none was left out.
    EXPECT_GE(model.graph().value_info_size() + 1, model.graph().node_size());
  }
}

TEST_P(EveryModel, IsListedInReadme) {
  const std::string readme = read_file(kFolder + "README.md");
  const std::string start = fmt::format("\n| `{}` |", GetParam().name);
  const size_t begin = readme.find(start);
  ASSERT_NE(begin, std::string::npos) << start;
  const std::string line = readme.substr(begin + 1, readme.find('\n', begin + 1) - begin - 1);
  const onnx::ModelProto base = row_named(float_name(GetParam().name)).make();
  EXPECT_THAT(line, HasSubstr(fmt::format("| {} | {} |", parameters(GetParam().make()), macs(base))));
}

TEST(ModelTable, NamesAreUnique) {
  std::set<std::string> names;
  for (const ModelRow& row : model_table()) names.insert(row.name);
  EXPECT_THAT(names, SizeIs(model_table().size()));
}

TEST(TinyCnn, CommittedFileIsWhatTheProgramWrites) {
  const std::string made = serialize(row_named("tiny_cnn").make());
  EXPECT_LT(made.size(), 20u * 1024);
  EXPECT_TRUE(made == read_file(kFolder + "tiny_cnn.onnx")) << "run: make_models models tiny_cnn";
}

TEST(QOperatorModels, AreInt8AllTheWay) {
  const std::set<std::string> kInt8Operators = {"QLinearConv", "QLinearMatMul", "QLinearAdd",
                                                "QLinearGlobalAveragePool", "Flatten"};
  for (const char* name : {"ds_cnn_qop", "mobilenet_v1_025_96_qop", "resnet8_qop"}) {
    const onnx::ModelProto model = row_named(name).make();
    for (const auto& node : model.graph().node())
      EXPECT_TRUE(kInt8Operators.count(node.op_type())) << node.op_type();
    EXPECT_EQ(model.graph().input(0).type().tensor_type().elem_type(), onnx::TensorProto::INT8);
    EXPECT_EQ(model.graph().output(0).type().tensor_type().elem_type(), onnx::TensorProto::INT8);
    for (const auto& tensor : model.graph().initializer())
      EXPECT_NE(tensor.data_type(), onnx::TensorProto::UINT8) << tensor.name();
  }
}

TEST(QOperatorModels, RefuseLayersWithoutInt8Operator) {
  EXPECT_THROW(qop_model("squeezenet", squeezenet_tiny()), std::invalid_argument);
}

TEST(OnnxBuilder, WritesLittleEndianRawData) {
  OnnxBuilder graph("g");
  graph.initializer<float>("f", {2}, {1.0f, -2.0f});
  graph.initializer<int8_t>("i", {}, {-2});
  graph.initializer<int64_t>("l", {1}, {-2});
  const onnx::ModelProto model = graph.finish();
  const auto& constants = model.graph().initializer();
  EXPECT_EQ(constants[0].raw_data(), std::string("\0\0\x80\x3f\0\0\0\xc0", 8));
  EXPECT_EQ(constants[1].raw_data(), "\xfe");
  EXPECT_EQ(constants[1].dims_size(), 0);
  EXPECT_EQ(constants[2].raw_data(), "\xfe\xff\xff\xff\xff\xff\xff\xff");
}

TEST(OnnxBuilder, RefusesValuesThatDoNotFillTheShape) {
  OnnxBuilder graph("g");
  EXPECT_THROW(graph.initializer<float>("w", {2, 2}, {1, 2, 3}), std::invalid_argument);
}

TEST(OnnxBuilder, ImportsEachDomainOnce) {
  OnnxBuilder graph("g");
  graph.node("a", "com.microsoft:QLinearAdd", {});
  graph.node("b", "com.microsoft:QLinearAdd", {});
  const onnx::ModelProto model = graph.finish();
  ASSERT_EQ(model.opset_import_size(), 2);
  EXPECT_EQ(model.opset_import(1).domain(), "com.microsoft");
  EXPECT_EQ(model.graph().node(1).op_type(), "QLinearAdd");
}

TEST(Network, PadsAsTensorFlowsSame) {
  Network net(1);
  const int x = net.input({1, 1, 49, 10});
  const int y = net.conv("conv", x, 4, {.kernel = {10, 4}, .stride = {2, 2}}, Activation::kNone);
  const Window& window = net.layers[static_cast<size_t>(y)].window;
  EXPECT_THAT(net.shape(y), ElementsAre(1, 4, 25, 5));
  EXPECT_THAT(window.pad_begin, ElementsAre(4, 1));
  EXPECT_THAT(window.pad_end, ElementsAre(5, 1));
}

TEST(Network, WeightsDependOnTheSeedAlone) {
  const auto weights = [](uint64_t seed) {
    Network net(seed);
    net.dense("dense", net.input({1, 6}), 1, Activation::kNone);
    return net.layers.back().weights;
  };
  EXPECT_EQ(weights(1), weights(1));
  EXPECT_NE(weights(1), weights(2));
  for (const float w : weights(3)) EXPECT_LE(std::fabs(w), 1.0f);  // He's bound sqrt(6 / fan-in)
}

// A 1x1 convolution of one channel becomes gain * (x - mean) / deviation + shift, whatever its first weight
// was.
TEST(Calibrate, GivesEveryChannelAGainBetweenOneAndTwo) {
  Network net(1);
  net.conv("conv", net.input({1, 1, 32, 32}), 3, {}, Activation::kNone);
  const Network ready = calibrate(std::move(net));
  const Layer& conv = ready.layers.back();
  const double deviation = 1 / std::sqrt(3.0);  // of numbers uniform in [-1, 1); the seeded inputs come near
  for (const float w : conv.weights) EXPECT_THAT(std::fabs(w) * deviation, AllOf(Ge(0.8), Le(2.2)));
  for (const float b : conv.bias) EXPECT_THAT(b, AllOf(Ge(0.8), Le(2.2)));
  EXPECT_LT(conv.range.low, 0);
  EXPECT_GT(conv.range.high, 1);
}

TEST(Calibrate, ActivationsBoundTheRange) {
  Network net(1);
  int x = net.input({1, 2, 8, 8});
  x = net.conv("relu6", x, 8, {}, Activation::kRelu6);
  const int sum = net.add("sum", x, x, Activation::kNone);
  const Network ready = calibrate(std::move(net));
  const Range relu6 = ready.layers[static_cast<size_t>(x)].range;
  EXPECT_EQ(relu6.low, 0);
  EXPECT_LE(relu6.high, 6);
  EXPECT_EQ(ready.layers[static_cast<size_t>(sum)].range.high, 2 * relu6.high);
}

TEST(Quantize, RangeCoversTheStoredValues) {
  const QuantParams params = activation_params({-1.0f, 4.1f}, -128);
  EXPECT_FLOAT_EQ(params.scale, 0.02f);
  EXPECT_EQ(params.zero_point, -78);
  EXPECT_EQ(activation_params({0.0f, 1.0f}, 0).zero_point, 0);
  EXPECT_EQ(activation_params({-1.0f, 0.0f}, 0).zero_point, 255);
  EXPECT_EQ(activation_params({0.0f, 0.0f}, -128).scale, 1.0f);
}

TEST(Quantize, WeightsArePerChannel) {
  Layer layer;
  layer.weights = {1.27f, -0.64f, 0, 0, -127, 63.5f};
  layer.bias = {1, 2, 3};
  const QuantWeights q = quantize_weights(layer, 0.5f);
  EXPECT_THAT(q.values, ElementsAre(127, -64, 0, 0, -127, 64));  // 63.5 rounds to even
  EXPECT_FLOAT_EQ(q.scales[0], 0.01f);
  EXPECT_EQ(q.scales[1], 1.0f);
  EXPECT_THAT(q.bias, ElementsAre(200, 4, 6));
}

}  // namespace
}  // namespace arenac::models
