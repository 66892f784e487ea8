import type { Workload } from './simulate/arrival.js';
import { drawnUsers } from './simulate/drawn-users.js';
import { MODELS, type ModelCosts } from './simulate/model-costs.js';
import type { TierSizes } from './simulate/node.js';
import {
  ADMISSIONS,
  defaultAnswersMax,
  defaultFirstLimitUs,
  type SimulationOptions,
  USUAL,
} from './simulate/options.js';
import { POLICIES } from './simulate/policies.js';
import { outcomeTable } from './simulate/report.js';
import { seeded } from './simulate/seeded.js';
import { Simulation } from './simulate/simulation.js';
import { readTrace, spedUp } from './simulate/trace.js';
import { Flags, fail, print, runCommand } from './terminal/command.js';

const USAGE = `usage: npm run simulate -- [--trace FILE] [flags]

Simulates a fleet by the code that gateways route by and the pool's rule of load or compute; prints
what its requests found and waited. One seed, one outcome.
  --trace FILE           requests: Mooncake's JSON lines or Azure's CSV; without it drawn users
  --rate N               arrivals so many times as fast (default 1)
  --nodes N              nodes that do everything (default 8)
  --append-nodes N, --answer-nodes N    prompts apart from answers instead
  --split-tokens N       a recall that lacks more is computed by an append node (default 512)
  --policy P             ${POLICIES.join(', ')} (default router, the product's)
  --admission A          ${ADMISSIONS.join(', ')} (default predicted)
  --first-step-ms N      limit of the time to the first step (default: 10 times unloaded)
  --answers-max N        answers at once on a node (default: steps 5 times as long as one's alone)
  --deaths N             nodes that die at drawn times
  --warm-up N            seconds whose requests are in no time (default 0)
  --seed N               of drawn users, deaths and random choices (default 1)
Model: --model ${Object.keys(MODELS).join('|')} (default 8x512), or one of these in its place
  --token-ns N, --pair-ns N   of a prompt's token, and more per token before it, nanoseconds
  --pass-us N, --rows N, --row-ns N, --row-pair-ns N    of a pass, and of an answer's step
  --kv-bytes N           keys and values of a token
Tiers, in MB and MB/s (0: no such tier, or an endless rate)
  --memory N (8000), --disk N (0), --disk-rate N (2000)
  --shared N (0), --shared-rate N (0), --link-rate N (1250), --write-rate N (200)
Drawn users
  --users N (10000), --zipf-percent N (110), --recalls N (20) and --appends N (20) a second,
  --flood N (1) times the appends in the middle third, --seconds N (300), --history N (1000),
  --append-tokens N (32), --scene N (16) tokens, --steps N (4)`;

const COUNT_MAX = 1_000_000_000;
const NODES_MAX = 1000;
const RATE_MAX = 1000;
const BYTES_PER_MEGABYTE = 1_000_000;

const NUMBERS = {
  rate: [1, RATE_MAX, 1],
  nodes: [1, NODES_MAX, 8],
  'split-tokens': [0, COUNT_MAX, 512],
  deaths: [0, NODES_MAX, 0],
  seed: [0, COUNT_MAX, 1],
  'warm-up': [0, COUNT_MAX, 0],
  memory: [0, COUNT_MAX, 8000],
  disk: [0, COUNT_MAX, 0],
  'disk-rate': [0, COUNT_MAX, USUAL.diskBytesPerUs],
  shared: [0, COUNT_MAX, 0],
  'shared-rate': [0, COUNT_MAX, 0],
  'link-rate': [0, COUNT_MAX, USUAL.linkBytesPerUs],
  'write-rate': [0, COUNT_MAX, USUAL.writeBytesPerUs],
  users: [1, 10_000_000, 10_000],
  'zipf-percent': [0, 500, USUAL.zipfPercent],
  recalls: [0, 1_000_000, 20],
  appends: [0, 1_000_000, 20],
  flood: [1, 1000, 1],
  seconds: [1, 1_000_000, 300],
  history: [1, 1_000_000, 1000],
  'append-tokens': [1, 100_000, USUAL.appendTokens],
  scene: [1, 100_000, USUAL.sceneTokens],
  steps: [0, 100_000, 4],
} as const;

const OPTIONAL = [
  'append-nodes',
  'answer-nodes',
  'first-step-ms',
  'answers-max',
  'token-ns',
  'pair-ns',
  'pass-us',
  'rows',
  'row-ns',
  'row-pair-ns',
  'kv-bytes',
] as const;

const TEXTS = ['trace', 'policy', 'admission', 'model'] as const;

function numberOf(flags: Flags, name: keyof typeof NUMBERS): number {
  const [least, most, usual] = NUMBERS[name];
  return flags.integer(name, least, most) ?? usual;
}

function costsOf(flags: Flags): ModelCosts {
  const names = Object.keys(MODELS) as (keyof typeof MODELS)[];
  const model: ModelCosts = MODELS[flags.oneOf('model', names, '8x512')];
  const given = (name: (typeof OPTIONAL)[number], usual: number, units: number) =>
    (flags.integer(name, 0, COUNT_MAX) ?? usual * units) / units;
  return {
    tokenUs: given('token-ns', model.tokenUs, 1000),
    pairUs: given('pair-ns', model.pairUs, 1000),
    passUs: given('pass-us', model.passUs, 1),
    rows: given('rows', model.rows, 1),
    rowUs: given('row-ns', model.rowUs, 1000),
    rowPairUs: given('row-pair-ns', model.rowPairUs, 1000),
    kvBytesPerToken: flags.integer('kv-bytes', 1, COUNT_MAX) ?? model.kvBytesPerToken,
  };
}

function sizesOf(flags: Flags): TierSizes {
  const bytes = (name: 'memory' | 'disk' | 'shared') => numberOf(flags, name) * BYTES_PER_MEGABYTE;
  // A megabyte a second is a byte a microsecond.
  return {
    memoryBytes: bytes('memory'),
    diskBytes: bytes('disk'),
    diskBytesPerUs: numberOf(flags, 'disk-rate'),
    sharedBytes: bytes('shared'),
    sharedBytesPerUs: numberOf(flags, 'shared-rate'),
    linkBytesPerUs: numberOf(flags, 'link-rate'),
    writeBytesPerUs: numberOf(flags, 'write-rate'),
  };
}

async function workloadOf(flags: Flags): Promise<Workload> {
  const path = flags.text('trace');
  if (path !== undefined) return spedUp(await readTrace(path), numberOf(flags, 'rate'));
  const drawn = drawnUsers({
    users: numberOf(flags, 'users'),
    zipf: numberOf(flags, 'zipf-percent') / 100,
    recallsPerSecond: numberOf(flags, 'recalls'),
    appendsPerSecond: numberOf(flags, 'appends'),
    flood: numberOf(flags, 'flood'),
    seconds: numberOf(flags, 'seconds'),
    historyTokens: numberOf(flags, 'history'),
    appendTokens: numberOf(flags, 'append-tokens'),
    sceneTokens: numberOf(flags, 'scene'),
    steps: numberOf(flags, 'steps'),
    blockTokens: USUAL.blockTokens,
    seed: numberOf(flags, 'seed'),
  });
  if (drawn.arrivals.length === 0) fail('recalls', 'a request within --seconds', 'none');
  return spedUp(drawn, numberOf(flags, 'rate'));
}

function rolesOf(flags: Flags): { readonly nodes: number; readonly answerNodes: number } {
  const append = flags.integer('append-nodes', 1, NODES_MAX);
  const answer = flags.integer('answer-nodes', 1, NODES_MAX);
  if (append === undefined && answer === undefined) {
    return { nodes: numberOf(flags, 'nodes'), answerNodes: 0 };
  }
  if (append === undefined) return fail('append-nodes', 'a count beside --answer-nodes', 'nothing');
  if (answer === undefined) return fail('answer-nodes', 'a count beside --append-nodes', 'nothing');
  if (flags.has('nodes')) fail('nodes', 'nothing beside --append-nodes', flags.required('nodes'));
  return { nodes: append, answerNodes: answer };
}

function deathsOf(flags: Flags, nodes: number, endUs: number): SimulationOptions['deaths'] {
  const count = numberOf(flags, 'deaths');
  if (count >= nodes) fail('deaths', `fewer than the ${nodes} nodes`, `${count}`);
  const random = seeded(numberOf(flags, 'seed') + 2);
  const left = Array.from({ length: nodes }, (_, node) => node);
  return Array.from({ length: count }, () => {
    const [node = 0] = left.splice(Math.floor(random() * left.length), 1);
    return { node, atUs: random() * endUs };
  });
}

await runCommand(USAGE, async (words) => {
  const names = [...Object.keys(NUMBERS), ...OPTIONAL, ...TEXTS];
  const flags = Flags.parse(
    words,
    Object.fromEntries(names.map((name) => [name, 'text' as const])),
  );
  const roles = rolesOf(flags);
  const { nodes, answerNodes } = roles;
  const costs = costsOf(flags);
  const sizes = sizesOf(flags);
  const policy = flags.oneOf('policy', POLICIES, 'router');
  const admission = flags.oneOf('admission', ADMISSIONS, 'predicted');
  const workload = await workloadOf(flags);
  const endUs = workload.arrivals.at(-1)?.atUs ?? 0;
  const limitMs = flags.integer('first-step-ms', 1, COUNT_MAX);
  const outcome = new Simulation(workload, {
    nodes,
    answerNodes,
    costs,
    sizes,
    policy,
    admission,
    firstLimitUs: limitMs === undefined ? defaultFirstLimitUs(workload, costs) : limitMs * 1000,
    answersMax: flags.integer('answers-max', 1, COUNT_MAX) ?? defaultAnswersMax(workload, costs),
    splitTokens: numberOf(flags, 'split-tokens'),
    deaths: deathsOf(flags, nodes + answerNodes, endUs),
    seed: numberOf(flags, 'seed'),
    warmUpUs: numberOf(flags, 'warm-up') * 1e6,
    planned: new Set(),
  }).run();
  const fleet = answerNodes === 0 ? `${nodes}` : `${nodes} append, ${answerNodes} answer`;
  await print(outcomeTable(fleet, outcome));
});
