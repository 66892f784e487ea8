import { writeFile } from 'node:fs/promises';
import { usersOfFile } from '@tessera/behaviour';
import { TesseraError, visible } from '@tessera/errors';
import type { RecallRuntimeOptions } from '@tessera/recall';
import { type Case, type Cases, readCases } from './evaluate/cases.js';
import { meanOverlap, OVERLAP_DEPTH } from './evaluate/overlap.js';
import { DEPTHS, quality, type Rank, rankOf } from './evaluate/ranking.js';
import { RecallClient } from './served/recall-client.js';
import { startStack } from './served/served-stack.js';
import { Flags, fail, print, runCommand } from './terminal/command.js';
import { COMPUTE_TYPES, MODEL_FLAGS, runtimeOptions } from './terminal/model-flags.js';
import { ProgressLine } from './terminal/progress.js';

const USAGE = `usage: npm run evaluate -- --sequences FILE [flags]

Asks the served engine over gRPC for every user, prints Recall and NDCG at ${DEPTHS.join(', ')}.
  --sequences FILE     {"user": [item IDs, oldest first]}, or JSON lines (.jsonl) of {"user",
                       "history", "target"?}, of which the longest of a user counts; .gz too
  --targets FILE.json  {"user": item}; without it the last item of each sequence is held out
  --model DIR, --catalogue FILE[#domain=NAME], --titles FILE    as for npm run recall
  --beam N             beam width (default 50)
  --max-items N        newest items of a history that are sent
  --users N            users asked at most
  --concurrency N      requests in flight (default 16)
  --dtype f32|bf16|w8a8, --activation-scales FILE, --threads N
  --compare T,T,..     asks once with each compute type; tells, beside the quality of each, how much
                       of the first ${OVERLAP_DEPTH} items it shares with the first type
  --json FILE          the result as JSON`;

const BEAM_MAX = 4096;
const COUNT_MAX = 1_000_000_000;
const CONCURRENCY_MAX = 256;
const DEFAULT_BEAM = 50;
const DEFAULT_CONCURRENCY = 16;
const DEADLINE_MS = 600_000;
const FAILURES_SHOWN = 5;

interface Answers {
  /** Item IDs per user, best first; none where the request failed. */
  readonly lists: readonly (readonly string[])[];
  readonly ranks: readonly Rank[];
  readonly failures: readonly string[];
  /** Items of histories that the catalogue does not have: left out of the prompts. */
  readonly skippedItems: number;
  readonly seconds: number;
}

/** An evaluation of one compute type. */
interface Evaluation {
  readonly answers: Answers;
  /** Users whose target the catalogue does not have: nobody could have found it. */
  readonly unknownTargets: number;
  readonly model: string;
  readonly catalogue: string;
}

interface Load {
  readonly beam: number;
  readonly concurrency: number;
  readonly results: number;
}

/** Asks every case, `concurrency` at a time. A refused case is a miss and is reported. */
async function askAll(
  address: string,
  cases: readonly Case[],
  { beam, concurrency, results }: Load,
): Promise<Answers> {
  const client = new RecallClient(address);
  const progress = new ProgressLine();
  const lists: string[][] = cases.map(() => []);
  const failures: string[] = [];
  const started = performance.now();
  let next = 0;
  let done = 0;
  let skippedItems = 0;
  const ask = async ({ userId, history }: Case): Promise<string[]> => {
    const question = {
      history: { itemIds: history },
      widths: [beam],
      resultCount: results,
      // All items of the best SID before those of the next, as the trainer ranks them.
      itemsPerSid: results,
    };
    try {
      const answer = await client.recall(question, DEADLINE_MS);
      skippedItems += answer.skippedItems;
      return answer.items.map((item) => item.itemId);
    } catch (error) {
      failures.push(`user '${userId}': ${(error as Error).message}`);
      return [];
    }
  };
  const work = async () => {
    for (let at = next++; at < cases.length; at = next++) {
      lists[at] = await ask(cases[at] as Case);
      done += 1;
      const perSecond = (1000 * done) / (performance.now() - started);
      const left = Math.ceil((cases.length - done) / perSecond);
      progress.update('users', done, cases.length, `${perSecond.toFixed(0)}/s, ${left} s left`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  progress.end();
  client.close();
  const seconds = (performance.now() - started) / 1000;
  const ranks = cases.map(({ target }, user) => rankOf(target, lists[user] ?? []));
  return { lists, ranks, failures, skippedItems, seconds };
}

function report(evaluation: Evaluation, { skipped, repeatedLines }: Cases) {
  const { answers, unknownTargets, model, catalogue } = evaluation;
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
  };
}

function describe(result: ReturnType<typeof report>): string {
  const lines = DEPTHS.flatMap((k) => [
    `Recall@${k}  ${(result.recall[k] ?? 0).toFixed(4)}`,
    `NDCG@${k}    ${(result.ndcg[k] ?? 0).toFixed(4)}`,
  ]);
  const { users, skippedUsers, failedUsers, seconds, requestsPerSecond } = result;
  const { repeatedLines, unknownTargets, skippedHistoryItems } = result;
  return [
    ...lines,
    `users ${users} (${skippedUsers} without target or history left out, ${failedUsers} failed)`,
    `not in the catalogue: ${unknownTargets} targets (misses), ${skippedHistoryItems} items of ` +
      `histories (left out); ${repeatedLines} lines of users with a longer one left out`,
    `seconds ${seconds.toFixed(1)}, requests/s ${requestsPerSecond.toFixed(1)}`,
  ].join('\n');
}

/** Starts the stack, asks every case, and stops it. */
async function evaluateWith(
  options: RecallRuntimeOptions,
  cases: readonly Case[],
  load: Load,
): Promise<Evaluation> {
  const { engine } = options;
  const stack = await startStack(
    {
      ...options,
      behaviours: usersOfFile(''),
      engine: {
        ...engine,
        widthMax: Math.max(engine.widthMax, load.beam),
        queueCapacity: Math.max(engine.queueCapacity, load.concurrency),
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
    return { answers, unknownTargets, model: stack.model, catalogue: stack.catalogue };
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
function comparedTypes(text: string): ComputeType[] {
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

await runCommand(USAGE, async (words) => {
  const flags = Flags.parse(words, {
    ...MODEL_FLAGS,
    sequences: 'text',
    targets: 'text',
    users: 'text',
    beam: 'text',
    'max-items': 'text',
    concurrency: 'text',
    compare: 'text',
    json: 'text',
  });
  const compared = flags.text('compare');
  const types = compared === undefined ? undefined : comparedTypes(compared);
  const load = {
    beam: flags.integer('beam', 1, BEAM_MAX) ?? DEFAULT_BEAM,
    concurrency: flags.integer('concurrency', 1, CONCURRENCY_MAX) ?? DEFAULT_CONCURRENCY,
    results: types === undefined ? Math.max(...DEPTHS) : OVERLAP_DEPTH,
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
  if (types !== undefined) {
    const results = await compare(options, cases, load, types);
    await print(describeComparison(results));
    return write(results);
  }
  const result = report(await evaluateWith(options, cases.cases, load), cases);
  await print(describe(result));
  await write(result);
});
