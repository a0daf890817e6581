#include "driver/board_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/report_words.h"
#include "frontend/error.h"

namespace arenac {
namespace {

constexpr int64_t kLibraryBytes = 1 << 16;  // of the C library's data, files and heap, and of small tables
constexpr int64_t kAlign = 1 << 12;

// Bytes that the program's heap and stack take: the arenas, inputs, outputs and, where they are loaded, the
// constants.
int64_t bytes_of_a_run(const Compilation& c) {
  int64_t bytes = c.map.totals.arena + kBoardStackBytes + kLibraryBytes;
  for (const auto& ids : {c.graph->inputs, c.graph->outputs})
    for (const TensorId id : ids) bytes += bytes_of(c.graph->tensors[id]) + kAlign;
  return c.weights == WeightsForm::kPointer ? bytes + c.map.totals.weights : bytes;
}

// The board with the most memory for whoever has too little, if it is another one.
std::string larger_board(const Core& core) {
  const auto largest =
      std::ranges::max_element(cores(), {}, [](const Core& each) { return each.store.bytes; });
  return largest->name == core.name ? "" : fmt::format(", or --on qemu-{}", largest->name);
}

// A store in front of the C library's memories. Arrays of constants have sections of their own, by their
// names.
std::string script_with_store(const std::string& name, const Memory& store) {
  return fmt::format(
      "PHDRS {{ store PT_LOAD; }}\n"
      "MEMORY {{ store (r) : ORIGIN = {1:#x}, LENGTH = {2} }}\n"
      "SECTIONS {{ .store : {{ *(.rodata.{0}_w_* .rodata.{0}_weights*) }} > store :store }}\n"
      "INCLUDE picolibc.ld\n",
      name, store.begin, store.bytes);
}

}  // namespace

BoardLayout layout_on(const Core& core, const Compilation& c) {
  const int64_t constants = c.weights == WeightsForm::kPointer ? 0 : c.map.totals.weights;
  const int64_t run = bytes_of_a_run(c);
  const int64_t stored = constants > core.code.bytes / 2 ? (constants / kAlign + 1) * kAlign : 0;
  if (stored > core.store.bytes)
    throw UserError(fmt::format(
        "--on qemu-{}: the constants of {} take {}, the board's largest memory has {}: "
        "quantise them{}",
        core.name, c.graph->name, bytes_words(constants), bytes_words(core.store.bytes), larger_board(core)));
  BoardLayout layout{core.ram};
  if (stored > 0) layout.linker_script = script_with_store(c.name, {core.store.begin, stored});
  if (run <= core.ram.bytes) return layout;
  layout.ram = {core.store.begin + static_cast<uint32_t>(stored), core.store.bytes - stored};
  if (run > layout.ram.bytes)
    throw UserError(fmt::format(
        "--on qemu-{}: a run of {} takes {} (arena {}, then inputs, outputs and stack), the board's memories "
        "have {}: --optimize ram, a smaller --shape{}",
        core.name, c.graph->name, bytes_words(run), bytes_words(c.map.totals.arena),
        bytes_words(std::max(core.ram.bytes, layout.ram.bytes)), larger_board(core)));
  return layout;
}

}  // namespace arenac
