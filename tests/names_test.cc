// Whatever a model, its tensors and the pools are called, the C compiles, and what callers write is as
// expected.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <set>

#include "codegen/c_text.h"
#include "driver/files.h"
#include "driver/process.h"
#include "frontend/import.h"
#include "tests/emitted.h"
#include "tests/random_graph.h"

namespace arenac {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Words = std::set<std::string>;

constexpr const char* kHeaders[] = {
    "assert.h",   "complex.h",  "ctype.h",     "errno.h",  "fenv.h",      "float.h",     "inttypes.h",
    "iso646.h",   "limits.h",   "locale.h",    "math.h",   "setjmp.h",    "signal.h",    "stdarg.h",
    "stdbool.h",  "stddef.h",   "stdint.h",    "stdio.h",  "stdlib.h",    "string.h",    "time.h",
    "wchar.h",    "wctype.h",   "unistd.h",    "fcntl.h",  "sys/types.h", "sys/stat.h",  "sys/wait.h",
    "sys/time.h", "termios.h",  "pthread.h",   "sched.h",  "dirent.h",    "poll.h",      "netinet/in.h",
    "netdb.h",    "sys/mman.h", "sys/ioctl.h", "syslog.h", "semaphore.h", "sys/param.h", "sys/socket.h"};

constexpr const char* kWords[] = {
    // Of C, C++ and their libraries.
    "auto", "int", "inline", "restrict", "_Bool", "bool", "true", "class", "new", "this", "and", "xor_eq",
    "co_await", "typeof", "constexpr", "char8_t", "thread_local", "alignas", "nullptr", "NAN", "NULL",
    "INT8_MIN", "M_PI", "PRId64", "I", "errno", "stdin", "linux", "unix", "memcpy", "printf", "main",
    "int8_t", "size_t", "abort", "st_atime",
    // Of what arenac writes.
    "g", "last", "done", "w", "in", "out", "x0", "y", "t0", "t1", "i1", "unused", "arena", "pool_arena",
    "MODEL_H", "run", "reset", "load", "invoke", "static_arena", "weights", "WEIGHTS", "weights_2", "at_0",
    "tensors", "reads", "parameters",
    // That become others' when written as an identifier, or in capitals.
    "image", "Image", "IMAGE", "ima ge", "ima_ge", "ima.ge", "int_", "_int", "__int", "X_Y", "x_y", "x.y",
    "x__y", "x_y_2", "1", "t1", "", "_", "\xc3\xa9t\xc3\xa9", "image_COUNT", "image_DIM0",
    // That would end what they stand in.
    "*/ int stray = 1; /*", "//", "\"; int stray = 1; \"", "'", "\\", "?\?/", "?\?'", "a\nb", "a\\\nb", "%s",
    "{}", "/*", "*/"};

Words words() {
  Words all(std::begin(kWords), std::end(kWords));
  all.insert(std::string(300, 'n') + "1");
  all.insert(std::string(300, 'n') + "2");
  all.insert(std::string(300, 'N') + "2");
  return all;
}

// The macros that a compiler defines by itself and by every header there is.
Words macros_of(const std::string& compiler) {
  const TemporaryFolder scratch;
  std::string text;
  for (const char* header : kHeaders)
    text += fmt::format("#if __has_include(<{0}>)\n#include <{0}>\n#endif\n", header);
  write_files(scratch.path(), {{"all.c", text}});
  const Finished done =
      run_process({"sh", "-c", compiler + " -D_GNU_SOURCE -dM -E all.c >macros"}, scratch.path(), 60);
  const std::string defined = read_file(scratch.path() / "macros");
  Words macros;
  for (size_t at = 0; (at = defined.find("#define ", at)) != std::string::npos;) {
    at += std::string_view("#define ").size();
    macros.insert(defined.substr(at, defined.find_first_of(" (\n", at) - at));
  }
  return macros;
}

// The identifiers in C text, outside comments and quotes.
Words identifiers_of(const std::string& text) {
  Words all;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text.compare(at, 2, "/*") == 0) {
      at = text.find("*/", at) + 1;
    } else if (text[at] == '"') {
      while (text[++at] != '"') at += text[at] == '\\';
    } else if (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_') {
      const size_t from = at;
      while (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_') ++at;
      if (!std::isdigit(static_cast<unsigned char>(text[from]))) all.insert(text.substr(from, at - from));
      --at;
    }
  }
  return all;
}

// Negates each input into the output of the same name.
Graph negations(const Words& names) {
  std::string inputs, outputs, nodes;
  for (size_t k = 0; k < names.size(); ++k) {
    inputs += fmt::format("{}int8[2] i{}", k ? ", " : "", k);
    outputs += fmt::format("{}int8[2] o{}", k ? ", " : "", k);
    nodes += fmt::format("o{0} = Neg(i{0}) ", k);
  }
  Graph graph = import_text(fmt::format("<ir_version: 8, opset_import: [\"\" : 17]> g ({}) => ({}) {{ {} }}",
                                        inputs, outputs, nodes));
  graph.input_names = graph.output_names = {names.begin(), names.end()};
  for (size_t k = 0; k < names.size(); ++k)
    graph.tensors[graph.inputs[k]].name = graph.tensors[graph.outputs[k]].name = graph.input_names[k];
  return graph;
}

// Groups, rings, and a C kernel.
Graph layers() {
  Graph graph = import_text(R"(<ir_version: 8, opset_import: ["" : 17]> g
    (float[1, 3, 16, 16] x, float[4, 3, 3, 3] w, float[4, 4, 3, 3] v) => (float[1, 4, 4, 4] y, float[1, 4, 4] s) {
      a = Conv<pads = [1, 1, 1, 1]>(x, w)  b = Relu(a)
      c = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(b)
      d = Conv<pads = [1, 1, 1, 1]>(c, v)  e = Sigmoid(d)
      y = AveragePool<kernel_shape = [2, 2], strides = [2, 2]>(e)
      f = ReduceMax<axes = [3], keepdims = 0>(y)
      axis = Constant<value_int = 2>()  s = CumSum(f, axis) })");
  return graph;
}

std::vector<std::string> checkers() {
  std::vector<std::string> all;
  for (const char* command :
       {"cc -std=c99 -trigraphs", "cc -std=gnu11", "clang -std=gnu11", "cc -x c++ -std=gnu++17"})
    if (run_process({"sh", "-c", fmt::format("echo 'int x;' | {} -fsyntax-only -x c -", command)}, ".", 60)
            .status == 0)
      all.emplace_back(command);
  return all;
}

// What compilers say about the files, before which a program has included all there is.
void expect_compiles(const Compilation& c) {
  const TemporaryFolder scratch;
  write_files(scratch.path(), c.files);
  std::string includes = "#define _GNU_SOURCE\n";
  for (const char* header : kHeaders)
    includes += fmt::format("#if __has_include(<{0}>)\n#include <{0}>\n#endif\n", header);
  write_files(scratch.path(),
              {{"main.c", includes + fmt::format("#include \"{}.h\"\nint not_empty;\n", c.name)}});
  for (const std::string& checker : checkers()) {
    const std::string command = fmt::format(
        "{0} -Wall -Wextra -pedantic -Wconversion -Werror -fsyntax-only {1}.c {1}_weights.c && {0} "
        "-fsyntax-only main.c",
        checker, c.name);
    const Finished done = run_process({"sh", "-c", command}, scratch.path(), 300);
    EXPECT_EQ(done.status, 0) << command << "\n" << done.output.substr(0, 3000);
  }
}

TEST(Names, OfInputsAndOutputsMayBeAnything) {
  const Compilation first = compile_graph(negations(words()), "model", {});
  Words all = words();
  for (const File& file : first.files)
    if (file.name.ends_with(".c") || file.name.ends_with(".h")) all.merge(identifiers_of(file.bytes));
  for (const File& file : compile_graph(layers(), "model", {.scheduler = "fused"}).files)
    if (file.name.ends_with(".c") || file.name.ends_with(".h")) all.merge(identifiers_of(file.bytes));
  expect_compiles(compile_graph(negations(all), "model", {}));
}

TEST(Names, OfInputsMayBeThoseOfMacros) {
  Words all = macros_of("cc -std=gnu11");
  ASSERT_GT(all.size(), 500u);
  all.merge(macros_of("cc -x c++ -std=gnu++20"));
  all.merge(macros_of("clang -std=gnu11"));
  expect_compiles(compile_graph(negations(all), "model", {}));
}

TEST(Names, OfPoolsMayBeAnyIdentifier) {
  Words all;
  for (const std::string& word : words()) all.insert(c_identifier(word));
  for (const File& file : compile_graph(layers(), "model", {.scheduler = "fused"}).files)
    if (file.name.ends_with(".c") || file.name.ends_with(".h"))
      for (const std::string& word : identifiers_of(file.bytes)) all.insert(c_identifier(word));
  std::vector<Pool> pools = {{"rest"}};
  Words capitals = {"REST"};
  Io io = Io::kExternal;
  for (const std::string& name : all) {
    if (capitals.insert(upper_case(name)).second) pools.insert(pools.begin(), {name, 64});
    if (pools.size() < 250 && name != *all.rbegin()) continue;
    expect_compiles(compile_graph(layers(), "model", {.io = io, .pools = pools, .scheduler = "fused"}));
    pools = {{"rest"}};
    io = io == Io::kExternal ? Io::kArena : Io::kExternal;
  }
}

TEST(Names, AreKeptWhereTheyAreOrdinary) {
  const Words ordinary = {"image", "Input3", "X", "x", "input_1", "scores", "dense_1_output", "imageRGB"};
  const Compilation c = compile_graph(negations(ordinary), "kws", {});
  for (const std::string& name : ordinary)
    EXPECT_THAT(file_named(c, "kws.h"), HasSubstr("int8_t *" + name + ";"));
  EXPECT_THAT(file_named(c, "kws.h"), HasSubstr("  void *arena;"));
  EXPECT_THAT(file_named(c, "kws.h"), HasSubstr("#define KWS_INPUT_IMAGE_COUNT 2u"));
}

TEST(Names, OfTheMapAreTheModels) {
  Graph graph = layers();
  for (Tensor& tensor : graph.tensors) tensor.name += " */ \"?\?/";
  const Compilation c = compile_graph(std::move(graph), "kws", {});
  EXPECT_THAT(file_named(c, "kws_map.json"), HasSubstr(" */ \\\"?\?/"));
  EXPECT_THAT(file_named(c, "kws.c"), HasSubstr(R"( */ \042\077\077/)"));
  expect_compiles(c);
}

// C99 promises 63 characters, and 31 of what other files see.
TEST(Names, AreToldApartByEveryCompiler) {
  const std::string model(kReadByLinkers, 'm');
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Compilation c =
        compile_graph(seed ? import_text(random_graph(seed)) : layers(), model, {.scheduler = "fused"});
    for (const char* ending : {".c", ".h"})
      for (const std::string& name : identifiers_of(file_named(c, model + ending)))
        EXPECT_LE(name.size(), 63u) << name;
    Words seen;
    for (const std::string& name :
         identifiers_of(file_named(c, model + "_weights.c") + file_named(c, model + ".h")))
      if (name.starts_with(model) && !name.starts_with(model + "_weights_blob")) {
        EXPECT_TRUE(seen.insert(name.substr(0, 31)).second) << name;
      }
  }
}

TEST(DistinctIdentifiers, DifferInCapitalsWhereTheyAreMacros) {
  EXPECT_THAT(distinct_identifiers({"x.y", "X_Y", "x_y_2", "x/y"}),
              ElementsAre("x_y", "X_Y", "x_y_2", "x_y_3"));
  EXPECT_THAT(distinct_identifiers({"int", "int_", "NAN_", "NAN"}),
              ElementsAre("int", "int__2", "NAN_", "NAN_2"));
  EXPECT_THAT(distinct_capitals({"weights", "x", "X"}, "WEIGHTS"), ElementsAre("WEIGHTS_2", "X", "X_2"));
}

TEST(ShortLines, AreBrokenBehindCommasOutsideQuotesAndComments) {
  const std::string a(60, 'a'), b(60, 'b');
  EXPECT_EQ(with_short_lines("  f(" + a + ", " + b + " + 1);\n"), "  f(" + a + ",\n      " + b + " + 1);\n");
  for (const std::string& whole : {"  \"" + a + ", " + b + "\";\n", "/* " + a + "\n" + b + ", " + a + " */\n",
                                   "#define A " + a + " \\\n  , " + b + ", " + a + "\n"})
    EXPECT_EQ(with_short_lines(whole), whole);
}

}  // namespace
}  // namespace arenac
