// Recurrent models that keep their state in the arena, call after call, against the interpreter in a loop.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "codegen/c_text.h"
#include "driver/files.h"
#include "driver/process.h"
#include "frontend/error.h"
#include "frontend/import.h"
#include "frontend/interpret.h"
#include "planner/planners.h"
#include "planner/verify.h"
#include "tests/emitted.h"

namespace arenac {
namespace {

using testing::HasSubstr;

constexpr int kCalls = 5, kResetBefore = 3;

struct Recurrent {
  const char* name;
  const char* text;
  std::vector<StateNames> states;
};

const std::vector<Recurrent>& recurrents() {
  static const std::vector<Recurrent> all = {
      {"elementwise",
       "(float[4, 6] x, float[4, 6] h) => (float[4, 6] y, float[4, 6] h_next) {\n"
       "  s = Add(x, h)\n  h_next = Tanh(s)\n  y = Neg(h_next)\n}",
       {{"h_next", "h"}}},
      {"read_late",  // the input still after the output is written
       "(float[4, 6] x, float[4, 6] h) => (float[4, 6] y, float[4, 6] h_next) {\n"
       "  s = Add(x, h)\n  h_next = Tanh(s)\n  n = Neg(h_next)\n  y = Mul(n, h)\n}",
       {{"h_next", "h"}}},
      {"matmul",
       "(float[1, 3] x, float[1, 3] h) => (float[1, 3] h_next, float[1, 3] y)\n"
       "<float[3, 3] w = {0.5, -0.25, 1, 0.125, 0.75, -0.5, 0.25, 1, -1}> {\n"
       "  m = MatMul(h, w)\n  s = Add(m, x)\n  h_next = Tanh(s)\n  y = Exp(h_next)\n}",
       {{"h_next", "h"}}},
      {"swapped",  // each is the other's past
       "(float[5] b, float[5] a, float[5] x) => (float[5] y, float[5] a_next, float[5] b_next) {\n"
       "  y = Sub(a, b)\n  a_next = Add(b, x)\n  b_next = Identity(a)\n}",
       {{"a_next", "a"}, {"b_next", "b"}}},
      {"causal",  // the last two columns of what a convolution has seen
       "(float[1, 2, 4, 3] x, float[1, 2, 2, 3] past) => (float[1, 2, 4, 3] y, float[1, 2, 2, 3] kept)\n"
       "<float[2, 2, 3, 1] w = {1, 2, -1, 0.5, -2, 1, 0.25, 1, 1, -1, 0.5, 2}, int64[1] begin = {4},\n"
       " int64[1] end = {6}, int64[1] axis = {2}> {\n"
       "  all = Concat<axis = 2>(past, x)\n  c = Conv(all, w)\n  y = Relu(c)\n"
       "  kept = Slice(all, begin, end, axis)\n}",
       {{"kept", "past"}}},
  };
  return all;
}

Graph graph_of(const Recurrent& r) {
  return import_text(fmt::format("<ir_version: 8, opset_import: [\"\" : 17]>\n{} {}", r.name, r.text));
}

int position(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
}

Value random_value(const Tensor& tensor, std::mt19937& random) {
  Value value(tensor.type, tensor.shape);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (size_t k = 0; k < value.bytes.size(); k += sizeof(float)) {
    const float x = uniform(random);
    std::memcpy(value.bytes.data() + k, &x, sizeof x);
  }
  return value;
}

// Inputs and outputs of each call, by the graph's positions; those of states are what the loop passes on.
struct Calls {
  std::vector<std::vector<Value>> inputs, outputs;
};

Calls interpreted(const Recurrent& r, const Graph& graph) {
  std::mt19937 random(1);
  Calls calls;
  for (int call = 0; call < kCalls; ++call) {
    std::vector<Value> inputs;
    for (TensorId id : graph.inputs) inputs.push_back(random_value(graph.tensors[id], random));
    for (const StateNames& s : r.states) {
      Value& input = inputs[position(graph.input_names, s.input)];
      input = Value(input.type, input.shape);
      if (call != 0 && call != kResetBefore)
        input = calls.outputs.back()[position(graph.output_names, s.output)];
    }
    calls.outputs.push_back(interpret_outputs(graph, inputs));
    calls.inputs.push_back(std::move(inputs));
  }
  return calls;
}

struct StateWay {
  Way way;
  const char* name;
};

std::vector<StateWay> ways() {
  std::vector<StateWay> all;
  for (const SchedulerRow& row : schedulers()) {
    const std::string name = row.name;
    all.push_back({{.io = Io::kExternal, .scheduler = name}, "external"});
    if (name != "layerwise" && name != "fused" && name != "rows") continue;  // the rest differ in order alone
    all.push_back({{.io = Io::kArena, .scheduler = name}, "arena"});
    all.push_back({{.pools = {{"fast", 128}, {"slow"}}, .scheduler = name}, "two_pools"});
  }
  return all;
}

// A function that calls the model on in[call][k] and appends what the caller gets to out.
std::string caller_source(const Compilation& c) {
  const Graph& graph = *c.graph;
  std::string pools, names, fill, take, inputs, outputs;
  for (size_t k = 0; k < c.plan.pools.size(); ++k) {
    const std::string macro = upper_case(c.name) + "_" + upper_case(c.lifetimes.problem.pools[k].name);
    pools += fmt::format("  static _Alignas(64) unsigned char pool{}[{}_SIZE];\n", k, macro);
    pools += fmt::format("  memset(pool{0}, 0xA5, sizeof pool{0});\n", k);
    names += fmt::format("{}pool{}", k ? ", " : "", k);
  }
  const auto place = [&](TensorId id) {
    const int b = c.lifetimes.buffer_of[id];
    return b < 0 ? "" : fmt::format("pool{} + {}", c.plan.placements[b].pool, c.plan.placements[b].offset);
  };
  for (size_t k : of_caller(c.lifetimes, graph.inputs)) {
    const int64_t bytes = bytes_of(graph.tensors[graph.inputs[k]]);
    pools += fmt::format("  static _Alignas(64) unsigned char in{}[{}];\n", k, bytes);
    fill += fmt::format("    if (fread(in{0}, 1, {1}, in) != {1}) return 1;\n", k, bytes);
    if (const std::string at = place(graph.inputs[k]); !at.empty())
      fill += fmt::format("    memcpy({}, in{}, {});\n", at, k, bytes);
    if (place(graph.inputs[k]).empty())
      inputs += fmt::format("{}(void *)in{}", inputs.empty() ? "" : ", ", k);
  }
  for (size_t k : of_caller(c.lifetimes, graph.outputs)) {
    const int64_t bytes = bytes_of(graph.tensors[graph.outputs[k]]);
    pools += fmt::format("  static _Alignas(64) unsigned char out{}[{}];\n", k, bytes);
    if (const std::string at = place(graph.outputs[k]); !at.empty())
      take += fmt::format("    memcpy(out{}, {}, {});\n", k, at, bytes);
    take += fmt::format("    fwrite(out{0}, 1, {1}, out);\n", k, bytes);
    if (place(graph.outputs[k]).empty())
      outputs += fmt::format("{}(void *)out{}", outputs.empty() ? "" : ", ", k);
  }
  std::string structs, arguments;
  if (c.io == Io::kExternal) {
    structs = fmt::format("  {0}_inputs i = {{{1}}};\n  {0}_outputs o = {{{2}}};\n", c.name, inputs, outputs);
    arguments = ", &i, &o";
  }
  return fmt::format(
      "#include \"{0}.h\"\nstatic int call_{0}(FILE *in, FILE *out) {{\n{1}  {0}_workspace w = {{{2}}};\n{3}"
      "  if ({0}_reset(0) != {8}_ENULL || {0}_reset_static() != 0) return 1;\n"
      "  for (int call = 0; call < {5}; ++call) {{\n"
      "    if ((call == 0 || call == {6}) && {0}_reset(&w) != 0) return 1;\n{7}"
      "    if ({0}_run(&w{4}) != 0) return 1;\n{9}  }}\n  return 0;\n}}\n",
      c.name, pools, names, structs, arguments, kCalls, kResetBefore, fill, upper_case(c.name), take);
}

std::string of_the_caller(const Compilation& c, const std::vector<TensorId>& ids,
                          const std::vector<std::vector<Value>>& calls) {
  std::string bytes;
  for (const auto& call : calls)
    for (size_t k : of_caller(c.lifetimes, ids))
      bytes.append(reinterpret_cast<const char*>(call[k].bytes.data()), call[k].bytes.size());
  return bytes;
}

void expect_near(const std::string& got, const std::string& want) {
  ASSERT_EQ(got.size(), want.size());
  ASSERT_GT(want.size(), 0u);
  for (size_t k = 0; k < want.size(); k += sizeof(float)) {
    float a, b;
    std::memcpy(&a, got.data() + k, sizeof a);
    std::memcpy(&b, want.data() + k, sizeof b);
    ASSERT_NEAR(a, b, 1e-5) << "element " << k / sizeof(float);
  }
}

// The states' buffers are alive at all steps and share no byte with any other.
void expect_alone(const Compilation& c) {
  EXPECT_EQ(verify(c.map), std::nullopt);
  size_t states = 0;
  for (const MapBuffer& b : c.map.buffers) {
    if (b.kind != BufferKind::kState) continue;
    ++states;
    EXPECT_EQ(b.begin, 0);
    EXPECT_EQ(b.end, static_cast<int64_t>(c.map.steps.size()));
    for (const MapOverlap& o : c.map.overlaps) EXPECT_TRUE(o.above != b.id && o.below != b.id);
    for (const MapBuffer& other : c.map.buffers)
      EXPECT_TRUE(other.id == b.id || other.pool != b.pool || other.offset + other.size <= b.offset ||
                  b.offset + b.size <= other.offset)
          << other.name;
  }
  EXPECT_EQ(states, c.lifetimes.states.size());
}

TEST(State, GoesFromCallToCallUntilItIsReset) {
  const TemporaryFolder scratch;
  std::vector<Compilation> all;
  std::vector<std::string> want;
  const std::vector<std::string> command = {"cc",
                                            "-std=c11",
                                            "-O0",
                                            "-fsanitize=address,undefined",
                                            "-fno-sanitize-recover=all",
                                            "-Wall",
                                            "-Wextra",
                                            "-pedantic",
                                            "-Werror",
                                            "main.c",
                                            "models.c",
                                            "weights.c",
                                            "-o",
                                            "program",
                                            "-lm"};
  std::string callers, calls, models, weights;  // each one translation unit
  for (const Recurrent& r : recurrents())
    for (const auto& [way, name] : ways()) {
      const std::string id = c_identifier(fmt::format("{}_{}_{}", r.name, name, way.scheduler));
      const Compilation& c = all.emplace_back(compile_graph(graph_of(r), id, way, r.states));
      expect_alone(c);
      const Calls expected = interpreted(r, *c.graph);
      std::vector<File> files = c.files;
      files.push_back({id + ".in", of_the_caller(c, c.graph->inputs, expected.inputs)});
      want.push_back(of_the_caller(c, c.graph->outputs, expected.outputs));
      write_files(scratch.path(), files);
      models += fmt::format("#include \"{}.c\"\n", id);
      weights += fmt::format("#include \"{}_weights.c\"\n", id);
      callers += caller_source(c);
      calls += fmt::format(
          "  {{\n    FILE *in = fopen(\"{0}.in\", \"rb\"), *out = fopen(\"{0}.out\", \"wb\");\n"
          "    if (!in || !out || call_{0}(in, out) != 0) return 1;\n    fclose(in);\n    fclose(out);\n  "
          "}}\n",
          id);
    }
  write_files(scratch.path(), {{"models.c", models},
                               {"weights.c", weights},
                               {"main.c", "#include <stdio.h>\n#include <string.h>\n" + callers +
                                              "int main(void) {\n" + calls + "  return 0;\n}\n"}});
  const Finished built = run_process(command, scratch.path(), 600);
  ASSERT_EQ(built.status, 0) << built.output;
  const Finished done = run_process({"./program"}, scratch.path(), 100);
  ASSERT_EQ(done.status, 0) << done.output;
  for (size_t k = 0; k < all.size(); ++k) {
    SCOPED_TRACE(all[k].name);
    expect_near(read_file(scratch.path() / (all[k].name + ".out")), want[k]);
  }
}

TEST(State, IsNoArgumentAndItsPromiseIsInTheHeader) {
  const Recurrent& r = recurrents()[0];
  const Compilation c = compile_graph(graph_of(r), "m", {}, r.states);
  const std::string& header = file_named(c, "m.h");
  EXPECT_THAT(header, HasSubstr("int m_reset(const m_workspace *w);"));
  EXPECT_THAT(header, HasSubstr("keeps it from call to call"));
  EXPECT_THAT(header, testing::Not(HasSubstr("whose content before the call")));
  EXPECT_THAT(header, testing::Not(HasSubstr("*h")));
  ASSERT_EQ(c.map.io.size(), 2u);
  EXPECT_EQ(c.map.io[0].name, "x");
  EXPECT_EQ(c.map.io[1].name, "y");
  const Compilation plain = compile_graph(graph_of(r), "m", {});
  EXPECT_THAT(file_named(plain, "m.h"), testing::Not(HasSubstr("reset")));
}

// What is written where nobody reads any more needs neither a copy nor memory of its own.
TEST(State, IsWrittenInPlaceWhereItCanBe) {
  for (const Recurrent& r : recurrents()) {
    const Compilation c = compile_graph(graph_of(r), "m", {}, r.states);
    const State state = c.lifetimes.states.at(0);
    const bool in_place = c.lifetimes.buffer_of[state.output] == c.lifetimes.buffer_of[state.input];
    const std::string name = r.name;
    if (name == "matmul" || name == "elementwise") {
      EXPECT_TRUE(in_place) << name;
    }
    if (name == "read_late") {
      EXPECT_FALSE(in_place);
    }
  }
}

TEST(State, WrongNamesAndShapesAreExplained) {
  const auto error = [](const StateNames& names, size_t recurrent) -> std::pair<Exit, std::string> {
    try {
      compile_graph(graph_of(recurrents()[recurrent]), "m", {}, {names});
    } catch (const UserError& error) {
      return {error.status, error.what()};
    }
    return {Exit::kDone, ""};
  };
  EXPECT_EQ(error({"z", "h"}, 0).first, Exit::kUsage);
  EXPECT_THAT(error({"z", "h"}, 0).second,
              HasSubstr("--state z=h: no output has the first name; there are: y, h_next"));
  EXPECT_THAT(error({"h_next", "z"}, 0).second, HasSubstr("no input has the second name; there are: x, h"));
  EXPECT_EQ(error({"y", "past"}, 4).first, Exit::kModel);
  EXPECT_THAT(error({"y", "past"}, 4).second,
              HasSubstr("output 'y' is float32 [1,2,4,3], input 'past' is float32 [1,2,2,3]"));
}

TEST(State, OneOutputFeedsOneInput) {
  const Recurrent& r = recurrents()[3];
  EXPECT_THROW(compile_graph(graph_of(r), "m", {}, {{"a_next", "a"}, {"a_next", "b"}}), UserError);
  EXPECT_THROW(compile_graph(graph_of(r), "m", {}, {{"a_next", "a"}, {"b_next", "a"}}), UserError);
}

}  // namespace
}  // namespace arenac
