/* A camera's line interrupt leaves a row and counts it; the main loop feeds the network. Here a signal is the
 * interrupt. */
#include <signal.h>
#include <stdio.h>

#include "tiny_cnn.h"

static float line[TINY_CNN_INPUT_INPUT_ROW_COUNT]; /* where the camera's DMA writes */
static volatile sig_atomic_t lines;                /* that it has written */

static void line_interrupt(int number) {
  for (unsigned x = 0; x < TINY_CNN_INPUT_INPUT_ROW_COUNT; ++x)
    line[x] = (float)((unsigned)lines * TINY_CNN_INPUT_INPUT_ROW_COUNT + x) / 256.0f;
  ++lines;
  signal(number, line_interrupt);
}

int main(void) {
  static float probabilities[TINY_CNN_OUTPUT_PROBABILITIES_COUNT];
  static tiny_cnn_workspace work; /* begins as zeros */
  int status = TINY_CNN_MORE, fed = 0;
  work.arena = tiny_cnn_static_arena();
  work.out.probabilities = probabilities;
  signal(SIGINT, line_interrupt);
  while (status == TINY_CNN_MORE) {
    raise(SIGINT);
    if (fed < lines) status = tiny_cnn_feed(&work, line), ++fed;
  }
  printf("status %d after %d rows, class 0: %.4f\n", status, fed, (double)probabilities[0]);
  return status;
}
