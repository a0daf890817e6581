#!/usr/bin/env bash
# cmake_package_test.sh BUILD_DIR WORK_DIR: installs arenac, builds projects with the installed package, runs the example, and
# sees that the C is generated again exactly when the model or its external data have changed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$1 work=$(realpath -m "$2")

fail() { echo "cmake_package_test.sh: $*"; exit 1; }
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "this fails: $*"; }; }

# configure SOURCE BINARY GENERATOR [OPTION...]
configure() { quietly cmake -S "$1" -B "$2" -G "$3" -DCMAKE_PREFIX_PATH="$work"/installed "${@:4}"; }

# expect_generation yes|no BINARY WHY: whether the next build generates the C again.
expect_generation() {
  local before after
  before=$(stat -c %y "$2"/*.arenac/*.c)
  quietly cmake --build "$2"
  after=$(stat -c %y "$2"/*.arenac/*.c)
  if [[ $1 == yes ]]; then [[ $after != "$before" ]]; else [[ $after == "$before" ]]; fi ||
    fail "$3: C generated again? expected $1"
}

# A model whose weights lie in a file beside it.
external_data_project() {
  mkdir "$1"
  printf '\0\0\200\077\0\0\0\100' >"$1"/weights.bin  # 1.0f, 2.0f
  cat >"$1"/CMakeLists.txt <<'TEXT'
cmake_minimum_required(VERSION 3.25)
project(external LANGUAGES C)
find_package(arenac REQUIRED)
arenac_add_model(external external.onnx)
TEXT
  protoc --encode=onnx.ModelProto -I "$onnx_proto_dir" onnx.proto >"$1"/external.onnx <<'TEXT'
ir_version: 8 opset_import { version: 13 }
graph {
  name: "external"
  node { op_type: "Add" input: "x" input: "w" output: "y" }
  initializer {
    name: "w" dims: 2 data_type: 1 data_location: EXTERNAL external_data { key: "location" value: "weights.bin" }
  }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
}
TEXT
}
onnx_proto_dir=/usr/include/onnx

rm -rf "$work" && mkdir -p "$work"

# What is installed is what the target `installed` builds, so that a build of arenac alone can be completed for it.
built=$(ninja -C "$build" -t commands installed)
while read -r file; do
  file=${file#"$build"/}
  if ninja -C "$build" -t query "$file" >/dev/null 2>&1; then
    grep -qF -- " $file " <<<"$built" || fail "$file is installed, but the target 'installed' does not build it"
  fi
done < <(find "$build" -name cmake_install.cmake -exec grep -hoE "\"$build/[^\"]+\"" {} + | tr -d '"' | sort -u)
quietly cmake --install "$build" --prefix "$work"/installed
declared=$(grep -oE '^int arenac_plan[a-z_]*' "$work"/installed/include/arenac_plan.h | sed 's/^int //' | sort)
exported=$(nm -D --defined-only "$(find "$work"/installed -name libarenac_plan.so)" | awk '{ print $3 }' | sort)
[[ $declared && $exported == "$declared" ]] || fail "libarenac_plan.so exports ${exported//$'\n'/ }, its header declares ${declared//$'\n'/ }"
cp "$root"/models/tiny_cnn.onnx "$work"/model.onnx
external_data_project "$work"/external

for generator in Ninja "Unix Makefiles"; do
  app=$work/"app $generator" external=$work/"external $generator"
  configure "$root"/examples/cmake_app "$app" "$generator" -DMODEL="$work"/model.onnx
  configure "$work"/external "$external" "$generator"
  quietly cmake --build "$app"
  quietly cmake --build "$external"
  "$app"/app | tee "$work"/output
  grep -q '^class 9: ' "$work"/output || fail "the example prints no class 9"

  expect_generation no "$app" "nothing has changed"
  expect_generation no "$external" "nothing has changed"
  sleep 1  # Make compares whole seconds on some file systems
  touch "$work"/model.onnx "$work"/external/weights.bin
  expect_generation yes "$app" "the model has changed"
  expect_generation yes "$external" "the external data have changed"
  expect_generation no "$app" "nothing has changed since"
  expect_generation no "$external" "nothing has changed since"
done

# The planner's C library, as a program outside would use it.
flags=$(PKG_CONFIG_LIBDIR=$(dirname "$(find "$work"/installed -name arenac_plan.pc)") pkg-config --cflags --libs arenac_plan)
flags+=" $(sed -n 's/^ARENAC_SANITIZERS:STRING=//p' "$build"/CMakeCache.txt | tr ';' ' ')"  # their run-time library
read -ra flags <<<"$flags"
library=$(find "$work"/installed -name libarenac_plan.so)
quietly cc -std=c99 -Wall -Wextra -pedantic "$root"/examples/plan_app/main.c "${flags[@]}" -o "$work"/plan_app
LD_LIBRARY_PATH=$(dirname "$library") "$work"/plan_app | tee "$work"/output
grep -q '^12 bytes, no placement is smaller$' "$work"/output || fail "the planner's example does not need 12 bytes"
if [[ ${flags[*]} != *-fsanitize* ]]; then  # Python lacks the sanitizers' library
  python3 "$root"/examples/plan_app/plan.py "$library" | tee "$work"/output
  grep -q '^256 bytes, at least 256, after an edit$' "$work"/output || fail "the planner's example in Python does not need 256 bytes"
fi
