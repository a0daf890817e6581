// Generated C as a component of an ecosystem: in its folders, with the files that its tools read.
//
//   arenac export kws.onnx --for zephyr -o modules/kws
//
//   modules/kws/zephyr/module.yml              driver/exports/zephyr/: a template each
//   modules/kws/CMakeLists.txt, Kconfig
//   modules/kws/include/kws.h                  what arenac compile writes
//   modules/kws/src/kws.c, kws_weights.c
//   modules/kws/kws_map.json
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/emit.h"
#include "driver/sketch.h"

namespace arenac {

// One row; the templates lie in driver/exports/NAME/. In these, in Mustache: {{name}} and {{NAME}} of the C,
// {{version}} of arenac, {{arena}} in bytes, {{headers}} and {{folder}} of the sources; lists of {{file}}:
// {{#sources}}, {{#public}} (the headers); a list of {{#models}} as sketch.h has them. NAME in the path of a
// template is the C's name.
struct Ecosystem {
  std::string_view name, description;
  std::string_view headers, folder;  // of the generated headers and sources
};

inline constexpr Ecosystem kEcosystems[] = {
    {"zephyr", "a module of Zephyr", "include", "src"},
    {"esp-idf", "a component of ESP-IDF", "include", "src"},
    {"arduino", "a library of Arduino", "src", "src"},
    {"platformio", "a library of PlatformIO", "include", "src"},
    {"cmsis-pack", "the contents of a CMSIS-Pack", "Include", "Source"},
    {"stm32cube", "a middleware of STM32Cube projects", "Inc", "Src"},
    {"makefile", "a static library by make, or an include of another Makefile", "include", "src"},
    {"meson", "a subproject of Meson", "include", "src"},
};

struct Generated {
  std::string name;         // the C prefix
  int64_t arena;            // bytes
  std::vector<File> files;  // as compiled
  std::vector<SketchModel> models;
};

// The component's files; names hold folders. `ecosystem`: the name of a row.
std::vector<File> exported(const Generated& generated, std::string_view ecosystem);

}  // namespace arenac
