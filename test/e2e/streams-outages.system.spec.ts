import { TesseraClient } from '@tessera/client';
import {
  type KafkaBroker,
  type RedisServer,
  startKafkaBroker,
  startRedisServer,
} from '@tessera/testing';
import { Redis } from 'ioredis';
import { Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Service } from './service.js';
import { encodeBehaviour, TopicClient } from './topic-client.js';

/** The service with a broker, a store or a message that is not as it should be. */
let broker: KafkaBroker;
let redis: RedisServer;
let service: Service;
let topics: TopicClient;
let client: TesseraClient;

const POLL = { timeout: 60_000 };
const CALL_MS = 20_000;
const DAY_MS = 86_400_000;

const start = () => Service.start({}, ['--kafka', broker.address, '--redis', redis.address]);
const health = async () => (await fetch(`${service.httpUrl}/health`)).status;

beforeAll(async () => {
  [broker, redis] = await Promise.all([startKafkaBroker(), startRedisServer()]);
});
afterAll(async () => {
  client?.close();
  await topics?.close();
  await service?.stop();
  await broker?.stop();
  await redis?.stop();
});

async function emit(over: Record<string, unknown>, headers: Record<string, string> = {}) {
  const base = { userId: 'n', eventId: 'e', itemId: '5', action: 'click', timeMs: Date.now() };
  const behaviour = { ...base, ...over };
  const message = { key: behaviour.userId, value: encodeBehaviour(behaviour), headers };
  await topics.send('behaviours', message);
}

async function answerTo(id: string) {
  await expect.poll(() => topics.answers.get(id)?.length ?? 0, POLL).toBeGreaterThan(0);
  return topics.answers.get(id)?.[0];
}

const storedEvents = async (userId: string) => {
  const history = await client.history(userId, 1000, CALL_MS).catch(() => undefined);
  return history?.behaviours.map(({ eventId }) => eventId);
};

describe('a broker that is away at the start', () => {
  it('is named and logged while calls are served, and its topics once it is there', async () => {
    await broker.kill();
    service = await start();
    expect(await health()).toBe(200);
    await expect.poll(() => service.stderr, POLL).toContain('not connected, trying again');
    expect(await service.stateOf('kafka')).toBe('down');
    expect((await service.post({ history: ['5'] })).status).toBe(200);
    await broker.start();
    await expect.poll(() => service.stateOf('kafka'), POLL).toBe('ok');
    topics = new TopicClient(broker.address);
    await topics.open();
    client = new TesseraClient(service.grpcAddress);
    const { response } = (await answerTo(await topics.ask({ userId: '1' }))) ?? {};
    expect(response?.items).not.toHaveLength(0);
  });
});

describe('behaviours', () => {
  it('of ancient times are kept in their place', async () => {
    await emit({ userId: 'old', eventId: 'now' });
    await emit({ userId: 'old', eventId: 'first', timeMs: 1 });
    await emit({ userId: 'old', eventId: 'then', timeMs: Date.now() - 9000 * DAY_MS });
    await expect.poll(() => storedEvents('old'), POLL).toEqual(['first', 'then', 'now']);
  });

  it('of items that the catalogue does not know are kept, and skipped in prompts', async () => {
    for (const itemId of ['5', 'unheard of', '9', 'gone']) {
      await emit({ userId: 'odd', itemId, eventId: itemId });
    }
    await expect.poll(async () => (await storedEvents('odd'))?.length, POLL).toBe(4);
    const answer = await client.recall({ userId: 'odd' }, CALL_MS);
    expect(answer).toMatchObject({ historyItems: 2, skippedItems: 2 });
  });

  it('of another version, or before all time, are buried', async () => {
    const before = topics.dead.length;
    await emit({ eventId: 'v2' }, { 'tessera-version': '2' });
    await emit({ eventId: 'negative', timeMs: -1 });
    await expect.poll(() => topics.dead.length - before, POLL).toBe(2);
    const reasons = topics.dead.slice(before).map(({ reason }) => reason.split(':')[0]);
    expect(reasons.sort()).toEqual(['tessera-version', 'timeMs']);
  });

  it('of ten megabytes are buried without content, and those behind them stored', async () => {
    const admin = new Kafka({ brokers: [broker.address], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    const configEntries = [{ name: 'max.message.bytes', value: String(12 << 20) }];
    const resource = { type: 2, name: 'behaviours', configEntries };
    await admin.alterConfigs({ validateOnly: false, resources: [resource] });
    await admin.disconnect();
    const before = topics.dead.length;
    await emit({ userId: 'large', itemId: 'i'.repeat(10 << 20) });
    await emit({ userId: 'large', eventId: 'behind' });
    await expect.poll(() => storedEvents('large'), POLL).toEqual(['behind']);
    // At least once, as everything over a topic.
    await expect.poll(() => topics.dead.length - before, POLL).toBeGreaterThan(0);
    for (const { reason } of topics.dead.slice(before)) {
      expect(reason).toMatch(/^itemId: expected 1\.\.\d+ characters, got 1048/);
    }
  });

  it('wait while Redis is out of memory, which recalls do not', async () => {
    const [host = '', port = ''] = redis.address.split(':');
    const operator = new Redis(Number(port), host);
    await operator.config('SET', 'maxmemory', '1');
    await emit({ userId: 'patient', eventId: 'waited' });
    await expect.poll(() => service.stderr, POLL).toContain('STORE_FULL');
    expect((await client.recall({ userId: '1' }, CALL_MS)).items).not.toHaveLength(0);
    const refused = client.append(
      [{ userId: 'x', eventId: 'e', itemId: '1', action: '', timeMs: 1, scene: {} }],
      2000,
    );
    await expect(refused).rejects.toMatchObject({ code: 'STORE_FULL', retryable: true });
    await operator.config('SET', 'maxmemory', '0');
    await operator.quit();
    await expect.poll(() => storedEvents('patient'), POLL).toEqual(['waited']);
  });
});

describe('a request over its topic', () => {
  it('without a deadline is due from its own time on', async () => {
    const late = await topics.ask({ userId: '1' }, { timestamp: String(Date.now() - 60_000) });
    expect((await answerTo(late))?.refusal?.code).toBe('DEADLINE_EXCEEDED');
    const inTime = await topics.ask({ userId: '1' });
    expect((await answerTo(inTime))?.refusal).toBeUndefined();
  });
});

describe('SIGTERM', () => {
  it('loses no behaviour that was acknowledged, on either way, and drains in order', async () => {
    const acknowledged: string[] = [];
    const topic = Array.from({ length: 200 }, (_, i) => `topic ${i}`);
    const appending = (async () => {
      for (let call = 0; ; call += 1) {
        const eventId = `call ${call}`;
        const behaviour = { eventId, itemId: '5', action: 'click', timeMs: Date.now(), scene: {} };
        await client.append([{ userId: 'kept', ...behaviour }], CALL_MS);
        acknowledged.push(eventId);
      }
    })().catch(() => undefined);
    await expect.poll(() => acknowledged.length, POLL).toBeGreaterThan(5);
    await Promise.all(topic.map((eventId) => emit({ userId: 'kept', eventId })));
    const ended = await service.stop();
    await appending;
    expect(ended.status).toBe(0);
    const steps = [...ended.stderr.matchAll(/"step":"([^"]+)","outcome":"([^"]+)"/g)];
    expect(steps.slice(0, 2).map((step) => step[1])).toEqual(['readiness off', 'leave topics']);
    expect(steps.every((step) => step[2] === 'done')).toBe(true);
    client.close();
    service = await start();
    client = new TesseraClient(service.grpcAddress);
    // The call that was under way at the end may be stored without an answer.
    const last = `call ${acknowledged.length}`;
    const all = [...acknowledged, ...topic].sort();
    const stored = async () => (await storedEvents('kept'))?.filter((id) => id !== last).sort();
    await expect.poll(stored, POLL).toEqual(all);
  });
});
