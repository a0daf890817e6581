#include "models/onnx_builder.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <type_traits>

namespace arenac::models {
namespace {

// Old enough for every runtime that tests compare with; 13 is the first opset with scales for each channel
// (QuantizeLinear's axis).
constexpr int kIrVersion = 8;
constexpr int kOpset = 13;

// Of C++'s type the tensor type of ONNX; UNDEFINED is what no initializer may have.
template <typename T>
constexpr onnx::TensorProto::DataType kDataType = onnx::TensorProto::UNDEFINED;
template <>
constexpr auto kDataType<float> = onnx::TensorProto::FLOAT;
template <>
constexpr auto kDataType<int8_t> = onnx::TensorProto::INT8;
template <>
constexpr auto kDataType<uint8_t> = onnx::TensorProto::UINT8;
template <>
constexpr auto kDataType<int32_t> = onnx::TensorProto::INT32;
template <>
constexpr auto kDataType<int64_t> = onnx::TensorProto::INT64;

// The bits as an integer, whose lowest sizeof(T) bytes count.
template <typename T>
uint64_t bits_of(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<uint32_t>(value);
  } else {
    return static_cast<uint64_t>(value);
  }
}

// ONNX raw data is little-endian whatever the machine is.
template <typename T>
std::string little_endian(const std::vector<T>& values) {
  std::string bytes;
  bytes.reserve(values.size() * sizeof(T));
  for (const T value : values) {
    const uint64_t bits = bits_of(value);
    for (size_t i = 0; i < sizeof(T); ++i) bytes.push_back(static_cast<char>(bits >> (8 * i)));
  }
  return bytes;
}

// All dimensions are known: models of our own have no symbolic ones.
onnx::ValueInfoProto value_info(const std::string& name, onnx::TensorProto::DataType type,
                                const Ints& shape) {
  onnx::ValueInfoProto info;
  info.set_name(name);
  info.mutable_type()->mutable_tensor_type()->set_elem_type(type);
  auto* dims = info.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (const int64_t extent : shape) dims->add_dim()->set_dim_value(extent);
  return info;
}

// One of the four kinds that these models need.
onnx::AttributeProto attribute_proto(const std::string& name, const Attribute& attribute) {
  onnx::AttributeProto proto;
  proto.set_name(name);
  if (const auto* i = std::get_if<int64_t>(&attribute)) {
    proto.set_type(onnx::AttributeProto::INT);
    proto.set_i(*i);
  } else if (const auto* f = std::get_if<float>(&attribute)) {
    proto.set_type(onnx::AttributeProto::FLOAT);
    proto.set_f(*f);
  } else if (const auto* s = std::get_if<std::string>(&attribute)) {
    proto.set_type(onnx::AttributeProto::STRING);
    proto.set_s(*s);
  } else {
    proto.set_type(onnx::AttributeProto::INTS);
    for (const int64_t value : std::get<Ints>(attribute)) proto.add_ints(value);
  }
  return proto;
}

// Each domain once, the standard one first.
void import_domain(onnx::ModelProto& model, const std::string& domain, int version) {
  const auto& imports = model.opset_import();
  if (std::any_of(imports.begin(), imports.end(), [&](const auto& i) { return i.domain() == domain; }))
    return;
  auto* import = model.add_opset_import();
  import->set_domain(domain);
  import->set_version(version);
}

}  // namespace

OnnxBuilder::OnnxBuilder(const std::string& graph_name) {
  model_.set_ir_version(kIrVersion);
  model_.set_producer_name("arenac make_models");
  model_.mutable_graph()->set_name(graph_name);
  import_domain(model_, "", kOpset);
}

std::string OnnxBuilder::input(const std::string& name, onnx::TensorProto::DataType type, const Ints& shape) {
  *model_.mutable_graph()->add_input() = value_info(name, type, shape);
  return name;
}

void OnnxBuilder::output(const std::string& name, onnx::TensorProto::DataType type, const Ints& shape) {
  *model_.mutable_graph()->add_output() = value_info(name, type, shape);
}

template <typename T>
std::string OnnxBuilder::initializer(const std::string& name, const Ints& shape,
                                     const std::vector<T>& values) {
  const int64_t elements = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  if (elements != static_cast<int64_t>(values.size())) {
    throw std::invalid_argument(
        fmt::format("initializer '{}': {} values for {} elements", name, values.size(), elements));
  }
  auto* tensor = model_.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(kDataType<T>);
  for (const int64_t extent : shape) tensor->add_dims(extent);
  tensor->set_raw_data(little_endian(values));
  return name;
}

// The types that there are; others do not link.
template std::string OnnxBuilder::initializer(const std::string&, const Ints&, const std::vector<float>&);
template std::string OnnxBuilder::initializer(const std::string&, const Ints&, const std::vector<int8_t>&);
template std::string OnnxBuilder::initializer(const std::string&, const Ints&, const std::vector<uint8_t>&);
template std::string OnnxBuilder::initializer(const std::string&, const Ints&, const std::vector<int32_t>&);
template std::string OnnxBuilder::initializer(const std::string&, const Ints&, const std::vector<int64_t>&);

std::string OnnxBuilder::node(const std::string& name, const std::string& op,
                              const std::vector<std::string>& inputs, const Attributes& attributes) {
  node_with_outputs(name, op, inputs, {name}, attributes);
  return name;
}

void OnnxBuilder::node_with_outputs(const std::string& name, const std::string& op,
                                    const std::vector<std::string>& inputs,
                                    const std::vector<std::string>& outputs, const Attributes& attributes) {
  const size_t colon = op.find(':');
  const std::string domain = colon == std::string::npos ? "" : op.substr(0, colon);
  if (!domain.empty()) import_domain(model_, domain, 1);

  auto* node = model_.mutable_graph()->add_node();
  node->set_name(name);
  node->set_domain(domain);
  node->set_op_type(colon == std::string::npos ? op : op.substr(colon + 1));
  for (const auto& input : inputs) node->add_input(input);
  for (const auto& output : outputs) node->add_output(output);
  for (const auto& [key, value] : attributes) *node->add_attribute() = attribute_proto(key, value);
}

// Protocol buffers promise no order of bytes by themselves: attributes come sorted from Attributes, and
// serialisation is asked to be deterministic.
std::string serialize(const onnx::ModelProto& model) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  model.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

// Closing can fail, too: a full disk is noticed there.
void write_model(const onnx::ModelProto& model, const std::filesystem::path& file) {
  std::ofstream stream(file, std::ios::binary);
  const std::string bytes = serialize(model);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  if (!stream) throw std::runtime_error(fmt::format("{}: cannot be written", file.string()));
}

}  // namespace arenac::models
