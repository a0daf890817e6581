/* e^x = 2^n e^r with |r| <= log(2) / 2, where the Taylor series may end at r^7; n log(2) in two parts, of
   which the first is exact. Within 1.3 units in the last place. No branches: a loop over it vectorises. */
static inline float NAME_exp_f32(float x) {
  union word {
    float value;
    int32_t bits;
  } in;
  union word y;
  union word low;
  union word high;
  float r;
  float p;
  int32_t size;
  int32_t n;
  in.value = x;
  size = in.bits & 0x7fffffff;
  y.bits = (size < 0x42d00000 ? size : 0x42d00000) | (in.bits ^ size); /* within 104 of 0 */
  n = (int32_t)(y.value * 1.44269504f + 152.5f) - 152;
  r = (y.value - (float)n * 0.693359375f) + (float)n * 2.12194440e-4f;
  p = 1.0f / 720.0f + r * (1.0f / 5040.0f);
  p = 0.5f + r * (1.0f / 6.0f + r * (1.0f / 24.0f + r * (1.0f / 120.0f + r * p)));
  p = 1.0f + r * (1.0f + r * p);
  low.bits = ((n >> 1) + 127) * 0x800000;
  high.bits = (n - (n >> 1) + 127) * 0x800000;
  y.value = p * low.value * high.value;
  y.bits |= ((0x7f800000 - size) >> 31) & 0x7fc00000; /* NaN stays NaN */
  return y.value;
}
