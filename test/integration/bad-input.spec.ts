import 'reflect-metadata';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import * as grpc from '@grpc/grpc-js';
import { loadConfig } from '@tessera/config';
import type { Serving } from '@tessera/hosting';
import { createLog } from '@tessera/telemetry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serve } from '../../apps/standalone/src/serve.js';
import { FakeRuntime } from './fake-runtime.js';
import { RecallClient } from './recall-client.js';

const { config } = loadConfig({
  environment: {
    TESSERA_HTTP_PORT: '0',
    TESSERA_GRPC_PORT: '0',
    TESSERA_GRPC_MESSAGE_BYTES_MAX: '4096',
  },
});

const runtime = new FakeRuntime();
let serving: Serving;
let client: RecallClient;

beforeAll(async () => {
  serving = await serve({ config, runtime, log: createLog('silent'), serviceVersion: '1' });
  client = new RecallClient(serving.grpcAddress);
});

afterAll(async () => {
  client.close();
  await serving.drain.run();
});

const bytes = (...values: number[]) => Buffer.from(values);

/** A body whose predicate lies as deep, within the limit of its bytes. */
function nested(open: string, depth: number, close: string): string {
  const predicate = `${open.repeat(depth)}1${close.repeat(depth)}`;
  return `{"userId":"1","eligibility":{"predicate":${predicate}}}`;
}

/** Body, status, code, field. */
const refusedBodies: [string | Buffer, number, string, string][] = [
  ['', 400, 'REQUEST_INVALID', 'body'],
  ['{', 400, 'REQUEST_INVALID', 'body'],
  ['[]', 400, 'REQUEST_INVALID', 'body'],
  ['null', 400, 'REQUEST_INVALID', 'body'],
  ['"1"', 400, 'REQUEST_INVALID', 'body'],
  [
    Buffer.concat([Buffer.from('{"userId":"'), bytes(0xff), Buffer.from('"}')]),
    400,
    'REQUEST_INVALID',
    'body',
  ],
  [
    Buffer.concat([Buffer.from('{"userId":"'), bytes(0xed, 0xa0, 0x80), Buffer.from('"}')]),
    400,
    'REQUEST_INVALID',
    'body',
  ],
  [`{"userId":"${'x'.repeat(20_000)}"}`, 413, 'BODY_TOO_LARGE', 'body'],
  ['{"userId":"\\ud800"}', 400, 'REQUEST_INVALID', 'userId'],
  ['{"usrId":"1"}', 400, 'REQUEST_INVALID', 'usrId'],
  ['{"__proto__":{"userId":"1"}}', 400, 'REQUEST_INVALID', '__proto__'],
  ['{"userId":true}', 400, 'REQUEST_INVALID', 'userId'],
  ['{"userId":1.5}', 400, 'REQUEST_INVALID', 'userId'],
  ['{"userId":1e400}', 400, 'REQUEST_INVALID', 'userId'],
  ['{"history":"1,2"}', 400, 'REQUEST_INVALID', 'history'],
  ['{"history":[1,null]}', 400, 'REQUEST_INVALID', 'history[1]'],
  ['{"history":[1,[2]]}', 400, 'REQUEST_INVALID', 'history[1]'],
  ['{"history":[9007199254740993]}', 400, 'REQUEST_INVALID', 'history[0]'],
  ['{"userId":"1","profile":[]}', 400, 'REQUEST_INVALID', 'profile'],
  ['{"userId":"1","profile":{"age":3}}', 400, 'REQUEST_INVALID', 'profile.age'],
  ['{"userId":"1","user_id":"2"}', 400, 'REQUEST_INVALID', 'user_id'],
  ['{"userId":"1","resultCount":0}', 400, 'REQUEST_INVALID', 'resultCount'],
  ['{"userId":"1","resultCount":-3}', 400, 'REQUEST_INVALID', 'resultCount'],
  ['{"userId":"1","resultCount":"five"}', 400, 'REQUEST_INVALID', 'resultCount'],
  ['{"userId":"1","resultCount":1e30}', 400, 'REQUEST_INVALID', 'resultCount'],
  ['{"userId":"1","widths":5}', 400, 'REQUEST_INVALID', 'widths'],
  ['{"userId":"1","widths":[1,2.5]}', 400, 'REQUEST_INVALID', 'widths[1]'],
  ['{"userId":"1","search":"best"}', 400, 'REQUEST_INVALID', 'search'],
  ['{"userId":"1","search":2}', 400, 'REQUEST_INVALID', 'search'],
  ['{"userId":"1","rowBudget":0}', 400, 'REQUEST_INVALID', 'rowBudget'],
  ['{"userId":"1","rowBudget":"9.5"}', 400, 'REQUEST_INVALID', 'rowBudget'],
  ['{"userId":"1","valuation":{}}', 400, 'REQUEST_INVALID', 'valuation.name'],
  ['{"userId":"1","explore":{"seed":"9007199254740992"}}', 400, 'REQUEST_INVALID', 'explore.seed'],
  ['{"userId":"1","rank":{"valuation":{}}}', 400, 'REQUEST_INVALID', 'rank.valuation.name'],
  ['{"userId":"1","rank":{"items":-1}}', 400, 'REQUEST_INVALID', 'rank.items'],
  ['{"userId":"1","rank":{"adapter":1.5}}', 400, 'REQUEST_INVALID', 'rank.adapter'],
  ['{"userId":"1","rank":{"heads":["click"]}}', 400, 'REQUEST_INVALID', 'rank.heads'],
  ['{"userId":"1","itemsPerSid":-1}', 400, 'REQUEST_INVALID', 'itemsPerSid'],
  ['{"userId":"1","scoreNorm":"softmax"}', 400, 'REQUEST_INVALID', 'scoreNorm'],
  ['{"userId":"1","priority":0}', 400, 'REQUEST_INVALID', 'priority'],
  ['{"userId":"1","deadlineMs":-1}', 400, 'REQUEST_INVALID', 'deadlineMs'],
  ['{"userId":"1","deadlineMs":0}', 400, 'REQUEST_INVALID', 'deadlineMs'],
  [nested('{"not":', 500, '}'), 400, 'REQUEST_INVALID', 'body'],
  [nested('[', 1200, ']'), 400, 'REQUEST_INVALID', 'body'],
  ['{"userId":"1","deadlineMs":60001}', 400, 'REQUEST_INVALID', 'deadlineMs'],
  ['{"userId":"1","deadlineMs":"1s"}', 400, 'REQUEST_INVALID', 'deadlineMs'],
  ['{"userId":"1","skipUnknownItems":1}', 400, 'REQUEST_INVALID', 'skipUnknownItems'],
  ['{"userId":"1","requestId":7}', 400, 'REQUEST_INVALID', 'requestId'],
  ['{"userId":"1","allowPartial":"no"}', 400, 'REQUEST_INVALID', 'allowPartial'],
  ['{"userId":"1","inspect":"no"}', 400, 'REQUEST_INVALID', 'inspect'],
  ['{"userId":"1","eligibility":[]}', 400, 'REQUEST_INVALID', 'eligibility'],
  ['{"userId":"1","itemPolicy":{"order":1}}', 400, 'REQUEST_INVALID', 'itemPolicy.order'],
  ['{"userId":"1","itemPolicy":{"orderBy":1}}', 400, 'REQUEST_INVALID', 'itemPolicy.orderBy'],
  [
    '{"userId":"1","itemPolicy":{"diversity":[{"attribute":"c"}]}}',
    400,
    'REQUEST_INVALID',
    'itemPolicy.diversity[0].maxItems',
  ],
  [
    '{"userId":"1","itemPolicy":{"diversity":[{"max":1}]}}',
    400,
    'REQUEST_INVALID',
    'itemPolicy.diversity[0].max',
  ],
];

/** Body of a request for scores, field. */
const refusedScores: [string, string][] = [
  ['{"userId":"1"}', 'items'],
  ['{"userId":"1","items":"1"}', 'items'],
  ['{"userId":"1","items":[1,null]}', 'items[1]'],
  ['{"userId":"1","items":[{"sid":"1"}]}', 'items[0].sid'],
  ['{"userId":"1","items":[{"sid":[1,"b"]}]}', 'items[0].sid[1]'],
  ['{"userId":"1","items":[{"sid":[1],"id":2}]}', 'items[0].id'],
  ['{"userId":"1","items":[1],"resultCount":5}', 'resultCount'],
];

/** Body of a request to rank items, field. */
const refusedRankings: [string, string][] = [
  ['{"userId":"1"}', 'itemIds'],
  ['{"userId":"1","itemIds":"1"}', 'itemIds'],
  ['{"userId":"1","itemIds":[1,null]}', 'itemIds[1]'],
  ['{"userId":"1","itemIds":[1],"rank":[]}', 'rank'],
  ['{"userId":"1","itemIds":[1],"items":[1]}', 'items'],
  ['{"userId":"1","itemIds":[1],"resultCount":5}', 'resultCount'],
];

/** Body of a question about an item, field. */
const refusedQuestions: [string, string][] = [
  ['{"itemId":"1"}', 'request'],
  ['{"request":{"userId":"1"}}', 'itemId'],
  ['{"request":{"userId":"1","widths":5},"itemId":"1"}', 'request.widths'],
  ['{"request":{"userId":"1","when":5},"itemId":"1"}', 'request.when'],
  ['{"request":{"userId":"1"},"itemId":"1","why":1}', 'why'],
  ['{"request":{"userId":"1"},"itemId":"1","versions":{"model":1}}', 'versions.model'],
  ['{"request":{"userId":"1"},"itemId":"1","versions":{"template":""}}', 'versions.template'],
];

/** Message, status, code, field. */
const refusedMessages: [object, number, string, string][] = [
  [{ userId: '1', resultCount: 0 }, grpc.status.INVALID_ARGUMENT, 'REQUEST_INVALID', 'resultCount'],
  [{ userId: '1', itemsPerSid: 0 }, grpc.status.INVALID_ARGUMENT, 'REQUEST_INVALID', 'itemsPerSid'],
  [{ userId: '1', scoreNorm: 9 }, grpc.status.INVALID_ARGUMENT, 'REQUEST_INVALID', 'scoreNorm'],
  [{ userId: '1', priority: 9 }, grpc.status.INVALID_ARGUMENT, 'REQUEST_INVALID', 'priority'],
  [{ userId: '\ufffd' }, grpc.status.INVALID_ARGUMENT, 'REQUEST_INVALID', 'userId'],
  [
    { history: { itemIds: ['1', '\ufffd'] } },
    grpc.status.INVALID_ARGUMENT,
    'REQUEST_INVALID',
    'history[1]',
  ],
  [
    { userId: '1', scene: { 'tag\u00e9': '\ufffd' } },
    grpc.status.INVALID_ARGUMENT,
    'REQUEST_INVALID',
    'scene.tag%C3%A9',
  ],
  [
    { userId: '1', deadlineMs: 60_001 },
    grpc.status.INVALID_ARGUMENT,
    'REQUEST_INVALID',
    'deadlineMs',
  ],
  [{ userId: '1', deadlineMs: 0 }, grpc.status.INVALID_ARGUMENT, 'REQUEST_INVALID', 'deadlineMs'],
];

describe('the HTTP edge', () => {
  it.each(refusedBodies)('refuses %.60s', async (body, status, code, field) => {
    const reply = await fetch(`${serving.httpUrl}/v1/recall`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const { error } = (await reply.json()) as { error: Record<string, unknown> };
    expect({ status: reply.status, code: error.code, field: error.field }).toEqual({
      status,
      code,
      field,
    });
    expect(error.message).toContain('expected');
  });

  it.each(refusedScores)('refuses the scores %.60s', async (body, field) => {
    const reply = await fetch(`${serving.httpUrl}/v1/score`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { code: 'REQUEST_INVALID', field } });
  });

  it.each(refusedRankings)('refuses the ranking %.60s', async (body, field) => {
    const reply = await fetch(`${serving.httpUrl}/v1/rank`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { code: 'REQUEST_INVALID', field } });
  });

  it.each(refusedQuestions)('refuses the question %.60s', async (body, field) => {
    const reply = await fetch(`${serving.httpUrl}/v1/explain`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { code: 'REQUEST_INVALID', field } });
  });

  it.each(['gzip', 'br', 'deflate'])(
    'refuses a body that is compressed with %s',
    async (encoding) => {
      const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
      const body = gzipSync(JSON.stringify({ userId: '1' }));
      const reply = await fetch(`${serving.httpUrl}/v1/recall`, { method: 'POST', headers, body });
      expect(reply.status).toBe(415);
      expect(await reply.json()).toMatchObject({
        error: {
          code: 'MEDIA_TYPE_UNSUPPORTED',
          field: 'content-encoding',
          message: `content-encoding: expected none, got ${encoding}`,
        },
      });
    },
  );

  it('refuses a text in another charset than UTF-8', async () => {
    const url = `${serving.httpUrl}/v1/recall`;
    const body = '{"userId":7.5}';
    const send = (type: string) =>
      fetch(url, { method: 'POST', headers: { 'content-type': type }, body });
    const refused = await send('application/json; charset=utf-16');
    expect([refused.status, await refused.json()]).toMatchObject([
      415,
      {
        error: {
          code: 'MEDIA_TYPE_UNSUPPORTED',
          message: 'content-type: expected charset=utf-8 or none, got charset=utf-16',
        },
      },
    ]);
    expect((await send('application/json; charset="UTF-8"')).status).toBe(400);
  });

  it('refuses a parameter of the URL, which no method reads', async () => {
    const url = `${serving.httpUrl}/v1/recall?resultCount=5`;
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(url, { method: 'POST', headers, body: '{"userId":"1"}' });
    expect([reply.status, await reply.json()]).toMatchObject([
      400,
      { error: { code: 'REQUEST_INVALID', field: 'resultCount' } },
    ]);
  });

  it('refuses a body that is not JSON by its content type', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'nonsense']) {
      const headers = { 'content-type': type };
      const options = { method: 'POST', headers, body: '{"userId":"1"}' };
      const reply = await fetch(`${serving.httpUrl}/v1/recall`, options);
      expect(reply.status).toBe(415);
      expect(await reply.json()).toMatchObject({ error: { code: 'MEDIA_TYPE_UNSUPPORTED' } });
    }
  });

  it('answers an unknown path and a wrong method with ROUTE_NOT_FOUND', async () => {
    for (const [method, path] of [
      ['GET', '/v1/recall'],
      ['POST', '/v1/recal'],
      ['GET', '/%E0%A4%A'],
    ]) {
      const reply = await fetch(serving.httpUrl + path, { method: method ?? '' });
      expect(reply.status).toBeGreaterThanOrEqual(400);
      const { error } = (await reply.json()) as { error: { code: string } };
      expect(['ROUTE_NOT_FOUND', 'REQUEST_INVALID']).toContain(error.code);
    }
  });

  it.each([
    ['\x00\xff nonsense\r\n\r\n', '400', 'expected HTTP/1.1'],
    [`GET / HTTP/1.1\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, '431', 'at most 16384 bytes'],
  ])('survives bytes that are no HTTP, or too many of it', async (bytes, status, words) => {
    const { hostname, port } = new URL(serving.httpUrl);
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => socket.write(bytes, 'latin1'));
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
      });
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
    });
    expect(answer).toContain(`HTTP/1.1 ${status}`);
    expect(answer).toContain(words);
    expect((await fetch(`${serving.httpUrl}/health`)).status).toBe(200);
  });
});

describe('the gRPC edge', () => {
  it.each(refusedMessages)('refuses %j', async (message, status, code, field) => {
    const reply = await client.recall(message);
    expect({ status: reply.status, code: reply.code, field: reply.field }).toEqual({
      status,
      code,
      field,
    });
  });

  it('refuses a target that names neither item nor SID', async () => {
    const question = await client.explain({ itemId: '1' });
    expect(question).toMatchObject({ code: 'REQUEST_INVALID', field: 'request' });
    const reply = await client.score({ userId: '1', items: [{ itemId: '1' }, {}] });
    expect(reply).toMatchObject({ code: 'REQUEST_INVALID', field: 'items[1]' });
  });

  it('refuses a message over its size limit', async () => {
    const reply = await client.recall({ userId: 'x'.repeat(5000) });
    expect(reply.status).toBe(grpc.status.RESOURCE_EXHAUSTED);
  });

  it('refuses bytes that are no message as the fault of the caller', async () => {
    const raw = new grpc.Client(serving.grpcAddress, grpc.credentials.createInsecure());
    const error = await new Promise<grpc.ServiceError | null>((resolve) => {
      raw.makeUnaryRequest(
        '/tessera.recall.v1.RecallService/Recall',
        (message: Buffer) => message,
        (answer) => answer,
        bytes(0x7f),
        resolve,
      );
    });
    raw.close();
    expect(error?.code).toBe(grpc.status.INVALID_ARGUMENT);
    expect(error?.metadata.get('tessera-code')).toEqual(['REQUEST_INVALID']);
  });

  it('answers an unknown method with UNIMPLEMENTED', async () => {
    const raw = new grpc.Client(serving.grpcAddress, grpc.credentials.createInsecure());
    const error = await new Promise<grpc.ServiceError | null>((resolve) => {
      const path = '/tessera.recall.v1.RecallService/Recal';
      raw.makeUnaryRequest(
        path,
        (m: Buffer) => m,
        (a) => a,
        bytes(),
        resolve,
      );
    });
    raw.close();
    expect(error?.code).toBe(grpc.status.UNIMPLEMENTED);
  });
});

it('none of it reached the runtime', () => {
  expect(runtime.seen).toEqual([]);
});
