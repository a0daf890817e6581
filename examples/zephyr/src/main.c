/* One run on the network's static arena. */
#include <stdio.h>

#include "tiny_cnn.h"

int main(void) {
  static float image[TINY_CNN_INPUT_INPUT_COUNT];
  static float probabilities[TINY_CNN_OUTPUT_PROBABILITIES_COUNT];
  for (unsigned i = 0; i < TINY_CNN_INPUT_INPUT_COUNT; ++i) image[i] = (float)i / 256.0f;

  const tiny_cnn_inputs in = {.input = image};
  const tiny_cnn_outputs out = {.probabilities = probabilities};
  const int status = tiny_cnn_invoke(&in, &out);
  printf("status %d, arena of %u bytes\n", status, TINY_CNN_ARENA_SIZE);
  return status;
}
