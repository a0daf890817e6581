/* The k best elements along the middle axis of reads[0], [outer, extent, inner]: their values in writes[0]
   and their int64 indices in writes[1], both [outer, k, inner], best first. Of equal elements the one of
   lower index is better. A heap of k with its worst element on top takes each element in turn, and is then
   sorted in place. p: outer, extent, inner, k, largest. */
static void ARENAC_NAME(const void *const *reads, void *const *writes, const int64_t *p) {
#define ARENAC_BETTER(a, ia, b, ib) (largest ? (a) > (b) : (a) < (b)) || ((a) == (b) && (ia) < (ib))
  const int64_t outer = p[0], extent = p[1], inner = p[2], k = p[3];
  const int largest = p[4] != 0;
  int64_t o, i;
  for (o = 0; o < outer; ++o)
    for (i = 0; i < inner; ++i) {
      const ARENAC_T *x = (const ARENAC_T *)reads[0] + o * extent * inner + i;
      ARENAC_T *value = (ARENAC_T *)writes[0] + o * k * inner + i;
      int64_t *index = (int64_t *)writes[1] + o * k * inner + i;
      int64_t size = 0, e;
      /* The elements enter one by one; then, with e past the end, the worst of the heap moves behind it. */
      for (e = 0; e < extent + k && k > 0; ++e) {
        ARENAC_T v;
        int64_t iv, hole;
        if (e < extent && size < k) { /* up from the end */
          v = x[e * inner], iv = e, hole = size++;
          while (hole > 0) {
            const int64_t up = (hole - 1) / 2;
            if (!(ARENAC_BETTER(value[up * inner], index[up * inner], v, iv))) break;
            value[hole * inner] = value[up * inner], index[hole * inner] = index[up * inner];
            hole = up;
          }
        } else { /* down from the top */
          if (e < extent) {
            v = x[e * inner], iv = e;
            if (!(ARENAC_BETTER(v, iv, value[0], index[0]))) continue;
          } else {
            --size;
            v = value[size * inner], iv = index[size * inner];
            value[size * inner] = value[0], index[size * inner] = index[0];
          }
          hole = 0;
          while (2 * hole + 1 < size) {
            int64_t down = 2 * hole + 1;
            if (down + 1 < size && (ARENAC_BETTER(value[down * inner], index[down * inner],
                                                  value[(down + 1) * inner], index[(down + 1) * inner])))
              ++down;
            if (!(ARENAC_BETTER(v, iv, value[down * inner], index[down * inner]))) break;
            value[hole * inner] = value[down * inner], index[hole * inner] = index[down * inner];
            hole = down;
          }
          if (size > 0) value[hole * inner] = v, index[hole * inner] = iv;
        }
        if (e < extent) value[hole * inner] = v, index[hole * inner] = iv;
      }
    }
#undef ARENAC_BETTER
}
