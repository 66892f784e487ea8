/** Updates of the weights that adapters were made for. */

import { join } from 'node:path';
import { TesseraError } from '@tessera/errors';
import { FakeAdapterEngine, fakePush, partsOf, temporaryFolder } from '@tessera/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { CANARY_RULES } from './adapter-choices.js';
import type { AdapterEvent } from './adapter-settings.js';
import { Adapters } from './adapters.js';
import { ServedWeights } from './served-weights.js';

const ALL = { share: 1, isCompared: false, isWarmed: false };
const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const one of undo.splice(0).reverse()) await one();
});

/** Weights by the name of their folder; `broken` cannot be loaded. */
class SwappingEngine extends FakeAdapterEngine {
  async updateWeights(folder: string) {
    if (folder.endsWith('broken')) throw new TesseraError('MODEL_CORRUPT', folder);
    if (this.adapterArena().adapters > 0) throw new TesseraError('INTERNAL', 'adapters in memory');
    this.model.digest = folder;
    return { digest: folder, generation: 1, drainedUs: 0, swappedUs: 0 };
  }
}

/** A node; `path` of one that was there before. */
async function node({ path = '', onlyAnswers = false } = {}) {
  const folder = temporaryFolder({});
  undo.push(() => folder.remove());
  const at = path === '' ? folder.path : path;
  const engine = new SwappingEngine();
  engine.model.digest = '/base';
  const events: AdapterEvent[] = [];
  const warmed: string[] = [];
  const probe = {
    recall: async () => ({ itemIds: ['a'], isShort: false }),
    warm: async (userId: string, adapter: unknown) => {
      if (userId === 'gone') throw new TesseraError('USER_NOT_FOUND', userId);
      warmed.push(adapter === undefined ? userId : `${userId} with an adapter`);
    },
    sampleUserIds: async () => ['ann'],
  };
  const weightsPath = join(at, 'weights');
  const weights = await ServedWeights.open({
    engine,
    path: weightsPath,
    modelPath: '/base',
    waitMaxMs: 1,
  });
  undo.push(() => weights.close());
  const limits = { rankMax: 64, normMax: 100, versionBytesMax: 4000, diskBytesMax: 60_000 };
  const adapters = await Adapters.open(engine, probe, {
    registry: { folder: join(at, 'adapters'), defaultName: 'main', limits },
    rollout: {
      golden: { path: '', userCount: 1 },
      watch: { rules: CANARY_RULES },
      warmUsers: 3,
      warmMs: 0,
      onlyAnswers,
    },
    onEvent: (event) => events.push(event),
  });
  undo.push(() => adapters.close());
  weights.serveBeside(adapters.beside);
  const push = async (name: string, content: string, base = '/base') => {
    const { version } = await adapters.push(partsOf(fakePush(name, content, {}, base)));
    return version.digest;
  };
  const states = () => adapters.list('').map(({ state, isPinned }) => [state, isPinned]);
  return { at, weightsPath, engine, weights, adapters, push, events, warmed, states };
}

/** Two versions of `main` that were active, one a canary, and another name's that is pinned. */
async function served() {
  const own = await node();
  const digests = [];
  for (const content of ['first', 'second', 'third']) digests.push(await own.push('main', content));
  const [first = '', second = '', third = ''] = digests;
  await own.adapters.activate('main', first, ALL);
  await own.adapters.activate('main', second, ALL);
  await own.adapters.activate('main', third, { ...ALL, share: 0.5 });
  const other = await own.push('other', 'pinned');
  await own.adapters.pin('other', other);
  return Object.assign(own, { second, other });
}

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'OK',
    (thrown: unknown) => TesseraError.from(thrown).code,
  );

function servedBy(adapters: Adapters): string {
  const lease = adapters.choose('', 'ann');
  lease.release();
  return lease.adapter?.digest ?? 'base';
}

describe('an update of weights that ends their adapters', () => {
  it('leaves none in memory or service; they wait, and may serve with their weights', async () => {
    const { weights, adapters, engine, weightsPath, push, second, events } = await served();
    expect(await codeOf(weights.update({ name: 'monday' }))).toBe('ADAPTER_STATE');
    const update = await weights.update({ name: 'monday', endAdapters: true });
    const monday = join(weightsPath, 'monday');
    expect(update).toMatchObject({ digest: monday, endedAdapters: 4 });
    expect(engine.held.size).toBe(0);
    expect(servedBy(adapters)).toBe('base');
    expect(events.map(({ action }) => action)).toEqual(['waits', 'waits', 'waits', 'waits']);
    expect(await codeOf(adapters.activate('main', second, ALL))).toBe('ADAPTER_STATE');
    const next = await push('main', 'of monday', monday);
    await adapters.activate('main', next, ALL);
    expect(servedBy(adapters)).toBe(next);
    await adapters.rollBack('main', 'back to monday alone');
    await weights.rollBack();
    expect(servedBy(adapters)).toBe('base');
    await adapters.activate('main', second, ALL);
    expect(servedBy(adapters)).toBe(second);
    expect(await codeOf(adapters.activate('main', next, ALL))).toBe('ADAPTER_STATE');
  });

  it('waits for the requests that run with one', async () => {
    const { weights, adapters, engine } = await served();
    const lease = adapters.choose('', 'ann');
    const update = weights.update({ name: 'monday', endAdapters: true });
    await expect.poll(() => engine.held.size).toBe(1);
    expect(servedBy(adapters)).toBe('base');
    expect(engine.model.digest).toBe('/base');
    lease.release();
    await update;
    expect(engine.model.digest).toMatch(/monday$/);
  });

  it('does not wait for an activation whose place in the order is behind it', async () => {
    const { weights, adapters, second } = await served();
    let isOrdered = false;
    adapters.orderBy(() => {
      isOrdered = true;
      return new Promise(() => undefined);
    });
    const activation = codeOf(adapters.activate('main', second, ALL));
    await expect.poll(() => isOrdered).toBe(true);
    await weights.update({ name: 'monday', endAdapters: true });
    expect(await activation).toBe('ADAPTER_STATE');
  });

  it('that fails leaves all as it was', async () => {
    const { weights, adapters, engine, states } = await served();
    const [before, serves, held] = [states(), servedBy(adapters), new Map(engine.held)];
    const update = weights.update({ name: 'broken', endAdapters: true });
    expect(await codeOf(update)).toBe('MODEL_CORRUPT');
    expect(states()).toEqual(before);
    expect(servedBy(adapters)).toBe(serves);
    expect(engine.held).toEqual(held);
  });

  it('is safe at a crash between the adapters and the weights, and behind it', async () => {
    const { at, adapters, weights } = await served();
    await adapters.beside.end('an update begins');
    await adapters.close();
    await weights.close();
    const again = await node({ path: at });
    expect([again.engine.model.digest, servedBy(again.adapters)]).toEqual(['/base', 'base']);
    expect(again.states()).toEqual(Array.from({ length: 4 }, () => ['retired', false]));
    const update = await again.weights.update({ name: 'monday', endAdapters: true });
    expect(update.endedAdapters).toBe(0);
    await again.adapters.close();
    await again.weights.close();
    const last = await node({ path: at });
    expect(last.engine.model.digest).toMatch(/monday$/);
    expect(last.events.map(({ action }) => action)).toEqual(['waits', 'waits', 'waits', 'waits']);
    expect(await codeOf(last.push('main', 'of the base'))).toBe('ADAPTER_INVALID');
  });
});

describe('behind an update of weights', () => {
  it('the most frequent users are computed again, with what serves them, and counted', async () => {
    const { weights, adapters, warmed } = await node();
    for (const user of ['rare', 'ann', 'ann', 'ann', 'gone', 'gone', 'bob', 'bob']) {
      adapters.appended(user);
    }
    await weights.update({ name: 'monday' });
    await expect.poll(() => adapters.counts().warmedAgain).toMatchObject({ failed: 1 });
    expect(warmed).toEqual(['ann', 'bob']);
    expect(adapters.counts().warmedAgain).toEqual({ computed: 2, failed: 1, leftOut: 0 });
  });

  it('nothing is computed by a node that only answers', async () => {
    const { weights, adapters, warmed } = await node({ onlyAnswers: true });
    adapters.appended('ann');
    await weights.update({ name: 'monday' });
    await adapters.close();
    expect(warmed).toEqual([]);
    expect(adapters.counts().warmedAgain).toEqual({ computed: 0, failed: 0, leftOut: 0 });
  });
});
