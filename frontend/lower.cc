#include "frontend/lower.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/importer.h"
#include "frontend/kernels.h"

namespace arenac {

const Attribute& Lowering::attribute(const std::string& name) const {
  const auto at = node_.attributes.find(name);
  if (at == node_.attributes.end()) fail(fmt::format("attribute '{}' is missing", name));
  return at->second;
}

// Attributes: absent, they are the fallback, which is the standard's default. Of what type they are has been
// checked as far as the ONNX library knows (Importer::resolve).
int64_t Lowering::int_attr(const std::string& name, int64_t fallback) const {
  return has(name) ? attribute(name).i : fallback;
}
float Lowering::float_attr(const std::string& name, float fallback) const {
  return has(name) ? attribute(name).f : fallback;
}
std::string Lowering::string_attr(const std::string& name, const std::string& fallback) const {
  return has(name) ? attribute(name).s : fallback;
}
std::vector<int64_t> Lowering::ints_attr(const std::string& name,
                                         const std::vector<int64_t>& fallback) const {
  return has(name) ? attribute(name).ints : fallback;
}

std::vector<float> Lowering::floats_attr(const std::string& name) const {
  return has(name) ? attribute(name).floats : std::vector<float>{};
}

// Sequences and optionals that hold nothing are no tensors: operand() gives values of any kind.
TensorId Lowering::in(int k) const {
  if (!has_input(k)) fail(fmt::format("input {} is missing", k));
  if (node_.inputs[k] < 0) fail(fmt::format("input {} is a sequence, a tensor is needed", k));
  return node_.inputs[k];
}

const Sequence& Lowering::sequence(int k) const {
  if (operand(k) >= kAbsent)
    fail(fmt::format("input {} is {}, a sequence is needed", k, has_input(k) ? "a tensor" : "missing"));
  return importer_.sequence_of(operand(k));
}

// A reference into a vector that grows.
const Tensor& Lowering::tensor(TensorId id) const { return importer_.graph.tensors[id]; }

void Lowering::ask_for(TensorId id) const { importer_.ask_for(id); }

// Before it fails it asks for the value: with it, the import starts again and gets past this place.
void Lowering::require_constant(TensorId id, const std::string& what) const {
  if (is_constant(id)) return;
  ask_for(id);
  fail(fmt::format(
      "{} ('{}') is computed at run time; arenac needs it at compile time: bind the symbolic dimensions "
      "(--dim, --shape) or the value of the input that it comes from (--value), or make it a constant",
      what, tensor(id).name));
}

// Of a tensor without elements, the shape alone tells what it holds.
std::vector<int64_t> Lowering::constant_ints(TensorId id, const std::string& what) const {
  const Tensor& t = tensor(id);
  if (element_count(t.shape) == 0) return {};
  require_constant(id, what);
  if (is_float(t.type)) fail(fmt::format("{} ('{}') must be integers", what, t.name));
  std::vector<int64_t> all;
  for (int64_t k = 0; k < t.constant->count(); ++k) all.push_back(load(*t.constant, k).i);
  return all;
}

// Of any numeric type: integers are exact up to 2^53.
std::vector<double> Lowering::constant_floats(TensorId id, const std::string& what) const {
  const Tensor& t = tensor(id);
  require_constant(id, what);
  std::vector<double> all;
  for (int64_t k = 0; k < t.constant->count(); ++k)
    all.push_back(convert(Type::kFloat64, t.type, load(*t.constant, k)).f);
  return all;
}

//   rank 4:   -1 -> 3,  -4 -> 0,  4 fails
int64_t Lowering::normalized_axis(int64_t axis, int64_t rank) const {
  if (axis < -rank || axis >= rank) fail(fmt::format("axis {} is outside rank {}", axis, rank));
  return axis < 0 ? axis + rank : axis;
}

// A tensor is one part, an optional that holds nothing has none, a sequence has its elements.
std::vector<TensorId> Lowering::parts(TensorId value) const {
  if (value >= 0) return {value};
  return value == kAbsent ? std::vector<TensorId>{} : importer_.sequence_of(value).elements;
}

TensorId Lowering::with_parts(TensorId value, const std::vector<TensorId>& parts) const {
  if (value >= 0) return parts.at(0);
  return value == kAbsent ? kAbsent : make_sequence(importer_.sequence_of(value).type, parts);
}

TensorId Lowering::make_sequence(Type type, std::vector<TensorId> elements) const {
  return importer_.add_sequence({type, std::move(elements)});
}

// For messages: the first shapes of a long sequence.
std::string Lowering::describe(TensorId value) const {
  if (value >= 0) return fmt::format("{} {}", info(type(value)).name, to_string(shape(value)));
  if (value == kAbsent) return "-";
  const Sequence& sequence = importer_.sequence_of(value);
  std::string text = fmt::format("sequence of {} {}", sequence.elements.size(), info(sequence.type).name);
  constexpr size_t kShown = 8;
  for (size_t k = 0; k < std::min(sequence.elements.size(), kShown); ++k)
    text += " " + to_string(shape(sequence.elements[k]));
  return sequence.elements.size() > kShown ? text + " ..." : text;
}

// Of a value that has room (table, listed).
TensorId Lowering::constant(Value value) const {
  return importer_.add_constant(node_.origin, std::make_shared<const Value>(std::move(value)));
}

namespace {

// What the file spends on an attribute, about.
int64_t bytes_of(const Attribute& attribute) {
  int64_t bytes = std::ssize(attribute.ints) * 8 + std::ssize(attribute.floats) * 4;
  for (const std::string& text : attribute.strings) bytes += std::ssize(text) + 1;
  return attribute.tensor ? bytes + std::ssize(attribute.tensor->bytes) : bytes;
}

}  // namespace

// A table that is no more than kTimes what the node's attributes hold is paid for by the file's own size;
// what goes beyond that is taken from room that all nodes of the model share. `accounted_` remembers how much
// of the attributes is used up, as a node may make several tables.
//
//   attributes 1000 bytes: 4000 accounted for;   tables of 3000 and 2000 bytes: 0 and 1000 are counted
void Lowering::take_room(Type type, const Shape& shape) const {
  constexpr int64_t kTimes = 4;
  int64_t left = -accounted_;
  for (const auto& [name, attribute] : node_.attributes) left += kTimes * bytes_of(attribute);
  const int64_t bytes = element_count(shape) * size_of(type), counted = bytes - std::min(bytes, left);
  if (counted > importer_.room_for_tables)
    fail(fmt::format("a constant {} {} is to be worked out: a model may have {} MB of such constants",
                     info(type).name, to_string(shape), kMaxTableBytes >> 20));
  importer_.room_for_tables -= counted;
  accounted_ += bytes - counted;
}

Value Lowering::table(Type type, const Shape& shape) const {
  take_room(type, shape);
  return Value(type, shape);
}

TensorId Lowering::constant_ints(const std::vector<int64_t>& values) const {
  return constant(listed(values));
}

TensorId Lowering::scalar(Type type, double value) const {
  Value one(type, {});
  store(one, 0, convert(type, Type::kFloat64, {.f = value}));
  return constant(std::move(one));
}

// The result may be a constant already: add_node folds.
TensorId Lowering::add(Type type, Shape shape, std::vector<TensorId> reads, Nests nests) const {
  const TensorId id = importer_.add_tensor(node_.origin, type, std::move(shape));
  importer_.add_node({node_.origin, node_.op, std::move(reads), {id}, std::move(nests)});
  return id;
}

// The kernel has its operands dense and row-major; element types of `reads` and `writes` are as its C file
// says.
std::vector<TensorId> Lowering::call(const std::string& kernel, Type type, std::vector<TensorId> reads,
                                     std::vector<int64_t> parameters,
                                     std::vector<std::pair<Type, Shape>> writes) const {
  if (arenac::kernel(kernel).instance(type) == nullptr)
    fail(fmt::format("elements of type {} are not supported", info(type).name));
  std::vector<TensorId> ids;
  for (auto& [t, shape] : writes) ids.push_back(importer_.add_tensor(node_.origin, t, std::move(shape)));
  importer_.add_node(
      {node_.origin, node_.op, std::move(reads), ids, Call{kernel, type, std::move(parameters)}});
  return ids;
}

// Lowered like a node of the model of that operator, with this node's name, so that messages point to it.
TensorId Lowering::apply(const std::string& op, std::vector<TensorId> inputs,
                         std::map<std::string, Attribute> attributes) const {
  OnnxNode inner{node_.origin, op, "", 18, std::move(inputs), {"result"}, std::move(attributes)};
  return importer_.lower(inner).at(0);
}

// node 'conv1' (Conv, inputs float32 [1,3,8,8], float32 [4,3,3,3]): the problem
void Lowering::fail(const std::string& problem) const {
  constexpr size_t kMostDescribed = 8;
  std::string operands;
  for (size_t k = 0; k < std::min(node_.inputs.size(), kMostDescribed); ++k)
    operands += (k > 0 ? ", " : "") + describe(node_.inputs[k]);
  if (node_.inputs.size() > kMostDescribed)
    operands += fmt::format(", {} more", node_.inputs.size() - kMostDescribed);
  throw UserError(fmt::format("node '{}' ({}{}{}, inputs {}): {}", printable(node_.origin),
                              printable(node_.domain), node_.domain.empty() ? "" : ".", printable(node_.op),
                              operands, problem));
}

// A model that compiles, to something that its author may not expect.
void Lowering::warn(const std::string& text) const {
  importer_.graph.warnings.push_back(
      fmt::format("node '{}' ({}): {}", printable(node_.origin), printable(node_.op), text));
}

std::vector<Expr> Formula::axes(const Shape& extents) {
  std::vector<Expr> all;
  for (int64_t extent : extents) all.push_back(axis(extent));
  return all;
}

// The default store is the unreduced axes in the order in which they are made.
Expr Formula::add_axis(int64_t extent, bool reduced) {
  nest().axes.push_back({extent, reduced});
  const Expr a = arenac::axis(static_cast<int>(nest().axes.size()) - 1);
  if (!reduced) nest().store.push_back(a);
  return a;
}

// Indices are made simpler with the axes that the nest has by now, so axes come before what reads along them.
Expr Formula::read(TensorId id, std::vector<Expr> indices) {
  auto at = std::find(reads_.begin(), reads_.end(), id);
  if (at == reads_.end()) at = reads_.insert(at, id);
  const auto axes = axis_intervals(nest());
  for (Expr& index : indices) index = simplify_index(index, axes);
  return arenac::read(static_cast<int>(at - reads_.begin()), node_.type(id), std::move(indices));
}

// numpy's rule: dimensions correspond from the last, an extent of 1 is read at 0 for every index.
//
//   v [3,1] at out {i0, i1, i2}   ->   v[i1, 0]
Expr Formula::broadcast(TensorId id, const std::vector<Expr>& out) {
  const Shape& shape = node_.shape(id);
  ARENAC_CHECK(shape.size() <= out.size(), "broadcast to a lower rank");
  std::vector<Expr> indices;
  for (size_t d = 0; d < shape.size(); ++d)
    indices.push_back(shape[d] == 1 ? integer(0) : out[out.size() - shape.size() + d]);
  return read(id, std::move(indices));
}

// The axes that `reduced` has made are combined; those made by `axis` are the result's.
void Formula::reduce(Combine combine, const Expr& value) {
  if (value->type == Type::kString) throw TypeError("text cannot be combined");
  nest().combine = combine;
  nest().body = value;
  // A reduction whose axes all vanished still needs one, so that every reduction looks alike.
  if (std::none_of(nest().axes.begin(), nest().axes.end(), [](const Axis& a) { return a.reduced; }))
    reduced(1);
}

// Several points may store to one place: each adds to what is there, in the order of the points.
void Formula::accumulate(Combine combine, const Expr& value) {
  if (value->type == Type::kString) throw TypeError("text cannot be combined");
  nest().combine = combine;
  nest().accumulate = true;
  nest().body = value;
}

// Of several nests, those of the last one: with more than one, the shape is better given.
TensorId Formula::emit(Type type) {
  Shape shape;
  for (const Axis& a : nest().axes)
    if (!a.reduced) shape.push_back(a.extent);
  return emit(type, std::move(shape));
}

TensorId Formula::emit(Type type, Shape shape) {
  for (Nest& n : nests_)
    for (Expr& index : n.store) index = simplify_index(index, axis_intervals(n));
  return node_.add(type, std::move(shape), std::move(reads_), std::move(nests_));
}

//   [8,1,6] and [7,1]   ->   [8,7,6]            an extent of 0 beats 1:   [0] and [1]   ->   [0]
Shape broadcast_shape(const Lowering& node, const std::vector<Shape>& shapes) {
  size_t rank = 0;
  for (const Shape& s : shapes) rank = std::max(rank, s.size());
  Shape out(rank, 1);
  for (const Shape& s : shapes) {
    for (size_t d = 0; d < s.size(); ++d) {
      int64_t& extent = out[rank - s.size() + d];
      node.require(extent == 1 || s[d] == 1 || extent == s[d],
                   fmt::format("shapes do not broadcast: {} against {}", to_string(s), to_string(out)));
      if (extent == 1) extent = s[d];
    }
  }
  return out;
}

}  // namespace arenac
