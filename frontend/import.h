// ONNX bytes to a Graph.
//
//   Graph g = import_model("net.onnx", {.dims = {{"batch", 1}}});
//   Graph h = import_text("<ir_version: 8, opset_import: [\"\" : 17]> g (float[2] x) => (float[2] y) { y =
//   Relu(x) }");
#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontend/graph.h"

namespace arenac {

struct ImportOptions {
  std::map<std::string, int64_t> dims;  // symbolic dimension -> extent
  std::map<std::string, Shape> shapes;  // input name -> whole shape
  // Input name -> the value that it will always have, as many elements as the input has. Used where lowering
  // must know it (a shape, the trip count of a loop); the graph then ends the run with an error when the
  // input differs.
  std::map<std::string, Value> values;
};

// Reads IR versions 3 to 13 and opsets 1 to 28. Throws UserError for whatever the model is at fault for or
// arenac does not support; the message lists every offending node.
Graph import_model(const std::string& path, const ImportOptions& options = {});
Graph import_bytes(const std::string& bytes, const std::string& name, const ImportOptions& options = {});
Graph import_text(const std::string& text,
                  const ImportOptions& options = {});  // the ONNX text form, for tests

// The names and declared shapes of the inputs that a caller must supply (initializers excepted), before any
// binding: -1 where a dimension is symbolic, with its name beside.
struct InputDeclaration {
  std::string name;
  std::vector<int64_t> extents;
  std::vector<std::string> symbols;
};
std::vector<InputDeclaration> declared_inputs(const std::string& path);

// The model's file and every external data file that it refers to, for build systems.
std::vector<std::string> model_files(const std::string& path);

// One tensor of a .pb file (a serialised TensorProto, as ONNX's backend test data are), and back.
Value read_tensor_file(const std::string& path);
void write_tensor_file(const std::string& path, const std::string& name, const Value& value);

}  // namespace arenac
