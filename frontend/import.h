// ONNX bytes to a Graph.
//
//   Graph g = import_model("net.onnx", {.dims = {{"batch", 1}}});
//   Graph h = import_text("<ir_version: 8, opset_import: [\"\" : 17]> g (float[2] x) => (float[2] y) { y =
//   Relu(x) }");
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "frontend/graph.h"

namespace arenac {

struct ImportOptions {
  std::map<std::string, int64_t> dims = {};  // symbolic dimension -> extent
  std::map<std::string, Shape> shapes = {};  // input name -> whole shape; of a sequence's only element
  // Inputs of sequence type: the shape of each element. They become inputs NAME_0, NAME_1, ...
  std::map<std::string, std::vector<Shape>> sequences = {};
  std::set<std::string> absent = {};  // optional inputs that hold nothing, and empty sequences
  std::set<std::string> held = {};    // of these inputs, those whose shapes are what their files hold
  // Input name -> the value that it will always have, as many elements as the input has. Used where lowering
  // must know it (a shape, the trip count of a loop); the graph then ends the run with an error when the
  // input differs.
  std::map<std::string, Value> values = {};
  // The command line that asks for this, in messages that say what to add to it; empty: that of `compile`.
  std::string command = {};

  bool operator==(const ImportOptions&) const = default;
};

// Symbolic dimensions that are left open and look like a batch become 1 (frontend/bindings.h); Graph::notes
// says so. Reads IR versions 3 to 13 and opsets 1 to 28. Throws UserError for whatever the model is at fault
// for or arenac does not support; the message lists every offending node.
Graph import_model(const std::string& path, const ImportOptions& options = {});
Graph import_bytes(const std::string& bytes, const std::string& name, const ImportOptions& options = {});
// The ONNX text form, for tests. An output may declare no type: g (float[2] x) => (y) { y = Shape(x) }.
Graph import_text(const std::string& text, const ImportOptions& options = {});

// The names and declared shapes of the inputs that a caller must supply (initializers excepted), or of the
// outputs, before any binding: -1 where a dimension is symbolic, with its name beside. Of a sequence or an
// optional they are those of what it holds.
struct Declaration {
  std::string name;
  std::vector<int64_t> extents = {};
  std::vector<std::string> symbols = {};
  bool is_sequence = false, is_optional = false;
  double quantum = 0;  // of an output, see quantum.h
};
std::vector<Declaration> declared_inputs(const std::string& path);
std::vector<Declaration> declared_outputs(const std::string& path);

// What one input or output holds: a tensor is one part, and an optional that holds nothing has none.
struct Held {
  std::vector<Value> parts;
  bool present = true;
};
// The names that its parts have as the compiled model's inputs or outputs: NAME, or NAME_0, NAME_1, ...
std::vector<std::string> part_names(const Declaration& declaration, const Held& held);
// The same options with the input bound to what it holds, where they do not bind it already.
ImportOptions bound_to(ImportOptions options, const Declaration& input, const Held& held);

// The model's file and every external data file that it refers to, for build systems.
std::vector<std::string> model_files(const std::string& path);

// One tensor of a .pb file (a serialised TensorProto, as ONNX's backend test data are).
Value read_tensor_file(const std::string& path);
// What a .pb file holds of an input or output of any type (a TensorProto, SequenceProto or OptionalProto),
// and the bytes of such a file.
Held read_held_file(const std::string& path, const Declaration& declaration);
std::string held_file(const Declaration& declaration, const Held& held);

}  // namespace arenac
