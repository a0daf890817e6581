// Local functions: a call is replaced by the function's nodes, in a scope of their own.
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "frontend/importer.h"

namespace arenac {
namespace {

constexpr int kMaxFunctionDepth = 32;

// Fields that are newer than ONNX 1.12, whose messages keep them unread.
constexpr uint32_t kFunctionDefaults = 11, kFunctionOverload = 13, kNodeOverload = 8;

// The contents of the length-delimited fields of number `field` in a serialised message.
std::vector<std::string> fields_of(const std::string& message, uint32_t field) {
  std::vector<std::string> found;
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(message.data()),
                                            static_cast<int>(message.size()));
  while (const uint32_t tag = in.ReadTag()) {
    uint64_t number = 0;
    uint32_t size = 0;
    std::string content;
    const uint32_t wire = tag & 7;
    const bool read = wire == 0   ? in.ReadVarint64(&number)
                      : wire == 1 ? in.Skip(8)
                      : wire == 5 ? in.Skip(4)
                      : wire == 2 ? in.ReadVarint32(&size) && in.ReadString(&content, static_cast<int>(size))
                                  : false;
    if (!read) break;
    if (wire == 2 && tag >> 3 == field) found.push_back(std::move(content));
  }
  return found;
}

template <typename Message>
std::string overload_of(const Message& message, uint32_t field) {
  const auto all = fields_of(message.SerializeAsString(), field);
  return all.empty() ? "" : all.back();
}

std::string function_key(const std::string& domain, const std::string& name, const std::string& overload) {
  return domain_of(domain) + ":" + name + (overload.empty() ? "" : ":" + overload);
}

// `ref_attr_name` attributes of a function's body take their value from the call, or vanish.
void bind_attributes(onnx::NodeProto& node, const std::map<std::string, onnx::AttributeProto>& actual) {
  for (int k = node.attribute_size(); k-- > 0;) {
    onnx::AttributeProto& attribute = *node.mutable_attribute(k);
    if (!attribute.ref_attr_name().empty()) {
      const auto at = actual.find(attribute.ref_attr_name());
      if (at == actual.end()) {
        node.mutable_attribute()->DeleteSubrange(k, 1);
        continue;
      }
      const std::string name = attribute.name();
      attribute = at->second;
      attribute.set_name(name);
    }
    if (attribute.has_g())
      for (onnx::NodeProto& inner : *attribute.mutable_g()->mutable_node()) bind_attributes(inner, actual);
  }
}

}  // namespace

void Importer::declare_functions(const onnx::ModelProto& model) {
  for (const onnx::FunctionProto& function : model.functions()) {
    const std::string overload = overload_of(function, kFunctionOverload);
    overloads_ |= !overload.empty();
    if (!functions.emplace(function_key(function.domain(), function.name(), overload), &function).second)
      throw UserError(fmt::format("two functions are called '{}' in domain '{}'", printable(function.name()),
                                  printable(function.domain())));
    for (const std::string& bytes : fields_of(function.SerializeAsString(), kFunctionDefaults)) {
      auto attribute = std::make_shared<onnx::AttributeProto>();
      if (!attribute->ParseFromString(bytes))
        throw UserError(
            fmt::format("function '{}': a default attribute is unreadable", printable(function.name())));
      function_defaults_[&function].push_back(std::move(attribute));
    }
  }
}

const onnx::FunctionProto* Importer::function_of(const onnx::NodeProto& node) const {
  if (functions.empty()) return nullptr;
  const std::string overload = overloads_ ? overload_of(node, kNodeOverload) : "";
  const auto at = functions.find(function_key(node.domain(), node.op_type(), overload));
  return at == functions.end() ? nullptr : at->second;
}

void Importer::lower_function(const onnx::FunctionProto& function, const onnx::NodeProto& call) {
  const OnnxNode caller = resolve(call);
  const std::string who =
      fmt::format("node '{}' (function {})", printable(caller.origin), printable(caller.op));
  if (function_depth_ >= kMaxFunctionDepth)
    throw UserError(fmt::format("{}: functions call each other endlessly", who));
  if (caller.inputs.size() > static_cast<size_t>(function.input_size()) ||
      caller.outputs.size() > static_cast<size_t>(function.output_size()))
    throw UserError(fmt::format("{}: {} inputs and {} outputs are more than the function declares", who,
                                caller.inputs.size(), caller.outputs.size()));

  std::map<std::string, TensorId> scope;
  for (int k = 0; k < function.input_size(); ++k)
    scope[function.input(k)] = k < static_cast<int>(caller.inputs.size()) ? caller.inputs[k] : kAbsent;
  std::map<std::string, onnx::AttributeProto> actual;
  if (const auto defaults = function_defaults_.find(&function); defaults != function_defaults_.end())
    for (const auto& attribute : defaults->second) actual[attribute->name()] = *attribute;
  for (const onnx::AttributeProto& attribute : call.attribute()) actual[attribute.name()] = attribute;

  // The body sees its own names and versions only, also when it fails.
  struct Outside {
    Importer& importer;
    decltype(scopes_) scopes;
    decltype(opsets) versions;
    ~Outside() {
      importer.scopes_ = std::move(scopes);
      importer.opsets = std::move(versions);
      --importer.function_depth_;
    }
  };
  std::vector<TensorId> results;
  {
    const Outside outside{*this, std::exchange(scopes_, {std::move(scope)}), opsets};
    ++function_depth_;
    for (const onnx::OperatorSetIdProto& opset : function.opset_import())
      opsets[domain_of(opset.domain())] = static_cast<int>(std::clamp<int64_t>(opset.version(), 0, 1000));
    for (int k : topological_order(function.node())) {
      onnx::NodeProto& node = *instances_.emplace_back(std::make_shared<onnx::NodeProto>(function.node(k)));
      node.set_name(caller.origin + "/" + node_name(node));
      bind_attributes(node, actual);
      lower_node(node);
    }
    for (const std::string& name : function.output()) results.push_back(lookup(name, who));
  }
  for (size_t k = 0; k < caller.outputs.size(); ++k)
    if (!caller.outputs[k].empty()) bind(caller.outputs[k], results[k]);
}

}  // namespace arenac
