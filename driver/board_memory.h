// Where on a board the parts of a program lie.
//
//   MobileNetV2 on qemu-m55     code at 0, constants in the store (0x60000000), heap and stack in RAM
//
// Each part stays in the memory that firmware would have it in as long as it fits, and else goes to the
// board's store, which is slower on a real board and not in QEMU: instructions are the same.
#pragma once

#include <cstdint>
#include <string>

#include "driver/boards.h"
#include "driver/compile.h"

namespace arenac {

struct BoardLayout {
  Memory ram;
  // The linker's script where constants are in the store; empty: they lie beside the code.
  std::string linker_script = {};
};

// UserError, with the sizes and what to do, where constants or what a run takes are larger than the memories.
BoardLayout layout_on(const Core& core, const Compilation& compilation);

}  // namespace arenac
