/* Inputs and outputs lie in the arena: nothing is passed. */
#include <stdio.h>

#include "tiny_cnn.h"

int main(void) {
  const tiny_cnn_workspace work = {.arena = tiny_cnn_static_arena()};
  for (unsigned i = 0; i < TINY_CNN_INPUT_INPUT_COUNT; ++i)
    tiny_cnn_input_input(&work)[i] = (float)i / 256.0f;
  if (tiny_cnn_invoke() != TINY_CNN_OK) return 1;

  int best = 0;
  const float* scores = tiny_cnn_output_probabilities(&work);
  for (int i = 1; i < (int)TINY_CNN_OUTPUT_PROBABILITIES_COUNT; ++i)
    if (scores[i] > scores[best]) best = i;
  printf("class %d\n", best);
  return 0;
}
