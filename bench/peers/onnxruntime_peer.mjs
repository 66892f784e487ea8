// ONNX Runtime through its npm package as a peer: the prompt pass of an ONNX graph.
// stdin: a request a line, {"width": W, "tokens": [...]}; stdout: an answer a line, see README.md.
// usage: onnxruntime_peer.mjs FOLDER_OF_PACKAGES GRAPH CODES THREADS
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const [packages, graph, codes, threads] = process.argv.slice(2);
const ort = createRequire(packages)('onnxruntime-node');
const session = await ort.InferenceSession.create(graph, {
  intraOpNumThreads: Number(threads),
  graphOptimizationLevel: 'all',
  // Threads spin while a graph runs; then they leave the machine to the others.
  extra: { session: { force_spinning_stop: '1' } },
});
console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface({ input: process.stdin })) {
  const { tokens } = JSON.parse(line);
  const ids = BigInt64Array.from(tokens, BigInt);
  const started = performance.now();
  const { logits } = await session.run({ tokens: new ort.Tensor('int64', ids, [1, ids.length]) });
  const prefillMs = performance.now() - started;
  const firstLogits = [...logits.data.subarray(0, Number(codes))];
  console.log(JSON.stringify({ prefillMs, firstLogits }));
}
