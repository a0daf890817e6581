/* The numbers that reads[0], text, spells ("3.14", "1e-5", "-INF", "nan") to writes[0]; what is no number
   becomes NaN, or 0 where there is none. p: elements, bytes of an element, whether numbers are floats. */
static void ARENAC_NAME(const void *const *reads, void *const *writes, const int64_t *p) {
  ARENAC_T *y = (ARENAC_T *)writes[0];
  int64_t e, k;
  for (e = 0; e < p[0]; ++e) {
    const unsigned char *s = (const unsigned char *)reads[0] + e * p[1];
    const int negative = s[0] == '-';
    uint64_t whole = 0;
    double value;
    int scale = 0, exponent = 0, digits = 0, dot = 0, below = 0;
    char word[4] = {0, 0, 0, 0};
    s += s[0] == '-' || s[0] == '+';
    for (k = 0; k < 3 && s[k] != 0; ++k) word[k] = (char)(s[k] | 0x20);
    for (;; ++s) {
      if (*s == '.' && !dot) {
        dot = 1;
      } else if (*s >= '0' && *s <= '9') {
        ++digits;
        const uint64_t digit = (uint64_t)(*s - '0');
        if (whole <= (UINT64_MAX - digit) / 10) {
          whole = whole * 10 + digit;
          scale -= dot;
        } else {
          scale += !dot;
        }
      } else {
        break;
      }
    }
    if (digits > 0 && (*s | 0x20) == 'e') {
      below = s[1] == '-';
      for (s += 1 + (s[1] == '-' || s[1] == '+'); *s >= '0' && *s <= '9'; ++s)
        if (exponent < 9999) exponent = exponent * 10 + (*s - '0');
    }
    scale += below ? -exponent : exponent;
    value = (double)whole;
    if (scale > 0) value *= pow(10.0, scale < 400 ? scale : 400);
    if (scale < -300) value /= 1e300, scale += 300;
    if (scale < 0) value /= pow(10.0, scale > -400 ? -scale : 400);
    if (whole == 0) value = 0;
    if (digits == 0)
      value = word[0] == 'i' && word[1] == 'n' && word[2] == 'f' ? (double)INFINITY : (double)NAN;
    if (digits > 0 && *s != 0) value = (double)NAN;
    if (p[2] != 0)
      y[e] = (ARENAC_T)(negative ? -value : value);
    else if (scale == 0)
      y[e] = (ARENAC_T)(negative ? 0u - whole : whole);
    else
      y[e] = value > -9e18 && value < 9e18 ? (ARENAC_T)(int64_t)(negative ? -value : value) : (ARENAC_T)0;
  }
}
