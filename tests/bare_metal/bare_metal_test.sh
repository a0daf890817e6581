#!/usr/bin/env bash
# bare_metal_test.sh ARENAC MODELS_DIR WORK_DIR: models compiled for a Cortex-M4, run on two boards of QEMU without an
# operating system, print what the same C prints on this machine: integers bit for bit, floats within 1e-5 of the largest.
# The ways of tests/ways.txt are taken in turn, but for those with inputs and outputs in the arena, which main.c does not
# fill: so the code made for Cortex-M runs on one. The C library (picolibc) supplies the start-up code; output and exit status travel by semihosting.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
arenac=$1 models=$2 work=$3

for tool in arm-none-eabi-gcc qemu-system-arm; do
  command -v $tool >/dev/null || { echo "bare_metal_test.sh: not run: $tool is not installed"; exit 77; }
done

# model, input type and count, output type and count
rows=(
  "tiny_cnn    float   256  float   10"
  "ds_cnn_qop  int8_t  490  int8_t  12"
  "ds_cnn_qdq  float   490  float   12"
)
# board: QEMU machine, flash and RAM as start,size. The flash of netduinoplus2 is read-only: a write to a constant faults.
boards=(
  "mps2-an386     0x0,0x400000         0x20000000,0x400000"
  "netduinoplus2  0x08000000,0x100000  0x20000000,0x20000"
)
cflags=(-std=c99 -O2 -Wall -Wextra -Werror)
cortex_m4=(-mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard --specs=picolibc.specs --oslib=semihost --crt0=hosted)

# same TYPE HOST BOARD: compares the two printouts.
same() {
  if [[ $1 != float ]]; then diff "$2" "$3"; return; fi
  paste -d' ' "$2" "$3" | awk '
    function abs(x) { return x < 0 ? -x : x }
    { a[NR] = $2; b[NR] = $4; if (abs($2) > largest) largest = abs($2) }
    END { for (i = 1; i <= NR; ++i)
            if (!(abs(a[i] - b[i]) <= 1e-5 * largest)) { print "output " i ": host " a[i] ", board " b[i]; bad = 1 }
          exit bad }'
}

# expect_alone MODEL OBJECT: beside memset and memcpy the object names nothing that is not the model's.
expect_alone() {
  local called
  called=$(arm-none-eabi-nm -u "$2" | awk '{ print $2 }' | grep -vxE "memset|memcpy|$1_(weights(_tcm|_flash)?|w_[0-9]+)(_[0-9a-f]{8})?" || true)
  [[ -z $called ]] || { echo "$1: its C calls $called"; exit 1; }
}

mapfile -t ways < <(grep -vE '^#|--io arena' "$here/../ways.txt")
for ((k = 0; k < ${#ways[@]}; ++k)); do
  read -r model in in_count out out_count <<<"${rows[k % ${#rows[@]}]}"
  read -ra way <<<"${ways[k]}"
  dir=$work/${model}_$k
  rm -rf "$dir" && mkdir -p "$dir"
  "$arenac" compile "$models/$model.onnx" --name "$model" "${way[@]}" -o "$dir"
  sources=("$here/main.c" "$dir/$model.c" -I "$dir" -Wa,-I,"$dir" -lm)
  if [[ -f $dir/${model}_weights.S ]]; then
    sources+=("$dir/${model}_weights.S")
  elif [[ -f $dir/${model}_weights.c ]]; then
    sources+=("$dir/${model}_weights.c")
  else  # the user places them
    printf '.section .rodata\n.globl %s\n.balign 64\n%s:\n.incbin "%s"\n.section .note.GNU-stack, ""\n' "${model}"_weights{,,.bin} >"$dir/place.s"
    sources+=("$dir/place.s")
  fi
  defines=(-DMODEL="$model" -DHEADER="\"$model.h\"" -DIN="$in" -DIN_COUNT="$in_count" -DOUT="$out" -DOUT_COUNT="$out_count")
  cc "${cflags[@]}" "${defines[@]}" "${sources[@]}" -o "$dir/host"
  "$dir/host" >"$dir/host.txt"
  [[ $(wc -l <"$dir/host.txt") == "$out_count" ]]
  arm-none-eabi-gcc "${cortex_m4[@]}" "${cflags[@]}" -c "$dir/$model.c" -o "$dir/$model.o"
  expect_alone "$model" "$dir/$model.o"
  for board in "${boards[@]}"; do
    read -r machine flash ram <<<"$board"
    arm-none-eabi-gcc "${cortex_m4[@]}" "${cflags[@]}" "${defines[@]}" "${sources[@]}" -o "$dir/$machine.elf" \
      -Wl,--defsym=__flash="${flash%,*}",--defsym=__flash_size="${flash#*,}" \
      -Wl,--defsym=__ram="${ram%,*}",--defsym=__ram_size="${ram#*,}",--defsym=__stack_size=0x1000
    timeout 60 qemu-system-arm -M "$machine" -display none -monitor none -serial none -chardev stdio,id=console \
      -semihosting-config enable=on,target=native,chardev=console -kernel "$dir/$machine.elf" >"$dir/$machine.txt" ||
      { cat "$dir/$machine.txt"; echo "$model ${way[*]} on $machine: exit status $?"; exit 1; }
    same "$out" "$dir/host.txt" "$dir/$machine.txt" || { echo "$model ${way[*]} on $machine: differs from the host"; exit 1; }
    echo "$model ${way[*]} on $machine: $out_count outputs as on the host, $(arm-none-eabi-size "$dir/$machine.elf" |
      awk 'NR == 2 { print $1 " bytes of code and constants, " $2 + $3 " bytes of RAM" }')"
  done
done
