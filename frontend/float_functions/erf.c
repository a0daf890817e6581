/* erf(x) = 1 - e^-v with v = |x| times a polynomial of |x| in [0, 4], which meets -log(erfc(x)) / x at 11
   Chebyshev points; 1 - e^-v = 1 - 2^n - 2^n (e^r - 1), |r| <= log(2) / 2. Within 2.6 units in the last
   place. No branches: a loop over it vectorises. */
static inline float NAME_erf_f32(float x) {
  union {
    float value;
    int32_t bits;
  } in, y;
  float r, q;
  int32_t size, n;
  in.value = x;
  size = in.bits & 0x7fffffff;
  y.bits = size < 0x40800000 ? size : 0x40800000; /* within 4 of 0 */
  r = y.value;
  q = 2.55876507e-6f + r * -1.01397728e-7f;
  q = -7.71879747e-4f + r * (1.88092177e-4f + r * (-2.87435819e-5f + r * q));
  q = -1.9121386e-2f + r * (-2.58150397e-4f + r * (1.82303072e-3f + r * q));
  q = 1.12837917f + r * (6.36619567e-1f + r * (1.02773361e-1f + r * q));
  r *= -q;
  n = (int32_t)(r * 1.44269504f + 30.5f) - 30;
  r = (r - (float)n * 0.693359375f) + (float)n * 2.12194440e-4f;
  q = 1.0f / 720.0f + r * (1.0f / 5040.0f);
  q = 0.5f + r * (1.0f / 6.0f + r * (1.0f / 24.0f + r * (1.0f / 120.0f + r * q)));
  q = r + r * r * q;
  y.bits = (n + 127) * 0x800000;
  y.value = (1.0f - y.value) - y.value * q;
  y.bits |= ((0x7f800000 - size) >> 31) & 0x7fc00000; /* NaN stays NaN */
  y.bits |= in.bits ^ size;
  return y.value;
}
