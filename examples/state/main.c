/* y = x + y / 2, of the last call's y. */
#include <stdio.h>

#include "leaky.h"

int main(void) {
  const float x[LEAKY_INPUT_X_COUNT] = {1, 2, 4, 8};
  float y[LEAKY_OUTPUT_Y_COUNT];
  const leaky_inputs in = {.x = x};
  const leaky_outputs out = {.y = y};
  for (int run = 0; run < 2; ++run) {
    leaky_reset_static();
    for (int call = 0; call < 3; ++call)
      if (leaky_invoke(&in, &out) != LEAKY_OK) return 1;
    printf("%.2f %.2f\n", (double)y[0], (double)y[3]);
  }
  return 0;
}
