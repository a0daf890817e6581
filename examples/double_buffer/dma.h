/* What stands for a DMA controller here: it copies while the processor is at something else. */
#ifndef DMA_H
#define DMA_H
#include <stddef.h>

void dma_begins(float* to, size_t count); /* of samples that come in */
void dma_goes_on(void);
int dma_is_done(void);
#endif
