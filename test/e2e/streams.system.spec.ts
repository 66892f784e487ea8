import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { TopicClient as AdServer, DEFAULT_TOPICS } from '@tessera/client';
import {
  type KafkaBroker,
  type RedisServer,
  startKafkaBroker,
  startRedisServer,
} from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RecallClient } from '../integration/recall-client.js';
import { Service } from './service.js';
import { encodeBehaviour, encodeChanges, TopicClient } from './topic-client.js';

/** Real Kafka, real Redis, the built service: what an ad system sees. */
let broker: KafkaBroker;
let redis: RedisServer;
let service: Service;
let topics: TopicClient;
let grpc: RecallClient;

beforeAll(async () => {
  [broker, redis] = await Promise.all([startKafkaBroker(), startRedisServer()]);
  const flags = ['--kafka', broker.address, '--redis', redis.address];
  service = await Service.start({}, flags);
  await service.topicsServed();
  topics = new TopicClient(broker.address);
  await topics.open();
  grpc = new RecallClient(service.grpcAddress);
});
afterAll(async () => {
  grpc?.close();
  await topics?.close();
  await service?.stop();
  await broker?.stop();
  await redis?.stop();
});

const POLL = { timeout: 60_000 };

async function answerTo(id: string) {
  await expect.poll(() => topics.answers.get(id)?.length ?? 0, POLL).toBeGreaterThan(0);
  return topics.answers.get(id)?.[0];
}

const itemIds = (answer: Record<string, unknown> | undefined) =>
  (answer as { items: { itemId: string }[] }).items.map((item) => item.itemId);

function behaviour(over: Record<string, unknown>) {
  const base = { userId: 'n', eventId: 'e', itemId: '5', action: 'click', timeMs: Date.now() };
  return { ...base, ...over };
}

async function emit(over: Record<string, unknown>, key = String(over.userId ?? 'n')) {
  await topics.send('behaviours', { key, value: encodeBehaviour(behaviour(over)) });
}

describe('a service on topics', () => {
  it('answers a recall with what gRPC answers, keyed by the user', async () => {
    const answer = await answerTo(await topics.ask({ userId: '1', resultCount: 7 }));
    const direct = await grpc.recall({ userId: '1', resultCount: 7 });
    expect(answer?.key).toBe('1');
    const ids = answer?.response?.items.map((item) => item.itemId);
    expect(ids).toHaveLength(7);
    expect(ids).toEqual(itemIds(direct.answer));
  });

  it('recalls for a user who is known by the stream alone, and takes an event once', async () => {
    const asked = await answerTo(await topics.ask({ userId: 'new', requireHistory: true }));
    expect(asked?.refusal).toMatchObject({ code: 'USER_NOT_FOUND', field: 'userId' });
    const events = ['5', '9', '12'].map((itemId, i) => ({
      userId: 'new',
      itemId,
      eventId: `e${i}`,
      timeMs: Date.now() - 1000 + i,
    }));
    for (const event of [...events, ...events]) await emit(event);
    const added = 'tessera_behaviours_total{edge="kafka",outcome="added"}';
    const again = 'tessera_behaviours_total{edge="kafka",outcome="duplicate"}';
    await expect.poll(() => service.metric(added), POLL).toBe(3);
    await expect.poll(() => service.metric(again), POLL).toBe(3);
    const answer = await answerTo(await topics.ask({ userId: 'new', resultCount: 5 }));
    const direct = await grpc.recall({
      history: { itemIds: ['5', '9', '12'] },
      resultCount: 5,
    });
    expect(answer?.response?.items.map((item) => item.itemId)).toEqual(itemIds(direct.answer));
  });

  it.each([
    ['DEADLINE_EXCEEDED', {}, { deadlineTimeMs: 1_700_000_000_000 }],
    ['REQUEST_INVALID', {}, { key: 'someone else' }],
    ['REQUEST_INVALID', { resultCount: 1_000_000 }, {}],
    ['REQUEST_INVALID', {}, { value: Buffer.from('not protobuf') }],
    ['REQUEST_INVALID', {}, { headers: { 'tessera-version': '2' } }],
    ['REQUEST_INVALID', {}, { value: null }],
  ])('refuses with %s %j %j, once', async (code, request, over) => {
    const id = await topics.ask({ userId: '1', ...request }, over);
    // Sent once more unchanged, each is refused again: the deadline is a time of day.
    expect((await answerTo(id))?.refusal).toMatchObject({ code, retryable: false });
    expect(topics.answers.get(id)).toHaveLength(1);
  });

  it('buries what nobody could be answered for, and what can never be stored', async () => {
    const before = topics.dead.length;
    await topics.send('recall.requests', { key: '1', value: Buffer.from('x') });
    await emit({ eventId: '' });
    await emit({ timeMs: Date.now() + 3_600_000 });
    await emit({ userId: 'a' }, 'b');
    await topics.send('behaviours', { key: 'n', value: Buffer.from([255]) });
    await expect.poll(() => topics.dead.length - before, POLL).toBe(5);
    const reasons = topics.dead.slice(before).map(({ reason }) => reason);
    for (const field of ['tessera-correlation-id', 'eventId', 'timeMs', 'key', 'value']) {
      expect(reasons.some((reason) => reason.startsWith(`${field}: expected`))).toBe(true);
    }
  });

  it('applies changes of the catalogue in their order and buries those it refuses', async () => {
    const recalled = async () => {
      const { answer } = await grpc.recall({ userId: '3', resultCount: 5 });
      return itemIds(answer);
    };
    const change = (itemId: string, change: Record<string, unknown>, catalogue = '') =>
      topics.send('catalogue.changes', { key: itemId, value: encodeChanges([change], catalogue) });
    const applied = 'tessera_catalogue_change_messages_total{outcome="applied"}';
    const [first = '', second = ''] = await recalled();
    const before = topics.dead.length;
    const unknown = 'of no catalogue';
    await change(unknown, { pauseItemId: unknown });
    await change(second, { pauseItemId: second }, 'elsewhere');
    for (const _ of [1, 2]) {
      await change(first, { pauseItemId: first });
      await change(first, { resumeItemId: first });
    }
    await change(first, { pauseItemId: first });
    await expect.poll(() => service.metric(applied), POLL).toBe(5);
    const left = await recalled();
    expect(left).not.toContain(first);
    expect(left[0]).toBe(second);
    await expect.poll(() => topics.dead.length - before, POLL).toBe(2);
    const codes = topics.dead.slice(before).map(({ code }) => code);
    expect(codes.sort()).toEqual(['ITEM_NOT_FOUND', 'REQUEST_INVALID']);
    const client = await AdServer.open({ brokers: [broker.address], ...DEFAULT_TOPICS });
    await client.change(first, [{ resumeItemId: first }]);
    await client.close();
    await expect.poll(recalled, POLL).toContain(first);
  });

  it('audits every recall of every edge, once', async () => {
    const id = await topics.ask({ requestId: 'audited topic', userId: '4' });
    await answerTo(id);
    const { answer } = await grpc.recall({ requestId: 'audited grpc', userId: '4' });
    await service.post({ requestId: 'audited http', userId: 'nobody', requireHistory: true });
    const of = (requestId: string) =>
      topics.audits.filter(({ request }) => {
        return (request as { requestId: string }).requestId === requestId;
      });
    await expect.poll(() => of('audited http').length, POLL).toBe(1);
    await expect.poll(() => of('audited grpc').length, POLL).toBe(1);
    const [overGrpc] = of('audited grpc');
    expect(overGrpc).toMatchObject({ edge: 'grpc', request: { userId: '4', priority: 'normal' } });
    expect(itemIds((overGrpc as { response: Record<string, unknown> }).response)).toEqual(
      itemIds(answer),
    );
    expect(of('audited http')[0]).toMatchObject({
      edge: 'http',
      refusal: { code: 'USER_NOT_FOUND', field: 'userId' },
    });
    expect(of('audited topic')).toHaveLength(1);
  });

  it('serves the examples, over gRPC and over topics', async () => {
    const run = async (name: string, ...words: string[]) => {
      const { stdout } = await promisify(execFile)(process.execPath, [
        `dist/examples/${name}.js`,
        ...words,
      ]);
      return stdout;
    };
    for (const way of [
      ['--kafka', broker.address],
      ['--address', service.grpcAddress],
    ]) {
      const userId = `of${way[0]}`;
      await run('event-producer', '--user', userId, '--items', '5,9,12', ...way);
      const known = async () => (await grpc.recall({ userId, requireHistory: true })).status;
      await expect.poll(known, POLL).toBe(0);
      const asked = ['--users', `${userId},nobody`, '--count', '2', '--deadline-ms', '30000'];
      const shown = await run('ad-server', ...asked, ...way);
      const lines = shown.split('\n').filter((line) => line.startsWith(userId));
      expect(lines).toHaveLength(2);
      expect(shown).toMatch(/nobody .*no-history/);
    }
  });

  it('stores what was sent while Redis was away', async () => {
    await redis.kill();
    await emit({ userId: 'patient', itemId: '7' });
    const answer = await answerTo(await topics.ask({ userId: '2' }));
    expect(answer?.refusal?.code).toBe('STORE_UNAVAILABLE');
    await redis.start();
    await expect.poll(async () => (await grpc.recall({ userId: 'patient' })).status, POLL).toBe(0);
  });

  it('answers everything that was asked before it was asked to stop, exactly once', async () => {
    const ids = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        topics.ask({ userId: String(1 + (i % 9)) }, { deadlineTimeMs: Date.now() + 60_000 }),
      ),
    );
    const ended = await service.stop();
    expect(ended.status).toBe(0);
    service = await Service.start({}, ['--kafka', broker.address, '--redis', redis.address]);
    grpc.close();
    grpc = new RecallClient(service.grpcAddress);
    for (const id of ids) {
      const answer = await answerTo(id);
      expect(answer?.refusal).toBeUndefined();
      expect(answer?.response?.items).not.toHaveLength(0);
      expect(topics.answers.get(id)).toHaveLength(1);
    }
  });
});
