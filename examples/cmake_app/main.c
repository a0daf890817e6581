/* Runs tiny_cnn once, on a ramp of grey, and prints the probability of each class. */
#include <stdio.h>

#include "tiny_cnn.h"

int main(void) {
  static float image[1 * 1 * 16 * 16];
  static float probabilities[1 * 10];
  for (int i = 0; i < 16 * 16; ++i) image[i] = (float)i / 256.0f;

  const tiny_cnn_inputs in = {.input = image};
  const tiny_cnn_outputs out = {.probabilities = probabilities};
  const int status = tiny_cnn_invoke(&in, &out);
  if (status != 0) {
    printf("tiny_cnn_invoke: error %d\n", status);
    return 1;
  }
  for (int i = 0; i < 10; ++i) printf("class %d: %.6f\n", i, (double)probabilities[i]);
  return 0;
}
