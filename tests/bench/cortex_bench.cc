// cortex_bench: what the emitted C costs on microcontrollers, in executed instructions.
//
//   cortex_bench                                     every layer and network on every core: half an hour
//   cortex_bench --core m4 --model int8 --level -O2
//
// Of each model, beside its optimisation level: instructions per multiply-accumulate of one run, bytes of the
// model's machine code, bytes of stack. Counted in QEMU (tests/boards/boards.h says how: exact, the same in
// every run). On a Cortex-M4 CMSIS-NN's figures for the same shapes stand beside it. Layers are compiled as
// whole layers (--optimize speed), networks also row by row (balanced). What does not fit a board is not run
// there.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <numeric>

#include "codegen/cycles.h"
#include "driver/run.h"
#include "frontend/error.h"
#include "tests/boards/boards.h"
#include "tests/boards/measured_models.h"

namespace arenac {
namespace {

struct Choice {
  std::string model, target;  // part of the names; empty: the core's
  std::vector<std::string> levels = {"-Os", "-O2", "-O3"};
};

void print_row(const MeasuredModel& model, const Core& core, Optimize optimize, const Choice& choice) {
  const Compilation c =
      compile_for_board(model.make(), choice.target.empty() ? core.target : choice.target, optimize);
  const std::vector<Value> inputs = seeded_inputs(c, {});
  const Value host = build_and_run(c, inputs, {}).outputs[0];
  fmt::print("{:<10}{:<27}{:<9}", core.name, model.name, optimize == Optimize::kSpeed ? "speed" : "balanced");
  const std::vector<double> cycles =
      cycles_of(lower(c.schedule, c.lifetimes, c.plan), target_named(core.target));
  fmt::print("{:>6.2f}",
             std::accumulate(cycles.begin(), cycles.end(), 0.0) / static_cast<double>(c.map.totals.macs));
  for (const std::string& level : choice.levels) {
    try {
      const Measured m = measure(c, inputs[0], core, level);
      if (const auto fault = difference(m.output, host, kSameResult))
        throw InternalError(fmt::format("{} on {} at {}: {}", model.name, core.name, level, *fault));
      fmt::print("{:>9.2f}{:>8}{:>6}",
                 static_cast<double>(m.instructions) / static_cast<double>(c.map.totals.macs), m.text,
                 m.stack);
    } catch (const UserError& error) {
      const std::string words = error.what();
      if (words.find("will not fit") == words.npos && words.find("overflowed") == words.npos) throw;
      fmt::print("{:>9}{:>8}{:>6}", "-", "-", "-");
    }
  }
  if (std::string("m4") == core.name && model.cmsis_nn_o2 > 0)
    fmt::print("{:>14.2f}{:>5.2f}", model.cmsis_nn_os, model.cmsis_nn_o2);
  fmt::print("\n");
  std::fflush(stdout);
}

void print_core(const Core& core, const Choice& choice) {
  if (!is_installed(core)) {
    fmt::print("{}: not run: {} or {} is not installed\n", core.name, core.compiler, core.emulator);
    return;
  }
  fmt::print("{:<10}{:<27}{:<9}{:>6}", "core", "model", "optimize", "cost");
  for (const std::string& level : choice.levels)
    fmt::print("{:>5}{:>4}{:>8}{:>6}", level, "/MAC", "text", "stack");
  fmt::print("{}\n", core.name == std::string("m4") ? "  CMSIS-NN -Os -O2" : "");
  const auto chosen = [&](const MeasuredModel& m) {
    return std::string(m.name).find(choice.model) != std::string::npos;
  };
  for (const MeasuredModel& m : measured_layers())
    if (chosen(m)) print_row(m, core, Optimize::kSpeed, choice);
  for (const MeasuredModel& m : measured_networks())
    for (Optimize optimize : {Optimize::kSpeed, Optimize::kBalanced})
      if (chosen(m)) print_row(m, core, optimize, choice);
}

}  // namespace
}  // namespace arenac

int main(int argc, char** argv) {
  using namespace arenac;
  Choice choice;
  std::vector<std::string> names, known;
  for (const Core& core : cores()) known.emplace_back(core.name);
  CLI::App app("instructions per multiply-accumulate, code and stack on microcontrollers");
  app.add_option("--core", names, "cores to run (default: all)")->check(CLI::IsMember(known));
  app.add_option("--model", choice.model, "part of the names to run");
  app.add_option("--target", choice.target, "what kernels are shaped for (default: as suits the core)");
  app.add_option("--level", choice.levels, "levels of optimisation (default: -Os -O2 -O3)");
  CLI11_PARSE(app, argc, argv);
  try {
    for (const std::string& name : names.empty() ? known : names) print_core(*find_core(name), choice);
  } catch (const std::exception& error) {
    fmt::print(stderr, "cortex_bench: {}\n", error.what());
    return 1;
  }
}
