/* Runs a model with one input and one output on a fixed input and prints every output element: its bits, its
 * value. Built for the board and for the host (bare_metal_test.sh), it must print the same.
 *
 *   cc -DMODEL=tiny_cnn -DHEADER='"tiny_cnn.h"' -DIN=float -DIN_COUNT=256 -DOUT=float -DOUT_COUNT=10 ...
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include HEADER

#define JOIN(a, b) a##b
#define NAME(model, suffix) JOIN(model, suffix)

static IN input[IN_COUNT];
static OUT output[OUT_COUNT];

int main(void) {
  /* 0 to 250 in a scattered order: in [-1, 1) as float, -125 to 125 as integer. */
  for (int i = 0; i < IN_COUNT; ++i) {
    const int value = i * 97 % 251 - 125;
    input[i] = (IN)0.5 == (IN)0 ? (IN)value : (IN)value / (IN)125;
  }
  const NAME(MODEL, _inputs) in = {input};
  const NAME(MODEL, _outputs) out = {output};
  const int status = NAME(MODEL, _invoke)(&in, &out);
  if (status != 0) {
    printf("error %d\n", status);
    return 1;
  }
  for (int i = 0; i < OUT_COUNT; ++i) {
    uint32_t bits = 0;
    memcpy(&bits, &output[i], sizeof output[i]); /* little-endian on both sides */
    printf("%08lx %.9g\n", (unsigned long)bits, (double)output[i]);
  }
  return 0;
}
