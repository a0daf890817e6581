#include "frontend/import.h"

#include <fmt/format.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "frontend/error.h"
#include "frontend/importer.h"
#include "frontend/interpret.h"
#include "frontend/old_opsets.h"
#include "frontend/onnx_tensor.h"

namespace arenac {
namespace {

// Stands for the result of a node that could not be lowered; nodes that read it are passed over in silence,
// because the message already names the cause.
constexpr TensorId kUnknown = -2;

constexpr int64_t kMaxFoldedBytes = int64_t{4} << 30;
constexpr int64_t kMaxFoldedPoints = int64_t{1} << 31;
constexpr int kMaxFunctionDepth = 32;
// Of all iterations and function bodies together: what a hostile model may cost.
constexpr int64_t kMaxLoweredNodes = 1'000'000;

std::string domain_of(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

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

// Indices of the nodes such that each comes after what it reads: the file's order where that serves.
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

int64_t points_of(const Node& node) {
  int64_t points = 0;
  if (const Nests* nests = std::get_if<Nests>(&node.body))
    for (const Nest& nest : *nests) {
      Shape extents;
      for (const Axis& a : nest.axes) extents.push_back(a.extent);
      points += element_count(extents);
    }
  return points;
}

}  // namespace

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

void Importer::add_node(Node node) {
  const bool known = std::all_of(node.reads.begin(), node.reads.end(),
                                 [&](TensorId id) { return graph.tensors[id].constant != nullptr; });
  const bool data = std::holds_alternative<Nests>(node.body) || std::holds_alternative<Call>(node.body);
  bool iterates = false;  // reads the trip number of an enclosing loop
  if (const Nests* nests = std::get_if<Nests>(&node.body))
    for (const Nest& nest : *nests) {
      const auto is_iteration = [](const Expr& e) { return e->op == Op::kAxis && e->index < 0; };
      iterates |= any_of(nest.body, is_iteration);
      for (const Expr& index : nest.store) iterates |= any_of(index, is_iteration);
      if (!nest.finish.empty()) iterates |= any_of(nest.finish, is_iteration);
      for (const Bound& bound : nest.where) iterates |= any_of(bound.index, is_iteration);
    }
  if (!known || !data || iterates || points_of(node) > kMaxFoldedPoints) {
    block_.push_back(std::move(node));
    return;
  }
  for (TensorId id : node.writes)
    folded_bytes_ += element_count(graph.tensors[id].shape) * size_of(graph.tensors[id].type);
  if (folded_bytes_ > kMaxFoldedBytes)
    throw UserError(
        fmt::format("node '{}': constants computed at compile time exceed 4 GiB", printable(node.origin)));
  std::vector<std::shared_ptr<const Value>> values(graph.tensors.size());
  for (TensorId id : node.reads) values[id] = graph.tensors[id].constant;
  std::vector<int64_t> iterations;
  run_node(node, graph, values, iterations);
  for (TensorId id : node.writes) graph.tensors[id].constant = values[id];
}

void Importer::assign(TensorId to, TensorId from, const std::string& origin) {
  const Tensor& t = graph.tensors[to];
  block_.push_back({origin, "Copy", {from}, {to}, Nests{copy_nest(t.type, t.shape)}});
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

std::vector<TensorId> Importer::lower(const OnnxNode& node) {
  const OperatorRow* row = find_operator(node.domain, node.op, node.opset);
  std::vector<TensorId> results(std::max<size_t>(node.outputs.size(), 1), kAbsent);
  Lowering lowering(*this, node, results);
  if (row == nullptr) {
    ++unknown_operators;
    lowering.fail(
        fmt::format("operator {}{}{} of opset {} is not supported ('arenac list operators' shows what is)",
                    printable(node.domain), node.domain.empty() ? "" : ".", printable(node.op), node.opset));
  }
  const size_t first_new = graph.tensors.size();
  row->lower(lowering);
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    if (node.outputs[k].empty()) continue;
    if (results[k] == kAbsent) lowering.fail(fmt::format("output {} is not supported", k));
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
  // The model outlives the import.
  if (proto.has_g()) a.graph = std::shared_ptr<const onnx::GraphProto>(std::shared_ptr<void>(), &proto.g());
  return a;
}

std::shared_ptr<const Value> Importer::value_of(const onnx::TensorProto& proto, const std::string& who) {
  return std::make_shared<const Value>(tensor_value(proto, directory, who));
}

OnnxNode Importer::resolve(const onnx::NodeProto& proto) {
  OnnxNode node{node_name(proto), proto.op_type(), domain_of(proto.domain()), 0, {}, {}, {}};
  const std::string who = fmt::format("node '{}' ({})", printable(node.origin), printable(node.op));
  // A model that imports no version of a domain means the first.
  const auto version = opsets.find(node.domain);
  node.opset = version == opsets.end() ? 1 : version->second;
  for (const std::string& name : proto.input())
    node.inputs.push_back(name.empty() ? kAbsent : lookup(name, who));
  node.outputs.assign(proto.output().begin(), proto.output().end());
  for (const onnx::AttributeProto& attribute : proto.attribute())
    node.attributes[attribute.name()] = attribute_of(attribute, who);
  const bool known = std::find(node.inputs.begin(), node.inputs.end(), kUnknown) == node.inputs.end();
  if (node.domain.empty() && node.opset < 7 && known) modernise(*this, node);
  return node;
}

void Importer::roll_back(const Mark& mark) {
  graph.tensors.erase(graph.tensors.begin() + static_cast<std::ptrdiff_t>(mark.tensors), graph.tensors.end());
  graph.warnings.resize(mark.warnings);
  problems.resize(mark.problems);
}

void Importer::lower_node(const onnx::NodeProto& proto) {
  if (++lowered_nodes_ > kMaxLoweredNodes)
    throw UserError(
        fmt::format("the model has more than {} nodes once its functions are inlined and its loops unrolled",
                    kMaxLoweredNodes));
  const auto function = functions.find(domain_of(proto.domain()) + ":" + proto.op_type());
  if (function != functions.end()) return lower_function(*function->second, proto);
  const OnnxNode node = resolve(proto);
  const std::set<std::string> names = free_names(proto);
  const bool blocked = std::any_of(names.begin(), names.end(),
                                   [&](const std::string& name) { return find(name) == kUnknown; });
  std::vector<TensorId> results(node.outputs.size(), kUnknown);
  if (!blocked) results = lower(node);
  for (size_t k = 0; k < node.outputs.size(); ++k)
    if (!node.outputs[k].empty()) bind(node.outputs[k], results[k]);
}

namespace {

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
      opsets[domain_of(opset.domain())] = static_cast<int>(opset.version());
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

void Importer::lower_graph(const onnx::GraphProto& proto) {
  for (const onnx::TensorProto& initializer : proto.initializer()) {
    const std::string who = fmt::format("initializer '{}'", printable(initializer.name()));
    bind(initializer.name(), add_constant(initializer.name(), value_of(initializer, who)));
  }
  if (proto.sparse_initializer_size() > 0) throw UserError("sparse initializers are not supported");
  for (int k : topological_order(proto.node())) {
    try {
      lower_node(proto.node(k));
    } catch (const UserError& error) {
      if (*error.what() != '\0') problems.push_back(error.what());
      for (const std::string& name : proto.node(k).output()) bind(name, kUnknown);
    }
  }
}

namespace {

Shape bound_shape(const onnx::ValueInfoProto& input, const ImportOptions& options,
                  std::vector<std::string>& problems) {
  const std::string name = printable(input.name());
  const bool is_tensor = input.type().has_tensor_type();
  if (!is_tensor) throw UserError(fmt::format("input '{}' is no tensor (a sequence, map or optional)", name));
  const onnx::TensorShapeProto& declared = input.type().tensor_type().shape();
  const auto whole = options.shapes.find(input.name());
  const bool ranked = input.type().tensor_type().has_shape();
  if (whole != options.shapes.end()) {
    if (ranked && static_cast<int>(whole->second.size()) != declared.dim_size())
      throw UserError(fmt::format("input '{}' has rank {}, but --shape gives {}", name, declared.dim_size(),
                                  to_string(whole->second)));
    for (size_t d = 0; ranked && d < whole->second.size(); ++d) {
      const auto& dim = declared.dim(static_cast<int>(d));
      if (dim.has_dim_value() && dim.dim_value() > 0 && dim.dim_value() != whole->second[d])
        throw UserError(fmt::format("input '{}': dimension {} is {}, but --shape gives {}", name, d,
                                    dim.dim_value(), whole->second[d]));
    }
    return whole->second;
  }
  if (!ranked)
    throw UserError(fmt::format("input '{}' declares no shape: give one with --shape {}=...", name, name));
  Shape shape;
  for (int d = 0; d < declared.dim_size(); ++d) {
    const auto& dim = declared.dim(d);
    const auto bound = options.dims.find(dim.dim_param());
    if (dim.has_dim_value() && dim.dim_value() >= 0) {
      shape.push_back(dim.dim_value());
    } else if (bound != options.dims.end()) {
      shape.push_back(bound->second);
    } else {
      problems.push_back(
          dim.dim_param().empty()
              ? fmt::format("input '{}': dimension {} is unknown: bind the input with --shape {}=...", name,
                            d, name)
              : fmt::format("input '{}': dimension {} is symbolic: bind it with --dim {}=N", name, d,
                            printable(dim.dim_param())));
      shape.push_back(1);
    }
  }
  return shape;
}

std::string joined(const std::string& name, std::vector<std::string> problems) {
  constexpr size_t kShown = 50;
  std::string text;
  for (size_t k = 0; k < std::min(problems.size(), kShown); ++k)
    text += fmt::format("{}{}: {}", k ? "\n" : "", name, problems[k]);
  if (problems.size() > kShown) text += fmt::format("\n{}: and {} more", name, problems.size() - kShown);
  return text;
}

std::set<std::string> initializer_names(const onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (const onnx::TensorProto& initializer : graph.initializer()) names.insert(initializer.name());
  return names;
}

void declare_inputs(Importer& importer, const onnx::GraphProto& proto, const ImportOptions& options) {
  const std::set<std::string> initialized = initializer_names(proto);
  for (const auto& [name, shape] : options.shapes)
    if (std::none_of(proto.input().begin(), proto.input().end(),
                     [&](const auto& i) { return i.name() == name; }))
      throw UserError(fmt::format("--shape names '{}', which is no input of the model", printable(name)),
                      Exit::kUsage);
  for (const onnx::ValueInfoProto& input : proto.input()) {
    if (initialized.contains(input.name())) continue;
    const Shape shape = bound_shape(input, options, importer.problems);
    const Type type = type_of_onnx(input.type().tensor_type().elem_type(),
                                   fmt::format("input '{}'", printable(input.name())));
    const TensorId id = importer.add_tensor(input.name(), type, shape);
    importer.bind(input.name(), id);
    importer.graph.inputs.push_back(id);
    importer.graph.input_names.push_back(input.name());
  }
  if (!importer.problems.empty()) throw UserError(joined(importer.graph.name, importer.problems));
}

// Every output gets a tensor of its own that a node writes, so that it can live at the caller's pointer.
void declare_outputs(Importer& importer, const onnx::GraphProto& proto) {
  Graph& graph = importer.graph;
  std::vector<bool> taken(graph.tensors.size());
  for (TensorId id : graph.inputs) taken[id] = true;
  for (const onnx::ValueInfoProto& output : proto.output()) {
    TensorId id = importer.lookup(output.name(), "the graph's output list");
    if (taken[id] || graph.tensors[id].constant) {
      const TensorId copy =
          importer.add_tensor(output.name(), graph.tensors[id].type, graph.tensors[id].shape);
      importer.assign(copy, id, output.name());
      id = copy;
      taken.resize(graph.tensors.size());
    }
    taken[id] = true;
    graph.outputs.push_back(id);
    graph.output_names.push_back(output.name());
  }
  if (graph.outputs.empty()) throw UserError(fmt::format("{}: the graph has no output", graph.name));
}

Graph import_proto(const onnx::ModelProto& model, const std::string& name, const std::string& directory,
                   const ImportOptions& options) {
  Importer importer;
  importer.graph.name = name;
  importer.directory = directory;
  for (const onnx::OperatorSetIdProto& opset : model.opset_import())
    importer.opsets[domain_of(opset.domain())] =
        static_cast<int>(std::clamp<int64_t>(opset.version(), 0, 1000));
  if (model.opset_import_size() == 0) importer.opsets[""] = 7;
  if (!model.has_graph()) throw UserError(fmt::format("{}: not an ONNX model: it holds no graph", name));
  const int opset = importer.opsets.contains("") ? importer.opsets[""] : 7;
  if (opset < 1 || opset > 28)
    throw UserError(fmt::format("{}: opset {} is outside 1 to 28, which arenac reads", name, opset));
  for (const onnx::FunctionProto& function : model.functions())
    importer.functions[domain_of(function.domain()) + ":" + function.name()] = &function;
  try {
    declare_inputs(importer, model.graph(), options);
    importer.lower_graph(model.graph());
    if (importer.problems.empty()) declare_outputs(importer, model.graph());
  } catch (const UserError& error) {
    if (importer.problems.empty() && std::string(error.what()).starts_with(name)) throw;
    if (importer.problems.empty()) throw UserError(fmt::format("{}: {}", name, error.what()), error.status);
  }
  if (!importer.problems.empty()) throw UserError(joined(name, importer.problems));
  importer.graph.block = importer.take_block();
  Graph graph = with_wide_constants(without_dead_code(std::move(importer.graph)));
  verify(graph);
  return graph;
}

onnx::ModelProto parse_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) throw UserError(fmt::format("{}: cannot be read", path));
  google::protobuf::io::IstreamInputStream stream(&file);
  onnx::ModelProto model;
  if (!model.ParseFromZeroCopyStream(&stream))
    throw UserError(fmt::format("{}: not an ONNX model, or truncated", path));
  return model;
}

}  // namespace

Graph import_model(const std::string& path, const ImportOptions& options) {
  const std::filesystem::path file(path);
  return import_proto(parse_file(path), file.filename().string(), file.parent_path().string(), options);
}

Graph import_bytes(const std::string& bytes, const std::string& name, const ImportOptions& options) {
  onnx::ModelProto model;
  if (!model.ParseFromString(bytes))
    throw UserError(fmt::format("{}: not an ONNX model, or truncated", name));
  return import_proto(model, name, "", options);
}

Graph import_text(const std::string& text, const ImportOptions& options) {
  onnx::ModelProto model;
  onnx::OnnxParser parser(text.c_str());
  const auto status = parser.Parse(model);
  if (!status.IsOK()) throw UserError(fmt::format("text: {}", status.ErrorMessage()));
  return import_proto(model, "text", "", options);
}

std::vector<InputDeclaration> declared_inputs(const std::string& path) {
  const onnx::ModelProto model = parse_file(path);
  const std::set<std::string> initialized = initializer_names(model.graph());
  std::vector<InputDeclaration> all;
  for (const onnx::ValueInfoProto& input : model.graph().input()) {
    if (initialized.contains(input.name())) continue;
    InputDeclaration declaration{input.name(), {}, {}};
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
      declaration.extents.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
      declaration.symbols.push_back(dim.dim_param());
    }
    all.push_back(std::move(declaration));
  }
  return all;
}

}  // namespace arenac
