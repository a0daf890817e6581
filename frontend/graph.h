// The dataflow graph: what an ONNX model means, as loop nests over tensors of static shape.
//
//   x ──▶ [conv1: out[n,m,y,x] = bias[m] + sum(c,ky,kx) x[n,c,y+ky-1,x+kx-1] * w[m,c,ky,kx]] ──▶ conv1_out
//   ──▶ ...
//
// A Graph is pure meaning: row-major shapes, no layout, no storage, no time. The scheduler decides those.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/expr.h"
#include "frontend/quantum.h"
#include "frontend/type.h"

namespace arenac {

using TensorId = int;

struct Node;

struct Tensor {
  std::string name;  // the model's own name; may hold any bytes
  Type type;
  Shape shape;
  std::shared_ptr<const Value> constant;  // null unless known at compile time
  // Of a constant that folding made from narrower elements: the node that made it, one nest that computes an
  // element at a time. A dequantised weight remembers the int8 that it was.
  std::shared_ptr<const Node> folded_from = {};
};

struct Axis {
  int64_t extent;
  bool reduced;
};

// As a dense array.
int64_t bytes_of(const Tensor& tensor);

// begin <= index < end, or the point of the iteration space contributes nothing.
struct Bound {
  Expr index;
  int64_t begin, end;
};

enum class Combine : uint8_t { kNone, kSum, kProduct, kMin, kMax };

// One loop nest. For every point of the axes that are not reduced:
//
//   write[store] = finish( combine over the reduced axes of body, where all bounds hold )
//
// A long float sum is one of parts (partial_sums.h). Without reduced axes `combine` is kNone, the value is
// `body` itself, and a point outside the bounds stores nothing. `accumulate` starts the combination from what
// write[store] holds (as an earlier nest of the node left it) instead of the neutral element; then `finish`
// is empty, there may be no reduced axes, and points may collide. An empty `finish` stores the combined value
// as it is. The write's element type is that of finish (or body), rounded to its storage type.
struct Nest {
  std::vector<Axis> axes;
  std::vector<Expr> store;  // one index per dimension of the write
  Combine combine = Combine::kNone;
  bool accumulate = false;
  std::vector<Bound> where;
  Expr body;
  Expr finish;
};

struct Node;
struct Graph;
using Block = std::vector<Node>;

// Writes writes[0], nest after nest: a later nest overwrites an earlier one's elements. The nests together
// write every element.
using Nests = std::vector<Nest>;

// A C kernel (a row of `kernels.h`) instantiated for one element type, on dense row-major operands;
// `parameters` are its integer arguments. In a schedule's graph also a function that stands for a step's nest
// (scheduler/cmsis_nn.h).
struct Call {
  std::string kernel;
  Type type;
  std::vector<int64_t> parameters;
  int64_t macs = 0;  // multiply-accumulates of a run
};

// reads[0] is a bool scalar. Both branches assign the same outer tensors by copies at their ends.
struct If {
  Block then_block, else_block;
};

// for (t = 0; t < trips && t < *count && *condition; ++t) body. `count` (int64) and `condition` (bool) are
// scalars and optional. The body reads t as iteration(symbol, trips). What it carries from one iteration to
// the next it reads from and assigns to tensors of the enclosing block, which hold the results afterwards.
struct Loop {
  int symbol;
  int64_t trips;
  std::optional<TensorId> count, condition;
  Block body;
};

// Ends the run with an error. kBranch stands where an If's branch should write that no C can be made of;
// kValue writes nothing: an If of its own guards a value that the compilation took for granted.
struct Refusal {
  enum class Cause : uint8_t { kBranch, kValue };
  Cause cause;
  std::string reason;  // names the branch or the value, and what is wrong with it
};

struct Node {
  std::string origin;  // the ONNX node's name, or that of its first output: for messages and the map
  std::string op;      // the ONNX operator it comes from
  std::vector<TensorId> reads,
      writes;  // of Nests (each once), Call and Refusal; a control node's are those of its blocks
  std::variant<Nests, Call, If, Loop, Refusal> body;
  bool is_again = false;  // what another node computes is computed again
  bool is_copy = false;   // its result lies apart from what it reads, though it could be a view of it
};

// What a node finds written and reads, a loop's count and condition included; what its blocks read is not,
// and what a recurrence itself wrote.
std::vector<TensorId> tensors_read(const Node& node);

// Whether a node of nests reads what it writes: a recurrence. Its nests run together, all for row 0 of the
// result (index 0 of dimension 0), then all for row 1, ..: a nest writes a row for each value of an axis, or
// one row alone, of rows that are there by then. Schedules have such nodes (scheduler/recurrences.h).
bool is_recurrence(const Node& node);
// What a nest of a recurrence does for a row; nothing where it does nothing for that one.
std::optional<Nest> nest_at_row(const Nest& nest, int64_t row);
// Whether a node can only run row by row: a recurrence, or a copy of the caller's rows.
bool runs_by_rows(const Node& node, const Graph& graph);

// Reads `to` wherever the nodes, or those in their blocks, read `from`.
void replace_reads(Block& block, TensorId from, TensorId to);

// The blocks of a control node; none of another.
std::vector<Block*> blocks_of(Node& node);
std::vector<const Block*> blocks_of(const Node& node);

// Calls visit(node) for the node, then for those in its blocks.
template <typename Visit>
void visit_nodes(const Node& node, const Visit& visit) {
  visit(node);
  for (const Block* block : blocks_of(node))
    for (const Node& inner : *block) visit_nodes(inner, visit);
}

// Calls visit(node, its nests) for every node of nests, those of inner blocks before what follows them.
template <typename Visit>
void visit_nests(Block& block, const Visit& visit) {
  for (Node& node : block) {
    for (Block* inner : blocks_of(node)) visit_nests(*inner, visit);
    if (Nests* nests = std::get_if<Nests>(&node.body)) visit(node, *nests);
  }
}

// Every tensor is written by one node before it is read, except those that control flow assigns: they are
// written by one copy before a loop and one in it, or by one copy (or a refusal) in each branch of an If; a
// recurrence reads its own earlier rows.
struct Graph {
  std::string name;  // the model's file name, for messages
  std::vector<Tensor> tensors;
  Block block;
  std::vector<TensorId> inputs, outputs;
  std::vector<std::string> input_names, output_names;  // as the model spells them
  // Of each output of the model how many of `outputs` it is, which begin with them: one for a tensor, the
  // elements of a sequence; nothing for an optional that holds nothing.
  std::vector<std::optional<size_t>> output_parts;
  // Of an output whose extents only the run knows, and whose shape bounds them: the index of the output,
  // behind the model's own, that holds its true shape.
  std::map<size_t, size_t> true_shapes;
  // Inputs and outputs that the caller passes and takes row by row, with the dimension of the rows. One node
  // touches each, a copy; of an output nothing is left when its last row is taken.
  std::map<TensorId, int> by_rows = {};
  CallerQuantization quantization = {};  // of a model that is a file
  std::vector<std::string> warnings;
  std::vector<std::string> notes;  // what was assumed where the user said nothing
};

// A state by the model's names of the output and the input, and the value of each of its bytes before the
// first call.
struct StateNames {
  std::string output, input;
  uint8_t initial = 0;
};

// The outputs that are there when a run ends: those not taken row by row.
std::vector<TensorId> whole_outputs(const Graph& graph);
// What of the caller's, passed row by row, a node reads; taken row by row, it writes; -1: nothing.
TensorId fed_to(const Node& node, const Graph& graph);
TensorId emitted_by(const Node& node, const Graph& graph);
// Whether it is one of these copies.
bool copies_caller_rows(const Node& node, const Graph& graph);
// Whether the tensor holds what the caller passes row by row.
bool is_fed(const Graph& graph, TensorId id);

// out[i...] = in[i...]: the nest of a plain copy.
Nest copy_nest(Type type, const Shape& shape);
// The element of one of the node's operands that the nest stores unchanged, where that is all it does; null
// otherwise.
const Expr* copied_read(const Nest& nest, const Node& node, const Graph& graph);

// The graph without the nodes whose results nothing uses.
Graph without_dead_code(Graph graph);

// The graph with the 16-bit floats among its constants stored as float32: read at each multiply-accumulate,
// they are worth converting once. Costs as many bytes of flash again.
Graph with_wide_constants(Graph graph);

// The graph with those 16-bit activations as float32 that take at most `most` bytes then: what a node
// computes is not rounded before the next one reads it. Rounded are still graph inputs and outputs, casts,
// what control flow assigns and what C kernels touch.
Graph with_wide_activations(Graph graph, int64_t most);

// Whether the nest reduces a product to its sum.
bool sums_products(const Nest& nest);
// The multiply-accumulates of one run of a node: points of such nests. Loops count all their trips.
int64_t multiply_accumulates(const Node& node);

// Checks every promise of this header, and by interval arithmetic that no index leaves its tensor; throws
// InternalError naming the node.
void verify(const Graph& graph);
void verify(const Graph& graph, const Node& node);

std::string dump(const Graph& graph);

}  // namespace arenac
