/* The workspace has a pointer to each memory. */
#include <stdio.h>

#include "tiny_cnn.h"

int main(void) {
  static float image[TINY_CNN_INPUT_INPUT_COUNT], probabilities[TINY_CNN_OUTPUT_PROBABILITIES_COUNT];
  /* On a board with __attribute__((section(".dtcm"))), say, before the first. */
  TINY_CNN_ALIGNED(TINY_CNN_FAST_ALIGN) static unsigned char fast[TINY_CNN_FAST_SIZE];
  TINY_CNN_ALIGNED(TINY_CNN_SLOW_ALIGN) static unsigned char slow[TINY_CNN_SLOW_SIZE];
  const tiny_cnn_workspace work = {.fast = fast, .slow = slow};
  const tiny_cnn_inputs in = {.input = image};
  const tiny_cnn_outputs out = {.probabilities = probabilities};
  const int status = tiny_cnn_run(&work, &in, &out);
  printf("status %d, %u bytes fast and %u slow\n", status, TINY_CNN_FAST_SIZE, TINY_CNN_SLOW_SIZE);
  return status;
}
