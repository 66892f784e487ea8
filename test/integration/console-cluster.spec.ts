/** The console of one node of several: recalls, explanations and users of the others. */

import 'reflect-metadata';
import { join } from 'node:path';
import { loadConfig } from '@tessera/config';
import type { Serving } from '@tessera/hosting';
import { partitionOf } from '@tessera/routing';
import { createLog } from '@tessera/telemetry';
import { freePort, temporaryFolder, until } from '@tessera/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ListedRecall, RecallList } from '../../apps/console/src/api-types.js';
import { type ServingGateway, serve as serveGateway } from '../../apps/gateway/src/serve.js';
import { FakeCluster } from './fake-cluster.js';
import { FakeRuntime } from './fake-runtime.js';

interface Node {
  readonly name: string;
  readonly runtime: FakeRuntime;
  readonly serving: Serving;
}

const SEED = 5;
const CHAIN = {
  version: 'v',
  isRetired: false,
  tokens: 3,
  deviceTokens: 1,
  hostTokens: 1,
  diskTokens: 1,
  durableTokens: 0,
  versionsBack: 0,
} as never;
const PORTS = { TESSERA_HTTP_PORT: '0', TESSERA_GRPC_PORT: '0' };
const NAMES = ['a', 'b', 'c'] as const;
const folder = temporaryFolder({});
const cluster = new FakeCluster(folder.path);
const log = createLog('silent');
const nodes = new Map<string, Node>();
let gateway: ServingGateway;

async function startNode(name: string, more: Readonly<Record<string, string>>): Promise<Node> {
  const runtime = new FakeRuntime();
  const variables = Object.assign({}, PORTS, more);
  return { name, runtime, serving: await cluster.serve(name, { runtime }, variables) };
}

beforeAll(async () => {
  const gatewayPort = String(await freePort());
  for (const name of NAMES) {
    const recording = {
      TESSERA_INSPECTION_PATH: join(folder.path, name),
      TESSERA_INSPECTION_PERCENT: '0',
      TESSERA_CONSOLE_GATEWAY: `127.0.0.1:${gatewayPort}`,
    };
    nodes.set(name, await startNode(name, recording));
  }
  const members = [...nodes.values()].map(({ name, serving }) => {
    return `${name}=${serving.grpcAddress}/${new URL(serving.httpUrl).host}`;
  });
  const environment = Object.assign({}, PORTS, {
    TESSERA_NODE_NAME: 'gateway',
    TESSERA_HTTP_PORT: gatewayPort,
    TESSERA_CLUSTER_NODES: members.join(),
  });
  const { config } = loadConfig({ environment });
  gateway = await serveGateway({ config, log, serviceVersion: '1' });
});

afterAll(async () => {
  await gateway?.drain.run();
  for (const { serving } of nodes.values()) await serving.drain.run();
  folder.remove();
});

async function ask(name: string, path: string, body?: unknown, headers: object = {}) {
  const reply = await fetch(`${nodes.get(name)?.serving.httpUrl}/console/api/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: Object.assign(
      { 'x-tessera-console': '1' },
      body === undefined ? {} : { 'content-type': 'application/json' },
      headers,
    ),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: reply.status, json: JSON.parse(await reply.text()) };
}

/** As ask(), until every node of the cluster has answered in its time: this machine is busy. */
async function askAll(...question: Parameters<typeof ask>) {
  for (;;) {
    const answer = await ask(...question);
    const { unreached = [], fault = '' } = answer.json;
    if (answer.status !== 503 && unreached.length === 0 && fault === '') return answer;
  }
}

const ownerOf = (userId: string) => {
  const { table } = gateway.cluster;
  return table.members[table.order(partitionOf(userId))[0] as number]?.name as string;
};
const userOf = (name: string) => {
  for (let n = 0; ; n += 1) if (ownerOf(`user-${n}`) === name) return `user-${n}`;
};
const key = ({ node, id }: ListedRecall) => `${node} ${id}`;

it('lists the newest recalls of all nodes, each with its node', async () => {
  let state = SEED;
  const newestFirst: string[] = [];
  for (let n = 0; n < 18; n += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const name = NAMES[(state >>> 16) % 3] as string;
    const { json } = await ask(name, 'recalls', { userId: `listed-${n % 2}` });
    newestFirst.unshift(`${name} ${json.id}`);
    // Recalls of one millisecond are in the order of their IDs.
    const shown = Date.now();
    await until('another millisecond', () => Date.now() > shown);
  }
  for (const name of NAMES) {
    const { json } = await askAll(name, 'recalls?limit=7');
    expect(json.unreached).toEqual([]);
    expect(json.recalls.map(key), `seed ${SEED}, asked ${name}`).toEqual(newestFirst.slice(0, 7));
  }
  const { json } = await askAll('a', 'recalls?userId=listed-1&limit=500');
  expect(json.recalls.map(key)).toEqual(newestFirst.filter((_, at) => at % 2 === 0));
  // A question of another node is about this node alone.
  const alone = await ask('b', 'recalls?limit=500', undefined, { 'x-tessera-node': 'b' });
  const own = (alone.json as RecallList).recalls.map(key);
  expect(own).toEqual(newestFirst.filter((one) => one.startsWith('b ')));
  const wrong = await ask('b', 'recalls', undefined, { 'x-tessera-node': 'c' });
  expect([wrong.status, wrong.json.error.code]).toEqual([503, 'NODE_UNAVAILABLE']);
});

it('shows and explains a recall at the node that recorded it', async () => {
  const { json } = await ask('b', 'recalls', { userId: 'shown' });
  const page = await askAll('a', `recalls/${json.id}?node=b`);
  expect(page.json).toMatchObject({ node: 'b', isHere: false, recall: { id: json.id } });
  expect((await ask('b', `recalls/${json.id}?node=b`)).json.isHere).toBe(true);
  const before = nodes.get('b')?.runtime.explained.length ?? 0;
  const explained = await askAll('a', `recalls/${json.id}/explain?node=b`, { itemId: 'i' });
  const direct = await ask('b', `recalls/${json.id}/explain`, { itemId: 'i' });
  expect(explained).toEqual(direct);
  expect(explained.status).toBe(200);
  expect(nodes.get('b')?.runtime.explained.length).toBeGreaterThanOrEqual(before + 2);
  expect(nodes.get('a')?.runtime.explained).toEqual([]);
  const none = await askAll('a', `recalls/none?node=b`);
  expect([none.status, none.json.error.field]).toEqual([404, 'recall']);
  const unknown = await ask('a', `recalls/${json.id}?node=z`);
  expect([unknown.status, unknown.json.error.field]).toEqual([400, 'node']);
});

it('shows the keys and values that the owner of a user keeps', async () => {
  for (const name of NAMES) {
    const userId = userOf(name);
    nodes.get(name)?.runtime.kvPool.chains.set(userId, [CHAIN]);
    for (const asked of NAMES) {
      const { json } = await askAll(asked, `users/${userId}`);
      expect([json.userId, json.node, json.fault], asked).toEqual([userId, name, '']);
      expect(json.chains, asked).toEqual([CHAIN]);
    }
  }
  const refused = await ask('a', 'users/nobody');
  expect([refused.status, refused.json.error.code]).toEqual([404, 'USER_NOT_FOUND']);
});

it('erases a user at every node', async () => {
  const userId = userOf('c');
  for (const name of NAMES) {
    nodes.get(name)?.runtime.kvPool.chains.set(userId, [CHAIN]);
    await ask(name, 'recalls', { userId });
  }
  const { serving } = nodes.get('a') as Node;
  const headers = { 'x-tessera-console': '1' };
  const url = `${serving.httpUrl}/console/api/users/${userId}`;
  const reply = await fetch(url, { method: 'DELETE', headers });
  expect(await reply.json()).toEqual({ known: false, recalls: 1 });
  const kept = NAMES.map((name) => nodes.get(name)?.runtime.kvPool.chains.has(userId));
  expect(kept).toEqual([false, false, false]);
  expect((await askAll('b', `recalls?userId=${userId}`)).json.recalls).toEqual([]);
});

it('says which nodes a list is without, and shows users at a successor', async () => {
  const userId = userOf('c');
  await nodes.get('c')?.serving.drain.run();
  nodes.delete('c');
  await until('c is away', () => gateway.cluster.link('c')?.state === 'down');
  const { json } = await ask('a', 'recalls?limit=500');
  expect(json.unreached).toEqual([{ node: 'c', reason: expect.stringMatching(/^down: /) }]);
  expect(new Set(json.recalls.map(({ node }: ListedRecall) => node))).toEqual(new Set(['a', 'b']));
  const page = await ask('a', `users/${userId}`);
  expect(page.json.fault).toMatch(/^the owner c is down: /);
  expect(['a', 'b']).toContain(page.json.node);
  const away = await ask('a', 'recalls/any?node=c');
  expect([away.status, away.json.error.code]).toEqual([503, 'NODE_UNAVAILABLE']);
  await gateway.drain.run();
  const lone = await ask('a', 'recalls?limit=500');
  expect(lone.json.unreached).toEqual([
    { node: 'gateway', reason: expect.stringContaining('gateway: expected its nodes') },
  ]);
  expect((await ask('a', `users/${userId}`)).json).toMatchObject({
    node: 'a',
    fault: expect.stringContaining('gateway: expected'),
  });
});
