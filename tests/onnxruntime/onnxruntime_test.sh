#!/usr/bin/env bash
# onnxruntime_test.sh ARENAC MODELS_DIR WORK_DIR: the emitted C of every model gives what onnxruntime gives on random inputs.
# Needs node and npm, which fetches onnxruntime-node into WORK_DIR.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
arenac=$1 models=$2 work=$3

not_run() { echo "onnxruntime_test.sh: not run: $*"; exit 77; }
command -v npm >/dev/null || not_run "npm is not installed"
onnx_proto=/usr/include/onnx/onnx.proto
[[ -f $onnx_proto ]] || not_run "$onnx_proto (libonnx-dev) is missing"

mkdir -p "$work"
cp "$here"/package.json "$here"/golden.mjs "$work"
if ! [[ -d $work/node_modules/onnxruntime-node && $here/package.json -ot $work/node_modules ]]; then
  npm install --prefix "$work" --ignore-scripts --no-audit --no-fund --no-package-lock --silent ||
    not_run "npm cannot fetch onnxruntime-node"
fi

export CFLAGS="-O3 -march=native"  # what gcc makes most of, and once made wrong
status=0
for model in "$models"/*.onnx; do
  data=$work/$(basename "$model" .onnx)
  rm -rf "$data" && mkdir "$data"
  node "$work"/golden.mjs "$onnx_proto" "$model" "$data"
  # A float sum beside a tie rounds either way when it is quantised. That moves what follows by a step of its scale, and
  # 60 layers on a third of the elements by a few steps.
  case $(basename "$model") in
    mobilenet_v2_100_224_qop.onnx) tolerance=(--atol 8) ;;
    fsrcnn_qdq.onnx) tolerance=(--rtol 0.05 --atol 0.25) ;;  # a step is 0.21
    *_qdq.onnx) tolerance=(--rtol 0.05 --atol 0.01) ;;
    *) tolerance=(--rtol 1e-3 --atol 1e-4) ;;
  esac
  if "$arenac" run "$model" --inputs "$data" "${tolerance[@]}"; then
    echo "$(basename "$model"): as onnxruntime"
  else
    echo "$(basename "$model"): differs from onnxruntime, or fails"
    status=1
  fi
done
exit $status
