// Sequences, ONNX's lists of tensors, and optionals. Both are resolved here, at compile time: a position says
// which tensor is meant, and only one that the run computes becomes a choice among tensors of one shape.
#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "frontend/control.h"
#include "frontend/importer.h"
#include "frontend/onnx_tensor.h"
#include "frontend/ops.h"

namespace arenac {
namespace {

constexpr int64_t kMostElements = 100'000;  // of one sequence

void sequence_empty(Lowering& node) {
  const auto who = fmt::format("node '{}' ({})", printable(node.onnx_node().origin), node.op());
  const int64_t type = node.int_attr("dtype", onnx::TensorProto::FLOAT);
  node.out(0, node.make_sequence(type_of_onnx(static_cast<int>(type), who), {}));
}

void sequence_construct(Lowering& node) {
  std::vector<TensorId> elements;
  for (int k = 0; k < node.input_count(); ++k) {
    elements.push_back(node.in(k));
    node.require(node.type(elements[k]) == node.type(elements[0]), "the elements differ in type");
  }
  node.require(!elements.empty(), "a sequence without elements is made by SequenceEmpty");
  node.out(0, node.make_sequence(node.type(elements[0]), elements));
}

void sequence_length(Lowering& node) {
  node.out(0, node.scalar(Type::kInt64, static_cast<double>(node.sequence(0).elements.size())));
}

// Input k, a position before `end` that counts from `count` when negative.
int64_t position(const Lowering& node, int k, int64_t count, int64_t end) {
  const auto at = node.constant_ints(node.in(k), "the position in a sequence");
  node.require(at.size() == 1, "the position must be one number");
  node.require(at[0] >= -count && at[0] < end,
               fmt::format("position {} is outside a sequence of {}", at[0], count));
  return at[0] < 0 ? at[0] + count : at[0];
}

// The operand of [begin, end) that `index` says, by halves.
Expr chosen(const std::vector<Expr>& values, const Expr& index, size_t begin, size_t end) {
  if (end - begin == 1) return values[begin];
  const size_t middle = begin + (end - begin) / 2;
  return select(index < integer(static_cast<int64_t>(middle)), chosen(values, index, begin, middle),
                chosen(values, index, middle, end));
}

// The element at a position that the run computes: all are of one shape, and one outside is the nearest.
TensorId element_at(Lowering& node, const Sequence& sequence, TensorId position) {
  constexpr size_t kMostChoices = 256;
  const auto& elements = sequence.elements;
  node.require(!elements.empty(), "an empty sequence has no element");
  const Shape shape = node.shape(elements[0]);
  const bool alike =
      std::all_of(elements.begin(), elements.end(), [&](TensorId id) { return node.shape(id) == shape; });
  if (!alike) node.ask_for(position);
  node.require(alike && elements.size() <= kMostChoices,
               fmt::format("the position in a sequence of unlike shapes or more than {} elements ('{}') is "
                           "computed at run time; arenac needs it at compile time",
                           kMostChoices, printable(node.tensor(position).name)));
  node.require(element_count(node.shape(position)) == 1 && !is_float(node.type(position)),
               "the position must be one integer");
  Formula f(node);
  const auto out = f.axes(shape);
  std::vector<Expr> values;
  for (TensorId id : elements) values.push_back(f.read(id, out));
  const Expr at =
      cast(Type::kInt64, f.read(position, std::vector<Expr>(node.shape(position).size(), integer(0))));
  const Expr from_front = select(at < 0, at + static_cast<double>(elements.size()), at);
  f.body(chosen(values, from_front, 0, elements.size()));
  return f.emit(sequence.type);
}

void sequence_at(Lowering& node) {
  const Sequence sequence = node.sequence(0);
  const auto count = static_cast<int64_t>(sequence.elements.size());
  if (!node.is_constant(node.in(1))) return node.out(0, element_at(node, sequence, node.in(1)));
  node.out(0, sequence.elements[static_cast<size_t>(position(node, 1, count, count))]);
}

void sequence_insert(Lowering& node) {
  Sequence sequence = node.sequence(0);
  const TensorId added = node.in(1);
  node.require(node.type(added) == sequence.type, "the tensor's type is not that of the sequence");
  const auto count = static_cast<int64_t>(sequence.elements.size());
  node.require(count < kMostElements, fmt::format("the sequence has {} elements already", count));
  const int64_t at = node.has_input(2) ? position(node, 2, count, count + 1) : count;
  sequence.elements.insert(sequence.elements.begin() + at, added);
  node.out(0, node.make_sequence(sequence.type, sequence.elements));
}

void sequence_erase(Lowering& node) {
  Sequence sequence = node.sequence(0);
  const auto count = static_cast<int64_t>(sequence.elements.size());
  const int64_t at = node.has_input(1) ? position(node, 1, count, count) : count - 1;
  node.require(count > 0, "an empty sequence has no element");
  sequence.elements.erase(sequence.elements.begin() + at);
  node.out(0, node.make_sequence(sequence.type, sequence.elements));
}

// The extents along the axis of the tensors that SplitToSequence makes.
std::vector<int64_t> split_extents(const Lowering& node, int64_t extent) {
  const bool chunks = !node.has_input(1) || node.shape(node.in(1)).empty();
  std::vector<int64_t> extents =
      node.has_input(1) ? node.constant_ints(node.in(1), "the split") : std::vector<int64_t>{1};
  if (!chunks) {
    int64_t rest = extent;
    for (int64_t part : extents) {
      node.require(part >= 0 && part <= rest, fmt::format("the split does not fit extent {}", extent));
      rest -= part;
    }
    node.require(rest == 0, fmt::format("the split leaves {} of extent {}", rest, extent));
    return extents;
  }
  const int64_t chunk = extents[0];
  node.require(chunk > 0 && (extent - 1) / chunk < kMostElements,
               fmt::format("extent {} does not split into parts of {}", extent, chunk));
  extents.clear();
  for (int64_t begin = 0; begin < extent; begin += chunk) extents.push_back(std::min(chunk, extent - begin));
  return extents;
}

void split_to_sequence(Lowering& node) {
  const TensorId x = node.in(0);
  const int64_t axis = node.normalized_axis(node.int_attr("axis", 0), node.rank(x));
  const bool drop_axis = !node.has_input(1) && node.int_attr("keepdims", 1) == 0;
  std::vector<TensorId> elements;
  int64_t begin = 0;
  for (int64_t extent : split_extents(node, node.shape(x)[axis])) {
    const TensorId axes = node.constant_ints({axis});
    TensorId part =
        node.apply("Slice", {x, node.constant_ints({begin}), node.constant_ints({begin + extent}), axes});
    if (drop_axis) part = node.apply("Squeeze", {part, axes});
    elements.push_back(part);
    begin += extent;
  }
  node.out(0, node.make_sequence(node.type(x), elements));
}

void concat_from_sequence(Lowering& node) {
  std::vector<TensorId> elements = node.sequence(0).elements;
  node.require(!elements.empty(), "an empty sequence does not tell the result's shape");
  Attribute axis = node.attribute("axis");
  if (node.int_attr("new_axis", 0) != 0) {
    axis.i = node.normalized_axis(axis.i, node.rank(elements[0]) + 1);
    for (TensorId& element : elements)
      element = node.apply("Unsqueeze", {element, node.constant_ints({axis.i})});
  }
  node.out(0, node.apply("Concat", elements, {{"axis", axis}}));
}

// The body once for each element; operands that are no sequence are the same each time.
void sequence_map(Lowering& node) {
  const onnx::GraphProto& body = subgraph(node, "body");
  const size_t count = node.sequence(0).elements.size();
  node.require(body.input_size() == node.input_count() && body.output_size() >= node.output_count(),
               "the body's inputs or outputs are not as many as the node's");
  std::vector<std::vector<TensorId>> results(static_cast<size_t>(node.output_count()));
  for (size_t k = 0; k < count; ++k) {
    const Scope scope(node.importer());
    for (int i = 0; i < node.input_count(); ++i) {
      const TensorId whole = node.operand(i);
      node.require(whole >= kAbsent || node.sequence(i).elements.size() == count,
                   "the sequences differ in length");
      node.importer().bind(body.input(i).name(), whole < kAbsent ? node.sequence(i).elements[k] : whole);
    }
    const auto yield = lower_body(node, body);
    for (size_t o = 0; o < results.size(); ++o) {
      node.require(yield[o] >= 0, fmt::format("result {} of the body is no tensor", o));
      node.require(k == 0 || node.type(yield[o]) == node.type(results[o][0]),
                   fmt::format("result {} of the body changes its type", o));
      results[o].push_back(yield[o]);
    }
  }
  for (int o = 0; o < node.output_count(); ++o) {
    const int declared = body.output(o).type().tensor_type().elem_type();
    const Type type = count > 0 ? node.type(results[o][0]) : type_of_onnx(declared, "the body's result");
    node.out(o, node.make_sequence(type, results[o]));
  }
}

void optional(Lowering& node) { node.out(0, node.operand(0)); }

void optional_has_element(Lowering& node) {
  node.out(0, node.scalar(Type::kBool, node.operand(0) == kAbsent ? 0 : 1));
}

void optional_get_element(Lowering& node) {
  node.require(node.has_input(0), "the optional holds nothing");
  node.out(0, node.operand(0));
}

}  // namespace

std::span<const OperatorRow> list_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "ConcatFromSequence", 11, concat_from_sequence},
      {"", "Optional", 15, optional, 1000, "control"},
      {"", "OptionalGetElement", 15, optional_get_element, 1000, "control"},
      {"", "OptionalHasElement", 15, optional_has_element, 1000, "control"},
      {"", "SequenceAt", 11, sequence_at},
      {"", "SequenceConstruct", 11, sequence_construct, 1000, "control"},
      {"", "SequenceEmpty", 11, sequence_empty, 1000, "control"},
      {"", "SequenceErase", 11, sequence_erase, 1000, "control"},
      {"", "SequenceInsert", 11, sequence_insert, 1000, "control"},
      {"", "SequenceLength", 11, sequence_length, 1000, "control"},
      {"", "SequenceMap", 17, sequence_map, 1000, "control"},
      {"", "SplitToSequence", 11, split_to_sequence},
  };
  return kRows;
}

}  // namespace arenac
