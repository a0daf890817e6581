#include <fmt/format.h>

#include <algorithm>

#include "codegen/c_program.h"

namespace arenac {
namespace {

bool begins_as_zeros(const Lifetimes& lifetimes) {
  return std::all_of(lifetimes.states.begin(), lifetimes.states.end(),
                     [](const State& state) { return state.initial == 0; });
}

std::string io_comment(const CProgram& p, TensorId id, const std::string& model_name) {
  const Tensor& t = p.graph.tensors[id];
  const auto rows = p.graph.by_rows.find(id);
  const std::string order =
      rows == p.graph.by_rows.end() ? "row-major" : fmt::format("by rows of dimension {}", rows->second);
  return fmt::format("/* {} {}, {}: {} */", info(t.type).name, to_string(t.shape), order,
                     c_comment(model_name));
}

void io_macros(CText& c, const CProgram& p, const char* kind, const CallerTensors& of) {
  for (size_t k = 0; k < of.ids.size(); ++k) {
    const Tensor& t = p.graph.tensors[of.ids[k]];
    std::string macro = fmt::format("{}_{}_{}", p.upper, kind, of.macros[k]);
    if (macro.size() + std::string_view("_OFFSET").size() > kLongestIdentifier)
      macro = fmt::format("{}_{}_{}", p.upper, kind, k);
    c.line("#define {}_COUNT {}u", macro, element_count(t.shape));
    c.line("#define {}_RANK {}", macro, t.shape.size());
    for (size_t d = 0; d < t.shape.size(); ++d) c.line("#define {}_DIM{} {}", macro, d, t.shape[d]);
    if (p.by_rows(of.ids[k])) {
      const int64_t row = p.schedule.layouts[of.ids[k]].ring.row;
      c.line("#define {}_ROWS {}u", macro, element_count(t.shape) / row);
      c.line("#define {}_ROW_COUNT {}u", macro, row);
    } else if (const int b = p.lifetimes.buffer_of[of.ids[k]]; b >= 0)
      c.line("#define {}_OFFSET {}u /* in the {} */", macro, p.plan.placements[b].offset, p.pool_of(b));
  }
}

void io_struct(CText& c, const CProgram& p, const char* kind, const char* qualifier,
               const CallerTensors& of) {
  c.open("typedef struct");
  for (size_t k = 0; k < of.ids.size(); ++k)
    if (const char* type = info(p.graph.tensors[of.ids[k]].type).c_name;
        &of == &p.outputs && p.by_rows(of.ids[k]))
      c.line(
          "struct {{\n  void (*row)(void *user, size_t y, const {} *data); /* takes row y of these, which "
          "come in turn */\n  void *user;\n}} {}; {}",
          type, of.members[k], io_comment(p, of.ids[k], of.names[k]));
    else
      c.line("{}{} *{}; {}", qualifier, type, of.members[k], io_comment(p, of.ids[k], of.names[k]));
  if (of.ids.empty()) c.line("const void *unused;");
  c.close(fmt::format(" {}_{};", p.name, kind));
}

// What kws_feed needs from call to call.
std::string feed_members(const CProgram& p) {
  if (!p.feed) return "";
  return fmt::format(
      "\n  {0}_inputs in; /* what {0}_feed reads beside the rows */\n  {0}_outputs out; /* and where it "
      "writes */\n  int row; /* that {0}_feed takes next; 0: it begins; -1: it failed */\n"
      "  int done[{1}]; /* its own */",
      p.name, p.schedule.groups[p.feed->group].stages.size());
}

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

}  // namespace

std::string header_text(const CProgram& p) {
  CText c;
  c.line("/* {} compiled by arenac {}. Do not edit. */", c_comment(p.graph.name), p.options.version);
  if (!p.map.options.empty()) c.line("/* Options: {} */", c_comment(p.map.options));
  c.line("#ifndef {0}_H\n#define {0}_H\n\n#include <stddef.h>\n#include <stdint.h>\n", p.upper);
  c.put("#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
  c.put(p.for_pools("#define {macro}_SIZE {size}u /* bytes */\n#define {macro}_ALIGN {align}u", "\n"));
  c.line("#define {}_WEIGHTS_SIZE {}u /* bytes of constants */", p.upper, p.map.totals.weights);
  c.line("#define {}_MODEL_SHA256 \"{}\"\n", p.upper, p.map.sha256);
  if (const std::string text = text_type(p.graph); !text.empty()) c.put(text);
  io_macros(c, p, "INPUT", p.inputs);
  io_macros(c, p, "OUTPUT", p.outputs);
  c.put("");
  if (p.options.io == Io::kArena)
    c.line(
        "/* Inputs and outputs lie in the arena at their _OFFSET; {}_run ignores both structs, which may "
        "be null{}. */",
        p.name, p.graph.by_rows.empty() ? "" : ", but for what comes and goes by rows");
  c.put(
      "/* Members are called as the model calls its inputs and outputs: other characters are '_', and '_' "
      "follows a\n   name that is a word of C or C++ or could be a macro (int_, NAN_, X1_). */");
  io_struct(c, p, "inputs", "const ", p.inputs);
  io_struct(c, p, "outputs", "", p.outputs);
  c.line("typedef struct {{{}{}\n}} {}_workspace;\n",
         p.for_pools("\n  void *{member}; /* {macro}_SIZE bytes, aligned to {macro}_ALIGN */"),
         feed_members(p), p.name);
  c.line(
      "enum {{ {0}_OK = 0, {0}_ENULL = 1 /* a pointer is null */, {0}_EALIGN = 2 /* the arena is "
      "misaligned */,\n       {0}_EBRANCH = 3 /* the inputs select a branch that arenac left out, with a "
      "warning */,\n       {0}_EVALUE = 4 /* a value is not the one that was compiled in */{1} }};\n",
      p.upper,
      p.feed
          ? fmt::format(",\n       {0}_MORE = 5 /* no error: the row is taken, the next one is wanted */,"
                        "\n       {0}_EORDER = 6 /* a row comes during the call before, or after an error */",
                        p.upper)
          : "");
  c.line(
      "/* One inference. Re-entrant: all state is in the workspace, {}.\n"
      "   Inputs, outputs and arena must not overlap. */",
      p.has_state()
          ? fmt::format("which keeps it from call to call: {0}_reset comes first,\n   and after "
                        "{1}_EBRANCH or {1}_EVALUE. Beside it the content before the call does not matter",
                        p.name, p.upper)
          : "whose content before the call does not matter");
  c.line("int {0}_run(const {0}_workspace *w, const {0}_inputs *in, const {0}_outputs *out);\n", p.name);
  if (p.feed) feed_declaration(c, p);
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
  c.line("#ifndef {}_NO_STATIC_ARENA", p.upper);
  c.line("/* The same on a static arena: not re-entrant. */");
  c.line("int {0}_invoke(const {0}_inputs *in, const {0}_outputs *out);", p.name);
  if (p.has_state()) c.line("int {}_reset_static(void);", p.name);
  if (p.options.io == Io::kArena) c.put(p.for_pools("void *{name}_static_{pool}(void);", "\n"));
  c.line("#endif\n");
  c.line("#ifndef {}_NO_TENSOR_TABLE", p.upper);
  c.line("/* What lies in the arena: [offset, offset + size) during the steps [first, last]. */");
  c.line(
      "typedef struct {{\n  const char *name, *pool;\n  size_t offset, size;\n  int first, last;\n}} "
      "{}_tensor;",
      p.name);
  c.line("#define {}_TENSOR_COUNT {}", p.upper, p.map.buffers.size());
  c.line("extern const {0}_tensor {0}_tensors[{1}];", p.name, std::max<size_t>(p.map.buffers.size(), 1));
  c.line("#endif\n");
  c.put("#ifdef __cplusplus\n}\n#endif\n#endif");
  c.put(weight_declarations(p.weights, p.schedule, p.name));
  return c.text();
}

}  // namespace arenac
