// What a model may cost to compile: networks that are long, wide or deep, each in seconds. A case that takes
// more than kMostSeconds of the processor's time has fallen back to squares or worse; all take a fraction.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <ctime>
#include <fstream>

#include "driver/compile.h"
#include "driver/files.h"
#include "frontend/error.h"
#include "tests/seeds.h"

namespace arenac {
namespace {

constexpr double kMostSeconds = 30;  // of a slow machine, or a build with sanitizers

// Builds a graph node by node; every name is made of a letter and a number.
class Net {
 public:
  Net() {
    model_.set_ir_version(8);
    auto* opset = model_.add_opset_import();
    opset->set_domain("");
    opset->set_version(17);
    graph().set_name("g");
  }

  onnx::GraphProto& graph() { return *model_.mutable_graph(); }
  std::string bytes() const { return model_.SerializeAsString(); }

  std::string input(const std::vector<int64_t>& shape, int type = onnx::TensorProto::FLOAT) {
    return value(*graph().add_input(), fmt::format("x{}", ++names_), shape, type);
  }
  void output(const std::string& name, const std::vector<int64_t>& shape,
              int type = onnx::TensorProto::FLOAT) {
    value(*graph().add_output(), name, shape, type);
  }
  std::string weights(const std::vector<int64_t>& shape) {
    onnx::TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(fmt::format("w{}", ++names_));
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    int64_t count = 1;
    for (int64_t extent : shape) tensor.add_dims(extent), count *= extent;
    for (int64_t k = 0; k < count; ++k) tensor.add_float_data(static_cast<float>(k * 37 % 101 - 50) / 400);
    return tensor.name();
  }
  std::string integers(const std::vector<int64_t>& elements) {
    onnx::TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(fmt::format("w{}", ++names_));
    tensor.set_data_type(onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<int64_t>(elements.size()));
    for (int64_t element : elements) tensor.add_int64_data(element);
    return tensor.name();
  }
  onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs, int outputs = 1) {
    onnx::NodeProto& node = *graph().add_node();
    node.set_op_type(op);
    for (const std::string& name : inputs) node.add_input(name);
    for (int k = 0; k < outputs; ++k) node.add_output(fmt::format("t{}", ++names_));
    return node;
  }
  std::string apply(const std::string& op, const std::vector<std::string>& inputs) {
    return node(op, inputs).output(0);
  }

  static std::string value(onnx::ValueInfoProto& info, const std::string& name,
                           const std::vector<int64_t>& shape, int type) {
    info.set_name(name);
    auto* tensor = info.mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    tensor->mutable_shape();
    for (int64_t extent : shape) tensor->mutable_shape()->add_dim()->set_dim_value(extent);
    return name;
  }

 private:
  onnx::ModelProto model_;
  int names_ = 0;
};

void set(onnx::NodeProto& node, const std::string& name, int64_t i) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name), attribute->set_type(onnx::AttributeProto::INT), attribute->set_i(i);
}
void set(onnx::NodeProto& node, const std::string& name, const std::vector<int64_t>& ints) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name), attribute->set_type(onnx::AttributeProto::INTS);
  for (int64_t i : ints) attribute->add_ints(i);
}
void set(onnx::NodeProto& node, const std::string& name, const std::string& s) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name), attribute->set_type(onnx::AttributeProto::STRING), attribute->set_s(s);
}
onnx::GraphProto& set_graph(onnx::NodeProto& node, const std::string& name) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name), attribute->set_type(onnx::AttributeProto::GRAPH);
  return *attribute->mutable_g();
}
void scalar(onnx::GraphProto& graph, const std::string& name, int type, int64_t value) {
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name), tensor.set_data_type(type);
  if (type == onnx::TensorProto::INT64)
    tensor.add_int64_data(value);
  else
    tensor.add_int32_data(static_cast<int32_t>(value));
}

constexpr int64_t kRow = 8;
// Fewer where there are to be fewer seeds.
int scaled(int n) { return static_cast<int>(n * std::min(1.0, seeds_factor())); }

// One operator after another, all alike.
std::string chain(const std::string& op, int length, const std::vector<int64_t>& shape = {1, kRow}) {
  Net net;
  std::string x = net.input(shape);
  for (int k = 0; k < length; ++k) x = net.apply(op, {x});
  net.output(x, shape);
  return net.bytes();
}

std::string matmul_chain(int length) {
  Net net;
  std::string x = net.input({1, kRow});
  for (int k = 0; k < length; ++k) x = net.apply("MatMul", {x, net.weights({kRow, kRow})});
  net.output(x, {1, kRow});
  return net.bytes();
}

std::string shared_matmul_chain(int length) {
  Net net;
  std::string x = net.input({1, kRow});
  const std::string w = net.weights({kRow, kRow});
  for (int k = 0; k < length; ++k) x = net.apply("MatMul", {x, w});
  net.output(x, {1, kRow});
  return net.bytes();
}

std::string matmul_relu_chain(int length) {
  Net net;
  std::string x = net.input({1, kRow});
  const std::string w = net.weights({kRow, kRow});
  for (int k = 0; k < length; ++k) x = net.apply("Relu", {net.apply("MatMul", {x, w})});
  net.output(x, {1, kRow});
  return net.bytes();
}

std::string tiny_constants(int count) {
  Net net;
  std::string x = net.input({1, kRow});
  for (int k = 0; k < count; ++k) x = net.apply(k % 2 ? "Add" : "Mul", {x, net.weights({1})});
  net.output(x, {1, kRow});
  return net.bytes();
}

std::string residual_chain(int blocks, int64_t size) {
  Net net;
  std::string x = net.input({1, 8, size, size});
  for (int k = 0; k < blocks; ++k) {
    onnx::NodeProto& a = net.node("Conv", {x, net.weights({8, 8, 3, 3})});
    set(a, "pads", std::vector<int64_t>{1, 1, 1, 1});
    const std::string r = net.apply("Relu", {a.output(0)});
    onnx::NodeProto& b = net.node("Conv", {r, net.weights({8, 8, 3, 3})});
    set(b, "pads", std::vector<int64_t>{1, 1, 1, 1});
    x = net.apply("Relu", {net.apply("Add", {x, b.output(0)})});
  }
  net.output(x, {1, 8, size, size});
  return net.bytes();
}

std::string dense(int layers) {
  Net net;
  std::string x = net.input({1, 8, 16, 16});
  int64_t channels = 8;
  for (int k = 0; k < layers; ++k, channels += 8) {
    onnx::NodeProto& conv = net.node("Conv", {x, net.weights({8, channels, 3, 3})});
    set(conv, "pads", std::vector<int64_t>{1, 1, 1, 1});
    onnx::NodeProto& concat = net.node("Concat", {x, conv.output(0)});
    set(concat, "axis", 1);
    x = concat.output(0);
  }
  onnx::NodeProto& last = net.node("Conv", {x, net.weights({4, channels, 1, 1})});
  net.output(last.output(0), {1, 4, 16, 16});
  return net.bytes();
}

// Readers of one tensor that differ in a number only.
std::string wide_split(int parts) {
  Net net;
  const onnx::NodeProto& split = net.node("Split", {net.input({parts})}, parts);
  for (const std::string& part : split.output()) net.output(part, {1});
  return net.bytes();
}

std::string wide_concat(int operands, bool computed) {
  Net net;
  std::vector<std::string> parts;
  const std::string x = net.input({1, kRow});
  for (int k = 0; k < operands; ++k)
    parts.push_back(computed ? net.apply("Softmax", {net.apply("Mul", {x, net.weights({1, kRow})})}) : x);
  onnx::NodeProto& concat = net.node("Concat", parts);
  set(concat, "axis", 1);
  net.output(concat.output(0), {1, kRow * operands});
  return net.bytes();
}

// Every result of a chain is a part of the output.
std::string chain_of_parts(int length, const std::vector<int64_t>& shape) {
  Net net;
  std::string x = net.input(shape);
  std::vector<std::string> parts;
  for (int k = 0; k < length; ++k) parts.push_back(x = net.apply("Softmax", {x}));
  onnx::NodeProto& concat = net.node("Concat", parts);
  set(concat, "axis", 1);
  std::vector<int64_t> whole = shape;
  whole[1] *= length;
  net.output(concat.output(0), whole);
  return net.bytes();
}

// As a cache of keys grows: each step appends to all that is there.
std::string growing_concat(int length, int64_t width) {
  Net net;
  std::string last = net.input({1, width}), all = last;
  for (int k = 0; k < length; ++k) {
    last = net.apply("Tanh", {last});
    onnx::NodeProto& concat = net.node("Concat", {all, last});
    set(concat, "axis", 1);
    all = concat.output(0);
  }
  net.output(all, {1, width * (length + 1)});
  return net.bytes();
}

// Inputs of their own, one above the other.
std::string stacked(int operands, const std::string& op) {
  Net net;
  std::vector<std::string> parts;
  for (int k = 0; k < operands; ++k) parts.push_back(net.apply(op, {net.input({1, kRow})}));
  onnx::NodeProto& concat = net.node("Concat", parts);
  set(concat, "axis", 0);
  net.output(concat.output(0), {operands, kRow});
  return net.bytes();
}

std::string wide_split(int parts, const std::string& then) {
  Net net;
  const std::string x = net.input({1, kRow * parts});
  onnx::NodeProto& split = net.node("Split", {x}, parts);
  set(split, "axis", 1);
  const std::vector<std::string> names(split.output().begin(), split.output().end());
  std::vector<std::string> results;
  for (const std::string& name : names) results.push_back(net.apply(then, {name}));
  onnx::NodeProto& sum = net.node("Concat", results);
  set(sum, "axis", 0);
  net.output(sum.output(0), {parts, kRow});
  return net.bytes();
}

// One tensor read `count` times, and what is made of it added one by one.
std::string fan(int count, const std::string& op) {
  Net net;
  const std::string x = net.input({1, kRow});
  std::string sum = x;
  for (int k = 0; k < count; ++k)
    sum = net.apply("Add", {sum, net.apply(op, {net.apply("Mul", {x, net.weights({1})})})});
  net.output(sum, {1, kRow});
  return net.bytes();
}

std::string many_arguments(int count) {
  Net net;
  for (int k = 0; k < count; ++k) net.output(net.apply("Softmax", {net.input({1, kRow})}), {1, kRow});
  return net.bytes();
}

std::string movements(int length) {
  Net net;
  const std::string flat = net.integers({4, 8}), deep = net.integers({1, 2, 2, 8});
  const std::string zero = net.integers({0}), seven = net.integers({7}), one = net.integers({1});
  std::string x = net.input({1, 2, 2, 8});
  for (int k = 0; k < length; ++k) {
    onnx::NodeProto& turned = net.node("Transpose", {x});
    set(turned, "perm", std::vector<int64_t>{0, 2, 1, 3});
    x = net.apply("Reshape", {turned.output(0), flat});
    onnx::NodeProto& a = net.node("Slice", {x, zero, seven, one});
    onnx::NodeProto& b = net.node("Slice", {x, seven, net.integers({8}), one});
    onnx::NodeProto& both = net.node("Concat", {b.output(0), a.output(0)});
    set(both, "axis", 1);
    x = net.apply("Reshape", {both.output(0), deep});
  }
  net.output(x, {1, 2, 2, 8});
  return net.bytes();
}

std::string views(int length) {
  Net net;
  const std::string flat = net.integers({4, 8}), deep = net.integers({1, 2, 2, 8});
  std::string x = net.input({1, 2, 2, 8});
  x = net.apply("Softmax", {x});
  for (int k = 0; k < length; ++k) x = net.apply("Reshape", {net.apply("Reshape", {x, flat}), deep});
  x = net.apply("Softmax", {x});
  net.output(x, {1, 2, 2, 8});
  return net.bytes();
}

std::string transposes(int length) {
  Net net;
  std::string x = net.input({3, 4, 5});
  for (int k = 0; k < length; ++k) {
    onnx::NodeProto& turned = net.node("Transpose", {x});
    set(turned, "perm", std::vector<int64_t>{1, 2, 0});
    x = turned.output(0);
  }
  net.output(x, {3, 4, 5});
  return net.bytes();
}

std::string constant_product(int64_t size) {
  Net net;
  const std::string x = net.input({size, size});
  net.output(
      net.apply("Add", {x, net.apply("MatMul", {net.weights({size, size}), net.weights({size, size})})}),
      {size, size});
  return net.bytes();
}

std::string einsum(int operands) {
  Net net;
  const std::string x = net.input({2, 2});
  std::vector<std::string> all(static_cast<size_t>(operands), x);
  std::string equation;
  for (int k = 0; k < operands; ++k)
    equation += fmt::format("{}{}{}", k ? "," : "", static_cast<char>('a' + k), static_cast<char>('b' + k));
  onnx::NodeProto& sum = net.node("Einsum", all);
  set(sum, "equation", equation + fmt::format("->a{}", static_cast<char>('a' + operands)));
  net.output(sum.output(0), {2, 2});
  return net.bytes();
}

// Loops within loops, the innermost body `op`.
void nest_loops(onnx::GraphProto& graph, const std::string& x, int depth, const std::string& op,
                const std::string& y) {
  onnx::NodeProto& loop = *graph.add_node();
  if (depth == 0) {
    loop.set_op_type(op), loop.add_input(x), loop.add_output(y);
    return;
  }
  scalar(graph, fmt::format("m{}", depth), onnx::TensorProto::INT64, 3);
  scalar(graph, fmt::format("k{}", depth), onnx::TensorProto::BOOL, 1);
  loop.set_op_type("Loop");
  for (const std::string& name : {fmt::format("m{}", depth), fmt::format("k{}", depth), x})
    loop.add_input(name);
  loop.add_output(y);
  onnx::GraphProto& body = set_graph(loop, "body");
  body.set_name("b");
  Net::value(*body.add_input(), fmt::format("i{}", depth), {}, onnx::TensorProto::INT64);
  Net::value(*body.add_input(), fmt::format("c{}", depth), {}, onnx::TensorProto::BOOL);
  Net::value(*body.add_input(), fmt::format("s{}", depth), {4}, onnx::TensorProto::FLOAT);
  nest_loops(body, fmt::format("s{}", depth), depth - 1, op, fmt::format("r{}", depth));
  onnx::NodeProto& same = *body.add_node();
  same.set_op_type("Identity"), same.add_input(fmt::format("c{}", depth)),
      same.add_output(fmt::format("d{}", depth));
  Net::value(*body.add_output(), fmt::format("d{}", depth), {}, onnx::TensorProto::BOOL);
  Net::value(*body.add_output(), fmt::format("r{}", depth), {4}, onnx::TensorProto::FLOAT);
}

enum class Start { kInput, kConstant };

std::string nested_loops(int depth, const std::string& op, Start start = Start::kInput) {
  Net net;
  const std::string x = start == Start::kInput ? net.input({4}) : net.weights({4});
  nest_loops(net.graph(), x, depth, op, "y");
  net.output("y", {4});
  return net.bytes();
}

void nest_ifs(onnx::GraphProto& graph, int depth, const std::string& y, const std::string& op, bool both) {
  onnx::NodeProto& node = *graph.add_node();
  if (depth == 0) {
    node.set_op_type(op), node.add_input("x1"), node.add_output(y);
    return;
  }
  node.set_op_type("If"), node.add_input("x2"), node.add_output(y);
  for (const char* which : {"then_branch", "else_branch"}) {
    onnx::GraphProto& branch = set_graph(node, which);
    branch.set_name("b");
    const std::string inner = fmt::format("{}{}", y, which[0]);
    nest_ifs(branch, both || which[0] == 't' ? depth - 1 : 0, inner, op, both);
    Net::value(*branch.add_output(), inner, {4}, onnx::TensorProto::FLOAT);
  }
}

std::string nested_ifs(int depth, const std::string& op, bool both) {
  Net net;
  net.input({4});
  net.input({}, onnx::TensorProto::BOOL);
  nest_ifs(net.graph(), depth, "y", op, both);
  net.output("y", {4});
  return net.bytes();
}

std::string recurrent_chain(const std::string& op, int layers, int64_t length) {
  Net net;
  const int64_t gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
  std::string x = net.input({length, 1, 4});
  const std::string axis = net.integers({1});
  for (int k = 0; k < layers; ++k) {
    onnx::NodeProto& node = net.node(op, {x, net.weights({1, 4 * gates, 4}), net.weights({1, 4 * gates, 4})});
    set(node, "hidden_size", 4);
    x = net.apply("Squeeze", {node.output(0), axis});
  }
  net.output(x, {length, 1, 4});
  return net.bytes();
}

std::string branches(int count) {
  Net net;
  std::string x = net.input({1, 8, 16, 16});
  std::vector<std::string> parts;
  for (int k = 0; k < count; ++k) {
    onnx::NodeProto& a = net.node("Conv", {x, net.weights({2, 8, 3, 3})});
    set(a, "pads", std::vector<int64_t>{1, 1, 1, 1});
    onnx::NodeProto& b = net.node("Conv", {net.apply("Relu", {a.output(0)}), net.weights({2, 2, 3, 3})});
    set(b, "pads", std::vector<int64_t>{1, 1, 1, 1});
    parts.push_back(b.output(0));
  }
  onnx::NodeProto& concat = net.node("Concat", parts);
  set(concat, "axis", 1);
  net.output(concat.output(0), {1, 2 * count, 16, 16});
  return net.bytes();
}

struct Case {
  std::string name;
  std::string (*model)();
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"softmax_chain", [] { return chain("Softmax", scaled(10'000)); }},
      {"relu_chain", [] { return chain("Relu", scaled(100'000)); }},
      {"sigmoid_chain", [] { return chain("Sigmoid", scaled(5'000)); }},
      {"cumulative_chain",
       [] {
         return chain("LogSoftmax", scaled(2'000), {1, 4, 4});
       }},
      {"matmul_chain", [] { return matmul_chain(scaled(10'000)); }},
      {"shared_matmul_chain", [] { return shared_matmul_chain(scaled(10'000)); }},
      {"matmul_relu_chain", [] { return matmul_relu_chain(scaled(50'000)); }},
      {"tiny_constants", [] { return tiny_constants(scaled(5'000)); }},
      {"residual_chain", [] { return residual_chain(300, 16); }},
      {"pool_chain",
       [] {
         return chain("GlobalAveragePool", scaled(10'000), {1, 4, 1, 1});
       }},
      {"dense48", [] { return dense(48); }},
      {"concat_of_computed", [] { return wide_concat(scaled(4'000), true); }},
      {"split_into_parts", [] { return wide_split(scaled(20'000)); }},
      {"concat_of_same", [] { return wide_concat(scaled(4'000), false); }},
      {"chain_of_parts",
       [] {
         return chain_of_parts(scaled(1'000), {1, 4, kRow});
       }},
      {"chain_of_images",
       [] {
         return chain_of_parts(60, {1, 8, 16, 16});
       }},
      {"growing_concat", [] { return growing_concat(scaled(500), kRow); }},
      {"growing_concat_wide", [] { return growing_concat(scaled(2'000), 64); }},
      {"stacked", [] { return stacked(scaled(4'000), "Relu"); }},
      {"split_softmax", [] { return wide_split(scaled(1'000), "Softmax"); }},
      {"split_relu", [] { return wide_split(scaled(1'000), "Relu"); }},
      {"fan_softmax", [] { return fan(scaled(1'000), "Softmax"); }},
      {"fan_relu", [] { return fan(scaled(1'000), "Relu"); }},
      {"many_arguments", [] { return many_arguments(scaled(1'000)); }},
      {"movements", [] { return movements(scaled(1'000)); }},
      {"views", [] { return views(scaled(20'000)); }},
      {"transposes", [] { return transposes(scaled(30'000)); }},
      {"constant_product", [] { return constant_product(512); }},
      {"einsum", [] { return einsum(20); }},
      {"loops", [] { return nested_loops(26, "Relu"); }},
      {"loops_wrong", [] { return nested_loops(26, "Wrong"); }},
      {"loops_of_constants", [] { return nested_loops(26, "Relu", Start::kConstant); }},
      {"loops_of_constants_wrong", [] { return nested_loops(26, "Wrong", Start::kConstant); }},
      {"ifs", [] { return nested_ifs(12, "Relu", true); }},
      {"ifs_deep", [] { return nested_ifs(26, "Relu", false); }},
      {"ifs_wrong", [] { return nested_ifs(26, "Wrong", false); }},
      {"lstm_chain", [] { return recurrent_chain("LSTM", 300, 100); }},
      {"gru_chain", [] { return recurrent_chain("GRU", 300, 100); }},
      {"branches", [] { return branches(100); }},
  };
  return all;
}

double seconds_used() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

class Cost : public testing::TestWithParam<Case> {};

TEST_P(Cost, IsBounded) {
  const TemporaryFolder folder;
  CompileOptions options;
  options.model = (folder.path() / (GetParam().name + ".onnx")).string();
  options.verbosity = Verbosity::kVerbose;
  std::ofstream(options.model, std::ios::binary) << GetParam().model();
  const double begin = seconds_used();
  std::string verdict;
  try {
    verdict = fmt::format("{} bytes", compile(options).plan.pools[0].size);
  } catch (const UserError& error) {
    verdict = std::string(error.what()).substr(0, 200);
  }
  const double seconds = seconds_used() - begin;
  fmt::print("{:>24} {:8.2f} s  {}\n", GetParam().name, seconds, verdict);
  EXPECT_LT(seconds, kMostSeconds);
}

INSTANTIATE_TEST_SUITE_P(Models, Cost, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace arenac
