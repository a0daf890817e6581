/* Running sums (or products) along the middle axis of reads[0], [outer, extent, inner], into writes[0].
   p: outer, extent, inner, exclusive, reverse, product. */
static void ARENAC_NAME(const void *const *reads, void *const *writes, const int64_t *p) {
  const ARENAC_T *x = (const ARENAC_T *)reads[0];
  ARENAC_T *y = (ARENAC_T *)writes[0];
  const int64_t outer = p[0], extent = p[1], inner = p[2];
  const int exclusive = p[3] != 0, reverse = p[4] != 0, product = p[5] != 0;
  int64_t o, i, k;
  for (o = 0; o < outer; ++o)
    for (i = 0; i < inner; ++i) {
      ARENAC_T so_far = (ARENAC_T)product;
      for (k = 0; k < extent; ++k) {
        const int64_t at = (o * extent + (reverse ? extent - 1 - k : k)) * inner + i;
        const ARENAC_T value = x[at]; /* before y[at] is written: x and y may be one array */
        const ARENAC_T next = product ? (ARENAC_T)(so_far * value) : (ARENAC_T)(so_far + value);
        y[at] = exclusive ? so_far : next;
        so_far = next;
      }
    }
}
