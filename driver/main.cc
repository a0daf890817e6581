// The arenac tool: one function a command.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>

#include "codegen/memory_map.h"
#include "codegen/report_words.h"
#include "codegen/reports.h"
#include "driver/compile.h"
#include "driver/explanation.h"
#include "driver/exports.h"
#include "driver/files.h"
#include "driver/list.h"
#include "driver/options.h"
#include "driver/outputs.h"
#include "driver/plan.h"
#include "driver/process.h"
#include "driver/profile.h"
#include "driver/run.h"
#include "driver/standard_streams.h"
#include "frontend/error.h"

namespace arenac {
namespace {

namespace fs = std::filesystem;

// "file: dependency dependency" as Make and Ninja read it.
std::string make_rule(const std::string& target, const std::vector<std::string>& dependencies) {
  const auto escaped_path = [](const std::string& path) {
    std::string text;
    for (const char c : path) {
      if (c == ' ' || c == '#' || c == '\\') text += '\\';
      if (c == '$') text += '$';
      text += c;
    }
    return text;
  };
  std::string rule = escaped_path(target) + ":";
  for (const std::string& path : dependencies) rule += " \\\n  " + escaped_path(path);
  return rule + "\n";
}

// The header stands for all outputs: they are written together.
std::vector<File> depfiles(const Options& options, const Compilation& c) {
  if (options.depfile.empty()) return {};
  const std::string target = (fs::path(options.output) / c.files.front().name).string();
  return {{options.depfile, make_rule(target, model_files(options.compile.model))}};
}

void print_totals(const std::vector<Compilation>& models, const Options& options, const MemoryMap& map) {
  const Together& together = options.together;
  for (const Compilation& c : models)
    fmt::print(stderr, "{}: arena {}; weights {}; {}\n", c.name, bytes_words(c.map.totals.arena),
               bytes_words(c.map.totals.weights), counted(c.map.steps.size(), "step"));
  fmt::print(stderr, "{}: arena {} for all\n", together.name, bytes_words(map.totals.arena));
  for (const ConstantPool& each : options.models[0].constants.pools) {
    int64_t bytes = 0;
    for (const MapConstant& constant : map.constants)
      bytes += constant.pool == each.name() ? constant.size : 0;
    fmt::print(stderr, "{}: {} of constants in {}\n", together.name, bytes_words(bytes), each.name());
  }
}

// Dependencies of all outputs are all models, and the file that says how they take turns.
Exit compile_several(const Options& options) {
  const CompiledTogether all = compile_together(options.models, options.together);
  if (options.output.empty()) return Exit::kDone;
  write_files(options.output, all.files);
  if (!options.depfile.empty()) {
    std::vector<std::string> dependencies;
    if (!options.together.file.empty()) dependencies.push_back(options.together.file);
    for (const CompileOptions& one : options.models)
      for (const std::string& file : model_files(one.model)) dependencies.push_back(file);
    const std::string target = (fs::path(options.output) / all.files.front().name).string();
    write_text(options.depfile, make_rule(target, dependencies));
  }
  if (options.models[0].verbosity != Verbosity::kQuiet) print_totals(all.models, options, all.map);
  return Exit::kDone;
}

// To standard error: standard output is for what was asked for.
void print_totals(const Compilation& c, const CompileOptions& options) {
  if (options.verbosity == Verbosity::kQuiet) return;
  fmt::print(stderr, "{}: arena {}; {}; weights {}; {}\n", c.name, bytes_words(c.map.totals.arena),
             placement_words(c.map.pools), bytes_words(c.map.totals.weights),
             counted(c.map.steps.size(), "step"));
  if (c.name.size() > kReadByLinkers)
    fmt::print(stderr,
               "note: every C name begins with the {} letters of '{}'; with a --name of up to {} they differ "
               "within the 31 that C promises linkers read\n",
               c.name.size(), c.name, kReadByLinkers);
  if (options.name.empty() && c.name == "model")
    fmt::print(stderr,
               "note: every C name begins with 'model', like another model.onnx's; --name gives a prefix\n");
}

// With --dump-after alone nothing is written.
Exit run_compile(const Options& options) {
  if (!options.models.empty()) return compile_several(options);
  const Compilation c = compile(options.compile);
  if (options.output.empty()) return Exit::kDone;
  write_files(options.output, c.files, depfiles(options, c));
  print_totals(c, options.compile);
  return Exit::kDone;
}

// The same files as compile writes, in the folders of the ecosystem.
Exit run_export(const Options& options) {
  const auto write = [&](const Generated& generated) {
    if (!options.output.empty()) write_files(options.output, exported(generated, options.ecosystem));
  };
  if (options.models.empty()) {
    const Compilation c = compile(options.compile);
    write({c.name, c.map.totals.arena, c.files, {sketch_of(c, options.compile)}});
    print_totals(c, options.compile);
    return Exit::kDone;
  }
  const CompiledTogether all = compile_together(options.models, options.together);
  std::vector<SketchModel> sketches;
  for (size_t m = 0; m < all.models.size(); ++m)
    sketches.push_back(sketch_of(all.models[m], options.models[m]));
  write({options.together.name, all.map.totals.arena, all.files, sketches});
  if (options.models[0].verbosity != Verbosity::kQuiet) print_totals(all.models, options, all.map);
  return Exit::kDone;
}

// The terminal's width, unless COLUMNS says another; UTF-8 where the locale is.
TextStyle style_of_output() {
  TextStyle style;
  winsize window = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) style.columns = window.ws_col;
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  const std::string columns = variable("COLUMNS");
  int given = 0;
  const auto [end, error] = std::from_chars(columns.data(), columns.data() + columns.size(), given);
  if (error == std::errc() && end == columns.data() + columns.size()) style.columns = given;
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (locale.empty()) locale = variable(name);
  std::transform(locale.begin(), locale.end(), locale.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  const bool utf8 = locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  style.charset = utf8 ? Charset::kUtf8 : Charset::kAscii;
  return style;
}

bool is_map_file(const std::string& path) { return path.ends_with(".json"); }

// From a model, or a map that a compilation has written: the same reports.
MemoryMap map_of(const Options& options) {
  if (!options.models.empty()) return compile_together(options.models, options.together).map;
  const std::string& path = options.files[0];
  if (!is_map_file(path)) return std::move(compile(options.compile).map);
  MemoryMap map = memory_map_from_json(read_file(path), path);
  if (options.compile.rungs == Rungs::kListed && map.frontier.empty())
    throw UserError(
        fmt::format("{}: holds no schedules to choose from: --pareto needs the model, or a map made with it",
                    path),
        Exit::kUsage);
  return map;
}

// Each report into its file; without any, text for the terminal.
Exit run_map(const Options& options) {
  const MemoryMap map = map_of(options);
  if (options.reports.empty() && options.compile.dump_after.empty())
    fmt::print("{}", options.compile.rungs == Rungs::kListed ? frontier_text(map)
                                                             : text_report(map, style_of_output()));
  std::vector<File> reports;
  for (const ReportRequest& request : options.reports)
    reports.push_back({request.file, find_report(request.report)->write(map)});
  write_texts(reports);
  return Exit::kDone;
}

Exit run_explain(const Options& options) {
  fmt::print("{}", explanation(compile(options.compile)));
  return Exit::kDone;
}

// The options with the model's inputs bound to what the files hold.
CompileOptions bound(CompileOptions options, const std::vector<Declaration>& declared,
                     const std::vector<Held>& inputs) {
  for (size_t k = 0; k < declared.size(); ++k) {
    // Where a call brings a part of the model's stretch of time, the file says nothing of that.
    const bool is_part =
        std::any_of(options.streams.begin(), options.streams.end(),
                    [&](const StreamInput& s) { return s.input == declared[k].name && s.moments > 0; });
    if (!is_part) options.import = with_bound_input(std::move(options.import), declared[k], inputs[k]);
  }
  return options;
}

// Where a model runs, and what is counted there. A runner's clock is that of what it runs on.
struct Place {
  std::string name, unit;
};
Place place_of(const Options& options) {
  if (!options.board.empty()) return {options.board, "instructions"};
  if (!options.runner.empty()) return {words_of(options.runner)[0], "ticks"};
  return {"this machine", "nanoseconds"};
}

// Times and counts first, then outputs: to files, in a summary, or compared.
Exit report_run(const Options& options, const Compilation& c, const RunResult& result) {
  if (result.best_ms) fmt::print("{:.6f} ms\n", *result.best_ms);
  const Place place = place_of(options);
  if (options.profile)
    fmt::print("{}", profile_text(c.map, result.spent, place.unit, place.name));
  else if (!result.spent.empty())
    fmt::print("{} {} on {}\n", grouped(std::llround(result.spent[0])), place.unit, place.name);
  const ModelOutputs outputs = {declared_outputs(options.compile.model),
                                held_outputs(*c.graph, result.outputs)};
  if (!options.outputs.empty()) write_outputs(outputs, options.outputs);
  if (options.inputs.empty()) print_summary(outputs);
  if (options.inputs.empty() || !options.outputs.empty()) return Exit::kDone;
  return compare_with_files(outputs, options.inputs, options.tolerance, options.compile.verbosity);
}

// Asked before anything is compiled: a board that is not installed should not cost minutes.
ProgramOptions program_of(const Options& options) {
  ProgramOptions program{.board = nullptr, .runner = options.runner, .profile = options.profile};
  if (options.board.empty()) return program;
  program.board = &find_board(options.board);
  if (!is_installed(*program.board))
    throw UserError(fmt::format("--on {}: {} with picolibc, or {}, is not installed", options.board,
                                program.board->compiler, words_of(program.board->emulator)[0]));
  return program;
}

// Inputs are read before the model is compiled, for their shapes bind what it leaves open.
Exit run_run(const Options& options) {
  const RunOptions how = {.repeat = options.repeat,
                          .program = program_of(options),
                          .keep = options.keep,
                          .progress = progress_of(options.compile.verbosity)};
  if (options.inputs.empty()) {
    const Compilation c = compile(options.compile);
    if (options.compile.verbosity != Verbosity::kQuiet)
      fmt::print(stderr, "no --inputs: made-up ones, the same each time\n");
    return report_run(options, c, build_and_run(c, seeded_inputs(c, options.compile), how));
  }
  if (!fs::is_directory(options.inputs))
    throw UserError(fmt::format("--inputs {}: no such folder", options.inputs), Exit::kUsage);
  const std::vector<Declaration> declared = declared_inputs(options.compile.model);
  const std::vector<Held> inputs = read_inputs(options.inputs, declared);
  const Compilation c = compile(bound(options.compile, declared, inputs));
  return report_run(options, c, build_and_run(c, parts_of(inputs), how));
}

// Of a solution with its problem, or of a map: exit status 4 is "not right", which scripts tell from "cannot
// be read".
Exit run_verify(const Options& options) {
  if (!options.plan.solution.empty()) {
    const auto fault = verify_solution(options.plan);
    fmt::print("{}: {}\n", options.plan.solution, fault.value_or("right"));
    return fault ? Exit::kDifference : Exit::kDone;
  }
  const MemoryMap map = memory_map_from_json(read_file(options.files[0]), options.files[0]);
  if (const auto fault = verify(map)) {
    fmt::print("{}: {}\n", options.files[0], *fault);
    return Exit::kDifference;
  }
  fmt::print("{}: right: {} in {}\n", options.files[0], counted(map.buffers.size(), "buffer"),
             bytes_words(map.totals.arena));
  return Exit::kDone;
}

Exit run_list(const Options& options) {
  const Listing rows = listing(options.table);
  fmt::print("{}", options.format == Options::Format::kJson ? to_json(rows) : to_text(rows));
  return Exit::kDone;
}

Exit run_command(const Options& options) {
  switch (options.command) {
    case Command::kCompile:
      return run_compile(options);
    case Command::kExport:
      return run_export(options);
    case Command::kExplain:
      return run_explain(options);
    case Command::kMap:
      return run_map(options);
    case Command::kRun:
      return run_run(options);
    case Command::kPlan:
      run_plan(options.plan);
      return Exit::kDone;
    case Command::kVerify:
      return run_verify(options);
    case Command::kList:
      return run_list(options);
    case Command::kPrint:
      break;
  }
  fmt::print("{}", options.text);
  return Exit::kDone;
}

// A system call that failed outside of what has a message of its own is the system's fault.
Exit run_and_print(int argc, char** argv) {
  try {
    open_standard_streams();
    const Exit status = run_command(parse_options(argc, argv));
    finish_standard_output();
    return status;
  } catch (const std::system_error& error) {
    fail(error);
  }
}

// A message that cannot be written changes nothing.
void say(const std::string& message) { std::fwrite(message.data(), 1, message.size(), stderr); }

// What a user can mend has its own status; all else is a fault of arenac and says so. Nothing escapes to the
// C++ runtime, whose message would be about that.
Exit guarded(int argc, char** argv) {
  try {
    return run_and_print(argc, argv);
  } catch (const UserError& error) {
    say(fmt::format("arenac: {}\n", error.what()));
    return error.status;
  } catch (const std::bad_alloc&) {
    say("arenac: out of memory\n");
    return Exit::kModel;
  } catch (const std::exception& error) {
    say(fmt::format("arenac: a fault of arenac itself, please report it: {}\n", error.what()));
    return Exit::kInternal;
  }
}

}  // namespace
}  // namespace arenac

int main(int argc, char** argv) { return static_cast<int>(arenac::guarded(argc, argv)); }
