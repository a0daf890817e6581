// A main.c around a compiled model, for running it on this machine.
#pragma once

#include <string>

#include "driver/compile.h"

namespace arenac {

// C99 with POSIX clocks. The program reads input_0.bin, ... (row-major elements) from its working folder,
// runs the model on an arena of exactly the declared size and alignment, filled with 0xA5, and writes
// output_0.bin, ...
// A state begins as its input's file says, and what it then is goes to its output's.
// With an argument N > 0 it then runs N times more and prints the best time of one run in ms. Exit
// status: what the model returns; kFileFault when a file fails.
inline constexpr int kFileFault = 100;
// What a model returns; see the enum in its header.
inline constexpr int kBranchLeftOut = 3, kOtherValue = 4;
std::string harness_source(const Compilation& compilation);

}  // namespace arenac
