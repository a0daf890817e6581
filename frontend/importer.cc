#include "frontend/importer.h"

#include <fmt/format.h>
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>
#include <set>

#include "frontend/error.h"
#include "frontend/interpret.h"
#include "frontend/merge.h"
#include "frontend/old_opsets.h"
#include "frontend/onnx_tensor.h"

namespace arenac {
namespace {

// Ids:   0 1 2 ...  tensors      -1 kAbsent      -2 kUnknown      -3 -4 ...  sequences
constexpr TensorId kFirstSequence = kUnknown - 1;

// What a hostile model may cost. Nodes of constants that would cost more to fold stay in the graph.
constexpr int64_t kMaxFoldedBytes = int64_t{1} << 27;
constexpr int64_t kMaxFoldedBytesPerByte = 8;  // that the model brings, some of it dequantised
// Points of nests, at some 0.15 us each: half a second, and passes over the constants that the model brings.
constexpr int64_t kMaxFoldedPoints = int64_t{1} << 22;
constexpr int64_t kMaxFoldedPointsPerByte = 4;
constexpr int64_t kMaxStoredBytes = int64_t{8} << 30;
// Of all iterations and function bodies together.
constexpr int64_t kMaxLoweredNodes = 300'000;
constexpr int64_t kMaxSequenceElements = 10'000'000;  // of all sequences together

// Names that a node reads, and those that its subgraphs read from outside: what a branch or a body mentions
// and does not define itself. Before these exist the node cannot run, though it does not list them as inputs.
std::set<std::string> free_names(const onnx::NodeProto& node) {
  std::set<std::string> names(node.input().begin(), node.input().end());
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (!attribute.has_g()) continue;
    const onnx::GraphProto& graph = attribute.g();
    std::set<std::string> inner;
    for (const onnx::NodeProto& n : graph.node()) inner.merge(free_names(n));
    for (const onnx::ValueInfoProto& output : graph.output()) inner.insert(output.name());
    for (const onnx::ValueInfoProto& input : graph.input()) inner.erase(input.name());
    for (const onnx::TensorProto& initializer : graph.initializer()) inner.erase(initializer.name());
    for (const onnx::NodeProto& n : graph.node())
      for (const std::string& name : n.output()) inner.erase(name);
    names.merge(inner);
  }
  return names;
}

// Points of the node's nests that cost time to interpret; what is filled with one value is bounded by its
// bytes.
int64_t points_of(const Node& node, const Graph& graph) {
  int64_t points = 0;
  if (const Nests* nests = std::get_if<Nests>(&node.body))
    for (const Nest& nest : *nests) {
      if (is_fill(nest, graph.tensors[node.writes[0]].shape)) continue;
      Shape extents;
      for (const Axis& a : nest.axes) extents.push_back(a.extent);
      points += element_count(extents);
    }
  return points;
}

// Whether the trip number of an enclosing loop takes part in what the node computes.
bool reads_iteration(const Node& node) {
  bool found = false;
  if (const Nests* nests = std::get_if<Nests>(&node.body))
    for (const Nest& nest : *nests)
      visit_expressions(nest, [&](const Expr& e) { found |= any_of(e, is_iteration); });
  return found;
}

constexpr int kMaxRememberedOperations = 40;  // what folding repeats wherever the smaller form is read

// The node's result, a constant, remembers what it was folded from if the elements of that were narrower. So
// do copies of it, such as transpositions: the remembered node reads the narrow tensor by the copy's indices.
//
//   w int8  --DequantizeLinear-->  f float32  --Transpose-->  g float32
//   f.folded_from: (w[i,j] - z) * s[i]           g.folded_from: (w[j,i] - z) * s[j]
//
// `node` is that which computed the result: a plain nest over all of the result's elements, of its type.
void remember_narrower(Node node, Graph& graph) {
  Nests* nests = std::get_if<Nests>(&node.body);
  if (!nests || nests->size() != 1 || !is_plain(nests->front())) return;
  Nest& nest = nests->front();
  Tensor& result = graph.tensors[node.writes[0]];
  if (nest.body->type != result.type || !dimension_of_axes(nest.store, result.shape, nest.axes)) return;
  if (nest.body->op == Op::kRead) {
    const Tensor& source = graph.tensors[node.reads[nest.body->index]];
    Operands operands;
    if (source.folded_from)
      nest.body = element_of(*source.folded_from, source.shape, nest.body->args, operands);
    if (source.folded_from) node.reads = operands.ids;
  }
  const bool narrower = std::any_of(node.reads.begin(), node.reads.end(), [&](TensorId id) {
    const Tensor& t = graph.tensors[id];
    return element_count(t.shape) >= element_count(result.shape) && bytes_of(t) < bytes_of(result);
  });
  int operations = 0;
  any_of(nest.body, [&](const Expr&) { return ++operations > kMaxRememberedOperations; });
  if (narrower && operations <= kMaxRememberedOperations)
    result.folded_from = std::make_shared<const Node>(std::move(node));
}

}  // namespace

// Both spellings name the standard's own domain.
std::string domain_of(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

// The standard demands that the nodes of a graph are sorted; some exporters leave them as they are. UserError
// for a tensor that two nodes write, and for a cycle. boost::topological_sort gives what a vertex points to
// before the vertex itself: as edges here run from a reader to what it depends on, its output needs no
// reversal.
std::vector<int> topological_order(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
  std::map<std::string, int> producer;
  for (int k = 0; k < nodes.size(); ++k)
    for (const std::string& name : nodes[k].output())
      if (!name.empty() && !producer.emplace(name, k).second)
        throw UserError(fmt::format("tensor '{}' is written by two nodes", printable(name)));

  using Dataflow = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
  Dataflow depends_on(nodes.size());
  bool sorted = true;
  for (int k = 0; k < nodes.size(); ++k) {
    for (const std::string& name : free_names(nodes[k])) {
      const auto at = producer.find(name);
      if (at == producer.end()) continue;
      boost::add_edge(k, at->second, depends_on);
      sorted &= at->second < k;
    }
  }
  std::vector<int> order(nodes.size());
  for (int k = 0; k < nodes.size(); ++k) order[k] = k;
  if (sorted) return order;
  order.clear();
  try {
    boost::topological_sort(depends_on, std::back_inserter(order));
  } catch (const boost::not_a_dag&) {
    throw UserError("the nodes form a cycle: some node reads, directly or not, what it writes");
  }
  return order;
}

std::string node_name(const onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  for (const std::string& output : node.output())
    if (!output.empty()) return output;
  return node.op_type();
}

// At most some 200 characters: a name may be as long as the file.
std::string printable(const std::string& name) {
  std::string safe;
  for (const unsigned char c : name) {
    if (c < 0x20 || c >= 0x7f || c == '\'' || c == '\\')
      safe += fmt::format("\\x{:02x}", c);
    else
      safe += static_cast<char>(c);
    if (safe.size() > 200) return safe + "...";
  }
  return safe;
}

// ShapeError where no tensor may have the shape.
TensorId Importer::add_tensor(const std::string& name, Type type, Shape shape) {
  element_count(shape);
  graph.tensors.push_back({name, type, std::move(shape), nullptr});
  return static_cast<TensorId>(graph.tensors.size()) - 1;
}

TensorId Importer::add_constant(const std::string& name, std::shared_ptr<const Value> value) {
  graph.tensors.push_back({name, value->type, value->shape, value});
  return static_cast<TensorId>(graph.tensors.size()) - 1;
}

// Each offered input is a bit of a word a tensor, so there are at most 64; more are not offered.
void Importer::offer(TensorId input) {
  if (offered_.size() == 64) return;
  sources_.resize(graph.tensors.size());
  sources_[input] = uint64_t{1} << offered_.size();
  offered_.push_back(input);
}

// Of tensors that depend on no offered input there is nothing to ask.
void Importer::ask_for(TensorId id) {
  if (static_cast<size_t>(id) >= sources_.size()) return;
  for (size_t k = 0; k < offered_.size(); ++k)
    if (sources_[id] >> k & 1) asked_for.insert(offered_[k]);
}

//   if (violated) refuse(reason);        an If without an else-branch
void Importer::guard(TensorId violated, const std::string& reason) {
  const std::string name = graph.tensors[violated].name;
  Block block;
  block.push_back({name, "Guard", {}, {}, Refusal{Refusal::Cause::kValue, reason}});
  block_.push_back({name, "Guard", {violated}, {}, If{std::move(block), {}}});
}

// Sequences are values of the compilation; each operation on one makes another, so that loops of them would
// take quadratic memory. The sum of their lengths is bounded.
TensorId Importer::add_sequence(Sequence sequence) {
  sequence_elements_ += static_cast<int64_t>(sequence.elements.size());
  if (sequence_elements_ > kMaxSequenceElements)
    throw UserError(fmt::format("the model's sequences have more than {} elements", kMaxSequenceElements));
  sequences_.push_back(std::move(sequence));
  return kFirstSequence - static_cast<TensorId>(sequences_.size() - 1);
}

const Sequence& Importer::sequence_of(TensorId id) const {
  ARENAC_CHECK(id <= kFirstSequence, "the id of a sequence");
  return sequences_.at(static_cast<size_t>(kFirstSequence - id));
}

// What a node writes depends on all offered inputs that what it reads depends on.
void Importer::carry_sources(const Node& node) {
  if (offered_.empty()) return;
  sources_.resize(graph.tensors.size());
  for (TensorId to : node.writes)
    for (TensorId from : node.reads) sources_[to] |= sources_[from];
}

// A node of constants alone is run by the interpreter, here and now, and its results are constants: weights
// are dequantised and shapes computed before the rest of the model is looked at. Control flow is not folded,
// nor what depends on the number of an iteration, nor what is too costly: what may be spent on points and
// bytes grows with the bytes that the model brings, so that a small file cannot take hours or gigabytes.
//
//   w int8 [64,64], 4096 bytes stored:  2^22 + 4 * 4096 points and 2^27 + 8 * 4096 bytes, of all nodes
void Importer::add_node(Node node) {
  verify(graph, node);
  carry_extents(node);
  carry_sources(node);
  const bool known = std::all_of(node.reads.begin(), node.reads.end(),
                                 [&](TensorId id) { return graph.tensors[id].constant != nullptr; });
  const bool data = std::holds_alternative<Nests>(node.body) || std::holds_alternative<Call>(node.body);
  const int64_t points = points_of(node, graph);
  int64_t bytes = 0;
  for (TensorId id : node.writes) bytes += bytes_of(graph.tensors[id]);
  // of no reads all are known: a node that fills a tensor folds as well
  const bool folds = known && data && !reads_iteration(node);
  const bool costly = points > kMaxFoldedPoints + kMaxFoldedPointsPerByte * stored_bytes_ - folded_points_ ||
                      bytes > kMaxFoldedBytes + kMaxFoldedBytesPerByte * stored_bytes_ - folded_bytes_;
  if (folds && costly && unfolded_++ == 0) first_unfolded_ = node.origin;
  if (!folds || costly) {
    block_.push_back(std::move(node));
    return;
  }
  folded_points_ += points;
  folded_bytes_ += bytes;
  // One list of values for all folded nodes, all null between them: a new one a node would take time that
  // grows with the square of the model.
  folding_.resize(std::max(folding_.size(), graph.tensors.size()));
  for (TensorId id : node.reads) folding_[id] = graph.tensors[id].constant;
  std::vector<int64_t> iterations;
  run_node(node, graph, folding_, iterations);
  for (TensorId id : node.writes) graph.tensors[id].constant = folding_[id];
  for (TensorId id : node.reads) folding_[id] = nullptr;
  for (TensorId id : node.writes) folding_[id] = nullptr;
  remember_narrower(std::move(node), graph);
}

// One note for all of them, with the first one's name.
std::optional<std::string> Importer::unfolded() const {
  if (unfolded_ == 0) return std::nullopt;
  return fmt::format(
      "the limit of what is computed when compiling is reached: '{}'{} of constants alone, run in the C",
      printable(first_unfolded_), unfolded_ == 1 ? "," : fmt::format(" and {} more nodes", unfolded_ - 1));
}

// Extents are kept by tensor and at compile time (set_extent); which of two assignments the run has taken,
// they could not say.
void Importer::assign(TensorId to, TensorId from, const std::string& origin) {
  if (extents.contains(from))
    throw ShapeError(
        fmt::format("'{}' has an extent that only the run knows, and cannot leave a loop or a branch",
                    printable(graph.tensors[from].name)));
  copy(to, from, origin);
}

void Importer::clear(TensorId to, const std::string& origin) {
  const Tensor& t = graph.tensors[to];
  Nest zeros = copy_nest(t.type, t.shape);
  zeros.body = constant(compute_type(t.type), 0);
  block_.push_back({origin, "Clear", {}, {to}, Nests{std::move(zeros)}});
}

// Straight to the block and not by add_node: `to` is written more than once, so a constant would be wrong.
void Importer::copy(TensorId to, TensorId from, const std::string& origin) {
  const Tensor& t = graph.tensors[to];
  Node node{origin, "Copy", {from}, {to}, Nests{copy_nest(t.type, t.shape)}};
  carry_extents(node);
  carry_sources(node);
  block_.push_back(std::move(node));
}

// From the innermost scope outwards.
std::optional<TensorId> Importer::find(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto at = scope->find(name); at != scope->end()) return at->second;
  return std::nullopt;
}

TensorId Importer::lookup(const std::string& name, const std::string& who) const {
  if (const auto id = find(name)) return *id;
  throw UserError(fmt::format("{} reads '{}', which nothing writes", who, printable(name)));
}

// A model that names no version of a domain, as old ones do of com.microsoft, gets the first.
int Importer::opset_of(const std::string& domain) const {
  const auto version = opsets.find(domain);
  return version == opsets.end() ? 1 : version->second;
}

// One result an output of the node, and at least one: an operator without a named output is lowered, too.
// What the operator's function throws without knowing the node is rethrown with its name. New tensors take
// the names that the model gives them; a result that is an older tensor (Identity, a Cast to its own type)
// keeps its own.
std::vector<TensorId> Importer::lower(const OnnxNode& node) {
  const OperatorRow* row = find_operator(node.domain, node.op, node.opset);
  std::vector<TensorId> results(std::max<size_t>(node.outputs.size(), 1), kUnknown);
  Lowering lowering(*this, node, results);
  if (row == nullptr) {
    constexpr int kHints = 50;  // as many as one message shows
    ++unknown_operators;
    const std::string near = unknown_operators > kHints ? "" : nearest_operator(node.domain, node.op);
    lowering.fail(
        fmt::format("operator {}{}{} of opset {} is not supported ('arenac list operators' shows what is){}",
                    printable(node.domain), node.domain.empty() ? "" : ".", printable(node.op),
                    opset_of(node.domain), near.empty() ? "" : fmt::format("; did you mean {}?", near)));
  }
  // ids from here on are this node's own
  const size_t first_new = graph.tensors.size();
  for (size_t k = 0; k < node.inputs.size(); ++k)
    if (node.inputs[k] >= 0 && graph.tensors[node.inputs[k]].type == Type::kString)
      lowering.require(takes_strings(*row, k), fmt::format("input {} cannot be text", k));
  try {
    row->lower(lowering);
  } catch (const ShapeError& error) {
    lowering.fail(error.what());
  } catch (const TypeError& error) {
    lowering.fail(error.what());
  } catch (const std::bad_alloc&) {
    lowering.fail("its tensors need more memory than there is");
  } catch (const std::length_error&) {
    lowering.fail("its tensors need more memory than there is");
  }
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    if (node.outputs[k].empty()) continue;
    if (results[k] == kUnknown) lowering.fail(fmt::format("output {} is not supported", k));
    if (results[k] >= static_cast<TensorId>(first_new)) graph.tensors[results[k]].name = node.outputs[k];
  }
  return results;
}

// All fields are taken, whatever kind the attribute says it is: those that it does not have are empty.
Attribute Importer::attribute_of(const onnx::AttributeProto& proto, const std::string& who) {
  Attribute a;
  a.i = proto.i();
  a.f = proto.f();
  a.s = proto.s();
  a.ints.assign(proto.ints().begin(), proto.ints().end());
  a.floats.assign(proto.floats().begin(), proto.floats().end());
  a.strings.assign(proto.strings().begin(), proto.strings().end());
  if (proto.has_t())
    a.tensor = value_of(proto.t(), fmt::format("{}, attribute '{}'", who, printable(proto.name())));
  if (proto.has_sparse_tensor())
    a.tensor =
        value_of(proto.sparse_tensor(), fmt::format("{}, attribute '{}'", who, printable(proto.name())));
  // An aliasing shared_ptr without an owner: the model outlives the import.
  if (proto.has_g()) a.graph = std::shared_ptr<const onnx::GraphProto>(std::shared_ptr<void>(), &proto.g());
  return a;
}

// Bytes that the model brings count for the limit of all constants, and raise those of folding.
std::shared_ptr<const Value> Importer::value_of(const onnx::TensorProto& proto, const std::string& who) {
  auto value = std::make_shared<const Value>(tensor_value(proto, directory, who));
  stored_bytes_ += static_cast<int64_t>(value->bytes.size());
  if (stored_bytes_ > kMaxStoredBytes)
    throw UserError(fmt::format("{}: the model's constants exceed 8 GiB", who));
  return value;
}

// Sparse ones are stored dense, so a few bytes may become many: they share the room of tables.
std::shared_ptr<const Value> Importer::value_of(const onnx::SparseTensorProto& proto,
                                                const std::string& who) {
  auto value = std::make_shared<const Value>(sparse_value(proto, directory, who, room_for_tables));
  room_for_tables -= static_cast<int64_t>(value->bytes.size());
  return value;
}

namespace {

// What the library's schema says of an attribute's type; new operators and attributes have none. An attribute
// of another type would read as 0 or as empty, and be taken for a value that the model gives.
void check_attribute_types(const onnx::NodeProto& proto, const OnnxNode& node, const std::string& who) {
  const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(node.op, node.opset, node.domain);
  if (schema == nullptr) return;
  for (const onnx::AttributeProto& attribute : proto.attribute()) {
    const auto at = schema->attributes().find(attribute.name());
    if (at == schema->attributes().end() || attribute.type() == onnx::AttributeProto::UNDEFINED) continue;
    if (at->second.type != attribute.type())
      throw UserError(fmt::format("{}: attribute '{}' is {}, the operator takes {}", who,
                                  printable(attribute.name()),
                                  onnx::AttributeProto::AttributeType_Name(attribute.type()),
                                  onnx::AttributeProto::AttributeType_Name(at->second.type)));
  }
}

}  // namespace

// Names become ids, attributes values; a node of an opset before 7 is brought into the form of opset 7
// (old_opsets.h), unless an operand is unknown and with it its shape. UserError for a name that nothing
// writes.
OnnxNode Importer::resolve(const onnx::NodeProto& proto) {
  OnnxNode node{node_name(proto), proto.op_type(), domain_of(proto.domain()), 0, {}, {}, {}};
  const std::string who = fmt::format("node '{}' ({})", printable(node.origin), printable(node.op));
  node.opset = opset_of(node.domain);
  for (const std::string& name : proto.input())
    node.inputs.push_back(name.empty() ? kAbsent : lookup(name, who));
  node.outputs.assign(proto.output().begin(), proto.output().end());
  for (const onnx::AttributeProto& attribute : proto.attribute())
    node.attributes[attribute.name()] = attribute_of(attribute, who);
  check_attribute_types(proto, node, who);
  const bool known = std::find(node.inputs.begin(), node.inputs.end(), kUnknown) == node.inputs.end();
  if (node.domain.empty() && node.opset < 7 && known) modernise(*this, node);
  return node;
}

std::optional<Shape> Importer::declared_shape(const std::string& name) const {
  const auto at = declared_shapes.find(name);
  return at == declared_shapes.end() ? std::nullopt : std::optional(at->second);
}

// The tensors that came after the mark go, and with them the ids that name them: no block may hold these any
// longer. The nodes that were lowered since do not count for the model's size, but for the attempts; values
// that were read from the file stay counted.
void Importer::roll_back(const Mark& mark) {
  graph.tensors.erase(graph.tensors.begin() + static_cast<std::ptrdiff_t>(mark.tensors), graph.tensors.end());
  sources_.resize(std::min(sources_.size(), mark.tensors));
  extents.erase(extents.lower_bound(static_cast<TensorId>(mark.tensors)), extents.end());
  graph.warnings.resize(mark.warnings);
  problems.resize(mark.problems);
  asked_for = mark.asked_for;
  lowered_in_vain_ += lowered_nodes_ - mark.lowered_nodes;
  lowered_nodes_ = mark.lowered_nodes;
  folded_bytes_ = mark.folded_bytes;
}

// A node of the file: a call of one of the model's functions, or an operator. Where something that it reads
// is unknown, so are its results, without a word. Declared shapes are those of the main graph's names; a
// function's names are its own, and may be the same.
void Importer::lower_node(const onnx::NodeProto& proto) {
  if (++lowered_nodes_ > kMaxLoweredNodes)
    throw UserError(
        fmt::format("the model has more than {} nodes once its functions are inlined and its loops unrolled",
                    kMaxLoweredNodes));
  if (const onnx::FunctionProto* function = function_of(proto)) return lower_function(*function, proto);
  OnnxNode node = resolve(proto);
  const std::set<std::string> names = free_names(proto);
  const bool blocked = std::any_of(names.begin(), names.end(),
                                   [&](const std::string& name) { return find(name) == kUnknown; });
  std::vector<TensorId> results(node.outputs.size(), kUnknown);
  if (function_depth_ == 0)
    for (const std::string& name : node.outputs) node.declared.push_back(declared_shape(name));
  if (!blocked) results = lower(node);
  for (size_t k = 0; k < node.outputs.size(); ++k)
    if (!node.outputs[k].empty()) bind(node.outputs[k], results[k]);
}

namespace {

// No name of a graph is given twice, except that an initializer may also be an input. The standard demands
// static single assignment; a name that is written twice would mean what the node that runs last makes of it.
void check_names(const onnx::GraphProto& proto) {
  std::set<std::string> inputs, initializers;
  for (const onnx::ValueInfoProto& input : proto.input())
    if (!inputs.insert(input.name()).second)
      throw UserError(fmt::format("two inputs are called '{}'", printable(input.name())));
  const auto insert = [&](const std::string& name) {
    if (!initializers.insert(name).second)
      throw UserError(fmt::format("two initializers are called '{}'", printable(name)));
  };
  for (const onnx::TensorProto& initializer : proto.initializer()) insert(initializer.name());
  for (const onnx::SparseTensorProto& initializer : proto.sparse_initializer())
    insert(initializer.values().name());
  for (const onnx::NodeProto& node : proto.node())
    for (const std::string& name : node.output())
      if (inputs.contains(name) || initializers.contains(name))
        throw UserError(
            fmt::format("'{}' is written twice: as an input or initializer, and by a node", printable(name)));
}

}  // namespace

// Inputs are bound by the caller before; initializers are bound here, so that one of an input's name becomes
// that input's value (its default, by the standard, which is taken as fixed). A node that fails leaves
// unknown results, and lowering goes on: one import reports every independent problem of the model.
void Importer::lower_graph(const onnx::GraphProto& proto) {
  if (graph_depth_ > kMostNested)
    throw UserError(fmt::format("graphs are nested more than {} deep", kMostNested));
  ++graph_depth_;
  struct Leave {
    int& depth;
    ~Leave() { --depth; }
  } const leave{graph_depth_};
  for (const onnx::TensorProto& initializer : proto.initializer()) {
    const std::string who = fmt::format("initializer '{}'", printable(initializer.name()));
    bind(initializer.name(), add_constant(initializer.name(), value_of(initializer, who)));
  }
  for (const onnx::SparseTensorProto& initializer : proto.sparse_initializer()) {
    const std::string& name = initializer.values().name();
    bind(name, add_constant(name, value_of(initializer, fmt::format("initializer '{}'", printable(name)))));
  }
  check_names(proto);
  for (int k : topological_order(proto.node())) {
    try {
      lower_node(proto.node(k));
    } catch (const UserError& error) {
      if (*error.what() != '\0') problems.push_back(error.what());
      for (const std::string& name : proto.node(k).output()) bind(name, kUnknown);
    }
  }
}

}  // namespace arenac
