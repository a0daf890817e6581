// Hostile models: whatever the bytes are, compile gives C or throws UserError, and soon.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "driver/compile.h"
#include "driver/files.h"
#include "frontend/error.h"
#include "tests/seeds.h"

namespace arenac {
namespace {

using testing::HasSubstr;

const std::string kHead = "<ir_version: 8, opset_import: [\"\" : 17, \"ai.onnx.ml\" : 3, \"f\" : 1]> ";

onnx::ModelProto parsed(const std::string& text) {
  onnx::ModelProto model;
  onnx::OnnxParser parser(text.c_str());
  const auto status = parser.Parse(model);
  if (!status.IsOK()) throw std::runtime_error(status.ErrorMessage());
  return model;
}

// What compile says: "" when it works. Anything but a UserError escapes, and fails the test. Most models fail
// at import, which needs no file.
std::string verdict(const std::string& bytes) {
  static const TemporaryFolder folder;
  CompileOptions options;
  options.model = (folder.path() / "m.onnx").string();
  options.verbosity = Verbosity::kQuiet;
  try {
    import_bytes(bytes, "m.onnx");
    std::ofstream(options.model, std::ios::binary) << bytes;
    compile(options);
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}
std::string verdict(const onnx::ModelProto& model) { return verdict(model.SerializeAsString()); }

// A model for each family of operators.
const std::vector<std::string>& models() {
  static const std::vector<std::string> all = {
      R"(g (float[1, 2, 5, 5] x) => (float[1, 3, 3, 3] y) <float[3, 2, 3, 3] w = {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9}, float[3] b = {1, 2, 3}> {
        c = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]> (x, w, b)
        r = Relu(c)
        y = MaxPool <kernel_shape = [2, 2], pads = [0, 0, 1, 1]> (r) })",
      R"(g (float[2, 3, 4] x) => (float[a, b] y, int64[k] i) <int64[2] shape = {2, -1}, int64[1] one = {1}, int64[2] s = {0, 1}, int64[2] e = {2, 3}, int64[1] k = {2}> {
        t = Transpose <perm = [1, 0, 2]> (x)
        q = Slice(t, s, e)
        u = Unsqueeze(q, one)
        n = Shape(x)
        p = Gather <axis = 0> (n, one)
        h = Reshape(x, shape)
        c = Concat <axis = 0> (h, h)
        y, i = TopK <axis = -1> (c, k) })",
      R"(g (float[2, 6] x, bool c) => (float[2, 4] y, float[2, 6] z) <float[6, 4] w = {1,2,3,4,1,2,3,4,1,2,3,4,1,2,3,4,1,2,3,4,1,2,3,4}, float[4] b = {0, 1, 0, 1}, int64 m = {4}, bool yes = {1}> {
        a = Gemm <alpha = 0.5> (x, w, b)
        n = Softmax <axis = 1> (a)
        l = ReduceMean <axes = [1], keepdims = 1> (n)
        y = If (c) <then_branch = p () => (float[2, 4] u) { u = Sub(n, l) }, else_branch = q () => (float[2, 4] v) { v = Add(n, l) }>
        z = Loop (m, yes, x) <body = d (int64 t, bool o, float[2, 6] s) => (bool o, float[2, 6] r) { r = Add(s, x) }> })",
      R"(g (float[3, 1, 2] x) => (float[3, 1, 1, 2] y, float[1, 1, 2] h) <float[1, 8, 2] w = {1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8}, float[1, 8, 2] r = {1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8}> {
        y, h = LSTM <hidden_size = 2> (x, w, r) })",
      R"(g (float[2, 8] x) => (int8[2, 8] y, float[2, 8] z) <float s = {0.1}, int8 zero = {1}> {
        y = QuantizeLinear(x, s, zero)
        z = DequantizeLinear(y, s, zero) })",
      R"(g (float[3, 2] x) => (int64[3] l, float[3, 3] p, float[3, 2] s) {
        l, p = ai.onnx.ml.TreeEnsembleClassifier <classlabels_int64s = [7, 8, 9], class_treeids = [0, 0, 0], class_nodeids = [1, 3, 4],
          class_ids = [2, 0, 1], class_weights = [1.0, 2.0, 3.0], nodes_treeids = [0, 0, 0, 0, 0], nodes_nodeids = [0, 1, 2, 3, 4],
          nodes_featureids = [0, 0, 1, 0, 0], nodes_modes = ["BRANCH_LEQ", "LEAF", "BRANCH_LT", "LEAF", "LEAF"],
          nodes_values = [0.5, 0.0, 2.0, 0.0, 0.0], nodes_truenodeids = [1, 0, 3, 0, 0], nodes_falsenodeids = [2, 0, 4, 0, 0]> (x)
        s = ai.onnx.ml.Scaler <offset = [1.0], scale = [2.0, 3.0]> (x) })",
      R"(g (float[1, 4, 4, 4] x) => (float[n] y, float[1, 4, 2, 2] z) <float[4] scales = {1, 1, 2, 2}, float[1] k = {0.5}, int64[8] pads = {0, 0, 1, 1, 0, 0, 1, 1}> {
        r = Resize <mode = "linear"> (x, , scales)
        p = Pad <mode = "reflect"> (r, pads)
        d = DepthToSpace <blocksize = 2> (p)
        a = AveragePool <kernel_shape = [2, 2], strides = [2, 2]> (x)
        g = GlobalAveragePool(a)
        f = Flatten(d)
        y = ReduceSum(f)
        z = Mul(a, g) })",
      R"(g (float[2, 3] x) => (float[2, 3] y) { y = f.twice <factor = 2.5> (x) }
        <opset_import: ["" : 17], domain: "f"> twice <factor> (a) => (b) { c = Constant <value_float : float = @factor> ()  b = Mul(a, c) })",
      R"(g (string[3] x, int64[2] i) => (string[n] y, float[2] f, int64[3] l) <int64[1] one = {1}> {
        k = Constant <value_strings = ["a", "b", "c"]> ()
        c = StringNormalizer <case_change_action = "UPPER", stopwords = ["a"]> (x)
        g = Gather(k, i)
        y = Concat <axis = 0> (c, k)
        f = Cast <to = 1> (g)
        l = ai.onnx.ml.LabelEncoder <keys_strings = ["a", "b"], values_int64s = [1, 2], default_int64 = 3> (x) })",
  };
  return all;
}

TEST(Hostile, TheModelsAreWell) {
  for (const std::string& text : models()) EXPECT_EQ(verdict(parsed(kHead + text)), "") << text;
}

TEST(Hostile, Truncation) {
  for (const std::string& text : models()) {
    const std::string bytes = parsed(kHead + text).SerializeAsString();
    for (size_t size = 0; size < bytes.size(); ++size) verdict(bytes.substr(0, size));
  }
}

void flip_bits(std::string bytes, std::mt19937& random) {
  for (unsigned n = 1 + random() % 3; n > 0; --n) {
    const size_t at = random() % bytes.size();
    if (random() % 2)
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
    else
      bytes[at] = static_cast<char>(random());
  }
  verdict(bytes);
}

TEST(Hostile, BitFlips) {
  std::mt19937 random(1);
  for (const std::string& text : models()) {
    const std::string bytes = parsed(kHead + text).SerializeAsString();
    for (unsigned round = 0; round < seeds(400); ++round) flip_bits(bytes, random);
  }
}

// ---- changes that keep the message well-formed: they reach further than flipped bits

int below(int size, std::mt19937& random) { return static_cast<int>(random() % static_cast<unsigned>(size)); }

int64_t number(std::mt19937& random) {
  constexpr int64_t kInts[] = {-1,     0, 1, 2, 3, 7, -2, 1000, -9, INT64_MAX, INT64_MIN, int64_t{1} << 40,
                               1 << 30};
  return kInts[random() % std::size(kInts)];
}

// Another tensor, one fewer, or one more.
void change_operands(onnx::NodeProto& node, const onnx::GraphProto& graph, std::mt19937& random) {
  const int what = below(3, random);
  if (what == 0) return node.add_input(graph.input(0).name());
  if (node.input_size() == 0) return;
  if (what == 1) return node.mutable_input()->RemoveLast();
  const onnx::NodeProto& other = graph.node(below(graph.node_size(), random));
  if (random() % 2 && graph.initializer_size())
    node.set_input(below(node.input_size(), random),
                   graph.initializer(below(graph.initializer_size(), random)).name());
  else
    node.set_input(below(node.input_size(), random), other.output(0));
}

void change_attribute(onnx::NodeProto& node, std::mt19937& random) {
  if (node.attribute_size() == 0) return;
  onnx::AttributeProto& a = *node.mutable_attribute(below(node.attribute_size(), random));
  const int what = below(3, random);
  if (a.ints_size() && what == 0)
    a.mutable_ints()->RemoveLast();
  else if (a.ints_size() && what == 1)
    a.add_ints(number(random));
  else if (a.ints_size())
    a.set_ints(below(a.ints_size(), random), number(random));
  else if (a.floats_size())
    a.set_floats(below(a.floats_size(), random), static_cast<float>(number(random)));
  else if (a.has_i())
    a.set_i(number(random));
  else
    node.mutable_attribute()->RemoveLast();
}

void change_input(onnx::GraphProto& graph, std::mt19937& random) {
  onnx::ValueInfoProto& input = *graph.mutable_input(below(graph.input_size(), random));
  auto& type = *input.mutable_type()->mutable_tensor_type();
  auto& dims = *type.mutable_shape()->mutable_dim();
  const int what = below(4, random);
  if (what == 0) type.set_elem_type(1 + below(16, random));
  if (what == 1) dims.Add()->set_dim_value(2);
  if (what == 2 && !dims.empty()) dims.RemoveLast();
  if (what == 3 && !dims.empty()) dims[below(dims.size(), random)].set_dim_value(number(random));
}

void change_initializer(onnx::GraphProto& graph, std::mt19937& random) {
  if (graph.initializer_size() == 0) return;
  onnx::TensorProto& t = *graph.mutable_initializer(below(graph.initializer_size(), random));
  if (t.int64_data_size())
    t.set_int64_data(below(t.int64_data_size(), random), number(random));
  else if (t.dims_size() && random() % 2)
    t.mutable_dims()->RemoveLast();
  else if (t.dims_size())
    t.set_dims(below(t.dims_size(), random), number(random));
}

void mutate(onnx::ModelProto& model, std::mt19937& random) {
  onnx::GraphProto& graph = *model.mutable_graph();
  onnx::NodeProto& node = *graph.mutable_node(below(graph.node_size(), random));
  switch (below(8, random)) {
    case 0:
    case 1:
      return change_operands(node, graph, random);
    case 2:
    case 3:
      return change_attribute(node, random);
    case 4:
    case 5:
      return change_input(graph, random);
    case 6:
      return change_initializer(graph, random);
    default:
      node.set_op_type(graph.node(below(graph.node_size(), random)).op_type());
  }
}

TEST(Hostile, WellFormedNonsense) {
  std::mt19937 random(2);
  for (const std::string& text : models()) {
    const onnx::ModelProto original = parsed(kHead + text);
    for (unsigned round = 0; round < seeds(400); ++round) {
      onnx::ModelProto model = original;
      for (unsigned n = 1 + random() % 2; n > 0; --n) mutate(model, random);
      SCOPED_TRACE(model.ShortDebugString());
      verdict(model);
    }
  }
}

TEST(Hostile, RealModels) {
  const std::filesystem::path folder = std::filesystem::path(ARENAC_ROOT) / "../shared/models";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "../shared/models is absent";
  std::mt19937 random(3);
  int models = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".onnx" || entry.file_size() > 60000) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    for (unsigned round = 0; round < seeds(20); ++round) flip_bits(bytes, random);
    ++models;
  }
  EXPECT_GT(models, 5);
}

// ---- one fault at a time: what the message says

TEST(Refusal, NamesTheFault) {
  const struct {
    const char* text;
    const char* says;
  } kCases[] = {
      {"g (float[2] x) => (float[2] y) { a = Add(x, b)  b = Relu(a)  y = Relu(b) }", "cycle"},
      {"g (float[2] x) => (float[2] y) { y = Relu(z) }", "reads 'z', which nothing writes"},
      {"g (float[2] x) => (float[2] z) { y = Relu(x) }", "reads 'z', which nothing writes"},
      {"g (float[2] x) => (float[2] y) { y = Relu(x)  y = Relu(x) }", "'y' is written by two nodes"},
      {"g (float[2] x) => (float[2] y) { x = Relu(y)  y = Relu(y) }", "'x' is written twice"},
      {"g (float[2] x, float[2] x) => (float[2] y) { y = Relu(x) }", "two inputs are called 'x'"},
      {"g (float[2, n] x) => (float[2, n] y) { y = Relu(x) }", "bind it with --dim n=N"},
      {"g (float[2, 3] x, float[4] z) => (float[2, 3] y) { y = Add(x, z) }",
       "node 'y' (Add, inputs float32 [2,3], float32 [4])"},
      {"g (float[2] x, int64[2] z) => (float[2] y) { y = Add(x, z) }",
       "node 'y' (Add, inputs float32 [2], int64 [2])"},
      {"g (float[2] x) => (float[2] y) { y = Add(x) }", "input 1 is missing"},
      {"g (float[1, 1] x) => (float[n, m] y) <int64[2] s = {2000000, 2000000}> { y = Expand(x, s) }",
       "node 'y' (Expand, inputs float32 [1,1], int64 [2]): shape [2000000,2000000] has more than 2^40"},
      {"g (float[2] x) => (float[2] y) { y = Softmax <axis = 1.5> (x) }", "attribute 'axis'"},
      {"g (float[2] x) => (float[2] y) { y = f.f(x) } <opset_import: [\"\" : 17], domain: \"f\"> f (a) => "
       "(b) { b = f.f(a) }",
       "endlessly"},
  };
  for (const auto& [text, says] : kCases) {
    const std::string message = verdict(parsed(kHead + text));
    EXPECT_THAT(message, HasSubstr(says)) << text;
    EXPECT_TRUE(message.starts_with("m.onnx: ")) << message;
  }
}

TEST(Refusal, OfSizes) {
  onnx::ModelProto model = parsed(kHead + "g (float[2] x) => (float[2] y) { y = Relu(x) }");
  const auto set = [&](int64_t extent) {
    model.mutable_graph()
        ->mutable_input(0)
        ->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(0)
        ->set_dim_value(extent);
    return verdict(model);
  };
  EXPECT_THAT(set(-5), HasSubstr("input 'x'"));
  EXPECT_THAT(set(INT64_MAX), HasSubstr("input 'x': shape [9223372036854775807] has more than 2^40"));
  EXPECT_EQ(set(0), "");
}

TEST(Refusal, OfMoreDimensionsThanLoopsNest) {
  const auto with_rank = [](int rank) {
    onnx::ModelProto model = parsed(kHead + "g (float[2] x) => (float[2] y) { y = Transpose(x) }");
    for (auto* value : {model.mutable_graph()->mutable_input(0), model.mutable_graph()->mutable_output(0)}) {
      auto& shape = *value->mutable_type()->mutable_tensor_type()->mutable_shape();
      for (int d = 1; d < rank; ++d) shape.add_dim()->set_dim_value(1);
    }
    model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
    return verdict(model);
  };
  EXPECT_EQ(with_rank(64), "");
  EXPECT_THAT(with_rank(5000), HasSubstr("input 'x': a shape of 5000 dimensions has more than 64"));
}

// Its constant would take 1.6 GB at compile time: the emitted C computes it.
TEST(Hostile, AHugeConstantIsNotFolded) {
  EXPECT_EQ(verdict(parsed(kHead + "g (float[2] x) => (float[n] y) <int64[3] s = {20000, 20000, 1}> { y = "
                                   "ConstantOfShape(s) }")),
            "");
}

// A mask of ones, a gigabyte of them: a formula, too.
TEST(Hostile, AHugeMaskIsNoConstant) {
  const Graph graph = import_text(kHead +
                                  "g (float[1024, 1024, 1024] x) => (float[1024, 1024, 1024] y, "
                                  "bool[1024, 1024, 1024] m) { y, m = Dropout(x) }");
  for (const Tensor& tensor : graph.tensors)
    EXPECT_TRUE(tensor.constant == nullptr || bytes_of(tensor) < 1'000'000) << tensor.name;
}

// Hundreds of operations on one element before they are summed up: what is asked of them must not be asked
// twice of their operands.
TEST(Hostile, ALongChainIsNoTrouble) {
  for (const char* op : {"Add", "Sub", "Max"}) {
    std::string body;
    for (int k = 0; k < 250; ++k) body += fmt::format("  v{} = {}(v{}, x)\n", k + 1, op, k);
    EXPECT_EQ(verdict(parsed(kHead +
                             "g (int32[1, 1, 9, 9] x) => (int32[1] y) <int64[4] all = {0, 1, 2, 3}> {\n"
                             "  v0 = Neg(x)\n" +
                             body +
                             "  s = ReduceSum<keepdims = 0>(v250, all)  one = Constant<value_ints = [1]>()"
                             "  y = Reshape(s, one) }")),
              "")
        << op;
  }
}

TEST(Refusal, OfVersions) {
  EXPECT_THAT(
      verdict(parsed(
          "<ir_version: 0, opset_import: [\"\" : 17]> g (float[2] x) => (float[2] y) { y = Relu(x) }")),
      HasSubstr("IR version 0"));
  EXPECT_THAT(
      verdict(parsed(
          "<ir_version: 99, opset_import: [\"\" : 17]> g (float[2] x) => (float[2] y) { y = Relu(x) }")),
      HasSubstr("IR version 99"));
  EXPECT_THAT(
      verdict(parsed(
          "<ir_version: 8, opset_import: [\"\" : 99]> g (float[2] x) => (float[2] y) { y = Relu(x) }")),
      HasSubstr("opset 99"));
}

// 2^k nodes from k functions: refused by their number, soon.
TEST(Refusal, OfFunctionsThatMultiply) {
  std::string text = "g (float[2] x) => (float[2] y) { y = f.f0(x) }\n";
  for (int k = 0; k < 25; ++k)
    text += fmt::format(
        "<opset_import: [\"\" : 17, \"f\" : 1], domain: \"f\"> f{} (a) => (c) {{ b = f.f{}(a)  c = f.f{}(b) "
        "}}\n",
        k, k + 1, k + 1);
  text += "<opset_import: [\"\" : 17], domain: \"f\"> f25 (a) => (c) { c = Relu(a) }";
  EXPECT_THAT(verdict(parsed(kHead + text)), HasSubstr("more than"));
}

// `depth` Ifs in each other.
onnx::ModelProto nested(int depth) {
  onnx::ModelProto model =
      parsed(kHead +
             "g (bool c, float[2] x) => (float[2] y) { y = If (c) <then_branch = t () => (float[2] a) { a = "
             "Relu(x) }, else_branch = e () => (float[2] b) { b = Relu(x) }> }");
  onnx::GraphProto inner = model.graph().node(0).attribute(0).g();
  for (int k = 1; k < depth; ++k) {
    onnx::GraphProto outer = inner;
    outer.clear_node();
    onnx::NodeProto& node = *outer.add_node();
    node = model.graph().node(0);
    node.set_output(0, outer.output(0).name());
    *node.mutable_attribute(0)->mutable_g() = inner;
    inner = outer;
  }
  *model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g() = inner;
  return model;
}

TEST(Refusal, OfDeepNesting) {
  EXPECT_EQ(verdict(nested(40)), "");
  EXPECT_EQ(verdict(nested(99)), "");
  EXPECT_EQ(verdict(nested(900)),
            "");  // a branch that is too deep is left out, as any that cannot be lowered
  EXPECT_THAT(verdict(nested(1200)), HasSubstr("nested more than 1000 deep"));
}

TEST(External, StaysInTheFolder) {
  const auto with = [](const std::string& location, const std::string& offset) {
    onnx::ModelProto model =
        parsed(kHead + "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }");
    onnx::TensorProto& w = *model.mutable_graph()->mutable_initializer(0);
    w.clear_float_data();
    w.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] :
         {std::pair<std::string, std::string>{"location", location}, {"offset", offset}}) {
      auto& entry = *w.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    return verdict(model);
  };
  EXPECT_THAT(with("../secret", "0"), HasSubstr("outside the model's folder"));
  EXPECT_THAT(with("/etc/passwd", "0"), HasSubstr("outside the model's folder"));
  EXPECT_THAT(with("", "0"), HasSubstr("outside the model's folder"));
  EXPECT_THAT(with("no_such_file.bin", "0"), HasSubstr("missing"));
  EXPECT_THAT(with(std::string("a\0b", 3), "0"), HasSubstr("initializer 'w'"));
  EXPECT_THAT(with(std::string(5000, 'a'), "0"), HasSubstr("initializer 'w'"));
  EXPECT_THAT(with("no_such_file.bin", "-3"), HasSubstr("offset"));
}

}  // namespace
}  // namespace arenac
