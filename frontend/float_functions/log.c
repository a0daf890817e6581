/* log(x) = n log(2) + log(1 + f) with 1 + f in [sqrt(1/2), sqrt(2)) and log(1 + f) = 2 atanh(s), s = f / (2 +
   f), where the series may end at s^9; n log(2) in two parts, of which the first is exact. Within 1 unit in
   the last place. No branches: a loop over it vectorises. */
static inline float NAME_log_f32(float x) {
  union word {
    float value;
    int32_t bits;
  } in;
  union word y;
  union word scale;
  float f;
  float s;
  float w;
  float n;
  int32_t size;
  int32_t tiny;
  int32_t endless;
  int32_t zero;
  in.value = x;
  size = in.bits & 0x7fffffff;
  tiny = (size - 0x800000) >> 31; /* all bits set: below the normal numbers, to be made 2^23 larger */
  scale.bits = 0x3f800000 + (tiny & 0xb800000);
  y.bits = size < 0x7f800000 ? size : 0x7f800000;
  y.value *= scale.value;
  y.bits += 0x4afb0d; /* from sqrt(1/2) to 1 */
  n = (float)((y.bits >> 23) - 127 - (tiny & 23));
  y.bits = (y.bits & 0x7fffff) + 0x3f3504f3;
  f = y.value - 1.0f;
  s = f / (2.0f + f);
  w = s * s;
  w = w * (2.0f / 3.0f + w * (2.0f / 5.0f + w * (2.0f / 7.0f + w * (2.0f / 9.0f))));
  y.value = n * 0.693359375f + (f - (s * (f - w) + n * 2.12194440e-4f));
  endless = (0x7f7fffff - size) >> 31;
  y.bits = (y.bits & ~endless) | (size & endless);
  y.bits |= (in.bits >> 31) & 0x7fc00000; /* NaN of what is negative */
  zero = (size - 1) >> 31;
  y.bits = (y.bits & ~zero) | (-0x800000 & zero);
  return y.value;
}
