/* Where reads[0], bool of any shape, is true: its int64 indices in writes[0], [rank, elements], in row-major
   order, zeros behind them; their number in writes[1], a scalar. p: rank, the extents. */
static void ARENAC_NAME(const void *const *reads, void *const *writes, const int64_t *p) {
  const ARENAC_T *x = (const ARENAC_T *)reads[0];
  int64_t *indices = (int64_t *)writes[0];
  const int64_t rank = p[0];
  int64_t elements = 1, count = 0, e, d, k;
  for (d = 0; d < rank; ++d) elements *= p[1 + d];
  for (e = 0; e < elements; ++e) {
    int64_t rest = e;
    if (x[e] == (ARENAC_T)0) continue;
    for (d = rank; d-- > 0; rest /= p[1 + d]) indices[d * elements + count] = rest % p[1 + d];
    ++count;
  }
  for (d = 0; d < rank; ++d)
    for (k = count; k < elements; ++k) indices[d * elements + k] = 0;
  *(int64_t *)writes[1] = count;
}
