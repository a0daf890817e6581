/* Which slices along the middle axis of reads[0], [outer, extent, inner], are equal. Per group of equal
   slices the index of the first in writes[0] and their number in writes[2], zeros behind them; in writes[1]
   the group of each slice; all int64 [extent]. The number of groups in writes[3], a scalar. Groups are in
   ascending order of their slices, or of their first occurrence. writes[4], int64 [extent], is scratch: a
   heap sort's order of the slices. p: outer, extent, inner, sorted. */
static void ARENAC_NAME(const void *const *reads, void *const *writes, const int64_t *p) {
  const ARENAC_T *x = (const ARENAC_T *)reads[0];
  const int64_t outer = p[0], extent = p[1], inner = p[2];
  int64_t *first = (int64_t *)writes[0], *group = (int64_t *)writes[1], *number = (int64_t *)writes[2];
  int64_t *order = (int64_t *)writes[4];
  int64_t groups = 0, e, k, s;
/* order_ becomes -1, 0 or 1 as slice a_ comes before slice b_, is equal, or comes after it. */
#define ARENAC_COMPARE(order_, a_, b_)                                \
  for (order_ = 0, k = 0; k < outer * inner && order_ == 0; ++k) {    \
    const ARENAC_T *row = x + k / inner * extent * inner + k % inner; \
    const ARENAC_T left = row[(a_)*inner], right = row[(b_)*inner];   \
    order_ = left < right ? -1 : right < left ? 1 : 0;                \
  }
  for (e = 0; e < extent; ++e) order[e] = e;
  /* The heap's greatest slice, of equal ones the last, is on top. First it grows from the middle, then each
     top moves behind it. */
  for (e = extent / 2 + extent; e-- > 1 && extent > 1;) {
    const int64_t size = e < extent ? e : extent;
    int64_t hole = e < extent ? 0 : e - extent, moved = order[e < extent ? e : hole];
    if (e < extent) order[e] = order[0];
    while (2 * hole + 1 < size) {
      int64_t down = 2 * hole + 1;
      int after;
      if (down + 1 < size) {
        ARENAC_COMPARE(after, order[down + 1], order[down])
        if (after > 0 || (after == 0 && order[down + 1] > order[down])) ++down;
      }
      ARENAC_COMPARE(after, order[down], moved)
      if (after < 0 || (after == 0 && order[down] < moved)) break;
      order[hole] = order[down];
      hole = down;
    }
    order[hole] = moved;
  }
  for (e = 0; e < extent; ++e) {
    int after = 1;
    if (e > 0) ARENAC_COMPARE(after, order[e], order[e - 1])
    if (after != 0) first[groups] = order[e], number[groups++] = 0;
    group[order[e]] = groups - 1;
    ++number[groups - 1];
  }
  if (!p[3]) { /* renumber by first occurrence */
    for (s = 0, e = 0; s < extent; ++s)
      if (first[group[s]] == s) order[group[s]] = e++;
    for (s = 0; s < extent; ++s) group[s] = order[group[s]], number[s] = 0;
    for (s = extent; s-- > 0;) first[group[s]] = s, ++number[group[s]];
  }
  for (e = groups; e < extent; ++e) first[e] = number[e] = 0;
  *(int64_t *)writes[3] = groups;
#undef ARENAC_COMPARE
}
