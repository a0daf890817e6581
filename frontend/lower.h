// How an operator's formula is written.
//
//   void lower_gemv(Lowering& node) {                         // y[m] = b[m] + sum(k) w[m,k] * x[k]
//     const TensorId x = node.in(0), w = node.in(1), b = node.in(2);
//     Formula f(node);
//     const Expr m = f.axis(node.shape(w)[0]), k = f.reduced(node.shape(w)[1]);
//     f.sum(f.read(w, {m, k}) * f.read(x, {k}));
//     f.finish(f.acc() + f.read(b, {m}));
//     node.out(0, f.emit(node.type(x)));
//   }
//
// and one row in its family's table: {"", "Gemv", 7, lower_gemv}. Whatever is emitted from constants alone is
// folded at once, so a formula never needs to know whether its operands are known.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontend/error.h"
#include "frontend/graph.h"

namespace onnx {
class GraphProto;
}

namespace arenac {

class Importer;

struct Attribute {
  int64_t i = 0;
  float f = 0;
  std::string s;
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<std::string> strings;
  std::shared_ptr<const Value> tensor;
  std::shared_ptr<const onnx::GraphProto> graph;
};

constexpr TensorId kAbsent = -1;  // no tensor: an omitted operand, or an optional that holds nothing

// A value of ONNX's sequence type: a list of tensors that is known at compile time and never reaches the
// Graph. Names and operands stand for it by an id below kAbsent. An optional is what it holds, or kAbsent.
struct Sequence {
  Type type;
  std::vector<TensorId> elements;
};

// An ONNX node with its operands resolved.
struct OnnxNode {
  std::string origin, op, domain;
  int opset;                         // of its domain
  std::vector<TensorId> inputs;      // kAbsent for an omitted one
  std::vector<std::string> outputs;  // "" for one that is not wanted
  std::map<std::string, Attribute> attributes;
  std::vector<std::optional<Shape>> declared = {};  // per output: what the model declares, if it is static
};

// One ONNX node, as its operator's formula sees it. Every accessor throws a UserError that names the node
// where the model does not hold what the operator needs.
class Lowering {
 public:
  Lowering(Importer& importer, const OnnxNode& node, std::vector<TensorId>& results)
      : importer_(importer), node_(node), results_(results) {}

  const std::string& op() const { return node_.op; }
  int opset() const { return node_.opset; }

  bool has(const std::string& attribute) const { return node_.attributes.contains(attribute); }
  const Attribute& attribute(const std::string& name) const;  // fails when absent
  int64_t int_attr(const std::string& name, int64_t fallback) const;
  float float_attr(const std::string& name, float fallback) const;
  std::string string_attr(const std::string& name, const std::string& fallback) const;
  std::vector<int64_t> ints_attr(const std::string& name, const std::vector<int64_t>& fallback) const;
  std::vector<float> floats_attr(const std::string& name) const;  // empty when absent

  int input_count() const { return static_cast<int>(node_.inputs.size()); }
  bool has_input(int k) const { return k < input_count() && node_.inputs[k] != kAbsent; }
  TensorId in(int k) const;  // fails when absent or no tensor
  TensorId operand(int k) const { return has_input(k) ? node_.inputs[k] : kAbsent; }  // of any kind
  const Sequence& sequence(int k) const;  // until the next is made; fails when input k is none
  int output_count() const { return static_cast<int>(node_.outputs.size()); }
  bool wants(int k) const { return k < output_count() && !node_.outputs[k].empty(); }

  // What the model declares for output k where that is static: how large a result is when nothing else tells.
  std::optional<Shape> declared_shape(int k) const {
    return k < static_cast<int>(node_.declared.size()) ? node_.declared[k] : std::nullopt;
  }

  // The same for output 0, where input `k` would tell, but only the run knows it.
  std::optional<Shape> declared_for(int k) const {
    return has_input(k) && !is_constant(in(k)) ? declared_shape(0) : std::nullopt;
  }

  const Tensor& tensor(TensorId id) const;  // until the next tensor is added
  Shape shape(TensorId id) const { return tensor(id).shape; }
  Type type(TensorId id) const { return tensor(id).type; }
  int rank(TensorId id) const { return static_cast<int>(tensor(id).shape.size()); }
  bool is_constant(TensorId id) const { return tensor(id).constant != nullptr; }
  // The elements of a tensor that must be known at compile time; `what` names it in the message ("the
  // shape").
  std::vector<int64_t> constant_ints(TensorId id, const std::string& what) const;
  std::vector<double> constant_floats(TensorId id, const std::string& what) const;
  void require_constant(TensorId id, const std::string& what) const;
  // Before a failure that knowing this tensor would avert: if it comes from inputs whose values are given,
  // the import starts again with those.
  void ask_for(TensorId id) const;
  // Axis counted from the end when negative; fails outside [-rank, rank).
  int64_t normalized_axis(int64_t axis, int64_t rank) const;

  // The tensors that a value of any kind consists of, in order.
  std::vector<TensorId> parts(TensorId value) const;
  // A value that consists of other tensors instead.
  TensorId with_parts(TensorId value, const std::vector<TensorId>& parts) const;
  TensorId make_sequence(Type type, std::vector<TensorId> elements) const;
  std::string describe(TensorId value) const;  // "float32 [2,3]"

  // Result k of this node; nothing happens when the model does not name it.
  void out(int k, TensorId id) {  // a value of any kind
    if (k < static_cast<int>(results_.size())) results_[k] = id;
  }
  TensorId result(int k) const { return results_.at(k); }

  TensorId constant(Value value) const;
  // Room for a constant that lowering works out, and a list as one. Beyond a few times the bytes of the
  // node's attributes, as tables of trees have them, these count for the model: fails once it has too much of
  // them.
  Value table(Type type, const Shape& shape) const;
  template <typename T>
  Value listed(const std::vector<T>& elements) const {
    Value value = vector_value(elements);
    take_room(value.type, value.shape);
    return value;
  }
  TensorId constant_ints(const std::vector<int64_t>& values) const;  // int64, rank 1
  TensorId scalar(Type type, double value) const;                    // rank 0
  TensorId add(Type type, Shape shape, std::vector<TensorId> reads, Nests nests) const;
  // A C kernel's results; folded when every read is constant.
  std::vector<TensorId> call(const std::string& kernel, Type type, std::vector<TensorId> reads,
                             std::vector<int64_t> parameters,
                             std::vector<std::pair<Type, Shape>> writes) const;
  // Another operator applied to tensors: how rewrites are written. Attributes as the operator defines them,
  // opset 18 onwards.
  TensorId apply(const std::string& op, std::vector<TensorId> inputs,
                 std::map<std::string, Attribute> attributes = {}) const;

  [[noreturn]] void fail(const std::string& problem) const;
  void require(bool condition, const std::string& problem) const {
    if (!condition) fail(problem);
  }
  void warn(const std::string& text) const;

  Importer& importer() const { return importer_; }  // for control flow
  const OnnxNode& onnx_node() const { return node_; }

 private:
  void take_room(Type type, const Shape& shape) const;

  Importer& importer_;
  const OnnxNode& node_;
  std::vector<TensorId>& results_;
  mutable int64_t accounted_ = 0;  // bytes of constants that the node's attributes account for
};

// The nests of one graph node, being written. Axes, body and finish belong to the current nest.
class Formula {
 public:
  explicit Formula(Lowering& node) : node_(node), nests_(1) {}

  Expr axis(int64_t extent) { return add_axis(extent, false); }
  Expr reduced(int64_t extent) { return add_axis(extent, true); }
  std::vector<Expr> axes(const Shape& extents);
  // Element of a tensor, in its compute type.
  Expr read(TensorId id, std::vector<Expr> indices);
  // Element of a tensor broadcast (numpy's rule) to the output indices `out`.
  Expr broadcast(TensorId id, const std::vector<Expr>& out);
  Expr acc() const { return accumulator(nest().body->type); }

  void where(const Expr& index, int64_t begin, int64_t end) { nest().where.push_back({index, begin, end}); }
  void body(const Expr& value) { nest().body = value; }
  void sum(const Expr& value) { reduce(Combine::kSum, value); }
  void reduce(Combine combine, const Expr& value);
  void accumulate(Combine combine, const Expr& value);
  void finish(const Expr& value) { nest().finish = value; }
  // Where the value goes; by default the unreduced axes in order.
  void store(std::vector<Expr> indices) { nest().store = std::move(indices); }
  void next_nest() { nests_.emplace_back(); }

  // Adds the node. Without a shape it is the extents of the unreduced axes.
  TensorId emit(Type type);
  TensorId emit(Type type, Shape shape);

 private:
  Nest& nest() { return nests_.back(); }
  const Nest& nest() const { return nests_.back(); }
  Expr add_axis(int64_t extent, bool reduced);

  Lowering& node_;
  std::vector<TensorId> reads_;
  Nests nests_;
};

Shape broadcast_shape(const Lowering& node, const std::vector<Shape>& shapes);

// The table of operators, one span of rows a family; each family is one file, frontend/ops_FAMILY.cc.
constexpr const char* kEveryType = "floats, integers, bool";
struct OperatorRow {
  const char* domain;  // "" is ai.onnx
  const char* name;
  int since;  // first opset that this row serves
  void (*lower)(Lowering& node);
  int until = 1000;              // first opset that it no longer serves
  const char* tier = "formula";  // or "kernel", "control"
  const char* types = nullptr;   // of elements; null: see element_types
};
std::vector<OperatorRow> operators();  // all families, sorted by domain and name
// The types of elements that the first operand (or, without operands, the result) may have: those of the
// standard that arenac has, or all floats where the ONNX library does not know the operator and the row says
// nothing. "floats, int32, bool".
std::string element_types(const OperatorRow& row);
// Whether the standard lets operand `k` be text.
bool takes_strings(const OperatorRow& row, size_t k);
const OperatorRow* find_operator(const std::string& domain, const std::string& name, int opset);
// "com.microsoft.Gelu": what an operator that there is not was most likely meant as; empty: nothing is near.
std::string nearest_operator(const std::string& domain, const std::string& name);

}  // namespace arenac
