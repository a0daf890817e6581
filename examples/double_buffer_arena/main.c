/* Two images in turn, as double_buffer has them, with inputs and outputs in the workspace. `dma` is a pool
   with the input alone: two workspaces have one each, and the arena in common. */
#include <stdio.h>

#include "../double_buffer/dma.h"
#include "tiny_cnn.h"

#define IMAGE_SIZE ((TINY_CNN_DMA_SIZE + TINY_CNN_DMA_ALIGN - 1u) / TINY_CNN_DMA_ALIGN * TINY_CNN_DMA_ALIGN)

TINY_CNN_ALIGNED(TINY_CNN_SRAM_ALIGN) static unsigned char sram[TINY_CNN_SRAM_SIZE];
TINY_CNN_ALIGNED(TINY_CNN_DMA_ALIGN) static unsigned char images[2][IMAGE_SIZE];

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
  tiny_cnn_workspace w[2];
  int image;
  w[0].sram = w[1].sram = sram;
  w[0].dma = images[0], w[1].dma = images[1];
  dma_begins(tiny_cnn_input_input(&w[0]), TINY_CNN_INPUT_INPUT_COUNT);
  for (image = 0; image < 4; ++image) {
    const tiny_cnn_workspace *const now = &w[image % 2], *const next = &w[(image + 1) % 2];
    while (!dma_is_done()) dma_goes_on();
    dma_begins(tiny_cnn_input_input(next), TINY_CNN_INPUT_INPUT_COUNT);
    if (tiny_cnn_run(now) != TINY_CNN_OK) return 1;
    printf("image %d: %.3f, %s\n", image, (double)tiny_cnn_output_probabilities(now)[0],
           left < TINY_CNN_INPUT_INPUT_COUNT ? "the next one is coming" : "the next one waits");
  }
  return 0;
}
