// Control flow: If, Loop and Scan.
//
//   y = If(c) {a} else {b}          if (c) { ...; y = a } else { ...; y = b }    c known: one branch, inlined
//
//   Loop(M, _, s0) {s -> s', z}     s = s0
//                                   for (t < M) { ...; scan[t] = z; s = s' }
//
// A loop whose results are known at compile time is run at compile time; one whose carried values change
// their shapes, or whose body needs the iteration number at compile time, is unrolled.
//
// Every body is lowered in a scope of its own and into a block of its own, after a mark of the importer: what
// cannot be lowered is rolled back without a trace, and another way is tried.
#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "frontend/control.h"
#include "frontend/importer.h"
#include "frontend/ops.h"
#include "frontend/steps.h"

namespace arenac {

// An attribute of another kind has no graph; an attribute that is missing fails by itself.
const onnx::GraphProto& subgraph(const Lowering& node, const std::string& name) {
  const auto& graph = node.attribute(name).graph;
  node.require(graph != nullptr, fmt::format("attribute '{}' is no graph", name));
  return *graph;
}

// lower_graph steps over nodes that it cannot lower and notes what is wrong with each. To the caller that is
// a failure whose cause has been told: a UserError without text.
std::vector<TensorId> lower_body(Lowering& node, const onnx::GraphProto& proto) {
  Importer& importer = node.importer();
  const size_t problems = importer.problems.size();
  importer.lower_graph(proto);
  if (importer.problems.size() > problems) throw UserError("");
  const std::string who = fmt::format("the body of '{}'", printable(node.onnx_node().origin));
  std::vector<TensorId> results;
  for (const onnx::ValueInfoProto& output : proto.output()) {
    results.push_back(importer.lookup(output.name(), who));
    node.require(results.back() != kUnknown,
                 fmt::format("result '{}' of the body has no value", output.name()));
  }
  return results;
}

namespace {

// A Loop without a trip count may run for ever; its C counts to this. Loops up to the second limit may be
// folded or unrolled, to at most the third's number of graph nodes.
constexpr int64_t kUnboundedTrips = int64_t{1} << 31;
constexpr int64_t kMaxFoldedTrips = 10000;
constexpr size_t kMaxUnrolledNodes = 1000;

// A model may write a condition or a count as [1] where the standard says scalar, and a scalar where a body
// declares [1]. Dimensions correspond from the last, those that `shape` lacks are read at 0:
//
//   x [1]  as []   ->  x[0]             x []  as [1]  ->  x             x [1,3]  as [3]  ->  x[0,i]
TensorId with_shape(Lowering& node, TensorId x, const Shape& shape) {  // of one element, or leading 1s apart
  if (node.shape(x) == shape) return x;
  Formula f(node);
  const auto out = f.axes(shape);
  const size_t rank = node.shape(x).size();
  std::vector<Expr> in(rank, integer(0));
  for (size_t d = 0; d < std::min(rank, shape.size()); ++d) in[rank - 1 - d] = out[shape.size() - 1 - d];
  f.body(f.read(x, std::move(in)));
  return f.emit(node.type(x));
}

// x, of one element of that type, as a tensor of rank 0; what anything else is called in the message is
// `what`.
TensorId scalar_of(Lowering& node, TensorId x, Type type, const std::string& what) {
  node.require(node.type(x) == type && element_count(node.shape(x)) == 1,
               fmt::format("{} must be one {}, not {} {}", what, info(type).name, info(node.type(x)).name,
                           to_string(node.shape(x))));
  return with_shape(node, x, {});
}

// Whether two values have parts of the same types and shapes: one can be assigned the other.
// Ids of sequences and kAbsent are negative, so the first two tests are: both a tensor or neither, both an
// optional that holds nothing or neither.
bool alike(const Lowering& node, TensorId a, TensorId b) {
  const auto as = node.parts(a), bs = node.parts(b);
  return (a < 0) == (b < 0) && (a == kAbsent) == (b == kAbsent) &&
         std::equal(as.begin(), as.end(), bs.begin(), bs.end(), [&](TensorId x, TensorId y) {
           return node.type(x) == node.type(y) && node.shape(x) == node.shape(y);
         });
}

// A value like `model` whose parts are tensors that nothing has written yet.
TensorId unwritten(const Lowering& node, TensorId model) {
  std::vector<TensorId> parts = node.parts(model);
  for (TensorId& id : parts)
    id = node.importer().add_tensor(node.onnx_node().origin, node.type(id), node.shape(id));
  return node.with_parts(model, parts);
}

// The tensors of all values in order: of a sequence its elements, of an optional that holds nothing none. Two
// lists of values that are alike in pairs have parts that correspond.
std::vector<TensorId> parts_of_all(const Lowering& node, const std::vector<TensorId>& values) {
  std::vector<TensorId> all;
  for (TensorId value : values)
    for (TensorId id : node.parts(value)) all.push_back(id);
  return all;
}

void append(Block& block, Block more) { std::move(more.begin(), more.end(), std::back_inserter(block)); }

// One branch of an If whose condition only the run will tell.
struct Branch {
  const char* name;
  const onnx::GraphProto& proto;
  Block block;
  std::vector<TensorId> results;
  std::vector<std::string> faults;  // why no C can be made of it; empty: it can
  bool mendable = false;            // by an operator that arenac lacks
};

// Fills block and results, or faults. What a failed branch has added is rolled back, but not which inputs it
// asked for: knowing those may be what makes it fit.
void lower_branch(Lowering& node, Branch& branch) {
  Importer& importer = node.importer();
  const Importer::Mark before = importer.mark();
  const int unknown_operators = importer.unknown_operators;
  try {
    const Scope scope(importer);
    branch.block = importer.in_block([&] { branch.results = lower_body(node, branch.proto); });
    node.require(branch.results.size() >= static_cast<size_t>(node.output_count()),
                 "a branch has too few outputs");
  } catch (const UserError& error) {
    branch.faults.assign(importer.problems.begin() + static_cast<std::ptrdiff_t>(before.problems),
                         importer.problems.end());
    if (*error.what() != '\0') branch.faults.push_back(error.what());
    branch.mendable = importer.unknown_operators > unknown_operators;
    const std::set<TensorId> asked_for = importer.asked_for;
    importer.roll_back(before);
    importer.asked_for = asked_for;
  }
}

// Voice models choose the sample rate at run time, and with it the length of the input: with shapes bound,
// one branch often fits them and the other does not. That other one becomes a run-time error.
void leave_out(Lowering& node, Branch& branch, const std::vector<TensorId>& outs) {
  Importer& importer = node.importer();
  const std::string reason = fmt::format("the {} of '{}' does not fit these shapes: {}", branch.name,
                                         printable(node.onnx_node().origin), branch.faults.front());
  importer.graph.warnings.push_back(reason + "; it is left out: a run that selects it returns an error");
  branch.block = {{node.onnx_node().origin, "Refusal", {}, outs, Refusal{Refusal::Cause::kBranch, reason}}};
}

// ONNX allows branches whose results differ in shape, and the declared one to be unknown. Here an output is
// one tensor of static shape. Before it fails, the condition is asked for: with the value of an input at hand
// it may be known, and then only one branch is lowered.
void require_alike(const Lowering& node, int k, TensorId yes, TensorId no) {
  if (alike(node, yes, no)) return;
  node.ask_for(node.in(0));
  const bool shapes = yes >= 0 && no >= 0 && node.type(yes) == node.type(no);
  node.fail(
      fmt::format("output {} is {} in the then-branch and {} in the else-branch{}", k, node.describe(yes),
                  node.describe(no),
                  shapes ? ": a shape that depends on a run-time condition is not static; if the condition "
                           "follows from an input's shape, bind that shape (--shape)"
                         : ": what they hold must be known at compile time; make the condition a constant"));
}

// The branches have no inputs: they see the names around the node, as the standard has it. Outputs are
// matched by position, whatever the branch calls them.
//
//   1. both branches are lowered, each to a block or to its faults;
//   2. neither fits, or one would with an operator that arenac lacks: all faults are reported;
//   3. output tensors are made after the model of the first branch that fits;
//   4. each branch ends with copies to them, or is a Refusal that stands for writing them.
void if_node(Lowering& node) {
  Importer& importer = node.importer();
  const TensorId condition = scalar_of(node, node.in(0), Type::kBool, "the condition");
  const onnx::GraphProto* branches[] = {&subgraph(node, "then_branch"), &subgraph(node, "else_branch")};
  if (node.is_constant(condition)) {
    const Scope scope(importer);
    const auto results = lower_body(node, *branches[load(*node.tensor(condition).constant, 0).i ? 0 : 1]);
    node.require(results.size() >= static_cast<size_t>(node.output_count()),
                 "the branch has too few outputs");
    for (int k = 0; k < node.output_count(); ++k) node.out(k, results[k]);
    return;
  }
  Branch all[] = {{"then-branch", *branches[0], {}, {}, {}}, {"else-branch", *branches[1], {}, {}, {}}};
  for (Branch& branch : all) lower_branch(node, branch);
  const bool fits[] = {all[0].faults.empty(), all[1].faults.empty()};
  if ((!fits[0] && !fits[1]) || all[0].mendable || all[1].mendable) {
    for (const Branch& branch : all)
      importer.problems.insert(importer.problems.end(), branch.faults.begin(), branch.faults.end());
    throw UserError("");
  }
  if (!fits[0] || !fits[1]) node.ask_for(condition);
  const Branch& model = all[fits[0] ? 0 : 1];
  std::vector<TensorId> outs;
  for (int k = 0; k < node.output_count(); ++k) {
    const TensorId made = model.results[k];
    if (fits[0] && fits[1]) require_alike(node, k, all[0].results[k], all[1].results[k]);
    const TensorId result = unwritten(node, made);
    node.out(k, result);
    for (TensorId id : node.parts(result)) outs.push_back(id);
  }
  for (Branch& branch : all) {
    if (!branch.faults.empty()) {
      leave_out(node, branch, outs);
      continue;
    }
    branch.results.resize(static_cast<size_t>(node.output_count()));
    const auto parts = parts_of_all(node, branch.results);
    append(branch.block, importer.in_block([&] {
      for (size_t k = 0; k < outs.size(); ++k) importer.assign(outs[k], parts[k], node.onnx_node().origin);
    }));
  }
  importer.add_node({node.onnx_node().origin,
                     node.op(),
                     {condition},
                     {},
                     If{std::move(all[0].block), std::move(all[1].block)}});
}

// A tensor of which iteration t reads, or writes, slice t along `axis`, or slice trips-1-t.
struct Sliced {
  int64_t axis = 0;
  bool reversed = false;
};

// Loop and Scan alike: for t: (states..., slices...) -> (condition?, states..., slices...).
struct Iterated {
  const onnx::GraphProto& body;
  int64_t trips;                      // the static bound, or what the model declares for a scan output
  std::optional<TensorId> count;      // the trip count, when it is known at run time only
  std::optional<TensorId> condition;  // of the first iteration, when it is known at run time only
  bool counted;  // a Loop: the body takes iteration number and condition, and yields a condition
  std::vector<TensorId> states;
  std::vector<TensorId> scanned;
  std::vector<Sliced> in, out;  // of `scanned`, and of the results after the states
  bool is_promise = false;      // the bound is what the model declares

  bool is_static() const { return !count && !condition; }
};

// Directions of Scan: 0 walks from the first slice to the last, 1 from the last to the first.
Expr slice_index(const Sliced& how, const Expr& t, int64_t trips) {
  return how.reversed ? integer(trips - 1) - t : t;
}

// x without the axis, at its index of iteration t:  x [2,T,3], axis 1  ->  out[i,j] = x[i,t,j]
TensorId slice_of(Lowering& node, TensorId x, const Sliced& how, const Expr& t, int64_t trips) {
  Shape shape = node.shape(x);
  shape.erase(shape.begin() + how.axis);
  Formula f(node);
  auto indices = f.axes(shape);
  indices.insert(indices.begin() + how.axis, slice_index(how, t, trips));
  f.body(f.read(x, std::move(indices)));
  return f.emit(node.type(x), shape);
}

// The nest that puts operand `operand`, of that shape, at index `t` of `how.axis` of the write: out[i,t,j] =
// part[i,j] for axis 1. The other slices of the write stay as they are.
Nest slice_store(Type type, const Shape& shape, int operand, const Sliced& how, const Expr& t,
                 int64_t trips) {
  Nest nest = copy_nest(type, shape);
  nest.body = read(operand, type, nest.store);
  nest.store.insert(nest.store.begin() + how.axis, slice_index(how, t, trips));
  return nest;
}

// The shape of all slices together. The axis counts within that, so from its end when negative: of parts
// [2,3], axis -1 is dimension 2 of [2,3,T]. `how` has it counted from the front afterwards.
Shape stacked_shape(Lowering& node, TensorId part, Sliced& how, int64_t trips) {
  Shape shape = node.shape(part);
  how.axis = node.normalized_axis(how.axis, static_cast<int64_t>(shape.size()) + 1);
  shape.insert(shape.begin() + how.axis, trips);
  return shape;
}

struct Yield {
  std::optional<TensorId> condition;
  std::vector<TensorId> states, slices;
};

// Lowers the body once, into the current block and scope.
// The body's inputs and results by position:
//
//   Loop   (iteration number, condition, states...)         ->  (condition, states..., slices...)
//   Scan   (states..., slices of the scan inputs...)        ->  (states..., slices...)
//
// `t` is a constant where the loop is unrolled: what the body derives from it then folds.
Yield lower_iteration(Lowering& node, const Iterated& loop, const std::vector<TensorId>& states,
                      const Expr& t) {
  Importer& importer = node.importer();
  const size_t first = loop.counted ? 2 : 0;
  const size_t inputs = first + states.size() + loop.scanned.size();
  node.require(static_cast<size_t>(loop.body.input_size()) == inputs,
               fmt::format("the body takes {} inputs, {} are given", loop.body.input_size(), inputs));
  std::vector<TensorId> actual;
  if (loop.counted) {
    Formula f(node);
    f.body(t);
    const TensorId number = f.emit(Type::kInt64);
    const bool vector = loop.body.input(0).type().tensor_type().shape().dim_size() == 1;
    actual.push_back(with_shape(node, number, vector ? Shape{1} : Shape{}));
    actual.push_back(node.scalar(Type::kBool, 1));  // an iteration runs only when the condition holds
  }
  actual.insert(actual.end(), states.begin(), states.end());
  for (size_t k = 0; k < loop.scanned.size(); ++k)
    actual.push_back(slice_of(node, loop.scanned[k], loop.in[k], t, loop.trips));
  for (size_t k = 0; k < actual.size(); ++k)
    importer.bind(loop.body.input(static_cast<int>(k)).name(), actual[k]);

  const auto results = lower_body(node, loop.body);
  const size_t conditions = loop.counted ? 1 : 0;
  node.require(results.size() == conditions + states.size() + loop.out.size(),
               fmt::format("the body yields {} results, {} are wanted", results.size(),
                           conditions + states.size() + loop.out.size()));
  // A Loop may carry sequences and optionals; all else is tensors.
  for (size_t k = 0; k < (loop.counted ? conditions : results.size()); ++k)
    node.require(results[k] >= 0, fmt::format("result {} of the body is no tensor", k));
  Yield yield;
  if (loop.counted) yield.condition = scalar_of(node, results[0], Type::kBool, "the body's condition");
  yield.states.assign(results.begin() + conditions, results.begin() + conditions + states.size());
  yield.slices.assign(results.begin() + conditions + states.size(), results.end());
  for (TensorId slice : yield.slices) node.require(slice >= 0, "a scan output is no tensor");
  return yield;
}

// A node may name fewer outputs than the body yields, and leaves out the last ones then.
void set_results(Lowering& node, const std::vector<TensorId>& results) {
  node.require(results.size() >= static_cast<size_t>(node.output_count()),
               "more outputs than the body yields");
  for (int k = 0; k < node.output_count(); ++k) node.out(k, results[k]);
}

// kOnlyWhenFolded: only while no graph node is left, as everything folded. kTooLong: fewer iterations, or
// smaller ones, could have been unrolled.
enum class Unroll { kOnlyWhenFolded, kAlways };
enum class Unrolled { kDone, kImpossible, kTooLong };

// Every iteration a copy of the body, where that can be done within its limits. Only on kDone is anything
// added to the current block; on all else tensors are left over, which the caller rolls back. A condition of
// the body must be known after each iteration: the first that is false ends the copies, and the slices are as
// many as there were. Shapes of states may change from copy to copy, as nothing is assigned.
//
//   s1 = body(s0, 0);  s2 = body(s1, 1);  s3 = body(s2, 2);      scan[0] = z1, scan[1] = z2, scan[2] = z3
Unrolled unrolled(Lowering& node, const Iterated& loop, Unroll when) {
  Importer& importer = node.importer();
  if (!loop.is_static()) return Unrolled::kImpossible;
  if (loop.trips > kMaxFoldedTrips) return Unrolled::kTooLong;
  auto states = loop.states;
  std::vector<std::vector<TensorId>> slices(loop.out.size());
  bool running = true;
  Block block;
  for (int64_t t = 0; t < loop.trips && running; ++t) {
    const Scope scope(importer);
    Yield yield;
    append(block, importer.in_block([&] { yield = lower_iteration(node, loop, states, integer(t)); }));
    if (block.size() > (when == Unroll::kAlways ? kMaxUnrolledNodes : 0)) return Unrolled::kTooLong;
    if (yield.condition) {
      if (!node.is_constant(*yield.condition)) return Unrolled::kImpossible;
      running = load(*node.tensor(*yield.condition).constant, 0).i != 0;
    }
    states = yield.states;
    for (size_t k = 0; k < slices.size(); ++k) slices[k].push_back(yield.slices[k]);
  }
  // the declared shape ended the loop, not its condition: at run time it might go on
  if (running && loop.is_promise) return Unrolled::kImpossible;
  std::vector<TensorId> results = states;
  for (size_t k = 0; k < slices.size(); ++k) {
    if (slices[k].empty()) return Unrolled::kImpossible;  // no iteration tells the shape
    Sliced how = loop.out[k];
    const auto trips = static_cast<int64_t>(slices[k].size());
    const Type type = node.type(slices[k][0]);
    const Shape part = node.shape(slices[k][0]), whole = stacked_shape(node, slices[k][0], how, trips);
    Nests nests;
    for (int64_t t = 0; t < trips; ++t) {
      node.require(node.shape(slices[k][t]) == part && node.type(slices[k][t]) == type,
                   "a scan output's shape changes between iterations");
      nests.push_back(slice_store(type, part, static_cast<int>(t), how, integer(t), trips));
    }
    append(block,
           importer.in_block([&] { results.push_back(node.add(type, whole, slices[k], std::move(nests))); }));
  }
  importer.append(std::move(block));
  set_results(node, results);
  return Unrolled::kDone;
}

// The body's results become the next iteration's states, all at once: a result that is itself a state, which
// an assignment before its own would overwrite, is saved first.
//
//   (u, v) -> (v, u)         copy1 = v;  copy2 = u;  u = copy1;  v = copy2
void assign_states(Lowering& node, const std::vector<TensorId>& states, std::vector<TensorId> results) {
  Importer& importer = node.importer();
  const std::string& origin = node.onnx_node().origin;
  for (size_t k = 0; k < states.size(); ++k) {
    if (results[k] == states[k]) continue;
    const bool other_state = std::find(states.begin(), states.end(), results[k]) != states.end();
    if (!other_state) continue;
    const TensorId copy = importer.add_tensor(origin, node.type(results[k]), node.shape(results[k]));
    importer.assign(copy, results[k], origin);
    results[k] = copy;
  }
  for (size_t k = 0; k < states.size(); ++k)
    if (results[k] != states[k]) importer.assign(states[k], results[k], origin);
}

// The slices of a loop that may end before its bound lie in room for all, zeros behind them. `done` holds how
// many iterations there were, `condition` what the last one yielded. Where the bound is only what the model
// declares (a promise), a run that would go on after it ends with an error.
void put_stacked(Lowering& node, const Iterated& loop, const std::vector<TensorId>& stacked, TensorId done,
                 std::optional<TensorId> condition) {
  Formula f(node);  // whether it would go on
  Expr more = f.read(done, {}) == integer(loop.trips);
  if (loop.count) more = more && integer(loop.trips) < f.read(*loop.count, {});
  if (condition) more = more && f.read(*condition, {});
  f.body(more);
  if (loop.is_promise)
    node.importer().guard(f.emit(Type::kBool),
                          fmt::format("'{}' takes more than the {} iterations that the model declares",
                                      printable(node.onnx_node().origin), loop.trips));
  const auto states = static_cast<int>(loop.states.size());
  for (int k = 0; k < static_cast<int>(stacked.size()); ++k)
    if (node.wants(states + k)) put_bounded(node, states + k, stacked[k], {loop.out[k].axis, done});
}

// A `Loop` node. In the outer block, in this order: states = initial values; done = 0, scan outputs = 0 and
// condition = its first value, where there are such; the loop. In its body: the iteration, each slice to its
// place, then all states at once. The flag of the condition and the count of iterations are states like any
// other, but no results:
//
//   s = s0;  c = first                            for (t = 0; t < trips && t < *count && *c; ++t) {
//   done = 0;  scan = 0                             s', z, c' = body(t, s)
//                                                   scan[t] = z
//                                                   s = s';  c = c';  done = t + 1
//                                                 }
void rolled(Lowering& node, const Iterated& loop) {
  Importer& importer = node.importer();
  const std::string& origin = node.onnx_node().origin;
  std::vector<TensorId> carried;
  for (TensorId initial : loop.states) carried.push_back(unwritten(node, initial));
  const std::vector<TensorId> states = parts_of_all(node, carried), initial = parts_of_all(node, loop.states);
  for (size_t k = 0; k < states.size(); ++k) importer.assign(states[k], initial[k], origin);
  const int symbol = importer.new_symbol();
  const Expr t = iteration(symbol, loop.trips);
  std::vector<TensorId> stacked;
  std::optional<TensorId> condition;
  const TensorId done = importer.add_tensor(origin, Type::kInt64, {});
  bool stops = false;  // perhaps before the bound
  const Scope scope(importer);
  Block body = importer.in_block([&] {
    Yield yield = lower_iteration(node, loop, carried, t);
    for (size_t k = 0; k < carried.size(); ++k)
      if (!alike(node, carried[k], yield.states[k]))
        node.fail(fmt::format(
            "carried value {} starts as {} and becomes {}: a shape that changes from iteration to "
            "iteration needs a trip count known at compile time",
            k, node.describe(carried[k]), node.describe(yield.states[k])));
    const bool ends_early = yield.condition && !(node.is_constant(*yield.condition) &&
                                                 load(*node.tensor(*yield.condition).constant, 0).i);
    stops = ends_early || !loop.is_static();
    for (size_t k = 0; k < yield.slices.size(); ++k) {
      if (stops && loop.trips == kUnboundedTrips)
        node.fail(
            "a scan output has as many slices as there are iterations, which only the run will tell: "
            "data-dependent output shape; the trip count must be known at compile time, or the output's "
            "shape "
            "declared");
      Sliced how = loop.out[k];
      const TensorId part = yield.slices[k];
      stacked.push_back(
          importer.add_tensor(origin, node.type(part), stacked_shape(node, part, how, loop.trips)));
      importer.add_node({origin,
                         node.op(),
                         {part},
                         {stacked.back()},
                         Nests{slice_store(node.type(part), node.shape(part), 0, how, t, loop.trips)}});
    }
    auto all = states, next = parts_of_all(node, yield.states);
    if (ends_early || loop.condition) {
      condition = importer.add_tensor(origin, Type::kBool, {});
      all.push_back(*condition);
      next.push_back(*yield.condition);
    }
    if (stops && !stacked.empty()) {
      Formula f(node);
      f.body(t + 1);
      all.push_back(done);
      next.push_back(f.emit(Type::kInt64));
    }
    assign_states(node, all, next);
  });
  if (stops && !stacked.empty()) {
    importer.assign(done, node.scalar(Type::kInt64, 0), origin);
    for (const TensorId id : stacked) importer.clear(id, origin);
  }
  if (condition)
    importer.assign(*condition, loop.condition ? *loop.condition : node.scalar(Type::kBool, 1), origin);
  importer.add_node(
      {origin, node.op(), {}, {}, Loop{symbol, loop.trips, loop.count, condition, std::move(body)}});
  carried.insert(carried.end(), stacked.begin(), stacked.end());
  set_results(node, carried);
  if (stops && !stacked.empty()) put_stacked(node, loop, stacked, done, condition);
}

std::string too_long(const Lowering& node, const Iterated& loop) {
  return fmt::format(
      "node '{}' ({}): its {} iterations as copies of the body exceed {} iterations or {} nodes",
      printable(node.onnx_node().origin), node.op(), loop.trips, kMaxFoldedTrips, kMaxUnrolledNodes);
}

// Three ways, the first that works:
//
//   1. known initial values: run at compile time, if nothing is left to do at run time;
//   2. a Loop node;
//   3. copies of the body, as many as there are iterations.
//
// If none does, what was wrong with the second is reported: it is what a user can mend most often, with what
// the third says of its length. Inputs that decide how often the loop runs are asked for.
void lower_loop(Lowering& node, const Iterated& loop) {
  Importer& importer = node.importer();
  const auto attempt = [&](Unroll when) {
    // each loop in a loop multiplies the attempts
    if (!importer.may_attempt()) return Unrolled::kImpossible;
    const Importer::Mark before = importer.mark();
    Unrolled how = Unrolled::kImpossible;
    try {
      how = unrolled(node, loop, when);
    } catch (const UserError&) {
      // The rolled loop says what is wrong.
    }
    if (how != Unrolled::kDone) importer.roll_back(before);
    return how;
  };
  const auto initial = parts_of_all(node, loop.states);
  const bool known =
      std::all_of(initial.begin(), initial.end(), [&](TensorId id) { return node.is_constant(id); });
  if (known && attempt(Unroll::kOnlyWhenFolded) == Unrolled::kDone) return;
  const Importer::Mark before = importer.mark();
  try {
    Block block = importer.in_block([&] { rolled(node, loop); });
    importer.append(std::move(block));
  } catch (const UserError&) {
    const std::vector<std::string> problems(
        importer.problems.begin() + static_cast<std::ptrdiff_t>(before.problems), importer.problems.end());
    importer.roll_back(before);
    const Unrolled copied = attempt(Unroll::kAlways);
    if (copied == Unrolled::kDone) return;
    if (copied == Unrolled::kTooLong) importer.problems.push_back(too_long(node, loop));
    for (const auto& unknown : {loop.count, loop.condition})
      if (unknown) node.ask_for(*unknown);
    importer.problems.insert(importer.problems.end(), problems.begin(), problems.end());
    throw;
  }
}

// Loop of ONNX: trip count and condition are both optional, and the loop ends by whichever does first. A
// known condition that is false means no iterations; one that is true says nothing. Where no condition is
// given, the standard ignores what the body yields; here, as in onnxruntime, a false one ends the loop all
// the same. Without a trip count the shape that the model declares for a scan output bounds the loop.
void loop_node(Lowering& node) {
  Iterated loop{subgraph(node, "body"), kUnboundedTrips, {}, {}, true, {}, {}, {}, {}};
  if (node.has_input(0)) {
    const TensorId count = scalar_of(node, node.in(0), Type::kInt64, "the trip count");
    if (node.is_constant(count))
      loop.trips = std::clamp<int64_t>(load(*node.tensor(count).constant, 0).i, 0, kUnboundedTrips);
    else
      loop.count = count;
  }
  if (node.has_input(1)) {
    const TensorId condition = scalar_of(node, node.in(1), Type::kBool, "the condition");
    if (!node.is_constant(condition))
      loop.condition = condition;
    else if (!load(*node.tensor(condition).constant, 0).i)
      loop.trips = 0;
  }
  for (int k = 2; k < node.input_count(); ++k) loop.states.push_back(node.operand(k));
  const int results = loop.body.output_size() - 1 - static_cast<int>(loop.states.size());
  node.require(results >= 0, "the body yields fewer values than it carries");
  loop.out.resize(results);
  for (int k = 0; k < results && loop.trips == kUnboundedTrips; ++k)
    if (const auto declared = node.declared_shape(static_cast<int>(loop.states.size()) + k);
        declared && !declared->empty()) {
      loop.trips = std::min(declared->front(), kUnboundedTrips);
      loop.is_promise = true;
    }
  lower_loop(node, loop);
}

// Attributes of Scan, with an entry for each of `count` scan inputs or outputs; absent, all are 0: along the
// first axis, forwards.
std::vector<Sliced> slicing(const Lowering& node, const std::string& axes, const std::string& directions,
                            int64_t count) {
  const std::vector<int64_t> zeros(count);
  const auto axis = node.ints_attr(axes, zeros), reversed = node.ints_attr(directions, zeros);
  node.require(axis.size() == zeros.size() && reversed.size() == zeros.size(),
               fmt::format("'{}' and '{}' need {} entries", axes, directions, count));
  std::vector<Sliced> all;
  for (int64_t k = 0; k < count; ++k) all.push_back({axis[k], reversed[k] != 0});
  return all;
}

// Scan since opset 9: as many iterations as the scan inputs are long, which therefore agree, and no
// conditions. Operands are states first, then scan inputs; results likewise.
void scan_node(Lowering& node) {
  Iterated loop{subgraph(node, "body"), 0, {}, {}, false, {}, {}, {}, {}};
  const int64_t scans = node.int_attr("num_scan_inputs", 0), states = node.input_count() - scans;
  node.require(scans > 0 && states >= 0, "'num_scan_inputs' disagrees with the inputs");
  const int64_t results = loop.body.output_size() - states;
  node.require(results >= 0, "the body yields fewer values than it carries");
  loop.in = slicing(node, "scan_input_axes", "scan_input_directions", scans);
  loop.out = slicing(node, "scan_output_axes", "scan_output_directions", results);
  for (int k = 0; k < node.input_count(); ++k)
    (k < states ? loop.states : loop.scanned).push_back(node.in(k));
  for (int64_t k = 0; k < scans; ++k) {
    Sliced& how = loop.in[k];
    const TensorId x = loop.scanned[k];
    how.axis = node.normalized_axis(how.axis, node.rank(x));
    const int64_t extent = node.shape(x)[how.axis];
    node.require(k == 0 || extent == loop.trips, "the scan inputs' lengths differ");
    loop.trips = extent;
  }
  lower_loop(node, loop);
}

// each is a loop with its own copy of the body
constexpr int64_t kMostScansOfABatch = 64;

// Element `k` along the first axis, which vanishes.
TensorId element_of_batch(Lowering& node, TensorId x, int64_t k) {
  return slice_of(node, x, {}, integer(k), node.shape(x)[0]);
}

// Opset 8: every operand has a batch axis in front, the scan axis follows it, and sequence lengths come
// first. One loop for each element of the batch.
void scan_8(Lowering& node) {
  const int64_t scans = node.int_attr("num_scan_inputs", 0), states = node.input_count() - 1 - scans;
  node.require(scans > 0 && states >= 0, "'num_scan_inputs' disagrees with the inputs");
  node.require(!node.has_input(0), "sequence lengths are not supported: use Scan of opset 9");
  const onnx::GraphProto& body = subgraph(node, "body");
  node.require(body.output_size() >= states, "the body yields fewer values than it carries");
  const auto directions = node.ints_attr("directions", std::vector<int64_t>(scans));
  node.require(static_cast<int64_t>(directions.size()) == scans, "'directions' needs an entry a scan input");
  const int64_t batch = node.rank(node.in(1)) > 0 ? node.shape(node.in(1))[0] : 0;
  for (int k = 1; k < node.input_count(); ++k) {
    const Shape shape = node.shape(node.in(k));
    node.require(shape.size() > (k > states ? 1 : 0) && shape[0] == batch, "the batch sizes differ");
    node.require(k <= states || shape[1] == node.shape(node.in(node.input_count() - 1))[1],
                 "the scan inputs' lengths differ");
  }
  node.require(
      batch >= 1 && batch <= kMostScansOfABatch,
      fmt::format("a batch of {} is not within 1 to {}: use Scan of opset 9", batch, kMostScansOfABatch));
  std::vector<std::vector<TensorId>> results(static_cast<size_t>(node.output_count()));
  for (int64_t element = 0; element < batch; ++element) {
    Iterated loop{body, node.shape(node.in(node.input_count() - 1))[1], {}, {}, false, {}, {}, {}, {}};
    loop.out.resize(static_cast<size_t>(body.output_size() - states));
    for (int k = 1; k < node.input_count(); ++k) {
      (k <= states ? loop.states : loop.scanned).push_back(element_of_batch(node, node.in(k), element));
      if (k > states) loop.in.push_back({0, directions[k - 1 - states] != 0});
    }
    lower_loop(node, loop);
    for (int k = 0; k < node.output_count(); ++k)
      results[k].push_back(node.apply("Unsqueeze", {node.result(k), node.constant_ints({0})}));
  }
  Attribute front;
  for (int k = 0; k < node.output_count(); ++k)
    node.out(k, batch == 1 ? results[k][0] : node.apply("Concat", results[k], {{"axis", front}}));
}

}  // namespace

std::span<const OperatorRow> control_operators() {
  static constexpr OperatorRow kRows[] = {
      {"", "If", 1, if_node, 1000, "control"},
      {"", "Loop", 1, loop_node, 1000, "control"},
      {"", "Scan", 8, scan_8, 9, "control"},
      {"", "Scan", 9, scan_node, 1000, "control"},
  };
  return kRows;
}

}  // namespace arenac
