// rows_bench: what running row by row costs in time and code.
//
//   CFLAGS="-O3 -march=native" rows_bench --model mobilenet --target portable
//
// The bundled networks that have groups of rows: "whole" is layer by layer, "rows" the smallest arena without
// computing anything twice. Both are built with $CC and $CFLAGS and take turns, so that a busy machine
// disturbs both; the best time of each counts. Code is of a Cortex-M4 at -Os, where its compiler is
// installed.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <memory>
#include <sstream>

#include "driver/files.h"
#include "driver/process.h"
#include "driver/run.h"
#include "frontend/error.h"
#include "models/model_table.h"
#include "models/onnx_builder.h"

namespace arenac {
namespace {

constexpr int kTurns = 3, kSeconds = 600;
constexpr double kRunsForMacs = 3e8;  // a turn has as many runs as come to these multiply-accumulates

std::vector<Value> some_inputs(const Graph& graph) {
  std::vector<Value> inputs;
  for (TensorId id : graph.inputs) {
    Value value(graph.tensors[id].type, graph.tensors[id].shape);
    for (int64_t k = 0; k < value.count(); ++k) {
      const int64_t digit = k * 7 % 19 - 9;
      store(value, k,
            is_float(value.type) ? Scalar{.f = static_cast<double>(digit) / 8} : Scalar{.i = digit});
    }
    inputs.push_back(std::move(value));
  }
  return inputs;
}

// Bytes of instructions; nothing where there is no compiler for the target.
std::optional<int64_t> code_bytes(const Compilation& c) {
  const TemporaryFolder folder;
  write_files(folder.path(), c.files);
  const auto run = [&](const std::string& command) {
    return run_process(words_of(command), folder.path(), kSeconds);
  };
  try {
    const Finished built = run(fmt::format(
        "arm-none-eabi-gcc -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard --specs=picolibc.specs -Os "
        "-ffunction-sections -c {}.c -o model.o",
        c.name));
    if (built.status != 0) return std::nullopt;
    int64_t bytes = 0, size;
    std::string line, section;
    std::istringstream sections(run("arm-none-eabi-size -A model.o").output);
    while (std::getline(sections, line))
      if (std::istringstream(line) >> section >> size && section.starts_with(".text")) bytes += size;
    return bytes;
  } catch (const UserError&) {
    return std::nullopt;
  }
}

struct Variant {
  std::unique_ptr<const Compilation> compilation;
  Program program{*compilation};
  double best_ms = std::numeric_limits<double>::infinity();
};

std::string ratio(double a, double b) { return fmt::format("{:.2f}", a / b); }

void compare(const std::string& name, const std::string& file, const std::string& target) {
  const auto variant = [&](Optimize optimize) {
    CompileOptions options;
    options.model = file;
    options.target = target;
    options.optimize = optimize;
    options.slowdown = std::numeric_limits<double>::infinity();
    options.verbosity = Verbosity::kQuiet;
    return Variant{std::make_unique<const Compilation>(compile(options))};
  };
  Variant whole = variant(Optimize::kSpeed), rows = variant(Optimize::kBalanced);
  if (rows.compilation->schedule.groups.empty()) return;
  const std::vector<Value> inputs = some_inputs(*whole.compilation->graph);
  const auto macs = static_cast<double>(whole.compilation->map.totals.macs);
  const int repeat = static_cast<int>(std::clamp(kRunsForMacs / macs, 3.0, 1000.0));
  for (int turn = 0; turn < kTurns; ++turn)
    for (Variant* v : {&whole, &rows})
      v->best_ms = std::min(v->best_ms, *v->program.run(inputs, repeat).best_ms);
  const auto arena = [](const Variant& v) { return v.compilation->plan.pools[0].size; };
  fmt::print("{:<26}{:>11}{:>10}{:>12.3f}{:>10.3f}{:>7}", name, arena(whole), arena(rows), whole.best_ms,
             rows.best_ms, ratio(rows.best_ms, whole.best_ms));
  const auto code = code_bytes(*whole.compilation), code_rows = code_bytes(*rows.compilation);
  if (code && code_rows)
    fmt::print("{:>12}{:>8}{:>7}", *code, *code_rows,
               ratio(static_cast<double>(*code_rows), static_cast<double>(*code)));
  fmt::print("\n");
  std::fflush(stdout);
}

}  // namespace
}  // namespace arenac

int main(int argc, char** argv) {
  using namespace arenac;
  std::string part, target = "portable";
  CLI::App app("time and code of rows beside whole layers");
  app.add_option("--model", part, "part of the names to run");
  app.add_option("--target", target, "what kernels are shaped for");
  CLI11_PARSE(app, argc, argv);

  fmt::print("{:<26}{:>11}{:>10}{:>12}{:>10}{:>7}{:>12}{:>8}{:>7}\n", "model", "arena whole", "rows",
             "ms whole", "rows", "ratio", "code whole", "rows", "ratio");
  const TemporaryFolder folder;
  for (const models::ModelRow& row : models::model_table()) {
    const std::string name = row.name;
    if (name.find(part) == std::string::npos) continue;
    write_files(folder.path(), {{name + ".onnx", models::serialize(row.make())}});
    compare(name, (folder.path() / (name + ".onnx")).string(), target);
  }
}
