#!/bin/sh
# The HTML report in a real browser: viewer_test.sh [BUILD_DIR], by default build/release
# Needs node with npm and chromium (or $CHROMIUM); installs playwright-core, which brings no browser of its own, into the
# build folder. Exit status: 0 passed, 1 failed, 77 could not run, with the reason. Screenshots stay in BUILD_DIR/viewer.
set -eu
tests=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$tests/../build/release}" && pwd)
out=$build/viewer

missing() { printf 'viewer_test.sh: Skipped\n%s\n' "$1"; exit 77; }
CHROMIUM=${CHROMIUM:-$(command -v chromium || true)}
export CHROMIUM
[ -n "$CHROMIUM" ] || missing "no chromium (apt-get install chromium)"
command -v node >/dev/null || missing "no node (apt-get install nodejs npm)"
[ -x "$build/tests/viewer_page" ] || missing "tests/viewer_page is not built in $build"

mkdir -p "$out"
if [ ! -d "$out/node_modules/playwright-core" ]; then
  command -v npm >/dev/null || missing "no npm (apt-get install npm)"
  npm install --silent --no-audit --no-fund --prefix "$out" playwright-core@1 >&2 || missing "npm cannot install playwright-core"
fi
for page in empty small grouped hostile 8 60 500 20000; do
  "$build/tests/viewer_page" "$page" > "$out/$page.html"
done
exec node "$tests/viewer_test.mjs" "$out"
