/* The pieces between the delimiters reads[1] (one text; of an empty one, between blanks) of each text
   reads[0]: writes[0], text of [elements, pieces], empty behind the last; their numbers writes[1], int64; the
   largest of these writes[2], a scalar. The last piece holds what is left. p: elements, bytes of an element,
   pieces. */
static void ARENAC_NAME(const void *const *reads, void *const *writes, const int64_t *p) {
  const uint8_t *delimiter = (const uint8_t *)reads[1];
  int64_t *counts = (int64_t *)writes[1];
  const int64_t room = p[1], pieces = p[2];
  int64_t most = 0, length = 0, e;
  while (length < room && delimiter[length] != 0) ++length;
  for (e = 0; e < p[0]; ++e) {
    const uint8_t *x = (const uint8_t *)reads[0] + e * room;
    uint8_t *y = (uint8_t *)writes[0] + e * pieces * room;
    int64_t at = 0, count = 0, used = 0, k, open = length > 0;
    for (k = 0; k < pieces * room; ++k) y[k] = 0;
    while (at < room - 1 && x[at] != 0) {
      const int blank = length == 0 && (x[at] == ' ' || (x[at] >= '\t' && x[at] <= '\r'));
      const int last = count == pieces - 1;
      int64_t same = 0;
      while (same < length && at + same < room && x[at + same] == delimiter[same]) ++same;
      if (length == 0 && blank && !(last && open)) {
        if (open) ++count, used = 0;
        open = 0;
        ++at;
      } else if (length > 0 && same == length && !last) {
        ++count, used = 0;
        at += length;
      } else {
        open = 1;
        y[count * room + used++] = x[at++];
      }
    }
    counts[e] = count + (open != 0);
    most = counts[e] > most ? counts[e] : most;
  }
  *(int64_t *)writes[2] = most;
}
