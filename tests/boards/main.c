/* Runs `model`, which has one input and one output, once on a board of QEMU: reads input.bin, writes
 * output.bin and prints "INSTRUCTIONS STACK" (see boards.h); driver/board_clock.h stands before it. Files and
 * text travel by semihosting.
 *
 *   cc -DHEADER='"model.h"' -DSTACK_BYTES=... -DPICOSECONDS_PER_TICK=... main.c model.c ...
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include HEADER

/* The end of RAM; the stack grows down from it. Defined by the C library's linker script. */
extern uint8_t __stack[];

enum { kPaint = 0xA5 };

static union {
  uint8_t bytes[MODEL_INPUT_BYTES];
  uint64_t align;
} input;
static union {
  uint8_t bytes[MODEL_OUTPUT_BYTES];
  uint64_t align;
} output;

#ifdef __riscv
#define MOVE "mv"
#else
#define MOVE "mov"
#endif

static int run(uint32_t* executed, uint32_t* stack) {
  const model_inputs in = {(void*)input.bytes};
  const model_outputs out = {(void*)output.bytes};
  uint8_t* const bottom = __stack - STACK_BYTES;
  uint8_t* top;
  uint64_t before;
  int status;
  __asm__ volatile(MOVE " %0, sp" : "=r"(top));
  for (volatile uint8_t* p = bottom; p < top; ++p) *p = kPaint;
  memset(model_static_arena(), kPaint, MODEL_ARENA_SIZE); /* nothing is known of what lies there */
  memset(output.bytes, kPaint, sizeof output.bytes);
  start_counting();
  before = instructions();
  status = model_invoke(&in, &out);
  *executed = (uint32_t)(instructions() - before);
  const uint8_t* lowest = bottom;
  while (lowest < top && *lowest == kPaint) ++lowest;
  *stack = lowest == bottom ? 0 : (uint32_t)(top - lowest);
  return status;
}

int main(void) {
  uint32_t executed = 0, stack = 0;
  FILE* file = fopen("input.bin", "rb");
  if (file == NULL || fread(input.bytes, 1, sizeof input.bytes, file) != sizeof input.bytes) return 90;
  const int status = run(&executed, &stack);
  if (status != 0) return status;
  if (stack == 0) return 91; /* it ran over its end */
  file = fopen("output.bin", "wb");
  if (file == NULL || fwrite(output.bytes, 1, sizeof output.bytes, file) != sizeof output.bytes ||
      fclose(file) != 0)
    return 92;
  printf("%lu %lu\n", (unsigned long)executed, (unsigned long)stack);
  return 0;
}
