#!/usr/bin/env bash
# misra_test.sh ARENAC MODELS_DIR WORK_DIR README: the emitted C breaks no rule of MISRA C:2012 that cppcheck knows, but for
# those in README's table of deviations; and it breaks each of these.
set -euo pipefail
arenac=$1 models=$2 work=$3 readme=$4
command -v cppcheck >/dev/null || { echo "misra_test.sh: not run: cppcheck is not installed"; exit 77; }

rm -rf "$work" && mkdir -p "$work"
for model in tiny_cnn ds_cnn_qop lstm gru squeezenet_tiny; do
  "$arenac" compile "$models/$model.onnx" --name "$model" --quiet -o "$work"
done
"$arenac" compile "$models/ds_cnn_qop.onnx" --name m4 --target cortex-m4 --code small --quiet -o "$work"
rm "$work"/*_weights.c  # arrays of numbers
# What <limits.h> and <float.h> say.
limits=(-DCHAR_BIT=8 -DUINT_MAX=0xffffffffu -DFLT_RADIX=2 -DFLT_MANT_DIG=24 -DFLT_MAX_EXP=128 -DDBL_MANT_DIG=53)
(cd "$work" && cppcheck "${limits[@]}" --enable=style --addon=misra --std=c99 --quiet --template='{id}' ./*.c 2>&1) |
  grep -o 'misra-c2012-[0-9.]*' | cut -d- -f3 | sort | uniq -c | awk '{ print $2, $1 }' >"$work/found"
sed -n '/<!-- misra: begin -->/,/<!-- misra: end -->/p' "$readme" | grep -oE '^\| [0-9]+\.[0-9]+ ' | tr -d '| ' | sort >"$work/listed"
cut -d' ' -f1 "$work/found" | sort >"$work/broken"
if ! diff "$work/listed" "$work/broken"; then
  echo "misra_test.sh: < stands in README and is not broken, > is broken and does not stand there"
  exit 1
fi
echo "$(awk '{ n += $2 } END { print n }' "$work/found") places, $(wc -l <"$work/found") rules, all of README's table"
