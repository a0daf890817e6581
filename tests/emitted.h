// Models in memory the whole way to numbers: compiled to C, many to a program, run on a poisoned arena.
//
//   std::vector<Emitted> batch = {{compile_graph(import_text(text), "u0", {}), inputs}};
//   run_emitted(batch, compilers()[0]);
//   batch[0].outputs[0], batch[0].fault
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "driver/compile.h"

namespace arenac {

struct Way {
  Io io = Io::kExternal;
  size_t target = 0;  // of targets()
  std::vector<Pool> pools = {};
  std::string scheduler = "layerwise";
  Code code = Code::kFast;
  std::vector<CallerRows> fed = {}, emitted = {};
  WeightsForm weights = WeightsForm::kC;
  std::optional<int64_t> step_cycles = {};
};

// What compile() does, from a graph.
Compilation compile_graph(Graph graph, const std::string& name, const Way& way,
                          const std::vector<StateNames>& states = {});

// The same of a schedule that there is, of a graph as it is after the rewrites.
Compilation compile_schedule(std::unique_ptr<const Graph> graph, Schedule schedule, const std::string& name,
                             const Way& way, const std::vector<StateNames>& states = {});

// What the compilation wrote into a file.
const std::string& file_named(const Compilation& c, const std::string& name);

struct Emitted {
  Compilation compilation;
  std::vector<Value> inputs = {};
  std::vector<Value> outputs = {};  // after run_emitted
  std::string fault = "";           // of the C compiler or the run
};

// One row of the table of C compilers.
struct CompilerRow {
  const char* name;
  std::vector<std::string> command;
  enum class Language { kC, kCxx } language;  // of the models; main is C
};
inline void PrintTo(const CompilerRow& row, std::ostream* out) { *out << row.name; }  // for GoogleTest
const std::vector<CompilerRow>& compilers();  // those that are installed: cc at least

// Builds every model of the batch into one program, which runs them one after the other. Names are distinct.
void run_emitted(std::vector<Emitted>& batch, const CompilerRow& compiler);

}  // namespace arenac
