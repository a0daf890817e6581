/* Running sums (or products) along the middle axis of reads[0], [outer, extent, inner], into writes[0].
   p: outer, extent, inner, exclusive, reverse, product.
   Sums of more than 1024 terms are of parts: part[0] of the last terms, up to 256, part[1] of up to 256 such
   parts before these, and so on. Where one is full it joins the next, which leaves the sum of all as it is.
 */
static void ARENAC_NAME(const void *const *reads, void *const *writes, const int64_t *p) {
  const ARENAC_T *x = (const ARENAC_T *)reads[0];
  ARENAC_T *y = (ARENAC_T *)writes[0];
  const int64_t outer = p[0], extent = p[1], inner = p[2];
  const int exclusive = p[3] != 0, reverse = p[4] != 0, product = p[5] != 0;
  const int in_parts = !product && extent > 1024;
  int64_t o, i, k;
  for (o = 0; o < outer; ++o)
    for (i = 0; i < inner; ++i) {
      ARENAC_T part[8] = {0}, so_far = (ARENAC_T)product;
      int last = 0, l;
      for (k = 0; k < extent; ++k) {
        const int64_t at = (o * extent + (reverse ? extent - 1 - k : k)) * inner + i;
        const ARENAC_T value = x[at]; /* before y[at] is written: x and y may be one array */
        const ARENAC_T before = so_far;
        if (product) {
          so_far = (ARENAC_T)(so_far * value);
        } else if (!in_parts) {
          so_far = (ARENAC_T)(so_far + value);
        } else {
          int64_t full = k + 1;
          part[0] = (ARENAC_T)(part[0] + value);
          so_far = part[0];
          for (l = 1; l <= last; ++l) so_far = (ARENAC_T)(part[l] + so_far);
          for (l = 0; full % 256 == 0; ++l, full /= 256) {
            part[l + 1] = (ARENAC_T)(part[l + 1] + part[l]);
            part[l] = (ARENAC_T)0;
            last = l + 1 > last ? l + 1 : last;
          }
        }
        y[at] = exclusive ? before : so_far;
      }
    }
}
