/* erf(x) = 1 - e^-v with v = |x| times a polynomial of |x| in [0, 4], which meets -log(erfc(x)) / x at 11
   Chebyshev points. Within 3 units in the last place. No branches: a loop over it vectorises. */
static inline float NAME_erf_f32(float x) {
  union word {
    float value;
    int32_t bits;
  } in;
  union word y;
  float a;
  float p;
  int32_t size;
  in.value = x;
  size = in.bits & 0x7fffffff;
  y.bits = size < 0x40800000 ? size : 0x40800000; /* within 4 of 0 */
  a = y.value;
  p = 2.55876507e-6f + a * -1.01397728e-7f;
  p = -7.71879747e-4f + a * (1.88092177e-4f + a * (-2.87435819e-5f + a * p));
  p = -1.9121386e-2f + a * (-2.58150397e-4f + a * (1.82303072e-3f + a * p));
  p = 1.12837917f + a * (6.36619567e-1f + a * (1.02773361e-1f + a * p));
  y.value = -NAME_expm1_f32(-a * p);
  y.bits |= ((0x7f800000 - size) >> 31) & 0x7fc00000; /* NaN stays NaN */
  y.bits |= in.bits ^ size;
  return y.value;
}
