#include "codegen/emit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <limits>
#include <set>

#include "codegen/c_formula.h"
#include "codegen/c_kernel.h"
#include "codegen/c_ramp.h"
#include "codegen/c_text.h"
#include "codegen/lowered.h"
#include "codegen/shared_kernels.h"
#include "codegen/weights.h"
#include "frontend/error.h"
#include "frontend/kernels.h"
#include "scheduler/groups.h"

namespace arenac {
namespace {

std::vector<std::string> pool_identifiers(const std::vector<Pool>& pools) {
  std::vector<std::string> names;
  for (const Pool& pool : pools) names.push_back(pool.name);
  return distinct_identifiers(names);
}

constexpr size_t kLongLine = 90;           // without its indentation
constexpr size_t kLongestIdentifier = 63;  // that C99 tells apart

class Emitter {
 public:
  Emitter(const Lowered& lowered, const MemoryMap& map, const EmitOptions& options)
      : lowered_(lowered),
        schedule_(lowered.schedule),
        graph_(*schedule_.graph),
        lifetimes_(lowered.lifetimes),
        plan_(lowered.plan),
        map_(map),
        options_(options),
        name_(options.name),
        upper_(upper_case(options.name)),
        pools_(pool_identifiers(lifetimes_.problem.pools)),
        pool_macros_(pool_macros(lifetimes_.problem.pools)),
        weights_(collect_weights(schedule_, options)) {
    inputs_ = of_caller(graph_.inputs, graph_.input_names);
    outputs_ = of_caller(graph_.outputs, graph_.output_names);
    find_feed();
    for (size_t id = 0; id < graph_.tensors.size(); ++id)
      if (span_of(schedule_.layouts[id], graph_.tensors[id].shape) > std::numeric_limits<int>::max())
        throw UserError(fmt::format("{}: tensor '{}' {} has more elements than C's int counts", graph_.name,
                                    c_comment(graph_.tensors[id].name), to_string(graph_.tensors[id].shape)));
  }

  std::vector<File> run() {
    if (options_.code == Code::kSmall) shared_ = shared_kernels(lowered_.steps, name_, helpers_);
    const CText steps = this->steps();  // first: it finds the kernels and helpers
    std::vector<File> files = {{name_ + ".h", with_short_lines(header())},
                               {name_ + ".c", with_short_lines(source(steps))}};
    for (File& file : weight_files(weights_, schedule_, name_)) files.push_back(std::move(file));
    files.push_back({name_ + "_map.json", to_json(map_)});
    files.push_back({name_ + ".cmake", cmake(files)});
    return files;
  }

 private:
  // What the caller passes or takes: the model's inputs or outputs without the states.
  struct CallerTensors {
    std::vector<TensorId> ids;
    std::vector<std::string> names, members, macros;  // of the model; of the struct; KWS_INPUT_ before it
  };

  CallerTensors of_caller(const std::vector<TensorId>& ids, const std::vector<std::string>& names) const {
    CallerTensors all;
    for (size_t k : arenac::of_caller(lifetimes_, ids)) {
      all.ids.push_back(ids[k]);
      all.names.push_back(names[k]);
    }
    const std::vector<std::string> distinct = distinct_identifiers(all.names);
    for (const std::string& id : distinct) all.members.push_back(c_member(id));
    all.macros = distinct_capitals(distinct);
    return all;
  }

  // ---- rows of the caller's

  // An input that comes row by row.
  struct Feed {
    size_t input;                // of inputs_
    size_t group, stage;         // that copies the rows
    int64_t rows, needed, size;  // there are; the run ends after; elements of one
  };

  void find_feed() {
    for (size_t g = 0; g < schedule_.groups.size(); ++g)
      for (size_t k = 0; k < schedule_.groups[g].stages.size(); ++k) {
        const Stage& stage = schedule_.groups[g].stages[k];
        const TensorId id = fed_to(*schedule_.steps[static_cast<size_t>(stage.step)].node, graph_);
        if (id < 0) continue;
        int64_t needed = 0;
        for (const SlabRun& run : runs_of(schedule_.groups[g]))
          needed += static_cast<size_t>(run.stage) == k ? 1 : 0;
        const auto at = std::ranges::find(inputs_.ids, id);
        if (at == inputs_.ids.end())
          throw UserError(fmt::format("--feed {}: it is the input of a state", graph_.tensors[id].name));
        feed_ = {static_cast<size_t>(at - inputs_.ids.begin()),
                 g,
                 k,
                 stage.slabs,
                 needed,
                 schedule_.layouts[id].ring.row};
      }
  }

  bool is_fed(size_t group) const { return feed_ && feed_->group == group; }
  bool by_rows(TensorId id) const { return graph_.by_rows.contains(id); }
  std::string fed_type() const { return info(graph_.tensors[inputs_.ids[feed_->input]].type).c_name; }
  // The output whose rows a step hands over; the number of outputs: none's.
  size_t emitted_by(int step) const {
    const TensorId id = arenac::emitted_by(*schedule_.steps[static_cast<size_t>(step)].node, graph_);
    return static_cast<size_t>(std::ranges::find(outputs_.ids, id) - outputs_.ids.begin());
  }
  // "_run(..." or "_feed(...": what of the caller's may not be null, after "!w".
  std::string null_members(const std::string& in, const std::string& out) const {
    std::string null;
    for (size_t k = 0; k < inputs_.ids.size(); ++k)
      if (options_.io == Io::kExternal && !by_rows(inputs_.ids[k]))
        null += fmt::format(" || !{}{}", in, inputs_.members[k]);
    for (size_t k = 0; k < outputs_.ids.size(); ++k)
      if (by_rows(outputs_.ids[k]))
        null += fmt::format(" || !{}{}.row", out, outputs_.members[k]);
      else if (options_.io == Io::kExternal)
        null += fmt::format(" || !{}{}", out, outputs_.members[k]);
    return null;
  }
  bool emits() const {
    return std::ranges::any_of(outputs_.ids, [&](TensorId id) { return by_rows(id); });
  }

  // What kws_feed needs from call to call.
  std::string feed_members() const {
    if (!feed_) return "";
    return fmt::format(
        "\n  {0}_inputs in; /* what {0}_feed reads beside the rows */\n  {0}_outputs out; /* and where it "
        "writes */\n  int row; /* that {0}_feed takes next; 0: it begins; -1: it failed */\n"
        "  int done[{1}]; /* its own */",
        name_, schedule_.groups[feed_->group].stages.size());
  }

  void feed_declaration(CText& c) const {
    const Tensor& t = graph_.tensors[inputs_.ids[feed_->input]];
    c.line(
        "/* Takes the next of the {1} rows of {0}: {2} elements, row-major, which it does not need "
        "afterwards.\n"
        "   Returns {3}_MORE until the last row, then {3}_OK: the outputs are there, and the next row "
        "begins\n"
        "   another run. Row and done of the workspace begin as zeros; nothing else may use its memory "
        "between\n"
        "   the rows of a run. After an error, and to begin anew: {4}_reset. */\n"
        "int {4}_feed({4}_workspace *w, const {5} *row);\n",
        c_comment(inputs_.names[feed_->input]), feed_->rows, feed_->size, upper_, name_, info(t.type).c_name);
  }

  // ---- pools

  const std::string& pool_of(int buffer) const {
    return lifetimes_.problem.pools[plan_.placements[buffer].pool].name;
  }

  // "(pool_sram + KWS_AT_3": a number, for names of buffers may be anything and of any length.
  std::string bytes_at(CText& c, int buffer) const {
    const std::string pool = "pool_" + pools_[plan_.placements[buffer].pool];
    c.use(pool);
    return fmt::format("({} + {}", pool, offset_name(name_, buffer));
  }

  std::string section_of(size_t pool) const {
    const bool has = pool < options_.sections.size() && !options_.sections[pool].empty();
    return has ? fmt::format(" {}_SECTION({})", upper_, c_string(options_.sections[pool])) : "";
  }

  // The text for each pool, e.g. "{macro}_SIZE" is KWS_SRAM_SIZE, "{local}" pool_sram and "{member}" that of
  // the workspace.
  std::string for_pools(const char* form, const char* between = "") const {
    std::string text;
    for (size_t k = 0; k < plan_.pools.size(); ++k) {
      const Pool& pool = lifetimes_.problem.pools[k];
      text += k > 0 ? between : "";
      text += fmt::format(fmt::runtime(form), fmt::arg("pool", pools_[k]), fmt::arg("name", name_),
                          fmt::arg("local", "pool_" + pools_[k]), fmt::arg("member", c_member(pools_[k])),
                          fmt::arg("macro", upper_ + "_" + pool_macros_[k]), fmt::arg("upper", upper_),
                          fmt::arg("aligned", fmt::format("{0}_aligned({0}_pool_{1}.bytes, {2}_{3}_ALIGN)",
                                                          name_, pools_[k], upper_, pool_macros_[k])),
                          fmt::arg("size", std::max<int64_t>(plan_.pools[k].size, 1)),
                          fmt::arg("align", pool.align), fmt::arg("section", section_of(k)));
    }
    return text;
  }

  // ---- the header

  std::string io_comment(TensorId id, const std::string& model_name) const {
    const Tensor& t = graph_.tensors[id];
    const auto rows = graph_.by_rows.find(id);
    const std::string order =
        rows == graph_.by_rows.end() ? "row-major" : fmt::format("by rows of dimension {}", rows->second);
    return fmt::format("/* {} {}, {}: {} */", info(t.type).name, to_string(t.shape), order,
                       c_comment(model_name));
  }

  void io_macros(CText& c, const char* kind, const CallerTensors& of) const {
    for (size_t k = 0; k < of.ids.size(); ++k) {
      const Tensor& t = graph_.tensors[of.ids[k]];
      std::string macro = fmt::format("{}_{}_{}", upper_, kind, of.macros[k]);
      if (macro.size() + std::string_view("_OFFSET").size() > kLongestIdentifier)
        macro = fmt::format("{}_{}_{}", upper_, kind, k);
      c.line("#define {}_COUNT {}u", macro, element_count(t.shape));
      c.line("#define {}_RANK {}", macro, t.shape.size());
      for (size_t d = 0; d < t.shape.size(); ++d) c.line("#define {}_DIM{} {}", macro, d, t.shape[d]);
      if (by_rows(of.ids[k])) {
        const int64_t row = schedule_.layouts[of.ids[k]].ring.row;
        c.line("#define {}_ROWS {}u", macro, element_count(t.shape) / row);
        c.line("#define {}_ROW_COUNT {}u", macro, row);
      } else if (const int b = lifetimes_.buffer_of[of.ids[k]]; b >= 0)
        c.line("#define {}_OFFSET {}u /* in the {} */", macro, plan_.placements[b].offset, pool_of(b));
    }
  }

  void io_struct(CText& c, const char* kind, const char* qualifier, const CallerTensors& of) const {
    c.open("typedef struct");
    for (size_t k = 0; k < of.ids.size(); ++k)
      if (const char* type = info(graph_.tensors[of.ids[k]].type).c_name;
          &of == &outputs_ && by_rows(of.ids[k]))
        c.line(
            "struct {{\n  void (*row)(void *user, size_t y, const {} *data); /* takes row y of these, which "
            "come in turn */\n  void *user;\n}} {}; {}",
            type, of.members[k], io_comment(of.ids[k], of.names[k]));
      else
        c.line("{}{} *{}; {}", qualifier, type, of.members[k], io_comment(of.ids[k], of.names[k]));
    if (of.ids.empty()) c.line("const void *unused;");
    c.close(fmt::format(" {}_{};", name_, kind));
  }

  std::string header() const {
    CText c;
    c.line("/* {} compiled by arenac {}. Do not edit. */", c_comment(graph_.name), options_.version);
    if (!map_.options.empty()) c.line("/* Options: {} */", c_comment(map_.options));
    c.line("#ifndef {0}_H\n#define {0}_H\n\n#include <stddef.h>\n#include <stdint.h>\n", upper_);
    c.put("#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    c.put(for_pools("#define {macro}_SIZE {size}u /* bytes */\n#define {macro}_ALIGN {align}u", "\n"));
    c.line("#define {}_WEIGHTS_SIZE {}u /* bytes of constants */", upper_, map_.totals.weights);
    if (map_.totals.stack > 0)
      c.line("#define {}_STACK_BYTES {}u /* at most, beside functions of the C library */", upper_,
             map_.totals.stack);
    c.line("#define {}_MODEL_SHA256 \"{}\"\n", upper_, map_.sha256);
    if (const std::string text = text_type(graph_); !text.empty()) c.put(text);
    io_macros(c, "INPUT", inputs_);
    io_macros(c, "OUTPUT", outputs_);
    c.put("");
    if (options_.io == Io::kArena)
      c.line(
          "/* Inputs and outputs lie in the arena at their _OFFSET; {}_run ignores both structs, which may "
          "be null{}. */",
          name_, graph_.by_rows.empty() ? "" : ", but for what comes and goes by rows");
    c.put(
        "/* Members are called as the model calls its inputs and outputs: other characters are '_', and '_' "
        "follows a\n   name that is a word of C or C++ or could be a macro (int_, NAN_, X1_). */");
    io_struct(c, "inputs", "const ", inputs_);
    io_struct(c, "outputs", "", outputs_);
    c.line("typedef struct {{{}{}\n}} {}_workspace;\n",
           for_pools("\n  void *{member}; /* {macro}_SIZE bytes, aligned to {macro}_ALIGN */"),
           feed_members(), name_);
    c.line(
        "enum {{ {0}_OK = 0, {0}_ENULL = 1 /* a pointer is null */, {0}_EALIGN = 2 /* the arena is "
        "misaligned */,\n       {0}_EBRANCH = 3 /* the inputs select a branch that arenac left out, with a "
        "warning */,\n       {0}_EVALUE = 4 /* a value is not the one that was compiled in */{1} }};\n",
        upper_,
        feed_ ? fmt::format(
                    ",\n       {0}_MORE = 5 /* no error: the row is taken, the next one is wanted */,"
                    "\n       {0}_EORDER = 6 /* a row comes during the call before, or after an error */",
                    upper_)
              : "");
    c.line(
        "/* One inference. Re-entrant: all state is in the workspace, {}.\n"
        "   Inputs, outputs and arena must not overlap. */",
        has_state()
            ? fmt::format("which keeps it from call to call: {0}_reset comes first,\n   and after "
                          "{1}_EBRANCH or {1}_EVALUE. Beside it the content before the call does not matter",
                          name_, upper_)
            : "whose content before the call does not matter");
    c.line("int {0}_run(const {0}_workspace *w, const {0}_inputs *in, const {0}_outputs *out);\n", name_);
    if (feed_) feed_declaration(c);
    if (has_reset())
      c.line(
          "/* {2}. 0 or {1}_ENULL. */\n"
          "int {0}_reset({3}{0}_workspace *w);\n",
          name_, upper_,
          !has_state() ? "The next row is the first"
          : begins_as_zeros()
              ? "The state as before the first call: zeros"
              : "The state as before the first call: not all zeros: call this before the first run",
          feed_ ? "" : "const ");
    c.line("#ifndef {}_NO_STATIC_ARENA", upper_);
    c.line("/* The same on a static arena: not re-entrant. */");
    c.line("int {0}_invoke(const {0}_inputs *in, const {0}_outputs *out);", name_);
    if (has_state()) c.line("int {}_reset_static(void);", name_);
    if (options_.io == Io::kArena) c.put(for_pools("void *{name}_static_{pool}(void);", "\n"));
    c.line("#endif\n");
    c.line("#ifndef {}_NO_TENSOR_TABLE", upper_);
    c.line("/* What lies in the arena: [offset, offset + size) during the steps [first, last]. */");
    c.line(
        "typedef struct {{\n  const char *name;\n  const char *pool;\n  size_t offset;\n  size_t size;\n  "
        "int first;\n  "
        "int last;\n}} "
        "{}_tensor;",
        name_);
    c.line("#define {}_TENSOR_COUNT {}", upper_, map_.buffers.size());
    c.line("extern const {0}_tensor {0}_tensors[{1}];", name_, std::max<size_t>(map_.buffers.size(), 1));
    c.line("#endif\n");
    c.put("#ifdef __cplusplus\n}\n#endif\n#endif");
    c.put(weight_declarations(weights_, schedule_, name_));
    return c.text();
  }

  // ---- pointers

  // Where a tensor's elements are, in the words of the code that c is.
  std::string pointer(CText& c, TensorId id) const {
    const Tensor& t = graph_.tensors[id];
    if (t.constant)
      return t.constant->count() ? weight_pointer(weights_, id, schedule_, name_)
                                 : fmt::format("(const {} *)0", info(t.type).c_name);
    const Layout& layout = schedule_.layouts[id];
    const int64_t offset = layout.ring.kept > 0 ? 0 : layout.offset;  // a ring's addresses hold it
    const std::string shift = offset ? fmt::format(" + {}", offset) : "";
    const int b = lifetimes_.buffer_of[id];
    if (b >= 0) {
      const std::string bytes = offset ? fmt::format(" + {}", offset * size_of(t.type)) : "";
      return fmt::format("({} *)(void *){}{})", info(t.type).c_name, bytes_at(c, b), bytes);
    }
    if (feed_ && layout.root == inputs_.ids[feed_->input]) return c.use("fed"), "fed";
    for (size_t k = 0; k < inputs_.ids.size(); ++k)
      if (inputs_.ids[k] == layout.root)
        return c.use("in"), fmt::format("in->{}{}", inputs_.members[k], shift);
    for (size_t k = 0; k < outputs_.ids.size(); ++k)
      if (outputs_.ids[k] == layout.root) return c.use("out"), typed_output(id, k, shift);
    return fmt::format("({} *)0", info(t.type).c_name);  // a tensor without elements
  }

  // Storage of another type of the same size may lie in an output's memory.
  std::string typed_output(TensorId id, size_t k, const std::string& shift) const {
    const Type type = graph_.tensors[id].type;
    const std::string& name = outputs_.members[k];
    if (type == graph_.tensors[outputs_.ids[k]].type) return fmt::format("out->{}{}", name, shift);
    return fmt::format("({} *)(void *)out->{}{}", info(type).c_name, name, shift);
  }

  // ---- steps

  CText steps() {
    CText c;
    c.put("");
    size_t groups = 0;
    if (feed_)
      c.open("if (y == 0)"), c.line("for (int k = 0; k < {}; ++k) w->done[k] = 0;",
                                    schedule_.groups[feed_->group].stages.size());
    for (size_t s = 0; s < schedule_.steps.size(); ++s) {
      if (groups < schedule_.groups.size() && static_cast<int>(s) == schedule_.groups[groups].begin) {
        if (is_fed(groups)) c.close();
        run_group(c, groups);
        s = static_cast<size_t>(schedule_.groups[groups++].end) - 1;
        continue;
      }
      const Step& step = schedule_.steps[s];
      switch (step.kind) {
        case StepKind::kRun:
          run_step(c, s);
          break;
        case StepKind::kIf:
          c.open("if (*{})", pointer(c, step.node->reads[0]));
          break;
        case StepKind::kElse:
          c.close(" else {");
          c.indent();
          break;
        case StepKind::kLoop:
          open_loop(c, std::get<Loop>(step.node->body));
          break;
        case StepKind::kEndIf:
        case StepKind::kEndLoop:
          c.close();
          break;
      }
    }
    return c;
  }

  void open_loop(CText& c, const Loop& loop) const {
    std::string more;
    if (loop.count) more += fmt::format(" && t{} < *{}", loop.symbol, pointer(c, *loop.count));
    if (loop.condition) more += fmt::format(" && *{}", pointer(c, *loop.condition));
    c.open("for (int t{0} = 0; t{0} < {1}{2}; ++t{0})", loop.symbol,
           std::min<int64_t>(loop.trips, std::numeric_limits<int>::max()), more);
  }

  void run_step(CText& c, size_t s) {
    const Node& node = *schedule_.steps[s].node;
    if (const Call* call = std::get_if<Call>(&node.body)) return call_kernel(c, s, node, *call);
    if (const Refusal* refusal = std::get_if<Refusal>(&node.body))
      return c.line("return {}_{}; /* {}: {} */", upper_,
                    refusal->cause == Refusal::Cause::kBranch ? "EBRANCH" : "EVALUE", s,
                    c_comment(refusal->reason));
    run_nests(c, s);
  }

  void run_nests(CText& c, size_t s) {
    for (const LoweredNest& nest : lowered_.steps[s]) {
      if (nest.slabs) c.use("t0"), c.open("if ({} <= t0 && t0 < {})", nest.slabs->begin, nest.slabs->end);
      if (nest.first_chunk_only) c.use("t1"), c.open("if (t1 == 0)");
      call_nest(c, s, nest);
      if (nest.first_chunk_only) c.close();
      if (nest.slabs) c.close();
    }
  }

  // ---- groups

  // What the function of a stage that others see through a window takes.
  struct ChunkArguments {
    bool group, slab, chunk;
  };

  // What the stages of a group share: pointers and, per stage, the slabs done. Then each as a function that
  // first pulls what it reads.
  void run_group(CText& c, size_t number) {
    const Group& group = schedule_.groups[number];
    CText f;
    f.put("");
    f.line("/* Steps {} to {}, row by row: each stage first runs those it reads, as far as it needs them. */",
           group.begin, group.end - 1);
    f.line("typedef struct {{\n  const {0}_inputs *in;\n  const {0}_outputs *out;\n{1}", name_,
           for_pools("  unsigned char *{local};", "\n"));
    const bool fed = is_fed(number);
    if (fed)
      f.line(
          "  const {} *fed; /* a row, until it is taken */\n  int *done; /* slabs, per stage */\n}} "
          "{}_group_{};",
          fed_type(), name_, number);
    else
      f.line("  int done[{}]; /* slabs, per stage */\n}} {}_group_{};", group.stages.size(), name_, number);
    for (size_t k = 0; k < group.stages.size(); ++k)
      if (group.stages[k].seen_through_window())
        chunk_function(f, number, k);
      else if (group.stages[k].host < 0)
        stage_function(f, number, k);
    kernel_text_ += f.text();

    c.put("{");
    c.indent();
    c.line("{}_group_{} g = {{in, out{}, {}}};", name_, number, for_pools(", {local}"),
           fed ? "fed, w->done" : "{0}");
    for (const char* caller : {"in", "out"}) c.use(caller);
    for (const std::string& pool : pools_) c.use("pool_" + pool);
    const auto call = [&](int stage, const std::string& last) {
      const std::string text = fmt::format("{}_step_{}(&g, {})", name_, group.stages[stage].step, last);
      c.put(fed ? fmt::format("if (!{}) return {}_MORE;", text, upper_) : text + ";");
    };
    const int64_t turns = turns_of(group);
    if (group.sinks.size() > 1) {
      c.open("for (int turn = 1; turn <= {}; ++turn)", turns);
      for (int sink : group.sinks) {
        const int64_t slabs = group.stages[sink].slabs;
        call(sink,
             slabs == turns ? "turn - 1" : fmt::format("(int)((int64_t)turn * {} / {} - 1)", slabs, turns));
      }
      c.close();
    } else {
      call(group.sinks[0], fmt::format("{}", turns - 1));
    }
    for (int stage : group.completed) call(stage, fmt::format("{}", group.stages[stage].slabs - 1));
    c.close();
  }

  // What one chunk of a stage runs: guests first, those seen through windows by functions of their own.
  void run_chunk(CText& c, const Group& group, size_t k) {
    for (const Stage& guest : group.stages) {
      if (guest.host != static_cast<int>(k)) continue;
      if (guest.seen_through_window())
        run_window(c, guest);
      else
        run_nests(c, static_cast<size_t>(guest.step));
    }
    run_nests(c, static_cast<size_t>(group.stages[k].step));
  }

  void run_window(CText& c, const Stage& guest) {
    int loops = 0;
    // Opens a loop where there is more than one number; returns what they are called.
    const auto numbers = [&](const char* variable, const char* index, const std::vector<Interval>& at) {
      const auto ramp = [&](int64_t Interval::*end, const char* word) {
        std::vector<int64_t> values;
        for (const Interval& part : at) values.push_back(part.*end);
        CRamp found = c_ramp(values, index, fmt::format("{}_{}_{}_{}", name_, variable, word, guest.step));
        if (!found.declaration.empty()) kernel_text_ += "\n" + found.declaration + "\n";
        return found;
      };
      const CRamp from = ramp(&Interval::begin, "from");
      if (std::all_of(at.begin(), at.end(), [](const Interval& part) { return part.end == part.begin + 1; }))
        return from;
      const CRamp to = ramp(&Interval::end, "to");
      if (from.names_index || to.names_index) c.use(index);
      c.line("const int {}_end_{} = {};", variable, guest.step, to.expression);
      c.open("for (int {0} = {1}; {0} < {0}_end_{2}; ++{0})", variable, from.expression, guest.step);
      ++loops;
      return CRamp{"", variable, false};
    };
    const CRamp slab = numbers("slab", "t0", guest.slabs_at), chunk = numbers("chunk", "t1", guest.chunks_at);
    const ChunkArguments& takes = chunk_arguments_.at(guest.step);
    std::vector<std::string> arguments;
    if (takes.group) arguments.push_back("g"), c.use("g");
    if (takes.slab) arguments.push_back(slab.expression);
    if (takes.slab && slab.names_index) c.use("t0");
    if (takes.chunk) arguments.push_back(chunk.expression);
    if (takes.chunk && chunk.names_index) c.use("t1");
    c.line("{}_step_{}({});", name_, guest.step, fmt::join(arguments, ", "));
    while (loops-- > 0) c.close();
  }

  // What a stage's function needs of the group's.
  CText shared_pointers(const CText& body) const {
    CText f;
    for (const std::string& pool : pools_)
      if (body.uses("pool_" + pool)) f.line("unsigned char *const pool_{0} = g->pool_{0};", pool);
    if (body.uses("in")) f.line("const {}_inputs *const in = g->in;", name_);
    if (body.uses("fed")) f.line("const {} *const fed = g->fed;", fed_type());
    if (body.uses("out")) f.line("const {}_outputs *const out = g->out;", name_);
    return f;
  }

  // One chunk of a stage that others see through a window.
  void chunk_function(CText& f, size_t number, size_t k) {
    const Group& group = schedule_.groups[number];
    CText body;
    run_chunk(body, group, k);
    f.put("");
    const CText pointers = shared_pointers(body);
    std::vector<std::string> parameters;
    ChunkArguments& takes = chunk_arguments_[group.stages[k].step];
    takes = {!pointers.text().empty() || body.uses("g"), body.uses("t0"), body.uses("t1")};
    if (takes.group) parameters.push_back(fmt::format("{}_group_{} *g", name_, number));
    if (takes.slab) parameters.push_back("int t0");
    if (takes.chunk) parameters.push_back("int t1");
    f.open("static void {}_step_{}({})", name_, group.stages[k].step,
           parameters.empty() ? "void" : fmt::format("{}", fmt::join(parameters, ", ")));
    f.put(pointers);
    f.put(body);
    f.close();
  }

  void stage_function(CText& f, size_t number, size_t k) {
    const Group& group = schedule_.groups[number];
    const Stage& stage = group.stages[k];
    CText body;
    if (stage.chunks > 1) body.open("for (int t1 = 0; t1 < {}; ++t1)", stage.chunks);
    run_chunk(body, group, k);
    if (stage.chunks > 1) body.close();
    const bool fed = is_fed(number), takes = fed && k == feed_->stage;
    if (const size_t o = emitted_by(stage.step); o < outputs_.ids.size()) {
      body.line("out->{0}.row(out->{0}.user, (size_t)t0, {1});", outputs_.members[o],
                pointer(body, outputs_.ids[o]));
      body.use("out"), body.use("t0");
    }
    if (takes) body.put("g->fed = 0;");
    f.put("");
    if (fed) f.put("/* Returns 0 where it wants a row that is not there. */");
    f.open("static {3} {0}_step_{2}({0}_group_{1} *g, int last)", name_, number, stage.step,
           fed ? "int" : "void");
    f.put(shared_pointers(body));
    std::vector<CRamp> ramps;
    for (const Pull& pull : stage.pulls) {
      ramps.push_back(c_ramp(pull.upto, "t0", fmt::format("upto{}", ramps.size())));
      if (!ramps.back().declaration.empty()) f.put(ramps.back().declaration);
    }
    f.open("for (; g->done[{0}] <= last; ++g->done[{0}])", k);
    if (takes) f.put("if (!g->fed) return 0;");
    if (body.uses("t0") || std::ranges::any_of(ramps, &CRamp::names_index))
      f.line("const int t0 = g->done[{}];", k);
    for (size_t p = 0; p < ramps.size(); ++p) {
      const std::string call = fmt::format("{}_step_{}(g, {})", name_,
                                           group.stages[stage.pulls[p].producer].step, ramps[p].expression);
      f.put(fed ? fmt::format("if (!{}) return 0;", call) : call + ";");
    }
    f.put(body);
    f.close();
    if (fed) f.put("return 1;");
    f.close();
  }

  void call_nest(CText& c, size_t s, const LoweredNest& nest) {
    const Node& node = *schedule_.steps[s].node;
    const CKernel kernel = c_kernel(nest.kernel, nest.operands, name_, helpers_);
    std::string arguments;
    for (int operand : kernel.reads) arguments += pointer(c, node.reads[operand]) + ", ";
    arguments += pointer(c, node.writes[0]);
    for (int symbol : kernel.symbols) {
      const std::string number = fmt::format("t{}", symbol);
      arguments += ", " + number;
      c.use(number);
    }
    const auto row = shared_.rows.find(kernel.signature);
    if (row == shared_.rows.end())
      return call(c, s,
                  fmt::format("{}({});", kernel_name(kernel.signature, node.op, comment_on(s, nest, kernel)),
                              arguments));
    const std::string name =
        shared_name(shared_.kernels[row->second.kernel], node.op, comment_on(s, nest, kernel));
    call(c, s, fmt::format("{0}({1}, {0}_numbers[{2}]);", name, arguments, row->second.row));
  }

  // What the kernel computes, in the words of the first nest that it is for.
  std::string comment_on(size_t s, const LoweredNest& nest, const CKernel& kernel) const {
    std::vector<std::string> operands(schedule_.steps[s].node->reads.size(), "out");
    for (size_t k = 0; k < kernel.reads.size(); ++k) operands[kernel.reads[k]] = fmt::format("x{}", k);
    return c_block_comment(kernel_comment(schedule_, s, nest.number, operands));
  }

  // A statement and what it is of: behind it, or above it if the line grew long.
  void call(CText& c, size_t s, const std::string& statement) const {
    const std::string comment = fmt::format("/* {}: {} */", s, c_comment(schedule_.steps[s].node->origin));
    if (statement.size() + comment.size() > kLongLine) {
      c.put(comment);
      c.put(statement);
    } else {
      c.put(statement + " " + comment);
    }
  }

  std::string kernel_name(const std::string& signature, const std::string& op, const std::string& comment) {
    const auto [at, fresh] = kernels_.emplace(signature, "");
    if (fresh) {
      std::string base = c_identifier(op);
      std::transform(base.begin(), base.end(), base.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
      const size_t room = kLongestIdentifier - std::string_view("__99999").size();
      base.resize(std::min(base.size(), room - std::min(room - 1, name_.size())));
      at->second = fmt::format("{}_{}_{}", name_, base, kernels_.size() - 1);
      kernel_text_ += fmt::format("\n{}static {}_NOINLINE void {}{}", comment, upper_, at->second, signature);
    }
    return at->second;
  }

  // Of a kernel that reads its numbers from a table, which stands before its first use.
  std::string shared_name(const SharedKernel& kernel, const std::string& op, const std::string& comment) {
    const bool fresh = !kernels_.contains(kernel.signature);
    const std::string name = kernel_name(kernel.signature, op, comment);
    if (fresh) {
      kernel_text_ += fmt::format("\nstatic const int {}_numbers[{}][{}] = {{\n", name, kernel.rows.size(),
                                  kernel.rows[0].size());
      for (const std::vector<int>& row : kernel.rows)
        kernel_text_ += fmt::format("  {{{}}},\n", fmt::join(row, ", "));
      kernel_text_ += "};\n";
    }
    return name;
  }

  void call_kernel(CText& c, size_t s, const Node& node, const Call& call) {
    const std::string function = fmt::format("{}_{}_{}", name_, call.kernel, info(call.type).name);
    if (called_.insert(function).second) kernel_text_ += "\n" + instance_of(call, function);
    c.put(fmt::format("{{ /* {}: {} */", s, c_comment(node.origin)));
    c.indent();
    std::string parameters;
    for (int64_t p : call.parameters)
      parameters += (parameters.empty() ? "" : ", ") + c_literal(Type::kInt64, {.i = p});
    c.line("static const int64_t parameters[] = {{{}}};", parameters.empty() ? "0" : parameters);
    c.line("const void *reads[{}];", std::max<size_t>(node.reads.size(), 1));
    c.line("void *writes[{}];", std::max<size_t>(node.writes.size(), 1));
    if (node.reads.empty()) c.line("reads[0] = 0;");
    for (size_t k = 0; k < node.reads.size(); ++k) c.line("reads[{}] = {};", k, pointer(c, node.reads[k]));
    for (size_t k = 0; k < node.writes.size(); ++k) c.line("writes[{}] = {};", k, pointer(c, node.writes[k]));
    c.line("{}(reads, writes, parameters);", function);
    c.close();
  }

  std::string instance_of(const Call& call, const std::string& function) const {
    std::string text(kernel(call.kernel).source);
    const auto replace = [&](const std::string& from, const std::string& to) {
      for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    };
    replace("ARENAC_NAME", function);
    replace("ARENAC_T", c_value_type(call.type) == std::string("int") ? "uint8_t" : info(call.type).c_name);
    return text;
  }

  // ---- the source

  // Whether it computes with float64; numbers are read from text as such.
  bool holds_doubles() const {
    const auto doubles = [](const LoweredNest& nest) { return holds_type(nest.kernel, Type::kFloat64); };
    const auto has = [&](const std::vector<LoweredNest>& step) { return std::ranges::any_of(step, doubles); };
    return !text_type(graph_).empty() || std::ranges::any_of(lowered_.steps, has) ||
           std::ranges::any_of(graph_.tensors, [](const Tensor& t) { return t.type == Type::kFloat64; });
  }

  std::string source(const CText& steps) const {
    CText c;
    c.line("/* {} compiled by arenac {}. Do not edit. */", c_comment(graph_.name), options_.version);
    c.line("#define {}_INTERNAL", upper_);
    c.line("#include \"{}.h\"\n\n#include <float.h>\n#include <limits.h>\n#include <math.h>\n", name_);
    c.line(
        "#if CHAR_BIT != 8 || UINT_MAX < 0xffffffffu || FLT_RADIX != 2 || FLT_MANT_DIG != 24 || "
        "FLT_MAX_EXP != 128{}\n#error \"{}.c takes bytes of 8 bits, an int of at least 32 and IEEE 754 "
        "numbers for granted\"\n#endif",
        holds_doubles() ? " || DBL_MANT_DIG != 53" : "", name_);
    c.line(
        "/* It also takes for granted that negative numbers are two's complement and that >> keeps the sign. "
        "*/\n"
        "typedef char {}_takes_for_granted[(int32_t)0xfffffffeu == -2 && -2 >> 1 == -1 && sizeof(float) == 4 "
        "? 1 "
        ": -1];\n",
        name_);
    c.put(weight_guard(weights_, schedule_, name_));
    for (const std::string& text : helpers_.preludes) c.put(text);
    if (!options_.features.empty()) turn_on_features(c);
    if (options_.registers == Registers::kScalar) keep_sums_in_registers(c);
    c.line(
        "#if defined(__GNUC__)\n#define {0}_RESTRICT __restrict__\n#define {0}_ALIGNED(n) "
        "__attribute__((aligned(n)))\n#define {0}_SLACK(n) 0u\n"
        "#define {0}_NOINLINE __attribute__((noinline)) /* loops of several in one function spill */\n"
        "#elif !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L\n"
        "#define {0}_RESTRICT restrict\n#else\n#define {0}_RESTRICT\n#endif\n"
        "#ifndef {0}_NOINLINE\n#define {0}_NOINLINE\n#endif\n"
        "#ifndef {0}_ALIGNED\n#define {0}_ALIGNED(n)\n#define {0}_SLACK(n) ((n) - 1u) /* bytes more, to "
        "round up */\n#endif\n",
        upper_);
    if (std::any_of(options_.sections.begin(), options_.sections.end(),
                    [](const std::string& section) { return !section.empty(); }))
      c.line(
          "#ifdef __GNUC__\n#define {0}_SECTION(name) __attribute__((section(name)))\n#else\n"
          "#define {0}_SECTION(name)\n#endif\n",
          upper_);
    c.put("#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    offsets(c);
    for (const auto& [name, text] : helpers_.functions) c.put(text);
    c.put(kernel_text_);
    run_function(c, steps);
    if (has_reset()) reset_function(c);
    static_arena(c);
    tensor_table(c);
    c.put("#ifdef __cplusplus\n}\n#endif");
    if (!options_.features.empty() || options_.registers == Registers::kScalar)
      c.line(
          "\n#ifdef {0}_OPTIONS\n#ifdef __clang__\n#pragma clang attribute pop\n#else\n"
          "#pragma GCC pop_options\n#endif\n#endif",
          upper_);
    return c.text();
  }

  // The target's features, where the compiler's options do not say that the processor has them, and of gcc at
  // -O2 the loops of -O3.
  void turn_on_features(CText& c) const {
    std::vector<std::string> names, has;
    boost::split(names, options_.features, boost::is_any_of(","));
    for (const std::string& feature : names)
      has.push_back(fmt::format("defined(__{}__)", upper_case(boost::replace_all_copy(feature, ".", "_"))));
    c.line(
        "#if defined(__GNUC__) && defined(__x86_64__)\n"
        "#ifdef __clang__\n"
        "#if !({2})\n#define {0}_OPTIONS\n"
        "#pragma clang attribute push(__attribute__((target(\"{1}\"))), apply_to = function)\n#endif\n"
        "#else\n#define {0}_OPTIONS\n#pragma GCC push_options\n"
        "#if defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__)\n#pragma GCC optimize(\"O3\")\n#endif\n"
        "#if !({2})\n#pragma GCC target(\"{1}\")\n#endif\n#endif\n#endif\n",
        upper_, options_.features, fmt::join(has, " && "));
  }

  // gcc at -Os allocates the registers of whole functions at once, and sums of inner loops lie on the stack:
  // loop by loop, with neither its variables made one nor sums of indices turned around, Thumb-2 code takes a
  // tenth fewer instructions in up to 5 % more bytes (of gcc 12; cortex_bench).
  void keep_sums_in_registers(CText& c) const {
    c.line(
        "#if defined(__GNUC__) && !defined(__clang__) && defined(__thumb2__) && defined(__OPTIMIZE_SIZE__)\n"
        "#if __GNUC__ >= 12 /* keeps more sums of loops in registers */\n#define {0}_OPTIONS\n#pragma GCC "
        "push_options\n"
        "#pragma GCC optimize(\"ira-region=all\", \"no-tree-coalesce-vars\", "
        "\"no-tree-reassoc\")\n#endif\n#endif\n",
        upper_);
  }

  void offsets(CText& c) const {
    if (map_.buffers.empty()) return;
    c.put("/* Where each buffer lies, in bytes. */");
    c.open("enum");
    for (const MapBuffer& b : map_.buffers)
      c.line("{} = {}{} /* {} bytes, steps {} to {}: {} */", offset_name(name_, b.id), b.offset,
             b.id + 1 < static_cast<int64_t>(map_.buffers.size()) ? "," : "", b.size, b.begin, b.end - 1,
             c_comment(b.name));
    c.close(";\n");
  }

  void run_function(CText& c, const CText& steps) const {
    if (feed_) return feed_functions(c, steps);
    const CText code = with_states(steps);
    c.line("int {0}_run(const {0}_workspace *w, const {0}_inputs *in, const {0}_outputs *out)\n{{", name_);
    c.put(for_pools("  unsigned char *{local};", "\n"));
    std::string null = "!w" + for_pools(" || !w->{member}");
    const bool takes_in = options_.io == Io::kExternal && !inputs_.ids.empty();
    if (takes_in) null += " || !in";
    if (takes_out()) null += " || !out";
    null += null_members("in->", "out->");
    c.line("  if ({}) return {}_ENULL;", null, upper_);
    c.put(for_pools("  if ((uintptr_t)w->{member} % {macro}_ALIGN != 0) return {upper}_EALIGN;", "\n"));
    c.put(for_pools("  {local} = (unsigned char *)w->{member};", "\n"));
    c.indent();
    unused_pools(c, code);
    if (!takes_in && !code.uses("in")) c.put("(void)in;");
    if (!takes_out() && !code.uses("out")) c.put("(void)out;");
    c.put(code);
    c.line("return {}_OK;", upper_);
    c.close("\n");
  }

  bool takes_out() const { return (options_.io == Io::kExternal && !outputs_.ids.empty()) || emits(); }

  // What a row makes possible; kws_feed, which keeps count; kws_run, which has all rows.
  void feed_functions(CText& c, const CText& steps) const {
    const CText code = with_states(steps);
    const std::string type = fed_type();
    c.line("static int {0}_take({0}_workspace *w, int y, const {1} *fed)\n{{", name_, type);
    c.line("  const {0}_inputs *const in = &w->in;\n  const {0}_outputs *const out = &w->out;", name_);
    c.put(for_pools("  unsigned char *const {local} = (unsigned char *)w->{member};", "\n"));
    c.indent();
    unused_pools(c, code);
    for (const char* caller : {"in", "out"})
      if (!code.uses(caller)) c.line("(void){};", caller);
    c.put(code);
    c.line("return {}_OK;", upper_);
    c.close("\n");

    c.line("int {0}_feed({0}_workspace *w, const {1} *row)\n{{\n  int y;\n  int status = {2}_OK;", name_,
           type, upper_);
    c.line("  if (!w || !row{}{}) return {}_ENULL;", for_pools(" || !w->{member}"),
           null_members("w->in.", "w->out."), upper_);
    c.put(for_pools("  if ((uintptr_t)w->{member} % {macro}_ALIGN != 0) return {upper}_EALIGN;", "\n"));
    c.line("  if (w->row < 0 || w->row >= {}) return {}_EORDER;", feed_->rows, upper_);
    c.put("  y = w->row;\n  w->row = -1;");
    c.line("  {}status = {}_take(w, y, row);",
           feed_->needed < feed_->rows ? fmt::format("if (y < {}) ", feed_->needed) : "", name_);
    c.line("  if (status != {0}_OK && status != {0}_MORE) return status;", upper_);
    c.line("  w->row = y + 1 < {} ? y + 1 : 0;", feed_->rows);
    c.line("  return w->row > 0 ? {0}_MORE : {0}_OK;\n}}\n", upper_);

    const std::string& member = inputs_.members[feed_->input];
    c.line(
        "int {0}_run(const {0}_workspace *w, const {0}_inputs *in, const {0}_outputs *out)\n{{\n"
        "  {0}_workspace all;\n  int y;\n  int status = {1}_MORE;",
        name_, upper_);
    c.line("  if (!w || !in || !in->{}{}) return {}_ENULL;", member, takes_out() ? " || !out" : "", upper_);
    c.put(for_pools("  all.{member} = w->{member};", "\n"));
    c.put(takes_out() ? "  all.out = *out;" : "  (void)out;");
    c.line(
        "  all.in = *in;\n  all.row = 0;\n  for (y = 0; y < {5}; ++y) all.done[y] = 0;\n  for (y = 0; y < "
        "{0} && status == {1}_MORE; ++y) status = "
        "{2}_feed(&all, in->{3} + (size_t)y * {4}u);\n  return status;\n}}\n",
        feed_->rows, upper_, name_, member, feed_->size, schedule_.groups[feed_->group].stages.size());
  }

  void unused_pools(CText& c, const CText& code) const {
    for (const std::string& pool : pools_)
      if (!code.uses("pool_" + pool)) c.line("(void)pool_{};", pool);
  }

  // ---- states

  bool has_reset() const { return has_state() || feed_; }
  bool has_state() const { return !lifetimes_.states.empty(); }
  bool begins_as_zeros() const {
    return std::all_of(lifetimes_.states.begin(), lifetimes_.states.end(),
                       [](const State& state) { return state.initial == 0; });
  }

  // The steps and then copies of the outputs that do not lie where their inputs do, into these.
  CText with_states(CText c) const {
    for (const State& state : lifetimes_.states) {
      const int from = lifetimes_.buffer_of[state.output], to = lifetimes_.buffer_of[state.input];
      if (from == to) continue;
      c.line("for (size_t t0 = 0; t0 < {}u; ++t0) {})[t0] = {})[t0]; /* {} */",
             lifetimes_.problem.buffers[to].size, bytes_at(c, to), bytes_at(c, from),
             c_comment(graph_.tensors[state.input].name));
    }
    return c;
  }

  void reset_function(CText& c) const {
    c.line("int {0}_reset({1}{0}_workspace *w)\n{{", name_, feed_ ? "" : "const ");
    c.put(for_pools("  unsigned char *{local};", "\n"));
    c.line("  if (!w{}) return {}_ENULL;", for_pools(" || !w->{member}"), upper_);
    c.put(for_pools("  {local} = (unsigned char *)w->{member};", "\n"));
    CText states;
    for (const State& state : lifetimes_.states)
      if (const int b = lifetimes_.buffer_of[state.input]; b >= 0)
        states.line("for (size_t t0 = 0; t0 < {}u; ++t0) {})[t0] = {};", lifetimes_.problem.buffers[b].size,
                    bytes_at(states, b), state.initial);
    c.indent();
    unused_pools(c, states);
    if (feed_) c.put("w->row = 0;");
    c.put(states);
    c.line("return {}_OK;", upper_);
    c.close("\n");
  }

  void static_arena(CText& c) const {
    c.line("#ifndef {}_NO_STATIC_ARENA", upper_);
    c.put(
        for_pools("static union {{\n  unsigned char bytes[{macro}_SIZE + {upper}_SLACK({macro}_ALIGN)];\n  "
                  "double real;\n  int64_t "
                  "whole;\n}} {name}_pool_{pool} {upper}_ALIGNED({macro}_ALIGN){section};\n",
                  "\n"));
    c.line(
        "static void *{}_aligned(unsigned char *bytes, unsigned align)\n{{\n"
        "  const unsigned over = (unsigned)((uintptr_t)bytes % align);\n"
        "  return over ? bytes + (align - over) : bytes;\n}}",
        name_);
    if (options_.io == Io::kArena)
      c.put(for_pools("void *{name}_static_{pool}(void)\n{{\n  return {aligned};\n}}\n", "\n"));
    c.line(
        "int {0}_invoke(const {0}_inputs *in, const {0}_outputs *out)\n{{\n  {0}_workspace w;\n{1}"
        "  return {0}_run(&w, in, out);\n}}",
        name_, for_pools("  w.{member} = {aligned};\n"));
    if (has_state())
      c.line("int {0}_reset_static(void)\n{{\n  {0}_workspace w;\n{1}  return {0}_reset(&w);\n}}", name_,
             for_pools("  w.{member} = {aligned};\n"));
    c.line("#endif\n");
  }

  void tensor_table(CText& c) const {
    c.line("#ifndef {}_NO_TENSOR_TABLE", upper_);
    c.line("const {0}_tensor {0}_tensors[{1}] = {{", name_, std::max<size_t>(map_.buffers.size(), 1));
    for (const MapBuffer& b : map_.buffers)
      c.line("  {{{}, {}, {}u, {}u, {}, {}}},", c_string(b.name), c_string(b.pool), b.offset, b.size, b.begin,
             b.end - 1);
    if (map_.buffers.empty()) c.put("  {0, 0, 0u, 0u, 0, 0}");
    c.put("};\n#endif\n");
  }

  std::string cmake(const std::vector<File>& files) const {
    std::string sources;
    for (const File& file : files)
      if (file.name.ends_with(".c") || file.name.ends_with(".S"))
        sources += fmt::format(" \"${{CMAKE_CURRENT_LIST_DIR}}/{}\"", file.name);
    return fmt::format(
        "# Sources of {0}, written by arenac.\nset({1}_SOURCES{2})\nset({1}_INCLUDE_DIR "
        "\"${{CMAKE_CURRENT_LIST_DIR}}\")\n",
        name_, upper_, sources);
  }

  const Lowered& lowered_;
  const Schedule& schedule_;
  const Graph& graph_;
  const Lifetimes& lifetimes_;
  const Plan& plan_;
  const MemoryMap& map_;
  const EmitOptions& options_;
  std::string name_, upper_;
  std::vector<std::string> pools_, pool_macros_;  // as C identifiers
  Weights weights_;
  CallerTensors inputs_, outputs_;
  std::optional<Feed> feed_;
  Helpers helpers_;
  std::map<std::string, std::string> kernels_;     // parameters and body -> name
  SharedKernels shared_;                           // empty: none
  std::set<std::string> called_;                   // C kernel instances
  std::map<int, ChunkArguments> chunk_arguments_;  // per step
  std::string kernel_text_;
};

}  // namespace

std::vector<std::string> pool_macros(const std::vector<Pool>& pools) {
  return distinct_capitals(pool_identifiers(pools), "WEIGHTS");  // KWS_WEIGHTS_SIZE is that of the constants
}

std::vector<std::string> pool_members(const std::vector<Pool>& pools) {
  std::vector<std::string> members;
  for (const std::string& pool : pool_identifiers(pools)) members.push_back(c_member(pool));
  return members;
}

std::string offset_name(const std::string& prefix, int64_t buffer) {
  return fmt::format("{}_AT_{}", upper_case(prefix), buffer);
}

std::vector<File> emit(const Lowered& lowered, const MemoryMap& map, const EmitOptions& options) {
  return Emitter(lowered, map, options).run();
}

}  // namespace arenac
