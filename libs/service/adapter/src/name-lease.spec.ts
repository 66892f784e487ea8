import { TesseraError } from '@tessera/errors';
import { FakeAdapterEngine, fakePush, partsOf, temporaryFolder } from '@tessera/testing';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { CANARY_RULES } from './adapter-choices.js';
import { Adapters } from './adapters.js';
import type { AdapterAct } from './domain/adapter-act.js';
import { digestOf } from './domain/adapter-version.js';
import { checkHolder, leaseEndMs, takeLease, wantedLease } from './domain/name-lease.js';
import { EMPTY_STATE, type RegistryState } from './domain/registry-state.js';

const MINUTE_MS = 60_000;
const ALL = { share: 1, isCompared: false, isWarmed: false };
const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const one of undo.splice(0).reverse()) await one();
});

interface Clock {
  nowMs: number;
}

/** A node with versions of its own; `path` of one that was there before. */
async function node(clock: Clock, path?: string) {
  const folder = path === undefined ? temporaryFolder({}) : { path, remove: () => undefined };
  undo.push(() => folder.remove());
  const limits = { rankMax: 64, normMax: 100, versionBytesMax: 4000, diskBytesMax: 60_000 };
  const probe = {
    recall: async () => ({ itemIds: ['a'], isShort: false }),
    warm: async () => undefined,
    sampleUserIds: async () => ['ann'],
  };
  const adapters = await Adapters.open(new FakeAdapterEngine(), probe, {
    registry: { folder: folder.path, defaultName: 'main', limits, nowMs: () => clock.nowMs },
    rollout: {
      golden: { path: '', userCount: 1 },
      watch: { rules: CANARY_RULES },
      warmUsers: 0,
      warmMs: 0,
    },
    onEvent: () => undefined,
  });
  undo.push(() => adapters.close());
  return { adapters, path: folder.path };
}

const pushOf = (weights: string, lease: object = {}) => {
  const push = fakePush('main', weights);
  return { header: Object.assign(push.header, lease), contents: push.contents };
};
const of = (holder: string, leaseSeconds = 60) => ({ holder, leaseSeconds });
const push = async (adapters: Adapters, weights: string, lease: object = {}) =>
  (await adapters.push(partsOf(pushOf(weights, lease)))).version.digest;

async function refusal(promise: Promise<unknown>): Promise<TesseraError> {
  return promise.then(() => new TesseraError('INTERNAL', 'it was taken'), TesseraError.from);
}
const isConflict = { code: 'PUSH_CONFLICT', field: 'holder' };

describe('a lease of a name', () => {
  it('keeps other holders from it until it ends, and no person', async () => {
    const clock = { nowMs: MINUTE_MS };
    const { adapters } = await node(clock);
    const first = await push(adapters, 'first', of('ann', 60));
    expect(adapters.find('main', first)).toMatchObject({
      holder: 'ann',
      leaseUntilMs: 2 * MINUTE_MS,
    });
    clock.nowMs += 1500;
    const refused = await refusal(push(adapters, 'second', of('bob')));
    expect(refused).toMatchObject(isConflict);
    expect(refused.message).toContain("expected 'ann', which has the lease of 'main' for 59 s");
    const bobs = { ...ALL, holder: 'bob' };
    expect(await refusal(adapters.activate('main', first, bobs))).toMatchObject(isConflict);
    await adapters.activate('main', first, { ...ALL, holder: 'ann' });
    const back = adapters.rollBack('main', 'x', { holder: 'bob' });
    expect(await refusal(back)).toMatchObject(isConflict);
    await adapters.activate('main', await push(adapters, 'of a person'), ALL);
    await adapters.rollBack('main', 'a person');
    clock.nowMs = 2 * MINUTE_MS;
    await push(adapters, 'second', of('bob'));
    expect(adapters.find('main', first).leaseUntilMs).toBe(0);
    // The late holder, whose lease another has taken.
    expect(
      await refusal(adapters.activate('main', first, { ...ALL, holder: 'ann' })),
    ).toMatchObject(isConflict);
    expect(await refusal(push(adapters, 'first', of('ann')))).toMatchObject(isConflict);
  });

  it('is asked about by names alone, also where there is none', async () => {
    const { adapters } = await node({ nowMs: MINUTE_MS });
    const first = await push(adapters, 'first');
    const field = { code: 'ADAPTER_INVALID', field: 'holder' };
    const activated = adapters.activate('main', first, { ...ALL, holder: 'B B' });
    expect(await refusal(activated)).toMatchObject(field);
    await adapters.activate('main', first, ALL);
    expect(await refusal(adapters.rollBack('main', 'x', { holder: 'B B' }))).toMatchObject(field);
    await adapters.rollBack('main', 'a person', { digest: first });
    const again = await refusal(adapters.rollBack('main', 'x', { digest: first }));
    expect(again.message).toBe(
      'digest: expected the active version, got one that does not serve so',
    );
  });

  it('is renewed by the same push again, and is there after a restart', async () => {
    const clock = { nowMs: MINUTE_MS };
    const { adapters, path } = await node(clock);
    await push(adapters, 'first', of('ann'));
    clock.nowMs += MINUTE_MS - 1;
    expect((await adapters.push(partsOf(pushOf('first', of('ann'))))).isKnown).toBe(true);
    await adapters.close();
    clock.nowMs += MINUTE_MS - 1;
    const { adapters: again } = await node(clock, path);
    expect(await refusal(push(again, 'second', of('bob')))).toMatchObject(isConflict);
    clock.nowMs += 1;
    await push(again, 'second', of('bob'));
  });

  it('is left alone by a push that is refused', async () => {
    const { adapters } = await node({ nowMs: MINUTE_MS });
    const broken = pushOf('x', of('ann'));
    const contents = [Buffer.from('{}'), Buffer.from('y')];
    const spoilt = { header: broken.header, contents };
    expect(await refusal(adapters.push(partsOf(spoilt)))).toMatchObject({
      code: 'ADAPTER_CORRUPT',
    });
    await push(adapters, 'second', of('bob'));
  });

  it('lets a version be meant alone by a rollback', async () => {
    const { adapters } = await node({ nowMs: MINUTE_MS });
    const [first, second] = [await push(adapters, 'first'), await push(adapters, 'second')];
    await adapters.activate('main', first, ALL);
    await adapters.activate('main', second, { ...ALL, share: 0.5 });
    const notServed = adapters.rollBack('main', 'x', { digest: first });
    expect(await refusal(notServed)).toMatchObject({ code: 'ADAPTER_STATE', field: 'digest' });
    const ended = await adapters.rollBack('main', 'x', { digest: second.slice(0, 12) });
    expect(ended).toMatchObject({ replaced: { digest: second }, serves: { digest: first } });
    expect((await adapters.rollBack('main', 'x', { digest: first })).serves).toBeUndefined();
  });
});

describe('words of a lease', () => {
  it.each([
    ['ann', 0],
    ['ann', 3601],
    ['ann', 1.5],
    ['', 60],
    ['Ann', 60],
    ['../x', 60],
    ['base', 60],
  ])('%j for %d s are refused', (holder, seconds) => {
    expect(() => wantedLease(holder, seconds)).toThrow(/^(holder|leaseSeconds): expected /);
  });

  it.each([
    ['a'.repeat(63), 1],
    ['trainer-1', 3600],
  ])('%j for %d s are taken', (holder, seconds) => {
    expect(wantedLease(holder, seconds)).toEqual({ holder, seconds });
    expect(wantedLease('', 0)).toBeUndefined();
  });

  it('of what a version has learned bound it', async () => {
    const { adapters } = await node({ nowMs: MINUTE_MS });
    const digest = await push(adapters, 'a', { learnedUntilMs: MINUTE_MS - 1 });
    expect(adapters.find('main', digest).learnedUntilMs).toBe(MINUTE_MS - 1);
    for (const learnedUntilMs of [-1, 0.5, 7 * MINUTE_MS]) {
      const refused = await refusal(push(adapters, 'b', { learnedUntilMs }));
      expect(refused).toMatchObject({ code: 'ADAPTER_INVALID', field: 'learnedUntilMs' });
    }
  });
});

describe('a clock that jumps', () => {
  const lease = { name: 'main', holder: 'ann', digest: 'd', takenMs: 10 * MINUTE_MS, seconds: 60 };
  const state = takeLease(EMPTY_STATE, lease);
  const isKeptOut = (nowMs: number) => {
    try {
      checkHolder(state, 'main', 'bob', nowMs);
      return false;
    } catch {
      return true;
    }
  };

  it('back by less than a lease leaves it, by more ends it, and forward ends it', () => {
    const at = [-2, -1, -0.5, 0, 0.5, 1, 2].map((minutes) => lease.takenMs + minutes * MINUTE_MS);
    expect(at.map(isKeptOut)).toEqual([false, false, true, true, true, false, false]);
    expect(leaseEndMs(state, lease)).toBe(11 * MINUTE_MS);
  });
});

it('never has two holders, nor more of a name than one, whoever asks when', () => {
  const step = fc.record({
    name: fc.constantFrom('main', 'other'),
    holder: fc.constantFrom('ann', 'bob', 'cid'),
    seconds: fc.integer({ min: 1, max: 100 }),
    waitedMs: fc.integer({ min: 0, max: 90_000 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let state: RegistryState = EMPTY_STATE;
      let nowMs = MINUTE_MS;
      const ends = new Map<string, { holder: string; untilMs: number }>();
      for (const { name, holder, seconds, waitedMs } of steps) {
        nowMs += waitedMs;
        const held = ends.get(name);
        const isFree = held === undefined || held.untilMs <= nowMs || held.holder === holder;
        try {
          state = takeLease(state, { name, holder, seconds, digest: 'd', takenMs: nowMs });
          expect(isFree).toBe(true);
          ends.set(name, { holder, untilMs: nowMs + seconds * 1000 });
        } catch (thrown) {
          expect(TesseraError.from(thrown)).toMatchObject(isConflict);
          expect(isFree).toBe(false);
        }
        expect(new Set(state.leases.map((lease) => lease.name)).size).toBe(state.leases.length);
      }
    }),
  );
});

it('is the same on all nodes, by the clock of the order, also behind a crash', async () => {
  const clocks = [{ nowMs: MINUTE_MS }, { nowMs: 3 * MINUTE_MS }];
  const nodes: Adapters[] = [];
  for (const clock of clocks) nodes.push((await node(clock)).adapters);
  let atMs = 10 * MINUTE_MS;
  const log: [AdapterAct, number][] = [];
  const parts = new Map<string, string>();
  const performed = (one: Adapters, act: AdapterAct, at: number) =>
    one.perform(act, ({ digest }) => partsOf(pushOf(parts.get(digest) ?? '')), at);
  for (const own of nodes) {
    own.orderBy(async (act) => {
      log.push([act, atMs]);
      const outcomes = await Promise.allSettled(nodes.map((one) => performed(one, act, atMs)));
      const words = outcomes.map((one) => (one.status === 'rejected' ? String(one.reason) : ''));
      expect(new Set(words).size).toBe(1);
      const outcome = outcomes[nodes.indexOf(own)] as PromiseSettledResult<unknown>;
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value;
    });
  }
  const [a, b] = nodes as [Adapters, Adapters];
  const pushTo = async (one: Adapters, weights: string, holder: string) => {
    const { version } = await one.push(partsOf(pushOf(weights, of(holder))));
    return version.digest;
  };
  for (const weights of ['first', 'second']) {
    parts.set(digestOf(pushOf(weights).header.files), weights);
  }
  const first = await pushTo(a, 'first', 'ann');
  await b.settled();
  // By the clock of this node the lease has ended: the order decides.
  clocks[1] = Object.assign(clocks[1] as Clock, { nowMs: 20 * MINUTE_MS });
  expect(await refusal(pushTo(b, 'second', 'bob'))).toMatchObject(isConflict);
  await a.activate('main', first, { ...ALL, holder: 'ann' });
  atMs += MINUTE_MS;
  const second = await pushTo(b, 'second', 'bob');
  await a.settled();
  expect(a.leases).toEqual(b.leases);
  expect(a.leases).toMatchObject([{ holder: 'bob', digest: second, takenMs: atMs }]);
  expect(
    a
      .list('')
      .map(({ leaseUntilMs }) => leaseUntilMs)
      .sort(),
  ).toEqual([0, atMs + MINUTE_MS]);
  const [act, at] = log.at(-1) as [AdapterAct, number];
  await performed(a, act, at);
  expect(a.leases).toEqual(b.leases);
});
