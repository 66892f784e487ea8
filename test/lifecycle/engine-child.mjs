// Opens an engine on a recorded fixture, fills its queue and then ends in the way that the first argument names.
// Prints `done` where it comes to its own end. Run by engine.spec.ts in a child process.
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

const root = fileURLToPath(new URL('../..', import.meta.url));
const addon = createRequire(import.meta.url)(join(root, 'build', 'native', 'tessera.node'));
const model = join(root, 'test', 'fixtures', 'parity', 'qwen3-tied');
const REQUESTS = 200;

async function openCatalogue() {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-lifecycle-'));
  const outputPath = join(folder, 'catalogue.snapshot');
  const sources = [join(model, 'catalogue.jsonl')];
  const levelSizes = new Uint32Array();
  await addon.catalogueBuild(
    { sources, domains: [''], titlesPath: '', levelSizes, outputPath },
    () => {},
  );
  const catalogue = await addon.catalogueOpen(outputPath);
  rmSync(folder, { recursive: true });
  return catalogue;
}

async function openEngine(onCompletions) {
  return addon.engineOpen(
    {
      modelPath: model,
      computeType: 'f32',
      threadCount: 2,
      queueCapacity: REQUESTS,
      batchRequestsMax: 2,
      prefillChunkTokens: 1,
      promptTokensMax: 64,
      widthMax: 64,
      resultCountMax: 64,
    },
    onCompletions,
  );
}

function bind(engine, catalogue) {
  const { levelSizes } = addon.catalogueInfo(catalogue);
  const levelOffsets = new Uint32Array(levelSizes.length + 1);
  const tokens = [];
  for (const [level, size] of levelSizes.entries()) {
    for (let code = 0; code < size; code++) tokens.push(3 + code);
    levelOffsets[level + 1] = tokens.length;
  }
  return addon.engineBind(engine, catalogue, {
    levelOffsets,
    levelTokens: Int32Array.from(tokens),
    terminalTokens: new Int32Array(),
  });
}

/** REQUESTS requests of eight prompt tokens. */
function batch(slot) {
  const every = (value) => Uint32Array.from({ length: REQUESTS }, () => value);
  const steps = (step) => Uint32Array.from({ length: REQUESTS + 1 }, (_, i) => i * step);
  return {
    tickets: Uint32Array.from({ length: REQUESTS }, (_, i) => i),
    bindings: every(slot),
    promptOffsets: steps(8),
    promptTokens: new Int32Array(8 * REQUESTS).fill(5),
    widthOffsets: steps(1),
    widths: every(32),
    resultCounts: every(8),
    itemsPerSid: every(1),
    scoreNorms: new Uint8Array(REQUESTS),
    budgetsUs: new Float64Array(REQUESTS).fill(60e6),
  };
}

async function start() {
  const seen = [];
  const engine = await openEngine((completions) => seen.push(...completions.tickets));
  const outcome = addon.engineSubmit(engine, batch(bind(engine, await openCatalogue())));
  if (outcome.accepted !== REQUESTS) throw new Error(`accepted ${outcome.accepted}`);
  return { engine, seen };
}

const ends = {
  async exit() {
    await start();
    console.log('done');
    process.exit(0);
  },
  async throw() {
    await start();
    setImmediate(() => {
      throw new Error('thrown on purpose');
    });
  },
  async close() {
    const { engine, seen } = await start();
    await Promise.all([addon.engineClose(engine), addon.engineClose(engine)]);
    await addon.engineClose(engine);
    await new Promise((resolve) => setImmediate(resolve));
    if (new Set(seen).size !== REQUESTS || seen.length !== REQUESTS)
      throw new Error(`${seen.length}`);
    let code = '';
    try {
      addon.engineModel(engine);
    } catch (error) {
      code = error.code;
    }
    if (code !== 'ENGINE_CLOSED') throw new Error(`after close: '${code}'`);
    console.log('done');
  },
  async drain() {
    const { engine, seen } = await start();
    await addon.engineDrain(engine, 60e6);
    await new Promise((resolve) => setImmediate(resolve));
    if (seen.length !== REQUESTS) throw new Error(`${seen.length} of ${REQUESTS}`);
    await addon.engineClose(engine);
    console.log('done');
  },
  async terminate() {
    for (let round = 0; round < 5; round++) {
      const worker = new Worker(fileURLToPath(import.meta.url), { workerData: 'running' });
      await new Promise((resolve, reject) => {
        worker.once('message', resolve);
        worker.once('error', reject);
      });
      await worker.terminate();
    }
    console.log('done');
  },
  async drop() {
    for (let round = 0; round < 3; round++) {
      const engine = await openEngine(() => {});
      await addon.engineClose(engine);
    }
    globalThis.gc?.();
    console.log('done');
  },
};

if (isMainThread) {
  await ends[process.argv[2]]();
} else if (workerData === 'running') {
  const { parentPort } = await import('node:worker_threads');
  await start();
  parentPort.postMessage('started');
}
