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

// Names that a node reads, and those that its subgraphs read from outside.
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

// That cost time; what is filled with one value is bounded by its bytes.
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
// do copies of it, such as transpositions.
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

std::string domain_of(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

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

TensorId Importer::add_tensor(const std::string& name, Type type, Shape shape) {
  element_count(shape);
  graph.tensors.push_back({name, type, std::move(shape), nullptr});
  return static_cast<TensorId>(graph.tensors.size()) - 1;
}

TensorId Importer::add_constant(const std::string& name, std::shared_ptr<const Value> value) {
  graph.tensors.push_back({name, value->type, value->shape, value});
  return static_cast<TensorId>(graph.tensors.size()) - 1;
}

void Importer::offer(TensorId input) {
  if (offered_.size() == 64) return;
  sources_.resize(graph.tensors.size());
  sources_[input] = uint64_t{1} << offered_.size();
  offered_.push_back(input);
}

void Importer::ask_for(TensorId id) {
  if (static_cast<size_t>(id) >= sources_.size()) return;
  for (size_t k = 0; k < offered_.size(); ++k)
    if (sources_[id] >> k & 1) asked_for.insert(offered_[k]);
}

void Importer::guard(TensorId violated, const std::string& reason) {
  const std::string name = graph.tensors[violated].name;
  Block block;
  block.push_back({name, "Guard", {}, {}, Refusal{Refusal::Cause::kValue, reason}});
  block_.push_back({name, "Guard", {violated}, {}, If{std::move(block), {}}});
}

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

void Importer::carry_sources(const Node& node) {
  if (offered_.empty()) return;
  sources_.resize(graph.tensors.size());
  for (TensorId to : node.writes)
    for (TensorId from : node.reads) sources_[to] |= sources_[from];
}

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
  folding_.resize(std::max(folding_.size(), graph.tensors.size()));
  for (TensorId id : node.reads) folding_[id] = graph.tensors[id].constant;
  std::vector<int64_t> iterations;
  run_node(node, graph, folding_, iterations);
  for (TensorId id : node.writes) graph.tensors[id].constant = folding_[id];
  for (TensorId id : node.reads) folding_[id] = nullptr;
  for (TensorId id : node.writes) folding_[id] = nullptr;
  remember_narrower(std::move(node), graph);
}

std::optional<std::string> Importer::unfolded() const {
  if (unfolded_ == 0) return std::nullopt;
  return fmt::format(
      "the limit of what is computed when compiling is reached: '{}'{} of constants alone, run in the C",
      printable(first_unfolded_), unfolded_ == 1 ? "," : fmt::format(" and {} more nodes", unfolded_ - 1));
}

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

void Importer::copy(TensorId to, TensorId from, const std::string& origin) {
  const Tensor& t = graph.tensors[to];
  Node node{origin, "Copy", {from}, {to}, Nests{copy_nest(t.type, t.shape)}};
  carry_extents(node);
  carry_sources(node);
  block_.push_back(std::move(node));
}

std::optional<TensorId> Importer::find(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto at = scope->find(name); at != scope->end()) return at->second;
  return std::nullopt;
}

TensorId Importer::lookup(const std::string& name, const std::string& who) const {
  if (const auto id = find(name)) return *id;
  throw UserError(fmt::format("{} reads '{}', which nothing writes", who, printable(name)));
}

int Importer::opset_of(const std::string& domain) const {
  const auto version = opsets.find(domain);
  return version == opsets.end() ? 1 : version->second;
}

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
  // The model outlives the import.
  if (proto.has_g()) a.graph = std::shared_ptr<const onnx::GraphProto>(std::shared_ptr<void>(), &proto.g());
  return a;
}

std::shared_ptr<const Value> Importer::value_of(const onnx::TensorProto& proto, const std::string& who) {
  auto value = std::make_shared<const Value>(tensor_value(proto, directory, who));
  stored_bytes_ += static_cast<int64_t>(value->bytes.size());
  if (stored_bytes_ > kMaxStoredBytes)
    throw UserError(fmt::format("{}: the model's constants exceed 8 GiB", who));
  return value;
}

std::shared_ptr<const Value> Importer::value_of(const onnx::SparseTensorProto& proto,
                                                const std::string& who) {
  auto value = std::make_shared<const Value>(sparse_value(proto, directory, who, room_for_tables));
  room_for_tables -= static_cast<int64_t>(value->bytes.size());
  return value;
}

namespace {

// What the library's schema says of an attribute's type; new operators and attributes have none.
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

// No name of a graph is given twice, except that an initializer may also be an input.
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
