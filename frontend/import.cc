#include "frontend/import.h"

#include <fmt/format.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "frontend/bindings.h"
#include "frontend/check_bindings.h"
#include "frontend/error.h"
#include "frontend/importer.h"
#include "frontend/model_files.h"
#include "frontend/onnx_tensor.h"
#include "frontend/quantum.h"

namespace arenac {
namespace {

// The static shape of an input: --shape as a whole, or what the model declares with its symbols bound.
//
//   float [batch, 3, 224, 224], dims {batch: 1}   ->   [1, 3, 224, 224]
//
// Dimensions that are still open have been refused before (import_proto).
Shape bound_shape(const onnx::ValueInfoProto& input, const onnx::TypeProto::Tensor& type,
                  const ImportOptions& options) {
  const std::string name = printable(input.name());
  const onnx::TensorShapeProto& declared = type.shape();
  const auto whole = options.shapes.find(input.name());
  if (whole != options.shapes.end()) return whole->second;
  if (!type.has_shape())
    throw UserError(fmt::format("input '{}' declares no shape: give one with --shape {}=...", name, name));
  Shape shape;
  for (int d = 0; d < declared.dim_size(); ++d) {
    const auto& dim = declared.dim(d);
    const auto bound = options.dims.find(dim.dim_param());
    if (dim.has_dim_value() && dim.dim_value() >= 0) {
      shape.push_back(dim.dim_value());
    } else {
      ARENAC_CHECK(bound != options.dims.end(), "every dimension is bound");
      shape.push_back(bound->second);
    }
  }
  return shape;
}

// The shape of each part of an input: one of a tensor, none of an optional that holds nothing, one an element
// of a sequence. A sequence's length is part of the compiled program, so it must be given; what is missing is
// added to `problems`.
std::vector<Shape> bound_shapes(const onnx::ValueInfoProto& input, const Kind& kind,
                                const ImportOptions& options, std::vector<std::string>& problems) {
  const std::string name = printable(input.name());
  const auto listed = options.sequences.find(input.name());
  if (options.absent.contains(input.name())) return {};
  if (!kind.is_sequence) return std::vector<Shape>(1, bound_shape(input, *kind.tensor, options));
  std::vector<Shape> shapes;
  if (listed != options.sequences.end())
    shapes = listed->second;
  else if (options.shapes.contains(input.name()))
    shapes = {options.shapes.at(input.name())};
  else
    problems.push_back(
        fmt::format("input '{0}' is a sequence: give the shapes of its elements with --shape {0}=2x3,2x3 (or "
                    "{0}=none)",
                    name));
  return shapes;
}

// One line a problem, each with the model's name in front; of very many the first ones.
std::string joined(const std::string& name, std::vector<std::string> problems) {
  constexpr size_t kShown = 50;
  std::string text;
  for (size_t k = 0; k < std::min(problems.size(), kShown); ++k)
    text += fmt::format("{}{}: {}", k ? "\n" : "", name, problems[k]);
  if (problems.size() > kShown) text += fmt::format("\n{}: and {} more", name, problems.size() - kShown);
  return text;
}

// An input that is initialised, too, has a value that callers may replace, by the standard (before version 4
// of the format every initializer was an input). Here it is a constant, and no input of the compiled model.
std::set<std::string> initializer_names(const onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (const onnx::TensorProto& initializer : graph.initializer()) names.insert(initializer.name());
  for (const onnx::SparseTensorProto& initializer : graph.sparse_initializer())
    names.insert(initializer.values().name());
  return names;
}

// A shape that no tensor may have comes from a binding, most often: the message names the input.
TensorId add_input(Importer& importer, const std::string& name, Type type, const Shape& shape) {
  try {
    return importer.add_tensor(name, type, shape);
  } catch (const ShapeError& error) {
    throw UserError(fmt::format("input '{}': {}", printable(name), error.what()));
  }
}

// The given value of input `id` as a constant that stands for it. The input itself remains, to be compared:
// the C returns an error in a run with another value, instead of results for this one.
//
//   guard: ReduceMax(Not(Equal(input, constant)))      in opset 18's operators, as if the model had them
//
// UserError where the value has another number of elements, or the input is text.
TensorId known_value(Importer& importer, TensorId id, const Value& value) {
  const Tensor input = importer.graph.tensors[id];
  if (value.count() != element_count(input.shape))
    throw UserError(fmt::format("input '{}' is {} {}, but its value has {} elements", printable(input.name),
                                info(input.type).name, to_string(input.shape), value.count()));
  if (input.type == Type::kString)
    throw UserError(fmt::format("input '{}' is text, whose value cannot be given", printable(input.name)));
  Value all(input.type, input.shape);
  for (int64_t k = 0; k < value.count(); ++k) store(all, k, convert(input.type, value.type, load(value, k)));
  const TensorId constant = importer.add_constant(input.name, std::make_shared<const Value>(std::move(all)));
  const auto apply = [&](const char* op, std::vector<TensorId> inputs) {
    return importer
        .lower({"value of " + input.name, op, "", 18, std::move(inputs), {"differs"}, {{"keepdims", {}}}})
        .at(0);
  };
  importer.guard(apply("ReduceMax", {apply("Not", {apply("Equal", {id, constant})})}),
                 fmt::format("input '{}' has another value than --value gave", printable(input.name)));
  return constant;
}

// Shapes of values that the model states or that an exporter has inferred, where they are static once symbols
// are bound. They tell how large a result is that else only the run would know (Lowering::declared_shape).
void declare_shapes(Importer& importer, const onnx::GraphProto& proto, const ImportOptions& options) {
  const auto declare = [&](const onnx::ValueInfoProto& value) {
    if (!value.type().tensor_type().has_shape()) return;
    Shape shape;
    for (const auto& dim : value.type().tensor_type().shape().dim()) {
      const auto bound = options.dims.find(dim.dim_param());
      if (!dim.has_dim_value() && bound == options.dims.end()) return;
      shape.push_back(dim.has_dim_value() ? dim.dim_value() : bound->second);
      if (shape.back() < 0) return;
    }
    importer.declared_shapes[value.name()] = shape;
  };
  for (const onnx::ValueInfoProto& value : proto.value_info()) declare(value);
  for (const onnx::ValueInfoProto& output : proto.output()) declare(output);
}

// A tensor keeps its name; the elements of sequence `s` are s_0, s_1, ...
std::string part_name(const std::string& name, bool is_sequence, size_t part) {
  return is_sequence ? fmt::format("{}_{}", name, part) : name;
}

// Adds the model's inputs to the graph and binds their names: to a tensor, to a sequence of tensors, or to
// nothing. Of the inputs whose value is given, those in `known` have it; the others may have to, if an
// operator asks.
void declare_inputs(Importer& importer, const onnx::GraphProto& proto, const ImportOptions& options,
                    const std::set<std::string>& known) {
  const std::set<std::string> initialized = initializer_names(proto);
  for (const onnx::ValueInfoProto& input : proto.input()) {
    if (initialized.contains(input.name())) continue;
    const std::string who = fmt::format("input '{}'", printable(input.name()));
    const Kind kind = kind_of(input.type());
    if (!kind.tensor) throw UserError(who + " is no tensor and no sequence of tensors");
    const std::vector<Shape> shapes = bound_shapes(input, kind, options, importer.problems);
    const Type type = type_of_onnx(kind.tensor->elem_type(), who);
    std::vector<TensorId> parts;
    for (size_t k = 0; k < shapes.size(); ++k) {
      const std::string name = part_name(input.name(), kind.is_sequence, k);
      parts.push_back(add_input(importer, name, type, shapes[k]));
      importer.graph.inputs.push_back(parts.back());
      importer.graph.input_names.push_back(name);
    }
    if (kind.is_optional && options.absent.contains(input.name())) {
      importer.bind(input.name(), kAbsent);
    } else if (kind.is_sequence) {
      importer.bind(input.name(), importer.add_sequence({type, parts}));
    } else {
      const auto value = options.values.find(input.name());
      importer.bind(input.name(),
                    known.contains(input.name()) ? known_value(importer, parts[0], value->second) : parts[0]);
      if (value != options.values.end()) importer.offer(parts[0]);
    }
  }
  if (!importer.problems.empty()) throw UserError(joined(importer.graph.name, importer.problems));
}

// The type that the model declares for an output, where it does, is that of its value. A caller that believes
// the declaration would read the wrong bytes else. Shapes are not compared: declared ones are often of other
// bindings.
void check_declared_type(const Importer& importer, const onnx::ValueInfoProto& output, TensorId value) {
  const std::string who = fmt::format("output '{}'", printable(output.name()));
  const Kind kind = kind_of(output.type());
  if (value == kAbsent || !kind.tensor) return;
  const bool is_sequence = value < kAbsent;
  if (kind.is_sequence != is_sequence)
    throw UserError(fmt::format("{} is declared as {}, but its value is {}", who,
                                kind.is_sequence ? "a sequence" : "no sequence",
                                is_sequence ? "a sequence" : "a tensor"));
  if (kind.tensor->elem_type() == onnx::TensorProto::UNDEFINED) return;
  const Type type = is_sequence ? importer.sequence_of(value).type : importer.graph.tensors[value].type;
  if (info(type).onnx != kind.tensor->elem_type())
    throw UserError(fmt::format("{} is declared as {}, but its value is {}", who,
                                info(type_of_onnx(kind.tensor->elem_type(), who)).name, info(type).name));
}

// Every output gets a tensor of its own that a node writes, so that it can live at the caller's pointer: what
// is an input, a constant or another output already is copied.
//
//   y = x; z = x          y = copy of x,  z = copy of x
//   a = f(x); b = a       a,              b = copy of a
//
// Behind the model's own outputs come the true shapes of those whose extents only the run knows.
void declare_outputs(Importer& importer, const onnx::GraphProto& proto) {
  Graph& graph = importer.graph;
  std::vector<bool> taken(graph.tensors.size());
  std::vector<TensorId> bounded;  // per output: the tensor if some of its extents only the run knows
  for (TensorId id : graph.inputs) taken[id] = true;
  // `taken`: tensors that are an input or an output already
  const auto declare = [&](const std::string& name, TensorId id) {
    bounded.push_back(importer.extents.contains(id) ? id : kAbsent);
    if (taken[id] || graph.tensors[id].constant) {
      const TensorId copy = importer.add_tensor(name, graph.tensors[id].type, graph.tensors[id].shape);
      importer.copy(copy, id, name);
      id = copy;
      taken.resize(graph.tensors.size());
    }
    taken[id] = true;
    graph.outputs.push_back(id);
    graph.output_names.push_back(name);
  };
  for (const onnx::ValueInfoProto& output : proto.output()) {
    const TensorId value = importer.lookup(output.name(), "the graph's output list");
    if (value == kUnknown) throw UserError(fmt::format("output '{}' has no value", printable(output.name())));
    check_declared_type(importer, output, value);
    graph.output_parts.emplace_back(value >= 0 ? std::optional<size_t>(1) : std::nullopt);
    if (value >= 0) declare(output.name(), value);
    if (value >= kAbsent) continue;
    const std::vector<TensorId> parts = importer.sequence_of(value).elements;
    graph.output_parts.back() = parts.size();
    for (size_t k = 0; k < parts.size(); ++k) declare(part_name(output.name(), true, k), parts[k]);
  }
  if (graph.outputs.empty()) throw UserError(fmt::format("{}: the graph has no output", graph.name));
  for (size_t k = 0; k < bounded.size(); ++k) {
    if (bounded[k] == kAbsent) continue;
    const std::string name = graph.output_names[k] + "_shape";
    graph.true_shapes[k] = graph.outputs.size();
    graph.outputs.push_back(importer.true_shape(bounded[k], name));
    graph.output_names.push_back(name);
  }
}

// Everything from versions to outputs, into `importer`. The order matters: functions are declared before a
// node may call one, inputs are bound before nodes read them, and outputs are declared when all problems of
// nodes are known. Throws UserError with all problems, or with the one that ended the import, each after the
// model's name.
void lower_model(Importer& importer, const onnx::ModelProto& model, const std::string& name,
                 const ImportOptions& options, const std::set<std::string>& known) {
  for (const onnx::OperatorSetIdProto& opset : model.opset_import())
    importer.opsets[domain_of(opset.domain())] =
        static_cast<int>(std::clamp<int64_t>(opset.version(), 0, 1000));
  // Before version 3 of the format a model named no opset, and meant the first.
  if (model.opset_import_size() == 0) importer.opsets[""] = model.ir_version() < 3 ? 1 : 7;
  if (!model.has_graph()) throw UserError(fmt::format("{}: not an ONNX model: it holds no graph", name));
  const int opset = importer.opsets.contains("") ? importer.opsets[""] : 7;
  if (opset < 1 || opset > 28)
    throw UserError(fmt::format("{}: opset {} is outside 1 to 28, which arenac reads", name, opset));
  if (model.ir_version() < 1 || model.ir_version() > 13)
    throw UserError(
        fmt::format("{}: IR version {} is outside 1 to 13, which arenac reads", name, model.ir_version()));
  try {
    importer.declare_functions(model);
    declare_inputs(importer, model.graph(), options, known);
    declare_shapes(importer, model.graph(), options);
    importer.lower_graph(model.graph());
    if (importer.problems.empty()) declare_outputs(importer, model.graph());
  } catch (const UserError& error) {
    if (importer.problems.empty() && std::string(error.what()).starts_with(name)) throw;
    if (importer.problems.empty()) throw UserError(fmt::format("{}: {}", name, error.what()), error.status);
  }
  if (!importer.problems.empty()) throw UserError(joined(name, importer.problems));
}

// Lowers the model without the values that are given for inputs, and again with those that it turns out to
// need. A value that is known makes the program fit for it alone, so none is used that need not be. Each
// round knows more of them, so that there are at most as many rounds as given values, and one.
Graph import_bound(const onnx::ModelProto& model, const std::string& name, const std::string& directory,
                   const ImportOptions& options) {
  std::set<std::string> known;
  for (;;) {
    Importer importer;
    importer.graph.name = name;
    importer.directory = directory;
    std::optional<UserError> error;
    try {
      lower_model(importer, model, name, options, known);
    } catch (const UserError& e) {
      error = e;
    }
    const size_t before = known.size();
    // whether or not the attempt has failed: an If may ask in vain and yet be lowered
    for (const TensorId id : importer.asked_for) known.insert(importer.graph.tensors[id].name);
    if (known.size() > before) continue;
    if (error) throw *error;
    if (const auto warning = importer.unfolded()) importer.graph.warnings.push_back(*warning);
    importer.graph.block = importer.take_block();
    // unused nodes first, so that no constant of theirs is widened
    Graph graph = with_wide_constants(without_dead_code(std::move(importer.graph)));
    verify(graph);
    return graph;
  }
}

// -1 and the symbol's name (may be empty) for a dimension that the model leaves open.
Declaration declaration_of(const onnx::ValueInfoProto& value) {
  const Kind kind = kind_of(value.type());
  Declaration declaration{value.name(), {}, {}, false, kind.is_optional};
  if (!kind.tensor) return declaration;  // a sequence of maps, which is computed as one tensor
  declaration.is_sequence = kind.is_sequence;
  for (const auto& dim : kind.tensor->shape().dim()) {
    declaration.extents.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
    declaration.symbols.push_back(dim.dim_param());
  }
  return declaration;
}

// Those that a caller must supply, in the model's order.
std::vector<Declaration> inputs_of(const onnx::GraphProto& graph) {
  const std::set<std::string> initialized = initializer_names(graph);
  std::vector<Declaration> all;
  for (const onnx::ValueInfoProto& input : graph.input())
    if (!initialized.contains(input.name())) all.push_back(declaration_of(input));
  return all;
}

// How many nodes may be lowered to find extents that suit the model, for a message that proposes them.
constexpr int kTriedNodes = 30000;

// Binds what is left open, or says how to: a UserError that names the open dimensions and a command line that
// binds them all, with extents by which an import succeeds, if such are found. `path` is empty for a model
// that is no file, and then `name` stands for it.
Graph import_proto(const onnx::ModelProto& model, const std::string& name, const std::string& path,
                   const ImportOptions& options) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  const std::vector<Declaration> inputs = inputs_of(model.graph());
  for (const Declaration& input : inputs)
    for (int64_t extent : input.extents)
      if (extent < -1)  // -1 is what some exporters write for an unknown one
        throw UserError(
            fmt::format("{}: input '{}': a dimension is {}", name, printable(input.name), extent));
  check_bindings(model.graph(), name, options);
  const Bindings bound = with_batch_bound(inputs, options);
  const std::vector<std::string> open = open_dimensions(inputs, bound.options);
  if (open.empty()) {
    Graph graph = import_bound(model, name, directory, bound.options);
    graph.notes = bound.notes;
    return graph;
  }
  // The surest test of a binding is the import itself; how often it may run depends on the size of the model.
  const auto works = [&](const ImportOptions& candidate) {
    try {
      import_bound(model, name, directory, candidate);
      return true;
    } catch (const UserError&) {
      return false;
    }
  };
  const std::string command = options.command.empty()
                                  ? "arenac compile " + shell_quoted(path.empty() ? name : path)
                                  : options.command;
  const int trials = kTriedNodes / std::max(model.graph().node_size(), 1);
  throw UserError(fmt::format("{}\n{}: this binds all that is open:\n  {}", joined(name, open), name,
                              command_that_binds(command, inputs, options, trials, works)));
}

}  // namespace

// External data are looked for beside the model's file; the quantisation of inputs and outputs is read only
// here.
Graph import_model(const std::string& path, const ImportOptions& options) {
  const std::filesystem::path file(path);
  const onnx::ModelProto model = model_of_file(path);
  Graph graph = import_proto(model, file.filename().string(), path, options);
  graph.quantization = caller_quantization(model.graph(), file.parent_path().string());
  return graph;
}

Graph import_bytes(const std::string& bytes, const std::string& name, const ImportOptions& options) {
  return import_proto(model_of_bytes(bytes, name), name, "", options);
}

Graph import_text(const std::string& text, const ImportOptions& options) {
  onnx::ModelProto model;
  onnx::OnnxParser parser(text.c_str());
  const auto status = parser.Parse(model);
  if (!status.IsOK()) throw UserError(fmt::format("text: {}", status.ErrorMessage()));
  return import_proto(model, "text", "", options);
}

std::vector<Declaration> declared_inputs(const std::string& path) {
  return inputs_of(model_of_file(path).graph());
}

std::vector<Declaration> declared_outputs(const std::string& path) {
  const onnx::ModelProto model = model_of_file(path);
  std::vector<Declaration> all;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  for (const onnx::ValueInfoProto& output : model.graph().output()) {
    all.push_back(declaration_of(output));
    all.back().quantum = quantum_of(model.graph(), output.name(), folder);
  }
  return all;
}

std::vector<std::string> part_names(const Declaration& declaration, const Held& held) {
  std::vector<std::string> names;
  for (size_t k = 0; k < held.parts.size(); ++k)
    names.push_back(part_name(declaration.name, declaration.is_sequence, k));
  return names;
}

// Binds by shape, element shapes or absence, and notes by `held` that a file said so and not the user.
ImportOptions bound_to(ImportOptions options, const Declaration& input, const Held& held) {
  const std::string& name = input.name;
  if (options.shapes.contains(name) || options.sequences.contains(name) || options.absent.contains(name))
    return options;
  options.held.insert(name);
  if (!held.present) {
    options.absent.insert(name);
  } else if (input.is_sequence) {
    std::vector<Shape>& shapes = options.sequences[name];
    for (const Value& part : held.parts) shapes.push_back(part.shape);
  } else {
    options.shapes[name] = held.parts.at(0).shape;
  }
  return options;
}

}  // namespace arenac
