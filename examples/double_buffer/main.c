/* Two images in turn: while the network reads one, the next one comes in. Inputs are the caller's, so that a
   second one is a second array; the arena is as large as for one. */
#include <stdio.h>

#include "dma.h"
#include "tiny_cnn.h"

static float images[2][TINY_CNN_INPUT_INPUT_COUNT];

static float* target;
static size_t left, samples;

void dma_begins(float* to, size_t count) {
  target = to;
  left = count;
}

void dma_goes_on(void) {
  size_t k;
  for (k = 0; k < 64 && left > 0; ++k, --left) *target++ = (float)(samples++ % 7) / 7.0f;
}

int dma_is_done(void) { return left == 0; }

int main(void) {
  float probabilities[TINY_CNN_OUTPUT_PROBABILITIES_COUNT];
  tiny_cnn_inputs in;
  const tiny_cnn_outputs out = {.probabilities = probabilities};
  int image;
  dma_begins(images[0], TINY_CNN_INPUT_INPUT_COUNT);
  for (image = 0; image < 4; ++image) {
    while (!dma_is_done()) dma_goes_on();
    in.input = images[image % 2];
    dma_begins(images[(image + 1) % 2], TINY_CNN_INPUT_INPUT_COUNT);
    if (tiny_cnn_invoke(&in, &out) != TINY_CNN_OK) return 1;
    printf("image %d: %.3f, %s\n", image, (double)probabilities[0],
           left < TINY_CNN_INPUT_INPUT_COUNT ? "the next one is coming" : "the next one waits");
  }
  return 0;
}
