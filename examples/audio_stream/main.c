/* The mean of each frame and the two before it; the arena remembers them. */
#include <stdio.h>

#include "smooth.h"

int main(void) {
  const float frames[] = {3, 0, 0, 0, 6, 6, 6, 0};
  float frame, level;
  const smooth_inputs in = {.audio = &frame};
  const smooth_outputs out = {.level = &level};
  smooth_reset_static();
  for (unsigned k = 0; k < sizeof frames / sizeof *frames; ++k) {
    frame = frames[k];
    if (smooth_invoke(&in, &out) != SMOOTH_OK) return 1;
    printf("%.0f ", (double)level);
  }
  printf("\n");
  return 0;
}
