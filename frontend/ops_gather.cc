// Indexing by data: every index is clamped into range, so that no data can make generated code leave a
// tensor.
//
//   Gather       out[a..., i..., b...] = x[a..., indices[i...], b...]
//   ScatterND    out = x; then out[indices[i..., :], b...] = updates[i..., b...]
#include <fmt/format.h>

#include <algorithm>

#include "frontend/ops.h"
#include "frontend/steps.h"

namespace arenac {
namespace {

// An index read from data: negative ones count from the end. Of an extent of 5:  -1 -> 4,  4 -> 4,  7 -> 4,
// -9 -> 0. The standard calls indices outside [-5, 5) an error; a program without errors at that place needs
// some element instead.
Expr data_index(const Expr& value, int64_t extent) {
  const Expr i = cast(Type::kInt64, value);
  return min(max(select(i < 0, i + integer(extent), i), 0), integer(std::max<int64_t>(extent - 1, 0)));
}

// Element `at` of an index tensor as an index into a dimension of `extent`. A tensor known at compile time is
// checked now, and becomes a constant or an affine expression of `at` if it is one:
//
//   {4, 2, 0}        ->   4 - 2 * at          a slice, which the scheduler may make a view
//   {0, 3, 1}        ->   a table
Expr index_from(Lowering& node, Formula& f, TensorId indices, const std::vector<Expr>& at, int64_t extent) {
  if (!node.is_constant(indices)) return data_index(f.read(indices, at), extent);
  std::vector<int64_t> all = node.constant_ints(indices, "the indices");
  if (all.empty()) return integer(0);
  for (int64_t& i : all) {
    node.require(i >= -extent && i < extent, fmt::format("index {} is outside a dimension of {}", i, extent));
    if (i < 0) i += extent;
  }
  Expr linear = integer(0);
  const Shape& shape = node.shape(indices);
  for (size_t d = 0; d < shape.size(); ++d) linear = linear * integer(shape[d]) + at[d];
  const int64_t step = all.size() > 1 ? all[1] - all[0] : 0;
  bool progression = true;
  for (size_t k = 0; k < all.size(); ++k) progression &= all[k] == all[0] + step * static_cast<int64_t>(k);
  if (progression) return linear * integer(step) + integer(all[0]);
  Value table = node.table(Type::kInt64, shape);
  for (size_t k = 0; k < all.size(); ++k) store(table, static_cast<int64_t>(k), {.i = all[k]});
  return f.read(node.constant(std::move(table)), at);
}

void require_extents(const Lowering& node, const Shape& shape, const Shape& wanted) {
  node.require(shape == wanted, fmt::format("shape {} should be {}", to_string(shape), to_string(wanted)));
}

// A row of x for each index:  x [5,8], indices [2,3], axis 0  ->  out[i,j,c] = x[indices[i,j], c] of [2,3,8].
void gather(Lowering& node) {
  const TensorId x = node.in(0), indices = node.in(1);
  const Shape from = node.shape(x), chosen = node.shape(indices);
  const int64_t axis = node.normalized_axis(node.int_attr("axis", 0), node.rank(x));
  node.require(from[axis] > 0 || element_count(chosen) == 0, "nothing to gather from");
  Formula f(node);
  std::vector<Expr> at = f.axes(Shape(from.begin(), from.begin() + axis));
  const std::vector<Expr> which = f.axes(chosen);
  const std::vector<Expr> rest = f.axes(Shape(from.begin() + axis + 1, from.end()));
  at.push_back(index_from(node, f, indices, which, from[axis]));
  at.insert(at.end(), rest.begin(), rest.end());
  f.body(f.read(x, at));
  node.out(0, f.emit(node.type(x)));
}

// An element of x for each index: out[i,j] = x[indices[i,j], j] for axis 0. Other dimensions of the indices
// may be shorter than those of x.
void gather_elements(Lowering& node) {
  const TensorId x = node.in(0), indices = node.in(1);
  const Shape from = node.shape(x), chosen = node.shape(indices);
  const int64_t axis = node.normalized_axis(node.int_attr("axis", 0), node.rank(x));
  node.require(from.size() == chosen.size(), "indices and data differ in rank");
  for (size_t d = 0; d < from.size(); ++d)
    node.require(static_cast<int64_t>(d) == axis ? from[d] > 0 || chosen[d] == 0 : chosen[d] <= from[d],
                 "the indices are larger than the data");
  Formula f(node);
  std::vector<Expr> at = f.axes(chosen);
  at[axis] = index_from(node, f, indices, at, from[axis]);
  f.body(f.read(x, at));
  node.out(0, f.emit(node.type(x)));
}

// The indices that the last dimension of an index tensor spells, at `at` of its other dimensions; number k is
// one of dimension first + k of `from`.
std::vector<Expr> index_tuple(const Lowering& node, Formula& f, TensorId indices, std::vector<Expr> at,
                              const Shape& from, int64_t first) {
  std::vector<Expr> tuple;
  for (int64_t k = 0; k < node.shape(indices).back(); ++k) {
    at.push_back(integer(k));
    tuple.push_back(data_index(f.read(indices, at), from[first + k]));
    at.pop_back();
  }
  return tuple;
}

// A part of x for each tuple: x [4,5,6], indices [3,2]  ->  out[i,c] = x[indices[i,0], indices[i,1], c] of
// [3,6]. With batch_dims b the first b dimensions of both go together, and tuples index those behind.
void gather_nd(Lowering& node) {
  const TensorId x = node.in(0), indices = node.in(1);
  const Shape from = node.shape(x), chosen = node.shape(indices);
  const int64_t batch = node.int_attr("batch_dims", 0);
  const int64_t rank = node.rank(x);
  node.require(!chosen.empty() && batch >= 0 && batch < static_cast<int64_t>(chosen.size()) &&
                   batch + chosen.back() <= rank,
               "the indices do not fit the data");
  for (int64_t d = 0; d < batch; ++d) node.require(from[d] == chosen[d], "the batch dimensions differ");
  for (int64_t k = 0; k < chosen.back(); ++k) node.require(from[batch + k] > 0, "nothing to gather from");
  Formula f(node);
  const std::vector<Expr> which = f.axes(Shape(chosen.begin(), chosen.end() - 1));
  const std::vector<Expr> rest = f.axes(Shape(from.begin() + batch + chosen.back(), from.end()));
  std::vector<Expr> at(which.begin(), which.begin() + batch);
  for (const Expr& index : index_tuple(node, f, indices, which, from, batch)) at.push_back(index);
  at.insert(at.end(), rest.begin(), rest.end());
  f.body(f.read(x, at));
  node.out(0, f.emit(node.type(x)));
}

// Stores or combines, as attribute `reduction` says (opsets 16 and 18). Of colliding updates without a
// reduction, the standard leaves open which one stays.
void scatter_value(Lowering& node, Formula& f, const Expr& value) {
  const std::string reduction = node.string_attr("reduction", "none");
  if (reduction == "none")
    f.body(value);
  else if (reduction == "add")
    f.accumulate(Combine::kSum, value);
  else if (reduction == "mul")
    f.accumulate(Combine::kProduct, value);
  else if (reduction == "min")
    f.accumulate(Combine::kMin, value);
  else if (reduction == "max")
    f.accumulate(Combine::kMax, value);
  else
    node.fail(fmt::format("unknown reduction '{}'", reduction));
}

// Two nests: a copy of x, then out[indices[i,j], j] = updates[i,j] for axis 0.
void scatter_elements(Lowering& node) {
  const TensorId x = node.in(0), indices = node.in(1), updates = node.in(2);
  const Shape from = node.shape(x), chosen = node.shape(indices);
  const int64_t axis = node.normalized_axis(node.int_attr("axis", 0), node.rank(x));
  require_extents(node, node.shape(updates), chosen);
  node.require(from.size() == chosen.size() && node.type(updates) == node.type(x),
               "updates and data differ in rank or type");
  for (size_t d = 0; d < from.size(); ++d)
    node.require(static_cast<int64_t>(d) == axis ? from[d] > 0 || chosen[d] == 0 : chosen[d] <= from[d],
                 "the indices are larger than the data");
  Formula f(node);
  f.body(f.read(x, f.axes(from)));
  f.next_nest();
  const std::vector<Expr> which = f.axes(chosen);
  std::vector<Expr> at = which;
  at[axis] = index_from(node, f, indices, which, from[axis]);
  f.store(at);
  scatter_value(node, f, f.read(updates, which));
  node.out(0, f.emit(node.type(x), from));
}

// The opposite of GatherND: a copy of x, then a part of it for each tuple of indices.
//
//   x [4,5,6], indices [3,1], updates [3,5,6]:      out[indices[i,0], b, c] = updates[i, b, c]
void scatter_nd(Lowering& node) {
  const TensorId x = node.in(0), indices = node.in(1), updates = node.in(2);
  const Shape from = node.shape(x), chosen = node.shape(indices);
  node.require(!chosen.empty() && chosen.back() <= node.rank(x), "the indices do not fit the data");
  node.require(node.type(updates) == node.type(x), "updates and data differ in type");
  const Shape outer(chosen.begin(), chosen.end() - 1), inner(from.begin() + chosen.back(), from.end());
  Shape wanted = outer;
  wanted.insert(wanted.end(), inner.begin(), inner.end());
  require_extents(node, node.shape(updates), wanted);
  for (int64_t k = 0; k < chosen.back(); ++k)
    node.require(from[k] > 0 || element_count(outer) == 0, "nowhere to scatter to");
  Formula f(node);
  f.body(f.read(x, f.axes(from)));
  f.next_nest();
  const std::vector<Expr> which = f.axes(outer), rest = f.axes(inner);
  std::vector<Expr> at = index_tuple(node, f, indices, which, from, 0);
  at.insert(at.end(), rest.begin(), rest.end());
  f.store(at);
  std::vector<Expr> update = which;
  update.insert(update.end(), rest.begin(), rest.end());
  scatter_value(node, f, f.read(updates, update));
  node.out(0, f.emit(node.type(x), from));
}

// The cache with the update written along the axis, from each batch's own index on; past the end it goes on
// at the start of a circular cache, and is moved back into a linear one. Without indices it begins at 0. Of a
// cache of 6 and an update of 3 from 4 on:
//
//   circular   C . . . A B             linear   . . . A B C
void tensor_scatter(Lowering& node) {
  const TensorId cache = node.in(0), update = node.in(1);
  const Shape to = node.shape(cache), from = node.shape(update);
  const int64_t axis = node.normalized_axis(node.int_attr("axis", -2), node.rank(cache));
  node.require(axis > 0, "the first dimension is the batch: it cannot be the axis");
  node.require(from.size() == to.size() && node.type(update) == node.type(cache) && from[axis] <= to[axis],
               "update and cache differ in rank or type, or the update is longer");
  for (size_t d = 0; d < to.size(); ++d)
    if (static_cast<int64_t>(d) != axis) node.require(from[d] == to[d], "update and cache differ in shape");
  const std::string mode = node.string_attr("mode", "linear");
  node.require(mode == "linear" || mode == "circular", fmt::format("unknown mode '{}'", mode));
  Formula f(node);
  f.body(f.read(cache, f.axes(to)));
  f.next_nest();
  const std::vector<Expr> at = f.axes(from);
  std::vector<Expr> where = at;
  if (node.has_input(2)) {
    const TensorId first = node.in(2);
    node.require(node.shape(first) == Shape{to[0]} && !is_float(node.type(first)),
                 "write_indices needs one integer a batch");
    const Expr index = cast(Type::kInt64, f.read(first, {at[0]}));
    if (mode == "circular")
      where[axis] = (index % integer(to[axis]) + at[axis]) % integer(to[axis]);
    else
      where[axis] = min(max(index, 0), integer(to[axis] - from[axis])) + at[axis];
  }
  f.store(where);
  f.body(f.read(update, at));
  node.out(0, f.emit(node.type(cache), to));
}

// on where the new axis equals the index, off elsewhere. Negative indices count from the end; one outside
// [-depth, depth) is nowhere equal, so its row is off throughout, as the standard wants. A depth that only
// the run knows is taken to be what the model declares.
void one_hot(Lowering& node) {
  const TensorId indices = node.in(0), values = node.in(2);
  node.require(node.shape(values) == Shape{2}, "'values' holds an off and an on value");
  const int64_t axis = node.normalized_axis(node.int_attr("axis", -1), node.rank(indices) + 1);
  const auto declared = node.declared_for(1);
  int64_t depth = 0;
  if (declared && axis < static_cast<int64_t>(declared->size())) {
    depth = assumed_ints(node, node.in(1), {declared->at(axis)})[0];
  } else {
    const auto depths = node.constant_floats(node.in(1), "the depth");
    node.require(depths.size() == 1 && depths[0] >= 0 && depths[0] < 1e12, "the depth makes no sense");
    depth = static_cast<int64_t>(depths[0]);
  }
  Shape to = node.shape(indices);
  to.insert(to.begin() + axis, depth);
  Formula f(node);
  std::vector<Expr> at = f.axes(to);
  const Expr position = at[axis];
  at.erase(at.begin() + axis);
  const Expr i = cast(Type::kInt64, f.read(indices, at));
  f.body(select(select(i < 0, i + integer(depth), i) == position, f.read(values, {integer(1)}),
                f.read(values, {integer(0)})));
  node.out(0, f.emit(node.type(values)));
}

}  // namespace

std::span<const OperatorRow> gather_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "Gather", 1, gather},
      {"", "GatherElements", 11, gather_elements},
      {"", "GatherND", 11, gather_nd},
      {"", "OneHot", 9, one_hot},
      {"", "Scatter", 9, scatter_elements, 11},
      {"", "ScatterElements", 11, scatter_elements},
      {"", "ScatterND", 11, scatter_nd},
      {"", "TensorScatter", 24, tensor_scatter, 1000, "formula", kEveryType},
  };
  return kRows;
}

}  // namespace arenac
