// node speed.mjs ARENAC MODELS_DIR ONNX_PROTO [NAME]: the emitted C beside onnxruntime on one thread, model by model, in
// several ways of compiling. All take turns, so that a busy machine disturbs all; the best time of each counts.
//
//   model                    onnxruntime ms    layers  balanced   -O2 v3
//   resnet8_cifar                     0.712      0.97      1.10     1.32
//   geometric mean of 9 that take onnxruntime 0.3 ms or more ...
//
// MODELS_DIR has a folder a model, with model.onnx and test_data_set_0. ONLY=WAY in the environment runs that way alone.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import ort from 'onnxruntime-node';
import protobuf from 'protobufjs';

const [arenac, modelsDir, onnxProto, only = ''] = process.argv.slice(2);
const { root } = protobuf.parse(fs.readFileSync(onnxProto, 'utf8'), { keepCase: true });
const ModelProto = root.lookupType('onnx.ModelProto');
const TensorProto = root.lookupType('onnx.TensorProto');
const turns = 3;
const turnMs = 150;   // that each turn of each takes, at most by a run
const longMs = 0.3;   // of onnxruntime: from here on its overhead per call matters little

const native = ['-O3', '-march=native'];
const ways = [
  { name: 'layers', words: ['--optimize', 'speed', '--target', 'native'], flags: native },
  { name: 'balanced', words: ['--target', 'native'], flags: native },
  { name: '-O2 v3', words: ['--optimize', 'speed', '--target', 'x86-64-v3'], flags: ['-O2'] },
].filter(({ name }) => !process.env.ONLY || name === process.env.ONLY);

// ONNX's number, onnxruntime's name and JavaScript's array.
const types = new Map([
  [1, ['float32', Float32Array]], [2, ['uint8', Uint8Array]], [3, ['int8', Int8Array]], [6, ['int32', Int32Array]],
  [7, ['int64', BigInt64Array]], [9, ['bool', Uint8Array]], [10, ['float16', Uint16Array]], [11, ['float64', Float64Array]],
]);

function readTensor(file) {
  const proto = TensorProto.decode(fs.readFileSync(file));
  const row = types.get(proto.data_type);
  if (!row) throw new Error(`${path.basename(file)}: type ${proto.data_type}`);
  const dims = proto.dims.map(Number);
  if (!proto.raw_data.length && dims.every((n) => n > 0)) throw new Error(`${path.basename(file)}: no raw data`);
  return new ort.Tensor(row[0], new row[1](Uint8Array.from(proto.raw_data).buffer), dims);
}

function readInputs(modelFile, dataDir) {
  const graph = ModelProto.decode(fs.readFileSync(modelFile)).graph;
  const initializers = new Set(graph.initializer.map((tensor) => tensor.name));
  const names = graph.input.map((input) => input.name).filter((name) => !initializers.has(name));
  return Object.fromEntries(names.map((name, k) => [name, readTensor(path.join(dataDir, `input_${k}.pb`))]));
}

function done(command, words, options) {
  const process = spawnSync(command, words, { encoding: 'utf8', ...options });
  if (process.status !== 0) throw new Error((process.stderr || process.stdout || `${command} failed`).split('\n')[0]);
  return process.stdout;
}

// The folder of a program of the model; `arenac run` leaves sources and inputs there.
function built(modelFile, dataDir, way) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'speed_'));
  const words = ['run', modelFile, '--inputs', dataDir, '--keep', folder, '--quiet', '--rtol', '1', '--atol', '1e9'];
  try {
    done(arenac, [...words, ...way.words], { env: { ...process.env, CC: 'gcc', CFLAGS: '-O1' } });
    const sources = fs.readdirSync(folder).filter((file) => /\.[cS]$/.test(file));
    done('gcc', [...way.flags, ...sources, '-o', 'program', '-lm'], { cwd: folder });
  } catch (error) {
    fs.rmSync(folder, { recursive: true });
    throw error;
  }
  return folder;
}

// Milliseconds of the best of some runs, about `turnMs` in all.
function programTime(folder, repeat) {
  return Number(done('./program', [String(repeat)], { cwd: folder }).split('\n')[0]);
}

async function onnxruntimeTime(session, feeds) {
  let best = Infinity;
  for (let spent = 0, k = 0; k < 3 || spent < turnMs; ++k) {
    const begin = process.hrtime.bigint();
    await session.run(feeds);
    const ms = Number(process.hrtime.bigint() - begin) / 1e6;
    best = Math.min(best, ms), spent += ms;
  }
  return best;
}

// Milliseconds of onnxruntime and, per way, ours.
async function compare(name) {
  const modelFile = path.join(modelsDir, name, 'model.onnx');
  const dataDir = path.join(modelsDir, name, 'test_data_set_0');
  const feeds = readInputs(modelFile, dataDir);
  const options = { intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential', logSeverityLevel: 3 };
  const session = await ort.InferenceSession.create(modelFile, options);
  const folders = [];
  try {
    for (const way of ways) folders.push(built(modelFile, dataDir, way));
    let theirs = Infinity;
    const ours = folders.map((folder) => programTime(folder, 2));
    for (let turn = 0; turn < turns; ++turn) {
      theirs = Math.min(theirs, await onnxruntimeTime(session, feeds));
      folders.forEach((folder, k) => {
        const repeat = Math.max(2, Math.min(100000, Math.round(turnMs / Math.max(ours[k], 1e-3))));
        ours[k] = Math.min(ours[k], programTime(folder, repeat));
      });
    }
    return { theirs, ours };
  } finally {
    for (const folder of folders) fs.rmSync(folder, { recursive: true });
  }
}

const columns = (first, ...texts) => first.padEnd(24) + texts.map((text) => text.padStart(16)).join('');
console.log(columns('model', 'onnxruntime ms', ...ways.map((way) => way.name)));
const rows = [];
for (const name of fs.readdirSync(modelsDir).filter((folder) => folder.includes(only)).sort()) {
  if (!fs.existsSync(path.join(modelsDir, name, 'model.onnx'))) continue;
  try {
    const { theirs, ours } = await compare(name);
    const ratios = ours.map((ms) => ms / theirs);
    rows.push({ theirs, ratios });
    console.log(columns(name, theirs.toFixed(4), ...ratios.map((ratio) => ratio.toFixed(2))));
  } catch (error) {
    console.log(name.padEnd(24) + '  ' + error.message.slice(0, 100));
  }
}
const mean = (ratios) => Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
function summary(what, some) {
  if (some.length === 0) return;
  const of = (figure) => ways.map((_, k) => figure(some.map(({ ratios }) => ratios[k])).toFixed(2));
  console.log(columns(`mean of ${some.length} ${what}`, '', ...of(mean)));
  console.log(columns('  worst', '', ...of((ratios) => Math.max(...ratios))));
}
summary(`>= ${longMs} ms`, rows.filter(({ theirs }) => theirs >= longMs));
summary(`< ${longMs} ms`, rows.filter(({ theirs }) => theirs < longMs));
