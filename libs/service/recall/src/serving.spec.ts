import type { AdapterLease, Adapters, SeenRecall, ServedAdapter } from '@tessera/adapter';
import { Erasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import type { UseCases } from '@tessera/recall';
import { FakeKvPool } from '@tessera/testing';
import { describe, expect, it } from 'vitest';
import type { RecallContext, RecallRequest } from './domain/request/request-types.js';
import { Serving } from './serving.js';

const version = (name: string, targetCount = 7): ServedAdapter => ({
  name,
  digest: `${name} digest`,
  engine: {
    digest: name,
    bytes: 1,
    rankMax: 1,
    targetCount,
    replacedRows: 0,
    largestNorm: 1,
    heads: ['click'],
    isActivated: false,
  },
});

/** Versions by name, and the calls that they get. */
function world(versions: Readonly<Record<string, ServedAdapter | undefined>>) {
  let held = 0;
  const seen: { how: string; name: string; seen: SeenRecall }[] = [];
  const asked: { adapter?: string | undefined; ranker?: string | undefined }[] = [];
  const choose = (wanted: string): AdapterLease => {
    const name = wanted || 'main';
    if (!(name in versions)) {
      const message = `adapter: there is none of the name '${name}'`;
      throw new TesseraError('ADAPTER_NOT_FOUND', message, { field: 'adapter' });
    }
    held += 1;
    const release = () => {
      held -= 1;
    };
    return { adapter: versions[name], arm: 'canary', name, release };
  };
  const observe = (how: string) => (lease: AdapterLease, recall: SeenRecall) => {
    seen.push({ how, name: lease.name, seen: recall });
  };
  const recall = async (_: RecallRequest, { adapter, ranker }: RecallContext) => {
    asked.push({ adapter: adapter?.name, ranker: ranker?.name });
    // Of an object the member '7' comes first.
    const ranking = { heads: { click: 0.25, 7: 0.5 } };
    const items = [{ itemId: 'a', score: -1, ...(ranker && { ranking }) }];
    return { items, short: false, ...(ranker && { ranking: { heads: ['click', '7'] } }) };
  };
  const adapters = { choose, observe: observe('own'), observeRanking: observe('ranking') };
  const serving = new Serving({
    catalogues: { of: () => ({ useCases: { recall } as unknown as UseCases }) } as never,
    adapters: adapters as unknown as Adapters,
    erasures: new Erasures(),
    kvPool: new FakeKvPool(),
  });
  return { serving, seen, asked, held: () => held };
}

const CONTEXT = { signal: new AbortController().signal, budgetUs: 1e6 };
const request = (change: Partial<RecallRequest>): RecallRequest => ({
  requestId: '',
  userId: 'ann',
  profile: {},
  scene: {},
  resultCount: 0,
  widths: [],
  itemsPerSid: 0,
  skipUnknownItems: true,
  ...change,
});

describe('the versions of a request', () => {
  it('are its own and the one that ranks, held to the answer, each watched', async () => {
    const { serving, seen, asked, held } = world({
      main: version('main'),
      ranking: version('ranking', 0),
    });
    await serving.recall(request({ rank: { adapter: '' } }), CONTEXT);
    expect(asked).toEqual([{ adapter: 'main', ranker: 'ranking' }]);
    expect(seen.map(({ how, name }) => `${how} ${name}`)).toEqual(['own main', 'ranking ranking']);
    const scores = seen.map(
      (one) => 'items' in one.seen.outcome && one.seen.outcome.items[0]?.score,
    );
    expect(scores).toEqual([-1, 0.25]);
    await seen[0]?.seen.again(version('before'));
    await seen[1]?.seen.again(version('earlier', 0));
    expect(asked.slice(1)).toEqual([
      { adapter: 'before', ranker: 'ranking' },
      { adapter: 'main', ranker: 'earlier' },
    ]);
    expect(held()).toBe(0);
  });

  it('are one where the own one ranks, also of the answer that is compared', async () => {
    const { serving, seen, asked } = world({ main: version('main') });
    await serving.recall(request({ rank: { adapter: 'main' } }), CONTEXT);
    expect(seen.map(({ name }) => name)).toEqual(['main']);
    await seen[0]?.seen.again(version('before'));
    expect(asked).toEqual([
      { adapter: 'main', ranker: 'main' },
      { adapter: 'before', ranker: 'before' },
    ]);
  });

  it('give nothing where the one that ranks is absent, and say which', async () => {
    const { serving, asked, held } = world({ main: version('main') });
    const refused = serving.recall(request({ rank: { adapter: '' } }), CONTEXT);
    await expect(refused).rejects.toMatchObject({
      code: 'ADAPTER_NOT_FOUND',
      field: 'rank.adapter',
      message: "rank.adapter: there is none of the name 'ranking'",
    });
    expect(asked).toEqual([]);
    expect(held()).toBe(0);
  });
});
