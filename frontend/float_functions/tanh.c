/* tanh(x) = q / (q + 2) with q = e^2x - 1. Within 2.6 units in the last place. No branches: a loop over it
   vectorises. */
static inline float NAME_tanh_f32(float x) {
  union word {
    float value;
    int32_t bits;
  } in;
  union word y;
  float q;
  int32_t size;
  in.value = x;
  size = in.bits & 0x7fffffff;
  y.bits = (size < 0x41200000 ? size : 0x41200000) | (in.bits ^ size); /* within 10 of 0 */
  q = NAME_expm1_f32(2.0f * y.value);
  y.value = q / (q + 2.0f);
  y.bits |= ((0x7f800000 - size) >> 31) & 0x7fc00000; /* NaN stays NaN */
  y.bits |= in.bits ^ size;                           /* and -0 is -0 */
  return y.value;
}
