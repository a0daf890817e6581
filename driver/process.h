// Child processes without a shell.
//
//   Finished done = run_process({"cc", "-O2", "main.c"}, folder, 600);
//   if (done.status != 0) ... done.output ...
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace arenac {

struct Finished {
  int status;          // its exit status; 128 + N when signal N ended it
  std::string output;  // the end of what it wrote to standard output and standard error
};

// Runs `arguments` (the program is looked up in PATH) with `folder` as its working folder. After `seconds`
// the child and its own children are killed and a UserError is thrown; likewise when arenac itself is
// interrupted.
Finished run_process(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                     int seconds);

// "gcc -m32" -> {"gcc", "-m32"}: split at spaces; no quoting.
std::vector<std::string> words_of(const std::string& text);

}  // namespace arenac
