#!/usr/bin/env bash
# stack_test.sh ARENAC MODELS_DIR WORK_DIR: the calls below NAME_invoke take at most NAME_STACK_BYTES of stack, by what gcc
# says of each function's frame and of who calls whom (-fcallgraph-info=su), on x86-64 and a Cortex-M4; and not so little
# that the bound says nothing. Models take the ways of tests/ways.txt in turn.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
arenac=$1 models=$2 work=$3

cortex_m4=(arm-none-eabi-gcc -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard --specs=picolibc.specs)
command -v arm-none-eabi-gcc >/dev/null || { echo "stack_test.sh: not run: arm-none-eabi-gcc is not installed"; exit 77; }

# longest_path NAME FILE.ci: bytes of the frames from NAME_invoke down; functions of libraries count nothing.
longest_path() {
  awk -v root="$1_invoke" '
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

# Small ones of every kind, as many as ways.
names=(tiny_cnn ds_cnn ds_cnn_qdq ds_cnn_qop lstm resnet8_qop fsrcnn_qdq mobilenet_v1_025_96_qop gru mobilenet_v2_035_144)
mapfile -t ways < <(grep -v '^#' "$here/ways.txt")
k=0 failed=0
for name in "${names[@]}"; do
  way=${ways[k++ % ${#ways[@]}]}
  dir=$work/$name
  rm -rf "$dir" && mkdir -p "$dir"
  read -ra options <<<"$way"
  "$arenac" compile "$models/$name.onnx" --name net "${options[@]}" --quiet -o "$dir"
  bound=$(awk '$2 == "NET_STACK_BYTES" { print $3 + 0 }' "$dir/net.h")
  [[ $way == *cortex* || $way == *x86* ]] || families=(x86 m4)
  [[ $way == *cortex* ]] && families=(m4)
  [[ $way == *x86* ]] && families=(x86)
  most=0
  for family in "${families[@]}"; do
    for level in -Os -O2; do
      compiler=(gcc)
      [[ $family == m4 ]] && compiler=("${cortex_m4[@]}")
      (cd "$dir" && "${compiler[@]}" -std=c99 $level -fcallgraph-info=su -c net.c -o net.o)
      taken=$(longest_path net "$dir/net.ci")
      echo "$name $way: $family $level takes $taken of $bound"
      ((taken <= bound)) || failed=1
      ((taken <= most)) || most=$taken
    done
  done
  ((most >= bound / 5)) || failed=1
done
exit $failed
