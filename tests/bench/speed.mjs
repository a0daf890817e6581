// node speed.mjs ARENAC MODELS_DIR ONNX_PROTO [NAME]: the emitted C (gcc -O3 -march=native) beside onnxruntime on one
// thread, model by model. Both take turns, so that a busy machine disturbs both; the best time of each counts.
//
//   model                    MMACs   arenac ms   onnxruntime ms   ratio
//   resnet8_cifar             12.5       1.901            0.712    2.67
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import ort from 'onnxruntime-node';
import protobuf from 'protobufjs';

const [arenac, modelsDir, onnxProto, only = ''] = process.argv.slice(2);
const { root } = protobuf.parse(fs.readFileSync(onnxProto, 'utf8'), { keepCase: true });
const ModelProto = root.lookupType('onnx.ModelProto');
const TensorProto = root.lookupType('onnx.TensorProto');
const turns = 3;
const leastMacs = 10e6;

// ONNX's number, onnxruntime's name and JavaScript's array.
const types = new Map([
  [1, ['float32', Float32Array]], [2, ['uint8', Uint8Array]], [3, ['int8', Int8Array]], [6, ['int32', Int32Array]],
  [7, ['int64', BigInt64Array]], [9, ['bool', Uint8Array]], [10, ['float16', Uint16Array]],
]);

function readTensor(file) {
  const proto = TensorProto.decode(fs.readFileSync(file));
  const row = types.get(proto.data_type);
  if (!row || !proto.raw_data.length) throw new Error(`${file}: no raw data of a known type`);
  const bytes = Uint8Array.from(proto.raw_data);
  return new ort.Tensor(row[0], new row[1](bytes.buffer), proto.dims.map(Number));
}

function readInputs(modelFile, dataDir) {
  const graph = ModelProto.decode(fs.readFileSync(modelFile)).graph;
  const initializers = new Set(graph.initializer.map((tensor) => tensor.name));
  const names = graph.input.map((input) => input.name).filter((name) => !initializers.has(name));
  return Object.fromEntries(names.map((name, k) => [name, readTensor(path.join(dataDir, `input_${k}.pb`))]));
}

// Rows of index.csv with at least leastMacs; a field may be quoted.
function largeModels() {
  const [head, ...lines] = fs.readFileSync(path.join(modelsDir, 'index.csv'), 'utf8').trim().split('\n');
  const fields = (line) => [...line.matchAll(/("([^"]*)"|[^,]*)(,|$)/g)].map((m) => m[2] ?? m[1]);
  const macsColumn = fields(head).indexOf('macs');
  return lines.map((line) => ({ name: fields(line)[0], macs: Number(fields(line)[macsColumn]) }))
    .filter(({ name, macs }) => macs >= leastMacs && name.includes(only));
}

function arenacTime(modelFile, dataDir, repeat) {
  const words = ['run', modelFile, '--inputs', dataDir, '--repeat', repeat, '--quiet', '--rtol', '1', '--atol', '1e9'];
  const env = { ...process.env, CC: process.env.CC ?? 'gcc', CFLAGS: '-O3 -march=native' };
  const done = spawnSync(arenac, words.map(String), { encoding: 'utf8', env });
  if (done.status !== 0) throw new Error(done.stderr.split('\n')[0]);
  return Number(done.stdout.split('\n')[0]);
}

async function onnxruntimeTime(session, feeds, repeat) {
  let best = Infinity;
  for (let k = 0; k <= repeat; ++k) {
    const begin = process.hrtime.bigint();
    await session.run(feeds);
    best = Math.min(best, Number(process.hrtime.bigint() - begin) / 1e6);
  }
  return best;
}

async function compare({ name, macs }) {
  const modelFile = path.join(modelsDir, name, 'model.onnx');
  const dataDir = path.join(modelsDir, name, 'test_data_set_0');
  const feeds = readInputs(modelFile, dataDir);
  const options = { intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential', logSeverityLevel: 3 };
  const session = await ort.InferenceSession.create(modelFile, options);
  const repeat = Math.max(3, Math.min(100, Math.round(1e9 / macs)));
  let ours = Infinity, theirs = Infinity;
  for (let turn = 0; turn < turns; ++turn) {
    ours = Math.min(ours, arenacTime(modelFile, dataDir, repeat));
    theirs = Math.min(theirs, await onnxruntimeTime(session, feeds, repeat));
  }
  return { ours, theirs };
}

const columns = (...texts) => texts.map((text, k) => (k ? text.padStart(16) : text.padEnd(24))).join('');
console.log(columns('model', 'MMACs', 'arenac ms', 'onnxruntime ms', 'ratio'));
const ratios = [];
for (const model of largeModels()) {
  try {
    const { ours, theirs } = await compare(model);
    ratios.push(ours / theirs);
    console.log(columns(model.name, (model.macs / 1e6).toFixed(1), ours.toFixed(3), theirs.toFixed(3),
      (ours / theirs).toFixed(2)));
  } catch (error) {
    console.log(columns(model.name, (model.macs / 1e6).toFixed(1)) + '   ' + error.message.slice(0, 100));
  }
}
const mean = Math.exp(ratios.reduce((sum, r) => sum + Math.log(r), 0) / ratios.length);
console.log(`${ratios.length} models: geometric mean ${mean.toFixed(2)}, worst ${Math.max(...ratios).toFixed(2)}`);
