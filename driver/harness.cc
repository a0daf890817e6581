#include "driver/harness.h"

#include <fmt/format.h>

#include "codegen/c_text.h"

namespace arenac {
namespace {

constexpr const char* kSupport = R"(
static void *allocate(size_t size, size_t align)
{
    void *memory = NULL;
    if (align < sizeof(void *)) align = sizeof(void *);
    if (posix_memalign(&memory, align, size > 0 ? size : 1) != 0) exit(FILE_FAULT);
    memset(memory, 0xA5, size);
    return memory;
}

static void *load(const char *name, size_t size)
{
    void *memory = allocate(size, 64);
    FILE *file = fopen(name, "rb");
    if (file == NULL || fread(memory, 1, size, file) != size) exit(FILE_FAULT);
    fclose(file);
    return memory;
}

static void save(const char *name, const void *memory, size_t size)
{
    FILE *file = fopen(name, "wb");
    if (file == NULL || fwrite(memory, 1, size, file) != size || fclose(file) != 0) exit(FILE_FAULT);
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}
)";

constexpr const char* kMain = R"(
int main(int argc, char **argv)
{{
{declarations}    const {name}_workspace workspace = {{{workspace}}};
    const {name}_inputs inputs = {{{inputs}}};
    const {name}_outputs outputs = {{{outputs}}};
    int repeat = argc > 1 ? atoi(argv[1]) : 0;
    double best = 1e300;
    int status;
    (void)load;
{fill}    status = {name}_run(&workspace, &inputs, &outputs);
{take}    if (repeat > 0) {{
        for (; repeat > 0; --repeat) {{
            double begin;
{fill}            begin = now_ms();
            status |= {name}_run(&workspace, &inputs, &outputs);
            if (now_ms() - begin < best) best = now_ms() - begin;
        }}
        printf("%.6f\n", best);
    }}
{release}    return status;
}}
)";

// "pool0 + 128": where an input or output lies when it is planned inside a pool; empty: in the caller's
// memory.
std::string place_of(const Compilation& c, TensorId id) {
  const int buffer = c.lifetimes.buffer_of[id];
  if (buffer < 0) return "";
  const Placement& at = c.plan.placements[buffer];
  return fmt::format("(unsigned char *)pool{} + {}", at.pool, at.offset);
}

// The pieces of main.
struct Pieces {
  std::string declarations, inputs, outputs, workspace, fill, take, release;

  // A block of memory.
  void add(const std::string& variable, const std::string& value) {
    declarations += fmt::format("    void *{} = {};\n", variable, value);
    release += fmt::format("    free({});\n", variable);
  }
};

Pieces pieces_of(const Compilation& c) {
  const Graph& graph = *c.graph;
  Pieces p;
  const std::vector<std::string> pools = pool_macros(c.lifetimes.problem.pools);
  for (size_t k = 0; k < pools.size(); ++k) {
    const std::string macro = upper_case(c.name) + "_" + pools[k];
    p.add(fmt::format("pool{}", k), fmt::format("allocate({0}_SIZE, {0}_ALIGN)", macro));
    p.workspace += fmt::format("{}pool{}", k > 0 ? ", " : "", k);
  }
  for (size_t k = 0; k < graph.inputs.size(); ++k) {
    const int64_t bytes = bytes_of(graph.tensors[graph.inputs[k]]);
    const std::string place = place_of(c, graph.inputs[k]);
    p.add(fmt::format("in{}", k), fmt::format("load(\"input_{}.bin\", {}u)", k, bytes));
    if (!place.empty()) p.fill += fmt::format("    memcpy({}, in{}, {}u);\n", place, k, bytes);
  }
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const int64_t bytes = bytes_of(graph.tensors[graph.outputs[k]]);
    const std::string place = place_of(c, graph.outputs[k]);
    p.add(fmt::format("out{}", k), fmt::format("allocate({}u, 64)", bytes));
    if (!place.empty()) p.take += fmt::format("    memcpy(out{}, {}, {}u);\n", k, place, bytes);
    p.take += fmt::format("    save(\"output_{0}.bin\", out{0}, {1}u);\n", k, bytes);
  }
  const auto members = [&](const std::vector<TensorId>& ids, const char* variable) {
    std::string text;
    for (size_t k : of_caller(c.lifetimes, ids))
      text += fmt::format("{}{}{}", text.empty() ? "" : ", ", variable, k);
    return text.empty() ? "NULL" : text;
  };
  p.inputs = members(graph.inputs, "in");
  p.outputs = members(graph.outputs, "out");
  return p;
}

}  // namespace

std::string harness_source(const Compilation& c) {
  const Pieces p = pieces_of(c);
  return fmt::format(
             "#define _POSIX_C_SOURCE 200809L\n#include <stdio.h>\n#include <stdlib.h>\n"
             "#include <string.h>\n#include <time.h>\n\n#include \"{}.h\"\n#define FILE_FAULT {}\n{}",
             c.name, kFileFault, kSupport) +
         fmt::format(kMain, fmt::arg("name", c.name), fmt::arg("declarations", p.declarations),
                     fmt::arg("workspace", p.workspace), fmt::arg("inputs", p.inputs),
                     fmt::arg("outputs", p.outputs), fmt::arg("fill", p.fill), fmt::arg("take", p.take),
                     fmt::arg("release", p.release));
}

}  // namespace arenac
