import { join } from 'node:path';
import { type Behaviour, MemoryBehaviourStore } from '@tessera/behaviour';
import { ServiceClient } from '@tessera/client';
import { DEADLINE_MS } from '../../../tools/evaluate/ask-all.js';
import { type Exposure, readExposures } from '../../../tools/evaluate/exposures.js';
import { RankingVersions } from '../../../tools/served/ranking-version.js';
import { startStack } from '../../../tools/served/served-stack.js';
import { Flags } from '../../../tools/terminal/command.js';
import { MODEL_FLAGS, runtimeOptions } from '../../../tools/terminal/model-flags.js';
import { Random } from '../../models/random.js';
import type { Measurement } from '../../result.js';
import { ratioInterval } from '../search/resampling.js';
import type { SuiteContext } from '../suite.js';

const PLACES = 5;
const SHOWN_MIN = 2 * PLACES;
const USERS = { quick: 100, full: Number.POSITIVE_INFINITY };
const SEED = 56;

/**
 * Held-out users of `--models DIR` (`model`, `version`, `exposures.tsv` of a later time,
 * `histories.jsonl`) meet all that they were shown; bids of items are log-normal. The row is
 * the sum of bids of liked items by `log(head) + log(bid)`, over that by `score + log(bid)`.
 */
export async function shopStage({ quick, flags, say }: SuiteContext): Promise<Measurement[]> {
  const folder = flags.text('models');
  if (folder === undefined) {
    return [{ name: 'absent: a shop (--models DIR)', value: 1, unit: 'shop', bar: null }];
  }
  const shoppers = await readShoppers(folder, USERS[quick ? 'quick' : 'full']);
  const store = new MemoryBehaviourStore(
    new Map(shoppers.map(({ user, before }) => [user, { behaviours: before, profile: {} }])),
  );
  const words = Flags.parse(['--model', join(folder, 'model'), '--dtype', 'f32'], MODEL_FLAGS);
  const options = { ...runtimeOptions(words, () => undefined), behaviours: store };
  const versions = await RankingVersions.of(join(folder, 'version'));
  const [runtime, { rank, own }] = await versions.open(options);
  const stack = await startStack(options, DEADLINE_MS, undefined, runtime);
  try {
    const heads = new ServiceClient('tessera.ranking.v1.RankingService', stack.grpcAddress);
    const scores = new ServiceClient('tessera.score.v1.ScoreService', stack.grpcAddress);
    const [byHead, byScore]: [number[], number[]] = [[], []];
    say(`${shoppers.length} users, the best ${PLACES} of what each was shown`);
    for (const { user, exposures } of shoppers) {
      const itemIds = exposures.map(({ item }) => item);
      const how = { deadline: Date.now() + DEADLINE_MS };
      const ranked = await heads.call('Rank', { userId: user, itemIds, rank, ...own }, how);
      const items = itemIds.map((itemId) => ({ itemId }));
      const scored = await scores.call('Score', { userId: user, items, ...own }, how);
      const head = ranked.ranking?.heads[0] ?? '';
      const said = new Map(ranked.items.map((one) => [one.itemId, one.ranking?.heads[head] ?? 0]));
      const score = new Map(scored.items.map((one) => [one.itemId, one.score ?? -1e9]));
      byHead.push(earned(exposures, head, ({ item }) => Math.log(said.get(item) ?? 0)));
      byScore.push(earned(exposures, head, ({ item }) => score.get(item) ?? -1e9));
    }
    heads.close();
    scores.close();
    return rowsOf(byHead, byScore);
  } finally {
    await stack.close();
    await versions.remove();
  }
}

interface Shopper {
  readonly user: string;
  readonly before: readonly Behaviour[];
  readonly exposures: readonly Exposure[];
}

/** Each user as they were when they were first shown something of the later time. */
async function readShoppers(folder: string, most: number): Promise<readonly Shopper[]> {
  const historiesPath = join(folder, 'histories.jsonl');
  const { all, impressions, store } = await readExposures(
    join(folder, 'exposures.tsv'),
    historiesPath,
  );
  const shoppers: Shopper[] = [];
  for (const [user, exposures] of Map.groupBy(all, (exposure) => exposure.user)) {
    const first = impressions.find((one) => one.exposures[0]?.user === user);
    if (first === undefined || exposures.length < SHOWN_MIN || shoppers.length >= most) continue;
    const before = (await store.history(first.userId, Number.MAX_SAFE_INTEGER)) ?? [];
    shoppers.push({ user, before, exposures });
  }
  return shoppers;
}

const bidOf = (item: string) => new Random(SEED + Number(item)).normal();

/** Bids of liked items among the best by `worth + log(bid)`. */
function earned(
  exposures: readonly Exposure[],
  head: string,
  worth: (exposure: Exposure) => number,
): number {
  return exposures
    .map((exposure) => ({ exposure, logBid: bidOf(exposure.item) }))
    .map(({ exposure, logBid }) => ({ exposure, logBid, key: worth(exposure) + logBid }))
    .sort((a, b) => b.key - a.key)
    .slice(0, PLACES)
    .map(({ exposure, logBid }) => Math.exp(logBid) * (exposure.labels.get(head) ?? 0))
    .reduce((sum, bid) => sum + bid, 0);
}

function rowsOf(byHead: readonly number[], byScore: readonly number[]): Measurement[] {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const { low, high } = ratioInterval(byHead, byScore, SEED);
  const name = `value of ${PLACES} places, ${byHead.length} users: log(head) + log(bid)`;
  const row = (what: string, value: number, bar: number | null): Measurement => {
    const ratio = { value, to: 'score + log(bid)' };
    return {
      name: `${name}${what}`,
      value: sum(byHead),
      unit: 'bids',
      ratio,
      bar,
      bound: 'at-least',
    };
  };
  return [
    row('', sum(byHead) / sum(byScore), 1),
    row(', low end of 95 %', low, 1),
    row(', high end of 95 %', high, null),
  ];
}
