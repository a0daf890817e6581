#!/usr/bin/env bash
# sanitize_test.sh: builds arenac with the address and undefined-behaviour sanitizers, and the tests that lead through most
# of it: every operator imported and interpreted, random graphs scheduled, planned and emitted, hostile models. Code of the
# tests themselves is compiled as always. The preset asks for checks by calls and for none of what is on the stack, which
# compiles in two thirds of the time: what a model can make arenac read wrongly is on the heap.
set -feuo pipefail  # the patterns below are not for files
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tests=(cli_test random_graphs_test planner_test hostile_test interpret_conformance_test frontend_test)
cmake --preset sanitize >/dev/null
cmake --build --preset sanitize --target "${tests[@]}" -- --quiet

# Left out are, since all of it runs without sanitizers, too:
without=(
  # other compilers of the emitted C than one, and what runs that one for long,
  LongSums.* WideRows.* */clang* */gsan* */gccO* *FormOfWeights* Cli.RunWritesOutputs* Cli.RunMakesUp* Cli.RunInTheArena* *AProfile*
  *EmittedC.OfHalves* *EmittedC.OfOperators* *EmittedC.OfTensors* *FusedC*
  # what takes the planner long, or is about how good its plans are,
  *EverySmallProblem* *OnFamilies* *CloseToBruteForce* *PublishedFigures* *IsNeverBehind* *AreDeterministic* *CopeWithAll*
  *CutOnACoarseGrid* *ThatGetSmaller*
  # what takes a search for a schedule or a model long,
  *SharedProblems* *DoNotHang* *OfDeepNesting* *ThePoolsAreABudget* *SeveralPools* *RealModels* *ProgressIsOneLine*
  *PoolsOfVolumes* *Expansions.* *PartsOfConcats*
  *WhatBindsThePeak* *SchedulesToChooseFrom* *IsAPartOfTheTime* Cli.StagesAre* *MapNamesItsTool* *AreTooSmallOrUnknown*
  # draws of random numbers, enough of them for statistics,
  Dropout.* Bernoulli.* RandomNormal.* RandomUniform.* Multinomial.*
  # and what others do, too: runs on models that Hostile.* imports, or that are refused once already.
  *FlippedBits* *LeavesAnEarlierOutput* *FunctionsThatMultiply*
)
# Of ONNX's cases none that takes seconds to interpret.
declare -A arguments=([interpret_conformance_test]='--without test_operator_conv --without test_MaxPool')
# What is freed is watched while 8 MB more are, and reports name three callers: that saves a fifth of the time.
export ASAN_OPTIONS=quarantine_size_mb=8:malloc_context_size=3
export GTEST_BRIEF=1 ARENAC_SEEDS=0.08
GTEST_FILTER="-$(IFS=: && echo "${without[*]}")"
export GTEST_FILTER
for test in "${tests[@]}"; do echo "$test ${arguments[$test]:-}"; done | xargs -P "$(nproc)" -I{} bash -c '
  build/sanitize/tests/{} || [[ $? == 77 ]] || { echo "{} failed"; exit 1; }'
GTEST_FILTER=*RealModels* ARENAC_SEEDS=0.05 build/sanitize/tests/hostile_test
