/** `npm run cluster`: real processes, ended and stopped while they are asked. */

import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { ServiceClient, TesseraClient } from '@tessera/client';
import { loadConfig } from '@tessera/config';
import { parseMembers, RoutingTable } from '@tessera/routing';
import { missingFor, temporaryFolder, until } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HAPROXY_MAP, haproxyConfig, haproxyMap } from '../../tools/cluster/haproxy.js';
import { localPlan } from '../../tools/cluster/local-plan.js';
import { launch, type Running, untilReady } from '../../tools/cluster/local-processes.js';

const NODES = 3;
const DEADLINE_MS = 30_000;
const USERS = Array.from({ length: 24 }, (_, n) => String(n + 1));
const folder = temporaryFolder({});
const cluster = join(folder.path, 'cluster');

let command: ChildProcess;
let stdout = '';
let client: TesseraClient;
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

/** Starts a node again, as the command had started it. */
async function restart(name: string): Promise<void> {
  const plan = localPlan(options, loadConfig().config).find((one) => one.name === name);
  if (plan === undefined) throw new Error(`no ${name}`);
  const running = launch(plan, false);
  restarted.push(running);
  await untilReady(running);
  await until(`${name} is up`, async () => (await stateOf(name)) === 'up');
}

beforeAll(async () => {
  const httpPort = await freePorts(12_000, [0, 1, 2, 3, 100]);
  const grpcPort = await freePorts(22_000, [0, 10, 11, 12, 100]);
  options = { nodes: NODES, httpPort, grpcPort, folder: cluster, etcd: '', kafka: '', redis: '' };
  const words = ['--nodes', String(NODES), '--folder', cluster];
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
});

afterAll(async () => {
  client?.close();
  for (const { child, ended } of restarted) {
    child.kill('SIGTERM');
    await ended;
  }
  command?.kill('SIGTERM');
  if (command?.exitCode === null) await once(command, 'exit');
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
});

function gatewayAddress(): string {
  return `127.0.0.1:${options.grpcPort}`;
}
