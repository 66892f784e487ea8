/** A gateway before three nodes of fake runtimes, all in this process, over real connections. */

import 'reflect-metadata';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ServiceClient } from '@tessera/client';
import { loadConfig } from '@tessera/config';
import type { Serving } from '@tessera/hosting';
import { partitionOf } from '@tessera/routing';
import { createLog } from '@tessera/telemetry';
import { temporaryFolder, until } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClusterPage } from '../../apps/console/src/api-types.js';
import { type ServingGateway, serve as serveGateway } from '../../apps/gateway/src/serve.js';
import { serve } from '../../apps/standalone/src/serve.js';
import { FakeCluster } from './fake-cluster.js';
import { FakeRelevance } from './fake-relevance.js';
import { FakeRuntime } from './fake-runtime.js';
import { RecallClient } from './recall-client.js';

interface Node {
  readonly name: string;
  readonly runtime: FakeRuntime;
  readonly relevance: FakeRelevance;
  readonly serving: Serving;
}

const CATALOGUE = 'tessera.catalogue.v1.CatalogueService';
const upsert = (itemId: string) => ({ upsert: { itemId, sid: [3, 1, 4] } });
const CHAIN = { version: 'v' } as never;
const folder = temporaryFolder({});
const cluster = new FakeCluster(folder.path);
const log = createLog('silent');
const PORTS = { TESSERA_HTTP_PORT: '0', TESSERA_GRPC_PORT: '0', TESSERA_INSPECTION_PATH: '' };
const nodes: Node[] = [];
let gateway: ServingGateway;
let client: RecallClient;
let kv: ServiceClient<'tessera.kv.v1.KvPoolService'>;

async function startNode(
  name: string,
  ports: object = {},
  runtime = new FakeRuntime(),
): Promise<Node> {
  const relevance = new FakeRelevance();
  const parts = { runtime, relevance: relevance.opened };
  const variables = Object.assign({}, PORTS, ports);
  return { name, runtime, relevance, serving: await cluster.serve(name, parts, variables) };
}

function gatewayConfig(members: readonly Pick<Node, 'name' | 'serving'>[], more: object = {}) {
  const named = members.map(({ name, serving }) => {
    return `${name}=${serving.grpcAddress}/${new URL(serving.httpUrl).host}`;
  });
  const environment = Object.assign({}, PORTS, {
    TESSERA_NODE_NAME: 'gateway',
    TESSERA_CLUSTER_NODES: named.join(),
  });
  Object.assign(environment, more);
  return loadConfig({ environment }).config;
}

beforeAll(async () => {
  for (const name of ['a', 'b', 'c']) nodes.push(await startNode(name));
  gateway = await serveGateway({ config: gatewayConfig(nodes), log, serviceVersion: '1' });
  client = new RecallClient(gateway.grpcAddress);
  kv = new ServiceClient('tessera.kv.v1.KvPoolService', gateway.grpcAddress);
});

afterAll(async () => {
  client?.close();
  kv?.close();
  await gateway?.drain.run();
  for (const { serving } of nodes) await serving.drain.run();
  folder.remove();
});

const orderOf = (userId: string) => {
  const { table } = gateway.cluster;
  return table.order(partitionOf(userId)).map((node) => table.members[node]?.name as string);
};
const ownerOf = (userId: string) => nodes.find(({ name }) => name === orderOf(userId)[0]) as Node;

async function post(path: string, body: unknown, url = gateway.httpUrl) {
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: reply.status, json: (await reply.json()) as Record<string, unknown> };
}

describe('a gateway', () => {
  it('sends nothing to a node at whose gRPC address another process answers', async () => {
    const [a, b, c] = nodes as [Node, Node, Node];
    const swapped = [
      { name: 'a', serving: { ...a.serving, grpcAddress: b.serving.grpcAddress } },
      { name: 'b', serving: { ...b.serving, grpcAddress: a.serving.grpcAddress } },
      c,
    ];
    const other = await serveGateway({ config: gatewayConfig(swapped), log, serviceVersion: '1' });
    const states = () => other.cluster.links().map(({ state, reason }) => [state, reason]);
    const wrong = ({ serving }: Node, name: string) => [
      'different',
      `${serving.grpcAddress}: expected ${name}, got another process`,
    ];
    await until('all nodes were seen', () => states().every(([state]) => state !== 'unknown'));
    expect(states()).toEqual([wrong(b, 'a'), wrong(a, 'b'), ['up', '']]);
    const answer = await post('/v1/recall', { userId: 'any' }, other.httpUrl);
    expect(answer).toMatchObject({ status: 200 });
    await other.drain.run();
  });

  it('sends the requests of a user to one node, which is what it says', async () => {
    const users = Array.from({ length: 16 }, (_, n) => `user-${n} ü`);
    for (const userId of users) {
      const { json } = await post('/v1/cluster/route', { userId });
      const [owner, ...successors] = orderOf(userId);
      expect(json).toMatchObject({ partition: partitionOf(userId), owner, successors, now: owner });
      const { runtime } = ownerOf(userId);
      const before = runtime.seen.length;
      expect((await client.recall({ userId })).details).toBe('');
      expect((await post('/v1/recall', { userId })).status).toBe(200);
      const seen = runtime.seen.slice(before).map(({ request }) => request.userId);
      expect(seen).toEqual([userId, userId]);
    }
    const owners = new Set(users.map((userId) => ownerOf(userId).name));
    expect(owners.size).toBe(3);
  });

  it('refuses a parameter of the URL, as a node does', async () => {
    const { status, json } = await post('/v1/recall?resultCount=5', { userId: '1' });
    expect([status, json.error]).toMatchObject([400, { field: 'resultCount' }]);
  });

  it('sends spans of its calls', async () => {
    const spans: { name: string; traceId: string; parentSpanId?: string }[] = [];
    const collector = createServer(async (request, reply) => {
      const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
      for (const { scopeSpans } of body.resourceSpans) {
        for (const scope of scopeSpans) spans.push(...scope.spans);
      }
      reply.end('{}');
    }).listen(0, '127.0.0.1');
    await once(collector, 'listening');
    const { port } = collector.address() as AddressInfo;
    const otel = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
    const traced = await serveGateway({
      config: gatewayConfig(nodes, otel),
      log,
      serviceVersion: '1',
    });
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
    expect((await fetch(`${traced.httpUrl}/v1/models`, { headers: { traceparent } })).status).toBe(
      200,
    );
    const own = new RecallClient(traced.grpcAddress);
    await own.recall({ userId: 'u' });
    own.close();
    await traced.drain.run();
    collector.close();
    expect(spans).toMatchObject([
      { name: 'forward /v1/models', traceId, parentSpanId: 'b7ad6b7169203331' },
      { name: 'forward RecallService/Recall' },
    ]);
  });

  it('answers as the node itself, refusals and their trailers too', async () => {
    const asked = [
      { userId: 'u', requestId: 'r', resultCount: 3, scene: { daypart: 'evening' } },
      { history: { itemIds: ['1', '2'] }, requestId: 'r' },
      { userId: 'nobody' },
      { userId: 'throw' },
    ];
    const direct = new RecallClient(ownerOf('u').serving.grpcAddress);
    for (const request of asked) {
      expect(await client.recall(request)).toEqual(await direct.recall(request));
      const history = 'history' in request ? { history: request.history?.itemIds } : {};
      const json = Object.assign({}, request, history);
      const own = await post('/v1/recall', json, ownerOf('u').serving.httpUrl);
      expect(await post('/v1/recall', json)).toEqual(own);
    }
    const explained = { request: { userId: 'u', requestId: 'r' }, itemId: 'i' };
    expect(await client.explain(explained)).toEqual(await direct.explain(explained));
    expect(ownerOf('u').runtime.explained).toHaveLength(2);
    const scored = { userId: 'u', requestId: 'r', items: [{ itemId: 'a' }] };
    expect(await client.score(scored)).toEqual(await direct.score(scored));
    direct.close();
  });

  it('answers a request without a body as the node does', async () => {
    const node = nodes[0]?.serving.httpUrl ?? '';
    const paths = ['recall', 'score', 'explain', 'rerank', 'embeddings', 'sid', 'kv/append'].map(
      (path) => `/v1/${path}`,
    );
    paths.push('/v1/kv/drop-user', '/v1/kv/inspect', '/v1/catalogue/apply', '/v2/rerank');
    paths.push('/rerank', '/embed');
    for (const path of paths) {
      for (const headers of [{}, { 'content-type': 'application/json' }]) {
        const ask = async (url: string) => {
          const reply = await fetch(url + path, { method: 'POST', headers });
          const { error } = (await reply.json()) as { error: { code: string; field?: string } };
          return [path, reply.status, error.code, error.field] as const;
        };
        const answered = await ask(gateway.httpUrl);
        expect(answered[1]).toBeGreaterThanOrEqual(400);
        expect(answered[1]).toBeLessThan(500);
        expect(answered).toEqual(await ask(node));
      }
    }
  });

  it('asks a successor where the owner refuses before it begins', async () => {
    const seen = () => nodes.map(({ runtime }) => runtime.seen.length);
    const before = seen();
    const reply = await client.recall({ userId: 'busy' });
    expect(reply).toMatchObject({ code: 'ENGINE_OVERLOADED', details: 'the queue is full' });
    expect(seen()).toEqual(before.map((count) => count + 1));
    const overHttp = await post('/v1/recall', { userId: 'busy' });
    expect(overHttp).toMatchObject({ status: 429, json: { error: { code: 'ENGINE_OVERLOADED' } } });
  });

  it('passes the deadline on, a little shorter, and ends what nobody waits for', async () => {
    const { runtime } = ownerOf('wait');
    const begun = client.begin({ userId: 'wait' }, { deadline: Date.now() + 60_000 });
    const { budgetUs } = await runtime.waiting;
    expect(budgetUs).toBeLessThan(60_000_000 - 2000);
    expect(budgetUs).toBeGreaterThan(30_000_000);
    begun.cancel();
    await until('the node ends it', () => runtime.events.includes('aborted'));
  });

  it('brings each change to every node by the log, in one order', async () => {
    const catalogue = new ServiceClient(CATALOGUE, gateway.grpcAddress);
    const apply = (ids: readonly string[]) => catalogue.call('Apply', { changes: ids.map(upsert) });
    const begun = ['b', 'c', 'd', 'e'].map((id) => apply([id, `${id}2`]));
    const answers = await Promise.all(begun);
    const sequences = answers.map((answer) => (answer as { sequence: number }).sequence);
    expect(sequences.sort((a, b) => a - b)).toEqual([2, 4, 6, 8]);
    const states = nodes.map(({ runtime }) => runtime.changes.state());
    expect(states.map(({ sequence }) => sequence)).toEqual([8, 8, 8]);
    const refused = catalogue.call('Apply', { changes: [{}] });
    await expect(refused).rejects.toMatchObject({ code: 9 });
    const streamed = catalogue.converse('ApplyStream');
    const streamedTo: number[] = [];
    const ended = new Promise((resolve) => streamed.on('end', resolve));
    streamed.on('data', ({ sequence }) => streamedTo.push(sequence));
    for (const id of ['f', 'g']) streamed.write({ changes: [upsert(id)] } as never);
    streamed.end();
    await ended;
    expect(streamedTo).toEqual([9, 10]);
    const batch = [{ changes: [upsert('h')] }, { changes: [upsert('i')], last: true }];
    expect(await catalogue.send('ApplyBatch', batch)).toMatchObject({ sequence: 12 });
    expect(nodes.map(({ runtime }) => runtime.changes.state().sequence)).toEqual([12, 12, 12]);
    const overHttp = await post('/v1/catalogue/apply', { changes: [upsert('j')] });
    expect(overHttp).toMatchObject({ status: 200, json: { sequence: 13 } });
    expect(nodes.map(({ runtime }) => runtime.changes.state().sequence)).toEqual([13, 13, 13]);
    const wrong = { changes: 'none' };
    const own = await post('/v1/catalogue/apply', wrong, nodes[0]?.serving.httpUrl);
    expect(await post('/v1/catalogue/apply', wrong)).toEqual(own);
    expect(own.status).toBe(400);
    for (const [body, type, status, code] of [
      ['{', 'application/json', 400, 'REQUEST_INVALID'],
      ['{}', 'text/plain', 415, 'MEDIA_TYPE_UNSUPPORTED'],
    ] as const) {
      const headers = { 'content-type': type };
      const reply = await fetch(`${gateway.httpUrl}/v1/recall`, { method: 'POST', headers, body });
      expect([reply.status, await reply.json()]).toMatchObject([status, { error: { code } }]);
    }
    expect(await post('/v1/sid', { vector: [1] })).toEqual(
      await post('/v1/sid', { vector: [1] }, nodes[0]?.serving.httpUrl),
    );
    const listed = async (address: string) => {
      const lister = new ServiceClient(CATALOGUE, address);
      const ids: string[] = [];
      for await (const { items } of lister.stream('ListItems', {})) {
        ids.push(...items.map(({ itemId }) => itemId));
      }
      lister.close();
      return ids;
    };
    const all = await listed(gateway.grpcAddress);
    for (const { serving } of nodes) expect(await listed(serving.grpcAddress)).toEqual(all);
    catalogue.close();
  });

  it('passes on what a change is known by and waits for, and counts it once', async () => {
    const sequence = () => nodes.map(({ runtime }) => runtime.changes.state().sequence);
    const [before = 0] = sequence();
    const body = JSON.stringify({ changes: [upsert('k')] });
    const ask = async (fields: Readonly<Record<string, string>>) => {
      const headers = Object.assign({ 'content-type': 'application/json' }, fields);
      const path = `${gateway.httpUrl}/v1/catalogue/apply`;
      const reply = await fetch(path, { method: 'POST', headers, body });
      return (await reply.json()) as { offset: number; alreadyApplied: boolean; error?: object };
    };
    const first = await ask({ 'idempotency-key': 'http' });
    expect(first.alreadyApplied).toBe(false);
    const again = await ask({ 'idempotency-key': 'http' });
    expect(again).toMatchObject({ alreadyApplied: true, offset: first.offset });
    expect(sequence()).toEqual([before + 1, before + 1, before + 1]);
    await ask({ 'tessera-wait-for': 'appended' });
    await until('it is everywhere', () => sequence().every((at) => at === before + 2));
    const wrong = await ask({ 'tessera-wait-for': 'whenever' });
    expect(wrong.error).toMatchObject({ code: 'REQUEST_INVALID', field: 'tessera-wait-for' });
    const headers = () => ({ 'idempotency-key': 'grpc' });
    const catalogue = new ServiceClient(CATALOGUE, gateway.grpcAddress, { headers });
    const message = { changes: [upsert('l')] };
    const answers = [
      await catalogue.call('Apply', message),
      await catalogue.call('Apply', message),
    ];
    expect(answers.map(({ alreadyApplied }) => alreadyApplied)).toEqual([false, true]);
    // Of messages that each are answered a key is none: all count.
    const streamed = catalogue.converse('ApplyStream');
    const ended = new Promise((resolve) => streamed.on('end', resolve).resume());
    for (const id of ['m', 'n']) streamed.write({ changes: [upsert(id)] } as never);
    streamed.end();
    await ended;
    expect(sequence()).toEqual([before + 5, before + 5, before + 5]);
    catalogue.close();
  });

  it('knows nodes, state and share', async () => {
    const state = await (await fetch(`${gateway.httpUrl}/v1/cluster`)).json();
    const named = (state as { nodes: { name: string; state: string; ownedPartitions: number }[] })
      .nodes;
    expect(named.map((node) => [node.name, node.state])).toEqual([
      ['a', 'up'],
      ['b', 'up'],
      ['c', 'up'],
    ]);
    expect(named.reduce((sum, node) => sum + node.ownedPartitions, 0)).toBe(65_536);
    const metrics = await (await fetch(`${gateway.httpUrl}/metrics`)).text();
    expect(metrics).toContain('tessera_cluster_nodes{state="up"} 3');
    expect(metrics).toMatch(/tessera_cluster_forwarded_total\{edge="grpc",reason="owner"\} \d+/);
    const refused = await post('/v1/cluster/route', { userId: true });
    expect(refused).toMatchObject({ status: 400, json: { error: { field: 'userId' } } });
  });

  it('refuses unknown fields of its own routes, and a range that ends too early', async () => {
    const refusal = (field: string, message: string) => ({
      status: 400,
      json: { error: { code: 'REQUEST_INVALID', field, message } },
    });
    for (const [body, field] of [
      [{ userId: '1', x: 1 }, 'x'],
      [{ userId: '1', user_id: '2' }, 'user_id'],
    ] as const) {
      const message = `${field}: unknown field; expected userId`;
      expect(await post('/v1/cluster/route', body)).toMatchObject(refusal(field, message));
    }
    expect((await post('/v1/cluster/route', { user_id: '2' })).status).toBe(200);
    const ranges = async (query: string) => {
      const reply = await fetch(`${gateway.httpUrl}/v1/cluster/partitions?${query}`);
      return { status: reply.status, json: await reply.json() };
    };
    expect(await ranges('x=1')).toMatchObject(refusal('x', 'x: unknown field; expected from, to'));
    const expected = 'to: expected a partition, 5..65535, got 1';
    expect(await ranges('from=5&to=1')).toMatchObject(refusal('to', expected));
    expect(await ranges('from=5&to=5')).toMatchObject({
      status: 200,
      json: { ranges: [[5, 5, expect.any(Array)]] },
    });
  });
});

describe('a call that scores documents', () => {
  const RELEVANCE = 'tessera.relevance.v1.RelevanceService';
  const documents = Array.from({ length: 12 }, (_, i) => `${i} `.repeat(20 + 9 * i));
  const query = 'red shoes';
  const onNode = (path: string, body: unknown) => post(path, body, nodes[0]?.serving.httpUrl);
  const seen = () => nodes.map(({ relevance }) => relevance.seen.splice(0).flat());

  it('is answered in parts as one node answers it whole', async () => {
    seen();
    const bodies: readonly (readonly [string, object])[] = [
      ['/v1/rerank', { query, documents }],
      ['/v2/rerank', { query, documents, top_n: 5, return_documents: true, deadline_ms: 20_000 }],
      ['/v1/rerank', { query, documents: [...documents, 'faulty', { itemId: 'nowhere' }] }],
      ['/v1/rerank', { query, documents: [...documents, 'faulty'], failures: 'whole' }],
      ['/v1/rerank', { query, documents: [...documents, 7] }],
      ['/v1/rerank', { query: '', documents }],
      ['/v1/rerank', { query, documents, top_n: 0 }],
      ['/v1/rerank', { query, documents: [...documents, ...documents] }],
      ['/rerank', { query, texts: documents, return_text: true }],
      ['/rerank', { query, texts: [...documents, 'faulty'] }],
    ];
    for (const [path, body] of bodies) {
      const split = await post(path, body);
      const whole = await onNode(path, body);
      for (const { json } of [split, whole]) delete json.id;
      expect(split).toEqual(whole);
    }
    await post('/v1/rerank', { query, documents });
    seen();
    await post('/v1/rerank', { query, documents });
    const parts = seen();
    expect(parts.filter(({ length }) => length > 0).length).toBeGreaterThan(1);
    expect(parts.flat().sort()).toEqual([...documents].sort());
  });

  it('is over gRPC', async () => {
    const given = [...documents, 'faulty'].map((text) => ({ text }));
    const message = { query, documents: [...given, { itemId: 'nowhere' }], requestId: 'r' };
    const clients = [gateway.grpcAddress, nodes[0]?.serving.grpcAddress ?? ''].map(
      (address) => new ServiceClient(RELEVANCE, address),
    );
    seen();
    const [split, whole] = await Promise.all(clients.map((one) => one.call('Score', message)));
    expect(split).toEqual(whole);
    const faults = clients.map((one) =>
      one.call('Score', Object.assign({ failures: 2 }, message)).catch(({ code, details }) => ({
        code,
        details,
      })),
    );
    const [ofSplit, ofWhole] = await Promise.all(faults);
    expect(ofSplit).toEqual(ofWhole);
    expect(ofSplit).toMatchObject({ details: expect.stringContaining('documents[12]') });
    const empty = clients.map((one) =>
      one.call('Score', { query }).catch(({ details }) => details),
    );
    const [ofGateway, ofNode] = await Promise.all(empty);
    expect(ofGateway).toEqual(ofNode);
    for (const one of clients) one.close();
  });

  it('has its scores where a node is lost in the middle of it', async () => {
    for (const { relevance } of nodes) relevance.hold();
    const answer = post('/v1/rerank', { query, documents });
    const holding = () => nodes.filter(({ relevance }) => relevance.held > 0);
    await until('parts wait', () => holding().length > 1);
    const [lost, ...others] = holding() as [Node, ...Node[]];
    for (const { relevance } of others) relevance.release();
    const link = gateway.cluster.link(lost.name);
    gateway.cluster.saw(link as never, { state: 'down', reason: 'killed' });
    const { json } = await answer;
    lost.relevance.release();
    for (const { relevance } of nodes) relevance.release();
    const indices = (json.results as { index: number }[]).map(({ index }) => index);
    expect(indices.sort((a, b) => a - b)).toEqual(documents.map((_, i) => i));
    expect(json.failures).toEqual([]);
    await until('it is back', () => gateway.cluster.link(lost.name)?.state === 'up');
  });

  it('is counted', async () => {
    const metrics = await (await fetch(`${gateway.httpUrl}/metrics`)).text();
    expect(metrics).toMatch(/tessera_split_parts_total\{outcome="answered"\} [1-9]/);
    expect(metrics).toMatch(/tessera_split_calls_total [1-9]/);
    const { nodes: known } = (await (await fetch(`${gateway.httpUrl}/v1/cluster`)).json()) as {
      nodes: { relevance?: { model: string } }[];
    };
    expect(known.map(({ relevance }) => relevance?.model)).toEqual(['fake', 'fake', 'fake']);
  });
});

it('is what the console of a node shows its cluster by, or says why it cannot', async () => {
  const pageOf = async (gatewayAt: string) => {
    const node = await startNode('viewer', { TESSERA_CONSOLE_GATEWAY: gatewayAt });
    const reply = await fetch(`${node.serving.httpUrl}/console/api/cluster`);
    const page = (await reply.json()) as ClusterPage;
    await node.serving.drain.run();
    return page;
  };
  const at = new URL(gateway.httpUrl).host;
  const { gateway: named, table, fault } = await pageOf(at);
  expect([named, fault, table?.digest]).toEqual([at, '', gateway.cluster.table.digest]);
  const known = table?.nodes.map(({ name, state, chains }) => [name, state, chains]);
  expect(known).toEqual(
    nodes.map(({ name, runtime }) => [name, 'up', runtime.kvPool.metrics().chains]),
  );
  const owned = table?.nodes.reduce((sum, { ownedPartitions }) => sum + ownedPartitions, 0);
  expect(owned).toBe(table?.partitions);
  const away = await pageOf('127.0.0.1:1');
  expect(away.table).toBeNull();
  expect(away.fault).toContain('gateway: expected its nodes, got: ');
  expect(await pageOf('')).toEqual({ gateway: '', table: null, fault: '' });
});

it('lets nobody in whom the access table keeps out, before a node is asked', async () => {
  const token = 'token-of-an-operator';
  const tokens = temporaryFolder({
    'tokens.json': [
      {
        name: 'operator',
        sha256: createHash('sha256').update(token).digest('hex'),
        scopes: ['metrics'],
      },
    ],
  });
  const environment = Object.assign({}, PORTS, {
    TESSERA_CLUSTER_NODES: 'nobody=127.0.0.1:1/127.0.0.1:2',
    TESSERA_ACCESS_TOKENS_PATH: join(tokens.path, 'tokens.json'),
  });
  const { config } = loadConfig({ environment });
  const guarded = await serveGateway({ config, log, serviceVersion: '1' });
  const statusOf = async (method: string, path: string, authorization?: string) => {
    const type = { 'content-type': 'application/json' };
    const headers = authorization === undefined ? type : Object.assign(type, { authorization });
    const body = method === 'GET' ? {} : { body: JSON.stringify({ userId: 'u' }) };
    const reply = await fetch(guarded.httpUrl + path, Object.assign({ method, headers }, body));
    return reply.status;
  };
  for (const [method, path, allowed] of [
    ['GET', '/v1/cluster', 200],
    ['POST', '/v1/cluster/route', 200],
    ['POST', '/v1/recall', 403],
  ] as const) {
    expect(await statusOf(method, path), path).toBe(401);
    expect(await statusOf(method, path, `Bearer ${token}`), path).toBe(allowed);
  }
  const stranger = new RecallClient(guarded.grpcAddress);
  expect(await stranger.recall({ userId: 'u' })).toMatchObject({ code: 'UNAUTHENTICATED' });
  stranger.close();
  await guarded.drain.run();
  tokens.remove();
});

it('refuses changes where nodes follow no log, and takes everything else', async () => {
  const lone = await Promise.all(
    ['d', 'e'].map(async (name) => {
      const { config } = loadConfig({
        environment: Object.assign({ TESSERA_NODE_NAME: name }, PORTS),
      });
      const runtime = new FakeRuntime();
      const serving = await serve({ config, runtime, log, serviceVersion: '1' });
      return { name, runtime, serving };
    }),
  );
  const before = async (names: readonly string[]) => {
    const members = lone.filter(({ name }) => names.includes(name));
    return serveGateway({ config: gatewayConfig(members), log, serviceVersion: '1' });
  };
  const both = await before(['d', 'e']);
  const catalogue = new ServiceClient(CATALOGUE, both.grpcAddress);
  const its = new ServiceClient('tessera.kv.v1.KvPoolService', both.grpcAddress);
  const refusal = {
    details: 'nodes: expected all to follow a cluster log (cluster.logStore), got d, e without',
  };
  const batch = [{ changes: [upsert('z')], last: true }];
  await expect(catalogue.call('Apply', batch[0] as object)).rejects.toMatchObject(refusal);
  await expect(catalogue.send('ApplyBatch', batch)).rejects.toMatchObject(refusal);
  await expect(its.call('DropUser', { userId: 'u' })).rejects.toMatchObject(refusal);
  for (const [path, body] of [
    ['/v1/catalogue/apply', { changes: [upsert('z')] }],
    ['/v1/kv/drop-user', { userId: 'u' }],
  ] as const) {
    const answer = await post(path, body, both.httpUrl);
    expect(answer).toMatchObject({ status: 503, json: { error: { code: 'NODE_UNAVAILABLE' } } });
  }
  expect((await post('/v1/recall', { userId: 'u' }, both.httpUrl)).status).toBe(200);
  const counted = await (await fetch(`${both.httpUrl}/metrics`)).text();
  for (const [edge, method, code] of [
    ['http', 'RecallService/Recall', 'OK'],
    ['http', 'CatalogueService/Apply', 'NODE_UNAVAILABLE'],
    ['grpc', 'CatalogueService/ApplyBatch', 'NODE_UNAVAILABLE'],
  ]) {
    const labels = `{edge="${edge}",method="${method}",code="${code}"}`;
    expect(counted).toContain(`tessera_gateway_requests_total${labels} 1\n`);
  }
  const listed = await catalogue.call('GetState', {});
  expect(listed).toMatchObject({ sequence: 0 });
  for (const one of [catalogue, its]) one.close();
  await both.drain.run();
  // One alone needs none.
  const one = await before(['d']);
  const applied = await post('/v1/catalogue/apply', { changes: [upsert('z')] }, one.httpUrl);
  expect(applied).toMatchObject({ status: 200, json: { sequence: 1 } });
  await one.drain.run();
  for (const { serving } of lone) await serving.drain.run();
});

describe('with a node away', () => {
  const users = Array.from({ length: 9 }, (_, n) => `gone-${n}`);
  const holders = () =>
    nodes.filter(({ runtime }) => runtime.kvPool.chains.has('u')).map(({ name }) => name);
  const catalogueOf = ({ runtime }: Node) => runtime.changes.state().sequence;

  it('its users go to their successors, and it has all changes when it is back', async () => {
    const [gone] = nodes as [Node];
    const mine = users.filter((userId) => ownerOf(userId) === gone);
    expect(mine.length).toBeGreaterThan(0);
    const ports = {
      TESSERA_HTTP_PORT: new URL(gone.serving.httpUrl).port,
      TESSERA_GRPC_PORT: gone.serving.grpcAddress.split(':').at(-1),
    };
    await gone.serving.drain.run();
    for (const userId of users) {
      const successor = orderOf(userId).find((name) => name !== gone.name);
      const { runtime } = nodes.find(({ name }) => name === successor) as Node;
      const before = runtime.seen.length;
      expect((await client.recall({ userId })).details).toBe('');
      expect((await post('/v1/recall', { userId })).status).toBe(200);
      expect(runtime.seen.length).toBe(before + 2);
    }
    const overHttp = await post('/v1/catalogue/apply', { changes: [upsert('z')] });
    expect(overHttp).toMatchObject({ status: 200, json: { sequence: 19 } });
    for (const { runtime } of nodes) runtime.kvPool.chains.set('u', [CHAIN]);
    await kv.call('DropUser', { userId: 'u', withRecords: true });
    // A node that has left is no longer waited for.
    expect(holders()).toEqual(['a']);
    const nobody = await post('/v1/kv/drop-user', {});
    expect(nobody).toMatchObject({ status: 400, json: { error: { field: 'userId' } } });
    const health = await (await fetch(`${gateway.httpUrl}/health`)).json();
    expect(health).toMatchObject({ ready: true });
    nodes[1]?.runtime.kvPool.chains.set('u', [CHAIN]);
    const runtime = new FakeRuntime();
    runtime.kvPool.chains.set('u', [CHAIN]);
    nodes[0] = await startNode('a', ports, runtime);
    // It takes requests once it has applied what it missed; who had erased the user before has not
    // erased what they did since.
    expect(catalogueOf(nodes[0])).toBe(19);
    expect(holders()).toEqual(['b']);
    await until('the node is back', () => gateway.cluster.link('a')?.state === 'up');
    const [user = ''] = mine;
    await client.recall({ userId: user });
    expect(ownerOf(user).runtime.seen).toHaveLength(1);
    const words = gateway.cluster.links().map((link) => link.log);
    expect(new Set(words.map(({ identity, offset }) => `${identity} ${offset}`)).size).toBe(1);
  });
});
