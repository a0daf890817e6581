#include "frontend/old_opsets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

namespace arenac {
namespace {

const std::set<std::string> kBroadcasting = {"Add", "Sub", "Mul",   "Div",     "Pow", "And",
                                             "Or",  "Xor", "Equal", "Greater", "Less"};

int64_t flag(const OnnxNode& node, const std::string& name) {
  const auto at = node.attributes.find(name);
  return at == node.attributes.end() ? 0 : at->second.i;
}

// The tensor with its shape followed by extents of 1.
TensorId with_trailing_ones(Importer& importer, const OnnxNode& node, TensorId id, size_t count) {
  Shape shape = importer.graph.tensors[id].shape;
  shape.insert(shape.end(), count, 1);
  auto extents = std::make_shared<Value>(Type::kInt64, Shape{static_cast<int64_t>(shape.size())});
  if (!shape.empty()) std::memcpy(extents->bytes.data(), shape.data(), extents->bytes.size());
  return importer.lower({node.origin,
                         "Reshape",
                         "",
                         13,
                         {id, importer.add_constant(node.origin, extents)},
                         {"aligned"},
                         {}})[0];
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

void align(Importer& importer, OnnxNode& node) {
  const Shape a = importer.graph.tensors[node.inputs[0]].shape,
              b = importer.graph.tensors[node.inputs[1]].shape;
  if (a == b || is_single(a, b) || is_single(b, a)) return;
  const bool broadcast = flag(node, "broadcast") != 0, by_axis = node.attributes.contains("axis");
  const int64_t rank = std::ssize(a), axis = by_axis
                                                 ? flag(node, "axis") + (flag(node, "axis") < 0 ? rank : 0)
                                                 : rank - std::ssize(b);
  if (!broadcast || !fits_at(b, a, axis))
    throw UserError(fmt::format("node '{}' ({}): {} does not broadcast to {} as opset 6 has it",
                                printable(node.origin), printable(node.op), to_string(b), to_string(a)));
  if (const int64_t ones = rank - axis - std::ssize(b); ones > 0)
    node.inputs[1] = with_trailing_ones(importer, node, node.inputs[1], static_cast<size_t>(ones));
}

}  // namespace

void modernise(Importer& importer, OnnxNode& node) {
  const bool two = node.inputs.size() == 2 && node.inputs[0] >= 0 && node.inputs[1] >= 0;
  if (kBroadcasting.contains(node.op) && two) align(importer, node);
  if (node.op == "PRelu" && two) {
    const size_t rank = importer.graph.tensors[node.inputs[0]].shape.size();
    const Shape slope = importer.graph.tensors[node.inputs[1]].shape;
    if (slope.size() == 1 && slope[0] > 1 && rank > 2)
      node.inputs[1] = with_trailing_ones(importer, node, node.inputs[1], rank - 2);
  }
  if (node.op == "BatchNormalization" && flag(node, "is_test") == 0)
    throw UserError(
        fmt::format("node '{}' (BatchNormalization): training mode (is_test = 0) is not supported",
                    printable(node.origin)));
  node.attributes.erase("broadcast");
  if (kBroadcasting.contains(node.op)) node.attributes.erase("axis");
  node.opset = 7;
}

}  // namespace arenac
