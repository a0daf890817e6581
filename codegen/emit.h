// A program as C files:
//
//   kws.h            the promise to the caller: sizes, inputs, outputs, kws_run
//   kws.c            kernels, each distinct one once, and the steps that call them
//   kws_weights.c    constants (or kws_weights.S and .bin)
//   kws_map.json     the memory map
//   kws.cmake        lists the sources
//
// Constants are a translation unit of their own, not only for editors' sake: gcc 12.2 -O3 computes wrong
// numbers where it sees them, be it by -flto or #include. In
//
//   for (int i = 0; i < 3; ++i)
//     for (int l = 0; l < 4; ++l) a[l] += w[8 - 4 * i] * x[l];
//
// it reads four elements of w at once to use one, the last time w[-3] to w[0], and takes a vector of known
// elements that begins outside w for zeros. (Right with -fno-tree-loop-vectorize, and in clang.)
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "codegen/lowered.h"
#include "codegen/memory_map.h"
#include "planner/lifetime.h"
#include "planner/problem.h"
#include "scheduler/schedule.h"

namespace arenac {

struct File {
  std::string name, bytes;

  bool operator==(const File&) const = default;
};

// kAuto: readable arrays up to 64 KB in all, octal strings up to 4 MB, an assembler file beyond. kPointer:
// the workspace says where they are.
enum class WeightsForm : uint8_t { kAuto, kC, kIncbin, kBin, kPointer };

// kFast: each kernel with its numbers in it. kSmall: kernels that differ in numbers only are one, and a
// table.
enum class Code : uint8_t { kFast, kSmall };

// Fast memory of the workspace into which groups copy constants (group_copies.h).
struct GroupPool {
  Pool pool = {};
  std::string section = {};  // of the linker; "": the compiler's own
  size_t behind = 0;         // this many of the pools of constants, which are faster
  int64_t wait = 0;          // cycles of a read of up to kWordBytes bytes, beside those of its instruction
  std::vector<Pin> pins = {};
};
constexpr int64_t kWordBytes = 4, kUsualWait = 4;  // the latter of slower memory that nothing is said of

// A memory in which constants lie.
struct ConstantPool {
  Pool pool = {};
  std::string section = {};          // of the linker; "": the compiler's own
  bool copied = false;               // whether it is RAM that NAME_load fills from flash
  std::optional<int64_t> wait = {};  // as GroupPool::wait; none: not said
  int64_t of_others = 0;             // bytes beside the capacity that other models' constants take

  const std::string& name() const { return pool.name; }
};

// All of them, the fastest first; none: with the program's other constant data.
struct ConstantPools {
  std::vector<ConstantPool> pools = {};
  std::vector<Pin> pins = {};  // of constants, into pools that there are
  std::optional<GroupPool> group = {};

  bool any_copied() const { return std::ranges::any_of(pools, &ConstantPool::copied); }
};

struct EmitOptions {
  std::string name;  // a C identifier
  Io io = Io::kExternal;
  WeightsForm weights = WeightsForm::kAuto;
  std::string version;  // of arenac, for the header's first line
  Code code = Code::kFast;
  std::vector<std::string> sections = {};    // of the linker, for each pool's static memory; "" or none: any
  std::string features = {};                 // of the target
  Registers registers = Registers::kVector;  // the target's
  std::optional<int64_t> step_cycles = {};   // a run comes in parts of at most so many, where layers allow it
  ConstantPools constants = {};
  std::string memory_of = {};  // the C prefix of what defines the static arena (shared_parts); empty: NAME.c
};

// Which of its structs of pointers NAME_run takes: where inputs and outputs lie in the arena, only those
// whose rows come from the caller or go there.
struct RunTakes {
  bool inputs, outputs;
};
RunTakes run_takes(const Graph& graph, Io io);

// `map` is what make_map returned. Deterministic. UserError when a tensor is too large for C's int.
std::vector<File> emit(const Lowered& lowered, const MemoryMap& map, const EmitOptions& options);
// The same, with kernels that others may have in common with it (kernel_library.h).
class KernelLibrary;
std::vector<File> emit(const Lowered& lowered, const MemoryMap& map, const EmitOptions& options,
                       KernelLibrary& kernels);

// What several programs have in common: NAME.h, which includes their headers; NAME.c with the static arena
// and the kernels, and where constants are copied the one call for all; the header of these. Of the pools
// those with bytes; what of the options the programs have in common.
std::vector<File> shared_parts(const std::vector<Pool>& pools, const std::vector<int64_t>& sizes,
                               const EmitOptions& options, const std::vector<std::string>& programs,
                               const KernelLibrary& kernels);

// What stands for each pool in the macros KWS_SRAM_SIZE and KWS_SRAM_ALIGN: "SRAM".
std::vector<std::string> pool_macros(const std::vector<Pool>& pools);

// Their members of the workspace.
std::vector<std::string> pool_members(const std::vector<Pool>& pools);

// What the C with this prefix calls a buffer's offset: offset_name("kws", 3) is "KWS_AT_3".
std::string offset_name(const std::string& prefix, int64_t buffer);

// The memory map without what the files add: the model's hash, names of the C. `layerwise_arena` is the arena
// of whole layers, in bytes; none: the schedule's own.
MapOrder map_order(const OrderReport& order);
MemoryMap make_map(const Schedule& schedule, const Lifetimes& lifetimes, const Plan& plan, Io io,
                   std::optional<int64_t> layerwise_arena = {});
// The map with the cycles of its steps (cycles.h) on the target of that name.
MemoryMap with_cycles(MemoryMap map, const std::vector<double>& cycles, const std::string& target);

// The map with the memories of its constants, which may be other than "flash".
MemoryMap with_constant_pools(MemoryMap map, const Schedule& schedule, const EmitOptions& options);

}  // namespace arenac
