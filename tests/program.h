// One C program of many models: one run of the compiler, which reads the C library's headers once.
//
//   folder/u0/  u0.h  u0.c  u0_weights.c  main.c  input_0.bin     what compile() and harness_source() gave
//   folder/u1/  u1.h  u1.c  main.c
//
//   write_program(folder, "all", {"u0", "u1"});                   all_models.c  all_weights.c  all_main.c
//   run_process({"cc", "all_models.c", "all_weights.c", "all_main.c", "-o", "all", "-lm"}, folder, 60);
//   run_process({"./all"}, folder, 60);                           writes u0/output_0.bin, u1/output_0.bin
//   run_process({"./all", "1"}, folder, 60);                      only u1
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace arenac {

// The three files of a program that runs the models `names` one after the other, each in its folder, until
// one does not return 0; with K as its argument only the K-th.
void write_program(const std::filesystem::path& folder, const std::string& program,
                   const std::vector<std::string>& names);

}  // namespace arenac
