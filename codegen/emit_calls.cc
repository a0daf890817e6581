// The functions of NAME.c that the caller calls, around the steps:
//
//   kws_run                        checks, pointers, steps, states      one run
//   kws_feed -> kws_take           a row of one; kws_run feeds all      --feed
//   kws_begin, kws_step -> _part   a part of one; kws_run takes all     --step-cycles
//   kws_reset, kws_invoke, ..      states as before the first run; the same on a static arena
//
// Nothing is done before all checks have passed: a call that returns an error of theirs has changed no
// memory.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/c_program.h"

namespace arenac {
namespace {

// The pointers of the workspace that may not be null, for an `if`.
std::string null_memory(const CProgram& p) {
  return "!w" + p.for_pools(" || !w->{member}") + (p.weights_by_pointer() ? " || !w->weights" : "");
}

// Then that they are aligned, and that constants are there and of this program: read before anything is
// written.
void check_memory(CText& c, const CProgram& p) {
  c.put(p.for_pools("  if ((uintptr_t)w->{member} % {macro}_ALIGN != 0) return {upper}_EALIGN;", "\n"));
  if (p.has_load()) c.line("  if (!{}_loaded) return {}_ELOAD;", p.name, p.upper);
  if (!p.weights_by_pointer()) return;
  c.line("  if ((uintptr_t)w->weights % {0}_WEIGHTS_ALIGN != 0) return {0}_EALIGN;", p.upper);
  c.line("  if (!{}_suits((const unsigned char *)w->weights)) return {}_EWEIGHTS;", p.name, p.upper);
}

// A parameter or local that no statement uses, compilers warn of.
void unused_pools(CText& c, const CProgram& p, const CText& code) {
  for (const std::string& pool : p.pools)
    if (!code.uses("pool_" + pool)) c.line("(void)pool_{};", pool);
}

// The same of the pointer to constants, where no step reads any.
void unused_weights(CText& c, const CProgram& p, const CText& code) {
  if (p.weights_by_pointer() && !code.uses("weights")) c.put("(void)weights;");
}

// Pointers for the steps to what the workspace holds; statements follow.
// In the words that all statements of steps use: pool_arena, in, out, weights.
void pointers_from_workspace(CText& c, const CProgram& p, const CText& code) {
  if (p.options.io == Io::kExternal) c.line("  const {}_inputs *const in = &w->in;", p.name);
  if (p.takes().outputs) c.line("  const {}_outputs *const out = &w->out;", p.name);
  c.put(p.for_pools("  unsigned char *const {local} = (unsigned char *)w->{member};", "\n"));
  if (p.weights_by_pointer())
    c.put("  const unsigned char *const weights = (const unsigned char *)w->weights;");
  c.indent();
  unused_pools(c, p, code);
  unused_weights(c, p, code);
  if (p.options.io == Io::kExternal && !code.uses("in")) c.put("(void)in;");
  if (p.takes().outputs && !code.uses("out")) c.put("(void)out;");
}

// Const: a run changes what the workspace points to, and not the workspace.
std::string workspace_parameter(const CProgram& p) { return fmt::format("const {}_workspace *w", p.name); }

// The steps and then copies of the outputs that do not lie where their inputs do, into these. At the end,
// because the old state may be read until then. Byte by byte, for a state may be of any type.
CText with_states(CText c, const CProgram& p) {
  for (const State& state : p.lifetimes.states) {
    const int from = p.lifetimes.buffer_of[state.output], to = p.lifetimes.buffer_of[state.input];
    if (from == to) continue;
    c.line("for (size_t t0 = 0; t0 < {}u; ++t0) {})[t0] = {})[t0]; /* {} */",
           p.lifetimes.problem.buffers[to].size, p.bytes_at(c, to), p.bytes_at(c, from),
           c_comment(p.graph.tensors[state.input].name));
  }
  return c;
}

// The statements of a run, and its end.
void finish_run(CText& c, const CProgram& p, const CText& code) {
  c.put(code);
  c.line("return {}_OK;", p.upper);
  c.close("\n");
}

// kws_run where rows are fed: it has them all. On a workspace of its own, so that the caller's, which is
// const, keeps its place among rows.
void whole_run_of_rows(CText& c, const CProgram& p) {
  const std::string& member = p.inputs.members[p.feed->input];
  c.line("int {}_run({})\n{{\n  {}_workspace all;\n  int y;\n  int status = {}_MORE;", p.name,
         p.parameters(workspace_parameter(p)), p.name, p.upper);
  c.line("  if (!w || !in || !in->{}{}) return {}_ENULL;", member, p.takes().outputs ? " || !out" : "",
         p.upper);
  c.put(p.for_pools("  all.{member} = w->{member};", "\n"));
  if (p.weights_by_pointer()) c.put("  all.weights = w->weights;");
  if (p.takes().outputs) c.put("  all.out = *out;");
  if (p.options.io == Io::kExternal) c.put("  all.in = *in;");
  c.line(
      "  all.row = 0;\n  for (y = 0; y < {5}; ++y) all.done[y] = 0;\n  for (y = 0; y < "
      "{0} && status == {1}_MORE; ++y) status = "
      "{2}_feed(&all, in->{3} + (size_t)y * {4}u);\n  return status;\n}}\n",
      p.feed->rows, p.upper, p.name, member, p.feed->size, p.schedule.groups[p.feed->group].stages.size());
}

// What a row makes possible; kws_feed, which keeps count. `row` is -1 while a call runs: one from within it
// (from a callback, or an interrupt) is answered by EORDER, and so are all after an error, until kws_reset.
//
//   row   0 --feed--> -1 --done--> 1 --feed--> -1 --done--> 2 ... --last row--> 0      the next run
//                      |
//                      +--error--> -1 for good, until kws_reset makes it 0
void feed_functions(CText& c, const CProgram& p, const CText& steps) {
  const CText code = with_states(steps, p);
  const std::string type = p.fed_type();
  c.line("static int {0}_take({0}_workspace *w, int y, const {1} *fed)\n{{", p.name, type);
  pointers_from_workspace(c, p, code);
  finish_run(c, p, code);

  c.line("int {0}_feed({0}_workspace *w, const {1} *row)\n{{\n  int y;\n  int status = {2}_OK;", p.name, type,
         p.upper);
  c.line("  if ({} || !row{}) return {}_ENULL;", null_memory(p), p.null_members("w->in.", "w->out."),
         p.upper);
  check_memory(c, p);
  c.line("  if (w->row < 0 || w->row >= {}) return {}_EORDER;", p.feed->rows, p.upper);
  c.put("  y = w->row;\n  w->row = -1;");
  c.line("  {}status = {}_take(w, y, row);",
         p.feed->needed < p.feed->rows ? fmt::format("if (y < {}) ", p.feed->needed) : "", p.name);
  c.line("  if (status != {0}_OK && status != {0}_MORE) return status;", p.upper);
  c.line("  w->row = y + 1 < {} ? y + 1 : 0;", p.feed->rows);
  c.line("  return w->row > 0 ? {0}_MORE : {0}_OK;\n}}\n", p.upper);

  whole_run_of_rows(c, p);
}

// The structs are copied into the workspace: the caller's need not outlive the call, what they point to must.
void begin_function(CText& c, const CProgram& p) {
  c.line("int {}_begin({})\n{{", p.name, p.parameters(fmt::format("{}_workspace *w", p.name)));
  std::string null = null_memory(p);
  if (p.takes().inputs && !p.inputs.ids.empty()) null += " || !in";
  if (p.takes().outputs && !p.outputs.ids.empty()) null += " || !out";
  c.line("  if ({}{}) return {}_ENULL;", null, p.null_members("in->", "out->"), p.upper);
  check_memory(c, p);
  if (p.takes().inputs) c.put(p.inputs.ids.empty() ? "  (void)in;" : "  w->in = *in;");
  if (p.takes().outputs) c.put(p.outputs.ids.empty() ? "  (void)out;" : "  w->out = *out;");
  c.line("  w->at = 0;\n  w->turn = 0;\n  return {}_OK;\n}}\n", p.upper);
}

// A run in parts: the next of them, and all. `at` is -1 while a part runs, as `row` of kws_feed. States are
// copied behind the last part.
void part_functions(CText& c, const CProgram& p, const CText& cases) {
  // Apart from the cases, for they belong to the last of them alone.
  const CText states = with_states(CText(), p);
  CText code;
  code.put(cases);
  code.put(states);
  c.line("static int {0}_part({0}_workspace *w, int at)\n{{", p.name);
  pointers_from_workspace(c, p, code);
  c.open("switch (at)");
  c.put(cases);
  c.put("default:");
  c.put("  break;");
  c.close();
  if (!states.text().empty()) {
    c.open("if (at == {})", p.parts - 1);
    c.put(states);
    c.close();
  }
  c.line("return {}_OK;", p.upper);
  c.close("\n");
  begin_function(c, p);
  c.line(
      "int {0}_step({0}_workspace *w)\n{{\n  int at;\n  int status;\n  if (!w) return {1}_ENULL;\n  at = "
      "w->at;\n"
      "  if (at < 0 || at >= {2}) return {1}_EORDER;\n  w->at = -1;\n  status = {0}_part(w, at);\n"
      "  if (status != {1}_OK && status != {1}_MORE) return status;\n"
      "  if (status == {1}_OK) ++at;\n  if (at >= {2}) return {1}_OK;\n"
      "  w->at = at;\n  return {1}_MORE;\n}}\n",
      p.name, p.upper, p.parts);
  c.line("int {0}_run({1})\n{{\n  {0}_workspace all;\n  int status;\n  if (!w) return {2}_ENULL;", p.name,
         p.parameters(workspace_parameter(p)), p.upper);
  c.put(p.for_pools("  all.{member} = w->{member};", "\n"));
  if (p.weights_by_pointer()) c.put("  all.weights = w->weights;");
  c.line(
      "  status = {0}_begin({1});\n  if (status != {2}_OK) return status;\n"
      "  do {{\n    status = {0}_step(&all);\n  }} while (status == {2}_MORE);\n  return status;\n}}\n",
      p.name, p.arguments("&all"), p.upper);
}

}  // namespace

// Pointers are taken behind the checks: nothing that `w` points to is read before it is known not to be null.
void run_function(CText& c, const CProgram& p, const CText& steps) {
  if (p.feed) return feed_functions(c, p, steps);
  if (p.parts > 0) return part_functions(c, p, steps);
  c.line("int {}_run({})\n{{", p.name, p.parameters(workspace_parameter(p)));
  const CText code = with_states(steps, p);
  c.put(p.for_pools("  unsigned char *{local};", "\n"));
  if (p.weights_by_pointer()) c.put("  const unsigned char *weights;");
  std::string null = null_memory(p);
  const bool external = p.options.io == Io::kExternal;
  const bool names_in = external && !p.inputs.ids.empty();
  const bool names_out = (external && !p.outputs.ids.empty()) || p.emits();
  if (names_in) null += " || !in";
  if (names_out) null += " || !out";
  null += p.null_members("in->", "out->");
  c.line("  if ({}) return {}_ENULL;", null, p.upper);
  check_memory(c, p);
  c.put(p.for_pools("  {local} = (unsigned char *)w->{member};", "\n"));
  if (p.weights_by_pointer()) c.put("  weights = (const unsigned char *)w->weights;");
  c.indent();
  unused_pools(c, p, code);
  unused_weights(c, p, code);
  if (p.takes().inputs && !names_in && !code.uses("in")) c.put("(void)in;");
  if (p.takes().outputs && !names_out && !code.uses("out")) c.put("(void)out;");
  finish_run(c, p, code);
}

// Every byte of a state to its initial value: 0, or the zero point of a quantised one.
void reset_function(CText& c, const CProgram& p) {
  c.line("int {0}_reset({1}{0}_workspace *w)\n{{", p.name, p.feed ? "" : "const ");
  c.put(p.for_pools("  unsigned char *{local};", "\n"));
  c.line("  if (!w{}) return {}_ENULL;", p.for_pools(" || !w->{member}"), p.upper);
  c.put(p.for_pools("  {local} = (unsigned char *)w->{member};", "\n"));
  CText states;
  for (const State& state : p.lifetimes.states)
    if (const int b = p.lifetimes.buffer_of[state.input]; b >= 0)
      states.line("for (size_t t0 = 0; t0 < {}u; ++t0) {})[t0] = {};", p.lifetimes.problem.buffers[b].size,
                  p.bytes_at(states, b), state.initial);
  c.indent();
  unused_pools(c, p, states);
  if (p.feed) c.put("w->row = 0;");
  finish_run(c, p, states);
}

// Arrays of this program's own, or, of several models together, what their common file has.
void static_arena(CText& c, const CProgram& p) {
  c.line("#ifndef {}_NO_STATIC_ARENA", p.upper);
  if (p.options.memory_of.empty()) {
    c.put(p.for_pools("{array}", "\n"));
    c.put(aligned_function(p.name));
    c.put(p.for_pools("void *{name}_static_{pool}(void)\n{{\n  return {aligned};\n}}", "\n"));
  } else {
    c.line("/* Of {}.c, for several models. */", p.options.memory_of);
    c.put(p.for_pools("void *{memory}_static_{pool}(void);", "\n"));
    c.put(p.for_pools("void *{name}_static_{pool}(void)\n{{\n  return {memory}_static_{pool}();\n}}", "\n"));
  }
  c.line("int {0}_invoke({1})\n{{\n  {0}_workspace w;\n{2}  return {0}_run({3});\n}}", p.name,
         p.parameters(p.weights_by_pointer() ? "const void *weights" : ""),
         p.for_pools("  w.{member} = {name}_static_{pool}();\n") +
             (p.weights_by_pointer() ? "  w.weights = weights;\n" : "") +
             (p.has_load() ? fmt::format("  if (!{0}_loaded) {0}_load();\n", p.name) : ""),
         p.arguments("&w"));
  if (p.has_state())
    c.line("int {0}_reset_static(void)\n{{\n  {0}_workspace w;\n{1}  return {0}_reset(&w);\n}}", p.name,
           p.for_pools("  w.{member} = {name}_static_{pool}();\n"));
  c.line("#endif\n");
}

// Left out unless asked for: names of nodes take flash.
void step_table(CText& c, const CProgram& p) {
  c.line("#ifdef {0}_STEP_TABLE\nconst {1}_step_info {1}_steps[{2}] = {{", p.upper, p.name,
         std::max<size_t>(p.map.steps.size(), 1));
  for (const MapStep& step : p.map.steps)
    c.line("  {{{}, {}, UINT64_C({}), UINT64_C({})}},", c_string(step.node), c_string(step.op), step.macs,
           step.cycles);
  if (p.map.steps.empty()) c.put("  {0, 0, 0u, 0u}");
  c.put("};\n#endif\n");
}

// A dummy row where there are no buffers: C has no empty arrays.
void tensor_table(CText& c, const CProgram& p) {
  c.line("#ifndef {}_NO_TENSOR_TABLE", p.upper);
  c.line("const {0}_tensor {0}_tensors[{1}] = {{", p.name, std::max<size_t>(p.map.buffers.size(), 1));
  for (const MapBuffer& b : p.map.buffers)
    c.line("  {{{}, {}, {}u, {}u, {}, {}}},", c_string(b.name), c_string(b.pool), b.offset, b.size, b.begin,
           b.end - 1);
  if (p.map.buffers.empty()) c.put("  {0, 0, 0u, 0u, 0, 0}");
  c.put("};\n#endif\n");
}

}  // namespace arenac
