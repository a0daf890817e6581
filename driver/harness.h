// A main.c around a compiled model, for running it on this machine or a board.
#pragma once

#include <string>
#include <vector>

#include "driver/compile.h"

namespace arenac {

// What a program does beside running the model once.
struct HarnessOptions {
  bool elsewhere = false;  // perhaps on a board that passes no arguments
  bool profile = false;    // and asks before each step: step_hook() is to stand in the compiler's command
};
// "-DKWS_HOOK(step)=..." and its kin, for the model's C.
std::vector<std::string> step_hook(const Compilation& compilation);

// C99 with POSIX clocks. The program reads input_0.bin, ... (row-major elements) from its working folder,
// runs the model on an arena of exactly the declared size and alignment, filled with 0xA5, and writes
// output_0.bin, ...
// A state begins as its input's file says, and what it then is goes to its output's.
// With an argument N > 0 it then runs N times more and prints the best time of one run in ms. Elsewhere and
// with a profile spent.bin has what a run took: doubles, of all of it and of each step that a hook stands
// before (steps of one group are the first one's), of N runs the mean: nanoseconds, on a microcontroller what
// driver/board_clock.h counts.
// Exit status: what the model returns; kFileFault when a file fails.
inline constexpr int kFileFault = 100;
// What a model returns; see the enum in its header.
inline constexpr int kBranchLeftOut = 3, kOtherValue = 4, kLibraryRefused = 8;
std::string harness_source(const Compilation& compilation, const HarnessOptions& options = {});

}  // namespace arenac
