/* The numbers that reads[0], text, spells ("3.14", "1e-5", "-INF", "nan") to writes[0]. Integers are cut off
   at the point and stay within their type; float64 is exact where 15 digits and 22 places are enough, else
   nearly. What spells no number becomes NaN, or 0 where there is none. p: elements, bytes of an element (at
   most 64), whether numbers are floats. */
static void ARENAC_NAME(const void *const *reads, void *const *writes, const int64_t *p) {
  ARENAC_T *y = (ARENAC_T *)writes[0];
  int64_t e, k;
  for (e = 0; e < p[0]; ++e) {
    const char *x = (const char *)reads[0] + e * p[1];
    char text[65];
    const char *s = text;
    int negative, scale = 0, exponent = 0, digits = 0, dot = 0, is_word = 0, is_number;
    uint64_t whole = 0;
    double value, tens = 1;
    for (k = 0; k < p[1] && x[k] != 0; ++k) text[k] = (char)(x[k] >= 'A' && x[k] <= 'Z' ? x[k] ^ 0x20 : x[k]);
    text[k] = 0;
    negative = *s == '-';
    s += *s == '-' || *s == '+';
    for (; (*s == '.' && !dot) || (*s >= '0' && *s <= '9'); ++s) {
      const uint64_t digit = (uint64_t)(*s - '0');
      digits += *s != '.';
      if (*s == '.') {
        dot = 1;
      } else if (whole <= (UINT64_MAX - digit) / 10) {
        whole = whole * 10 + digit;
        scale -= dot;
      } else {
        scale += !dot;
      }
    }
    is_number = digits > 0;
    if (is_number && *s == 'e') {
      const int below = s[1] == '-';
      s += 1 + (s[1] == '-' || s[1] == '+');
      is_number = *s >= '0' && *s <= '9';
      for (; *s >= '0' && *s <= '9'; ++s) exponent = exponent < 999 ? exponent * 10 + (*s - '0') : exponent;
      scale += below ? -exponent : exponent;
    }
    is_number = is_number && *s == 0;
    if (!is_number) whole = 0;
    if (whole == 0) scale = 0;
    for (k = 0; digits == 0 && !dot && k < 2; ++k) {
      const char *word = k == 0 ? "inf" : "infinity";
      int at = 0;
      while (word[at] != 0 && s[at] == word[at]) ++at;
      is_word = is_word || (word[at] == 0 && s[at] == 0);
    }
    if (p[2] != 0) {
      value = is_number ? (double)whole : is_word ? (double)INFINITY : (double)NAN;
      for (; scale > 22; scale -= 22) value *= 1e22;
      for (; scale < -22; scale += 22) value /= 1e22;
      for (k = scale < 0 ? -scale : scale; k > 0; --k) tens *= 10;
      value = scale < 0 ? value / tens : value * tens;
      y[e] = (ARENAC_T)(negative ? -value : value);
    } else {
      const int is_signed = (ARENAC_T)-1 < (ARENAC_T)1;
      const uint64_t most = is_signed ? (uint64_t)INT64_MAX + (uint64_t)negative : UINT64_MAX;
      for (; scale < 0; ++scale) whole /= 10;
      for (; scale > 0 && whole <= most; --scale) whole = whole > most / 10 ? UINT64_MAX : whole * 10;
      if (whole > most) whole = most;
      if (negative && !is_signed) whole = 0;
      y[e] = (ARENAC_T)(negative ? 0u - whole : whole);
    }
  }
}
