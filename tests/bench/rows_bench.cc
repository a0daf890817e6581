// rows_bench: what running row by row costs in time and code, and what the cost model foresees of it.
//
//   CFLAGS="-O3 -march=x86-64-v3" rows_bench --model mobilenet --target portable
//
//   model            arena       ms  ratio  foreseen    code  ratio
//   mobilenet_...   36,944    0.621   1.00      1.00  19,320   1.00      whole layers, then what there is to
//                   12,872    0.640   1.03      1.05  21,004   1.09      choose from (arenac map --pareto)
//
// All are built with $CC and $CFLAGS and take turns, so that a busy machine disturbs all; the best time of
// each counts. Code is of a Cortex-M4 at -Os, where its compiler is installed. The last line says how well
// two of a model whose times differ are told apart, and the mean factor by which a foreseen ratio is wrong.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <sstream>

#include "driver/choose.h"
#include "driver/files.h"
#include "driver/process.h"
#include "driver/run.h"
#include "frontend/error.h"
#include "models/model_table.h"
#include "models/onnx_builder.h"

namespace arenac {
namespace {

constexpr int kTurns = 3, kSeconds = 600;
constexpr size_t kMostRungs = 6;      // of a model, besides whole layers
constexpr double kSlowest = 2.5;      // times whole layers, of these
constexpr double kDiffer = 1.03;      // times of two that are told apart
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
  explicit Variant(const CompileOptions& options) : compilation(compile(options)) {}

  const Compilation compilation;
  Program program{compilation};
  double best_ms = std::numeric_limits<double>::infinity();

  int64_t arena() const { return total_size(compilation.plan); }
  double cycles() const { return static_cast<double>(compilation.map.totals.cycles); }
};

// Of pairs of variants of one model.
struct Told {
  int right = 0, pairs = 0, ratios = 0;
  double logarithms = 0;  // of the factors by which foreseen ratios are wrong

  void note(const std::deque<Variant>& variants) {
    for (size_t a = 0; a < variants.size(); ++a)
      for (size_t b = 0; b < a; ++b) {
        const double time = variants[a].best_ms / variants[b].best_ms;
        const double foreseen = variants[a].cycles() / variants[b].cycles();
        if (b == 0) logarithms += std::abs(std::log(time / foreseen)), ++ratios;
        if (std::max(time, 1 / time) < kDiffer) continue;
        ++pairs;
        right += (time > 1) == (foreseen > 1);
      }
  }
};

CompileOptions options_of(const std::string& file, const std::string& target) {
  CompileOptions options;
  options.model = file;
  options.target = target;
  options.verbosity = Verbosity::kQuiet;
  return options;
}

// Whole layers, then some of what --pareto lists.
std::deque<Variant> variants_of(const CompileOptions& options) {
  std::deque<Variant> variants;
  CompileOptions listed = options;
  listed.optimize = Optimize::kSpeed;
  listed.rungs = Rungs::kListed;
  variants.emplace_back(listed);
  std::vector<int64_t> sizes;
  for (const Rung& rung : variants[0].compilation.rungs)
    if (!is_of_whole_layers(rung.schedule) && rung.cycles < kSlowest * variants[0].cycles())
      sizes.push_back(total_size(rung.plan));
  const size_t count = std::min(sizes.size(), kMostRungs);
  for (size_t k = 1; k <= count; ++k) {
    CompileOptions one = options;
    one.ram = sizes[sizes.size() * k / count - 1];
    variants.emplace_back(one);
  }
  return variants;
}

std::string ratio(double a, double b) { return fmt::format("{:.2f}", a / b); }

void compare(const std::string& name, const CompileOptions& options, Told& told) {
  std::deque<Variant> variants = variants_of(options);
  if (variants.size() == 1) return;
  const Compilation& whole = variants[0].compilation;
  const std::vector<Value> inputs = some_inputs(*whole.graph);
  const auto macs = static_cast<double>(whole.map.totals.macs);
  const int repeat = static_cast<int>(std::clamp(kRunsForMacs / macs, 3.0, 1000.0));
  for (int turn = 0; turn < kTurns; ++turn)
    for (Variant& v : variants) v.best_ms = std::min(v.best_ms, *v.program.run(inputs, repeat).best_ms);
  const auto code = code_bytes(whole);
  for (const Variant& v : variants) {
    fmt::print("{:<26}{:>11}{:>10.3f}{:>7}{:>10}", &v == &variants[0] ? name : "", v.arena(), v.best_ms,
               ratio(v.best_ms, variants[0].best_ms), ratio(v.cycles(), variants[0].cycles()));
    if (const auto bytes = code ? code_bytes(v.compilation) : std::nullopt)
      fmt::print("{:>10}{:>7}", *bytes, ratio(static_cast<double>(*bytes), static_cast<double>(*code)));
    fmt::print("\n");
  }
  std::fflush(stdout);
  told.note(variants);
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

  fmt::print("{:<26}{:>11}{:>10}{:>7}{:>10}{:>10}{:>7}\n", "model", "arena", "ms", "ratio", "foreseen",
             "code", "ratio");
  const TemporaryFolder folder;
  Told told;
  for (const models::ModelRow& row : models::model_table()) {
    const std::string name = row.name;
    if (name.find(part) == std::string::npos) continue;
    write_files(folder.path(), {{name + ".onnx", models::serialize(row.make())}});
    compare(name, options_of((folder.path() / (name + ".onnx")).string(), target), told);
  }
  if (told.ratios > 0)
    fmt::print("{} of {} pairs in the right order; foreseen ratios wrong by a factor of {:.3f} in the mean\n",
               told.right, told.pairs, std::exp(told.logarithms / told.ratios));
}
