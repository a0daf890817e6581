#include "frontend/old_opsets.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace arenac {
namespace {

int64_t flag(const OnnxNode& node, const std::string& name) {
  const auto at = node.attributes.find(name);
  return at == node.attributes.end() ? 0 : at->second.i;
}

// The tensor with its shape followed by extents of 1.
TensorId with_trailing_ones(const Lowering& at, TensorId id, size_t count) {
  Shape shape = at.shape(id);
  shape.insert(shape.end(), count, 1);
  return at.apply("Reshape", {id, at.constant_ints(shape)});
}

// Whether v's extents are x's, or 1, where its dimension 0 is x's dimension `axis`.
bool fits_at(const Shape& v, const Shape& x, int64_t axis) {
  if (axis < 0 || axis + std::ssize(v) > std::ssize(x)) return false;
  return std::equal(v.begin(), v.end(), x.begin() + axis,
                    [](int64_t e, int64_t of) { return e == of || e == 1; });
}

// One element stands beside every element of the other operand, asked or not: there is no other reading.
bool is_single(const Shape& v, const Shape& beside) {
  return element_count(v) == 1 && v.size() <= beside.size();
}

void align(const Lowering& at, OnnxNode& node) {
  const Shape a = at.shape(at.in(0)), b = at.shape(at.in(1));
  const bool broadcast = flag(node, "broadcast") != 0, by_axis = node.attributes.contains("axis");
  const int64_t given = flag(node, "axis"), rank = std::ssize(a);
  node.attributes.erase("broadcast");
  node.attributes.erase("axis");
  if (a == b || is_single(a, b) || is_single(b, a)) return;
  const int64_t axis = by_axis ? given + (given < 0 ? rank : 0) : rank - std::ssize(b);
  if (!broadcast || !fits_at(b, a, axis))
    at.fail(fmt::format("{} does not broadcast to {} as opset 6 has it", to_string(b), to_string(a)));
  if (const int64_t ones = rank - axis - std::ssize(b); ones > 0)
    node.inputs[1] = with_trailing_ones(at, node.inputs[1], static_cast<size_t>(ones));
}

// One slope is per channel.
void align_slope(const Lowering& at, OnnxNode& node) {
  const int rank = at.rank(at.in(0));
  const Shape slope = at.shape(at.in(1));
  if (slope.size() == 1 && slope[0] > 1 && rank > 2)
    node.inputs[1] = with_trailing_ones(at, node.inputs[1], static_cast<size_t>(rank) - 2);
}

void name_training(const Lowering& at, OnnxNode& node) {
  if (flag(node, "is_test") != 0) return;
  node.attributes["training_mode"].i = 1;
  at.warn("is_test = 0 asks for training: the batch's own mean and variance normalise it");
}

void keep_all(const Lowering& at, OnnxNode& node) {
  if (flag(node, "is_test") == 0) at.warn("is_test = 0 asks for training: nothing is dropped all the same");
}

void type_by_name(const Lowering& at, OnnxNode& node) {
  const std::string name = at.attribute("to").s;
  onnx::TensorProto::DataType type = onnx::TensorProto::UNDEFINED;
  at.require(onnx::TensorProto::DataType_Parse(name, &type),
             fmt::format("there is no type '{}'", printable(name)));
  node.attributes["to"].i = type;
}

void axis_of_1(const Lowering& at, OnnxNode& node) { node.attributes["axis"].i = at.int_attr("axis", 1); }

void rename_paddings(const Lowering& at, OnnxNode& node) {
  node.attributes["pads"] = at.attribute("paddings");
}

void shape_as_input(const Lowering& at, OnnxNode& node) {
  node.inputs.resize(1, kAbsent);
  node.inputs.push_back(at.constant_ints(at.attribute("shape").ints));
}

void rounded_parameters(const Lowering& at, OnnxNode& node) {
  node.attributes["alpha"].f = at.float_attr("alpha", 1.6732f);
  node.attributes["gamma"].f = at.float_attr("gamma", 1.0507f);
}

// Whole numbers, held by a tensor of any type.
std::vector<int64_t> whole(const Lowering& at, TensorId id, const std::string& what) {
  std::vector<int64_t> numbers;
  for (const double v : at.constant_floats(id, what)) {
    at.require(v == std::floor(v) && std::abs(v) < std::ldexp(1, 40),
               fmt::format("{} should be whole numbers", what));
    numbers.push_back(static_cast<int64_t>(v));
  }
  return numbers;
}

void parts_as_attribute(const Lowering& at, OnnxNode& node) {
  if (at.has_input(1)) node.attributes["split"].ints = whole(at, at.in(1), "the split");
  node.inputs.resize(1, kAbsent);
}

// Tile(x, tiles, axis): so many copies along one axis.
void repeats_as_input(const Lowering& at, OnnxNode& node) {
  const auto tiles = whole(at, at.in(1), "the number of tiles"), axis = whole(at, at.in(2), "the axis");
  at.require(tiles.size() == 1 && axis.size() == 1, "the number of tiles and the axis are single numbers");
  std::vector<int64_t> repeats(static_cast<size_t>(at.rank(at.in(0))), 1);
  repeats.at(static_cast<size_t>(at.normalized_axis(axis[0], at.rank(at.in(0))))) = tiles[0];
  node.inputs = {at.in(0), at.constant_ints(repeats)};
}

void scales_as_list(const Lowering& at, OnnxNode& node) {
  node.attributes["scales"].floats = {1, 1, at.attribute("height_scale").f, at.attribute("width_scale").f};
}

struct Change {
  const char* op;
  int until;  // the first opset that spells it as opset 7 does
  void (*apply)(const Lowering& at, OnnxNode& node);
};
constexpr Change kChanges[] = {
    {"Add", 7, align},
    {"And", 7, align},
    {"BatchNormalization", 7, name_training},
    {"Cast", 6, type_by_name},
    {"Concat", 4, axis_of_1},
    {"Div", 7, align},
    {"Dropout", 7, keep_all},
    {"Equal", 7, align},
    {"Greater", 7, align},
    {"Less", 7, align},
    {"Mul", 7, align},
    {"Or", 7, align},
    {"PRelu", 7, align_slope},
    {"Pad", 2, rename_paddings},
    {"Pow", 7, align},
    {"Reshape", 5, shape_as_input},
    {"Selu", 6, rounded_parameters},
    {"Split", 2, parts_as_attribute},
    {"Sub", 7, align},
    {"Tile", 6, repeats_as_input},
    {"Upsample", 7, scales_as_list},
    {"Xor", 7, align},
};

}  // namespace

void modernise(Importer& importer, OnnxNode& node) {
  std::vector<TensorId> no_results;
  const Lowering at(importer, node, no_results);
  for (const Change& change : kChanges)
    if (node.op == change.op && node.opset < change.until) change.apply(at, node);
  node.opset = 7;
}

}  // namespace arenac
