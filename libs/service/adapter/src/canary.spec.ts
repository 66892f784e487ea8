/** Rules of a comparison, and what a roll-out does before its switch. */

import { TesseraError } from '@tessera/errors';
import { FakeAdapterEngine, fakePush, partsOf, temporaryFolder } from '@tessera/testing';
import { afterEach, describe, expect, it } from 'vitest';
import type { AdapterEvent } from './adapter-settings.js';
import { Adapters } from './adapters.js';
import type { AdapterProbe, ProbeAnswer } from './domain/adapter-probe.js';
import { CanaryComparison, type ComparisonRules, overlapOf } from './domain/canary-comparison.js';
import { placeOf } from './domain/canary-share.js';
import { HotUsers } from './domain/hot-users.js';

const RULES: ComparisonRules = {
  samplesMin: 10,
  overlapMinPercent: 30,
  failureMaxPercent: 5,
  emptyMaxPercent: 5,
  shortMaxPercent: 20,
  latencyMaxPercent: 200,
  clickDropMax: 500,
};

type Fill = (comparison: CanaryComparison, i: number) => void;
const answer = { items: 10, isShort: false, ms: 20, isOfUser: true };
const good: Fill = ({ canary, active }) => {
  canary.answered(answer);
  active.answered(answer);
};

const TEN = [...'abcdefghij'];
/** Ten items, so many of them of `TEN`. */
const sharing = (count: number) => [...TEN.slice(0, count), ...'klmnopqrst'].slice(0, 10);

/** Samples that break a rule at the tenth, and samples that are just good enough. */
const cases: [string, Fill, Fill][] = [
  ['failures', (c, i) => (i === 9 ? c.canary.failed() : good(c, i)), good],
  [
    'emptyAnswers',
    (c, i) => c.canary.answered({ ...answer, items: i === 9 ? 0 : 10 }),
    (c) => {
      c.canary.answered({ ...answer, items: 0 });
      c.active.answered({ ...answer, items: 0 });
    },
  ],
  [
    'shortAnswers',
    (c, i) => c.canary.answered({ ...answer, isShort: i >= 7 }),
    (c, i) => c.canary.answered({ ...answer, isShort: i >= 8 }),
  ],
  ['overlap', (c, i) => c.shadow(TEN, sharing(i === 9 ? 2 : 3)), (c) => c.shadow(TEN, sharing(4))],
  [
    'latency',
    (c) => {
      c.active.answered(answer);
      c.canary.answered({ ...answer, ms: 41 });
    },
    (c) => {
      c.active.answered(answer);
      c.canary.answered({ ...answer, ms: 40 });
    },
  ],
  [
    'clicks',
    (c) => {
      c.active.clicked(-1, true);
      c.canary.clicked(-1.51, true);
    },
    (c) => {
      c.active.clicked(-1, true);
      c.canary.clicked(-1.49, true);
    },
  ],
  [
    'clickRate',
    (c, i) => {
      good(c, i);
      c.active.clicked(-1, true);
    },
    (c, i) => {
      good(c, i);
      if (i < 6) c.active.clicked(-1, true);
    },
  ],
];

describe('the comparison of a canary', () => {
  it.each(cases)('breaks on %s, not before there are samples enough', (rule, bad, fair) => {
    const [broken, kept] = [new CanaryComparison(), new CanaryComparison()];
    for (let i = 0; i < RULES.samplesMin; i += 1) {
      expect(broken.fault(RULES), `sample ${i}`).toBeUndefined();
      bad(broken, i);
      fair(kept, i);
    }
    expect(broken.fault(RULES)?.rule).toBe(rule);
    expect(broken.fault(RULES)?.message).toMatch(/expected .*, got /);
    expect(kept.fault(RULES)).toBeUndefined();
  });

  it('counts the items that the canary gains and loses in shadowed recalls', () => {
    const comparison = new CanaryComparison();
    comparison.shadow(['a', 'b', 'c'], ['b', 'd']);
    comparison.shadow(['a', 'c', 'e'], ['c', 'e']);
    expect(comparison.moved.moves).toEqual({
      gained: [
        { itemId: 'a', recalls: 2 },
        { itemId: 'c', recalls: 1 },
      ],
      lost: [{ itemId: 'd', recalls: 1 }],
    });
  });

  it('takes as overlap what both have, of the longer answer', () => {
    expect(overlapOf(['a', 'b'], ['b', 'c', 'd', 'e'])).toBe(0.25);
    expect(overlapOf([], [])).toBe(1);
    expect(overlapOf([], ['a'])).toBe(0);
  });
});

it('the hottest users are those with most visits, of those seen last', () => {
  const hot = new HotUsers(3);
  for (const user of ['a', 'a', 'b', 'c', 'b', 'd']) hot.seen(user);
  expect(hot.hottest(10)).toEqual(['b', 'd', 'c']);
  expect(hot.hottest(1, (user) => user !== 'b')).toEqual(['d']);
});

const folders: { remove: () => void }[] = [];
const opened: Adapters[] = [];
afterEach(async () => {
  for (const adapters of opened.splice(0)) await adapters.close();
  for (const folder of folders.splice(0)) folder.remove();
});

/** Answers by the weights of the version: the base model and `alike` have all items in common. */
function world(change: Partial<AdapterProbe> = {}) {
  const folder = temporaryFolder({});
  folders.push(folder);
  const events: AdapterEvent[] = [];
  const warmed: string[] = [];
  const engine = new FakeAdapterEngine();
  const names = new Map<string, string>();
  const itemsOf = (digest: string | undefined): ProbeAnswer => {
    const weights = digest === undefined ? 'base' : (names.get(digest) ?? '');
    const itemIds = weights === 'empty' ? [] : weights === 'strange' ? ['x'] : ['a', 'b'];
    return { itemIds, isShort: false };
  };
  const probe: AdapterProbe = {
    recall: async (_user, adapter) => {
      // Of a version that is being pushed, the files alone are there.
      if (adapter !== undefined && !names.has(adapter.digest)) names.set(adapter.digest, pushing);
      return itemsOf(adapter?.digest);
    },
    warm: async (userId) => {
      warmed.push(userId);
    },
    sampleUserIds: async () => ['ann'],
    ...change,
  };
  let pushing = '';
  const open = Adapters.open(engine, probe, {
    registry: {
      folder: folder.path,
      defaultName: 'main',
      limits: { rankMax: 8, normMax: 10, versionBytesMax: 1e6, diskBytesMax: 1e6 },
    },
    rollout: {
      golden: { path: '', userCount: 1 },
      watch: { rules: RULES },
      warmUsers: 3,
      warmMs: 60_000,
    },
    onEvent: (event) => events.push(event),
  });
  const push = async (adapters: Adapters, weights: string) => {
    pushing = weights;
    const { version } = await adapters.push(partsOf(fakePush('main', weights)));
    return version.digest;
  };
  return { open, push, events, warmed, itemsOf };
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'OK',
    (thrown: unknown) => TesseraError.from(thrown).code,
  );
}

const ALL = { share: 1, isCompared: true, isWarmed: true };

/** A recall of the user that has ended, as the runtime tells it. */
function recalled(
  adapters: Adapters,
  userId: string,
  itemsOf: (digest: string | undefined) => ProbeAnswer,
): string | undefined {
  const lease = adapters.choose('', userId);
  const digest = lease.adapter?.digest;
  const items = itemsOf(digest).itemIds.map((itemId) => ({ itemId, score: -1 }));
  adapters.observe(lease, {
    userId,
    ms: 1,
    outcome: { items, isShort: false },
    again: async (other) => itemsOf(other?.digest),
  });
  lease.release();
  return digest;
}

describe('a roll-out', () => {
  it('rejects a version that finds nothing for the golden set', async () => {
    const { open, push } = world();
    const adapters = await open;
    opened.push(adapters);
    expect(await codeOf(push(adapters, 'empty'))).toBe('ADAPTER_INVALID');
    expect(adapters.list('')[0]).toMatchObject({ state: 'rejected' });
    expect(adapters.list('')[0]?.reason).toContain('golden set');
  });

  it('passes over users of the golden set whose ads have ended, or who are unknown', async () => {
    const asked: string[] = [];
    const gone = {
      ann: new TesseraError('REQUEST_INVALID', 'userId: none of them', { field: 'userId' }),
      bob: new TesseraError('USER_NOT_FOUND', 'nobody', { field: 'userId' }),
    };
    const { open } = world({
      sampleUserIds: async (count) => ['ann', 'bob', 'eve', 'joe'].slice(0, count),
      recall: async ({ userId = '' }) => {
        asked.push(userId);
        const refusal = gone[userId as keyof typeof gone];
        if (refusal !== undefined) throw refusal;
        return { itemIds: ['a'], isShort: false };
      },
    });
    const adapters = await open;
    opened.push(adapters);
    await adapters.push(partsOf(fakePush('main', 'good')));
    expect(asked).toEqual(['ann', 'bob', 'eve']);
  });

  it('names the golden set in what keeps it from answering', async () => {
    const fault = new TesseraError('MODEL_NOT_FINITE', 'a row is not finite');
    const { open } = world({ recall: () => Promise.reject(fault) });
    const adapters = await open;
    opened.push(adapters);
    const push = adapters.push(partsOf(fakePush('main', 'bad')));
    await expect(push).rejects.toMatchObject({ code: 'MODEL_NOT_FINITE', field: 'goldenSet' });
  });

  it('refuses to activate what answers the golden set otherwise, unless it is forced', async () => {
    const { open, push } = world();
    const adapters = await open;
    opened.push(adapters);
    const strange = await push(adapters, 'strange');
    expect(await codeOf(adapters.activate('main', strange, ALL))).toBe('ADAPTER_STATE');
    expect(adapters.choose('', 'ann').adapter).toBeUndefined();
    const forced = { ...ALL, isCompared: false };
    expect(await codeOf(adapters.activate('main', strange, forced))).toBe('OK');
  });

  it('warms up those whom it is going to serve, who come most often first', async () => {
    const { open, push, warmed, itemsOf } = world();
    const adapters = await open;
    opened.push(adapters);
    const share = 0.5;
    const users = Array.from({ length: 40 }, (_, i) => `user-${i}`);
    const served = users.filter((user) => placeOf('main', user) < share);
    for (const user of users) recalled(adapters, user, itemsOf);
    const regular = served[5] as string;
    recalled(adapters, regular, itemsOf);
    const digest = await push(adapters, 'alike');
    await adapters.activate('main', digest, { ...ALL, share });
    expect(warmed).toEqual(
      [regular, ...served.toReversed().filter((u) => u !== regular)].slice(0, 3),
    );
  });

  it('counts the answers to known users of which an item was clicked, by version', async () => {
    const { open, push, itemsOf } = world();
    const adapters = await open;
    opened.push(adapters);
    await adapters.activate('main', await push(adapters, 'alike'), ALL);
    const canary = await push(adapters, 'alike too');
    await adapters.activate('main', canary, { ...ALL, share: 0.5, isWarmed: false });
    const users = Array.from({ length: 40 }, (_, i) => `user-${i}`);
    const ofCanary = users.filter((user) => recalled(adapters, user, itemsOf) === canary);
    const [item] = itemsOf(canary).itemIds as [string];
    const clicking = ofCanary.slice(0, 5);
    for (const user of clicking) {
      // The second click on the same answer is no second answer that was clicked.
      for (let clicks = 0; clicks < 2; clicks += 1) adapters.clicked(user, item);
      adapters.clicked(user, 'nothing that was shown');
    }
    const summary = adapters.watchOf(adapters.find('main', canary))?.summary;
    expect(summary?.canary).toMatchObject({
      clicks: 10,
      clickRate: { userAnswers: ofCanary.length, clickedAnswers: 5 },
    });
    expect(summary?.active.clickRate).toMatchObject({
      userAnswers: users.length - ofCanary.length,
      clickedAnswers: 0,
    });
    expect(summary?.clickVerdict).toMatch(/clicked more/);
  });

  it('gives way to a rollback that comes while it warms up', async () => {
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const { open, push, itemsOf } = world({
      warm: (_user, _adapter, signal) => {
        begin();
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('given up')));
        });
      },
    });
    const adapters = await open;
    opened.push(adapters);
    const first = await push(adapters, 'alike');
    await adapters.activate('main', first, { ...ALL, isWarmed: false });
    recalled(adapters, 'ann', itemsOf);
    const second = await push(adapters, 'alike too');
    const activation = codeOf(adapters.activate('main', second, ALL));
    await begun;
    await adapters.rollBack('main', 'asked for');
    expect(await activation).toBe('ADAPTER_STATE');
    expect(adapters.choose('', 'ann').adapter).toBeUndefined();
  });

  it('ends a canary that breaks a rule, and says which', async () => {
    const { open, push, events, itemsOf } = world();
    const adapters = await open;
    opened.push(adapters);
    const first = await push(adapters, 'alike');
    await adapters.activate('main', first, ALL);
    const strange = await push(adapters, 'strange');
    await adapters.activate('main', strange, { ...ALL, isCompared: false, share: 0.5 });
    for (let user = 0; user < 100; user += 1) {
      recalled(adapters, `user-${user}`, itemsOf);
      await new Promise(setImmediate);
    }
    await expect.poll(() => events.length, { timeout: 60_000 }).toBe(1);
    expect(events).toMatchObject([
      { action: 'rollback', name: 'main', digest: strange, error: undefined },
    ]);
    expect(events[0]?.detail).toContain('overlap: expected at least 30 %');
    expect(adapters.find('main', strange)).toMatchObject({ state: 'retired' });
    expect(recalled(adapters, 'user-1', itemsOf)).toBe(first);
    // How it fared is still known, rule by rule.
    const report = adapters.watchOf(adapters.find('main', strange));
    const crossed = report?.verdicts.filter(({ isBroken }) => isBroken) ?? [];
    expect(
      crossed.map(({ rule, bound, limit, observed }) => [rule, bound, limit, observed]),
    ).toEqual([['overlap', 'least', 30, 0]]);
    expect(crossed[0]?.message).toBe(events[0]?.detail);
    expect(adapters.watchOf(adapters.find('main', first))).toBeUndefined();
  });
});
