import { writeFile } from 'node:fs/promises';
import type { Rate } from '@tessera/analysis';
import { usersOfFile } from '@tessera/behaviour';
import { queueCapacityFor } from '@tessera/engine';
import { TesseraError, visible } from '@tessera/errors';
import { type RecallRuntimeOptions, ROW_BUDGET_MAX, SEARCHES, type Search } from '@tessera/recall';
import { type Answers, askAll, DEADLINE_MS, type Load } from './evaluate/ask-all.js';
import { bothSearches, describeBoth } from './evaluate/both-searches.js';
import { type Case, type Cases, readCases } from './evaluate/cases.js';
import { type RankedLists, readLists } from './evaluate/lists.js';
import { meanOverlap, OVERLAP_DEPTH } from './evaluate/overlap.js';
import { EXPOSURE_FLAGS, evaluateRanking } from './evaluate/rank-all.js';
import { breadthOf, DEPTHS, quality, recallWithin } from './evaluate/ranking.js';
import { describeRows, rowsOf } from './evaluate/rows.js';
import { describeSystems, sideBySide } from './evaluate/side-by-side.js';
import { RANKING_USAGE } from './served/ranking-version.js';
import { startStack } from './served/served-stack.js';
import { Flags, fail, print, runCommand } from './terminal/command.js';
import { COMPUTE_TYPES, MODEL_FLAGS, runtimeOptions } from './terminal/model-flags.js';
import { ProgressLine } from './terminal/progress.js';
import { VALUE_FLAGS, VALUE_USAGE } from './terminal/value-flags.js';

const USAGE = `usage: npm run evaluate -- --sequences FILE [flags]

Asks the served engine over gRPC for every user, prints Recall and NDCG at ${DEPTHS.join(', ')}.
  --sequences FILE     {"user": [item IDs, oldest first]}, or JSON lines (.jsonl) of {"user",
                       "history", "target"?}, of which the longest of a user counts; .gz too
  --targets FILE.json  {"user": item}; without it the last item of each sequence is held out
  --model DIR, --catalogue FILE[#domain=NAME], --titles FILE    as for npm run recall
  --search beam|certified|both  a beam (default), the model's best of all items, or both: rows and
                       quality side by side, and how much of the certified lists the beam has
  --beam N             width of the beam (default 50)
  --row-budget N       rows that a certified search computes at most (default: as configured)
${VALUE_USAGE}
  --max-items N        newest items of a history that are sent
  --users N            users asked at most
  --unseen             no list has an item of its user's history, ours neither
  --lists FILE.jsonl   lists of other systems, {"system", "user", "items": [item IDs, best first]}
                       a line, as rows beside ours: the same users, depths and intervals; items
                       that the catalogue does not have are left out; .gz too
  --concurrency N      requests in flight (default 16)
  --dtype f32|bf16|w8a8, --activation-scales FILE, --threads N
  --compare T,T,..     asks once with each compute type; tells, beside the quality of each, how much
                       of the first ${OVERLAP_DEPTH} items it shares with the first type
  --json FILE          the result as JSON

       npm run evaluate -- --rank FILE.tsv --histories FILE [flags]

Ranks items that were shown to users, and prints for each head how well it told the outcomes:
  --rank FILE.tsv      a line an exposure: user, time, item, and a column for each head
  --histories FILE     behaviours of the users with times, as for npm run recall --users-file
${RANKING_USAGE}
  --model, --catalogue, --dtype, --threads, --concurrency, --json as above`;

const BEAM_MAX = 4096;
const COUNT_MAX = 1_000_000_000;
const CONCURRENCY_MAX = 256;
const DEFAULT_BEAM = 50;
const DEFAULT_CONCURRENCY = 16;
const FAILURES_SHOWN = 5;

/** An evaluation of one compute type. */
interface Evaluation {
  readonly answers: Answers;
  /** Users whose target the catalogue does not have: nobody could have found it. */
  readonly unknownTargets: number;
  /** Of the listed items, those that the catalogue does not have. */
  readonly unknownItems: ReadonlySet<string>;
  readonly model: string;
  readonly catalogue: string;
  readonly catalogueItems: number;
}

function report(evaluation: Evaluation, { cases, skipped, repeatedLines }: Cases) {
  const { answers, unknownTargets, model, catalogue, catalogueItems } = evaluation;
  const { recall, ndcg } = quality(answers.ranks);
  const users = answers.ranks.length;
  return {
    model,
    catalogue,
    users,
    skippedUsers: skipped,
    repeatedLines,
    unknownTargets,
    skippedHistoryItems: answers.skippedItems,
    failedUsers: answers.failures.length,
    seconds: answers.seconds,
    requestsPerSecond: users / answers.seconds,
    recall,
    ndcg,
    recallWithin: Object.fromEntries(DEPTHS.map((k) => [k, recallWithin(answers.ranks, k)])),
    ...breadthOf(answers.lists, cases, answers.ranks, catalogueItems),
    ...rowsOf(answers.searched),
  };
}

const shown = ({ rate, low, high }: Rate) =>
  `${rate.toFixed(4)} (${low.toFixed(4)} to ${high.toFixed(4)})`;

function describe(result: ReturnType<typeof report>): string {
  const lines = DEPTHS.flatMap((k) => {
    const within = result.recallWithin[k];
    return [
      `Recall@${k}  ${within === undefined ? '' : shown(within)}`,
      `NDCG@${k}    ${(result.ndcg[k] ?? 0).toFixed(4)}`,
    ];
  });
  const { shownItems, coverage, coldUsers, coldRecall } = result;
  const { users, skippedUsers, failedUsers, seconds, requestsPerSecond } = result;
  const { repeatedLines, unknownTargets, skippedHistoryItems } = result;
  return [
    ...lines,
    `coverage ${(100 * coverage).toFixed(1)} % (${shownItems} items are in a first ten)`,
    `cold items: ${coldUsers} targets in nobody's history, Recall@10 ${shown(coldRecall)}`,
    `users ${users} (${skippedUsers} without target or history left out, ${failedUsers} failed)`,
    `not in the catalogue: ${unknownTargets} targets (misses), ${skippedHistoryItems} items of ` +
      `histories (left out); ${repeatedLines} lines of users with a longer one left out`,
    describeRows(result),
    `seconds ${seconds.toFixed(1)}, requests/s ${requestsPerSecond.toFixed(1)}`,
  ].join('\n');
}

/** Starts the stack, asks every case, and stops it. */
async function evaluateWith(
  options: RecallRuntimeOptions,
  cases: readonly Case[],
  load: Load,
  listed: ReadonlySet<string> = new Set(),
): Promise<Evaluation> {
  const { engine } = options;
  const stack = await startStack(
    {
      ...options,
      behaviours: usersOfFile(''),
      engine: {
        ...engine,
        widthMax: Math.max(engine.widthMax, load.beam),
        queueCapacity: Math.max(engine.queueCapacity, queueCapacityFor(load.concurrency)),
      },
    },
    DEADLINE_MS,
  );
  try {
    const answers = await askAll(stack.grpcAddress, cases, load);
    for (const line of answers.failures.slice(0, FAILURES_SHOWN)) {
      process.stderr.write(visible(`${line}\n`));
    }
    checkSomeAnswered(answers);
    const unknownTargets = stack.unknownItems(cases.map(({ target }) => target)).length;
    const unknownItems = new Set(stack.unknownItems([...listed]));
    const { model, catalogue, catalogueItems } = stack;
    return { answers, unknownTargets, unknownItems, model, catalogue, catalogueItems };
  } finally {
    await stack.close();
  }
}

/** Figures of nobody's answers would pass for figures of the model. */
function checkSomeAnswered({ failures, lists }: Answers): void {
  if (failures.length < lists.length) return;
  const message = `users: expected an answer for one of ${lists.length} at least, got none`;
  throw new TesseraError('ENGINE_UNAVAILABLE', message, { field: 'users' });
}

type ComputeType = RecallRuntimeOptions['computeType'];

/** The compute types of --compare; the others are compared with the first. */
function comparedTypes(text: string | undefined, search: string): ComputeType[] | undefined {
  if (text === undefined) return undefined;
  if (search === 'both') fail('compare', 'nothing with --search both', text);
  const types = text.split(',');
  const known = (type: string): type is ComputeType =>
    (COMPUTE_TYPES as readonly string[]).includes(type);
  if (types.length >= 2 && new Set(types).size === types.length && types.every(known)) return types;
  return fail('compare', `two or more of ${COMPUTE_TYPES.join(', ')}`, text);
}

/** Fixed scales are for w8a8 alone. */
function scalesFor({ activationScalesPath }: RecallRuntimeOptions, type: ComputeType): string {
  return type === 'w8a8' ? activationScalesPath : '';
}

/** One line per compute type, and the same for --json. */
async function compare(
  options: RecallRuntimeOptions,
  cases: Cases,
  load: Load,
  types: readonly ComputeType[],
) {
  const results = [];
  let reference: Answers['lists'] | undefined;
  for (const computeType of types) {
    const run = await evaluateWith(
      { ...options, computeType, activationScalesPath: scalesFor(options, computeType) },
      cases.cases,
      load,
    );
    reference ??= run.answers.lists;
    const overlap = meanOverlap(reference, run.answers.lists, OVERLAP_DEPTH);
    const result = report(run, cases);
    results.push({ computeType, ...result, overlapDepth: OVERLAP_DEPTH, overlap });
  }
  return results;
}

function describeComparison(results: Awaited<ReturnType<typeof compare>>): string {
  const [first] = results;
  const lines = results.map(({ computeType, recall, ndcg, overlap, requestsPerSecond }) => {
    const numbers = DEPTHS.flatMap((k) => [recall[k] ?? 0, ndcg[k] ?? 0]);
    return [
      computeType.padEnd(5),
      ...[...numbers, overlap].map((value) => value.toFixed(4).padStart(9)),
      requestsPerSecond.toFixed(1).padStart(10),
    ].join(' ');
  });
  const names = DEPTHS.flatMap((k) => [`Recall@${k}`, `NDCG@${k}`]);
  const columns = [...names, `same@${OVERLAP_DEPTH}`].map((name) => name.padStart(9));
  return [
    ['type ', ...columns, 'requests/s'].join(' '),
    ...lines,
    `users ${first?.users}; same@${OVERLAP_DEPTH}: share of the first ${OVERLAP_DEPTH} items of ` +
      `${first?.computeType}`,
  ].join('\n');
}

/** Lists of other systems, by the systems' names. */
type Systems = ReadonlyMap<string, RankedLists>;

/** Of all lists. */
function itemsOf(systems: Systems): ReadonlySet<string> {
  const listed = new Set<string>();
  for (const lists of systems.values()) {
    for (const items of lists.values()) for (const item of items) listed.add(item);
  }
  return listed;
}

/** Those of --lists; none without. */
async function listsOf(flags: Flags, comparesItself: boolean): Promise<Systems> {
  const path = flags.text('lists');
  if (path === undefined) return new Map();
  if (comparesItself) fail('lists', 'neither --compare nor --search both beside it', path);
  return readLists(path);
}

/** Prints the figures, and a table of all systems where there are others. */
async function evaluateOnce(
  options: RecallRuntimeOptions,
  cases: Cases,
  load: Load,
  systems: Systems,
) {
  const evaluation = await evaluateWith(options, cases.cases, load, itemsOf(systems));
  const result = report(evaluation, cases);
  await print(describe(result));
  if (systems.size === 0) return result;
  const others = sideBySide(systems, evaluation.answers.ranks, {
    cases: cases.cases,
    unknown: evaluation.unknownItems,
    catalogueItems: evaluation.catalogueItems,
    isUnseen: load.isUnseen === true,
  });
  await print(describeSystems({ system: `ours, ${load.search}`, ...result }, others));
  return { ...result, systems: others };
}

await runCommand(USAGE, async (words) => {
  const flags = Flags.parse(words, {
    ...MODEL_FLAGS,
    sequences: 'text',
    targets: 'text',
    users: 'text',
    beam: 'text',
    search: 'text',
    'row-budget': 'text',
    ...VALUE_FLAGS,
    'max-items': 'text',
    concurrency: 'text',
    compare: 'text',
    lists: 'text',
    unseen: 'switch',
    ...EXPOSURE_FLAGS,
    json: 'text',
  });
  const concurrency = flags.integer('concurrency', 1, CONCURRENCY_MAX) ?? DEFAULT_CONCURRENCY;
  if (flags.has('rank')) return evaluateRanking(flags, concurrency);
  const search = flags.oneOf('search', [...SEARCHES, 'both'], 'beam');
  const types = comparedTypes(flags.text('compare'), search);
  const systems = await listsOf(flags, types !== undefined || search === 'both');
  const load = {
    isUnseen: flags.has('unseen'),
    rowBudget: flags.integer('row-budget', 1, ROW_BUDGET_MAX),
    beam: flags.integer('beam', 1, BEAM_MAX) ?? DEFAULT_BEAM,
    concurrency,
    valuation: flags.text('valuation') ?? '',
    results: types === undefined && search !== 'both' ? Math.max(...DEPTHS) : OVERLAP_DEPTH,
  };
  const progress = new ProgressLine();
  const options = runtimeOptions(flags, progress.update);
  const { historyItemsMax } = options.recall;
  const cases = await readCases({
    sequencesPath: flags.required('sequences'),
    targetsPath: flags.text('targets'),
    itemsMax: flags.integer('max-items', 1, historyItemsMax) ?? historyItemsMax,
    usersMax: flags.integer('users', 1, COUNT_MAX),
  });
  const path = flags.text('json');
  const write = async (result: object) => {
    if (path !== undefined) await writeFile(path, `${JSON.stringify(result, null, 2)}\n`);
  };
  if (search === 'both') {
    const ask = (one: Search) => evaluateWith(options, cases.cases, { ...load, search: one });
    const result = bothSearches((await ask('beam')).answers, (await ask('certified')).answers);
    await print(describeBoth(result));
    return write(result);
  }
  const searched = { ...load, search };
  if (types !== undefined) {
    const results = await compare(options, cases, searched, types);
    await print(describeComparison(results));
    return write(results);
  }
  await write(await evaluateOnce(options, cases, searched, systems));
});
