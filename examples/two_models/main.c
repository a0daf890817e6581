/* Each runs alone; both have the same memory. */
#include <stdio.h>

#include "both.h"

int main(void) {
  static float audio[SMOOTH_INPUT_AUDIO_COUNT], level[SMOOTH_OUTPUT_LEVEL_COUNT];
  static float image[TINY_CNN_INPUT_INPUT_COUNT], probabilities[TINY_CNN_OUTPUT_PROBABILITIES_COUNT];
  audio[0] = 3.0f;
  const smooth_inputs heard = {.audio = audio};
  const smooth_outputs loud = {.level = level};
  if (smooth_invoke(&heard, &loud) != SMOOTH_OK) return 1;

  const tiny_cnn_inputs seen = {.input = image};
  const tiny_cnn_outputs what = {.probabilities = probabilities};
  if (level[0] > 0.5f && tiny_cnn_invoke(&seen, &what) != TINY_CNN_OK) return 1;
  printf("level %.1f; %s\n", (double)level[0],
         BOTH_ARENA_SIZE == TINY_CNN_ARENA_SIZE ? "one arena for both" : "more than one arena");
  return 0;
}
