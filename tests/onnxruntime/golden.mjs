// node golden.mjs ONNX_PROTO MODEL.onnx DIR: runs a model on seeded random inputs in onnxruntime and writes input_K.pb and
// output_K.pb, ONNX TensorProto files, into DIR. Dimensions without a value become 1. Fails where an output does not depend
// on the inputs.
import fs from 'node:fs';
import ort from 'onnxruntime-node';
import protobuf from 'protobufjs';

const [onnxProto, modelFile, dir] = process.argv.slice(2);
const { root } = protobuf.parse(fs.readFileSync(onnxProto, 'utf8'), { keepCase: true });
const ModelProto = root.lookupType('onnx.ModelProto');
const TensorProto = root.lookupType('onnx.TensorProto');

// onnxruntime's name, ONNX's number, JavaScript's array and how an element looks.
const types = [
  { name: 'float32', number: 1, array: Float32Array, element: (random) => random * 2 - 1 },
  { name: 'uint8', number: 2, array: Uint8Array, element: (random) => Math.floor(random * 256) },
  { name: 'int8', number: 3, array: Int8Array, element: (random) => Math.floor(random * 256) - 128 },
  { name: 'int32', number: 6, array: Int32Array, element: (random) => Math.floor(random * 10) },
];

// Park and Miller's generator: the same numbers on every machine.
function randomNumbers(seed) {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

function writeTensor(file, tensor) {
  const type = types.find((row) => row.name === tensor.type);
  if (!type) throw new Error(`${file}: no row for type ${tensor.type}`);
  const bytes = new Uint8Array(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength);
  const message = { dims: [...tensor.dims], data_type: type.number, raw_data: bytes };
  fs.writeFileSync(file, TensorProto.encode(TensorProto.create(message)).finish());
}

function randomTensor(valueInfo, random) {
  const { elem_type, shape } = valueInfo.type.tensor_type;
  const type = types.find((row) => row.number === elem_type);
  if (!type) throw new Error(`input ${valueInfo.name}: no row for type ${elem_type}`);
  const dims = (shape.dim ?? []).map((dim) => Number(dim.dim_value) || 1);
  const count = dims.reduce((a, b) => a * b, 1);
  return new ort.Tensor(type.name, type.array.from({ length: count }, () => type.element(random())), dims);
}

const graph = ModelProto.decode(fs.readFileSync(modelFile)).graph;
const initializers = new Set(graph.initializer.map((tensor) => tensor.name));
const inputs = graph.input.filter((input) => !initializers.has(input.name));

// One tensor per input of the model, always the same for a seed.
function randomFeeds(seed) {
  const random = randomNumbers(seed);
  return Object.fromEntries(inputs.map((input) => [input.name, randomTensor(input, random)]));
}

// How many elements of `a` differ from those of `b`.
const differing = (a, b) => a.data.reduce((count, element, k) => count + (element !== b.data[k]), 0);

// Without rewrites: a Q/DQ graph then computes in float between its quantisations, as ONNX defines it.
const options = { graphOptimizationLevel: 'disabled', intraOpNumThreads: 1, logSeverityLevel: 3 };
const session = await ort.InferenceSession.create(modelFile, options);
const feeds = randomFeeds(1);
const results = await session.run(feeds);
const others = await session.run(randomFeeds(2));
// An output that is the same whatever goes in would hide most errors.
for (const { name } of graph.output)
  if (differing(results[name], others[name]) === 0)
    throw new Error(`${modelFile}: output '${name}' is the same for two random inputs: the comparison cannot fail`);
inputs.forEach((input, k) => writeTensor(`${dir}/input_${k}.pb`, feeds[input.name]));
graph.output.forEach((output, k) => writeTensor(`${dir}/output_${k}.pb`, results[output.name]));
