// Which files a model consists of, a walk over every tensor of the message, and reading them.
#include "frontend/model_files.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

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

Locations locations_of(const onnx::SparseTensorProto& tensor) {
  Locations found = locations_of(tensor.values());
  found.merge(locations_of(tensor.indices()));
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
    found.merge(locations_of(attribute.sparse_tensor()));
    found.merge(locations_in(attribute.tensors()));
    if (attribute.has_g()) found.merge(locations_of(attribute.g()));
    found.merge(locations_in(attribute.graphs()));
  }
  return found;
}

Locations locations_of(const onnx::GraphProto& graph) {
  Locations found = locations_in(graph.initializer());
  found.merge(locations_in(graph.sparse_initializer()));
  found.merge(locations_in(graph.node()));
  return found;
}

// Graphs in graphs that the message may hold; the importer takes fewer (kMostNested), and says which node's
// are too many. Each is three messages deeper: the graph, its node, the node's attribute.
constexpr int kMostParsed = 1000;

onnx::ModelProto parsed(google::protobuf::io::ZeroCopyInputStream& bytes, const std::string& name) {
  google::protobuf::io::CodedInputStream coded(&bytes);
  coded.SetRecursionLimit(3 * kMostParsed);
  onnx::ModelProto model;
  if (!model.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage())
    throw UserError(fmt::format("{}: not an ONNX model, truncated, or of graphs nested more than {} deep",
                                name, kMostParsed));
  return model;
}

}  // namespace

onnx::ModelProto model_of_file(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::file_status status = fs::status(path);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status))
    throw UserError(
        fmt::format("{}: is a pipe or a device; a model is read more than once: save it to a file", path));
  std::ifstream file(path, std::ios::binary);
  if (!file || fs::is_directory(status)) throw UserError(fmt::format("{}: cannot be read", path));
  google::protobuf::io::IstreamInputStream stream(&file);
  return parsed(stream, path);
}

onnx::ModelProto model_of_bytes(const std::string& bytes, const std::string& name) {
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  return parsed(stream, name);
}

std::vector<std::string> model_files(const std::string& path) {
  const onnx::ModelProto model = model_of_file(path);
  Locations locations = locations_of(model.graph());
  for (const onnx::FunctionProto& function : model.functions())
    locations.merge(locations_in(function.node()));
  std::vector<std::string> files = {path};
  for (const std::string& location : locations)
    files.push_back((std::filesystem::path(path).parent_path() / location).string());
  return files;
}

}  // namespace arenac
