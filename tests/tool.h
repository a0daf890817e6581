// The program `arenac` of the build that a test belongs to:  run_process({arenac_tool(), "list"}, folder, 60)
#pragma once

#include <filesystem>
#include <string>

namespace arenac {

// build/release/driver/arenac for build/release/tests/cli_test. No path of the build is compiled into a test,
// so that ccache has its object for every build.
inline std::string arenac_tool() {
  const std::filesystem::path tests = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  return (tests.parent_path() / "driver" / "arenac").string();
}

}  // namespace arenac
