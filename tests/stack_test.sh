#!/usr/bin/env bash
# stack_test.sh ARENAC MODELS_DIR WORK_DIR: the calls below NAME_invoke, and below NAME_step of a run in parts, take at most
# NAME_STACK_BYTES of stack, by what gcc says of each function's frame and of who calls whom (-fcallgraph-info=su), on
# x86-64 and a Cortex-M4; and not so little that the bound says nothing. Models take the ways of tests/ways.txt in turn.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
arenac=$1 models=$2 work=$3

cortex_m4=(arm-none-eabi-gcc -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard --specs=picolibc.specs)
command -v arm-none-eabi-gcc >/dev/null || { echo "stack_test.sh: not run: arm-none-eabi-gcc is not installed"; exit 77; }

# longest_path FUNCTION FILE.ci: bytes of the frames from that function down; functions of libraries count nothing.
longest_path() {
  awk -v root="$1" '
    function below(f,   most, callees, count, k, bytes) {
      if (f in known) return known[f]
      known[f] = 0
      count = split(calls[f], callees, " ")
      for (k = 1; k <= count; ++k) { bytes = below(callees[k]); if (bytes > most) most = bytes }
      return known[f] = frame[f] + most
    }
    { split($0, text, "\"") }
    /^node/ { if (match($0, /\\n[0-9]+ bytes/)) frame[text[2]] = substr($0, RSTART + 2, RLENGTH - 8) + 0 }
    /^node/ && /\(dynamic\)/ { print "a frame without a bound: " text[2] > "/dev/stderr"; exit 1 }
    /^edge/ { calls[text[2]] = calls[text[2]] " " text[4] }
    END { print below(root) }' "$2"
}

failed=0
# holds NAME FUNCTION OPTION...: that the bound is one of FUNCTION.
holds() {
  local name=$1 function=$2 dir=$work/$1 families=(x86 m4) family level compiler bound taken most=0
  shift 2
  rm -rf "$dir" && mkdir -p "$dir"
  "$arenac" compile "$models/$name.onnx" --name net "$@" --quiet -o "$dir"
  bound=$(awk '$2 == "NET_STACK_BYTES" { print $3 + 0 }' "$dir/net.h")
  [[ $* == *cortex* ]] && families=(m4)
  [[ $* == *x86* ]] && families=(x86)
  for family in "${families[@]}"; do
    for level in -Os -O2; do
      compiler=(gcc)
      [[ $family == m4 ]] && compiler=("${cortex_m4[@]}")
      (cd "$dir" && "${compiler[@]}" -std=c99 $level -fcallgraph-info=su -c net.c -o net.o)
      taken=$(longest_path "$function" "$dir/net.ci")
      echo "$name $*: $family $level takes $taken of $bound"
      ((taken <= bound)) || failed=1
      ((taken <= most)) || most=$taken
    done
  done
  ((most >= bound / 5)) || failed=1
}

# Small ones of every kind, as many as ways.
names=(tiny_cnn ds_cnn ds_cnn_qdq ds_cnn_qop lstm resnet8_qop fsrcnn_qdq mobilenet_v1_025_96_qop gru mobilenet_v2_035_144)
mapfile -t ways < <(grep -v '^#' "$here/ways.txt")
k=0
for name in "${names[@]}"; do
  read -ra options <<<"${ways[k++ % ${#ways[@]}]}"
  holds "$name" net_invoke "${options[@]}"
done
holds resnet8_qop net_step --step-cycles 20000
holds lstm net_step --step-cycles 20000 --target cortex-m4 --optimize ram
exit $failed
