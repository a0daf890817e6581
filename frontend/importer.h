// The state of one import, private to the frontend. importer.cc implements it, functions.cc the local
// functions; import.cc, lower.cc and the control-flow operators use it.
#pragma once

#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frontend/error.h"
#include "frontend/facts.h"
#include "frontend/graph.h"
#include "frontend/lower.h"

namespace google::protobuf {
template <typename Message>
class RepeatedPtrField;
}

namespace onnx {
class AttributeProto;
class FunctionProto;
class GraphProto;
class ModelProto;
class NodeProto;
class SparseTensorProto;
class TensorProto;
}  // namespace onnx

namespace arenac {

// Stands for the result of a node that could not be lowered; nodes that read it are passed over in silence,
// because the message already names the cause.
constexpr TensorId kUnknown = -2;

// Indices of the nodes such that each comes after what it reads: the file's order where that serves.
std::vector<int> topological_order(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes);

// The node's name, or that of its first output, or its operator's.
std::string node_name(const onnx::NodeProto& node);

// "" for "ai.onnx".
std::string domain_of(const std::string& domain);

// `name` with control characters, quotes and invalid UTF-8 escaped: safe in a one-line message.
std::string printable(const std::string& name);

constexpr int kMostNested = 100;                      // graphs in graphs, those of functions included
constexpr int64_t kMaxTableBytes = int64_t{1} << 27;  // of the constants that lowering works out for a model

class Importer {
 public:
  Graph graph;
  std::map<std::string, int> opsets;              // domain -> version in force
  int opset_of(const std::string& domain) const;  // the first of a domain that the model does not import
  // "domain:name", and of an overload "domain:name:overload", to the local function.
  std::map<std::string, const onnx::FunctionProto*> functions;
  std::map<std::string, Shape> declared_shapes;  // of the main graph's values, where static
  std::string directory;                         // of the model file: where external data may lie

  TensorId add_tensor(const std::string& name, Type type, Shape shape);
  TensorId add_constant(const std::string& name, std::shared_ptr<const Value> value);
  // Appends to the current block, or folds: a node all of whose reads are constants becomes constants.
  void add_node(Node node);
  // What to say of nodes of constants that folding was too costly for; nothing where there are none.
  std::optional<std::string> unfolded() const;
  // copy of `from` into the already existing tensor `to`; never folded.
  void copy(TensorId to, TensorId from, const std::string& origin);
  void clear(TensorId to, const std::string& origin);  // zeros, before a loop that writes parts
  // The same as copy at the end of a loop's body or of a branch, which no extents leave that only the run
  // knows.
  void assign(TensorId to, TensorId from, const std::string& origin);

  TensorId add_sequence(Sequence sequence);
  const Sequence& sequence_of(TensorId id) const;

  // Lowers one operator application; the results of its outputs (kUnknown where not wanted).
  std::vector<TensorId> lower(const OnnxNode& node);

  // Names. Inner scopes see outer ones.
  void bind(const std::string& name, TensorId id) { scopes_.back()[name] = id; }
  std::optional<TensorId> find(const std::string& name) const;
  TensorId lookup(const std::string& name, const std::string& who) const;  // UserError when unknown

  void declare_functions(const onnx::ModelProto& model);

  // Lowers the nodes and initializers of a (sub)graph into the current block in the current scope.
  void lower_graph(const onnx::GraphProto& proto);
  // Everything that add_node appends inside `body` goes to a new block.
  template <typename Body>
  Block in_block(const Body& body) {
    Block outer = std::exchange(block_, {});
    try {
      body();
    } catch (...) {
      block_ = std::move(outer);
      throw;
    }
    return std::exchange(block_, std::move(outer));
  }
  void append(Block block) { std::move(block.begin(), block.end(), std::back_inserter(block_)); }
  Block take_block() { return std::move(block_); }
  int new_symbol() { return symbols_++; }

  // An attempt at lowering something can be taken back, in_block's result being dropped.
  struct Mark {
    size_t tensors, problems, warnings;
    std::set<TensorId> asked_for;
    int64_t lowered_nodes, folded_bytes;
  };
  Mark mark() const {
    return {graph.tensors.size(), problems.size(), graph.warnings.size(), asked_for,
            lowered_nodes_,       folded_bytes_};
  }
  void roll_back(const Mark& mark);
  // Attempts within attempts come to powers of the depth: false after many nodes that were lowered in vain.
  bool may_attempt() const { return lowered_in_vain_ < kMaxLoweredInVain; }

  // An input whose value the caller has given. The import goes without the value until an operator asks for a
  // tensor that depends on it; then it starts again with it.
  void offer(TensorId input);
  void ask_for(TensorId id);
  std::set<TensorId> asked_for;  // offered inputs
  int64_t room_for_tables = kMaxTableBytes;

  // A node that ends the run with an error where the bool scalar `violated` holds.
  void guard(TensorId violated, const std::string& reason);

  // extents.cc: of a tensor some of whose extents only the run knows, per dimension the int64 scalar that
  // holds it, kAbsent where the shape does.
  std::map<TensorId, std::vector<TensorId>> extents;
  void set_extent(TensorId id, size_t dim, TensorId extent);
  TensorId true_shape(TensorId id, const std::string& origin);  // int64 [rank]

  std::shared_ptr<const Value> value_of(const onnx::TensorProto& proto, const std::string& who);
  std::shared_ptr<const Value> value_of(const onnx::SparseTensorProto& proto, const std::string& who);
  // What went wrong with nodes that the import could step over, to report them all. A UserError without text
  // says that the cause is already here.
  std::vector<std::string> problems;
  int unknown_operators = 0;  // met so far, roll-backs or not

 private:
  void carry_extents(const Node& node);
  void carry_sources(const Node& node);
  std::optional<Shape> declared_shape(const std::string& name) const;
  void lower_node(const onnx::NodeProto& proto);
  const onnx::FunctionProto* function_of(const onnx::NodeProto& proto) const;
  void lower_function(const onnx::FunctionProto& function, const onnx::NodeProto& call);
  OnnxNode resolve(const onnx::NodeProto& proto);
  Attribute attribute_of(const onnx::AttributeProto& proto, const std::string& who);

  Block block_;
  int symbols_ = 0;
  static constexpr int64_t kMaxLoweredInVain = 30'000;
  int64_t lowered_nodes_ = 0, lowered_in_vain_ = 0;
  int64_t folded_bytes_ = 0, folded_points_ = 0, stored_bytes_ = 0;
  int64_t unfolded_ = 0;  // nodes that would have cost too much
  std::string first_unfolded_;
  std::vector<TensorId> offered_;
  std::vector<uint64_t> sources_;  // per tensor: the offered inputs that it is computed from, a bit each
  std::vector<std::shared_ptr<const Value>> folding_;  // operands of the node being folded; else all null
  int function_depth_ = 0;
  int graph_depth_ = 0;
  bool overloads_ = false;  // some function is one of several of its name
  std::map<const onnx::FunctionProto*, std::vector<std::shared_ptr<const onnx::AttributeProto>>>
      function_defaults_;
  std::vector<std::shared_ptr<onnx::NodeProto>> instances_;  // nodes of inlined functions, attributes bound
  std::vector<std::map<std::string, TensorId>> scopes_ = {{}};
  std::vector<Sequence> sequences_;
  int64_t sequence_elements_ = 0;
  friend class Scope;
};

// An inner scope of names, for as long as this object lives.
class Scope {
 public:
  explicit Scope(Importer& importer) : importer_(importer) { importer_.scopes_.emplace_back(); }
  ~Scope() { importer_.scopes_.pop_back(); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Importer& importer_;
};

}  // namespace arenac
