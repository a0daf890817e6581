#include "codegen/emit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "codegen/c_formula.h"
#include "codegen/c_program.h"
#include "codegen/c_ramp.h"
#include "codegen/c_text.h"
#include "codegen/cmsis_nn_call.h"
#include "codegen/kernel_library.h"
#include "codegen/lowered.h"
#include "codegen/weights.h"
#include "frontend/error.h"
#include "scheduler/slab_runs.h"

namespace arenac {
namespace {

constexpr size_t kLongLine = 90;                                    // without its indentation
constexpr int64_t kAllTurns = std::numeric_limits<int64_t>::max();  // of a group

// NAME.c and the files beside it:
//
//   sources of the steps    kernels_ collects a function for each distinct kernel, groups_ those of groups
//   source                  head | offsets | kernels | groups | NAME_run, with the steps in it | tables
//   header, constants, map, cmake
//
// Steps are made first, for what they call and use decides what stands before them. Text is never searched or
// patched afterwards, but for line breaks.
class Emitter {
 public:
  Emitter(const Lowered& lowered, const MemoryMap& map, const EmitOptions& options, KernelLibrary& kernels)
      : program_(lowered, map, options), kernels_(kernels) {}

  // The token of constants is made of the whole source: whatever changes in it, constants of before do not
  // link, or are refused by NAME_run.
  std::vector<File> run() {
    // First: it finds the kernels and what they need.
    CText steps;
    if (options_.step_cycles) {
      const std::vector<CText> all = parts();
      program_.parts = all.size();
      steps = cases_of(all);
    } else {
      steps = this->steps();
    }
    const std::string source = with_short_lines(this->source(steps)), token = token_of(weights_, source);
    std::vector<File> files = {{name_ + ".h", with_short_lines(header_text(program_, token))},
                               {name_ + ".c", source}};
    // Constants after the source, whose token is in their names.
    for (File& file : weight_files(weights_, schedule_, name_, token)) files.push_back(std::move(file));
    files.push_back({name_ + "_map.json", to_json(map_)});
    files.push_back({name_ + ".cmake", cmake(files)});
    return files;
  }

 private:
  // ---- pointers

  // Where a tensor's elements are, in the words of the code that c is.
  // An offset of the arena for what has a buffer; else a constant, an argument of the caller's or a row that
  // is fed. By way of void *: the plan has seen to the alignment, but compilers warn of a cast from bytes to
  // what wants more.
  std::string pointer(CText& c, TensorId id) const {
    const Tensor& t = graph_.tensors[id];
    if (bytes_of(t) == 0)  // it has no elements
      return fmt::format("({}{} *)0", t.constant ? "const " : "", info(t.type).c_name);
    if (t.constant) {
      if (program_.weights_by_pointer()) c.use("weights");
      return weight_pointer(weights_, id, schedule_, name_);
    }
    const Layout& layout = schedule_.layouts[id];
    const int64_t offset = layout.ring.kept > 0 ? 0 : layout.offset;  // a ring's addresses hold it
    const std::string shift = offset ? fmt::format(" + {}", offset) : "";
    const int b = lifetimes_.buffer_of[id];
    if (b >= 0) {
      const std::string bytes = offset ? fmt::format(" + {}", offset * size_of(t.type)) : "";
      return fmt::format("({} *)(void *){}{})", info(t.type).c_name, program_.bytes_at(c, b), bytes);
    }
    if (feed_ && layout.root == inputs_.ids[feed_->input]) return c.use("fed"), "fed";
    for (size_t k = 0; k < inputs_.ids.size(); ++k)
      if (inputs_.ids[k] == layout.root)
        return c.use("in"), fmt::format("in->{}{}", inputs_.members[k], shift);
    for (size_t k = 0; k < outputs_.ids.size(); ++k)
      if (outputs_.ids[k] == layout.root) return c.use("out"), typed_output(id, k, shift);
    throw InternalError(fmt::format("tensor '{}' lies nowhere", t.name));
  }

  // The same of what step s reads, which may be a copy of a constant.
  std::string pointer_to_read(CText& c, size_t s, TensorId id) const {
    const Tensor& t = graph_.tensors[id];
    const auto at = weights_.of_tensor.find(id);
    const auto time = static_cast<int64_t>(s);
    if (t.constant && at != weights_.of_tensor.end())
      for (const ConstantCopy& copy : program_.copies)
        if (copy.weight == at->second && copy.begin <= time && time < copy.end)
          return fmt::format("(const {} *)(const void *){})", info(t.type).c_name,
                             program_.bytes_at(c, copy.buffer));
    return pointer(c, id);
  }

  // Makes the copies that begin at the step.
  // Where the life of the copy begins: before the group, or the step, that reads it.
  void copy_constants(CText& c, size_t s) const {
    for (const ConstantCopy& copy : program_.copies) {
      if (copy.begin != static_cast<int64_t>(s)) continue;
      const TensorId id = weights_.all[static_cast<size_t>(copy.weight)].tensor;
      const std::string to = program_.bytes_at(c, copy.buffer) + ")";
      call(c,
           fmt::format("{}_COPY({}, {}, {}u);", upper_, to, pointer(c, id),
                       lifetimes_.problem.buffers[copy.buffer].size),
           c_comment(graph_.tensors[id].name));
    }
  }

  // Storage of another type of the same size may lie in an output's memory.
  std::string typed_output(TensorId id, size_t k, const std::string& shift) const {
    const Type type = graph_.tensors[id].type;
    const std::string& name = outputs_.members[k];
    if (type == graph_.tensors[outputs_.ids[k]].type) return fmt::format("out->{}{}", name, shift);
    return fmt::format("({} *)(void *)out->{}{}", info(type).c_name, name, shift);
  }

  // ---- steps

  // Of a network that is fed all before the fed group runs at the first row alone; what comes behind it runs
  // once it is complete, because before that the group returns.
  CText steps() {
    CText c;
    c.put("");
    if (feed_)
      c.open("if (y == 0)"), c.line("for (int k = 0; k < {}; ++k) w->done[k] = 0;",
                                    schedule_.groups[feed_->group].stages.size());
    for (size_t s = 0; s < schedule_.steps.size();) {
      const size_t group = group_at(s);
      if (group < schedule_.groups.size() && program_.is_fed(group)) c.close();
      s = put_item(c, s);
    }
    return c;
  }

  // The group that begins at the step; the number of groups: none.
  size_t group_at(size_t s) const {
    const auto& groups = schedule_.groups;  // ascending
    const auto at = std::ranges::lower_bound(groups, static_cast<int>(s), {}, &Group::begin);
    const bool begins = at != groups.end() && at->begin == static_cast<int>(s);
    return begins ? static_cast<size_t>(at - groups.begin()) : groups.size();
  }

  // The step, or the whole group or control flow that begins there; returns what comes after. The hook is
  // called once for each item, with the number of its first step: outside of groups that is each step, but
  // for those in control flow.
  size_t put_item(CText& c, size_t s, int64_t turns = kAllTurns) {
    int depth = 0;
    c.line("{}_HOOK({});", upper_, s);
    do {
      if (const size_t group = group_at(s); group < schedule_.groups.size()) {
        run_group(c, group, depth == 0 ? turns : kAllTurns);
        s = static_cast<size_t>(schedule_.groups[group].end);
        continue;
      }
      const StepKind kind = schedule_.steps[s].kind;
      copy_constants(c, s);
      depth += kind == StepKind::kIf || kind == StepKind::kLoop;
      depth -= kind == StepKind::kEndIf || kind == StepKind::kEndLoop;
      put_step(c, s++);
    } while (depth > 0);
    return s;
  }

  // Control flow is C's own; a loop's iteration is an int t0, t1, ... that is in scope for all within.
  void put_step(CText& c, size_t s) {
    const Step& step = schedule_.steps[s];
    switch (step.kind) {
      case StepKind::kRun:
        return run_step(c, s);
      case StepKind::kIf:
        return c.open("if (*{})", pointer(c, step.node->reads[0]));
      case StepKind::kElse:
        c.close(" else {");
        return c.indent();
      case StepKind::kLoop:
        return open_loop(c, std::get<Loop>(step.node->body));
      case StepKind::kEndIf:
      case StepKind::kEndLoop:
        return c.close();
    }
  }

  // The cases of a switch over all parts.
  static CText cases_of(const std::vector<CText>& parts) {
    CText cases;
    for (size_t k = 0; k < parts.size(); ++k) {
      CText statements;
      statements.indent();
      statements.put(parts[k]);
      statements.put("break;");
      cases.line("case {}:", k);
      cases.put(statements);
    }
    return cases;
  }

  // Of a run in parts, each part: what comes one after the other for at most so many cycles, of a group as
  // many turns.
  //
  //   cycles    4k   5k   30k (a group)          8k        most: 10k
  //   part      [ 0    0 ] [ 1, several times ]  [ 2 ]
  //
  // A part that returns NAME_MORE from within a group is entered again from its first statement, so the group
  // has to be that. A step that takes more than the limit is a part by itself.
  std::vector<CText> parts() {
    std::vector<CText> all;
    CText c;
    double taken = 0;
    const auto end_part = [&] {
      if (!c.text().empty()) all.push_back(std::move(c));
      c = CText(), taken = 0;
    };
    const double most = static_cast<double>(*options_.step_cycles);
    for (size_t s = 0; s < schedule_.steps.size();) {
      const size_t group = group_at(s);
      int64_t turns = kAllTurns;
      if (group < schedule_.groups.size()) {
        const Group& g = schedule_.groups[group];
        const double cycles = cycles_in(g.begin, g.end), each = cycles / static_cast<double>(turns_of(g));
        if (cycles > most) turns = std::max<int64_t>(static_cast<int64_t>(most / each), 1);
      }
      CText item;
      // An item is whole: control flow cannot be left and entered again.
      const size_t next = put_item(item, s, turns);
      const double cycles = cycles_in(s, next);
      if (taken + cycles > most) end_part();  // what resumes within a part begins it
      c.put(item);
      taken += cycles;
      if (cycles > most) end_part();
      s = next;
    }
    end_part();
    if (all.empty()) all.emplace_back();
    return all;
  }

  // As the map has them: they are in the header, too, so that a part can be checked by hand.
  double cycles_in(size_t begin, size_t end) const {
    double cycles = 0;
    for (size_t s = begin; s < end; ++s) cycles += static_cast<double>(map_.steps[s].cycles);
    return cycles;
  }

  // Trips are a bound that is known; a count or condition that the run knows can end the loop earlier. Beyond
  // int there is no end to be reached.
  void open_loop(CText& c, const Loop& loop) const {
    std::string more;
    if (loop.count) more += fmt::format(" && t{} < *{}", loop.symbol, pointer(c, *loop.count));
    if (loop.condition) more += fmt::format(" && *{}", pointer(c, *loop.condition));
    c.open("for (int t{0} = 0; t{0} < {1}{2}; ++t{0})", loop.symbol,
           std::min<int64_t>(loop.trips, std::numeric_limits<int>::max()), more);
  }

  // What cannot run for these inputs (Refusal) ends the run with a status; nothing behind it is reached.
  void run_step(CText& c, size_t s) {
    const Node& node = *schedule_.steps[s].node;
    if (const Call* call = std::get_if<Call>(&node.body)) return call_kernel(c, s, node, *call);
    if (const Refusal* refusal = std::get_if<Refusal>(&node.body))
      return c.line("return {}_{}; /* {}: {} */", upper_,
                    refusal->cause == Refusal::Cause::kBranch ? "EBRANCH" : "EVALUE", s,
                    c_comment(refusal->reason));
    run_nests(c, s);
  }

  // Nests that a stage does not run at each slab (a fill of padding at the border) or chunk are asked about
  // here, so that kernels need not.
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
  //
  //   typedef struct { pointers; int done[3]; } kws_group_0;
  //   static void kws_step_5(kws_group_0 *g, int last)      stage 1
  //   {
  //     for (; g->done[1] <= last; ++g->done[1]) {
  //       const int t0 = g->done[1];
  //       kws_step_4(g, 2 * t0 + 1);                         pulls slabs of stage 0 up to there
  //       ...                                                its own kernels, at slab t0
  //     }
  //   }
  //
  // The calls are a tree and never recursive in C's sense: a stage pulls earlier ones only. In turns, every
  // sink goes on by its part, in the order of slab_runs.h, which the scheduler and the cost model walk as
  // well.
  //
  // Of a run in parts, `turns` turns of the group at a time: `done` is then in the workspace, and so are the
  // turns that were taken.
  void run_group(CText& c, size_t number, int64_t turns) {
    const Group& group = schedule_.groups[number];
    CText f;
    f.put("");
    f.line("/* Steps {} to {}, row by row: each stage first runs those it reads, as far as it needs them. */",
           group.begin, group.end - 1);
    // Where a group is entered again (rows, parts) its counts are in the workspace, else in the struct, which
    // is on the stack and zero at the beginning.
    const bool fed = program_.is_fed(number), takes_in = options_.io == Io::kExternal;
    const bool in_parts = options_.step_cycles.has_value();
    f.line("typedef struct {{{}{}\n{}", takes_in ? fmt::format("\n  const {}_inputs *in;", name_) : "",
           program_.takes().outputs ? fmt::format("\n  const {}_outputs *out;", name_) : "",
           program_.for_pools("  unsigned char *{local};", "\n"));
    if (program_.weights_by_pointer()) f.put("  const unsigned char *weights;");
    if (fed)
      f.line(
          "  const {} *fed; /* a row, until it is taken */\n  int *done; /* slabs, per stage */\n}} "
          "{}_group_{};",
          program_.fed_type(), name_, number);
    else if (in_parts)
      f.line("  int *done; /* slabs, per stage */\n}} {}_group_{};", name_, number);
    else
      f.line("  int done[{}]; /* slabs, per stage */\n}} {}_group_{};", group.stages.size(), name_, number);
    for (size_t k = 0; k < group.stages.size(); ++k)
      if (group.stages[k].seen_through_window())
        chunk_function(f, number, k);
      else if (group.stages[k].host < 0)
        stage_function(f, number, k);
    groups_ += f.text();

    c.put("{");
    c.indent();
    c.line("{}_group_{} g = {{{}{}{}{}, {}}};", name_, number, takes_in ? "in, " : "",
           program_.takes().outputs ? "out, " : "", program_.for_pools("{local}", ", "),
           program_.weights_by_pointer() ? ", weights" : "",
           fed        ? "fed, w->done"
           : in_parts ? "w->done"
                      : "{0}");
    // The initialiser of g names all of them, whether a stage needs them or not.
    for (const char* shared : {"in", "out", "weights"}) c.use(shared);
    for (const std::string& pool : pools_) c.use("pool_" + pool);
    copy_before_group(c, group, fed ? "y == 0" : in_parts ? "w->turn == 0" : "");
    const auto call = [&](int stage, const std::string& last) {
      const std::string text = fmt::format("{}_step_{}(&g, {})", name_, group.stages[stage].step, last);
      c.put(fed ? fmt::format("if (!{}) return {}_MORE;", text, upper_) : text + ";");
    };
    const int64_t all = turns_of(group);
    // Turn by turn where there are several sinks, which share the work of producers and have to go on
    // together; a single one runs to its end in one call.
    std::string from = "1", to = fmt::format("{}", all);
    if (in_parts) {
      from = "w->turn + 1", to = "end";
      c.line("const int end = {0} < {1} - w->turn ? w->turn + {0} : {1};", std::min(turns, all), all);
      c.line("if (w->turn == 0) for (int k = 0; k < {}; ++k) w->done[k] = 0;", group.stages.size());
    }
    if (group.sinks.size() > 1) {
      c.open("for (int turn = {}; turn <= {}; ++turn)", from, to);
      for (int sink : group.sinks) {
        const int64_t slabs = group.stages[sink].slabs;
        call(sink, slabs == all ? "turn - 1" : fmt::format("(int)((int64_t)turn * {} / {} - 1)", slabs, all));
      }
      c.close();
    } else {
      call(group.sinks[0], in_parts ? "end - 1" : fmt::format("{}", all - 1));
    }
    if (in_parts) {
      c.line("w->turn = end < {} ? end : 0;", all);
      c.line("if (end < {}) return {}_MORE;", all, upper_);
    }
    // Results that somebody reads behind the group: their last rows may be wanted by no sink.
    for (int stage : group.completed) call(stage, fmt::format("{}", group.stages[stage].slabs - 1));
    c.close();
  }

  // The copies that its stages read, made where it begins: of a group that is entered several times (rows
  // that are fed, parts) at the first.
  void copy_before_group(CText& c, const Group& group, const std::string& begins) const {
    CText copies;
    copy_constants(copies, static_cast<size_t>(group.begin));
    if (copies.text().empty()) return;
    if (!begins.empty()) c.open("if ({})", begins);
    c.put(copies);
    if (!begins.empty()) c.close();
  }

  // What one chunk of a stage runs: guests first, those seen through windows by functions of their own. A
  // guest's loops are those of its host, so that what it writes is read while it is near.
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

  // A guest that is seen through a window runs the slabs and chunks that slab t0 and chunk t1 of its host
  // read anew: from tables over these, which mostly are lines (c_ramp.h). One number needs no loop.
  void run_window(CText& c, const Stage& guest) {
    int loops = 0;
    // Opens a loop where there is more than one number; returns what they are called.
    const auto numbers = [&](const char* variable, const char* index, const std::vector<Interval>& at) {
      const auto ramp = [&](int64_t Interval::*end, const char* word) {
        std::vector<int64_t> values;
        for (const Interval& part : at) values.push_back(part.*end);
        CRamp found = c_ramp(values, index, fmt::format("{}_{}_{}_{}", name_, variable, word, guest.step));
        if (!found.declaration.empty()) groups_ += "\n" + found.declaration + "\n";
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

  // What a stage's function needs of the group's, as the names that statements of any function use; no more,
  // for unused ones are warned of.
  CText shared_pointers(const CText& body) const {
    CText f;
    for (const std::string& pool : pools_)
      if (body.uses("pool_" + pool)) f.line("unsigned char *const pool_{0} = g->pool_{0};", pool);
    if (body.uses("weights")) f.put("const unsigned char *const weights = g->weights;");
    if (body.uses("in")) f.line("const {}_inputs *const in = g->in;", name_);
    if (body.uses("fed")) f.line("const {} *const fed = g->fed;", program_.fed_type());
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

  // Slab by slab up to `last`; those done before are done. Where rows are fed each function returns whether
  // it got so far: one that finds no row returns 0 through all callers, and comes back at the same slab with
  // the next row.
  void stage_function(CText& f, size_t number, size_t k) {
    const Group& group = schedule_.groups[number];
    const Stage& stage = group.stages[k];
    CText body;
    if (stage.chunks > 1) body.open("for (int t1 = 0; t1 < {}; ++t1)", stage.chunks);
    run_chunk(body, group, k);
    if (stage.chunks > 1) body.close();
    const bool fed = program_.is_fed(number), takes = fed && k == feed_->stage;
    if (const size_t o = program_.emitted_by(stage.step); o < outputs_.ids.size()) {
      body.line("out->{0}.row(out->{0}.user, (size_t)t0, {1});", outputs_.members[o],
                pointer(body, outputs_.ids[o]));
      body.use("out"), body.use("t0");
    }
    // A row is taken once.
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

  // The kernel's function and its arguments in the order of the signature: pointers to what it reads, the
  // result, iterations, the row of its numbers.
  void call_nest(CText& c, size_t s, const LoweredNest& nest) {
    const Node& node = *schedule_.steps[s].node;
    const auto [kernel, function, numbers] =
        kernels_.use(nest, node.op, [&](const CKernel& kernel) { return comment_on(s, nest, kernel); });
    std::string arguments;
    for (int operand : kernel.reads) arguments += pointer_to_read(c, s, node.reads[operand]) + ", ";
    arguments += pointer(c, node.writes[0]);
    for (int symbol : kernel.symbols) {
      const std::string number = fmt::format("t{}", symbol);
      arguments += ", " + number;
      c.use(number);
    }
    if (!numbers.empty()) arguments += ", " + numbers;
    call(c, fmt::format("{}({});", function, arguments), fmt::format("{}: {}", s, c_comment(node.origin)));
  }

  // What the kernel computes, in the words of the first nest that it is for.
  std::string comment_on(size_t s, const LoweredNest& nest, const CKernel& kernel) const {
    std::vector<std::string> operands(schedule_.steps[s].node->reads.size(), "out");
    for (size_t k = 0; k < kernel.reads.size(); ++k) operands[kernel.reads[k]] = fmt::format("x{}", k);
    return c_block_comment(kernel_comment(schedule_, s, nest.number, operands));
  }

  // A statement and what it is of: behind it, or above it if the line grew long.
  static void call(CText& c, const std::string& statement, const std::string& of) {
    const std::string comment = fmt::format("/* {} */", of);
    if (statement.size() + comment.size() > kLongLine) {
      c.put(comment);
      c.put(statement);
    } else {
      c.put(statement + " " + comment);
    }
  }

  // The call with pointers for what it reads, writes and takes as scratch, in a block of its own for its
  // structs.
  void call_cmsis_nn(CText& c, size_t s, const Node& node, const Call& call) {
    CmsisNnOperands operands{{}, {}, 0, upper_ + "_ELIBRARY"};
    for (TensorId id : node.reads) operands.reads.push_back(pointer_to_read(c, s, id));
    for (TensorId id : node.writes) operands.writes.push_back(pointer(c, id));
    if (node.writes.size() > 1) operands.scratch = bytes_of(graph_.tensors[node.writes[1]]);
    c.put(fmt::format("{{ /* {}: {} */", s, c_comment(node.origin)));
    c.indent();
    c.put(cmsis_nn_call(call, operands));
    c.close();
  }

  // C kernels take arrays of pointers, for they are one text for any number of operands. Assigned one by one:
  // strict compilers initialise arrays with constants alone.
  void call_kernel(CText& c, size_t s, const Node& node, const Call& call) {
    if (cmsis_nn_row(call)) return call_cmsis_nn(c, s, node, call);
    const std::string function = kernels_.use(call);
    c.put(fmt::format("{{ /* {}: {} */", s, c_comment(node.origin)));
    c.indent();
    std::string parameters;
    for (int64_t p : call.parameters)
      parameters += (parameters.empty() ? "" : ", ") + c_literal(Type::kInt64, {.i = p});
    c.line("static const int64_t parameters[] = {{{}}};", parameters.empty() ? "0" : parameters);
    c.line("const void *reads[{}];", std::max<size_t>(node.reads.size(), 1));
    c.line("void *writes[{}];", std::max<size_t>(node.writes.size(), 1));
    if (node.reads.empty()) c.line("reads[0] = 0;");
    for (size_t k = 0; k < node.reads.size(); ++k)
      c.line("reads[{}] = {};", k, pointer_to_read(c, s, node.reads[k]));
    for (size_t k = 0; k < node.writes.size(); ++k) c.line("writes[{}] = {};", k, pointer(c, node.writes[k]));
    c.line("{}(reads, writes, parameters);", function);
    c.close();
  }

  // ---- the source

  // Whether it computes with float64; numbers are read from text as such.
  bool holds_doubles() const {
    const auto doubles = [](const LoweredNest& nest) { return holds_type(nest.kernel, Type::kFloat64); };
    const auto has = [&](const std::vector<LoweredNest>& step) { return std::ranges::any_of(step, doubles); };
    return holds_text(graph_) || std::ranges::any_of(lowered_.steps, has) ||
           std::ranges::any_of(graph_.tensors, [](const Tensor& t) { return t.type == Type::kFloat64; });
  }

  // What the C takes for granted it checks at the top, where a preprocessor or a negative array size stops
  // the build with words.
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
    if (kernels_.of_several()) {
      c.line("#include \"{}_kernels.h\"", kernels_.name());
    } else {
      for (const std::string& text : kernels_.preludes()) c.put(text);
      kernels_.begin(c);
    }
    if (calls_cmsis_nn(schedule_)) c.put(cmsis_nn_include(schedule_, name_));
    c.put(section_macro(upper_, sections_in_ram()));
    c.line(
        "#ifdef {0}_HOOK_HEADER\n#include {0}_HOOK_HEADER\n#endif\n"
        "#ifndef {0}_HOOK /* before each step, whose number it takes: to yield, feed a watchdog, take the "
        "time */\n"
        "#define {0}_HOOK(step) ((void)0)\n#endif\n",
        upper_);
    if (!program_.copies.empty()) c.put(copy_macro(program_));
    c.put("#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    offsets(c);
    if (program_.has_load()) constant_copies(c, program_);
    if (!kernels_.of_several()) c.put(kernels_.text());
    c.put(groups_);
    if (program_.weights_by_pointer()) c.put(weight_check(weights_, name_));
    run_function(c, program_, steps);
    if (program_.has_reset()) reset_function(c, program_);
    static_arena(c, program_);
    tensor_table(c, program_);
    step_table(c, program_);
    c.put("#ifdef __cplusplus\n}\n#endif");
    if (!kernels_.of_several()) kernels_.end(c);
    return c.text();
  }

  // Of static arrays.
  std::vector<std::string> sections_in_ram() const {
    std::vector<std::string> sections = options_.sections;
    for (const ConstantPool& each : options_.constants.pools)
      if (each.copied) sections.push_back(each.section);
    return sections;
  }

  // An enum: integer constants that a debugger knows by name.
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

  // What arenac_add_model.cmake and hand-written projects include.
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

  CProgram program_;
  const Lowered& lowered_ = program_.lowered;
  const Schedule& schedule_ = program_.schedule;
  const Graph& graph_ = program_.graph;
  const Lifetimes& lifetimes_ = program_.lifetimes;
  const MemoryMap& map_ = program_.map;
  const EmitOptions& options_ = program_.options;
  const std::string &name_ = program_.name, &upper_ = program_.upper;
  const std::vector<std::string>& pools_ = program_.pools;
  const Weights& weights_ = program_.weights;
  const CallerTensors &inputs_ = program_.inputs, &outputs_ = program_.outputs;
  const std::optional<Feed>& feed_ = program_.feed;
  KernelLibrary& kernels_;
  std::map<int, ChunkArguments> chunk_arguments_;  // per step
  std::string groups_;                             // functions of theirs
};

}  // namespace

std::vector<File> emit(const Lowered& lowered, const MemoryMap& map, const EmitOptions& options,
                       KernelLibrary& kernels) {
  return Emitter(lowered, map, options, kernels).run();
}

std::vector<File> emit(const Lowered& lowered, const MemoryMap& map, const EmitOptions& options) {
  KernelLibrary kernels(options.name, options, KernelLibrary::Of::kProgram, lowered.steps);
  return emit(lowered, map, options, kernels);
}

}  // namespace arenac
