/* Executed instructions, on a board of QEMU whose clock -icount drives (driver/boards.h); on a real Cortex-M
 * cycles, where PICOSECONDS_PER_TICK is 1000.
 *
 *   start_counting();
 *   before = instructions(); ...; executed = instructions() - before;
 */
#include <stdint.h>

#ifndef PICOSECONDS_PER_TICK
#define PICOSECONDS_PER_TICK 1000
#endif

#ifdef __riscv

/* Counts instructions by itself when the machine runs on -icount. */
static void start_counting(void) {}
static uint64_t instructions(void) {
  uint32_t low, high, again;
  do {
    __asm__ volatile(".option arch, +zicsr\n\tcsrr %0, minstreth" : "=r"(high));
    __asm__ volatile(".option arch, +zicsr\n\tcsrr %0, minstret" : "=r"(low));
    __asm__ volatile(".option arch, +zicsr\n\tcsrr %0, minstreth" : "=r"(again));
  } while (high != again);
  return (uint64_t)high << 32 | low;
}

#else

/* SysTick counts down: 0, kReload, ..., 1, 0, ...; -icount shift=0 makes an instruction a nanosecond. Each
 * return to 0, after some 670 million instructions, is an interrupt of a few. */
enum { kReload = 0xFFFFFF };
static volatile uint32_t* const systick = (volatile uint32_t*)0xE000E010u; /* control, reload, current */
static volatile uint32_t wraps;
void arm_systick_isr(void); /* picolibc's name */
void SysTick_Handler(void); /* CMSIS's */
void arm_systick_isr(void) { ++wraps; }
void SysTick_Handler(void) { ++wraps; }

static void start_counting(void) {
  systick[1] = kReload;
  systick[2] = 0;
  systick[0] = 7; /* on, with interrupt, the clock of the processor */
}
static uint64_t instructions(void) {
  uint32_t before, left;
  do {
    before = wraps;
    left = systick[2];
  } while (before != wraps);
  return ((uint64_t)before * (kReload + 1u) + (left == 0 ? 0 : kReload + 1u - left)) * PICOSECONDS_PER_TICK /
         1000;
}

#endif
