import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { loadBehaviourStore } from '@tessera/behaviour';
import {
  BEAM_WIDTH,
  createRecallRuntime,
  type RecallRuntimeOptions,
  rowBudgetFor,
} from '@tessera/recall';
import { Flags, fail, print, runCommand } from './terminal/command.js';
import { MODEL_FLAGS, runtimeOptions } from './terminal/model-flags.js';
import { ProgressLine } from './terminal/progress.js';
import { readSearch } from './terminal/search-flags.js';
import { table } from './terminal/table.js';
import { PLAN_FLAGS, planned, planQuestion } from './tune/plan.js';
import { budgetOf, certifiedRows } from './tune/row-budget.js';
import {
  again,
  axesOf,
  descend,
  FINAL_MEASUREMENTS_MAX,
  finalists,
  grid,
  isSame,
  type Measured,
  measurementsMax,
  type Setting,
} from './tune/search.js';
import { type Load, requestOf, throughput, unhurried } from './tune/throughput.js';

const USAGE = `usage: npm run tune -- [flags]

Measures recalls a second of this machine with a model, and writes the settings of the engine that
answer most, for npm start -- --config FILE. Nothing else should run meanwhile.
  --out FILE           where they are written (default tuned.json)
  --sequences FILE     {"user": [item IDs, oldest first]}, .gz too, or a users.json; without it
                       models/demo/users.json, which suits the demo model alone
  --model DIR, --catalogue FILE[#domain=NAME], --dtype f32|bf16|w8a8, --activation-scales FILE
  --search certified|beam  as callers will ask (default: as configured, a beam where there are
                       widths); of certified searches recall.rowBudget is written too
  --widths N,N,..      of the beam, as callers will ask (default: as configured)
  --max-items N        newest items of a history (default: as configured)
  --seconds N          of measuring for each setting (default 4)
  --sweep              measures every combination as well, and says how near the advice is
Plans a fleet of machines like this one instead, by measured costs and the simulator:
  --plan               with and without a store that all nodes share
  --qps N              recalls a second
  --users N            users who return, by Zipf's law
  --appends N          new behaviours a second (default: as many as recalls)
  --p99-ms N           of an answer (default 100)
  --memory MB          of a node, for keys and values (default: 3/16 of this machine's)
  --disk MB            of a node, for keys and values (default 4295)
  --link-mb N          megabytes a second between a node and the store (default 1250)`;

const SECONDS_MAX = 600;
const DEFAULT_SECONDS = 4;
const WIDTH_MAX = 4096;
const USERS_MAX = 2000;
const DEMO_USERS = 'models/demo/users.json';

await runCommand(USAGE, async (words) => {
  const flags = Flags.parse(words, {
    ...MODEL_FLAGS,
    sequences: 'text',
    widths: 'text',
    search: 'text',
    'max-items': 'text',
    seconds: 'text',
    out: 'text',
    sweep: 'switch',
    plan: 'switch',
    ...PLAN_FLAGS,
  });
  const options = runtimeOptions(flags, () => undefined);
  const { historyItemsMax } = options.recall;
  const load: Load = {
    histories: await historiesOf(
      flags.text('sequences') ?? DEMO_USERS,
      flags.integer('max-items', 1, historyItemsMax) ?? historyItemsMax,
    ),
    search: readSearch(flags, options.recall.search).search,
    widths: flags.integers('widths', 1, WIDTH_MAX) ?? [],
    seconds: flags.integer('seconds', 1, SECONDS_MAX) ?? DEFAULT_SECONDS,
  };
  if (flags.has('plan')) return print(await planned(options, load, planQuestion(flags)));
  const outputPath = flags.text('out') ?? 'tuned.json';
  const { threadCount, batchRequestsMax, batchRowsMax, prefillChunkTokens } = options.engine;
  const start = { threadCount, batchRequestsMax, batchRowsMax, prefillChunkTokens };
  const axes = axesOf(availableParallelism(), await fitting(options, load));
  const wanted = flags.has('sweep') ? grid(axes) : [];
  const ofSweep = wanted.length > 0 ? wanted.length + FINAL_MEASUREMENTS_MAX : 0;
  const most = measurementsMax(axes) + ofSweep;
  const progress = new ProgressLine();
  let done = 0;
  const measure = (setting: Setting) => {
    progress.update('settings measured', done++, most, JSON.stringify(setting));
    return throughput(options, setting, load);
  };
  const { advice, measured } = await descend(start, axes, measure);
  const swept: Measured[] = [];
  for (const setting of wanted) swept.push({ setting, rate: await measure(setting) });
  const last = swept.length > 0 ? await again(finalists(swept, advice), measure) : [];
  progress.end();
  await print(shown(swept.length > 0 ? swept : measured));
  if (last.length > 0) await print(nearness(advice, last));
  const rowBudget = await advisedBudget(options, load);
  const advised = { engine: advice.setting, ...(rowBudget && { recall: { rowBudget } }) };
  await writeFile(outputPath, `${JSON.stringify(advised, null, 2)}\n`);
  await print(`${outputPath}: ${advice.rate.toFixed(1)} recalls a second`);
});

/** Undefined of beams, and where no answer was certified. */
async function advisedBudget(options: RecallRuntimeOptions, load: Load) {
  if (load.search === 'beam') return undefined;
  const rows = await certifiedRows(options, load);
  const budget = budgetOf(rows);
  const note = budget === undefined ? 'none' : `${budget} rows`;
  await print(`recall.rowBudget: ${note}, by ${rows.length} certified answers`);
  return budget;
}

async function historiesOf(path: string, itemsMax: number): Promise<string[][]> {
  const store = await loadBehaviourStore(path);
  const histories: string[][] = [];
  for (const userId of await store.userIds(USERS_MAX)) {
    const behaviours = (await store.history(userId, itemsMax)) ?? [];
    if (behaviours.length > 0) histories.push(behaviours.map(({ itemId }) => itemId));
  }
  if (histories.length === 0) fail('sequences', 'a user with a history', 'none');
  return histories;
}

/** Requests whose keys and values fit in engine.kvBytesMax, by the longest of some prompts. */
async function fitting(options: RecallRuntimeOptions, load: Load) {
  const { histories, widths, search } = load;
  const runtime = await createRecallRuntime(options);
  try {
    const { kvBytesPerPosition, slotBytes, stateBytes } = runtime.facts.summary.model;
    const { depth } = runtime.facts.summary.catalogue;
    const [history = []] = histories.toSorted((a, b) => b.length - a.length);
    const { promptTokens } = await runtime.serving.recall(requestOf(history, load), unhurried());
    const width = Math.max(...(widths.length > 0 ? widths : [BEAM_WIDTH]));
    const { resultCount, rowBudget } = options.recall;
    const rows = search === 'beam' ? width * depth : rowBudgetFor(resultCount, rowBudget);
    const bytes = promptTokens * kvBytesPerPosition + rows * slotBytes + stateBytes;
    return Math.floor(options.engine.kvBytesMax / bytes);
  } finally {
    await runtime.close();
  }
}

function shown(measured: readonly Measured[]): string {
  const columns = ['threads', 'requests', 'rows', 'chunk', 'recalls/s'].map((name) => ({
    name,
    right: true,
  }));
  const rows = measured.map(({ setting, rate }) => [
    ...[setting.threadCount, setting.batchRequestsMax, setting.batchRowsMax].map(String),
    String(setting.prefillChunkTokens),
    rate.toFixed(1),
  ]);
  return table(columns, rows);
}

/** The advice against the fastest of the sweep, both measured again in turns. */
function nearness(advice: Measured, last: readonly Measured[]): string {
  const best = Math.max(...last.map(({ rate }) => rate));
  const rate = last.find(({ setting }) => isSame(setting, advice.setting))?.rate ?? 0;
  const share = ((100 * rate) / best).toFixed(1);
  return `${shown(last)}\nin turns; the advice gives ${share} % of the best of the sweep`;
}
