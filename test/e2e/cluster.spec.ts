/** `npm run cluster`: real processes, ended and stopped while they are asked. */

import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { RoutedClient, ServiceClient, TesseraClient } from '@tessera/client';
import { loadConfig } from '@tessera/config';
import { parseMembers, RoutingTable } from '@tessera/routing';
import {
  type KafkaBroker,
  missingFor,
  startKafkaBroker,
  temporaryFolder,
  until,
} from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HAPROXY_MAP, haproxyConfig, haproxyMap } from '../../tools/cluster/haproxy.js';
import { localPlan } from '../../tools/cluster/local-plan.js';
import { launch, type Running, untilReady } from '../../tools/cluster/local-processes.js';
import { encodeRequest, TopicClient } from './topic-client.js';

const NODES = 3;
const DEADLINE_MS = 30_000;
const TOPIC_DEADLINE_MS = 240_000;
const TOPIC_RECALLS = 1000;
const KILLED_RECALLS = 300;
/** Statuses of gRPC. */
const [DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED] = [4, 8];
const USERS = Array.from({ length: 24 }, (_, n) => String(n + 1));
const folder = temporaryFolder({});
const cluster = join(folder.path, 'cluster');

let command: ChildProcess;
let stdout = '';
let client: TesseraClient;
let broker: KafkaBroker;
let topics: TopicClient;
let httpUrl: string;
let options: Parameters<typeof localPlan>[0];
const restarted: Running[] = [];

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** A port with these behind it free too; below those that the system gives away. */
async function freePorts(from: number, steps: readonly number[]): Promise<number> {
  for (let port = from + (process.pid % 1000) * 8; ; port += 7) {
    const free = await Promise.all(steps.map((step) => isFree(port + step)));
    if (free.every(Boolean)) return port;
  }
}

const pidOf = (name: string) =>
  Number([...stdout.matchAll(new RegExp(`${name}  pid (\\d+)`, 'g'))].at(-1)?.[1]);

interface ClusterState {
  readonly nodes: readonly {
    readonly name: string;
    readonly state: string;
    readonly grpc: string;
  }[];
}
async function state(): Promise<ClusterState['nodes']> {
  const reply = await fetch(`${httpUrl}/v1/cluster`);
  return ((await reply.json()) as ClusterState).nodes;
}
const stateOf = async (name: string) => (await state()).find((node) => node.name === name)?.state;

async function ownerOf(userId: string): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ userId });
  const reply = await fetch(`${httpUrl}/v1/cluster/route`, { method: 'POST', headers, body });
  return ((await reply.json()) as { owner: string }).owner;
}

async function recalled(userId: string) {
  const answer = await client.recall({ userId, resultCount: 5 }, DEADLINE_MS);
  const items = answer.items.map(({ itemId, score }) => [itemId, score]);
  return { items: JSON.stringify(items), node: answer.versions?.node };
}

function planOf(name: string) {
  const plan = localPlan(options, loadConfig().config).find((one) => one.name === name);
  if (plan === undefined) throw new Error(`no ${name}`);
  return plan;
}

/** Starts a node again, as the command had started it. */
async function restart(name: string): Promise<void> {
  const plan = planOf(name);
  const running = launch(plan, false);
  restarted.push(running);
  await untilReady(running);
  await until(`${name} is up`, async () => (await stateOf(name)) === 'up');
}

/** Recalls over the topic, of all users in turn; gives their correlation IDs. */
async function askOverTopic(count: number): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  const messages = ids.map((id, n) => {
    const userId = USERS[n % USERS.length] as string;
    const deadlineTimeMs = Date.now() + TOPIC_DEADLINE_MS;
    const value = encodeRequest({ request: { userId, resultCount: 3 }, deadlineTimeMs });
    return { key: userId, value, headers: { 'tessera-correlation-id': id } };
  });
  await topics.sendAll('recall.requests', messages);
  return ids;
}

const answersTo = (id: string) => topics.answers.get(id) ?? [];

/** A second gateway before the same nodes, in the same group of the broker where it has one. */
async function secondGateway(more: Readonly<Record<string, string>> = {}) {
  const [httpPort, grpcPort] = [await freePorts(42_000, [0]), await freePorts(43_000, [0])];
  const plan = planOf('gateway');
  const own = join(cluster, `gateway-${grpcPort}`);
  const variables = Object.assign({}, plan.variables, {
    TESSERA_NODE_NAME: 'gateway-2',
    TESSERA_HTTP_PORT: String(httpPort),
    TESSERA_GRPC_PORT: String(grpcPort),
    TESSERA_CLUSTER_PATH: join(own, 'gateway'),
    ...more,
  });
  const running = launch(
    Object.assign({}, plan, { folder: own, httpPort, grpcPort, variables }),
    false,
  );
  restarted.push(running);
  await untilReady(running);
  return { running, httpUrl: `http://127.0.0.1:${httpPort}`, grpcAddress: `127.0.0.1:${grpcPort}` };
}

async function topicsServed(at: string): Promise<boolean> {
  const { conditions } = (await (await fetch(`${at}/health`)).json()) as {
    readonly conditions: readonly { readonly name: string; readonly state: string }[];
  };
  return conditions.find(({ name }) => name === 'kafka')?.state === 'ok';
}

/** Of a process: its clock is an hour ahead. */
const HOUR_AHEAD = `--import=data:text/javascript,${encodeURIComponent(
  'const now=Date.now;Date.now=()=>now()+3600000',
)}`;

beforeAll(async () => {
  broker = await startKafkaBroker();
  const httpPort = await freePorts(12_000, [0, 1, 2, 3, 100]);
  const grpcPort = await freePorts(22_000, [0, 10, 11, 12, 100]);
  const kafka = broker.address;
  options = { nodes: NODES, httpPort, grpcPort, folder: cluster, etcd: '', kafka, redis: '' };
  const words = ['--nodes', String(NODES), '--folder', cluster, '--kafka', kafka];
  const ports = ['--http-port', String(httpPort), '--grpc-port', String(grpcPort)];
  command = spawn(process.execPath, ['dist/tools/cluster.js', ...words, ...ports]);
  for (const stream of [command.stdout, command.stderr]) {
    stream?.on('data', (chunk) => {
      stdout += chunk;
    });
  }
  await until('the gateway serves', () => {
    if (command.exitCode !== null) throw new Error(stdout);
    return /metrics {2}http/.test(stdout);
  });
  httpUrl = `http://127.0.0.1:${httpPort}`;
  client = new TesseraClient(`127.0.0.1:${grpcPort}`);
  topics = new TopicClient(kafka);
  await topics.open();
});

afterAll(async () => {
  client?.close();
  await topics?.close();
  for (const { child, ended } of restarted) {
    child.kill('SIGTERM');
    await ended;
  }
  command?.kill('SIGTERM');
  if (command?.exitCode === null) await once(command, 'exit');
  await broker?.stop();
  folder.remove();
});

describe('three nodes on this machine', () => {
  it('start with one command, which prints the table', async () => {
    expect(stdout).toMatch(
      /Table [0-9a-f]{8}, revision 1\n {2}node-1 {2}gRPC .*partitions {2}up\n/,
    );
    expect((await state()).map((node) => node.state)).toEqual(['up', 'up', 'up']);
    for (const userId of USERS) {
      expect((await recalled(userId)).node, userId).toBe(await ownerOf(userId));
    }
  });

  it.skipIf(missingFor(['haproxy']).length > 0)('get the same users from HAProxy', async () => {
    const [map, file] = [join(folder.path, 'tessera.map'), join(folder.path, 'haproxy.cfg')];
    const { httpPort, grpcPort } = options;
    const deployed = Array.from({ length: NODES }, (_, n) => ({
      name: `node-${n + 1}`,
      host: '127.0.0.1',
      httpPort: httpPort + 1 + n,
      grpcPort: grpcPort + 10 + n,
    }));
    const members = deployed.map((node) => {
      return `${node.name}=${node.host}:${node.grpcPort}/${node.host}:${node.httpPort}`;
    });
    writeFileSync(map, `${haproxyMap(new RoutingTable(parseMembers(members.join()), 1))}\n`);
    const [port] = [await freePorts(32_000, [0])];
    const text = haproxyConfig(deployed)
      .replaceAll(HAPROXY_MAP, map)
      .replace('127.0.0.1:50051', `127.0.0.1:${port}`)
      .replace('/run/haproxy-tessera.sock', join(folder.path, 'socket'));
    writeFileSync(file, `${text}\n`);
    const haproxy = spawn('haproxy', ['-db', '-q', '-f', file], { stdio: 'inherit' });
    const ask = async (userId: string) => {
      const headers = () => ({ 'x-tessera-user': userId });
      const through = new TesseraClient(`127.0.0.1:${port}`, { headers });
      const { versions } = await through.recall({ userId }, DEADLINE_MS);
      through.close();
      return versions?.node;
    };
    try {
      await until('HAProxy serves', () => ask('1').then(Boolean, () => false));
      for (const userId of USERS.slice(0, 8)) {
        expect(await ask(userId), userId).toBe(await ownerOf(userId));
      }
    } finally {
      haproxy.kill('SIGTERM');
      await once(haproxy, 'exit');
    }
  });

  it('answer a thousand recalls over their topic once each, as their owners', async () => {
    const ids = await askOverTopic(TOPIC_RECALLS);
    await until('all are answered', () => ids.every((id) => answersTo(id).length > 0));
    const answers = ids.flatMap(answersTo);
    expect(answers).toHaveLength(TOPIC_RECALLS);
    expect(answers.flatMap(({ refusal }) => refusal ?? [])).toEqual([]);
    const nodes = answers.map(({ key, response }) => {
      const { node } = (response?.versions ?? {}) as { node?: string };
      return [key, node];
    });
    const owners = new Map<string, string>();
    for (const userId of USERS) owners.set(userId, await ownerOf(userId));
    const atOwner = nodes.filter(([key = '', node]) => owners.get(key) === node);
    // Bursts leave an owner that is loaded.
    expect(atOwner.length).toBeGreaterThan(TOPIC_RECALLS / 2);
  });

  it('are routed to without the hop by a client that has their table', async () => {
    const [gatewayHttp, gatewayGrpc] = [new URL(httpUrl).host, gatewayAddress()];
    const routed = await RoutedClient.open({ gatewayHttp, gatewayGrpc });
    for (const userId of USERS) {
      const answer = await routed.recall({ userId, resultCount: 5 }, DEADLINE_MS);
      expect(answer.versions?.node, userId).toBe(await ownerOf(userId));
    }
    routed.close();
  });

  it('lose no answer and change none where one is killed under load', async () => {
    const expected = new Map<string, string>();
    for (const userId of USERS) expected.set(userId, (await recalled(userId)).items);
    const owners = new Map<string, string>();
    for (const userId of USERS) owners.set(userId, await ownerOf(userId));
    let isOver = false;
    const failed: unknown[] = [];
    const wrong: string[] = [];
    const moved = new Set<string>();
    const ask = async (userId: string) => {
      while (!isOver) {
        try {
          const { items, node } = await recalled(userId);
          if (items !== expected.get(userId)) wrong.push(userId);
          if (node !== owners.get(userId)) moved.add(userId);
        } catch (thrown) {
          failed.push(thrown);
        }
      }
    };
    const asking = USERS.map(ask);
    const mine = USERS.filter((userId) => owners.get(userId) === 'node-2');
    expect(mine.length).toBeGreaterThan(2);
    process.kill(pidOf('node-2'), 'SIGKILL');
    await until('its users are answered', () => mine.every((userId) => moved.has(userId)));
    isOver = true;
    await Promise.all(asking);
    expect(failed).toEqual([]);
    expect(wrong).toEqual([]);
    expect(await stateOf('node-2')).toBe('down');
    const lines = stdout.split('\n').filter((line) => line.includes('node-2 takes no requests'));
    expect(lines).toHaveLength(1);
  });

  it('erase a user on the node that was away, when it is back', async () => {
    const erased = client.erase('2', DEADLINE_MS);
    await expect(erased).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    const waiting = async () => {
      const text = await (await fetch(`${httpUrl}/metrics`)).text();
      return Number(/^tessera_cluster_erasures_pending (\d+)$/m.exec(text)?.[1]);
    };
    expect(await waiting()).toBe(1);
    await restart('node-2');
    await until('it holds everywhere', async () => (await waiting()) === 0);
    const held = await client.history('2', 10, DEADLINE_MS).catch(() => ({ behaviours: [] }));
    expect(held.behaviours).toEqual([]);
  });

  it('have one catalogue after changes through the gateway, under recalls', async () => {
    const service = 'tessera.catalogue.v1.CatalogueService';
    const gateway = new ServiceClient(service, gatewayAddress());
    const all: string[] = [];
    for await (const { items } of gateway.stream('ListItems', {})) {
      all.push(...items.map(({ itemId }) => itemId));
    }
    let isOver = false;
    const asking = USERS.slice(2, 6).map(async (userId) => {
      while (!isOver) await recalled(userId);
    });
    try {
      for (const [n, itemId] of all.slice(0, 24).entries()) {
        const change = n % 2 === 0 ? { pauseItemId: itemId } : { removeItemId: itemId };
        await gateway.call('Apply', { changes: [change] });
      }
    } finally {
      isOver = true;
      await Promise.all(asking);
    }
    const digests = new Set<string>();
    for (const { grpc } of await state()) {
      const node = new ServiceClient(service, grpc);
      const hash = createHash('sha256');
      for await (const { items, sequence } of node.stream('ListItems', {})) {
        hash.update(JSON.stringify([sequence, items]));
      }
      digests.add(hash.digest('hex'));
      node.close();
    }
    gateway.close();
    expect(digests.size).toBe(1);
  });

  it('answer from a successor what a stopped node has begun', async () => {
    const pid = pidOf('node-3');
    const mine: string[] = [];
    for (const userId of USERS) if ((await ownerOf(userId)) === 'node-3') mine.push(userId);
    process.kill(pid, 'SIGSTOP');
    const answers = await Promise.all(mine.map((userId) => recalled(userId)));
    for (const { node } of answers) expect(node).not.toBe('node-3');
    expect(await stateOf('node-3')).toBe('down');
    process.kill(pid, 'SIGCONT');
    await until('it is back', async () => (await stateOf('node-3')) === 'up');
    expect((await recalled(mine[0] ?? '')).node).toBe('node-3');
  });

  it('are the same before a second gateway, but for whom it cannot reach', async () => {
    // Takes connections and says nothing: to this gateway alone the node's gRPC edge is away.
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const all = planOf('gateway').variables.TESSERA_CLUSTER_NODES ?? '';
    const nodes = all.replace(/(node-3=127\.0\.0\.1):\d+/, `$1:${port}`);
    const {
      running,
      httpUrl: second,
      grpcAddress,
    } = await secondGateway({
      TESSERA_CLUSTER_NODES: nodes,
      TESSERA_KAFKA_BROKERS: '',
      NODE_OPTIONS: HOUR_AHEAD,
    });
    const tableAt = async (url: string) => {
      const { digest, nodes: shown } = (await (await fetch(`${url}/v1/cluster`)).json()) as {
        readonly digest: string;
        readonly nodes: ClusterState['nodes'];
      };
      return { digest, states: shown.map((node) => node.state) };
    };
    await until('it gives up on node-3', async () => (await tableAt(second)).states[2] === 'down');
    const { digest } = await tableAt(httpUrl);
    expect(await tableAt(second)).toEqual({ digest, states: ['up', 'up', 'down'] });
    expect((await tableAt(httpUrl)).states).toEqual(['up', 'up', 'up']);
    const through = new TesseraClient(grpcAddress);
    for (const userId of USERS) {
      const owner = await ownerOf(userId);
      const answer = await through.recall({ userId, resultCount: 5 }, DEADLINE_MS);
      const ids = JSON.stringify(answer.items.map(({ itemId, score }) => [itemId, score]));
      expect(ids, userId).toBe((await recalled(userId)).items);
      if (owner === 'node-3') expect(answer.versions?.node).not.toBe(owner);
      else expect(answer.versions?.node).toBe(owner);
    }
    through.close();
    running.child.kill('SIGTERM');
    await running.ended;
    silent.close();
  });

  it('answer or refuse in time what is several times too much, and go on', async () => {
    const service = 'tessera.recall.v1.RecallService';
    const plain = new ServiceClient(service, gatewayAddress());
    const ends = await Promise.all(
      Array.from({ length: 400 }, (_, n) => {
        const userId = USERS[n % USERS.length] as string;
        const deadline = Date.now() + 1500;
        return plain.call('Recall', { userId, resultCount: 5 }, { deadline }).then(
          () => 'answered',
          (thrown: { code: number }) => thrown.code,
        );
      }),
    );
    plain.close();
    const known = new Set<string | number>(['answered', DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED]);
    expect(ends.filter((end) => !known.has(end))).toEqual([]);
    expect(ends).toContain('answered');
    await until('nodes take requests', async () =>
      (await state()).every((node) => node.state === 'up'),
    );
    for (const userId of USERS.slice(0, 4)) expect((await recalled(userId)).items).not.toBe('[]');
  });

  it('answer every recall over the topic where a gateway and a node are killed', async () => {
    const { running, httpUrl: second } = await secondGateway();
    await until('its topics are served', () => topicsServed(second));
    const ids = await askOverTopic(KILLED_RECALLS);
    const answered = () => ids.filter((id) => answersTo(id).length > 0).length;
    await until('some are answered', () => answered() > KILLED_RECALLS / 10);
    const { pid = 0 } = running.child;
    process.kill(pid, 'SIGKILL');
    process.kill(pidOf('node-1'), 'SIGKILL');
    await until('all are answered', () => answered() === KILLED_RECALLS);
    for (const id of ids) {
      // An answer that is given again bears the same ID.
      for (const { response } of answersTo(id)) expect(response?.requestId).toBe(id);
    }
  });
});

function gatewayAddress(): string {
  return `127.0.0.1:${options.grpcPort}`;
}
