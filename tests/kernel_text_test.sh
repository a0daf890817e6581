#!/usr/bin/env bash
# Every C kernel is clean C99 and C++, by the warnings that the emitted code promises, with every compiler there is. Those
# that follow values through a function are gcc's alone, when it optimises.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
status=0
for kernel in frontend/kernels/*.c; do
  for type in float double; do
    for compiler in "gcc -std=c99 -O2" "clang -std=c99 -fsyntax-only" "g++ -fsyntax-only"; do
      command -v ${compiler%% *} >/dev/null || continue
      printf '#include <math.h>\n#include <stdint.h>\n#define ARENAC_NAME run\n#define ARENAC_T %s\n#include "%s"\n%s\n' "$type" "$kernel" \
        'void go(const void *const *r, void *const *w, const int64_t *p); void go(const void *const *r, void *const *w, const int64_t *p) { run(r, w, p); }' |
        $compiler -I. -Wall -Wextra -pedantic -Wconversion -Werror -x "$([[ $compiler == g++* ]] && echo c++ || echo c)" - -c -o /dev/null ||
        { echo "$kernel for $type: $compiler complains"; status=1; }
    done
  done
done
exit $status
