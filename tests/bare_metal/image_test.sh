#!/usr/bin/env bash
# image_test.sh ARENAC MODELS_DIR WORK_DIR: a static arena in a section of its own takes no byte of the flash image, nor do
# constants that NAME_load copies, and an arena that does not fit into its memory does not link.
set -euo pipefail
arenac=$1 models=$2 work=$3
for tool in arm-none-eabi-gcc arm-none-eabi-objcopy; do
  command -v $tool >/dev/null || { echo "image_test.sh: not run: $tool is not installed"; exit 77; }
done
rm -rf "$work" && mkdir -p "$work" && cd "$work"

cat >main.c <<'C'
#include "kws.h"
static int8_t input[KWS_INPUT_INPUT_COUNT], output[KWS_OUTPUT_LOGITS_COUNT];
void start(void);
void start(void) {
  const kws_inputs in = {input};
  const kws_outputs out = {output};
  (void)kws_invoke(&in, &out);
  for (;;) {}
}
C
cat >board.ld <<'LD'
ENTRY(start)
MEMORY { flash (rx) : ORIGIN = 0, LENGTH = 1M  sram (rw) : ORIGIN = 0x20000000, LENGTH = SRAM }
SECTIONS {
  .text : { *(.text*) *(.rodata*) } > flash
  .data : { *(.data*) } > sram AT > flash
  .sram : { *(.sram*) } > sram
  .bss : { *(.bss*) *(COMMON) } > sram
}
LD

# image NAME SRAM OPTIONS...: links NAME.elf with so much memory and writes NAME.bin.
image() {
  local name=$1 sram=$2
  "$arenac" compile "$models/ds_cnn_qop.onnx" --name kws --target cortex-m4 --optimize speed --quiet "${@:3}"
  sed "s/SRAM/$sram/" board.ld >"$name.ld"
  arm-none-eabi-gcc -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard -O2 -std=gnu99 -ffunction-sections -fdata-sections \
    -Wl,--gc-sections -Wall -Wextra -Werror -nostartfiles --specs=picolibc.specs -T "$name.ld" main.c kws.c kws_weights.c -lm -o "$name.elf" &&
    arm-none-eabi-objcopy -O binary "$name.elf" "$name.bin"
}

image plain 64K
image placed 64K --pool name=sram,section=.sram
arena=$(sed -n 's/#define KWS_SRAM_SIZE \([0-9]*\)u.*/\1/p' kws.h)
plain=$(stat -c %s plain.bin) placed=$(stat -c %s placed.bin)
arm-none-eabi-readelf -SW placed.elf | grep -E ' \.sram +NOBITS' >/dev/null || { echo "the arena is not in .sram"; exit 1; }
((placed - plain < 64 && plain - placed < 64)) || { echo "the image has $placed bytes, $plain without a section"; exit 1; }
image copied 64K --pool name=dtcm,kind=constants,size=16K,section=.sram,copy=start --pool name=rest,kind=constants
copies=$(sed -n 's/#define KWS_DTCM_SIZE \([0-9]*\)u.*/\1/p' kws.h) copied=$(stat -c %s copied.bin)
arm-none-eabi-readelf -SW copied.elf | grep -E ' \.sram +NOBITS' >/dev/null || { echo "the copies are not in .sram"; exit 1; }
((copies > 8000 && copied - plain < 1000)) || { echo "the image has $copied bytes, $plain without $copies of copies"; exit 1; }
if image small 1K --pool name=sram,section=.sram 2>errors; then
  echo "an arena of $arena bytes links into 1 KB"
  exit 1
fi
grep -q overflowed errors
echo "an arena of $arena bytes: an image of $placed bytes with a section of its own, $plain without; $copied with $copies bytes of copies"
