import { writeFile } from 'node:fs/promises';
import { type Case, readCases } from './evaluate/cases.js';
import { DEPTHS, quality, type Rank, rankOf } from './evaluate/ranking.js';
import { RecallClient } from './served/recall-client.js';
import { startStack } from './served/served-stack.js';
import { Flags, print, runCommand } from './terminal/command.js';
import { MODEL_FLAGS, runtimeOptions } from './terminal/model-flags.js';
import { ProgressLine } from './terminal/progress.js';

const USAGE = `usage: npm run evaluate -- --sequences FILE [flags]

Asks the served engine over gRPC for every user, prints Recall and NDCG at ${DEPTHS.join(', ')}.
  --sequences FILE     {"user": [item IDs, oldest first]}, .gz too
  --targets FILE.json  {"user": item}; without it the last item of each sequence is held out
  --model DIR, --catalogue FILE[#domain=NAME], --titles FILE    as for npm run recall
  --beam N             beam width (default 50)
  --max-items N        newest items of a history that are sent
  --users N            users asked at most
  --concurrency N      requests in flight (default 16)
  --dtype f32|bf16, --threads N
  --json FILE          the result as JSON`;

const BEAM_MAX = 4096;
const COUNT_MAX = 1_000_000_000;
const CONCURRENCY_MAX = 256;
const DEFAULT_BEAM = 50;
const DEFAULT_CONCURRENCY = 16;
const DEADLINE_MS = 600_000;
const RESULTS = Math.max(...DEPTHS);
const FAILURES_SHOWN = 5;

interface Answers {
  readonly ranks: readonly Rank[];
  readonly failures: readonly string[];
  readonly seconds: number;
}

interface Load {
  readonly beam: number;
  readonly concurrency: number;
}

/** Asks every case, `concurrency` at a time. A refused case is a miss and is told. */
async function askAll(
  address: string,
  cases: readonly Case[],
  { beam, concurrency }: Load,
): Promise<Answers> {
  const client = new RecallClient(address);
  const progress = new ProgressLine();
  const ranks: Rank[] = new Array(cases.length).fill(null);
  const failures: string[] = [];
  const started = performance.now();
  let next = 0;
  let done = 0;
  const ask = async ({ userId, history, target }: Case): Promise<Rank> => {
    const question = {
      history: { itemIds: history },
      widths: [beam],
      resultCount: RESULTS,
      skipUnknownItems: true,
    };
    try {
      const { items } = await client.recall(question, DEADLINE_MS);
      return rankOf(
        target,
        items.map((item) => item.itemId),
      );
    } catch (error) {
      failures.push(`user '${userId}': ${(error as Error).message}`);
      return null;
    }
  };
  const work = async () => {
    for (let at = next++; at < cases.length; at = next++) {
      ranks[at] = await ask(cases[at] as Case);
      done += 1;
      const perSecond = (1000 * done) / (performance.now() - started);
      const left = Math.ceil((cases.length - done) / perSecond);
      progress.update('users', done, cases.length, `${perSecond.toFixed(0)}/s, ${left} s left`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  progress.end();
  client.close();
  return { ranks, failures, seconds: (performance.now() - started) / 1000 };
}

function report(answers: Answers, skipped: number, model: string, catalogue: string) {
  const { recall, ndcg } = quality(answers.ranks);
  const users = answers.ranks.length;
  return {
    model,
    catalogue,
    users,
    skippedUsers: skipped,
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
  return [
    ...lines,
    `users ${users} (${skippedUsers} without target or history left out, ${failedUsers} failed)`,
    `seconds ${seconds.toFixed(1)}, requests/s ${requestsPerSecond.toFixed(1)}`,
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
    json: 'text',
  });
  const beam = flags.integer('beam', 1, BEAM_MAX) ?? DEFAULT_BEAM;
  const concurrency = flags.integer('concurrency', 1, CONCURRENCY_MAX) ?? DEFAULT_CONCURRENCY;
  const progress = new ProgressLine();
  const options = runtimeOptions(flags, progress.update);
  const { engine, recall } = options;
  const { cases, skipped } = await readCases({
    sequencesPath: flags.required('sequences'),
    targetsPath: flags.text('targets'),
    itemsMax: flags.integer('max-items', 1, recall.historyItemsMax) ?? recall.historyItemsMax,
    usersMax: flags.integer('users', 1, COUNT_MAX),
  });
  const stack = await startStack(
    {
      ...options,
      usersPath: '',
      engine: {
        ...engine,
        widthMax: Math.max(engine.widthMax, beam),
        queueCapacity: Math.max(engine.queueCapacity, concurrency),
      },
    },
    DEADLINE_MS,
  );
  progress.end();
  try {
    const answers = await askAll(stack.grpcAddress, cases, { beam, concurrency });
    const result = report(answers, skipped, stack.model, stack.catalogue);
    for (const line of answers.failures.slice(0, FAILURES_SHOWN)) process.stderr.write(`${line}\n`);
    await print(describe(result));
    const path = flags.text('json');
    if (path !== undefined) await writeFile(path, `${JSON.stringify(result, null, 2)}\n`);
  } finally {
    await stack.close();
  }
});
