#include "tests/program.h"

#include <fmt/format.h>

#include <string_view>

#include "driver/files.h"

namespace arenac {
namespace {

// What every harness defines, and POSIX functions that it needs.
constexpr const char* kHarnessNames[] = {"allocate", "load",     "save",      "start_clock", "now",
                                         "spent",    "feed_all", "run_parts", "main"};
constexpr const char* kPosix = "#define _POSIX_C_SOURCE 200809L\n";

// The files of every model that end in `ending`, in one translation unit.
std::string all_files(const std::filesystem::path& folder, const std::vector<std::string>& names,
                      std::string_view ending) {
  std::string text = fmt::format("{}typedef int not_empty;\n", kPosix);
  for (const std::string& name : names) {
    const std::string file = fmt::format("{0}/{0}{1}", name, ending);
    if (std::filesystem::exists(folder / file)) text += fmt::format("#include \"{}\"\n", file);
  }
  return text;
}

// What the harnesses define gets names of its own, which no model has.
std::string main_source(const std::vector<std::string>& names) {
  std::string harnesses, rows;
  for (const std::string& name : names) {
    for (const char* function : kHarnessNames)
      harnesses += fmt::format("#undef {0}\n#define {0} harness_{0}_{1}\n", function, name);
    harnesses += fmt::format("#include \"{}/main.c\"\n", name);
    rows += fmt::format("    {{\"{0}\", harness_main_{0}}},\n", name);
  }
  return fmt::format(
      "{}#include <stdlib.h>\n#include <unistd.h>\n{}#undef main\n{}{}}};\n{}", kPosix, harnesses,
      "static const struct { const char *folder; int (*run)(int, char **); } models[] = {\n", rows, R"(
int main(int argc, char **argv)
{
    const int count = (int)(sizeof models / sizeof models[0]);
    const int begin = argc > 1 ? atoi(argv[1]) : 0, end = argc > 1 ? begin + 1 : count;
    int k, status = 0;
    for (k = begin; k < end && status == 0; ++k) {
        if (chdir(models[k].folder) != 0) return 1;
        status = models[k].run(1, argv);
        if (chdir("..") != 0) return 1;
    }
    return status;
}
)");
}

}  // namespace

void write_program(const std::filesystem::path& folder, const std::string& program,
                   const std::vector<std::string>& names) {
  // Constants have a translation unit apart from what reads them: as users build them, see codegen/emit.h.
  write_files(folder, {{program + "_models.c", all_files(folder, names, ".c")},
                       {program + "_weights.c", all_files(folder, names, "_weights.c")},
                       {program + "_main.c", main_source(names)}});
}

}  // namespace arenac
