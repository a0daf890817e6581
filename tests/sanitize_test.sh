#!/usr/bin/env bash
# sanitize_test.sh: builds arenac with the address and undefined-behaviour sanitizers, and the tests that lead through most
# of it: every operator imported and interpreted, random graphs scheduled, planned and emitted, hostile models. Code of the
# tests themselves is compiled as always.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tests=(random_graphs_test hostile_test interpret_conformance_test planner_test cli_test frontend_test)
cmake --preset sanitize >/dev/null
cmake --build --preset sanitize --target "${tests[@]}" -- --quiet

# Of the tests that compile C only those with one compiler, and fewer random seeds, and nothing that takes minutes: all run
# without sanitizers, too.
export GTEST_BRIEF=1
export GTEST_FILTER='-*SharedProblems*:*EverySmallProblem*:*OnFamilies*:*CloseToBruteForce*:*PublishedFigures*:*DoNotHang*:*IsNeverBehind*:*OfDeepNesting*:*ThePoolsAreABudget*:*RealModels*:*ProgressIsOneLine*:LongSums.*:WideRows.*:*/clang*:*/gsan*:*/gccO*'
# Of ONNX's cases none that takes seconds to interpret.
declare -A arguments=([interpret_conformance_test]='--without test_operator_conv --without test_MaxPool')
for test in "${tests[@]}"; do echo "$test ${arguments[$test]:-}"; done | ARENAC_SEEDS=0.15 xargs -P "$(nproc)" -I{} bash -c '
  build/sanitize/tests/{} || [[ $? == 77 ]] || { echo "{} failed"; exit 1; }'
GTEST_FILTER=*RealModels* ARENAC_SEEDS=0.05 build/sanitize/tests/hostile_test
