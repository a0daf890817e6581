// A compiled model, built and run on this machine.
//
//   std::vector<Value> inputs = read_inputs("test_data_set_0", declared_inputs("kws.onnx"));
//   Compilation c = compile({.model = "kws.onnx"});
//   RunResult result = build_and_run(c, inputs, {});     // result.outputs[0], result.best_ms
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "driver/compile.h"

namespace arenac {

struct RunOptions {
  int repeat = 0;              // timed runs after the first
  std::filesystem::path keep;  // leave all generated files here; empty: nowhere
};

struct RunResult {
  std::vector<Value> outputs;
  std::optional<double> best_ms;  // of one run; with repeat > 0
};

// For each input: input_K.pb, else NAME.npy, else input_K.npy. UserError naming what is missing.
std::vector<Value> read_inputs(const std::filesystem::path& folder,
                               const std::vector<InputDeclaration>& declared);

// The options with each input that they leave open bound to the shape of its value, and, if it has few
// elements, to the value itself where the compilation must know it.
ImportOptions with_bound_inputs(ImportOptions options, const std::vector<InputDeclaration>& declared,
                                const std::vector<Value>& inputs);

// Builds with $CC (default cc) and $CFLAGS (default -O2), both split at spaces, in a private temporary
// folder, runs the program as a child process and reads back what it computed. UserError when an input has
// not the type or shape that the model was compiled for, when the compiler fails, or when time runs out.
RunResult build_and_run(const Compilation& compilation, const std::vector<Value>& inputs,
                        const RunOptions& options);

}  // namespace arenac
