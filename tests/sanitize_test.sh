#!/usr/bin/env bash
# sanitize_test.sh: builds arenac with the address and undefined-behaviour sanitizers and runs the quick tests in that build:
# of those that compile C only the ones with one compiler, and none that runs for long through code that others run, too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cmake --preset sanitize
cmake --build --preset sanitize
left_out='EveryModel|Networks/Figures|Arena\.OfTheModels|Exhaustive\.|Order\.OfPublished|FusedArena|(EmittedC|FusedC)\..*/(clang|gsan|gccO)'
ctest --preset sanitize -LE large -E "$left_out" -j "$(nproc)"
