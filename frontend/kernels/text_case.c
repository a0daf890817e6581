/* reads[0], text, with the letters a to z as capitals (or, if p[2] is 0, A to Z as small ones) to writes[0];
   bytes of other alphabets stay. p: elements, bytes of an element, whether to capitals. */
static void ARENAC_NAME(const void *const *reads, void *const *writes, const int64_t *p) {
  const uint8_t *x = (const uint8_t *)reads[0];
  uint8_t *y = (uint8_t *)writes[0];
  const uint8_t first = p[2] != 0 ? 'a' : 'A', last = p[2] != 0 ? 'z' : 'Z';
  int64_t k;
  for (k = 0; k < p[0] * p[1]; ++k)
    y[k] = x[k] >= first && x[k] <= last ? (uint8_t)(x[k] ^ ('a' ^ 'A')) : x[k];
}
