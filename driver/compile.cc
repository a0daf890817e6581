// The pipeline:
//
//   import_model    Graph             make_graph()
//   rewritten       Graph
//   choose          Schedule, Plan    planned(): schedules are tried with their plans
//   group copies    Plan
//   lower           Lowered           statements
//   make_map        MemoryMap         write_up()
//   emit            files
//
// Each product is verified where it is made; a fault there is arenac's own and names the stage.
#include "driver/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>

#include "codegen/c_text.h"
#include "codegen/cycles.h"
#include "codegen/group_copies.h"
#include "codegen/report_words.h"
#include "codegen/reports.h"
#include "codegen/stack.h"
#include "driver/choose.h"
#include "driver/files.h"
#include "driver/sha256.h"
#include "frontend/error.h"
#include "frontend/rewrites.h"
#include "planner/csv.h"
#include "planner/verify.h"
#include "scheduler/cmsis_nn.h"
#include "scheduler/extrema.h"
#include "scheduler/storage.h"
#include "scheduler/sums.h"
#include "scheduler/weight_blocks.h"

namespace arenac {
namespace {

// What a verifier said of one of our own products.
void require_right(const char* stage, const std::optional<std::string>& fault) {
  if (fault) throw InternalError(fmt::format("after stage '{}': {}", stage, *fault));
}

// "kws (net.onnx)" of a C name that was given, "net.onnx"; "folder/model.onnx", for such names say nothing.
std::string title_of(const CompileOptions& options) {
  const std::filesystem::path path(options.model);
  const std::string file = path.filename().string(), folder = path.parent_path().filename().string();
  if (!options.name.empty()) return fmt::format("{} ({})", options.name, file);
  const bool says_nothing = file.starts_with("model") && !folder.empty() && !folder.starts_with(".");
  return says_nothing ? fmt::format("{}/{}", folder, file) : file;
}

// Names of the model may be anything, also equal: its number and an identifier make a buffer's id.
Problem with_plain_names(Problem problem) {
  for (size_t k = 0; k < problem.buffers.size(); ++k)
    problem.buffers[k].name = fmt::format("{}_{}", k, c_identifier(problem.buffers[k].name));
  return problem;
}

using Clock = std::chrono::steady_clock;

// Reports each stage as it ends: its time when verbose, its product when asked for.
class Progress {
 public:
  explicit Progress(const CompileOptions& options)
      : options_(options), line_(progress_of(options.verbosity)) {}

  void begins(std::string_view stage) { line_.stage(stage); }
  void found(int64_t bytes) { line_.best(bytes); }
  [[nodiscard]] auto paused() { return line_.paused(); }

  // The stage took the time since the last report and `more` seconds; less than 0: part of it was others'.
  template <typename Dump>
  void finished(const std::string& stage, const std::string& summary, const Dump& product, double more = 0) {
    const auto pause = line_.paused();
    const double ms = 1000 * std::max(0.0, seconds_since(begin_) + more);
    if (options_.verbosity == Verbosity::kVerbose)
      fmt::print(stderr, "{:<20}{:>9.1f} ms  {}\n", stage, ms, summary);
    if (options_.dump_after == stage) fmt::print("{}", product());
    begin_ = Clock::now();
  }

 private:
  const CompileOptions& options_;
  ProgressLine line_;
  Clock::time_point begin_ = Clock::now();
};

// The part of --time that the scheduler may take; what comes after it seldom searches long.
constexpr double kSchedulersTime = 1 - kPlannersTime;
constexpr double kSumsTime = 0.3;  // of that, for the order of sums

// When the scheduler's searches end that begin now.
Deadline schedulers_deadline(const CompileOptions& options) {
  return deadline_in(kSchedulersTime * options.seconds);
}

// "52 steps; of whole layers 1,234 bytes live at most (file's order: 2,345), no order has less (proved)"
std::string schedule_words(const Schedule& schedule) {
  const OrderReport& order = schedule.order;
  std::string words = fmt::format("{}; of whole layers {} live at most",
                                  counted(schedule.steps.size(), "step"), bytes_words(order.peak));
  if (order.peak != order.file_peak)
    words += fmt::format(" (file's order: {})", bytes_words(order.file_peak));
  if (0 < order.found_peak && order.found_peak < order.peak)
    words += fmt::format(" (best order: {})", bytes_words(order.found_peak));
  const std::string known = order_words(map_order(order));
  if (!known.empty()) words += ", " + known;
  return schedule.cut_off ? words + "; cut off by --time" : words;
}

// What the map says of a rung.
// The C of a rung is written to count its bytes, without constants, which are the same for all.
MapChoice choice_of(const Rung& rung, const CompileOptions& options, const std::string& name) {
  const Schedule& schedule = rung.schedule;
  MapChoice choice = {.arena = total_size(rung.plan),
                      .macs_again = work_again(schedule),
                      .read_again = bytes_read_again(schedule),
                      .cycles = static_cast<int64_t>(rung.cycles)};
  for (const Group& group : schedule.groups) choice.stages += group.end - group.begin;
  const MemoryMap map = make_map(schedule, rung.lifetimes, rung.plan, options.io);
  for (const File& file : emit(lower(schedule, rung.lifetimes, rung.plan), map,
                               {name, options.io, WeightsForm::kBin, ARENAC_VERSION, code_of(options)}))
    if (file.name == name + ".c") choice.code = static_cast<int64_t>(file.bytes.size());
  return choice;
}

}  // namespace

// Flash of microcontrollers is small, and what numbers from a table cost there is little.
Code code_of(const CompileOptions& options) {
  const Target& target = target_named(options.target);
  return options.code.value_or(target.registers == Registers::kScalar ? Code::kSmall : Code::kFast);
}

// Sections go by pool: that of copies of constants comes behind the arena's.
EmitOptions emit_options(const CompileOptions& options, const std::string& name) {
  const Target& target = target_named(options.target);
  std::vector<std::string> sections = options.sections;
  if (options.constants.group) {  // whose pool is the last
    sections.resize(std::max<size_t>(options.pools.size(), 1));
    sections.push_back(options.constants.group->section);
  }
  return {name,
          options.io,
          options.weights,
          ARENAC_VERSION,
          code_of(options),
          sections,
          target.features,
          target.registers,
          options.step_cycles,
          options.constants,
          options.memory_of};
}

// In the order in which they run.
std::vector<std::string> dumped_stages() {
  std::vector<std::string> names = {"import"};
  for (const Rewrite& row : rewrites()) names.emplace_back(row.name);
  names.insert(names.end(), std::begin(kStages), std::end(kStages));
  return names;
}

std::string dump(const Problem& problem) { return to_csv(with_plain_names(problem)); }

std::string dump(const Problem& problem, const Plan& plan) { return to_csv(with_plain_names(problem), plan); }

namespace {

// Bytes of constants that a loop made of several may read. A cache holds so many from one iteration to the
// next. For speed there, none: sums of what another loop writes are one product of matrices before a loop of
// its own (scheduler/hoisted_sums.h), which takes a third less time.
int64_t loop_constants(const Target& target, Optimize optimize) {
  if (target.costs.cache == 0 || optimize == Optimize::kRam) return kEveryConstant;
  return optimize == Optimize::kSpeed ? 0 : target.costs.cache;
}

// The graph that is scheduled. Returns when the searches for a schedule end, of whose time those for sums are
// part.
// Rewrites, then what depends on options: streams, order of sums, rows of the caller's, layouts for the
// target. Verified at the end, whatever came before.
Deadline make_graph(Compilation& c, const CompileOptions& options, Progress& progress) {
  const auto graph_finished = [&](std::string_view stage, const Graph& graph) {
    progress.finished(std::string(stage), counted(graph.block.size(), "node"), [&] { return dump(graph); });
  };
  progress.begins("import");
  Graph imported = import_model(options.model, options.import);
  graph_finished("import", imported);
  progress.begins("rewrites");
  const Target& target = target_named(options.target);
  const RewriteArguments arguments = {
      layerwise_peak, loop_constants(target, options.optimize), {options.constant_width, target.costs.cache}};
  Graph plain = rewritten(std::move(imported), arguments,
                          [&](const Rewrite& row, const Graph& graph) { graph_finished(row.name, graph); });
  Streamed model = streamed(std::move(plain), options.streams);
  // From here on: import and rewrites are not searches, and are not cut off.
  const Deadline deadline = schedulers_deadline(options);
  if (options.sums == SumOrder::kReordered)
    model.graph =
        with_reordered_sums(std::move(model.graph), {.deadline = deadline_in(kSumsTime * options.seconds)});
  model.graph = with_caller_rows(std::move(model.graph), options.fed, options.emitted);
  c.graph = std::make_unique<const Graph>(
      with_weight_blocks(with_extrema_in_lanes(std::move(model.graph), target), target));
  c.states = options.states;
  c.states.insert(c.states.end(), model.states.begin(), model.states.end());
  verify(*c.graph);
  if (options.verbosity != Verbosity::kQuiet) {
    const auto pause = progress.paused();
    for (const std::string& note : c.graph->notes) fmt::print(stderr, "note: {}\n", note);
    for (const std::string& warning : c.graph->warnings) fmt::print(stderr, "warning: {}\n", warning);
  }
  graph_finished("graph", *c.graph);
  return deadline;
}

// Null: kernels of our own.
std::shared_ptr<CmsisNnCalls> calls_for(LayerKernels kernels, const Target& target) {
  if (kernels == LayerKernels::kOwn) return nullptr;
  if (const auto core = cmsis_nn_core(target)) return std::make_shared<CmsisNnCalls>(*core);
  throw UserError(fmt::format("--kernels cmsis-nn: CMSIS-NN is for Cortex-M, and the target is '{}'; "
                              "--target cortex-m4 or another row of `arenac list targets` is needed",
                              target.name),
                  Exit::kUsage);
}

// The plan with copies of constants for groups, where the options ask for them.
void copy_constants(Compilation& c, const CompileOptions& options, Progress& progress) {
  if (!options.constants.group) return;
  WithCopies all = with_group_copies(c.schedule, std::move(c.lifetimes), std::move(c.plan),
                                     emit_options(options, c.name), target_named(options.target));
  c.lifetimes = std::move(all.lifetimes);
  c.plan = std::move(all.plan);
  require_right("copies of constants", verify(c.lifetimes.problem, c.plan));
  if (c.layerwise_arena) *c.layerwise_arena += c.plan.pools.back().size;
  progress.finished("copies of constants", fmt::format("save {:.0f} cycles", all.saved), [] { return ""; });
  if (!all.left_out.empty() && options.verbosity != Verbosity::kQuiet)
    fmt::print(stderr, "note: {}\n", all.left_out);
}

// Every product up to the plan.
Compilation planned(const CompileOptions& options, Progress& progress) {
  if (options.model.ends_with(".csv"))
    throw UserError(
        fmt::format("{}: is no model; 'arenac plan' reads planning problems, 'arenac verify' problems and "
                    "their solutions",
                    options.model));
  const Target& target = target_named(options.target);
  scheduler_named(options.scheduler);  // or there is none of this name
  const auto calls = calls_for(options.kernels, target);
  Compilation c;
  c.name = options.name.empty() ? identifier_of(options.model) : options.name;
  c.io = options.io;
  c.weights = options.weights;
  c.has_load = options.constants.any_copied();
  c.step_cycles = options.step_cycles;
  const Deadline deadline = make_graph(c, options, progress);

  // Schedules and plans are made by turns, so that their times are added up and told apart at the end.
  Choosing choosing = {options,  c.states, target,
                       deadline, c.times,  [&](int64_t bytes) { progress.found(bytes); }};
  choosing.cmsis_nn = calls;
  progress.begins("schedule and plan");
  Chosen chosen = choose(*c.graph, choosing);
  if (const auto reader = needs_all_rows(chosen.schedule); reader && options.optimize != Optimize::kSpeed)
    throw UserError(
        fmt::format("{}: --feed: all rows are needed before one can be let go: {}\n"
                    "  --optimize speed holds them all",
                    options.model, *reader));
  c.schedule = std::move(chosen.schedule);
  c.lifetimes = std::move(chosen.lifetimes);
  c.plan = std::move(chosen.plan);
  c.layerwise_arena = chosen.layerwise_arena;
  c.rungs = std::move(chosen.rungs);
  progress.finished(
      "schedule", schedule_words(c.schedule), [&] { return dump(c.schedule); },
      // What is left of the time is the scheduler's.
      -c.times.problem - c.times.plan - c.times.cycles);
  if (options.verbosity == Verbosity::kVerbose)
    for (const Limit& limit : c.schedule.limits_hit)
      fmt::print(stderr, "note: the search for {} ended at {}: the arena may be larger for it\n",
                 limit.search, counted(static_cast<size_t>(limit.count), limit.unit));
  copy_constants(c, options, progress);
  const Problem& problem = c.lifetimes.problem;
  progress.finished(
      "problem", counted(problem.buffers.size(), "buffer"), [&] { return dump(problem); }, c.times.problem);
  progress.finished(
      "plan", bytes_words(total_size(c.plan)), [&] { return dump(problem, c.plan); }, c.times.plan);
  progress.finished(
      "cycles", "of schedules to choose from", [] { return ""; }, c.times.cycles);
  return c;
}

// The map and the files, with kernels that others have in common with it, if any.
void write_up(Compilation& c, const CompileOptions& options, const Lowered& lowered, KernelLibrary* kernels,
              Progress& progress) {
  const Target& target = target_named(options.target);
  progress.begins("map and files");
  c.map = with_cycles(make_map(c.schedule, c.lifetimes, c.plan, options.io, c.layerwise_arena),
                      cycles_of(lowered, target), target.name);
  c.map.totals.stack = stack_bound(lowered, target.registers);
  const EmitOptions emitted = emit_options(options, c.name);
  c.map = with_constant_pools(std::move(c.map), c.schedule, emitted);
  if (options.rungs == Rungs::kListed)
    for (const Rung& rung : c.rungs) c.map.frontier.push_back(choice_of(rung, options, c.name));
  c.map.model = title_of(options);
  c.map.tool = "arenac " ARENAC_VERSION;
  c.map.options = options.words;
  for (MapBuffer& buffer : c.map.buffers) buffer.c = offset_name(c.name, buffer.id);
  // Of the model's own file, without external data.
  c.map.sha256 = sha256(read_file(options.model));
  // No file is written of a map in which two buffers collide, whoever is to blame.
  require_right("map", verify(c.map));
  progress.finished("map", "", [&] { return text_report(c.map); });

  c.files = kernels ? emit(lowered, c.map, emitted, *kernels) : emit(lowered, c.map, emitted);
  progress.finished("files", counted(c.files.size(), "file"), [] { return ""; });
}

}  // namespace

// Lowered once: the map's cycles, the stack's bound and the C are of the same statements.
Compilation compile(const CompileOptions& options) {
  Progress progress(options);
  Compilation c = planned(options, progress);
  const Lowered lowered = lower(c.schedule, c.lifetimes, c.plan);
  write_up(c, options, lowered, nullptr, progress);
  return c;
}

Compilation planned(const CompileOptions& options) {
  Progress progress(options);
  return planned(options, progress);
}

void write_up(Compilation& c, const CompileOptions& options, const Lowered& lowered, KernelLibrary& kernels) {
  require_right("plan of several models", verify(c.lifetimes.problem, c.plan));
  Progress progress(options);
  write_up(c, options, lowered, &kernels, progress);
}

// A header called math.h would be included in place of the system's.
std::string identifier_of(const std::string& model_path) {
  const std::string id = c_identifier(std::filesystem::path(model_path).stem().string());
  constexpr std::string_view kHeaders[] = {"math", "stddef", "stdint", "limits",
                                           "float"};  // that the C includes
  const bool is_header = std::find(std::begin(kHeaders), std::end(kHeaders), id) != std::end(kHeaders);
  return is_header || is_c_word(id) ? id + "_" : id;
}

}  // namespace arenac
