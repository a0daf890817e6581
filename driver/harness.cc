// main.c in pieces:
//
//   kSupport   memory and files        kClock   instructions, cycles or nanoseconds
//   functions  feeding, parts, rows    kMain    load inputs | run, timed | save outputs | runs again |
//              release
#include "driver/harness.h"

#include <fmt/format.h>

#include "codegen/c_text.h"
#include "driver/board_clock_text.h"

namespace arenac {
namespace {

// 0xA5 in all memory that nobody has written: a kernel that reads what is not there gets numbers that
// comparisons notice.
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
)";

// Microcontrollers count instructions or cycles (driver/board_clock.h), systems nanoseconds.
constexpr const char* kIfBoard = R"(
#if (defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M') || (defined(__riscv) && !defined(__linux__))
)";
constexpr const char* kClock = R"(
static void start_clock(void) { start_counting(); }
static double now(void) { return (double)instructions(); }
#else
static void start_clock(void) {}
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
#endif
)";

// What a run took: of all of it, then of each step.
constexpr const char* kSpent = R"(
static double spent[1 + STEPS];
static int step_now = -1;
static double step_began;
void arenac_step(int step);
void arenac_step(int step)
{
    const double time = now();
    if (step_now >= 0) spent[1 + step_now] += time - step_began;
    step_now = step;
    step_began = now();
}
static void save_spent(double runs)
{
    int k;
    for (k = 0; k <= STEPS; ++k) spent[k] /= runs;
    save("spent.bin", spent, sizeof spent);
}
)";

// Timed runs write over the outputs of the first, which are saved before them. `status` gathers all runs'.
constexpr const char* kMain = R"({functions}
int main(int argc, char **argv)
{{
{declarations}    {name}_workspace workspace;
{structs}    int repeat = ELSEWHERE || argc < 2 ? 0 : atoi(argv[1]), runs = repeat > 0 ? repeat : 1;
    double best = 1e300, begin;
    int status;
    (void)load, (void)argv;
    memset(&workspace, 0, sizeof workspace);
    start_clock();
{workspace}{fill}    begin = now();
    status = {run};
    spent[0] = now() - begin;
    arenac_step(-1);
{take}    if (repeat > 0) {{
        memset(spent, 0, sizeof spent);
        for (; repeat > 0; --repeat) {{
            double took;
{fill}            begin = now();
            status |= {run};
            took = now() - begin;
            arenac_step(-1);
            spent[0] += took;
            if (took < best) best = took;
        }}
        printf("%.6f\n", best * 1e-6);
    }}
    save_spent(runs);
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

// A dense tensor whose rows the caller passes or takes: `outer` parts of `rows` parts of `inner` bytes.
struct RowParts {
  int64_t outer = 1, rows, inner;
};
// Row y of dimension d, as the caller has it in a dense tensor: outer * rows * inner, of which a row is outer
// pieces of inner bytes.
RowParts row_parts(const Tensor& tensor, int dimension) {
  RowParts parts{1, tensor.shape[static_cast<size_t>(dimension)], static_cast<int64_t>(size_of(tensor.type))};
  for (int d = 0; d < static_cast<int>(tensor.shape.size()); ++d) {
    if (d < dimension) parts.outer *= tensor.shape[static_cast<size_t>(d)];
    if (d > dimension) parts.inner *= tensor.shape[static_cast<size_t>(d)];
  }
  return parts;
}

// As a camera does: each row in the same memory, which then is something else's.
constexpr const char* kFeed = R"(
static int feed_all({name}_workspace *w{parameters}, const void *all)
{{
    unsigned char *row = allocate({outer}u * {inner}u, 64);
    int y, status = {upper}_MORE;
{taken}    for (y = 0; y < {rows}; ++y) {{
        size_t part;
        if (status != {upper}_MORE) exit(FILE_FAULT);
        for (part = 0; part < {outer}u; ++part)
            memcpy(row + part * {inner}u, (const unsigned char *)all + (part * {rows}u + (size_t)y) * {inner}u, {inner}u);
        status = {name}_feed(w, (const void *)row);
        memset(row, 0xA5, {outer}u * {inner}u);
        if (status != 0 && status != {upper}_MORE) break;
    }}
    free(row);
    return status;
}}
)";

// Part after part; what a caller does meanwhile changes other memory.
constexpr const char* kParts = R"(
static int run_parts({name}_workspace *w{parameters})
{{
    int parts = 1, status = {name}_begin({arguments});
    if (status != 0) return status;
    while ((status = {name}_step(w)) == {upper}_MORE) ++parts;
    return status == 0 && (parts < {upper}_PARTS || {name}_step(w) != {upper}_EORDER) ? FILE_FAULT : status;
}}
)";

// Row after row; whether they come in turn.
constexpr const char* kTakeRow = R"(
static size_t {name}_next_row{k};
static void {name}_take_row{k}(void *user, size_t y, const {type} *data)
{{
    size_t part;
    if (y != {name}_next_row{k}) exit(FILE_FAULT);
    {name}_next_row{k} = (y + 1) % {rows}u;
    for (part = 0; part < {outer}u; ++part)
        memcpy((unsigned char *)user + (part * {rows}u + y) * {inner}u, (const unsigned char *)data + part * {inner}u, {inner}u);
}}
)";

// The pieces of main.
struct Pieces {
  std::string functions, declarations, structs, workspace, fill, take, release, run;

  // A block of memory.
  void add(const std::string& variable, const std::string& value) {
    declarations += fmt::format("    void *{} = {};\n", variable, value);
    release += fmt::format("    free({});\n", variable);
  }
};

// For each input and output where it is: in the caller's memory or in a pool, whole or by rows, and which
// statements bring it there and take it away.
Pieces pieces_of(const Compilation& c) {
  const Graph& graph = *c.graph;
  Pieces p;
  const std::vector<std::string> pools = pool_macros(c.lifetimes.problem.pools);
  for (size_t k = 0; k < pools.size(); ++k) {
    const std::string macro = upper_case(c.name) + "_" + pools[k];
    // Exactly the declared size and alignment, so that sanitizers see the first byte behind it.
    p.add(fmt::format("pool{}", k), fmt::format("allocate({0}_SIZE, {0}_ALIGN)", macro));
    p.workspace += fmt::format("    workspace.{} = pool{};\n", pool_members(c.lifetimes.problem.pools)[k], k);
  }
  if (c.weights == WeightsForm::kPointer) {
    p.add("weights",
          fmt::format("load(\"{}_weights.bin\", {}_WEIGHTS_FILE_SIZE)", c.name, upper_case(c.name)));
    p.workspace += "    workspace.weights = weights;\n";
  }
  if (c.has_load) p.workspace += fmt::format("    {}_load();\n", c.name);
  for (size_t k = 0; k < graph.inputs.size(); ++k) {
    const int64_t bytes = bytes_of(graph.tensors[graph.inputs[k]]);
    const std::string place = place_of(c, graph.inputs[k]);
    p.add(fmt::format("in{}", k), fmt::format("load(\"input_{}.bin\", {}u)", k, bytes));
    if (!place.empty()) p.fill += fmt::format("    memcpy({}, in{}, {}u);\n", place, k, bytes);
  }
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const int64_t bytes = bytes_of(graph.tensors[graph.outputs[k]]);
    const std::string place = graph.by_rows.contains(graph.outputs[k]) ? "" : place_of(c, graph.outputs[k]);
    p.add(fmt::format("out{}", k), fmt::format("allocate({}u, 64)", bytes));
    if (!place.empty()) p.take += fmt::format("    memcpy(out{}, {}, {}u);\n", k, place, bytes);
    p.take += fmt::format("    save(\"output_{0}.bin\", out{0}, {1}u);\n", k, bytes);
  }
  // Members of the structs in the order of the header, without states and what lies in the arena.
  const auto members = [&](const std::vector<TensorId>& ids, const char* variable) {
    std::string text;
    for (size_t k : of_caller(c.lifetimes, ids)) {
      if (!place_of(c, ids[k]).empty() && !graph.by_rows.contains(ids[k])) continue;
      const bool emitted = &ids == &graph.outputs && graph.by_rows.contains(ids[k]);
      text += fmt::format(fmt::runtime(emitted ? "{0}{{{3}_take_row{2}, {1}{2}}}" : "{0}{1}{2}"),
                          text.empty() ? "" : ", ", variable, k, c.name);
    }
    return text.empty() ? "NULL" : text;
  };
  const RunTakes takes = run_takes(graph, c.io);
  const std::string inputs = takes.inputs ? ", &inputs" : "", outputs = takes.outputs ? ", &outputs" : "";
  p.run = fmt::format("{}_run(&workspace{}{})", c.name, inputs, outputs);
  if (c.step_cycles) {
    std::string parameters, arguments = "w";
    if (takes.inputs) parameters += fmt::format(", const {}_inputs *in", c.name), arguments += ", in";
    if (takes.outputs) parameters += fmt::format(", const {}_outputs *out", c.name), arguments += ", out";
    p.functions += fmt::format(kParts, fmt::arg("name", c.name), fmt::arg("upper", upper_case(c.name)),
                               fmt::arg("parameters", parameters), fmt::arg("arguments", arguments));
    p.run = fmt::format("run_parts(&workspace{}{})", inputs, outputs);
  }
  for (size_t k = 0; k < graph.inputs.size(); ++k) {
    const auto rows = graph.by_rows.find(graph.inputs[k]);
    if (rows == graph.by_rows.end()) continue;
    const RowParts parts = row_parts(graph.tensors[rows->first], rows->second);
    std::string parameters, taken;
    if (c.io == Io::kExternal) {
      parameters = fmt::format(", const {}_inputs *in", c.name);
      taken = "    w->in = *in;\n";
    }
    if (takes.outputs) {
      parameters += fmt::format(", const {}_outputs *out", c.name);
      taken += "    w->out = *out;\n";
    }
    p.functions += fmt::format(kFeed, fmt::arg("name", c.name), fmt::arg("upper", upper_case(c.name)),
                               fmt::arg("parameters", parameters), fmt::arg("taken", taken),
                               fmt::arg("outer", parts.outer), fmt::arg("rows", parts.rows),
                               fmt::arg("inner", parts.inner));
    p.run = fmt::format("feed_all(&workspace{}{}, in{})", c.io == Io::kExternal ? inputs : "", outputs, k);
  }
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const auto rows = graph.by_rows.find(graph.outputs[k]);
    if (rows == graph.by_rows.end()) continue;
    const Tensor& tensor = graph.tensors[rows->first];
    const RowParts parts = row_parts(tensor, rows->second);
    p.functions += fmt::format(kTakeRow, fmt::arg("name", c.name), fmt::arg("k", k),
                               fmt::arg("type", info(tensor.type).c_name), fmt::arg("outer", parts.outer),
                               fmt::arg("rows", parts.rows), fmt::arg("inner", parts.inner));
  }
  if (takes.inputs && (c.io == Io::kExternal || !p.run.starts_with("feed_all")))
    p.structs += fmt::format("    const {}_inputs inputs = {{{}}};\n", c.name, members(graph.inputs, "in"));
  if (takes.outputs)
    p.structs +=
        fmt::format("    const {}_outputs outputs = {{{}}};\n", c.name, members(graph.outputs, "out"));
  return p;
}

// Without counting: names that main uses all the same.
constexpr const char* kNothingSpent = R"(
static double spent[1];
#define arenac_step(step) ((void)(step))
#define save_spent(runs) ((void)(runs))
)";

}  // namespace

// The hook is a call of the harness's function, declared in a header that the sources have beside them.
std::vector<std::string> step_hook(const Compilation& c) {
  const std::string hook = fmt::format("-D{}_HOOK", upper_case(c.name));
  return {hook + "(step)=arenac_step(step)", hook + "_HEADER=\"arenac_step.h\""};
}

// In the order in which C needs the parts: helpers, the clock, counters, main.
std::string harness_source(const Compilation& c, const HarnessOptions& options) {
  const Pieces p = pieces_of(c);
  const bool counts = options.elsewhere || options.profile;
  const std::string spent =
      counts ? fmt::format("#define STEPS {}\n{}", c.schedule.steps.size(), kSpent) : kNothingSpent;
  return fmt::format(
             "#define _POSIX_C_SOURCE 200809L\n#include <stdio.h>\n#include <stdlib.h>\n"
             "#include <string.h>\n#include <time.h>\n\n#include \"{}.h\"\n#define FILE_FAULT {}\n"
             "#define ELSEWHERE {}\n{}{}{}{}{}",
             c.name, kFileFault, options.elsewhere ? 1 : 0, kSupport, kIfBoard, kBoardClock, kClock, spent) +
         fmt::format(kMain, fmt::arg("name", c.name), fmt::arg("functions", p.functions),
                     fmt::arg("run", p.run), fmt::arg("declarations", p.declarations),
                     fmt::arg("workspace", p.workspace), fmt::arg("structs", p.structs),
                     fmt::arg("fill", p.fill), fmt::arg("take", p.take), fmt::arg("release", p.release));
}

}  // namespace arenac
