import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PLAIN } from '@tessera/client';
import { afterEach, expect, it } from 'vitest';
import { Cluster } from './cluster.js';
import { NodeHealth } from './node-health.js';

const log = { info: () => undefined, warn: () => undefined };
let closings: (() => void)[] = [];
afterEach(() => {
  for (const close of closings.splice(0)) close();
  closings = [];
});

/** A node that accepts connections and says nothing. */
async function silentNode(): Promise<number> {
  const server: Server = createServer(() => undefined).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closings.push(() => server.closeAllConnections());
  closings.push(() => void server.close());
  return (server.address() as AddressInfo).port;
}

function clusterOf(port: number): Cluster {
  const cluster = new Cluster(PLAIN, log as never);
  closings.unshift(() => cluster.close());
  const address = `127.0.0.1:${port}`;
  cluster.setMembers([{ name: 'a', grpc: address, http: address, weight: 1 }]);
  return cluster;
}

async function looked(lagMs: number) {
  const cluster = clusterOf(await silentNode());
  const [link] = cluster.links();
  if (link === undefined) throw new Error('expected one node, got none');
  cluster.saw(link, { state: 'up', versions: { node: 'a', model: 'm', promptTemplate: 't' } });
  const health = new NodeHealth(cluster, { ms: lagMs });
  await health.round();
  await health.round();
  return link;
}

it('finds a node silent that misses two looks', async () => {
  expect((await looked(0)).silentFrom).toBe('up');
});

it('waits at its start for nodes that are slow, and for none that is gone', async () => {
  const waited = async (port: number) => {
    const begunMs = performance.now();
    await new NodeHealth(clusterOf(port)).untilSure(3000);
    return performance.now() - begunMs;
  };
  expect(await waited(await silentNode())).toBeGreaterThan(2900);
  const gone = await silentNode();
  for (const close of closings.splice(0)) close();
  expect(await waited(gone)).toBeLessThan(2900);
});

it('blames no node for what its own thread was late for', async () => {
  expect(await looked(400)).toMatchObject({ state: 'up', silentFrom: undefined });
});
