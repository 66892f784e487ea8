import { join } from 'node:path';
import {
  type AppendOutcome,
  type BehaviourEvent,
  type BehaviourLog,
  EmbeddedBehaviourLog,
  parseRetention,
  RedisBehaviourLog,
  type StoredBehaviour,
} from '@tessera/behaviour';
import { OrderedStore } from '@tessera/engine';
import {
  type RedisCluster,
  type RedisServer,
  startRedisCluster,
  startRedisServer,
  temporaryFolder,
} from '@tessera/testing';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventKey, placeValue, recordKey, windowRange } from './outside/embedded-keys.js';

const RETENTION = parseRetention('buy=4,1000s; view|hover=3,100s; *=2');
const START_MS = 10_000_000;
const TEN_YEARS_MS = 10 * 365 * 86_400_000;

let nowMs = START_MS;
const clock = () => nowMs;

function event(over: Partial<BehaviourEvent>): BehaviourEvent {
  const base = { userId: 'u', eventId: 'e', itemId: 'i', action: 'buy', timeMs: nowMs, scene: {} };
  return { ...base, ...over };
}

/** The rule restated over all events ever received, with nothing ever taken away. */
class Model {
  /** In the order in which they first arrived. */
  private readonly events: BehaviourEvent[] = [];
  private readonly erasedUntilMs = new Map<string, number>();

  append(batch: readonly BehaviourEvent[]): AppendOutcome[] {
    const before = new Set(this.known().map(nameOf));
    const first = batch.map((one): AppendOutcome => {
      if (this.isOutside(one)) return 'outside';
      if (before.has(nameOf(one))) return 'duplicate';
      before.add(nameOf(one));
      if (!this.events.some((other) => nameOf(other) === nameOf(one))) this.events.push(one);
      return 'added';
    });
    const after = new Set(this.kept().map(nameOf));
    return first.map((outcome, i) =>
      outcome === 'added' && !after.has(nameOf(batch[i] as BehaviourEvent)) ? 'outside' : outcome,
    );
  }

  erase(userId: string, untilMs: number): void {
    const times = this.kept(userId).map((one) => one.timeMs);
    const until = Math.max(untilMs, this.erasedUntilMs.get(userId) ?? -1, ...times);
    this.erasedUntilMs.set(userId, until);
  }

  history(userId: string, limit: number): string[] {
    return limit === 0
      ? []
      : this.kept(userId)
          .slice(-limit)
          .map((one) => one.eventId);
  }

  private isOutside(one: BehaviourEvent): boolean {
    const window = RETENTION.windows[RETENTION.windowOf(one.action)];
    const erased = this.erasedUntilMs.get(one.userId) ?? -1;
    return one.timeMs <= erased || one.timeMs < nowMs - (window?.ageMsMax ?? 0);
  }

  /** Oldest first. */
  private kept(userId?: string): BehaviourEvent[] {
    return this.live().filter((one, i, live) => {
      if (userId !== undefined && one.userId !== userId) return false;
      return this.newer(one, live.slice(i + 1)).length < this.countOf(one);
    });
  }

  /** Those that are kept, and those cut of the time of the oldest of their window. */
  private known(): BehaviourEvent[] {
    return this.live().filter((one, _, live) => {
      const later = live.filter(({ timeMs }) => timeMs > one.timeMs);
      return this.newer(one, later).length < this.countOf(one);
    });
  }

  private live(): BehaviourEvent[] {
    const order = (a: BehaviourEvent, b: BehaviourEvent) => a.timeMs - b.timeMs;
    return this.events.filter((one) => !this.isOutside(one)).sort(order);
  }

  private newer(one: BehaviourEvent, others: readonly BehaviourEvent[]): BehaviourEvent[] {
    const window = RETENTION.windowOf(one.action);
    return others.filter(
      (other) => other.userId === one.userId && RETENTION.windowOf(other.action) === window,
    );
  }

  private countOf({ action }: BehaviourEvent): number {
    return RETENTION.windows[RETENTION.windowOf(action)]?.behavioursMax ?? 0;
  }
}

const nameOf = ({ userId, eventId }: BehaviourEvent) => JSON.stringify([userId, eventId]);
const idsOf = (history: readonly StoredBehaviour[] | null) =>
  history?.map((behaviour) => behaviour.eventId) ?? [];

const users = fc.constantFrom('u', 'u}', '{v', 'w%41', 'ü');
/** An event ID says all that the event is: producers do not use one ID for two events. */
const events = fc
  .record({
    userId: users,
    action: fc.constantFrom('buy', 'view', 'hover', 'like', ''),
    ageMs: fc.integer({ min: -5, max: 140 }).map((tenths) => tenths * 10_000),
  })
  .map(({ userId, action, ageMs }) => {
    const timeMs = Math.max(0, START_MS - ageMs);
    return event({ userId, action, timeMs, eventId: `${timeMs}/${action}`, scene: { at: action } });
  });
const commands = fc.oneof(
  { weight: 6, arbitrary: fc.record({ append: fc.array(events, { minLength: 1, maxLength: 8 }) }) },
  { weight: 1, arbitrary: fc.record({ erase: users, agoMs: fc.integer({ min: 0, max: 9e5 }) }) },
  { weight: 1, arbitrary: fc.record({ passMs: fc.integer({ min: 1, max: 60_000 }) }) },
  { weight: 1, arbitrary: fc.constant({ reopen: true }) },
);

const at = (timeMs: number, action: string, userId = 'u') =>
  event({ userId, action, timeMs, eventId: `${timeMs}/${action}` });
/** An event that is too old, and not yet trimmed, when its user is erased. */
const ERASED_WHEN_TOO_OLD = [
  { append: [at(START_MS - 60_000, 'view')] },
  { passMs: 40_001 },
  { erase: 'u' as const, agoMs: 100_002 },
  { append: [at(START_MS - 60_000, 'buy'), at(START_MS, 'buy', 'ü')] },
];

interface Opened {
  readonly log: BehaviourLog;
  /** Closes it and opens what it left behind. */
  reopen(): Promise<BehaviourLog>;
  remove(): Promise<void>;
}

async function openEmbedded(): Promise<Opened> {
  const folder = temporaryFolder({});
  const options = { path: `${folder.path}/store`, retention: RETENTION, nowMs: clock };
  let log = await EmbeddedBehaviourLog.open(options);
  return {
    log,
    reopen: async () => {
      await log.close();
      log = await EmbeddedBehaviourLog.open(options);
      return log;
    },
    remove: async () => {
      await log.close();
      folder.remove();
    },
  };
}

let redis: RedisServer;
let cluster: RedisCluster;
let redisPrefixes = 0;
beforeAll(async () => {
  redis = await startRedisServer();
  cluster = await startRedisCluster();
});
afterAll(async () => {
  await redis?.stop();
  await cluster?.stop();
});

const openRedis = () => openRedisAt(redis.address);
const openCluster = () => openRedisAt(cluster.address);

async function openRedisAt(address: string): Promise<Opened> {
  redisPrefixes += 1;
  const keyPrefix = `t${redisPrefixes}:`;
  const options = { address, keyPrefix, retention: RETENTION, nowMs: clock };
  let log = await RedisBehaviourLog.open(options);
  return {
    log,
    reopen: async () => {
      await log.close();
      log = await RedisBehaviourLog.open(options);
      return log;
    },
    remove: () => log.close(),
  };
}

describe.each([
  ['embedded', openEmbedded],
  ['Redis', openRedis],
  ['a Redis cluster', openCluster],
])('behaviours in the store that is %s', (_name, open) => {
  let opened: Opened;
  beforeEach(async () => {
    nowMs = START_MS;
    opened = await open();
  });
  afterEach(() => opened.remove());

  it('keeps behaviours of one time in the order in which they arrived', async () => {
    const ids = ['evt-8', 'evt-12', 'f3a1', 'evt-9', '07bc', 'evt-10'];
    for (const eventId of ids.slice(0, 3)) await opened.log.append([event({ eventId })]);
    await opened.log.append([...ids.slice(3), 'evt-8'].map((eventId) => event({ eventId })));
    nowMs += 1;
    const log = await opened.reopen();
    await log.append([event({ eventId: 'again', timeMs: nowMs - 1 }), event({ eventId: 'evt-9' })]);
    const kept = idsOf(await log.history('u', 10));
    const order = [...ids, 'again'].filter((id) => kept.includes(id));
    expect(kept).toEqual(order);
    expect(kept).toHaveLength(4);
  });

  it('keeps of those of one time the last that arrived, however often they are sent', async () => {
    const ids = ['8', '15', '9', '14', '10', '13', '11', '12'];
    const hovers = ids.map((eventId) => event({ eventId, action: 'hover' }));
    for (const one of hovers.slice(0, 5)) await opened.log.append([one]);
    const log = await opened.reopen();
    const outcomes = await log.append(hovers.slice(5));
    expect(outcomes).toEqual(['added', 'added', 'added']);
    expect(idsOf(await log.history('u', 9))).toEqual(['13', '11', '12']);
    expect(idsOf(await log.history('u', 2))).toEqual(['11', '12']);
    for (const one of hovers) expect(await log.append([one])).not.toEqual(['added']);
    expect(idsOf(await log.history('u', 9))).toEqual(['13', '11', '12']);
    // Over windows as well: `buy` has another.
    await log.append([event({ eventId: '0' })]);
    expect(idsOf(await log.history('u', 2))).toEqual(['12', '0']);
    nowMs += 1;
    await log.append(['a', 'b', 'c'].map((eventId) => event({ eventId, action: 'hover' })));
    expect(await log.append([hovers[0] as BehaviourEvent])).toEqual(['outside']);
    await log.erase('u', nowMs);
    expect(await log.append(hovers)).toEqual(hovers.map(() => 'outside'));
  });

  it('dates behaviours of a clock that was ahead anew with the next', async () => {
    const startMs = nowMs;
    nowMs += TEN_YEARS_MS;
    await opened.log.append(['ahead', 'last'].map((eventId) => event({ eventId, timeMs: nowMs })));
    nowMs = startMs;
    expect(await opened.log.append([event({ eventId: 'new', timeMs: nowMs + 1 })])).toEqual([
      'added',
    ]);
    const history = await opened.log.history('u', 9);
    expect(idsOf(history)).toEqual(['ahead', 'last', 'new']);
    expect(history?.[0]?.time).toBe(nowMs / 1000);
    const again = event({ eventId: 'ahead', timeMs: nowMs });
    expect(await opened.log.append([again])).toEqual(['duplicate']);
  });

  it('gives back what an event said, in the order of time and then of arrival', async () => {
    const scene = { page: 'home', 'ü{}': '' };
    await opened.log.append([
      event({ eventId: 'c', timeMs: nowMs - 5, itemId: 'late', scene }),
      event({ eventId: 'b', timeMs: nowMs - 7, action: 'view' }),
      event({ eventId: 'a', timeMs: nowMs - 5, action: '' }),
    ]);
    const history = await opened.log.history('u', 10);
    expect(idsOf(history)).toEqual(['b', 'c', 'a']);
    expect(history?.[1]).toEqual({
      eventId: 'c',
      itemId: 'late',
      action: 'buy',
      time: (nowMs - 5) / 1000,
      scene,
    });
    expect(idsOf(await opened.log.history('u', 2))).toEqual(['c', 'a']);
    expect(await opened.log.history('u', 0)).toEqual([]);
    expect(await opened.log.history('nobody', 3)).toBeNull();
  });

  it('knows a user by a profile alone, and forgets both with the user', async () => {
    await opened.log.putProfile('p', { interest: 'tea' });
    expect(await opened.log.history('p', 9)).toEqual([]);
    expect(await opened.log.profile('p')).toEqual({ interest: 'tea' });
    await opened.log.append([event({ userId: 'p' })]);
    expect(await opened.log.profile('p')).toEqual({ interest: 'tea' });
    expect(await opened.log.erase('p', nowMs)).toBe(true);
    expect(await opened.log.erase('p', nowMs)).toBe(false);
    expect(await opened.log.profile('p')).toBeNull();
    expect(await opened.log.history('p', 9)).toBeNull();
    expect(await opened.log.append([event({ userId: 'p' })])).toEqual(['outside']);
    expect(await opened.log.userIds(9)).toEqual([]);
  });

  it('refuses, once a user is erased, an event ahead of time that had been stored', async () => {
    const ahead = event({ timeMs: nowMs + 60_000 });
    await opened.log.append([ahead]);
    await opened.log.erase('u', nowMs);
    expect(await opened.log.append([ahead])).toEqual(['outside']);
  });

  it('refuses who was erased while the clock was ahead for no longer than that shows', async () => {
    const startMs = nowMs;
    nowMs += TEN_YEARS_MS;
    await opened.log.append([event({ timeMs: nowMs })]);
    await opened.log.erase('u', nowMs);
    nowMs = startMs;
    const at = (timeMs: number) => event({ timeMs, eventId: `at ${timeMs}` });
    expect(await opened.log.append([at(nowMs - 1), at(nowMs)])).toEqual(['outside', 'outside']);
    nowMs += 1000;
    expect(await opened.log.append([at(nowMs)])).toEqual(['added']);
    expect(await opened.log.append([at(startMs)])).toEqual(['outside']);
  });

  it('lists users in a fixed order', async () => {
    await opened.log.append(['b', 'a', 'c}'].map((userId) => event({ userId })));
    expect(await opened.log.userIds(9)).toEqual(['a', 'b', 'c}']);
    expect(await opened.log.userIds(2)).toHaveLength(2);
  });

  it('lists the users whose ID begins with a text, whatever is in it', async () => {
    const all = ['a', 'ab', 'a*', 'a*b', 'b', 'a%2A', 'ä', 'a b', ''];
    const users = all.filter((userId) => userId !== '');
    await opened.log.append(users.map((userId) => event({ userId })));
    for (const prefix of [...users, 'a%', 'z', '']) {
      const found = await opened.log.userIds(99, prefix);
      expect([...found].sort(), prefix).toEqual(users.filter((id) => id.startsWith(prefix)).sort());
    }
  });

  it('keeps what events appended at the same time say, each once', async () => {
    const batches = Array.from({ length: 20 }, (_, batch) =>
      [0, 1, 2].map((i) => event({ eventId: `e${(batch + i) % 4}`, timeMs: nowMs - i })),
    );
    const outcomes = await Promise.all(batches.map((batch) => opened.log.append(batch)));
    expect(outcomes.flat().filter((outcome) => outcome === 'added')).toHaveLength(4);
    expect(await opened.log.history('u', 99)).toHaveLength(4);
  });

  it('equals the rule over all events received, late, repeated, across openings', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(commands, { maxLength: 25 }), async (steps) => {
        nowMs = START_MS;
        const fresh = await open();
        let { log } = fresh;
        const model = new Model();
        try {
          for (const step of steps) {
            if ('append' in step) {
              expect(await log.append(step.append)).toEqual(model.append(step.append));
            } else if ('erase' in step) {
              model.erase(step.erase, nowMs - step.agoMs);
              await log.erase(step.erase, nowMs - step.agoMs);
            } else if ('passMs' in step) {
              nowMs += step.passMs;
            } else {
              nowMs += 1;
              log = await fresh.reopen();
            }
            for (const userId of ['u', 'u}', '{v', 'w%41', 'ü']) {
              for (const limit of [3, 99]) {
                expect(idsOf(await log.history(userId, limit))).toEqual(
                  model.history(userId, limit),
                );
              }
            }
          }
        } finally {
          await fresh.remove();
        }
      }),
      { numRuns: 25, verbose: 1, examples: [[ERASED_WHEN_TOO_OLD]] },
    );
  });
});

describe('the embedded store', () => {
  it('is made with the folders above it', async () => {
    const folder = temporaryFolder({});
    const options = { path: `${folder.path}/not/there/yet`, retention: RETENTION, nowMs: clock };
    const log = await EmbeddedBehaviourLog.open(options);
    expect(await log.userIds(1)).toEqual([]);
    await log.close();
    folder.remove();
  });

  it('is refused where it is in use or no folder can be', async () => {
    const first = await openEmbedded();
    const folder = temporaryFolder({ file: 'x' });
    const options = { path: `${folder.path}/file`, retention: RETENTION, nowMs: clock };
    await expect(EmbeddedBehaviourLog.open(options)).rejects.toMatchObject({
      code: 'STORE_INVALID',
    });
    await first.remove();
    folder.remove();
  });

  it('takes away behaviours that are too old, not only hides them', async () => {
    const { log, remove } = await openEmbedded();
    nowMs = START_MS;
    await log.append([event({ eventId: 'old', action: 'view' })]);
    nowMs += 4_000_000;
    await log.append([event({ eventId: 'new', action: 'view' })]);
    // Back in time the old one would be seen again, had it only been hidden.
    nowMs = START_MS;
    expect(idsOf(await log.history('u', 9))).toEqual(['new']);
    await remove();
  });
});

/** Of one time, in the order in which a release before took them. */
const EARLIER = ['9', '10', '8'];
const payloadOfEarlier = (arrival: number) => JSON.stringify(['i', 'hover', {}, arrival]);

/** The newest of one time stay, those of a release before go first. */
async function expectEarlierKept(log: BehaviourLog): Promise<void> {
  expect(idsOf(await log.history('u', 9))).toEqual(EARLIER);
  const hover = (eventId: string) => event({ eventId, action: 'hover' });
  expect(await log.append([hover('8'), hover('1')])).toEqual(['duplicate', 'added']);
  const kept = idsOf(await log.history('u', 9));
  expect(kept).toHaveLength(3);
  expect(kept.at(-1)).toBe('1');
  await log.append([hover('2'), hover('3')]);
  expect(idsOf(await log.history('u', 9))).toEqual(['1', '2', '3']);
  expect(await log.erase('u', nowMs)).toBe(true);
  await log.close();
}

describe('behaviours that a release before stored', () => {
  beforeEach(() => {
    nowMs = START_MS;
  });

  it('are read and cut in the embedded store', async () => {
    const folder = temporaryFolder({});
    const path = join(folder.path, 'store');
    const store = await OrderedStore.open({ path, reserveBytes: 0 });
    const place = { window: 1, timeMs: nowMs };
    const put = EARLIER.flatMap((eventId, index) => [
      { key: eventKey('u', eventId), value: placeValue(place) },
      {
        key: Buffer.concat([windowRange('u', 1, nowMs, nowMs).from, Buffer.from(eventId)]),
        value: Buffer.from(payloadOfEarlier(index + 1)),
      },
    ]);
    const record = { known: true, profile: {}, counts: [0, 3, 0], purgedMs: nowMs };
    put.push({ key: recordKey('u'), value: Buffer.from(JSON.stringify(record)) });
    await store.write({ erased: [], put, durability: 'process' });
    store.close();
    const options = { path, retention: RETENTION, nowMs: clock };
    await expectEarlierKept(await EmbeddedBehaviourLog.open(options));
    folder.remove();
  });

  it('are read and cut in Redis', async () => {
    const client = new Redis(`redis://${redis.address}`);
    await client.hset('old:{u}:r', { known: '1' });
    for (const [index, eventId] of EARLIER.entries()) {
      await client.hset('old:{u}:e', eventId, payloadOfEarlier(index + 1));
      await client.zadd('old:{u}:w1', nowMs, eventId);
    }
    const options = { address: redis.address, keyPrefix: 'old:', retention: RETENTION };
    await expectEarlierKept(await RedisBehaviourLog.open({ ...options, nowMs: clock }));
    expect(await client.keys('old:*')).toEqual(['old:{u}:r']);
    await client.quit();
  });
});

describe('an embedded store of a newer release', () => {
  it('is named and not read', async () => {
    const folder = temporaryFolder({});
    const path = join(folder.path, 'store');
    const store = await OrderedStore.open({ path, reserveBytes: 0 });
    const entry = { key: Buffer.from('f'), value: Buffer.from('3') };
    await store.write({ erased: [], put: [entry], durability: 'process' });
    store.close();
    const open = EmbeddedBehaviourLog.open({ path, retention: RETENTION, nowMs: clock });
    await expect(open).rejects.toMatchObject({
      code: 'STORE_NEWER',
      message: expect.stringContaining('expected format 2 at most, got format 3'),
    });
    folder.remove();
  });
});

describe('Redis', () => {
  const optionsOf = (address: string) => ({
    address,
    keyPrefix: 't:',
    retention: RETENTION,
    nowMs: clock,
  });

  it('that does not answer is STORE_UNAVAILABLE, and serves again when it is back', async () => {
    nowMs = START_MS;
    const server = await startRedisServer();
    const log = await RedisBehaviourLog.open(optionsOf(server.address));
    expect(await log.append([event({})])).toEqual(['added']);
    await server.kill();
    await expect(log.append([event({ eventId: 'f' })])).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      retryable: true,
    });
    const again = await RedisBehaviourLog.open(optionsOf(server.address));
    await expect(again.history('u', 9)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await server.start();
    for (const one of [log, again]) {
      const ids = () => one.history('u', 9).then(idsOf, () => 'away');
      await expect.poll(ids, { timeout: 60_000 }).toEqual(['e']);
    }
    await again.close();
    await log.close();
    await server.stop();
  });

  it('out of memory is STORE_FULL, and still answers what it has', async () => {
    const server = await startRedisServer(['--maxmemory', '1mb']);
    const log = await RedisBehaviourLog.open(optionsOf(server.address));
    const big = (eventId: string) => event({ eventId, userId: eventId, itemId: 'i'.repeat(1000) });
    const fill = async () => {
      for (let i = 0; i < 3000; i += 1) await log.append([big(`e${i}`)]);
    };
    await expect(fill()).rejects.toMatchObject({ code: 'STORE_FULL', retryable: true });
    expect(await log.history('e0', 1)).toHaveLength(1);
    await log.close();
    await server.stop();
  });

  it('that may forget is refused at the start, and a condition once it runs', async () => {
    const server = await startRedisServer(['--maxmemory', '8mb', '--appendonly', 'no']);
    const admin = new Redis(`redis://${server.address}`);
    const setPolicy = (policy: string) => admin.config('SET', 'maxmemory-policy', policy);
    await setPolicy('volatile-lru');
    const log = await RedisBehaviourLog.open(optionsOf(server.address));
    const lost = expect.stringContaining('appendonly is off and no replica is there');
    expect(log.reach()).toEqual({ state: 'degraded', reason: lost });
    await admin.config('SET', 'appendonly', 'yes');
    await setPolicy('allkeys-lru');
    await expect(RedisBehaviourLog.open(optionsOf(server.address))).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      field: 'behaviours.redis',
      message: expect.stringContaining('noeviction or volatile-*, got allkeys-lru'),
    });
    await admin.client('KILL', 'SKIPME', 'yes', 'TYPE', 'normal');
    const reached = () => log.profile('u').then(() => log.reach().reason, String);
    await expect.poll(reached).toContain('got allkeys-lru');
    await Promise.all([admin.quit(), log.close()]);
    await server.stop();
  });

  it.each(['', 'host', 'host:', ':1', 'a:1,b'])('%j is no address', async (address) => {
    await expect(RedisBehaviourLog.open(optionsOf(address))).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      field: 'behaviours.redis',
    });
  });
});

describe('a Redis cluster', () => {
  const users = Array.from({ length: 40 }, (_, i) => `user ${i}`);
  const optionsOf = ({ address }: RedisCluster) => ({
    address,
    keyPrefix: 'c:',
    retention: RETENTION,
    nowMs: clock,
  });

  it('keeps users on all its nodes and lists them all', async () => {
    nowMs = START_MS;
    const log = await RedisBehaviourLog.open(optionsOf(cluster));
    await log.append(users.map((userId) => event({ userId })));
    expect(await log.userIds(99)).toEqual([...users].sort());
    for (const { address } of cluster.nodes) {
      const keys = new Redis(`redis://${address}`);
      expect(await keys.dbsize()).toBeGreaterThan(0);
      await keys.quit();
    }
    await log.close();
  });

  it('without a node is STORE_UNAVAILABLE, and serves again when it is back', async () => {
    nowMs = START_MS;
    const own = await startRedisCluster();
    const log = await RedisBehaviourLog.open(optionsOf(own));
    await log.append(users.map((userId) => event({ userId })));
    const [node] = own.nodes;
    await node?.kill();
    await expect(
      log.append(users.map((userId) => event({ userId, eventId: 'f' }))),
    ).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    await node?.start();
    const again = () =>
      log.append(users.map((userId) => event({ userId, eventId: 'f' }))).then(() => true);
    await expect.poll(() => again().catch(() => false), { timeout: 60_000 }).toBe(true);
    for (const userId of users) expect(idsOf(await log.history(userId, 9))).toEqual(['e', 'f']);
    for (const each of own.nodes) await each.kill();
    await expect(log.history('anna', 9)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await log.close();
    await own.stop();
  });
});

describe('a retention', () => {
  it('is read from its text', () => {
    const { windows } = parseRetention(' buy = 500 , 365d ; view|hover=10,2h;*=3 ');
    expect(windows).toEqual([
      { actions: ['buy'], behavioursMax: 500, ageMsMax: 365 * 86_400_000 },
      { actions: ['view', 'hover'], behavioursMax: 10, ageMsMax: 7_200_000 },
      { actions: [], behavioursMax: 3, ageMsMax: Number.POSITIVE_INFINITY },
    ]);
  });

  it.each([
    ['', /one window for all other actions, got 0/],
    ['buy=1', /one window for all other actions, got 0/],
    ['*=1;*=2', /one window for all other actions, got 2/],
    ['a=1;a=2;*=3', /each action in one window, got 'a' in two/],
    ['*=0', /1..100000 behaviours/],
    ['*=100001', /1..100000 behaviours/],
    ['*=5,3w', /ACTION\|ACTION=COUNT/],
    ['*', /ACTION\|ACTION=COUNT/],
  ])('%j is refused', (text, message) => {
    expect(() => parseRetention(text)).toThrow(message);
  });
});
