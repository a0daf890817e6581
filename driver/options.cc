// From words to Options:
//
//   add_commands     what CLI11 is to find; checks of single words
//   parse            Raw: words as they are, numbers as numbers
//   interpret_*      values, and what goes together
//   Options          one command with all that it needs
//
// What a word means alone is option_words.h; what a mistyped one should have been mistyped.h.
#include "driver/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <map>

#include "codegen/c_text.h"
#include "codegen/emit.h"
#include "codegen/reports.h"
#include "driver/boards.h"
#include "driver/exports.h"
#include "driver/files.h"
#include "driver/list.h"
#include "driver/mistyped.h"
#include "driver/option_words.h"
#include "driver/process.h"
#include "frontend/bindings.h"
#include "frontend/error.h"
#include "frontend/nearest.h"
#include "planner/planners.h"
#include "scheduler/schedule.h"

namespace arenac {
namespace {

constexpr const char* kExitStatus = R"(
Exit status: 0 done; 1 the model or input is at fault or unsupported; 2 wrong usage; 3 does not fit the given
memory; 4 run or verify found a difference; 70 a fault of arenac itself.)";

// What helps end with.
struct Example {
  const char *command, *words, *meaning;
};
constexpr Example kExamples[] = {
    {"compile", "kws.onnx -o gen", "gen/kws.c, gen/kws.h, gen/kws_map.json, ..."},
    {"compile", "kws.onnx -o gen --ram 64K", "the fastest schedule whose arena fits 64 KB"},
    {"compile", "bert.onnx --dim sequence=128", "a symbolic dimension becomes a number"},
    {"compile", "kws.onnx --target cortex-m --io arena",
     "for a microcontroller, inputs and outputs in the arena"},
    {"export", "kws.onnx --for zephyr -o modules/kws", "a module that west builds"},
    {"map", "kws.onnx", "where every buffer lies, and when"},
    {"map", "gen/kws_map.json --html kws.html", "the same as a page to explore"},
    {"map", "kws.onnx --pareto", "how small the arena can be, and at what price"},
    {"explain", "kws.onnx", "what keeps a step from running row by row"},
    {"run", "kws.onnx", "compile, build with $CC, run on made-up inputs"},
    {"run", "kws.onnx --inputs test_data_set_0", "on input_0.pb, ...; compares with output_0.pb, ..."},
    {"run", "kws.onnx --inputs data --outputs results", "on data/NAME.npy; writes results/output_0.pb, ..."},
    {"run", "kws.onnx --inputs data --repeat 100", "also how long a run takes at best"},
    {"run", "kws.onnx --on qemu-m4 --profile", "on an emulated Cortex-M4, instructions of each step"},
    {"plan", "problem.csv -o solution.csv", "the smallest makespan that it finds"},
    {"plan", "problem.csv --capacity 1M", "any plan within 1 MB, else exit status 3"},
    {"plan", "problem.csv --planner all", "what each known algorithm makes of it"},
    {"verify", "gen/kws_map.json", "no two buffers share a byte at a time"},
    {"verify", "problem.csv solution.csv", "the same of a solution"},
    {"list", "operators", "what can be compiled"},
    {"list", "planners --json", "a table for other programs"},
};

// Those of one command; of arenac itself, the first of each and what its exit status means.
std::string examples(const std::string& of_command) {
  std::string text = "Examples:\n", last;
  for (const auto& [command, words, meaning] : kExamples) {
    const bool shown = of_command.empty() ? last != command : of_command == command;
    last = command;
    if (shown) text += fmt::format("  {:<55} {}\n", fmt::format("arenac {} {}", command, words), meaning);
  }
  return of_command.empty() ? text + kExitStatus : text;
}

// What the command line holds before it is understood.
struct Raw {
  BindingWords bindings;
  std::vector<std::string> pools, pins, states, streams, feeds, emits, connections;
  std::optional<int64_t> capacity, moves;
  std::optional<std::string> output;  // compile's
  std::optional<double> rtol, atol, quanta;
  std::string io = "external", weights, optimize = "balanced", code, constants, kernels = "own", together;
  bool quiet = false, verbose = false, json = false, reassociate = false, pareto = false;
  std::optional<double> slowdown;              // percent
  std::map<std::string, std::string> reports;  // name -> file
};

// Words that an option takes are those of the table: a new row is on the command line without a change here.
template <typename Table>
std::vector<std::string> names_in(const Table& table) {
  std::vector<std::string> names;
  for (const auto& row : table) names.emplace_back(row.name);
  return names;
}

constexpr int kMostThreads = 256;

// The options of the result: of these sections, as given, in the order of the help.
constexpr const char *kModelSection = "The model", *kMemorySection = "Memory and time",
                     *kCodeSection = "Generated C";

// For the map: what makes a result again, and nothing of messages and files.
std::string words_given(const CLI::App& command) {
  std::string words;
  for (const CLI::Option* option : command.get_options()) {
    const std::string& group = option->get_group();
    if (option->count() == 0 || (group != kModelSection && group != kMemorySection && group != kCodeSection))
      continue;
    for (const std::string& value : option->reduced_results()) {
      words += (words.empty() ? "" : " ") + option->get_name();
      if (option->get_expected_min() > 0) words += " " + shell_quoted(value);
    }
  }
  return words;
}

Options printing(std::string text) {
  Options options;
  options.text = std::move(text);
  return options;
}

// The options that compile, map and run share.
void add_compile_options(CLI::App& command, CompileOptions& compile, Raw& raw) {
  const auto section = [&](const char* title) { command.option_defaults()->group(title); };
  // One value for each time that the option is given: a positional word behind it is not taken for another.
  const auto repeatable = [&](const char* name, std::vector<std::string>& values, const char* help) {
    return command.add_option(name, values, help)->allow_extra_args(false);
  };
  section(kCodeSection);
  command.add_option("--name", compile.name, "prefix of the C names (default: from the file's name)");
  section(kModelSection);
  repeatable("--dim", raw.bindings.dims, "bind a symbolic dimension")->type_name("NAME=N");
  repeatable("--shape", raw.bindings.shapes,
             "bind a whole input; of a sequence each element (INPUT=2x3,4x3); an optional that holds nothing "
             "and an empty sequence are INPUT=none")
      ->type_name("INPUT=1x3x224x224");
  repeatable("--value", raw.bindings.values, "what an input always holds, where it must be known (a shape)")
      ->type_name("INPUT=1,3,224");
  section(kMemorySection);
  command.add_option("--ram", compile.ram, "the arena must fit (suffixes K, M); else exit 3")
      ->transform(size_in_bytes())
      ->type_name("N");
  command.add_option("--optimize", raw.optimize, "what to prefer")
      ->check(one_of({"ram", "speed", "balanced"}))
      ->capture_default_str();
  command
      .add_option("--slowdown", raw.slowdown,
                  "cycles that `balanced` may take more than whole layers, in percent (default: 10%)")
      ->check(number_from_0())
      ->transform([](const std::string& text) { return text.substr(0, text.size() - text.ends_with('%')); })
      ->type_name("PERCENT");
  command.add_option("--scheduler", compile.scheduler, "a row of `arenac list schedulers`")
      ->check(one_of(names_in(schedulers())));
  command.add_option("--planner", compile.planner, "a row of `arenac list planners`")
      ->check(one_of(names_in(kPlanners)).description(""))
      ->type_name("NAME");
  command.add_option("--time", compile.seconds, "bound on the searches for a schedule and a plan")
      ->check(number_above_0())
      ->type_name("SECONDS");
  section(kCodeSection);
  command
      .add_option("--code", raw.code,
                  "each kernel by itself, or those alike as one with a table of numbers (default: small for "
                  "microcontrollers, else fast)")
      ->check(one_of({"fast", "small"}));
  command
      .add_option(
          "--constants", raw.constants,
          "weights that the model has as integers or 16-bit floats: as they are, or as the floats they "
          "are computed with (default: integers narrow for microcontrollers, else where no cache holds them)")
      ->check(one_of({"narrow", "wide"}));
  section(kMemorySection);
  command.add_flag("--reassociate", raw.reassociate,
                   "sums of several tensors in the order that needs least memory: floats round elsewhere");
  repeatable("--pool", raw.pools,
             "a memory, fastest first; copy=start: NAME_load copies its constants there; copy=group: each "
             "group does")
      ->type_name("name=sram,size=256K[,align=16][,section=.sram][,kind=arena][,copy=start][,wait=4]");
  repeatable("--pin", raw.pins, "put a tensor into a pool")->type_name("TENSOR=POOL");
  section(kModelSection);
  repeatable("--state", raw.states, "an output fed back to an input")->type_name("OUT=IN");
  repeatable("--stream", raw.streams,
             "the dimension of an input that is time: each call goes on from the last")
      ->type_name("INPUT=DIMENSION[:MOMENTS]");
  repeatable("--feed", raw.feeds, "an input that the caller passes row by row (NAME_feed)")
      ->type_name("INPUT[=DIMENSION]");
  repeatable("--emit", raw.emits, "an output whose rows a callback takes as they are done")
      ->type_name("OUTPUT[=DIMENSION]");
  section(kMemorySection);
  command.add_option("--io", raw.io, "inputs and outputs: caller's pointers, or planned inside the arena")
      ->check(one_of({"external", "arena"}))
      ->capture_default_str();
  section(kCodeSection);
  command
      .add_option("--step-cycles", compile.step_cycles,
                  "a run can come in parts of at most N cycles as estimated (NAME_begin, NAME_step)")
      ->check(CLI::Range(int64_t{1}, std::numeric_limits<int64_t>::max()).description(""))
      ->type_name("N");
  command.add_option("--weights", raw.weights, "how constants are emitted (default: by size)")
      ->check(one_of({"c", "incbin", "bin", "pointer"}));
  command
      .add_option("--target", compile.target, "what kernels are shaped for: a row of `arenac list targets`")
      ->check(one_of(names_in(targets())));
  command
      .add_option("--kernels", raw.kernels,
                  "what computes whole layers of int8: arenac's C, or calls of CMSIS-NN (Cortex-M; what is "
                  "near the middle of two steps may round to the other)")
      ->check(one_of({"own", "cmsis-nn"}))
      ->capture_default_str();
  section("Messages");
  command
      .add_option("--dump-after", compile.dump_after,
                  "print the product of a stage, not the map; compile then writes files only with -o")
      ->check(one_of(dumped_stages()));
  command.add_flag("--quiet", raw.quiet, "no warnings, no summary");
  command.add_flag("--verbose", raw.verbose, "also what each stage made, and its time");
}

// Of compile, export and map, which take several models.
void add_together_options(CLI::App& command, Raw& raw) {
  command.option_defaults()->group(kMemorySection);
  command
      .add_option("--together", raw.together,
                  "they share memory: one runs at a time, in any order (exclusive) or in this one "
                  "(sequential), or any "
                  "at any time (concurrent); a file has kinds within kinds")
      ->type_name("KIND|FILE.json");
  command
      .add_option("--connect", raw.connections,
                  "an output is the input of a later model, in the same bytes (sequential, --io arena)")
      ->allow_extra_args(false)
      ->type_name("A.OUTPUT=B.INPUT");
  command.option_defaults()->group("Options");
}

void add_plan_pools(CLI::App& command, Raw& raw) {
  command.add_option("--pool", raw.pools, "a memory, the preferred first; repeatable")
      ->allow_extra_args(false)
      ->type_name("name=sram,size=256K,align=16");
}

// Of plan and verify.
void add_plan_moves(CLI::App& command, Raw& raw) {
  command
      .add_option("--moves", raw.moves,
                  "buffers move between two pools, the fast one first, N bytes per step (suffixes K, M)")
      ->transform(size_in_bytes())
      ->type_name("N");
}

// The planner's own options: problems as files, and how long to search.
void add_plan_options(CLI::App& command, PlanOptions& plan, Raw& raw) {
  command.add_option("PROBLEM.csv", plan.problem, "'-': standard input")->required();
  command.add_option("-o,--output", plan.solution, "write the plan here ('-': standard output)")
      ->type_name("SOLUTION.csv");
  std::vector<std::string> planners = names_in(kPlanners);
  planners.emplace_back(kEveryPlanner);
  command.add_option("--planner", plan.planner, "a row of `arenac list planners`, or `all` for a table")
      ->check(one_of(planners).description(""))
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option("--capacity", raw.capacity, "any plan within N bytes (suffixes K, M) will do; else exit 3")
      ->transform(size_in_bytes())
      ->type_name("N");
  add_plan_pools(command, raw);
  add_plan_moves(command, raw);
  command.add_option("--time", plan.search.seconds, "search until then, or the plan is proven optimal")
      ->check(number_above_0())
      ->type_name("SECONDS");
  command.add_option("--effort", plan.search.effort, "times the work that seems worth it")
      ->check(number_above_0());
  command.add_option("--seed", plan.search.seed, "of the search's random choices");
  command.add_option("--threads", plan.search.threads, "of the search: the same plan, sooner")
      ->check(CLI::Range(1, kMostThreads).description(""))
      ->type_name("N");
  command.add_option("--warm-start", plan.warm_start, "a solution of a problem like this one, to begin with")
      ->type_name("SOLUTION.csv");
  command
      .add_option("--certificate", plan.certificate,
                  "write why no plan is below the lower bound, for verify to check")
      ->type_name("FILE.json");
  command.add_flag("--json", raw.json, "the summary as JSON");
  command.add_flag("--quiet", raw.quiet, "no progress on the terminal");
}

// One command after the other, in the order of the help.
void add_commands(CLI::App& app, Options& options, Raw& raw) {
  app.require_subcommand(1);
  app.footer(examples(""));
  app.set_version_flag("--version", "arenac " ARENAC_VERSION);
  const auto add = [&](const char* name, const char* help, Command command) {
    CLI::App* sub = app.add_subcommand(name, help);
    sub->footer(examples(name));
    sub->callback([&options, command] { options.command = command; });
    return sub;
  };

  CLI::App* compile = add("compile", "C sources, header and memory map from a model", Command::kCompile);
  compile->add_option("MODEL.onnx", options.files, "one, or several that run --together")->required();
  add_together_options(*compile, raw);
  compile->add_option("-o,--output", raw.output, "folder for the files (default: this one)");
  compile->add_option("--depfile", options.depfile, "write a Make rule: which files the outputs depend on");
  add_compile_options(*compile, options.compile, raw);

  CLI::App* component = add("export", "the same as a component of an ecosystem", Command::kExport);
  component->add_option("MODEL.onnx", options.files, "one, or several that run --together")->required();
  component->add_option("--for", options.ecosystem, "a row of `arenac list ecosystems`")
      ->required()
      ->check(one_of(names_in(kEcosystems)));
  add_together_options(*component, raw);
  component->add_option("-o,--output", raw.output, "folder of the component (default: this one)");
  add_compile_options(*component, options.compile, raw);

  CLI::App* map = add("map", "the memory map on the terminal, or as a file", Command::kMap);
  map->add_option("MODEL.onnx|MAP.json", options.files)->required();
  add_together_options(*map, raw);
  for (const Report& report : kReports)
    map->add_option(fmt::format("--{}", report.name), raw.reports[std::string(report.name)],
                    std::string(report.description))
        ->type_name("FILE");
  map->add_flag("--pareto", raw.pareto, "the schedules to choose from: less arena for more cycles");
  add_compile_options(*map, options.compile, raw);

  CLI::App* explain = add("explain", "why each step runs row by row, or whole", Command::kExplain);
  explain->add_option("MODEL.onnx", options.files)->required()->expected(1);
  add_compile_options(*explain, options.compile, raw);

  CLI::App* run = add("run", "compile, build with $CC and $CFLAGS, run here, compare", Command::kRun);
  run->add_option("MODEL.onnx", options.files)->required()->expected(1);
  run->add_option("--inputs", options.inputs,
                  "folder of input_0.pb, ... or NAME.npy (default: made-up values, the same each time)");
  run->add_option("--outputs", options.outputs,
                  "write output_0.pb, ... here (default: compare with the inputs' folder)");
  run->add_option("--rtol", raw.rtol, "relative tolerance (default: 1e-3)")->check(number_from_0());
  run->add_option("--atol", raw.atol, "absolute tolerance (default: 1e-5)")->check(number_from_0());
  run->add_option("--quanta", raw.quanta,
                  "steps that quantised outputs may be off (default: 1; with --rtol or --atol 0)")
      ->check(number_from_0());
  run->add_option("--repeat", options.repeat, "run N times more and print the best time")
      ->check(CLI::Range(1, 1000000));
  run->add_option("--on", options.board, "a board that QEMU emulates; its instructions are counted")
      ->check(one_of(board_names()));
  run->add_option(
         "--runner", options.runner,
         "runs elsewhere what $CC built ({} of the command), in a folder whose files it reads and writes")
      ->type_name("COMMAND");
  run->add_flag("--profile", options.profile, "what each step takes: instructions of a board, or time here");
  run->add_option("--keep", options.keep, "leave the generated files in this folder");
  add_compile_options(*run, options.compile, raw);

  CLI::App* plan = add("plan", "the planner alone: offsets for a problem as CSV", Command::kPlan);
  add_plan_options(*plan, options.plan, raw);

  CLI::App* verify = add("verify", "independent check of a plan", Command::kVerify);
  verify->add_option("MAP.json|PROBLEM.csv", options.files)->required()->expected(1)->allow_extra_args(false);
  verify->add_option("SOLUTION.csv", options.plan.solution, "of the problem");
  add_plan_pools(*verify, raw);
  add_plan_moves(*verify, raw);
  verify->add_option("--certificate", options.plan.certificate, "of its bounds, as plan wrote it")
      ->type_name("FILE.json");

  CLI::App* list = add("list", "what this arenac can do", Command::kList);
  list->add_option("TABLE", options.table)
      ->required()
      ->check(one_of({"operators", "schedulers", "planners", "ecosystems", "pools", "kernels", "reports",
                      "rewrites", "targets"}));
  list->add_flag("--json", raw.json, "as JSON");
}

constexpr int64_t kGreatestAlign = 65536;
// With the longest prefix that all linkers read and "_ALIGN" behind, macros have the 63 letters that C tells
// apart.
constexpr size_t kLongestPoolName = 63 - kReadByLinkers - std::string_view("__ALIGN").size();
constexpr const char* kSectionLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._$-";

// Names have to be distinct among all of them: each has macros.
std::vector<Pool> pools_of_all_kinds(const CompileOptions& compile) {
  std::vector<Pool> all = compile.pools;
  for (const ConstantPool& each : compile.constants.pools) all.push_back(each.pool);
  if (compile.constants.group) all.push_back(compile.constants.group->pool);
  return all;
}

// The pools of generated C, whose names and sections are in its text, and what lies in them.
void interpret_pools(const Raw& raw, CompileOptions& compile) {
  for (const std::string& text : raw.pools) {
    const auto [pool, section, kind, copied, wait] = pool_of(text);
    if (c_identifier(pool.name) != pool.name)
      wrong_usage(fmt::format("--pool {}: the name must be a C identifier; '{}' is one", text,
                              c_identifier(pool.name)));
    if (pool.name.size() > kLongestPoolName)
      wrong_usage(fmt::format("--pool {}: the name has {} letters, and {} are the most", text,
                              pool.name.size(), kLongestPoolName));
    for (const Pool& other : pools_of_all_kinds(compile))
      if (upper_case(other.name) == upper_case(pool.name))
        wrong_usage(fmt::format("--pool {}: there is a pool '{}' already", text, other.name));
    if (pool.align < 1 || pool.align > kGreatestAlign || (pool.align & (pool.align - 1)) != 0)
      wrong_usage(
          fmt::format("--pool {}: the alignment must be a power of two up to {}", text, kGreatestAlign));
    if (section.find_first_not_of(kSectionLetters) != std::string::npos)
      wrong_usage(fmt::format("--pool {}: a section's name has letters, digits and '._$-'", text));
    // How many pools of constants were named before it says which are faster.
    if (copied == Copied::kByGroup) {
      if (compile.constants.group)
        wrong_usage(fmt::format("--pool {}: groups copy into pool '{}' already; only one pool has copy=group",
                                text, compile.constants.group->pool.name));
      compile.constants.group = {pool, section, compile.constants.pools.size(), wait.value_or(0)};
      continue;
    }
    if (kind == "constants") {
      compile.constants.pools.push_back({pool, section, copied == Copied::kAtStart, wait});
    } else {
      compile.pools.push_back(pool);
      compile.sections.push_back(section);
    }
  }
  for (const std::string& text : raw.pins) {
    const auto [tensor, pool] = split_binding(text, "--pin", "TENSOR=POOL");
    // Which kind of tensor a pin is of, its pool says.
    const bool constants = std::ranges::count(compile.constants.pools, pool, &ConstantPool::name) > 0;
    if (compile.constants.group && compile.constants.group->pool.name == pool) {
      compile.constants.group->pins.push_back({tensor, pool});
      continue;
    }
    (constants ? compile.constants.pins : compile.pins).push_back({tensor, pool});
  }
  for (const std::string& text : raw.states) {
    const auto [output, input] = split_binding(text, "--state", "OUT=IN");
    compile.states.push_back({output, input});
  }
  for (const std::string& text : raw.streams) {
    const auto [input, time] = split_binding(text, "--stream", "INPUT=DIMENSION[:MOMENTS]");
    const std::vector<std::string> parts = split(time, ':');
    const auto dimension = integer_of(parts[0]), moments = integer_of(parts.size() == 2 ? parts[1] : "1");
    if (parts.size() > 2 || !dimension || !moments || *moments < 1)
      wrong_usage(
          fmt::format("--stream {}: '{}' is no dimension (0 is the first, -1 the last), or one and how "
                      "many moments a call brings, as in 2:1",
                      text, time));
    compile.streams.push_back({input, *dimension, parts.size() == 2 ? *moments : 0});
  }
}

// Pools of constants are of constants that the C or its assembler file has, and no pool of the arena is
// called as one.
void require_placeable(const CompileOptions& compile, const std::string& weights) {
  const ConstantPools& constants = compile.constants;
  if (!constants.pools.empty() &&
      (compile.weights == WeightsForm::kBin || compile.weights == WeightsForm::kPointer))
    wrong_usage(fmt::format("--pool name={},kind=constants: with --weights {} you place the bytes yourself",
                            constants.pools[0].name(), weights));
  if (!compile.pools.empty()) return;
  for (const Pool& pool : pools_of_all_kinds(compile))
    if (upper_case(pool.name) == "ARENA")
      wrong_usage(fmt::format("--pool name={}: the arena has this name", pool.name));
}

// No pool's member of the workspace, or macro, has the name of what an option adds.
void require_free_members(const CompileOptions& compile) {
  struct Row {
    const char* option;
    bool given;
    std::vector<std::string> names;
  };
  const Row rows[] = {{"--weights pointer", compile.weights == WeightsForm::kPointer, {"weights"}},
                      {"--step-cycles", compile.step_cycles.has_value(), {"in", "out", "at", "turn", "done"}},
                      {"--feed", !compile.fed.empty(), {"in", "out", "row", "done"}},
                      {"--emit", !compile.emitted.empty(), {"in", "out"}}};
  std::vector<Pool> pools = compile.pools;
  if (compile.constants.group) pools.push_back(compile.constants.group->pool);
  for (const Row& row : rows)
    for (const Pool& pool : pools)
      if (row.given && (std::ranges::count(row.names, pool.name) > 0 ||
                        (row.names[0] == "weights" && upper_case(pool.name) == "WEIGHTS_FILE")))
        wrong_usage(fmt::format("--pool name={}: with {} the C has that name for something else", pool.name,
                                row.option));
}

// "image", or "image=2": a name of the model may hold '=', too.
CallerRows caller_rows_of(const std::string& text) {
  const size_t equals = text.rfind('=');
  const auto dimension =
      equals == std::string::npos || equals == 0 ? std::nullopt : integer_of(text.substr(equals + 1));
  if (!dimension) return {text};
  return {text.substr(0, equals), *dimension};
}

// Of plan and verify.
std::vector<Pool> plan_pools_of(const Raw& raw) {
  std::vector<Pool> pools;
  for (const std::string& text : raw.pools) {
    const auto [pool, section, kind, copied, wait] = pool_of(text);
    if (!section.empty()) wrong_usage(fmt::format("--pool {}: a plan has no sections", text));
    if (kind != "arena") wrong_usage(fmt::format("--pool {}: a plan has no {}", text, kind));
    pools.push_back(pool);
  }
  return pools;
}

// Moves are planned by another search, which knows none of these.
void refuse_with_moves(const PlanOptions& plan) {
  if (!plan.bandwidth) return;
  if (plan.planner == kEveryPlanner) wrong_usage("--moves and --planner all do not go together: name one");
  if (!plan.warm_start.empty()) wrong_usage("--moves and --warm-start do not go together");
  if (!plan.certificate.empty()) wrong_usage("--moves and --certificate do not go together");
}

// With a capacity any plan within it will do: the search ends at the first.
void interpret_plan(const Raw& raw, Options& options) {
  PlanOptions& plan = options.plan;
  plan.pools = plan_pools_of(raw);
  if (raw.capacity) {
    if (!plan.pools.empty()) wrong_usage("--capacity is for one pool; with --pool, give each its size");
    plan.pools.push_back({"arena", raw.capacity});
    plan.search.goal = Goal::kFits;
  }
  plan.bandwidth = raw.moves;
  refuse_with_moves(plan);
  plan.search.stop = Stop::kAtDeadline;
  plan.format = raw.json ? PlanOptions::Format::kJson : PlanOptions::Format::kText;
  if (raw.quiet) plan.verbosity = PlanOptions::Verbosity::kQuiet;
}

// What is put into C has to be an identifier as it is: a prefix that was changed silently would not be found
// by whoever includes the header.
void require_identifier(const std::string& name) {
  if (name.size() > kLongestName)
    wrong_usage(fmt::format("--name '{}' has {} letters, and {} are the most; '{}' would do", name,
                            name.size(), kLongestName, identifier_of(name)));
  if (name != identifier_of(name))
    wrong_usage(fmt::format("--name '{}' is no C identifier; '{}' is", name, identifier_of(name)));
}

// From words to values, and what does not go together is refused with both options in the message.
void interpret_raw(const Raw& raw, Options& options) {
  if (options.command == Command::kPlan) return interpret_plan(raw, options);
  if (options.command == Command::kVerify) {
    options.plan.problem = options.files[0];
    options.plan.pools = plan_pools_of(raw);
    options.plan.bandwidth = raw.moves;
    if (options.plan.solution.empty() &&
        (!raw.pools.empty() || raw.moves || !options.plan.certificate.empty()))
      wrong_usage("--pool, --moves and --certificate are of a problem and its solution");
    return refuse_with_moves(options.plan);
  }
  // Whoever names a tolerance means that one alone.
  options.tolerance.quanta = raw.quanta.value_or(raw.rtol || raw.atol ? 0 : 1);
  options.tolerance.rtol = raw.rtol.value_or(options.tolerance.rtol);
  options.tolerance.atol = raw.atol.value_or(options.tolerance.atol);
  CompileOptions& compile = options.compile;
  compile.optimize = raw.optimize == "ram"     ? Optimize::kRam
                     : raw.optimize == "speed" ? Optimize::kSpeed
                                               : Optimize::kBalanced;
  if (raw.slowdown) compile.slowdown = *raw.slowdown / 100;
  if (raw.pareto) compile.rungs = Rungs::kListed;
  if (options.command == Command::kExplain) compile.rungs = Rungs::kNearby;
  bind_inputs(raw.bindings, compile.import);
  if (!options.files.empty()) compile.model = options.files[0];
  if (!compile.name.empty()) require_identifier(compile.name);
  if (raw.quiet && raw.verbose) wrong_usage("--quiet and --verbose exclude each other");
  interpret_pools(raw, compile);
  for (const std::string& text : raw.feeds) compile.fed.push_back(caller_rows_of(text));
  for (const std::string& text : raw.emits) compile.emitted.push_back(caller_rows_of(text));
  compile.sums = raw.reassociate ? SumOrder::kReordered : SumOrder::kAsGiven;
  if (!raw.code.empty()) compile.code = raw.code == "small" ? Code::kSmall : Code::kFast;
  if (!raw.constants.empty())
    compile.constant_width = raw.constants == "narrow" ? ConstantWidth::kNarrow : ConstantWidth::kWide;
  compile.kernels = raw.kernels == "cmsis-nn" ? LayerKernels::kCmsisNn : LayerKernels::kOwn;
  compile.io = raw.io == "arena" ? Io::kArena : Io::kExternal;
  static const std::map<std::string, WeightsForm> kWeights = {{"", WeightsForm::kAuto},
                                                              {"c", WeightsForm::kC},
                                                              {"incbin", WeightsForm::kIncbin},
                                                              {"bin", WeightsForm::kBin},
                                                              {"pointer", WeightsForm::kPointer}};
  compile.weights = kWeights.at(raw.weights);
  if (options.command == Command::kExport) {
    if (compile.weights == WeightsForm::kAuto) compile.weights = WeightsForm::kC;
    if (compile.weights != WeightsForm::kC && compile.weights != WeightsForm::kPointer)
      wrong_usage(
          fmt::format("export --weights {}: components have constants as c or take a pointer", raw.weights));
  }
  require_placeable(compile, raw.weights);
  if (compile.step_cycles && !compile.fed.empty())
    wrong_usage("--step-cycles and --feed exclude each other: rows divide the run");
  require_free_members(compile);
  compile.verbosity = raw.quiet ? Verbosity::kQuiet : raw.verbose ? Verbosity::kVerbose : Verbosity::kNormal;
  // A dump is for looking at: it writes files only where -o asks for them.
  options.output = raw.output.value_or(compile.dump_after.empty() ? "." : "");
  if (!options.runner.empty() && words_of(options.runner).empty()) wrong_usage("--runner is blank");
  if (!options.board.empty() && !options.runner.empty()) wrong_usage("--on and --runner exclude each other");
  if (options.repeat > 0 && (!options.board.empty() || !options.runner.empty()))
    wrong_usage("--repeat is for this machine, not for --on and --runner");
  if (!options.board.empty()) {
    if (compile.target.empty()) compile.target = find_board(options.board).target;
  }
  options.format = raw.json ? Options::Format::kJson : Options::Format::kText;
  for (const auto& [report, file] : raw.reports)
    if (!file.empty()) options.reports.push_back({report, file});
}

// "a.scores=b.features"
Connection connection_of(const std::string& text) {
  const auto [from, to] = split_binding(text, "--connect", "A.OUTPUT=B.INPUT");
  const size_t a = from.find('.'), b = to.find('.');
  if (a == std::string::npos || b == std::string::npos)
    wrong_usage(fmt::format("--connect '{}' is not A.OUTPUT=B.INPUT", text));
  return {from.substr(0, a), from.substr(a + 1), to.substr(0, b), to.substr(b + 1)};
}

// The options of one of the models: what begins with another's name and a colon is that one's.
Raw of_model(Raw raw, const std::string& name, const std::vector<std::string>& all) {
  for (auto* values : {&raw.bindings.dims, &raw.bindings.shapes, &raw.bindings.values, &raw.pins, &raw.states,
                       &raw.streams, &raw.feeds, &raw.emits}) {
    std::vector<std::string> own;
    for (const std::string& value : *values) {
      const size_t colon = value.find(':');
      const std::string of = value.substr(0, colon == std::string::npos ? 0 : colon);
      if (of == name)
        own.push_back(value.substr(colon + 1));
      else if (std::find(all.begin(), all.end(), of) == all.end())
        own.push_back(value);
    }
    *values = own;
  }
  return raw;
}

// Of a word, or of a file.
void interpret_turns(const std::string& word, const std::vector<std::string>& names, Together& together) {
  if (word.ends_with(".json")) {
    together.file = word;
    together.turns = turns_from_json(read_file(word), word, names);
    return;
  }
  const std::string complaint =
      fmt::format("--together {}: is neither a file that ends in .json nor a kind", word);
  together.turns = turns_of(kind_named(word, complaint), names.size());
}

// Each model has the options of all, and of those that begin with a model's name the ones that are its own.
void interpret_together(const Raw& raw, Options& options) {
  if (options.files.size() < 2) {
    if (!raw.together.empty() || !raw.connections.empty())
      wrong_usage("--together and --connect are for several models");
    return;
  }
  if (raw.together.empty())
    wrong_usage(fmt::format("{} models: --together exclusive, sequential or concurrent says how they run",
                            options.files.size()));
  Together& together = options.together;
  together.name = options.compile.name.empty() ? "together" : options.compile.name;
  require_identifier(together.name);
  for (const std::string& text : raw.connections) together.connections.push_back(connection_of(text));
  std::vector<std::string> names;
  for (const std::string& file : options.files) names.push_back(identifier_of(file));
  for (size_t k = 0; k < names.size(); ++k)
    if (names[k] == together.name || names[k] == together.name + "_kernels" ||
        std::find(names.begin(), names.begin() + k, names[k]) != names.begin() + k)
      wrong_usage(fmt::format("two things would be called '{}' in C; rename the model's file", names[k]));
  interpret_turns(raw.together, names, together);
  for (size_t k = 0; k < names.size(); ++k) {
    Options one;
    one.command = options.command;
    one.compile = options.compile;
    one.compile.name = names[k];
    one.files = {options.files[k]};
    interpret_raw(of_model(raw, names[k], names), one);
    one.compile.words = options.compile.words;
    one.compile.import.command = options.compile.import.command;
    options.reports = one.reports;
    options.models.push_back(std::move(one.compile));
  }
}

// Of an option that is given twice the last holds, as everywhere, unless it is one of a list.
void let_the_last_hold(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands({}))
    for (CLI::Option* option : command->get_options())
      if (!option->get_positional() && option->get_expected_max() == 1) option->take_last();
}

// No option takes an empty word: it is a script's variable that is not set.
void refuse_empty_words(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    for (const std::string& word : option->results())
      if (word.empty())
        wrong_usage(fmt::format("{} '': a value is needed (see arenac {} --help)", option->get_name(),
                                command.get_name()));
}

// `arenac help COMMAND` is `arenac COMMAND --help`.
std::vector<const char*> words_of_call(int argc, const char* const* argv) {
  std::vector<const char*> words(argv, argv + argc);
  if (argc < 2 || words[1] != std::string_view("help")) return words;
  words.erase(words.begin() + 1);
  words.resize(std::min<size_t>(words.size(), 2));
  words.push_back("--help");
  return words;
}

}  // namespace

// CLI11 finds the words; what it says of mistakes is replaced where we know better (mistyped.h).
Options parse_options(int argc, const char* const* argv) {
  const std::vector<const char*> words = words_of_call(argc, argv);
  CLI::App app("arenac: ONNX models to self-contained C with a statically planned arena.", "arenac");
  Options options;
  Raw raw;
  add_commands(app, options, raw);
  let_the_last_hold(app);
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::CallForVersion& version) {
    return printing(std::string(version.what()) + "\n");
  } catch (const CLI::CallForHelp&) {
    const auto subcommands = app.get_subcommands();
    if (!subcommands.empty()) return printing(subcommands[0]->help("arenac"));
    if (const auto problem = mistyped(app, {words.begin() + 1, words.end()}))
      wrong_usage(fmt::format("{} (see arenac --help)", *problem));
    return printing(app.help());
  } catch (const CLI::ParseError& error) {
    const auto problem = mistyped(app, {words.begin() + 1, words.end()});
    const auto parsed = app.get_subcommands();
    wrong_usage(fmt::format("{} (see arenac {}--help)", problem.value_or(error.what()),
                            parsed.empty() ? "" : parsed[0]->get_name() + " "));
  }
  // There is one subcommand; CLI11 calls it a list.
  for (const CLI::App* command : app.get_subcommands()) refuse_empty_words(*command);
  for (const CLI::App* command : app.get_subcommands()) options.compile.words = words_given(*command);
  options.compile.import.command = "arenac";
  for (int k = 1; k < argc; ++k) options.compile.import.command += " " + shell_quoted(argv[k]);
  interpret_together(raw, options);
  if (options.models.empty())
    interpret_raw(raw, options);
  else
    options.output = raw.output.value_or(options.compile.dump_after.empty() ? "." : "");
  return options;
}

}  // namespace arenac
