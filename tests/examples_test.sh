#!/usr/bin/env bash
# examples_test.sh ARENAC WORK_DIR: the examples build without a warning and print what their expected.txt says: on this
# machine, the bare-metal one on a Cortex-M4 in QEMU, Zephyr's with stand-ins for Zephyr's functions.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
arenac=$(realpath "$1") work=$(realpath -m "$2")
export ARENAC=$arenac

fail() { echo "examples_test.sh: $*"; exit 1; }
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "this fails: $*"; }; }
prints() {  # EXAMPLE COMMAND...
  "${@:2}" >"$work/$1.txt" 2>&1 || fail "$1 ends with status $?"
  diff "$work/examples/$1/expected.txt" "$work/$1.txt" || fail "$1 prints something else"
}

rm -rf "$work" && mkdir -p "$work" && cp -r "$root"/examples "$root"/models "$work"
cd "$work"/examples
flags="-O1 -Wall -Wextra -pedantic -Wconversion -Werror -fsanitize=address,undefined"
for example in host two_models camera_rows audio_stream state pools double_buffer double_buffer_arena; do
  quietly make -C $example CFLAGS="$flags"
  prints $example $example/app
done

quietly make -C zephyr module
mkdir stand_in && cat >stand_in/ZephyrConfig.cmake <<'TEXT'
enable_language(C)
add_executable(app)
function(zephyr_library_named name)
  set(library ${name} PARENT_SCOPE)
  add_library(${name} STATIC)
  target_link_libraries(app PRIVATE ${name} m)
endfunction()
function(zephyr_library_sources)
  target_sources(${library} PRIVATE ${ARGN})
endfunction()
function(zephyr_include_directories folder)
  target_include_directories(${library} PUBLIC ${folder})
endfunction()
file(STRINGS ${CMAKE_SOURCE_DIR}/prj.conf lines)
foreach(line ${lines})
  string(REPLACE "=" ";" line ${line})
  set(${line})
endforeach()
foreach(module ${ZEPHYR_EXTRA_MODULES})
  add_subdirectory(${module} ${CMAKE_BINARY_DIR}/module)
endforeach()
TEXT
quietly cmake -S zephyr -B zephyr/build -G Ninja -DZephyr_DIR="$work"/examples/stand_in -DZEPHYR_EXTRA_MODULES="$work"/examples/zephyr/module
quietly cmake --build zephyr/build
prints zephyr zephyr/build/app

if ! command -v arm-none-eabi-gcc >/dev/null || ! command -v qemu-system-arm >/dev/null; then
  echo "examples_test.sh: not run: arm-none-eabi-gcc or qemu-system-arm is not installed"
  exit 77
fi
quietly make -C bare_metal
prints bare_metal make -s -C bare_metal qemu
