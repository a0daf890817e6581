#!/usr/bin/env bash
# onnxruntime_test.sh ARENAC WORK_DIR MODEL.onnx...: the emitted C of every model gives what onnxruntime gives on random inputs.
# Needs node and npm, which fetches onnxruntime-node into WORK_DIR.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
arenac=$1 work=$2
shift 2

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

status=0
for model in "$@"; do
  data=$work/$(basename "$model" .onnx)
  rm -rf "$data" && mkdir "$data"
  node "$work"/golden.mjs "$onnx_proto" "$model" "$data"
  if "$arenac" run "$model" --inputs "$data"; then
    echo "$(basename "$model"): as onnxruntime"
  else
    echo "$(basename "$model"): differs from onnxruntime, or fails"
    status=1
  fi
done
exit $status
