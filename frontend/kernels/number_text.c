/* reads[0], floats, as text to writes[0]: the fewest decimal digits that no other number of the format is
   nearer to, as numpy writes them ("0.1", "100000.0", "1e-05", "nan", "-inf"). p: elements, bytes of an
   element, bits of the format's mantissa (at most 24) and the exponent of its smallest number. */
static void ARENAC_NAME(const void *const *reads, void *const *writes, const int64_t *p) {
  const ARENAC_T *x = (const ARENAC_T *)reads[0];
  int64_t e;
  for (e = 0; e < p[0]; ++e) {
    char *y = (char *)writes[0] + e * p[1];
    char digit[24];
    double value = (double)x[e], half, tens;
    int used = 0, count = 0, ten = 0, binary, even, k;
    uint64_t whole = 0;
    const char *word = value != value ? "nan" : value - value != 0 ? "inf" : value == 0 ? "0.0" : "";
    for (k = 0; k < (int)p[1]; ++k) y[k] = 0;
    if (value < 0 || (value == 0 && 1 / value < 0)) y[used++] = '-', value = -value;
    for (; *word != 0; ++word) y[used++] = *word;
    if (value != value || value - value != 0 || value == 0) continue;
    /* Half the distance to the next number. */
    (void)frexp(value, &binary);
    half = ldexp(0.5, binary - (int)p[2] > (int)p[3] ? binary - (int)p[2] : (int)p[3]);
    even = fmod(value / half, 4.0) == 0;
    /* Powers of ten by multiplication: the same everywhere, and exact where a tie can matter. */
    for (tens = 1; tens * 10 <= value; tens *= 10) ++ten;
    for (; value * tens < 1; tens *= 10) --ten;
    for (count = 1; count < 17; ++count) {
      /* The candidates below and above; the nearer one that is read back as the number, the even one of two.
       */
      const int scale = count - 1 - ten;
      double scaled, below;
      for (tens = 1, k = scale < 0 ? -scale : scale; k > 0; --k) tens *= 10;
      scaled = scale < 0 ? value / tens : value * tens;
      below = floor(scaled);
      /* Distances: whole numbers where they are large, so that they are exact. */
      const double down = scale < 0 ? value - below * tens : scaled - below;
      const double up = scale < 0 ? (below + 1) * tens - value : below + 1 - scaled;
      const double most = scale < 0 ? half : half * tens;
      /* Below a power of two numbers lie closer, unless they are the smallest. */
      const int is_edge = ldexp(0.5, binary) == value && binary - (int)p[2] > (int)p[3];
      const double least = is_edge ? most / 2 : most;
      const int may_down = down < least || (even && down == least),
                may_up = up < most || (even && up == most);
      whole = (uint64_t)below;
      if (may_up && (!may_down || up < down || (up == down && (whole & 1) != 0))) ++whole;
      if (may_down || may_up) break;
    }
    for (k = count; k-- > 0; whole /= 10) digit[k] = (char)('0' + (int)(whole % 10));
    if (whole != 0) { /* rounded up to a power of ten */
      digit[0] = '1';
      count = 1;
      ++ten;
    }
    while (count > 1 && digit[count - 1] == '0') --count;
    if (ten < -4 || ten >= 16) {
      y[used++] = digit[0];
      if (count > 1) y[used++] = '.';
      for (k = 1; k < count; ++k) y[used++] = digit[k];
      y[used++] = 'e';
      y[used++] = ten < 0 ? '-' : '+';
      ten = ten < 0 ? -ten : ten;
      y[used++] = (char)('0' + ten / 10);
      y[used++] = (char)('0' + ten % 10);
    } else {
      if (ten < 0) y[used++] = '0', y[used++] = '.';
      for (k = -1; k > ten; --k) y[used++] = '0';
      for (k = 0; k < count || k <= ten + 1; ++k) {
        if (ten >= 0 && k == ten + 1) y[used++] = '.';
        y[used++] = k < count ? digit[k] : '0';
      }
    }
  }
}
