/** A gateway before nodes of two roles, fake runtimes in this process, over real connections. */

import 'reflect-metadata';
import { ServiceClient } from '@tessera/client';
import { loadConfig } from '@tessera/config';
import type { Serving } from '@tessera/hosting';
import { createLog } from '@tessera/telemetry';
import { temporaryFolder, until } from '@tessera/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServingGateway, serve as serveGateway } from '../../apps/gateway/src/serve.js';
import { FakeCluster } from './fake-cluster.js';
import { FakeRuntime } from './fake-runtime.js';
import { RecallClient } from './recall-client.js';

interface Node {
  readonly name: string;
  readonly runtime: FakeRuntime;
  readonly serving: Serving;
}

const USERS = Array.from({ length: 12 }, (_, n) => `user-${n}`);
const PORTS = { TESSERA_HTTP_PORT: '0', TESSERA_GRPC_PORT: '0', TESSERA_INSPECTION_PATH: '' };
const folder = temporaryFolder({});
const cluster = new FakeCluster(folder.path);
let appending: Node;
let answering: Node;
let gateway: ServingGateway;
let client: RecallClient;
let kv: ServiceClient<'tessera.kv.v1.KvPoolService'>;

async function startNode(name: string, ports: object = {}): Promise<Node> {
  const runtime = new FakeRuntime();
  const role = {
    TESSERA_CLUSTER_ROLE: name === 'p' ? 'append' : 'answer',
    // No store is opened: the runtime is a fake.
    TESSERA_KV_SHARED: 'redis://127.0.0.1:1',
  };
  const variables = Object.assign(role, PORTS, ports);
  return { name, runtime, serving: await cluster.serve(name, { runtime }, variables) };
}

/** The node again, at the addresses that it had. */
function restart({ name, serving }: Node): Promise<Node> {
  const portOf = (address: string) => address.slice(address.lastIndexOf(':') + 1);
  return startNode(name, {
    TESSERA_HTTP_PORT: portOf(new URL(serving.httpUrl).host),
    TESSERA_GRPC_PORT: portOf(serving.grpcAddress),
  });
}

beforeAll(async () => {
  appending = await startNode('p');
  answering = await startNode('q');
  const named = [appending, answering].map(({ name, serving }) => {
    const role = name === 'p' ? 'append' : 'answer';
    return `${name}=${serving.grpcAddress}/${new URL(serving.httpUrl).host}@${role}`;
  });
  const environment = Object.assign({}, PORTS, {
    TESSERA_NODE_NAME: 'gateway',
    TESSERA_CLUSTER_NODES: named.join(),
  });
  const { config } = loadConfig({ environment });
  gateway = await serveGateway({ config, log: createLog('silent'), serviceVersion: '1' });
  client = new RecallClient(gateway.grpcAddress);
  kv = new ServiceClient('tessera.kv.v1.KvPoolService', gateway.grpcAddress);
});

afterAll(async () => {
  client?.close();
  kv?.close();
  await gateway?.drain.run();
  for (const node of [appending, answering]) await node?.serving.drain.run();
  folder.remove();
});

async function post(path: string, body: unknown): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const given = { method: 'POST', headers, body: JSON.stringify(body) };
  return (await fetch(gateway.httpUrl + path, given)).status;
}

const numbers = () =>
  [appending, answering].map(({ runtime }) => [runtime.appended.length, runtime.seen.length]);

/** Appends and recalls that each node took meanwhile, the appending one first. */
async function taken(act: () => Promise<void>) {
  const before = numbers();
  await act();
  return numbers().map((now, node) => now.map((count, of) => count - (before[node]?.[of] ?? 0)));
}

async function askAll(): Promise<void> {
  for (const userId of USERS) {
    await kv.call('Append', { userId });
    expect(await post('/v1/kv/append', { userId })).toBe(200);
    expect((await client.recall({ userId })).details).toBe('');
    expect(await post('/v1/recall', { userId })).toBe(200);
  }
}

const both = 2 * USERS.length;
const stateOf = (name: string) => gateway.cluster.link(name)?.state;

async function conditionOfRoles() {
  const { conditions } = (await (await fetch(`${gateway.httpUrl}/health`)).json()) as {
    conditions: { name: string; state: string; reason: string }[];
  };
  const { state, reason } = conditions.find(({ name }) => name === 'roles') ?? {};
  return { state, reason };
}

it('sends appends to the nodes that append and recalls to those that answer', async () => {
  expect(await taken(askAll)).toEqual([
    [both, 0],
    [0, both],
  ]);
  const { nodes } = (await (await fetch(`${gateway.httpUrl}/v1/cluster`)).json()) as {
    nodes: { name: string; role: string; ownedPartitions: number }[];
  };
  expect(nodes.map(({ role, ownedPartitions }) => [role, ownedPartitions])).toEqual([
    ['append', 0],
    ['answer', 65_536],
  ]);
  expect(await conditionOfRoles()).toEqual({ state: 'ok', reason: '' });
});

it('follows every user at a node that appends, and those of its own pool at another', async () => {
  const userId = 'stranger';
  const followed = await taken(async () => {
    await kv.call('Append', { userId, onlyHeld: true });
  });
  expect(followed[0]).toEqual([1, 0]);
  const direct = new ServiceClient('tessera.kv.v1.KvPoolService', answering.serving.grpcAddress);
  const skipped = await taken(async () => {
    await direct.call('Append', { userId, onlyHeld: true });
  });
  direct.close();
  expect(skipped[1]).toEqual([0, 0]);
});

it('goes on with appends at the nodes that answer while none that appends is up', async () => {
  await appending.serving.drain.run();
  expect(await taken(askAll)).toEqual([
    [0, 0],
    [both, both],
  ]);
  const reason = 'no append node takes requests: others take their calls';
  expect(await conditionOfRoles()).toEqual({ state: 'degraded', reason });
  const metrics = await (await fetch(`${gateway.httpUrl}/metrics`)).text();
  expect(metrics).toMatch(/forwarded_total\{edge="grpc",reason="role-missing"\} [1-9]/);
  appending = await restart(appending);
  await until('it is back', () => stateOf('p') === 'up');
  expect(await taken(askAll)).toEqual([
    [both, 0],
    [0, both],
  ]);
});

it('goes on with recalls at the nodes that append while none that answers is up', async () => {
  await answering.serving.drain.run();
  expect(await taken(askAll)).toEqual([
    [both, both],
    [0, 0],
  ]);
  answering = await restart(answering);
  await until('it is back', () => stateOf('q') === 'up');
  expect(await taken(askAll)).toEqual([
    [both, 0],
    [0, both],
  ]);
  expect(await conditionOfRoles()).toEqual({ state: 'ok', reason: '' });
});
