/* Scores of decision trees: reads[0] is x, [rows, features]; writes[0] the scores, [rows, targets].
   Node tables: reads[1] feature (int32, -1: a leaf), reads[2] threshold, reads[3] mode (uint8: 0 <=, 1 <, 2
   >=, 3 >, 4 ==, 5 !=; 8 added: a NaN goes to the true branch), reads[4] and reads[5] the true and the false
   child (int32); a leaf's children are the begin and the end of its entries in reads[7] target (int32) and
   reads[8] weight. reads[6]: the trees' roots (int32). Scratch: writes[1], [targets] bytes, and writes[2],
   [targets], the sums of the last trees, up to 256, where there are more than 1024. p: rows, features,
   targets, trees, how (0 sum, 1 average, 2 minimum, 3 maximum). */
static void ARENAC_NAME(const void *const *reads, void *const *writes, const int64_t *p) {
  const int32_t *feature = (const int32_t *)reads[1];
  const ARENAC_T *threshold = (const ARENAC_T *)reads[2];
  const uint8_t *mode = (const uint8_t *)reads[3];
  const int32_t *yes = (const int32_t *)reads[4], *no = (const int32_t *)reads[5],
                *root = (const int32_t *)reads[6];
  const int32_t *target = (const int32_t *)reads[7];
  const ARENAC_T *weight = (const ARENAC_T *)reads[8];
  const int64_t rows = p[0], features = p[1], targets = p[2], trees = p[3], how = p[4];
  const int in_parts = how <= 1 && trees > 1024;
  int64_t r, t, k;
  for (r = 0; r < rows; ++r) {
    const ARENAC_T *x = (const ARENAC_T *)reads[0] + r * features;
    ARENAC_T *score = (ARENAC_T *)writes[0] + r * targets;
    ARENAC_T *part = in_parts ? (ARENAC_T *)writes[2] : score;
    uint8_t *seen = (uint8_t *)writes[1];
    for (k = 0; k < targets; ++k) score[k] = part[k] = (ARENAC_T)0, seen[k] = 0;
    for (t = 0; t < trees; ++t) {
      int32_t n = root[t];
      while (feature[n] >= 0) {
        const ARENAC_T a = x[feature[n]], b = threshold[n];
        int taken = 0;
        switch (mode[n] & 7) {
          case 0:
            taken = a <= b;
            break;
          case 1:
            taken = a < b;
            break;
          case 2:
            taken = a >= b;
            break;
          case 3:
            taken = a > b;
            break;
          case 4:
            taken = a == b;
            break;
          default:
            taken = a != b;
            break;
        }
        if (a != a && (mode[n] & 8)) taken = 1;
        n = taken ? yes[n] : no[n];
      }
      for (k = yes[n]; k < no[n]; ++k) {
        ARENAC_T *s = part + target[k];
        if (how <= 1)
          *s += weight[k];
        else if (!seen[target[k]] || (how == 2 ? weight[k] < *s : weight[k] > *s))
          *s = weight[k];
        seen[target[k]] = 1;
      }
      if (in_parts && (t % 256 == 255 || t == trees - 1))
        for (k = 0; k < targets; ++k) score[k] += part[k], part[k] = (ARENAC_T)0;
    }
    if (how == 1)
      for (k = 0; k < targets; ++k) score[k] /= (ARENAC_T)trees;
  }
}
