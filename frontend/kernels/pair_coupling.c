/* The probabilities of classes from those of pairs: the ones that contradict the pairs least, by algorithm 2
   of Wu, Lin and Weng, "Probability estimates for multi-class classification by pairwise coupling" (2004).
   They minimise the sum over i of (sum over j of r(j,i) p[i] - r(i,j) p[j])^2 / 2, in at most 100 rounds.
   reads[0]: [rows, classes (classes - 1) / 2], r(i,j) of the pairs (0,1), (0,2), ...: how probable class i <
   j is, if it is one of the two; within (0, 1). writes[0]: [rows, classes]; scratch writes[1], [2, classes]:
   the diagonal of Q, and Q p. p: rows, classes. */
static void ARENAC_NAME(const void *const *reads, void *const *writes, const int64_t *p) {
  const int64_t classes = p[1], pairs = classes * (classes - 1) / 2;
  ARENAC_T *diagonal = (ARENAC_T *)writes[1], *product = diagonal + classes;
  const ARENAC_T enough = (ARENAC_T)0.005 / (ARENAC_T)classes;
  int64_t row, round, i, j;
#define ARENAC_UP(i_, j_) r[(i_) * (2 * classes - (i_)-1) / 2 + (j_) - (i_)-1]
#define ARENAC_R(i_, j_) ((i_) < (j_) ? ARENAC_UP(i_, j_) : (ARENAC_T)1 - ARENAC_UP(j_, i_))
#define ARENAC_Q(i_, j_) ((i_) == (j_) ? diagonal[i_] : -ARENAC_R(j_, i_) * ARENAC_R(i_, j_))
  for (row = 0; row < p[0]; ++row) {
    const ARENAC_T *r = (const ARENAC_T *)reads[0] + row * pairs;
    ARENAC_T *y = (ARENAC_T *)writes[0] + row * classes;
    for (i = 0; i < classes; ++i) {
      y[i] = (ARENAC_T)1 / (ARENAC_T)classes;
      diagonal[i] = (ARENAC_T)0;
      for (j = 0; j < classes; ++j)
        if (j != i) diagonal[i] += ARENAC_R(j, i) * ARENAC_R(j, i);
    }
    for (round = 0; round < 100; ++round) {
      ARENAC_T mean = (ARENAC_T)0, worst = (ARENAC_T)0; /* p Q p; the largest |Q p - p Q p| */
      for (i = 0; i < classes; ++i) {
        product[i] = (ARENAC_T)0;
        for (j = 0; j < classes; ++j) product[i] += ARENAC_Q(i, j) * y[j];
        mean += y[i] * product[i];
      }
      for (i = 0; i < classes; ++i) {
        const ARENAC_T error = product[i] > mean ? product[i] - mean : mean - product[i];
        if (error > worst) worst = error;
      }
      if (worst < enough) break;
      for (i = 0; i < classes; ++i) { /* one class's own best, the sum brought back to 1 */
        const ARENAC_T step = (mean - product[i]) / diagonal[i], sum = (ARENAC_T)1 + step;
        mean = (mean + step * (step * diagonal[i] + (ARENAC_T)2 * product[i])) / sum / sum;
        y[i] += step;
        for (j = 0; j < classes; ++j) {
          product[j] = (product[j] + step * ARENAC_Q(i, j)) / sum;
          y[j] /= sum;
        }
      }
    }
  }
#undef ARENAC_Q
#undef ARENAC_R
#undef ARENAC_UP
}
