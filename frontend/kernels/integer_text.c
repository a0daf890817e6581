/* reads[0], integers, in decimal digits as text to writes[0]. p: elements, bytes of an element. */
static void ARENAC_NAME(const void *const *reads, void *const *writes, const int64_t *p) {
  const ARENAC_T *x = (const ARENAC_T *)reads[0];
  int64_t e, k;
  for (e = 0; e < p[0]; ++e) {
    char *y = (char *)writes[0] + e * p[1];
    char digit[20];
    const int negative = x[e] < (ARENAC_T)1 && x[e] != 0;
    uint64_t rest = negative ? 0u - (uint64_t)x[e] : (uint64_t)x[e];
    int count = 0, used = 0;
    for (k = 0; k < p[1]; ++k) y[k] = 0;
    do {
      digit[count++] = (char)('0' + (int)(rest % 10));
      rest /= 10;
    } while (rest != 0);
    if (negative) y[used++] = '-';
    while (count > 0) y[used++] = digit[--count];
  }
}
