#!/usr/bin/env bash
# export_test.sh ARENAC MODELS_DIR WORK_DIR [--update]: what `arenac export` writes for each ecosystem is what lies in
# tests/exports (generated C apart), and builds: with make and meson as they are; with CMake for ESP-IDF, whose function a
# stand-in has here, and STM32Cube (Zephyr's: examples_test.sh); Arduino's sketch as C++, which runs. --update writes tests/exports anew.
set -euo pipefail
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
arenac=$1 models=$2 work=$(realpath -m "$3") update=${4:-}
golden=$tests/exports main=$tests/../examples/cmake_app/main.c

fail() { echo "export_test.sh: $*"; exit 1; }
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "this fails: $*"; }; }
component() { "$arenac" export "$models"/tiny_cnn.onnx --for "$1" -o "$2" --quiet; }
runs() { "$@" | grep -q . || fail "$1 prints nothing"; }

rm -rf "$work" && mkdir -p "$work"
for ecosystem in $("$arenac" list ecosystems | cut -d' ' -f1); do
  made=$work/golden/$ecosystem
  component "$ecosystem" "$made"
  tree=$(cd "$made" && find . -type f | LC_ALL=C sort)
  find "$made" \( -name '*.c' -o -name '*.h' -o -name '*_map.json' \) -delete
  find "$made" -type d -empty -delete
  echo "$tree" >"$made"/tree.txt
done
[[ $update != --update ]] || { rm -rf "$golden" && cp -r "$work"/golden "$golden"; }
diff -r "$golden" "$work"/golden || fail "the components differ from tests/exports; if they should, --update"

# make: the library alone, and as a part of another Makefile.
component makefile "$work"/make/net
quietly make -C "$work"/make/net
cat >"$work"/make/Makefile <<'TEXT'
include net/tiny_cnn.mk
app: main.c $(tiny_cnn_sources)
	$(CC) -std=c99 $(tiny_cnn_cflags) $^ $(tiny_cnn_libs) -o $@
TEXT
cp "$main" "$work"/make
quietly make -C "$work"/make
runs "$work"/make/app

# meson: a subproject.
if command -v meson >/dev/null; then
  component meson "$work"/meson/subprojects/tiny_cnn
  cp "$main" "$work"/meson
  cat >"$work"/meson/meson.build <<'TEXT'
project('app', 'c', default_options: ['c_std=c99', 'warning_level=3', 'werror=true'])
executable('app', 'main.c', dependencies: dependency('tiny_cnn'))
TEXT
  quietly meson setup --wrap-mode=nodownload "$work"/meson/build "$work"/meson
  quietly meson compile -C "$work"/meson/build
  runs "$work"/meson/build/app
else
  echo "export_test.sh: not run: meson is not installed"
  exit 77
fi

# CMake. What the ecosystems' own functions are taken to do.
cmake_app() {  # FOLDER, whose CMakeLists.txt lines stand on standard input
  cp "$main" "$1"
  { printf 'cmake_minimum_required(VERSION 3.20)\nproject(app LANGUAGES C)\nadd_executable(app main.c)\n'; cat; } >"$1"/CMakeLists.txt
  quietly cmake -S "$1" -B "$1"/build -G Ninja
  quietly cmake --build "$1"/build
  runs "$1"/build/app
}
component stm32cube "$work"/stm32cube/Middlewares/tiny_cnn
cmake_app "$work"/stm32cube <<'TEXT'
add_subdirectory(Middlewares/tiny_cnn)
target_link_libraries(app PRIVATE tiny_cnn)
TEXT
component esp-idf "$work"/esp-idf/components/tiny_cnn
cmake_app "$work"/esp-idf <<'TEXT'
function(idf_component_register)
  cmake_parse_arguments(ARG "" "" "SRCS;INCLUDE_DIRS" ${ARGN})
  add_library(tiny_cnn STATIC ${ARG_SRCS})
  target_include_directories(tiny_cnn PUBLIC ${ARG_INCLUDE_DIRS})
endfunction()
add_subdirectory(components/tiny_cnn)
target_link_libraries(app PRIVATE tiny_cnn m)
TEXT

# Arduino: sketches are C++. Whatever the model's memory looks like, the example runs it and prints its outputs.
mkdir "$work"/arduino
cat >"$work"/arduino/Arduino.h <<'TEXT'
#include <stdio.h>
struct {
  void begin(long) {}
  void print(const char* text) { printf("%s", text); }
  void print(double number, int digits) { printf("%.*f", digits, number); }
  void print(long number) { printf("%ld", number); }
  void print(unsigned long number) { printf("%lu", number); }
  void println() { printf("\n"); }
  void println(const char* text) { printf("%s\n", text); }
  void println(int number) { printf("%d\n", number); }
  void println(unsigned long number) { printf("%lu\n", number); }
} Serial;
inline unsigned long micros() { return 0; }
inline void delay(int) {}
void setup();
void loop();
int main() { setup(), loop(); }
TEXT
sketch_prints() {  # LINES, an extended expression of as many lines; then the words of the export
  local lines=$1 library=$work/arduino/library file
  shift
  rm -rf "$library"
  (cd "$models" && quietly "$arenac" export "$@" --for arduino -o "$library" --quiet)
  for file in "$library"/src/*.c; do quietly cc -std=c99 -Wall -Wextra -Werror -c "$file" -o "${file%.c}.o"; done
  quietly g++ -Wall -Wextra -Werror -I"$library"/src -include "$work"/arduino/Arduino.h -x c++ \
    "$library"/examples/run/run.ino -x none "$library"/src/*.o -lm -o "$work"/arduino/sketch
  "$work"/arduino/sketch >"$work"/arduino/printed
  grep -qx "bytes of arena: [1-9][0-9]*" "$work"/arduino/printed || fail "the sketch prints the bytes of the arena"
  [[ $(grep -cE "$lines" "$work"/arduino/printed) == 2 ]] || { cat "$work"/arduino/printed; fail "the sketch of '$*' runs what it can"; }
}
ten=' 0\.[0-9]{6}'
sketch_prints "^(tiny_cnn: 0 microseconds|  probabilities:($ten){10})$" tiny_cnn.onnx
sketch_prints "^(tiny_cnn: 0 microseconds|  probabilities:($ten){10})$" tiny_cnn.onnx --io arena --pool name=tcm,size=300 --pool name=sram
sketch_prints "^(tiny_cnn: 0 microseconds|lstm: 0 microseconds)$" tiny_cnn.onnx lstm.onnx --together exclusive --name both
sketch_prints "^(ds_cnn_qdq: 0 microseconds|  probabilities:($ten){12})$" ds_cnn_qdq.onnx --pool name=sram --pool name=tcm,kind=constants,copy=start,size=9K --pool name=rest,kind=constants
"$arenac" export "$models"/tiny_cnn.onnx --for arduino --weights pointer -o "$work"/arduino/pointer --quiet
grep -q "tiny_cnn wants its rows or constants from you" "$work"/arduino/pointer/examples/run/run.ino || fail "a sketch says what it does not run"

# Two models in one component, and what is refused.
"$arenac" export "$models"/tiny_cnn.onnx "$models"/lstm.onnx --together exclusive --name both --for makefile -o "$work"/both --quiet
quietly make -C "$work"/both
if "$arenac" export "$models"/tiny_cnn.onnx --for makefile --weights bin -o "$work"/bin 2>"$work"/log; then fail "--weights bin is refused"; fi
grep -q "pointer" "$work"/log && [[ ! -e $work/bin ]] || fail "a refusal names what can be done and leaves nothing"
echo "export_test.sh: $(ls "$golden" | wc -l) ecosystems"
