import 'reflect-metadata';
import * as grpc from '@grpc/grpc-js';
import { ServiceClient } from '@tessera/client';
import { loadConfig } from '@tessera/config';
import { engineLimits, NOTHING_HELD } from '@tessera/engine';
import type { Serving } from '@tessera/hosting';
import { createLog } from '@tessera/telemetry';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { serve } from '../../apps/standalone/src/serve.js';
import { answerTo, explanationOf, FakeRuntime, rankedOf, scoresOf } from './fake-runtime.js';
import { RecallClient } from './recall-client.js';

const { config } = loadConfig({
  environment: {
    TESSERA_HTTP_PORT: '0',
    TESSERA_GRPC_PORT: '0',
    TESSERA_GRPC_MESSAGE_BYTES_MAX: '4096',
  },
});

let runtime: FakeRuntime;
let serving: Serving;
let client: RecallClient;

beforeEach(async () => {
  runtime = new FakeRuntime();
  serving = await serve({ config, runtime, log: createLog('silent'), serviceVersion: '1.2.3' });
  client = new RecallClient(serving.grpcAddress);
});

afterEach(async () => {
  client.close();
  await serving.drain.run();
});

async function postJson(value: unknown, path = '/v1/recall') {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(value);
  const reply = await fetch(serving.httpUrl + path, { method: 'POST', headers, body });
  const json = (await reply.json()) as { error?: unknown };
  return { status: reply.status, headers: reply.headers, json };
}

describe('both edges', () => {
  it('hand the same request to the runtime and the same answer back', async () => {
    const common = {
      requestId: 'r-1',
      catalogue: 'ads',
      profile: { gender: 'f' },
      scene: { daypart: 'evening' },
      resultCount: 5,
      widths: [8, 16],
      itemsPerSid: 2,
      deadlineMs: 900,
      skipUnknownItems: true,
      allowPartial: true,
      itemPolicy: { orderBy: 'bid', diversity: [{ attribute: 'campaign', maxItems: 2 }] },
      attributes: ['bid', 'campaign'],
      frequencyCaps: [
        { action: 'view', maxBehaviours: 2, windowSeconds: 60, attribute: 'campaign' },
        { action: 'click', maxBehaviours: 1, windowSeconds: 5, attribute: '' },
      ],
    };
    const http = await postJson({
      ...common,
      history: [12, '99'],
      scoreNorm: 'level',
      priority: 'high',
    });
    const overGrpc = await client.recall({
      ...common,
      history: { itemIds: ['12', '99'] },
      scoreNorm: 'SCORE_NORM_LEVEL',
      priority: 'PRIORITY_HIGH',
    });
    expect(http.status).toBe(200);
    expect(overGrpc.details).toBe('');
    const [first, second] = runtime.seen;
    expect(first?.request).toEqual({
      ...common,
      deadlineMs: undefined,
      history: ['12', '99'],
      scoreNorm: 'level',
      priority: 'high',
    });
    expect({ ...second?.request }).toEqual({ ...first?.request });
    const answer = answerTo(first?.request as never);
    expect(overGrpc.answer).toEqual({
      ...answer,
      completeness: 'COMPLETENESS_NARROWED',
      search: 'SEARCH_CERTIFIED',
    });
    // A JSON object over HTTP, the text of one over gRPC.
    const items = answer.items.map((item) => ({
      ...item,
      attributes: { asked: common.attributes },
    }));
    expect(http.json).toEqual({ ...answer, items });
  });

  it('hand a search with its budget to the runtime, and its certificate back', async () => {
    const before = runtime.seen.length;
    const asked = { userId: '7', rowBudget: 9 };
    const http = await postJson({ ...asked, search: 'certified' });
    const overGrpc = await client.recall({ ...asked, search: 'SEARCH_CERTIFIED' });
    const seen = runtime.seen.slice(before).map(({ request }) => request);
    expect(seen).toMatchObject([
      { search: 'certified', rowBudget: 9, widths: [] },
      { search: 'certified', rowBudget: 9, widths: [] },
    ]);
    const certificate = { certified: false, gap: -0.75, rows: 9 };
    expect(http.json).toMatchObject({ search: 'certified', ...certificate });
    expect(overGrpc.answer).toMatchObject({ search: 'SEARCH_CERTIFIED', ...certificate });
    await postJson({ userId: '7', search: 'beam' });
    expect(runtime.seen.at(-1)?.request).toMatchObject({ search: 'beam' });
    await postJson({ userId: '7' });
    expect(runtime.seen.at(-1)?.request).not.toHaveProperty('search');
  });

  it('hand a valuation and an exploration to the runtime, and what they came to back', async () => {
    const valuation = { name: 'ecpm', weights: { bid: 2 }, floor: -20 };
    const asked = { userId: '7', valuation, explore: { slots: 1, seed: 2 ** 53 - 1 } };
    const http = await postJson(asked);
    const overGrpc = await client.recall(asked);
    const [first, second] = runtime.seen.splice(0).map(({ request }) => request);
    expect(first).toMatchObject(asked);
    expect(second).toMatchObject(asked);
    expect(second?.valuation?.scoreWeight ?? undefined).toBeUndefined();
    const { items, valuation: applied, exploration } = answerTo(first as never);
    const [{ value, explored, propensity } = items[0] as never] = items;
    const told = { items: [{ value, explored, propensity }], valuation: applied, exploration };
    expect(http.json).toMatchObject(told);
    expect(overGrpc.answer).toMatchObject(told);
    await postJson({ userId: '7' });
    const plain = await client.recall({ userId: '7' });
    for (const { request } of runtime.seen) {
      expect(request).not.toHaveProperty('valuation');
      expect(request).not.toHaveProperty('explore');
    }
    expect(plain.answer?.items).toEqual([expect.not.objectContaining({ explored: false })]);
  });

  it('forecast the wait of a recall, as the runtime has it for the priority', async () => {
    const forecast = { waitUs: 1500, turnUs: 20 };
    const idle = { waitUs: 0, turnUs: 0 };
    vi.spyOn(runtime, 'forecast').mockReturnValue({
      classes: [idle, idle, forecast],
    });
    const asked = { userId: '7', priority: 'low' };
    const { json } = await postJson(asked, '/v1/estimate');
    expect(json).toEqual({ ...forecast, inFlight: 0 });
    const rpc = new ServiceClient('tessera.recall.v1.RecallService', serving.grpcAddress);
    const overGrpc = await rpc.call('Estimate', { userId: '7', priority: 3 });
    expect(overGrpc).toEqual({ ...forecast, inFlight: 0 });
    rpc.close();
    const { status } = await postJson({ priority: 'urgent' }, '/v1/estimate');
    expect(status).toBe(400);
    vi.restoreAllMocks();
  });

  it('hand the same request for scores to the runtime and the same answer back', async () => {
    const common = { requestId: 's-1', userId: '7', profile: {}, scene: {}, deadlineMs: 900 };
    const items = [12, 'x', { sid: [1, 2, 3] }];
    const http = await postJson({ ...common, items, scoreNorm: 'level' }, '/v1/score');
    const overGrpc = await client.score({
      ...common,
      items: [{ itemId: '12' }, { itemId: 'x' }, { sid: { codes: [1, 2, 3] } }],
      scoreNorm: 'SCORE_NORM_LEVEL',
    });
    expect(overGrpc.details).toBe('');
    const [first, second] = runtime.scored;
    expect(first?.request).toEqual({
      requestId: 's-1',
      userId: '7',
      profile: {},
      scene: {},
      skipUnknownItems: true,
      scoreNorm: 'level',
      items: [{ itemId: '12' }, { itemId: 'x' }, { sid: [1, 2, 3] }],
    });
    expect({ ...second?.request }).toEqual({ ...first?.request });
    expect(first?.context.budgetUs).toBeGreaterThan(400_000);
    expect(first?.context.budgetUs).toBeLessThanOrEqual(900_000);
    const answer = scoresOf(first?.request as never);
    expect(http.json).toEqual(answer);
    const outcomes = { scored: 'SCORE_OUTCOME_SCORED', unknown: 'SCORE_OUTCOME_UNKNOWN' };
    expect(overGrpc.answer).toMatchObject({
      ...answer,
      items: answer.items.map((item) => ({ ...item, outcome: outcomes[item.outcome] })),
    });
    const metrics = await (await fetch(`${serving.httpUrl}/metrics`)).text();
    expect(metrics).toContain('tessera_score_requests_total{edge="http",code="OK"} 1');
  });

  it('hand rankings of recalls and of items to the runtime, and its answers back', async () => {
    runtime.seen.splice(0);
    const valuation = { name: 'clicks', weights: { ctr: 2 }, floor: -3 };
    const rank = { items: 50, adapter: 'ranking', valuation };
    const http = await postJson({ userId: '7', rank });
    const overGrpc = await client.recall({ userId: '7', rank });
    for (const { request } of runtime.seen) expect(request).toMatchObject({ rank });
    const answer = answerTo(runtime.seen[0]?.request as never);
    const told = { ranking: answer.ranking, items: [{ ranking: answer.items[0]?.ranking }] };
    expect(http.json).toMatchObject(told);
    expect(overGrpc.answer).toMatchObject(told);
    const asked = { requestId: 'k-1', userId: '7', deadlineMs: 900 };
    const named = await postJson({ ...asked, itemIds: [12, 'x'] }, '/v1/rank');
    const namedOverGrpc = await client.rank({ ...asked, itemIds: ['12', 'x'], rank: {} });
    expect(namedOverGrpc.details).toBe('');
    const [first, second] = runtime.ranked.map(({ request }) => request);
    expect(first).toEqual({
      requestId: 'k-1',
      userId: '7',
      profile: {},
      scene: {},
      skipUnknownItems: true,
      itemIds: ['12', 'x'],
      rank: { adapter: '' },
    });
    expect({ ...second }).toEqual({ ...first });
    const { items, ranking } = rankedOf(first as never);
    expect(named.json).toMatchObject({ requestId: 'k-1', items, ranking });
    expect(namedOverGrpc.answer).toMatchObject({ requestId: 'k-1', items, ranking });
    const metrics = await (await fetch(`${serving.httpUrl}/metrics`)).text();
    expect(metrics).toContain('tessera_rank_requests_total{edge="grpc",code="OK"} 1');
    expect(metrics).toContain('tessera_ranked_items_total 12');
  });

  it('hand the same question about an item to the runtime and the same answer back', async () => {
    const request = { requestId: 'e-1', userId: '7', deadlineMs: 900, resultCount: 3 };
    const versions = {
      model: 'm',
      catalogue: 'c',
      promptTemplate: 'p',
      catalogueSequence: 0,
      adapter: '',
      adapterName: '',
      node: '',
    };
    const http = await postJson({ request, itemId: 12, versions }, '/v1/explain');
    const overGrpc = await client.explain({ request, itemId: '12', versions });
    expect(overGrpc.details).toBe('');
    const [first, second] = runtime.explained;
    expect(first?.request).toMatchObject({
      recall: { requestId: 'e-1', userId: '7', resultCount: 3 },
      itemId: '12',
      versions,
    });
    expect({ ...second?.request.versions }).toEqual(versions);
    expect({ ...second?.request.recall }).toEqual({ ...first?.request.recall });
    expect(first?.context.budgetUs).toBeGreaterThan(400_000);
    expect(first?.context.budgetUs).toBeLessThanOrEqual(900_000);
    const answer = explanationOf(first?.request as never);
    expect(http.json).toEqual(answer);
    expect(overGrpc.answer).toMatchObject({ ...answer, verdict: 'VERDICT_PRUNED' });
    const metrics = await (await fetch(`${serving.httpUrl}/metrics`)).text();
    expect(metrics).toContain('tessera_explain_requests_total{edge="grpc",code="OK"} 1');
  });

  it('leave every default to the runtime when the request says nothing', async () => {
    await postJson({ userId: 7 });
    await client.recall({ userId: '7' });
    const expected = {
      requestId: '',
      userId: '7',
      profile: {},
      scene: {},
      resultCount: 0,
      widths: [],
      itemsPerSid: 0,
      skipUnknownItems: true,
      allowPartial: false,
    };
    expect(runtime.seen.map((seen) => seen.request)).toEqual([expected, expected]);
    // Less what a call waited for the event loop, and what its answer may wait for it.
    for (const { context } of runtime.seen) {
      expect(context.budgetUs).toBeLessThanOrEqual(5_000_000);
      expect(context.budgetUs).toBeGreaterThan(1_000_000);
    }
  });

  it('refuse what the table of errors says with its status, code and field', async () => {
    const overHttp = await postJson({ userId: 'nobody' });
    expect(overHttp.status).toBe(404);
    expect(overHttp.json.error).toEqual({
      code: 'USER_NOT_FOUND',
      message: "userId: 'nobody' is not known",
      field: 'userId',
      retryable: false,
    });
    const overGrpc = await client.recall({ userId: 'nobody' });
    expect(overGrpc).toMatchObject({
      status: grpc.status.NOT_FOUND,
      code: 'USER_NOT_FOUND',
      field: 'userId',
    });
  });

  it('tell a retry time when the engine is overloaded', async () => {
    const overHttp = await postJson({ userId: 'busy' });
    expect(overHttp.status).toBe(429);
    expect(overHttp.headers.get('retry-after')).toBe('2');
    expect((await client.recall({ userId: 'busy' })).status).toBe(grpc.status.RESOURCE_EXHAUSTED);
  });

  it('keep the details of an internal fault from the caller', async () => {
    const overHttp = await postJson({ userId: 'throw' });
    expect(overHttp.status).toBe(500);
    expect(JSON.stringify(overHttp.json)).not.toContain('secret');
    const overGrpc = await client.recall({ userId: 'throw' });
    expect(overGrpc).toMatchObject({ status: grpc.status.INTERNAL, details: 'internal error' });
  });

  it('take the shorter of the call deadline and deadlineMs as the budget', async () => {
    await client.recall({ userId: '1', deadlineMs: 40_000 }, { deadline: Date.now() + 20_000 });
    await client.recall({ userId: '1', deadlineMs: 4000 }, { deadline: Date.now() + 20_000 });
    const [long, short] = runtime.seen.map((seen) => seen.context.budgetUs);
    expect(long).toBeLessThanOrEqual(20_000_000);
    expect(long).toBeGreaterThan(10_000_000);
    expect(short).toBeLessThanOrEqual(4_000_000);
    expect(short).toBeGreaterThan(0);
  });

  it('refuse no time at all before any work, and trying again does not help', async () => {
    const overHttp = await postJson({ userId: '1', deadlineMs: 0 });
    expect(overHttp.status).toBe(400);
    const refusal = { code: 'REQUEST_INVALID', field: 'deadlineMs', retryable: false };
    expect(overHttp.json.error).toMatchObject(refusal);
    const overGrpc = await client.recall({ userId: '1', deadlineMs: 0 });
    expect(overGrpc.status).toBe(grpc.status.INVALID_ARGUMENT);
    expect(runtime.seen).toEqual([]);
  });

  it('count every recall by edge and code', async () => {
    await postJson({ userId: '1' });
    await postJson({ userId: 'nobody' });
    await postJson({ usrId: '1' });
    await client.recall({ userId: '1' });
    const text = await (await fetch(`${serving.httpUrl}/metrics`)).text();
    expect(text).toContain('tessera_recall_requests_total{edge="http",code="OK"} 1');
    expect(text).toContain('tessera_recall_requests_total{edge="http",code="USER_NOT_FOUND"} 1');
    expect(text).toContain('tessera_recall_requests_total{edge="http",code="REQUEST_INVALID"} 1');
    expect(text).toContain('tessera_recall_requests_total{edge="grpc",code="OK"} 1');
  });

  it('count each refusal once: by its edge, or by the gate that read no message', async () => {
    const { queueCapacity } = engineLimits(config.engine);
    const begin = () => client.begin({ userId: 'wait', deadlineMs: 20_000 });
    const waiting = Array.from({ length: queueCapacity }, begin);
    await vi.waitFor(() => expect(runtime.seen).toHaveLength(queueCapacity));
    expect((await postJson({ userId: '1' })).status).toBe(429);
    expect((await client.recall({ userId: '1' })).code).toBe('ENGINE_OVERLOADED');
    const text = await (await fetch(`${serving.httpUrl}/metrics`)).text();
    for (const edge of ['http', 'grpc']) {
      const labels = `{edge="${edge}",code="ENGINE_OVERLOADED"}`;
      expect(text).toContain(`tessera_recall_requests_total${labels} 1\n`);
    }
    expect(text).toContain('tessera_gate_refusals_total{code="ENGINE_OVERLOADED"} 0\n');
    for (const { cancel } of waiting) cancel();
    await Promise.all(waiting.map(({ reply }) => reply));
  });

  it('say what is served and on which disks', async () => {
    const text = await (await fetch(`${serving.httpUrl}/metrics`)).text();
    expect(text).toMatch(/^tessera_build_info\{version="[^"]+",app="standalone",/m);
    expect(text).toContain('tessera_catalogue_items{catalogue=""} 1\n');
    const disks = [...text.matchAll(/^tessera_disk_spare_bytes\{key="([^"]+)"} (\S+)$/gm)];
    for (const [, key, bytes] of disks) expect(Number.isFinite(Number(bytes)), key).toBe(true);
  });
});

describe('a client that goes away', () => {
  it('aborts the recall when its HTTP connection closes', async () => {
    const controller = new AbortController();
    const reply = fetch(`${serving.httpUrl}/v1/recall`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"userId": "wait"}',
      signal: controller.signal,
    }).catch((error: Error) => error.name);
    const { signal } = await runtime.waiting;
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
    controller.abort();
    await aborted;
    expect(await reply).toBe('AbortError');
    expect(runtime.events).toEqual(['aborted']);
  });

  it('aborts the recall when it cancels its gRPC call', async () => {
    const { reply, cancel } = client.begin({ userId: 'wait' });
    const { signal } = await runtime.waiting;
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
    cancel();
    await aborted;
    expect((await reply).status).toBe(grpc.status.CANCELLED);
    expect(runtime.events).toEqual(['aborted']);
  });
});

describe('draining', () => {
  it('answers what was accepted, then closes in the written order', async () => {
    const reply = postJson({ userId: 'wait' });
    await runtime.waiting;
    const reports = await serving.drain.run();
    expect((await reply).status).toBe(200);
    const outcomes = reports.map(({ name, outcome }) => [name, outcome]);
    expect(outcomes.slice(0, 5)).toEqual([
      ['readiness off', 'done'],
      ['stop accepting', 'done'],
      ['engine drain', 'done'],
      ['edges close', 'done'],
      ['nothing held', 'done'],
    ]);
    const closed = outcomes.slice(5);
    expect(closed).toContainEqual(['engine close', 'done']);
    expect(closed.filter(([, outcome]) => outcome !== 'done')).toEqual([]);
    expect(runtime.events).toEqual(['drain', 'close']);
    await expect(postJson({ userId: '1' })).rejects.toThrow();
  });

  it('says what requests have left behind, as the metric does before', async () => {
    runtime.heldWhileIdle = () => ({ ...NOTHING_HELD, prefetches: 3, underway: 0 });
    const metrics = await (await fetch(`${serving.httpUrl}/metrics`)).text();
    expect(metrics).toContain('tessera_held_while_idle{kind="prefetches"} 3');
    expect(metrics).toContain('tessera_held_while_idle{kind="admission"} 0');
    const reports = await serving.drain.run();
    const { outcome, error } = reports.find(({ name }) => name === 'nothing held') ?? {};
    expect(outcome).toBe('failed');
    expect(String(error)).toContain('expected nothing after the last call, got prefetches 3');
    expect(runtime.events).toEqual(['drain', 'close']);
  });

  it('closes the runtime once, however often it is asked to drain', async () => {
    await Promise.all([serving.drain.run(), serving.drain.run()]);
    expect(runtime.closes).toBe(1);
  });
});

describe('beside recall', () => {
  it('tells health with the versions that are served', async () => {
    for (const path of ['/health', '/health/ready', '/health/live']) {
      const reply = await fetch(serving.httpUrl + path);
      expect(reply.status).toBe(200);
      expect(await reply.json()).toEqual({
        live: true,
        ready: true,
        conditions: [],
        state: 'ready',
        versions: {
          service: '1.2.3',
          node: config.node.name,
          model: 'm',
          catalogue: 'c',
          changes: '0',
          adapters: '',
          promptTemplate: 'p',
        },
        instance: expect.stringMatching(/^[0-9a-f-]{36}$/),
        chains: runtime.kvPool.metrics().chains,
      });
    }
  });

  it('offers the API as a page and as a document', async () => {
    const page = await fetch(`${serving.httpUrl}/docs`);
    expect(page.status).toBe(200);
    for (const path of [
      '/docs/',
      '/docs/swagger-initializer.js',
      '/docs-json',
      '/docs-json/console',
      '/docs/index.css',
    ]) {
      const { headers } = await fetch(`${serving.httpUrl}${path}`);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy, path).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
      expect(policy, path).not.toMatch(/script-src[^;]*(unsafe|\*|data:)/);
      expect(headers.get('x-content-type-options'), path).toBe('nosniff');
    }
    const files = (await page.text()).matchAll(/(?:src|href)="([^"]+)"/g);
    const texts = [...files].map(async ([, file = '']) => {
      const reply = await fetch(new URL(file, page.url));
      return { file, status: reply.status, text: await reply.text() };
    });
    const loaded = await Promise.all(texts);
    expect(loaded.filter(({ status }) => status !== 200)).toEqual([]);
    const initializer = loaded.find(({ file }) => file.endsWith('swagger-initializer.js'));
    expect(initializer?.text).toContain("'../docs-json'");
    const document = await (await fetch(`${serving.httpUrl}/docs-json`)).json();
    expect(document).toMatchObject({
      paths: { '/v1/recall': { post: { operationId: 'recall' } } },
    });
  });
});
