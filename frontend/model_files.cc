// Which files a model consists of: a walk over every tensor of the message.
#include <onnx/onnx_pb.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "frontend/error.h"
#include "frontend/import.h"

namespace arenac {
namespace {

using Locations = std::set<std::string>;

Locations locations_of(const onnx::NodeProto& node);
Locations locations_of(const onnx::GraphProto& graph);

Locations locations_of(const onnx::TensorProto& tensor) {
  Locations found;
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL)
    for (const onnx::StringStringEntryProto& entry : tensor.external_data())
      if (entry.key() == "location") found.insert(entry.value());
  return found;
}

template <typename Messages>
Locations locations_in(const Messages& messages) {
  Locations found;
  for (const auto& message : messages) found.merge(locations_of(message));
  return found;
}

Locations locations_of(const onnx::NodeProto& node) {
  Locations found;
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    found.merge(locations_of(attribute.t()));
    found.merge(locations_in(attribute.tensors()));
    if (attribute.has_g()) found.merge(locations_of(attribute.g()));
    found.merge(locations_in(attribute.graphs()));
  }
  return found;
}

Locations locations_of(const onnx::GraphProto& graph) {
  Locations found = locations_in(graph.initializer());
  found.merge(locations_in(graph.node()));
  return found;
}

}  // namespace

std::vector<std::string> model_files(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  onnx::ModelProto model;
  if (!model.ParseFromIstream(&file)) throw UserError(path + ": not an ONNX model, or truncated");
  Locations locations = locations_of(model.graph());
  for (const onnx::FunctionProto& function : model.functions())
    locations.merge(locations_in(function.node()));
  std::vector<std::string> files = {path};
  for (const std::string& location : locations)
    files.push_back((std::filesystem::path(path).parent_path() / location).string());
  return files;
}

}  // namespace arenac
