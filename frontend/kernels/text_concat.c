/* reads[0] followed by reads[1], text, to writes[0]; what is longer than an element is cut off. p: elements,
   bytes of an element. */
static void ARENAC_NAME(const void *const *reads, void *const *writes, const int64_t *p) {
  const int64_t room = p[1];
  int64_t e;
  for (e = 0; e < p[0]; ++e) {
    uint8_t *y = (uint8_t *)writes[0] + e * room;
    int64_t used = 0, part, k;
    for (part = 0; part < 2; ++part) {
      const uint8_t *x = (const uint8_t *)reads[part] + e * room;
      for (k = 0; k < room && x[k] != 0 && used < room - 1; ++k) y[used++] = x[k];
    }
    for (k = used; k < room; ++k) y[k] = 0;
  }
}
