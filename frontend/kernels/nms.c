/* Non-maximum suppression: of each batch and class, boxes in descending order of score, without those that
   overlap one before by more than a threshold (intersection over union).
   reads: boxes [batches, boxes, 4], scores [batches, classes, boxes], and three scalars: how many a batch and
   class at most (int64), that threshold, and the score that a box must exceed.
   writes: (batch, class, box) as int64 [batches * classes * boxes, 3], zeros behind them; their number, a
   scalar; scratch int64 [boxes], a heap with its best box on top.
   p: batches, classes, boxes, whether boxes are given by centre and size rather than two corners. */
static void ARENAC_NAME(const void *const *reads, void *const *writes, const int64_t *p) {
  const int64_t batches = p[0], classes = p[1], boxes = p[2];
  const int64_t most = *(const int64_t *)reads[2];
  const ARENAC_T overlap = *(const ARENAC_T *)reads[3], least = *(const ARENAC_T *)reads[4];
  int64_t *selected = (int64_t *)writes[0], *heap = (int64_t *)writes[2];
  int64_t count = 0, c, e;
#define ARENAC_BETTER(a_, b_) (score[a_] > score[b_] || (score[a_] == score[b_] && (a_) < (b_)))
#define ARENAC_CORNERS(c_, b_)                                                                    \
  if (p[3]) {                                                                                     \
    c_[0] = (b_)[0] - (b_)[2] / 2, c_[1] = (b_)[1] - (b_)[3] / 2;                                 \
    c_[2] = (b_)[0] + (b_)[2] / 2, c_[3] = (b_)[1] + (b_)[3] / 2;                                 \
  } else {                                                                                        \
    c_[0] = (b_)[0] < (b_)[2] ? (b_)[0] : (b_)[2], c_[1] = (b_)[1] < (b_)[3] ? (b_)[1] : (b_)[3]; \
    c_[2] = (b_)[0] < (b_)[2] ? (b_)[2] : (b_)[0], c_[3] = (b_)[1] < (b_)[3] ? (b_)[3] : (b_)[1]; \
  }
  for (c = 0; c < batches * classes; ++c) {
    const ARENAC_T *score = (const ARENAC_T *)reads[1] + c * boxes;
    const ARENAC_T *box = (const ARENAC_T *)reads[0] + c / classes * boxes * 4;
    const int64_t begin = count;
    int64_t size = 0;
    for (e = 0; e < boxes; ++e) { /* up from the end */
      int64_t hole = size;
      if (!(score[e] > least)) continue;
      for (++size; hole > 0 && ARENAC_BETTER(e, heap[(hole - 1) / 2]); hole = (hole - 1) / 2)
        heap[hole] = heap[(hole - 1) / 2];
      heap[hole] = e;
    }
    while (size > 0 && count - begin < most) {
      const int64_t best = heap[0], last = heap[--size];
      int64_t hole = 0, k;
      ARENAC_T a[4], b[4];
      while (2 * hole + 1 < size) { /* down from the top */
        int64_t down = 2 * hole + 1;
        if (down + 1 < size && ARENAC_BETTER(heap[down + 1], heap[down])) ++down;
        if (!ARENAC_BETTER(heap[down], last)) break;
        heap[hole] = heap[down];
        hole = down;
      }
      if (size > 0) heap[hole] = last;
      ARENAC_CORNERS(a, box + best * 4)
      for (k = begin; k < count; ++k) {
        ARENAC_T height, width, area, other;
        ARENAC_CORNERS(b, box + selected[k * 3 + 2] * 4)
        height = (a[2] < b[2] ? a[2] : b[2]) - (a[0] > b[0] ? a[0] : b[0]);
        width = (a[3] < b[3] ? a[3] : b[3]) - (a[1] > b[1] ? a[1] : b[1]);
        area = (a[2] - a[0]) * (a[3] - a[1]);
        other = (b[2] - b[0]) * (b[3] - b[1]);
        if (height > 0 && width > 0 && area > 0 && other > 0 &&
            height * width / (area + other - height * width) > overlap)
          break;
      }
      if (k < count) continue;
      selected[count * 3] = c / classes;
      selected[count * 3 + 1] = c % classes;
      selected[count * 3 + 2] = best;
      ++count;
    }
  }
  for (e = count * 3; e < batches * classes * boxes * 3; ++e) selected[e] = 0;
  *(int64_t *)writes[1] = count;
#undef ARENAC_CORNERS
#undef ARENAC_BETTER
}
