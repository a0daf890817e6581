#!/usr/bin/env bash
# compilers_test.sh ARENAC MODELS_DIR WORK_DIR: models built by a compiler without attributes (tcc) and for a big-endian
# machine (PowerPC, under QEMU) compute what they do here: integers exactly, floats within 1e-5 of the largest. Constants
# that lie in the other byte order stop the compiler.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
arenac=$1 models=$2 work=$3

for tool in tcc powerpc-linux-gnu-gcc qemu-ppc; do
  command -v $tool >/dev/null || { echo "compilers_test.sh: not run: $tool is not installed"; exit 77; }
done

# model, input type and count, output type and count; the constants of the last three are strings
rows=(
  "tiny_cnn     float   256   float   10"
  "ds_cnn_qop   int8_t  490   int8_t  12"
  "ds_cnn       float   490   float   12"
  "resnet8      float   3072  float   10"
  "resnet8_qop  int8_t  3072  int8_t  10"
)

# same HOST OTHER: compares the values of the two printouts.
same() {
  paste -d' ' "$1" "$2" | awk '
    function abs(x) { return x < 0 ? -x : x }
    { a[NR] = $2; b[NR] = $4; if (abs($2) > largest) largest = abs($2) }
    END { for (i = 1; i <= NR; ++i)
            if (!(abs(a[i] - b[i]) <= 1e-5 * largest)) { print "output " i ": " a[i] " and " b[i]; bad = 1 }
          exit bad || largest == 0 }'
}

for row in "${rows[@]}"; do
  read -r model in in_count out out_count <<<"$row"
  dir=$work/$model
  rm -rf "$dir" && mkdir -p "$dir"
  # An alignment that nothing has by chance.
  "$arenac" compile "$models/$model.onnx" --name "$model" --weights c --pool name=sram,align=256 -o "$dir"
  sources=("$here/bare_metal/main.c" "$dir/$model.c" "$dir/${model}_weights.c" -I "$dir" -lm)
  defines=(-DMODEL="$model" -DHEADER="\"$model.h\"" -DIN="$in" -DIN_COUNT="$in_count" -DOUT="$out" -DOUT_COUNT="$out_count")
  cc -std=c99 -O2 "${defines[@]}" "${sources[@]}" -o "$dir/host"
  tcc "${defines[@]}" "${sources[@]}" -o "$dir/tcc"
  powerpc-linux-gnu-gcc -static -std=c99 -O2 -Wall -Wextra -Werror "${defines[@]}" "${sources[@]}" -o "$dir/powerpc"
  "$dir/host" >"$dir/host.txt"
  [[ $(wc -l <"$dir/host.txt") == "$out_count" ]]
  for other in tcc powerpc; do
    run=("$dir/$other")
    [[ $other == tcc ]] || run=(qemu-ppc "$dir/$other")
    "${run[@]}" >"$dir/$other.txt" || { cat "$dir/$other.txt"; echo "$model by $other: fails"; exit 1; }
    same "$dir/host.txt" "$dir/$other.txt" || { echo "$model by $other: differs from the host"; exit 1; }
    echo "$model by $other: $out_count outputs as on the host"
  done
done

for form in incbin bin; do
  "$arenac" compile "$models/resnet8.onnx" --name kws --weights $form -o "$work/$form"
  if powerpc-linux-gnu-gcc -c "$work/$form/kws.c" -o /dev/null 2>"$work/$form/errors"; then
    echo "--weights $form: big-endian C with little-endian constants compiles"
    exit 1
  fi
  grep -q 'little-endian' "$work/$form/errors"
done
