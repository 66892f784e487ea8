/** Many recalls in one call: at a node and through a gateway, over gRPC and HTTP. */

import 'reflect-metadata';
import { ServiceClient } from '@tessera/client';
import { loadConfig } from '@tessera/config';
import type { Serving } from '@tessera/hosting';
import { partitionOf } from '@tessera/routing';
import { createLog } from '@tessera/telemetry';
import { temporaryFolder, until } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServingGateway, serve as serveGateway } from '../../apps/gateway/src/serve.js';
import { serve } from '../../apps/standalone/src/serve.js';
import { FakeCluster } from './fake-cluster.js';
import { answerTo, FakeRuntime } from './fake-runtime.js';

const RECALLS_MAX = 256;
const SERVICE = 'tessera.recall.v1.RecallService';
const PORTS = { TESSERA_HTTP_PORT: '0', TESSERA_GRPC_PORT: '0', TESSERA_INSPECTION_PATH: '' };
const log = createLog('silent');
const folder = temporaryFolder({});
const cluster = new FakeCluster(folder.path);

interface Node {
  readonly name: string;
  readonly runtime: FakeRuntime;
  readonly serving: Serving;
}

type Batch = ServiceClient<typeof SERVICE>;

const nodes: Node[] = [];
let gateway: ServingGateway;
const clients: Batch[] = [];

beforeAll(async () => {
  for (const name of ['a', 'b', 'c']) {
    const runtime = new FakeRuntime();
    nodes.push({ name, runtime, serving: await cluster.serve(name, { runtime }, PORTS) });
  }
  const named = nodes.map(({ name, serving }) => {
    return `${name}=${serving.grpcAddress}/${new URL(serving.httpUrl).host}`;
  });
  const environment = Object.assign({}, PORTS, { TESSERA_CLUSTER_NODES: named.join() });
  const { config } = loadConfig({ environment });
  gateway = await serveGateway({ config, log, serviceVersion: '1' });
  for (const { grpcAddress } of [nodes[0]?.serving as Serving, gateway]) {
    clients.push(new ServiceClient(SERVICE, grpcAddress));
  }
});

afterAll(async () => {
  for (const client of clients) client.close();
  await gateway?.drain.run();
  for (const { serving } of nodes) await serving.drain.run();
  folder.remove();
});

interface Outcome {
  readonly answer?: { readonly items: readonly { readonly itemId: string }[] };
  readonly failure?: { readonly code: string; readonly field: string };
}

const PATH = '/v1/recall/batch';
const edges = () => [nodes[0]?.serving as Serving, gateway];

async function post(body: unknown, url: string) {
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(url + PATH, { method: 'POST', headers, body: JSON.stringify(body) });
  const json = await reply.json();
  return { status: reply.status, json: json as { outcomes: Outcome[]; error: { field: string } } };
}

/** The outcome of a recall as one word. */
const wordOf = ({ answer, failure }: Outcome) =>
  answer?.items[0]?.itemId ?? `${failure?.code} ${failure?.field}`;

const ASKED = [
  { userId: 'u1', requestId: '1' },
  { userId: 'nobody' },
  { history: ['x', 'y'] },
  { userId: 'u2', deadlineMs: 86_400_000 },
  { userId: 'throw' },
  { userId: 'busy' },
  ...Array.from({ length: 20 }, (_, n) => ({ userId: `user-${n} ü` })),
  { userId: 'u1', requestId: '2' },
];
const EXPECTED = [
  'u1',
  'USER_NOT_FOUND userId',
  'x+y',
  'REQUEST_INVALID deadlineMs',
  'INTERNAL ',
  'ENGINE_OVERLOADED ',
  ...Array.from({ length: 20 }, (_, n) => `user-${n} ü`),
  'u1',
];

describe('a batch of recalls', () => {
  it('has an answer or an error for each, in their order, at node and gateway', async () => {
    for (const { httpUrl } of edges()) {
      const { status, json } = await post({ recalls: ASKED }, httpUrl);
      expect(status).toBe(200);
      expect(json.outcomes.map(wordOf)).toEqual(EXPECTED);
      expect(json.outcomes[0]?.answer).toEqual(
        expect.objectContaining({ requestId: '1', versions: answerTo({} as never).versions }),
      );
      expect(json.outcomes[5]?.failure).toMatchObject({ retryable: true, retryAfterMs: 1500 });
      expect(json.outcomes[4]?.failure).toMatchObject({ message: 'internal error' });
    }
    const wire = ASKED.map((one) =>
      'history' in one ? { history: { itemIds: one.history } } : one,
    );
    for (const client of clients) {
      const { outcomes } = await client.call('RecallBatch', { recalls: wire } as never);
      // Fields as the proto files spell them.
      const spelt = EXPECTED.map((word) =>
        word.replace(' userId', ' user_id').replace(' deadlineMs', ' deadline_ms'),
      );
      expect((outcomes as readonly Outcome[]).map(wordOf)).toEqual(spelt);
      expect(outcomes[5]?.failure).toMatchObject({ retryable: true, retryAfterMs: 1500 });
    }
  });

  it('goes to the owner of each user', async () => {
    const { table } = gateway.cluster;
    const before = nodes.map(({ runtime }) => runtime.seen.length);
    // An ID is the same user as text and as an integer.
    const users = Array.from({ length: 30 }, (_, n) => 7_000 + n);
    const recalls = users.map((userId, n) => ({ userId: n % 2 === 0 ? userId : `${userId}` }));
    const { json } = await post({ recalls }, gateway.httpUrl);
    expect(json.outcomes.map(wordOf)).toEqual(users.map(String));
    for (const [at, { name, runtime }] of nodes.entries()) {
      const seen = runtime.seen.slice(before[at]).map(({ request }) => request.userId);
      const owned = users.map(String).filter((userId) => {
        const [owner = 0] = table.order(partitionOf(userId));
        return table.members[owner]?.name === name;
      });
      expect(seen.sort(), name).toEqual(owned.sort());
      expect(owned.length).toBeGreaterThan(0);
    }
  });

  it('is refused whole where it is none, and says where', async () => {
    const recall = { userId: 'u' };
    for (const [body, field] of [
      [{}, 'recalls'],
      [{ recalls: [] }, 'recalls'],
      [{ recalls: new Array(RECALLS_MAX + 1).fill(recall) }, 'recalls'],
      [{ recalls: [recall], deadlineMs: 0 }, 'deadlineMs'],
      [{ recalls: [...ASKED, { userId: 'u', wanted: 1 }] }, `recalls[${ASKED.length}].wanted`],
    ] as const) {
      for (const { httpUrl } of edges()) {
        const { status, json } = await post(body, httpUrl);
        expect([status, json.error.field]).toEqual([400, field]);
      }
    }
    const many = { recalls: new Array(RECALLS_MAX + 1).fill(recall) };
    for (const client of clients) {
      const refused = client.call('RecallBatch', many);
      await expect(refused).rejects.toThrow(`expected 1..${RECALLS_MAX} recalls`);
    }
    const most = { recalls: new Array(RECALLS_MAX).fill(recall) };
    for (const client of clients) {
      const { outcomes } = await client.call('RecallBatch', most);
      expect(outcomes).toHaveLength(RECALLS_MAX);
    }
  });

  it('gives each recall the time of all, or its own where that is less', async () => {
    const budgets = async (recalls: readonly object[], deadlineMs?: number) => {
      const [{ runtime, serving }] = nodes as [Node];
      const before = runtime.seen.length;
      await post({ recalls, deadlineMs }, serving.httpUrl);
      return runtime.seen.slice(before).map(({ context }) => context.budgetUs / 1000);
    };
    const [all = 0, own = 0, more = 0] = await budgets(
      [{ userId: 'u' }, { userId: 'u', deadlineMs: 20_000 }, { userId: 'u', deadlineMs: 60_000 }],
      40_000,
    );
    for (const [leftMs, ofMs] of [
      [all, 40_000],
      [own, 20_000],
      [more, 40_000],
    ] as const) {
      expect(leftMs).toBeLessThanOrEqual(ofMs);
      expect(leftMs).toBeGreaterThan(ofMs / 4);
    }
  });

  it('ends with its caller', async () => {
    const { runtime } = nodes[0] as Node;
    const controller = new AbortController();
    const body = JSON.stringify({ recalls: [{ userId: 'wait' }, { userId: 'u' }] });
    const headers = { 'content-type': 'application/json' };
    const { signal } = controller;
    const url = (nodes[0] as Node).serving.httpUrl + PATH;
    const begun = fetch(url, { method: 'POST', headers, body, signal });
    await runtime.waiting;
    controller.abort();
    await expect(begun).rejects.toThrow();
    await until('the recall is cancelled', () => runtime.events.includes('aborted'));
  });

  it('has places in admission, one for each of its recalls', async () => {
    const environment = { ...PORTS, TESSERA_ENGINE_BATCH_REQUESTS_MAX: '1' };
    const runtime = new FakeRuntime();
    const { config } = loadConfig({ environment });
    const lone = await serve({ config, runtime, log, serviceVersion: '1' });
    const url = lone.httpUrl + PATH;
    const statusOfOne = async () => {
      const { json } = await post({ recalls: [{ userId: 'u' }] }, lone.httpUrl);
      return json.outcomes.map(wordOf);
    };
    const controller = new AbortController();
    const begun = fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ recalls: new Array(17).fill({ userId: 'wait', deadlineMs: 9000 }) }),
      signal: controller.signal,
    });
    await until('sixteen are under way', () => runtime.seen.length === 16);
    expect(await statusOfOne()).toEqual(['ENGINE_OVERLOADED ']);
    controller.abort();
    await expect(begun).rejects.toThrow();
    await until('their places are free', async () => (await statusOfOne())[0] === 'u');
    expect(runtime.events.filter((event) => event === 'aborted')).toHaveLength(16);
    await lone.drain.run();
  });
});

describe('with a node away', () => {
  it('its users are answered by others; where none is left, the batch is refused', async () => {
    const recalls = Array.from({ length: 20 }, (_, n) => ({ userId: `away-${n}` }));
    await nodes[2]?.serving.drain.run();
    for (const url of [gateway.httpUrl]) {
      const { json } = await post({ recalls }, url);
      expect(json.outcomes.map(wordOf)).toEqual(recalls.map(({ userId }) => userId));
    }
    for (const { serving } of nodes.slice(0, 2)) await serving.drain.run();
    const { status } = await post({ recalls }, gateway.httpUrl);
    expect(status).toBe(503);
    const [, client] = clients as [Batch, Batch];
    await expect(client.call('RecallBatch', { recalls } as never)).rejects.toMatchObject({
      code: 14,
    });
  });
});
