/* e^x - 1 = 2^n (e^r - 1) + 2^n - 1 of x within 20 of 0, |r| <= log(2) / 2, where the Taylor series may end
   at r^7; n log(2) in two parts, of which the first is exact. No branches: a loop over it vectorises. */
static inline float NAME_expm1_f32(float x) {
  union {
    float value;
    int32_t bits;
  } power;
  const int32_t n = (int32_t)(x * 1.44269504f + 30.5f) - 30;
  const float r = (x - (float)n * 0.693359375f) + (float)n * 2.12194440e-4f;
  float q = 1.0f / 720.0f + r * (1.0f / 5040.0f);
  q = 0.5f + r * (1.0f / 6.0f + r * (1.0f / 24.0f + r * (1.0f / 120.0f + r * q)));
  power.bits = (n + 127) * 0x800000;
  return power.value * (r + r * r * q) + (power.value - 1.0f);
}
