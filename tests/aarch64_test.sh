#!/usr/bin/env bash
# aarch64_test.sh ARENAC MODELS_DIR WORK_DIR: models compiled for 64-bit Arm, with and without sdot, run in QEMU and compute
# what they do here: integers exactly, floats within 1e-5 of the largest. Their machine code has the instructions of the target.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
arenac=$1 models=$2 work=$3

for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
  command -v $tool >/dev/null || { echo "aarch64_test.sh: not run: $tool is not installed"; exit 77; }
done

# model, input type and count, output type and count
rows=(
  "tiny_cnn     float   256   float   10"
  "ds_cnn       float   490   float   12"
  "ds_cnn_qop   int8_t  490   int8_t  12"
  "ds_cnn_qdq   float   490   float   12"
  "resnet8_qop  int8_t  3072  int8_t  10"
)
# target, option of the compiler, an instruction that int8 networks then have
targets=(
  "aarch64          -march=armv8-a            smull2"
  "aarch64-dotprod  -march=armv8.2-a+dotprod  sdot"
)

# same TYPE HOST OTHER: compares the values of the two printouts.
same() {
  if [[ $1 != float ]]; then diff "$2" "$3"; return; fi
  paste -d' ' "$2" "$3" | awk '
    function abs(x) { return x < 0 ? -x : x }
    { a[NR] = $2; b[NR] = $4; if (abs($2) > largest) largest = abs($2) }
    END { for (i = 1; i <= NR; ++i)
            if (!(abs(a[i] - b[i]) <= 1e-5 * largest)) { print "output " i ": " a[i] " and " b[i]; bad = 1 }
          exit bad || largest == 0 }'
}

for row in "${rows[@]}"; do
  read -r model in in_count out out_count <<<"$row"
  for each in "${targets[@]}"; do
    read -r target option instruction <<<"$each"
    dir=$work/${model}_$target
    rm -rf "$dir" && mkdir -p "$dir"
    "$arenac" compile "$models/$model.onnx" --name "$model" --target "$target" --weights c -o "$dir"
    sources=("$here/bare_metal/main.c" "$dir/$model.c" "$dir/${model}_weights.c" -I "$dir" -lm)
    defines=(-DMODEL="$model" -DHEADER="\"$model.h\"" -DIN="$in" -DIN_COUNT="$in_count" -DOUT="$out" -DOUT_COUNT="$out_count")
    flags=(-std=c99 -O2 -Wall -Wextra -Werror "${defines[@]}" "${sources[@]}")
    cc "${flags[@]}" -o "$dir/host"
    aarch64-linux-gnu-gcc -static "$option" "${flags[@]}" -o "$dir/aarch64"
    "$dir/host" >"$dir/host.txt"
    [[ $(wc -l <"$dir/host.txt") == "$out_count" ]]
    qemu-aarch64 -cpu max "$dir/aarch64" >"$dir/aarch64.txt"
    same "$out" "$dir/host.txt" "$dir/aarch64.txt" || { echo "$model for $target: differs from the host"; exit 1; }
    if [[ $model == *_q* ]]; then
      aarch64-linux-gnu-gcc "$option" -std=c99 -O2 -S "$dir/$model.c" -I "$dir" -o "$dir/model.s"
      grep -qw "$instruction" "$dir/model.s" || { echo "$model for $target: has no $instruction"; exit 1; }
    fi
    echo "$model for $target: $out_count outputs as on the host"
  done
done
