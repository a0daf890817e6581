// What the parts of the emitted C agree on: its names, its pools, and what the caller passes and takes.
//
//   CProgram program(lowered, map, options);
//   program.for_pools("{macro}_SIZE");              "KWS_ARENA_SIZE", or one a pool
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/c_text.h"
#include "codegen/emit.h"
#include "codegen/weights.h"

namespace arenac {

constexpr size_t kLongestIdentifier = 63;  // that C99 tells apart

// The model's inputs or outputs without the states.
struct CallerTensors {
  std::vector<TensorId> ids;
  // Of the model; of the struct; behind KWS_INPUT_ and kws_input_.
  std::vector<std::string> names, members, macros, identifiers;
};

// An input that comes row by row.
struct Feed {
  size_t input;                // of the program's inputs
  size_t group, stage;         // that copies the rows
  int64_t rows, needed, size;  // there are; the run ends after; elements of one
};

// A constant that the steps [begin, end) read in a copy (group_copies.h).
struct ConstantCopy {
  int weight;  // of Weights::all
  int buffer;
  int64_t begin, end;
};

// It refers to what it was made of.
struct CProgram {
  const Lowered& lowered;
  const Schedule& schedule;
  const Graph& graph;
  const Lifetimes& lifetimes;
  const Plan& plan;
  const MemoryMap& map;
  const EmitOptions& options;
  std::string name, upper;                      // kws, KWS
  std::vector<std::string> pools, pool_macros;  // as C identifiers
  std::vector<std::string> constant_macros;     // per pool of constants
  Weights weights;
  std::vector<ConstantCopy> copies;
  CallerTensors inputs, outputs;
  std::optional<Feed> feed;
  size_t parts = 0;  // of a run in parts (EmitOptions::step_cycles); 0: it is none

  CProgram(const Lowered& lowered, const MemoryMap& map, const EmitOptions& options);

  RunTakes takes() const { return run_takes(graph, options.io); }
  // "const kws_workspace *w, const kws_inputs *in, const kws_outputs *out", those that it takes, the first if
  // `first` names it: of kws_run and what is like it.
  std::string parameters(const std::string& first) const;
  // "in, out", those that kws_run takes, each behind ", " or the first behind `first`.
  std::string arguments(const std::string& first) const;
  // What macros and functions of a tensor of the caller's begin with: "KWS_INPUT_IMAGE", "kws_input_image".
  std::string macro_of(const CallerTensors& of, size_t k) const;
  std::string function_of(const CallerTensors& of, size_t k) const;
  std::optional<QuantizedAs> quantization_of(const CallerTensors& of, size_t k) const;

  // Whether the workspace says where the constants are, in what is called `weights`.
  bool weights_by_pointer() const { return weights.form == WeightsForm::kPointer; }

  bool is_fed(size_t group) const { return feed && feed->group == group; }
  bool by_rows(TensorId id) const { return graph.by_rows.contains(id); }
  bool emits() const;  // whether an output is taken row by row
  std::string fed_type() const;
  // The output whose rows a step hands over; the number of outputs: none's.
  size_t emitted_by(int step) const;
  // "_run(..." or "_feed(...": what of the caller's may not be null, after "!w".
  std::string null_members(const std::string& in, const std::string& out) const;

  bool has_state() const { return !lifetimes.states.empty(); }
  bool has_load() const { return options.constants.any_copied(); }
  bool has_reset() const { return has_state() || feed; }

  const std::string& pool_of(int buffer) const;
  // "(pool_sram + KWS_AT_3", which c uses: a number, for names of buffers may be anything and of any length.
  std::string bytes_at(CText& c, int buffer) const;
  // The text for each pool, e.g. "{macro}_SIZE" is KWS_SRAM_SIZE, "{local}" pool_sram and "{member}" that of
  // the workspace.
  std::string for_pools(const char* form, const char* between = "") const;

 private:
  std::string section_of(size_t pool) const;
};

// The text of NAME.h (`token`: see weights.h); of it what is about inputs and outputs: extents and places,
// structs of pointers, functions that say where they lie and what real numbers they stand for.
std::string header_text(const CProgram& program, const std::string& token);
void io_macros(CText& c, const CProgram& program, const CallerTensors& of);
void io_struct(CText& c, const CProgram& program, const CallerTensors& of);
void io_functions(CText& c, const CProgram& program);

// Of pools, as C identifiers.
std::vector<std::string> pool_identifiers(const std::vector<Pool>& pools);
// What stands for each pool of constants in its macros, beside these: KWS_ITCM_SIZE.
std::vector<std::string> constant_macros(const std::vector<Pool>& pools,
                                         const std::vector<ConstantPool>& constants);
// The macros NAME_ALIGNED, which a header has for its caller, too, and whose comment names the macros of a
// pool, and NAME_SECTION, which place static arrays and which the build may define itself; the array of a
// pool whose macros begin with `macro`, in a section of the linker if there is one; a function that returns
// the first aligned byte of one.
std::string alignment_macros(const std::string& upper, const std::string& pool);
std::string section_macro(const std::string& upper, const std::vector<std::string>& sections);
std::string pool_array(const std::string& name, const std::string& pool, const std::string& macro,
                       const std::string& section);
std::string aligned_function(const std::string& name);
// The macros of a pool: bytes, alignment, and that they are not more than those there are, its size= or what
// the build says.
void pool_size_macros(CText& c, const std::string& header, const std::string& macro, int64_t size,
                      const Pool& pool);

// The macro NAME_COPY, by which groups copy constants and which the build may define itself.
std::string copy_macro(const CProgram& program);
// Of constants that NAME_load copies, the arrays in RAM and what fills them. Runs return NAME_ELOAD before.
void constant_copies(CText& c, const CProgram& program);
// What of NAME.c the caller calls, around `steps`, the statements of a run or the cases of its parts.
void run_function(CText& c, const CProgram& program, const CText& steps);
void reset_function(CText& c, const CProgram& program);
void static_arena(CText& c, const CProgram& program);
void step_table(CText& c, const CProgram& program);
void tensor_table(CText& c, const CProgram& program);

}  // namespace arenac
