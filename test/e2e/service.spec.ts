import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import * as grpc from '@grpc/grpc-js';
import * as protoLoader from '@grpc/proto-loader';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../libs/testing/src/index.js';
import { RecallClient } from '../integration/recall-client.js';
import { SMALL, writeRandomModel } from './random-model.js';
import { Service } from './service.js';

const folder = temporaryFolder({});
let service: Service;
let client: RecallClient;

beforeAll(async () => {
  writeRandomModel(join(folder.path, 'model'), SMALL);
  service = await Service.start({
    TESSERA_MODEL_PATH: join(folder.path, 'model'),
    TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, 'cache'),
    TESSERA_ENGINE_RESULT_COUNT_MAX: '100',
  });
  client = new RecallClient(service.grpcAddress);
});

afterAll(async () => {
  client?.close();
  await service?.stop();
  folder.remove();
});

type Item = { itemId: string; sid: number[]; score: number; rank: number; title: string };
const itemsOf = (json: Record<string, unknown> | undefined) => json?.items as Item[];

describe('the served recall', () => {
  it('prints where it serves and a sample of one user', () => {
    expect(service.stdout).toContain(`${service.httpUrl}/docs`);
    expect(service.stdout).toMatch(/rank {2}item +SID +score +title/);
  });

  it('is the same over HTTP and gRPC, for a user and for the history behind it', async () => {
    const byUser = await service.post({ userId: 1, resultCount: 20 });
    const byHistory = await service.post({ history: [3, 14, 15, 92], resultCount: 20 });
    const overGrpc = await client.recall({ userId: '1', resultCount: 20 });
    expect(byUser.status).toBe(200);
    expect(itemsOf(byUser.json)).toHaveLength(20);
    expect(itemsOf(byHistory.json)).toEqual(itemsOf(byUser.json));
    // No attributes are asked for: over gRPC a text that is empty, over HTTP nothing.
    const items = itemsOf(byUser.json).map((item) => ({ ...item, attributes: '' }));
    expect(itemsOf(overGrpc.answer)).toEqual(items);
    expect(overGrpc.answer?.versions).toEqual(byUser.json.versions);
  });

  it('gives live items of the catalogue with their SIDs, best first', async () => {
    const lines = readFileSync(join(folder.path, 'model', 'catalogue.jsonl'), 'utf8').trim();
    const catalogue = new Map(
      lines.split('\n').map((line) => {
        const item = JSON.parse(line) as { item_id: string; sid: number[]; title: string };
        return [item.item_id, item] as const;
      }),
    );
    const items = itemsOf((await service.post({ userId: '2', resultCount: 100 })).json);
    expect(items.map((item) => item.rank)).toEqual(items.map((_, index) => index + 1));
    expect(new Set(items.map((item) => item.itemId)).size).toBe(items.length);
    for (const [index, item] of items.entries()) {
      expect(item.sid).toEqual(catalogue.get(item.itemId)?.sid);
      expect(item.title).toBe(catalogue.get(item.itemId)?.title);
      expect(item.score).toBeLessThanOrEqual(items[index - 1]?.score ?? 0);
    }
  });

  it('scores items over both edges exactly as it recalls them', async () => {
    const recalled = itemsOf((await service.post({ userId: '1', resultCount: 20 })).json);
    const ids = recalled.map((item) => item.itemId);
    const body = { userId: '1', items: [...ids, 'no-such-item', { sid: recalled[0]?.sid }] };
    const overHttp = await service.post(body, undefined, '/v1/score');
    const items = [...ids, 'no-such-item'].map((itemId) => ({ itemId }));
    const overGrpc = await client.score({ userId: '1', items });
    const scores = (json: Record<string, unknown> | undefined) =>
      itemsOf(json).map((item) => item.score);
    const expected = recalled.map((item) => item.score);
    expect(scores(overHttp.json)).toEqual([...expected, undefined, expected[0]]);
    expect(scores(overGrpc.answer).slice(0, -1)).toEqual(expected);
    expect(overHttp.json.items).toContainEqual({
      itemId: 'no-such-item',
      sid: [],
      outcome: 'unknown',
    });
  });

  it('says how long each stage took', async () => {
    const { timings } = (await service.post({ userId: '1' })).json as {
      timings: Record<string, number>;
    };
    const { totalUs = 0, ...stages } = timings;
    const sum = Object.values(stages).reduce((total, us) => total + us, 0);
    expect(Object.keys(timings)).toHaveLength(13);
    expect(totalUs).toBeGreaterThan(0);
    expect(Math.min(...Object.values(stages))).toBeGreaterThanOrEqual(0);
    expect(sum).toBeGreaterThan(0);
  });

  it('answers many clients at once as it answers one alone', async () => {
    const alone = await service.post({ userId: '1', resultCount: 10 });
    const crowd = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        service.post(index % 2 ? { userId: '1', resultCount: 10 } : { history: [index] }),
      ),
    );
    for (const [index, reply] of crowd.entries()) {
      expect(reply.status).toBe(200);
      if (index % 2) expect(itemsOf(reply.json)).toEqual(itemsOf(alone.json));
    }
  });
});

const { INVALID_ARGUMENT, NOT_FOUND } = grpc.status;

/** Body over HTTP, message over gRPC, statuses, code, field. */
const refused: [object, object, number, number, string, string][] = [
  [{}, {}, 400, INVALID_ARGUMENT, 'REQUEST_INVALID', 'userId'],
  [
    { history: [], requireHistory: true },
    { history: {}, requireHistory: true },
    400,
    INVALID_ARGUMENT,
    'REQUEST_INVALID',
    'history',
  ],
  [
    { userId: 'x', requireHistory: true },
    { userId: 'x', requireHistory: true },
    404,
    NOT_FOUND,
    'USER_NOT_FOUND',
    'userId',
  ],
  [
    { history: [1, 'x'], refuseUnknownItems: true },
    { history: { itemIds: ['1', 'x'] }, refuseUnknownItems: true },
    404,
    NOT_FOUND,
    'ITEM_NOT_FOUND',
    'history[1]',
  ],
  [
    { userId: '1', resultCount: 101 },
    { userId: '1', resultCount: 101 },
    400,
    INVALID_ARGUMENT,
    'REQUEST_INVALID',
    'resultCount',
  ],
  [
    { userId: '1', widths: [50, 513] },
    { userId: '1', widths: [50, 513] },
    400,
    INVALID_ARGUMENT,
    'REQUEST_INVALID',
    'widths[1]',
  ],
  [
    { userId: '1', widths: [0] },
    { userId: '1', widths: [0] },
    400,
    INVALID_ARGUMENT,
    'REQUEST_INVALID',
    'widths[0]',
  ],
  [
    { userId: '1', scene: { daypat: 'noon' } },
    { userId: '1', scene: { daypat: 'noon' } },
    400,
    INVALID_ARGUMENT,
    'REQUEST_INVALID',
    'scene.daypat',
  ],
];

describe('bad input', () => {
  it.each(refused)('%j is refused on both edges alike', async (body, message, ...expected) => {
    const [httpStatus, grpcStatus, code, field] = expected;
    const overHttp = await service.post(body);
    expect(overHttp.status).toBe(httpStatus);
    expect(overHttp.json.error).toMatchObject({ code, field });
    const overGrpc = await client.recall(message);
    expect(overGrpc).toMatchObject({ status: grpcStatus, code, field });
    expect(overGrpc.details).toBe((overHttp.json.error as { message: string }).message);
  });

  it('leaves out items that the catalogue does not know, and counts them', async () => {
    const reply = await service.post({ history: ['x', 1] });
    expect(reply.json).toMatchObject({ skippedItems: 1, historyItems: 1, fallback: '' });
  });

  it('answers users without history, and says so', async () => {
    for (const whose of [{ userId: 'x' }, { history: [] }, { history: ['x', 'y'] }]) {
      const { status, json } = await service.post({ ...whose, resultCount: 5 });
      expect([status, json.fallback, json.historyItems]).toEqual([200, 'no-history', 0]);
      expect(itemsOf(json)).toHaveLength(5);
    }
  });
});

describe('beside the recall', () => {
  it('tells health over HTTP and gRPC', async () => {
    const health = await fetch(`${service.httpUrl}/health`);
    expect(health.status).toBe(200);
    const { protoPath } = createRequire(import.meta.url)('grpc-health-check');
    const packages = grpc.loadPackageDefinition(protoLoader.loadSync(protoPath)) as never as {
      grpc: { health: { v1: { Health: grpc.ServiceClientConstructor } } };
    };
    const { Health } = packages.grpc.health.v1;
    const checker = new Health(service.grpcAddress, grpc.credentials.createInsecure());
    for (const name of ['', 'tessera.recall.v1.RecallService']) {
      const status = await new Promise((resolve) => {
        checker.Check?.({ service: name }, (_error: unknown, answer: { status: string }) =>
          resolve(answer.status),
        );
      });
      expect(status).toBe(1);
    }
    checker.close();
  });

  it('tells its services by reflection', async () => {
    const proto = 'node_modules/@grpc/reflection/build/proto/grpc/reflection/v1/reflection.proto';
    const packages = grpc.loadPackageDefinition(protoLoader.loadSync(proto)) as never as {
      grpc: { reflection: { v1: { ServerReflection: grpc.ServiceClientConstructor } } };
    };
    const { ServerReflection } = packages.grpc.reflection.v1;
    const reflection = new ServerReflection(service.grpcAddress, grpc.credentials.createInsecure());
    const call = reflection.ServerReflectionInfo?.() as grpc.ClientDuplexStream<object, object>;
    const answer = new Promise((resolve, reject) => {
      call.on('data', resolve).on('error', reject);
    });
    const ended = new Promise((resolve) => call.on('end', resolve));
    call.write({ listServices: '' });
    expect(JSON.stringify(await answer)).toContain('tessera.recall.v1.RecallService');
    // The service is stopped next: a stream still open would end with an error that nobody takes.
    call.end();
    await ended;
    reflection.close();
  });
});
