// A compiled model, built and run on this machine.
//
//   std::vector<Held> inputs = read_inputs("test_data_set_0", declared_inputs("kws.onnx"));
//   Compilation c = compile({.model = "kws.onnx"});
//   RunResult result = build_and_run(c, parts_of(inputs), {});     // result.outputs[0], result.best_ms
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "driver/boards.h"
#include "driver/compile.h"
#include "driver/files.h"

namespace arenac {

// Where a program runs, and what it counts.
struct ProgramOptions {
  const Core* board = nullptr;  // none: this machine
  std::string runner = {};      // the command that takes the program elsewhere, "flash.sh {}"; empty: none
  bool profile = false;
};

struct RunOptions {
  int repeat = 0;  // timed runs after the first; on this machine alone
  ProgramOptions program = {};
  std::filesystem::path keep = {};  // leave all generated files here; empty: nowhere
  ProgressLine::Shown progress = ProgressLine::Shown::kNever;
};

struct RunResult {
  std::vector<Value> outputs;
  std::optional<double> best_ms;  // of one run; with repeat > 0
  // Of a run, instructions on a board and nanoseconds here: all of it, then of each step before which a hook
  // stands (a group's steps are its first one's); on a board, or with a profile.
  std::vector<double> spent = {};
};

// For each input: input_K.pb, else NAME.npy, else input_K.npy. UserError naming what is missing.
std::vector<Held> read_inputs(const std::filesystem::path& folder, const std::vector<Declaration>& declared);

// Values for the inputs of a model compiled with these options, the states of streams excepted, the same in
// every run: floats from -1 to 1, bytes of any value, other integers and truth values 0 or 1 (indices lie
// inside); for states zeros, for an input whose value is given that value. UserError if inputs and outputs
// take more than 128 MiB.
std::vector<Value> seeded_inputs(const Compilation& compilation, const CompileOptions& options);

// All that they hold, one after the other.
std::vector<Value> parts_of(const std::vector<Held>& inputs);

// The options with the input, if they leave it open, bound to the shapes of what it holds, and a tensor of
// few elements to the value itself where the compilation must know it.
ImportOptions with_bound_input(ImportOptions options, const Declaration& declared, const Held& held);

// The program of a compiled model, in a private temporary folder; the compilation outlives it.
class Program {
 public:
  // Builds with $CC (default cc, of a board its compiler) and $CFLAGS (default -O2), both split at spaces.
  // UserError when the compiler fails or takes too long.
  explicit Program(const Compilation& compilation, const ProgramOptions& options = {});

  // Runs it as a child process and reads back what it computed; then `repeat` timed runs more. `inputs` may
  // lack the states of streams, which then are as before the first call. UserError when an input has not the
  // type or shape that the model was compiled for, or when time runs out.
  RunResult run(const std::vector<Value>& inputs, int repeat = 0) const;

 private:
  const Compilation& compilation_;
  const ProgramOptions options_;
  TemporaryFolder folder_;
};

// Builds and runs it once.
RunResult build_and_run(const Compilation& compilation, const std::vector<Value>& inputs,
                        const RunOptions& options);

}  // namespace arenac
