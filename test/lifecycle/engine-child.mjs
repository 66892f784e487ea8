// One scene of an engine's life, run in a process of its own: `node engine-child.mjs SCENE MODEL
// CATALOGUE`. Prints what it saw; the test judges that and how the process ended.
import { readFile } from 'node:fs/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { EVERY_ITEM, NativeEngine, openCatalogue } from '../../dist/libs/engine/src/index.js';

const LEVELS = 3;
const CODES = 8;
const FIRST_LEVEL_TOKEN = 266;
const LONG_PROMPT = 6000;
const LONG_BUDGET_US = 6e8; // what cannot be done in time is refused at once and never runs

const [scene, modelPath, cataloguePath] = isMainThread ? process.argv.slice(2) : workerData;

async function open() {
  const engine = await NativeEngine.open({
    modelPath,
    computeType: 'f32',
    activationScalesPath: '',
    threadCount: 2,
    queueCapacity: 4,
    batchRequestsMax: 4,
    batchRowsMax: 1024,
    prefillChunkTokens: 16,
    passTimeTargetUs: 0,
    batching: 'continuous',
    kvBytesMax: 2 ** 30,
    promptTokensMax: 8000,
    widthMax: 64,
    resultCountMax: 100,
    scoreItemsMax: 64,
  });
  const catalogue = await openCatalogue(cataloguePath);
  const levels = Array.from({ length: LEVELS }, (_, level) =>
    Int32Array.from({ length: CODES }, (_, code) => FIRST_LEVEL_TOKEN + level * CODES + code),
  );
  return { engine, catalogue, binding: engine.bind(catalogue, { levels, terminal: [] }) };
}

function begin({ engine, binding }, promptLength = LONG_PROMPT, signal = undefined) {
  const request = {
    binding,
    promptTokens: Int32Array.from({ length: promptLength }, (_, index) => index % 250),
    widths: [8],
    resultCount: 5,
    itemsPerSid: 10,
    scoreNorm: 'full',
    priority: 'normal',
    budgetUs: LONG_BUDGET_US,
  };
  return engine.recall(request, signal).then(
    (answer) => `${answer.items.length} items`,
    (error) => error.code ?? String(error),
  );
}

async function running({ engine }) {
  while (engine.stats().running === 0) await new Promise((resolve) => setImmediate(resolve));
}

const say = (line) => (isMainThread ? console.log(line) : parentPort.postMessage(line));

const scenes = {
  async answersAndCloses() {
    const parts = await open();
    say(await begin(parts, 20));
    await parts.engine.close();
    await parts.engine.close();
    parts.catalogue.close();
    say('closed');
  },
  async closesWithARecallRunning() {
    const parts = await open();
    const [first, second] = [begin(parts), begin(parts)];
    await running(parts);
    await Promise.all([parts.engine.close(), parts.engine.close()]);
    say(`${await first} ${await second}`);
    say(await begin(parts, 20));
  },
  async drainsThenRefuses() {
    const parts = await open();
    const first = begin(parts, 200);
    await running(parts);
    await parts.engine.drain(60_000);
    say(await begin(parts, 20));
    say(await first);
    await parts.engine.close();
  },
  async readsBesideLongCalls() {
    const parts = await open();
    const controller = new AbortController();
    const aborted = begin(parts, LONG_PROMPT, controller.signal);
    await running(parts);
    const order = [];
    // Each waits for the recall on a thread; the thread pool of Node has four.
    const drains = Array.from({ length: 8 }, () =>
      parts.engine.drain(600_000).then(() => order.push('drain')),
    );
    await parts.catalogue.reach(EVERY_ITEM).then(() => order.push('reach'));
    await readFile(cataloguePath).then(() => order.push('file'));
    say(order.join(' '));
    controller.abort();
    await Promise.all([aborted, ...drains]);
    await parts.engine.close();
    say('closed');
  },
  async abortsOne() {
    const parts = await open();
    const controller = new AbortController();
    const aborted = begin(parts, LONG_PROMPT, controller.signal);
    await running(parts);
    controller.abort();
    say(await aborted);
    say(await begin(parts, 20));
    await parts.engine.close();
  },
  async exitsWithARecallRunning() {
    const parts = await open();
    void begin(parts);
    await running(parts);
    say('leaving');
    process.exit(0);
  },
  async throwsWithARecallRunning() {
    const parts = await open();
    void begin(parts);
    await running(parts);
    say('throwing');
    setImmediate(() => {
      throw new Error('a fault elsewhere');
    });
  },
  async catalogueOutlivesItsHandle() {
    const parts = await open();
    const answer = begin(parts, 200);
    await running(parts);
    parts.catalogue.close();
    say(await answer);
    await parts.engine.close();
  },
  async workerIsTerminated() {
    const data = ['workerRuns', modelPath, cataloguePath];
    const worker = new Worker(new URL(import.meta.url), { workerData: data });
    await new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    await worker.terminate();
    say('terminated');
    await scenes.answersAndCloses();
  },
  async workerRuns() {
    const parts = await open();
    void begin(parts);
    await running(parts);
    say('running');
  },
};

await scenes[scene]();
