// NAME.h, from top to bottom:
//
//   sizes of pools | what it is | inputs and outputs | structs | functions | tables | constants
//
// Whatever the caller may need stands there as a macro or a declaration, and none of it needs the rest of
// arenac.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/c_program.h"
#include "codegen/cmsis_nn_call.h"

namespace arenac {
namespace {

// A cleared arena is then a state to begin with.
bool begins_as_zeros(const Lifetimes& lifetimes) {
  return std::all_of(lifetimes.states.begin(), lifetimes.states.end(),
                     [](const State& state) { return state.initial == 0; });
}

// What lasts from call to call of kws_feed, or of kws_step. Zeros are the beginning, so that a workspace that
// is cleared is right.
//
//   --feed           in, out, row, done[stages of the fed group]
//   --step-cycles    in, out, at, turn, done[the most stages of a group]
std::string lasting_members(const CProgram& p) {
  if (!p.feed && p.parts == 0) return "";
  const std::string function = p.name + (p.feed ? "_feed" : "_step");
  std::string members;
  if (p.options.io == Io::kExternal)
    members += fmt::format("\n  {}_inputs in; /* what {} reads{} */", p.name, function,
                           p.feed ? " beside the rows" : "");
  if (p.takes().outputs)
    members += fmt::format("\n  {}_outputs out; /* where {} writes */", p.name, function);
  // One array for all groups, which run one after the other.
  size_t stages = 1;
  for (const Group& group : p.schedule.groups) stages = std::max(stages, group.stages.size());
  if (p.feed)
    return members + fmt::format(
                         "\n  int row; /* that {0} takes next; 0: it begins; -1: it failed */\n"
                         "  int done[{1}]; /* its own */",
                         function, p.schedule.groups[p.feed->group].stages.size());
  return members +
         fmt::format("\n  int at, turn, done[{}]; /* its own; {}_begin sets them */", stages, p.name);
}

// What a caller has to know of rows stands above the function: when the next may come, what errors leave,
// what begins anew.
void feed_declaration(CText& c, const CProgram& p) {
  const Tensor& t = p.graph.tensors[p.inputs.ids[p.feed->input]];
  c.line(
      "/* Takes the next of the {1} rows of {0}: {2} elements, row-major, which it does not need "
      "afterwards.\n"
      "   Returns {3}_MORE until the last row, then {3}_OK: the outputs are there, and the next row "
      "begins\n"
      "   another run. Row and done of the workspace begin as zeros; nothing else may use its memory "
      "between\n"
      "   the rows of a run. After an error, and to begin anew: {4}_reset. */\n"
      "int {4}_feed({4}_workspace *w, const {5} *row);\n",
      c_comment(p.inputs.names[p.feed->input]), p.feed->rows, p.feed->size, p.upper, p.name,
      info(t.type).c_name);
}

// Numbers for firmware: flash that constants take, who made the file and of what, how much it costs.
//
//   #define KWS_WEIGHTS_SIZE 22604u
//   #define KWS_MODEL_SHA256 "9f86d0..."
//   #define KWS_CYCLES 6224961u /* of one run, as estimated for cortex-m4 */
void what_it_is(CText& c, const CProgram& p, const std::string& token) {
  const MapTotals& totals = p.map.totals;
  c.line("#define {}_WEIGHTS_SIZE {} /* bytes of constants */", p.upper, c_unsigned(totals.weights));
  if (p.weights_by_pointer())
    c.line(
        "#define {0}_WEIGHTS_ALIGN {1}u\n#define {0}_WEIGHTS_FILE_SIZE {2} /* bytes of {3}_weights.bin */\n"
        "#define {0}_WEIGHTS_TOKEN 0x{4}u /* which it ends in; sets of the same token can be exchanged */",
        p.upper, kConstantAlign, c_unsigned(p.weights.total() + 4), p.name, token);
  c.line("#define {}_MODEL_SHA256 \"{}\"", p.upper, p.map.sha256);
  c.line("#define {}_ARENAC_VERSION {}", p.upper, c_string(p.options.version));
  c.line("#define {}_OPTIONS_GIVEN {}", p.upper, c_string(p.map.options));
  c.line("#define {}_STEP_COUNT {}", p.upper, p.map.steps.size());
  c.line("#define {}_MACS {} /* multiply-accumulates of one run */", p.upper, c_unsigned(totals.macs));
  if (totals.cycles > 0)
    c.line("#define {}_CYCLES {} /* of one run, as estimated for {} */", p.upper, c_unsigned(totals.cycles),
           c_comment(p.map.target));
  if (totals.stack > 0)
    c.line("#define {}_STACK_BYTES {}u /* at most, beside functions of the C library{} */", p.upper,
           totals.stack, calls_cmsis_nn(p.schedule) ? " and CMSIS-NN" : "");
  c.put("");
}

// NAME_PARTS is what the file has; groups that go on in turns return more often.
void parts_declarations(CText& c, const CProgram& p) {
  c.line(
      "/* The same in {1} parts and more: {0}_begin, then {0}_step until it returns other than {2}_MORE. A "
      "part is\n"
      "   steps one after the other, or rows of some, of {3} cycles at most as estimated; a step that cannot "
      "be\n"
      "   divided is one by itself. Between parts the memory is the run's alone. After an error: {0}_begin. "
      "*/\n"
      "#define {2}_PARTS {1}\nint {0}_begin({4});\nint {0}_step({0}_workspace *w);\n",
      p.name, p.parts, p.upper, *p.options.step_cycles, p.parameters(fmt::format("{}_workspace *w", p.name)));
}

// A name has the same number in every program, so that one function can judge the status of several. Those
// that this one cannot return are left out.
//
//   0 OK   1 ENULL   2 EALIGN   3 EBRANCH   4 EVALUE      of every program
//   5 MORE   6 EORDER     --feed, --step-cycles           7 EWEIGHTS   --weights pointer
//   8 ELIBRARY            --kernels cmsis-nn              9 ELOAD      copy=start
void status_codes(CText& c, const CProgram& p) {
  c.line(
      "enum {{ {0}_OK = 0, {0}_ENULL = 1 /* a pointer is null */, {0}_EALIGN = 2 /* the arena is "
      "misaligned */,\n       {0}_EBRANCH = 3 /* the inputs select a branch that arenac left out, with a "
      "warning */,\n       {0}_EVALUE = 4 /* a value is not the one that was compiled in */{1}{2}{3}{4} "
      "}};\n",
      p.upper,
      p.feed
          ? fmt::format(",\n       {0}_MORE = 5 /* no error: the row is taken, the next one is wanted */,"
                        "\n       {0}_EORDER = 6 /* a row comes during the call before, or after an error */",
                        p.upper)
      : p.parts > 0
          ? fmt::format(",\n       {0}_MORE = 5 /* no error: parts are left */,"
                        "\n       {0}_EORDER = 6 /* a part comes after the last, or after an error */",
                        p.upper)
          : "",
      p.weights_by_pointer()
          ? fmt::format(",\n       {}_EWEIGHTS = 7 /* the constants are those of another program */", p.upper)
          : "",
      calls_cmsis_nn(p.schedule)
          ? fmt::format(
                ",\n       {}_ELIBRARY = 8 /* a function of CMSIS-NN refuses what it is called with */",
                p.upper)
          : "",
      p.has_load() ? fmt::format(",\n       {}_ELOAD = 9 /* {}_load has not been called */", p.upper, p.name)
                   : "");
}

// Only of programs that copy constants at the start.
void load_declaration(CText& c, const CProgram& p) {
  std::vector<std::string> sizes;
  for (size_t k = 0; k < p.weights.blobs.size(); ++k)
    if (!p.weights.blobs[k].copy.empty())
      sizes.push_back(fmt::format("{}_{}_SIZE", p.upper, p.constant_macros[k]));
  c.line(
      "/* Copies constants from flash into {2} bytes of RAM, where runs read them: comes before the first\n"
      "   run, and again where that RAM loses its content; no run may go on meanwhile. Earlier runs return\n"
      "   {1}_ELOAD: a variable in .bss, which start-up code makes zero, tells. {0}_invoke makes the first\n"
      "   call itself. */\nvoid {0}_load(void);\n",
      p.name, p.upper, fmt::join(sizes, " + "));
}

// The comment above kws_run promises what the plan kept: which content of the arena counts before a call and
// after it.
void functions_of_workspace(CText& c, const CProgram& p) {
  if (p.has_load()) load_declaration(c, p);
  c.line("/* One inference. Re-entrant: all state is in the workspace, {}.",
         p.has_state()
             ? fmt::format("which keeps it from call to call: {0}_reset comes first,\n   and after "
                           "{1}_EBRANCH or {1}_EVALUE. Beside it the content before the call does not matter",
                           p.name, p.upper)
             : fmt::format("whose content before the call does not matter{}",
                           p.options.io == Io::kArena ? " but for the inputs" : ""));
  c.put(p.takes().inputs || p.takes().outputs ? "   What is passed and the arena must not overlap. */"
                                              : "   Inputs lie in it before, outputs after. */");
  c.line("int {}_run({});\n", p.name, p.parameters(fmt::format("const {}_workspace *w", p.name)));
  if (p.feed) feed_declaration(c, p);
  if (p.parts > 0) parts_declarations(c, p);
  if (p.has_reset())
    c.line(
        "/* {2}. 0 or {1}_ENULL. */\n"
        "int {0}_reset({3}{0}_workspace *w);\n",
        p.name, p.upper,
        !p.has_state() ? "The next row is the first"
        : begins_as_zeros(p.lifetimes)
            ? "The state as before the first call: zeros"
            : "The state as before the first call: not all zeros: call this before the first run",
        p.feed ? "" : "const ");
}

// A program that has memory of its own leaves them out by NAME_NO_STATIC_ARENA, and with them the arena's
// bytes.
void functions_of_static_arena(CText& c, const CProgram& p) {
  c.line("#ifndef {}_NO_STATIC_ARENA", p.upper);
  c.line("/* The same on a static arena, and where that is: not re-entrant. */");
  c.line("int {}_invoke({});", p.name, p.parameters(p.weights_by_pointer() ? "const void *weights" : ""));
  if (p.has_state()) c.line("int {}_reset_static(void);", p.name);
  c.put(p.for_pools("void *{name}_static_{pool}(void);", "\n"));
  c.line("#endif\n");
}

// For debuggers and tests: what lies at an address, when.
void table_of_tensors(CText& c, const CProgram& p) {
  c.line("#ifndef {}_NO_TENSOR_TABLE", p.upper);
  c.line("/* What lies in the arena: [offset, offset + size) during the steps [first, last]. */");
  c.line(
      "typedef struct {{\n  const char *name;\n  const char *pool;\n  size_t offset;\n  size_t size;\n"
      "  int first;\n  int last;\n}} {}_tensor;",
      p.name);
  c.line("#define {}_TENSOR_COUNT {}", p.upper, p.map.buffers.size());
  c.line("extern const {0}_tensor {0}_tensors[{1}];", p.name, std::max<size_t>(p.map.buffers.size(), 1));
  c.line("#endif\n");
}

// The opposite default of the table of tensors: names of nodes are long and many.
void table_of_steps(CText& c, const CProgram& p) {
  c.line("#ifdef {}_STEP_TABLE /* not there by itself: names take flash */", p.upper);
  c.line("typedef struct {{\n  const char *node, *op;\n  uint64_t macs, cycles;\n}} {}_step_info;", p.name);
  c.line("extern const {0}_step_info {0}_steps[{1}];\n#endif\n", p.name,
         std::max<size_t>(p.map.steps.size(), 1));
}

}  // namespace

// C99 and C++ both take it: a feature that only one has stands behind an #if.
std::string header_text(const CProgram& p, const std::string& token) {
  CText c;
  c.line("/* {} compiled by arenac {}. Do not edit. */", c_comment(p.graph.name), p.options.version);
  if (!p.map.options.empty()) c.line("/* Options: {} */", c_comment(p.map.options));
  c.line("#ifndef {0}_H\n#define {0}_H\n\n#include <stddef.h>\n#include <stdint.h>\n", p.upper);
  c.put("#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
  for (size_t k = 0; k < p.pools.size(); ++k)
    pool_size_macros(c, p.name, p.upper + "_" + p.pool_macros[k], p.plan.pools[k].size,
                     p.lifetimes.problem.pools[k]);
  // Memories of constants have sizes, too: for linker scripts, and checks of what there is.
  for (size_t k = 0; k < p.constant_macros.size(); ++k) {
    Pool pool = p.options.constants.pools[k].pool;
    const Blob& blob = p.weights.blobs[k];
    if (!blob.copy.empty()) pool.align = blob.align;  // of the array
    pool_size_macros(c, p.name, p.upper + "_" + p.constant_macros[k], blob.total, pool);
  }
  what_it_is(c, p, token);
  c.put(alignment_macros(p.upper, p.pool_macros[0]));
  if (holds_text(p.graph)) c.put(text_type());
  io_macros(c, p, p.inputs);
  io_macros(c, p, p.outputs);
  c.put("");
  if (p.takes().inputs || p.takes().outputs)
    c.put(
        "/* Members are called as the model calls its inputs and outputs: other characters are '_', and '_' "
        "follows a\n   name that is a word of C or C++ or could be a macro (int_, NAN_, X1_). */");
  io_struct(c, p, p.inputs);
  io_struct(c, p, p.outputs);
  c.line("typedef struct {{{}{}{}\n}} {}_workspace;\n",
         p.for_pools("\n  void *{member}; /* {macro}_SIZE bytes, aligned to {macro}_ALIGN */"),
         p.weights_by_pointer()
             ? fmt::format(
                   "\n  const void *weights; /* the bytes of {}_weights.bin, aligned to {}_WEIGHTS_ALIGN */",
                   p.name, p.upper)
             : "",
         lasting_members(p), p.name);
  io_functions(c, p);
  status_codes(c, p);
  functions_of_workspace(c, p);
  functions_of_static_arena(c, p);
  table_of_tensors(c, p);
  table_of_steps(c, p);
  c.put("#ifdef __cplusplus\n}\n#endif\n#endif");
  c.put(weight_declarations(p.weights, p.schedule, p.name, token));
  return c.text();
}

}  // namespace arenac
