// The pipeline: a model's file to C, stage by stage.
//
//   Compilation c = compile({.model = "kws.onnx", .name = "kws"});
//   write_files("gen", c.files);
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "codegen/memory_map.h"
#include "driver/progress.h"
#include "frontend/import.h"
#include "frontend/narrow_constants.h"
#include "frontend/stream.h"
#include "planner/lifetime.h"
#include "planner/problem.h"
#include "scheduler/caller_rows.h"
#include "scheduler/schedule.h"

namespace arenac {

// The stages after the rewrites, whose products --dump-after can print. "graph": what is scheduled.
inline constexpr const char* kStages[] = {"graph", "schedule", "problem", "plan", "map"};

// What --dump-after takes: "import", the names of all rewrites (frontend/rewrites.h), kStages.
std::vector<std::string> dumped_stages();

enum class Verbosity { kQuiet, kNormal, kVerbose };

inline ProgressLine::Shown progress_of(Verbosity verbosity) {
  return verbosity == Verbosity::kQuiet ? ProgressLine::Shown::kNever : ProgressLine::Shown::kOnTerminal;
}

// What to prefer: the smallest arena, the smallest in little more time than whole layers, or these.
enum class Optimize { kRam, kBalanced, kSpeed };

// Whether a compilation lists the schedules that there are to choose from: kNearby those that it looks at
// anyhow, kListed all, in the map too.
enum class Rungs { kUnlisted, kNearby, kListed };

// kReordered: see scheduler/sums.h.
enum class SumOrder { kAsGiven, kReordered };

// What computes the layers: kernels of our own, or where it has them the functions of CMSIS-NN
// (scheduler/cmsis_nn.h).
enum class LayerKernels { kOwn, kCmsisNn };

struct CompileOptions {
  std::string model;  // path
  std::string name;   // C prefix, an identifier; empty: from the file's name
  ImportOptions import;
  std::string scheduler, planner, target;   // names in their tables; empty: the default
  Optimize optimize = Optimize::kBalanced;  // without `scheduler` and `ram`
  double slowdown = 0.1;                    // part of the time of whole layers that `balanced` may take more
  std::optional<int64_t> ram;               // bytes that the arena must fit
  Rungs rungs = Rungs::kUnlisted;
  // For the searches: most of it for the schedule's, the rest for that of each plan.
  double seconds = std::numeric_limits<double>::infinity();
  std::vector<Pool> pools;            // fastest first; empty: one without a capacity
  std::vector<std::string> sections;  // see EmitOptions
  std::vector<Pin> pins;
  ConstantPools constants;
  std::vector<StateNames> states;
  std::vector<CallerRows> fed, emitted;  // inputs and outputs that the caller passes row by row
  std::vector<StreamInput> streams;      // none: the model of one stretch of time that it is
  Io io = Io::kExternal;
  WeightsForm weights = WeightsForm::kAuto;
  ConstantWidth constant_width = ConstantWidth::kAuto;
  std::optional<Code> code;  // none: the target's
  LayerKernels kernels = LayerKernels::kOwn;
  SumOrder sums = SumOrder::kAsGiven;
  std::optional<int64_t> step_cycles;  // these two: see EmitOptions
  std::string memory_of;
  std::string dump_after;  // one of dumped_stages(); empty: none
  std::string words;       // these options as a command line has them, for the map
  Verbosity verbosity = Verbosity::kNormal;
};

// What the options, or else their target, prefer.
Code code_of(const CompileOptions& options);

// Of a program with this C prefix.
EmitOptions emit_options(const CompileOptions& options, const std::string& name);

// Seconds, of all the schedules that were tried.
struct StageTimes {
  double problem = 0, plan = 0, cycles = 0;
};

// One of the schedules that there are to choose from.
struct Rung {
  Schedule schedule;
  Lifetimes lifetimes;  // of one pool with room enough
  Plan plan;
  double cycles;
};

// Every product of one compilation.
struct Compilation {
  std::string name;
  Io io = Io::kExternal;
  WeightsForm weights = WeightsForm::kAuto;
  std::optional<int64_t> step_cycles = {};
  bool has_load = false;               // NAME_load comes before the first run
  std::unique_ptr<const Graph> graph;  // which the schedule refers to
  std::vector<StateNames> states;      // asked for, then of streams
  Schedule schedule;
  Lifetimes lifetimes;
  Plan plan;
  std::optional<int64_t> layerwise_arena = {};  // see Chosen
  MemoryMap map;
  std::vector<File> files;
  StageTimes times = {};
  // Where they are asked for, those that are not slower than all that are no larger: the fastest first.
  std::vector<Rung> rungs = {};
};

// The problem as `arenac plan` reads it, and its solution as `arenac verify` does (planner/csv.h).
std::string dump(const Problem& problem);
std::string dump(const Problem& problem, const Plan& plan);

// Runs and verifies every stage. Throws UserError when the model is at fault, and with Exit::kDoesNotFit when
// the arena is larger than `ram` or a pool than its capacity. Warnings, timings and progress go to standard
// error.
Compilation compile(const CompileOptions& options);

// The same in two parts, between which the plan may become another one of the same problem.
// What is written has kernels in common with others.
Compilation planned(const CompileOptions& options);
void write_up(Compilation& c, const CompileOptions& options, const Lowered& lowered, KernelLibrary& kernels);

// Letters that the C names may begin with. Of what a linker sees, C99 promises that 31 are read: behind up to
// kReadByLinkers letters "_reset" and "_reset_static", "_w_1" and "_w_9999" differ within them.
constexpr size_t kReadByLinkers = 20, kLongestName = 48;

// "my-net.v2.onnx" -> "my_net_v2": what the C names begin with.
std::string identifier_of(const std::string& model_path);

}  // namespace arenac
