/* One run on the static arena, one on memory of one's own: the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tiny_cnn.h"

int main(void) {
  static float image[TINY_CNN_INPUT_INPUT_COUNT];
  float first[TINY_CNN_OUTPUT_PROBABILITIES_COUNT], second[TINY_CNN_OUTPUT_PROBABILITIES_COUNT];
  for (unsigned i = 0; i < TINY_CNN_INPUT_INPUT_COUNT; ++i) image[i] = (float)i / 256.0f;

  const tiny_cnn_inputs in = {.input = image};
  tiny_cnn_outputs out = {.probabilities = first};
  if (tiny_cnn_invoke(&in, &out) != TINY_CNN_OK) return 1;

  const tiny_cnn_workspace work = {.arena = malloc(TINY_CNN_ARENA_SIZE)}; /* aligned enough for 16 */
  out.probabilities = second;
  if (tiny_cnn_run(&work, &in, &out) != TINY_CNN_OK) return 1;
  free(work.arena);

  printf("%u bytes of arena, class 0: %.4f, %s\n", TINY_CNN_ARENA_SIZE, (double)first[0],
         memcmp(first, second, sizeof first) == 0 ? "twice" : "different");
  return 0;
}
