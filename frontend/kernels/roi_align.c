/* Regions of images, resampled: reads[0] is x, [images, channels, height, width], reads[1] the regions' left,
   top, right and bottom in elements of x, [regions, 4], reads[2] the image of each (int64); writes[0]
   [regions, channels, rows, columns]. Each output is the average, or the largest, of a grid of samples in its
   bin; a sample outside the image, by more than its border, is zero. Sums are of the grid's rows. p: images,
   channels, height, width, regions, rows, columns, samples along each side of a bin (0: about one an element
   of x), whether regions may be smaller than an element, whether the largest is wanted. */
static void ARENAC_NAME(const void *const *reads, void *const *writes, const int64_t *p) {
  const int64_t extent[2] = {p[2], p[3]}, bins[2] = {p[5], p[6]}, ratio = p[7], far = (int64_t)1 << 40;
  const int any_size = p[8] != 0, largest = p[9] != 0;
  ARENAC_T *y = (ARENAC_T *)writes[0];
  int64_t r, c, d, k, bin[2], sample[2];
  for (r = 0; r < p[4]; ++r) {
    const ARENAC_T *region = (const ARENAC_T *)reads[1] + r * 4;
    const int64_t image = ((const int64_t *)reads[2])[r];
    const int64_t chosen = image < 0 ? 0 : image < p[0] ? image : p[0] - 1;
    ARENAC_T size[2], grid[2], step[2], count;
    for (d = 0; d < 2; ++d) {
      size[d] = region[3 - d] - region[1 - d];
      if (!any_size && !(size[d] >= 1)) size[d] = (ARENAC_T)1;
      size[d] /= (ARENAC_T)bins[d];
      grid[d] = (ARENAC_T)ratio;
      if (ratio == 0) { /* the size, rounded up */
        grid[d] = size[d] > 0 ? size[d] : (ARENAC_T)0;
        if (grid[d] < (ARENAC_T)far) {
          const ARENAC_T whole = (ARENAC_T)(int64_t)grid[d];
          grid[d] = whole < grid[d] ? whole + 1 : whole;
        }
      }
      step[d] = grid[d] > 0 ? size[d] / grid[d] : (ARENAC_T)0;
    }
    count = grid[0] * grid[1];
    for (c = 0; c < p[1]; ++c) {
      const ARENAC_T *x = (const ARENAC_T *)reads[0] + (chosen * p[1] + c) * extent[0] * extent[1];
      for (bin[0] = 0; bin[0] < bins[0]; ++bin[0])
        for (bin[1] = 0; bin[1] < bins[1]; ++bin[1]) {
          ARENAC_T start[2], sum = (ARENAC_T)0, best = (ARENAC_T)0;
          int64_t first[2], last[2], inside = 0;
          for (d = 0; d < 2; ++d) {
            start[d] = region[1 - d] + (ARENAC_T)bin[d] * size[d];
            first[d] = 0, last[d] = ratio;
            if (ratio == 0) { /* of a large region, the samples that can lie in the image */
              const ARENAC_T skipped = grid[d] > 0 ? (-1 - start[d]) / step[d] - 1 : (ARENAC_T)0;
              first[d] = skipped > 0 ? (skipped < (ARENAC_T)far ? (int64_t)skipped : far) : 0;
              last[d] = first[d] + 2 * extent[d] + 8;
              if ((ARENAC_T)last[d] > grid[d]) last[d] = (int64_t)grid[d];
            }
          }
          for (sample[0] = first[0]; sample[0] < last[0]; ++sample[0]) {
            ARENAC_T along = (ARENAC_T)0;
            for (sample[1] = first[1]; sample[1] < last[1]; ++sample[1]) {
              ARENAC_T rest[2];
              int64_t low[2], high[2];
              int hit = 1;
              for (d = 0; d < 2; ++d) {
                ARENAC_T at = start[d] + ((ARENAC_T)sample[d] + (ARENAC_T)0.5) * step[d];
                low[d] = high[d] = 0, rest[d] = (ARENAC_T)0;
                if (!(at >= -1 && at <= (ARENAC_T)extent[d])) {
                  hit = 0;
                  continue;
                }
                if (at < 0) at = (ARENAC_T)0;
                low[d] = high[d] = (int64_t)at;
                if (low[d] >= extent[d] - 1)
                  low[d] = high[d] = extent[d] - 1;
                else
                  ++high[d], rest[d] = at - (ARENAC_T)low[d];
              }
              if (!hit) continue;
              for (k = 0; k < 4; ++k) {
                const int64_t row = k < 2 ? low[0] : high[0], column = k % 2 ? high[1] : low[1];
                const ARENAC_T weight = (k < 2 ? 1 - rest[0] : rest[0]) * (k % 2 ? rest[1] : 1 - rest[1]);
                const ARENAC_T value = weight * x[row * extent[1] + column];
                along += value;
                if ((inside == 0 && k == 0) || value > best) best = value;
              }
              ++inside;
            }
            sum += along;
          }
          if ((ARENAC_T)inside < count && best < 0) best = (ARENAC_T)0;
          *y++ = largest ? best : sum / (count > 1 ? count : (ARENAC_T)1);
        }
    }
  }
}
