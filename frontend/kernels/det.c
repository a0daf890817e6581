/* Determinants of reads[0], [count, n, n], into writes[0], [count], by elimination with row pivots in the
   scratch writes[1], [n, n]. p: count, n. */
static void ARENAC_NAME(const void *const *reads, void *const *writes, const int64_t *p) {
  const int64_t count = p[0], n = p[1];
  ARENAC_T *a = (ARENAC_T *)writes[1];
  int64_t c, i, j, k;
  for (c = 0; c < count; ++c) {
    const ARENAC_T *x = (const ARENAC_T *)reads[0] + c * n * n;
    ARENAC_T det = (ARENAC_T)1;
    for (k = 0; k < n * n; ++k) a[k] = x[k];
    for (k = 0; k < n; ++k) {
      int64_t pivot = k;
      ARENAC_T best = a[k * n + k] < 0 ? -a[k * n + k] : a[k * n + k];
      for (i = k + 1; i < n; ++i) {
        const ARENAC_T size = a[i * n + k] < 0 ? -a[i * n + k] : a[i * n + k];
        if (size > best) best = size, pivot = i;
      }
      if (best == 0) {
        det = (ARENAC_T)0;
        break;
      }
      if (pivot != k) {
        det = -det;
        for (j = k; j < n; ++j) {
          const ARENAC_T t = a[k * n + j];
          a[k * n + j] = a[pivot * n + j], a[pivot * n + j] = t;
        }
      }
      det *= a[k * n + k];
      for (i = k + 1; i < n; ++i) {
        const ARENAC_T factor = a[i * n + k] / a[k * n + k];
        for (j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
      }
    }
    ((ARENAC_T *)writes[0])[c] = det;
  }
}
