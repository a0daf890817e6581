#!/usr/bin/env bash
# sanitize_test.sh: builds arenac with the address and undefined-behaviour sanitizers and runs every quick test in that build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cmake --preset sanitize
cmake --build --preset sanitize
ctest --preset sanitize -LE large -j "$(nproc)"
