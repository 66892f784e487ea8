/** Partitions between one gateway and another: real processes in networks of their own. */

import 'reflect-metadata';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { TesseraClient } from '@tessera/client';
import { loadConfig } from '@tessera/config';
import { partitionOf } from '@tessera/routing';
import { createLog } from '@tessera/telemetry';
import { temporaryFolder, until } from '@tessera/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServingGateway, serve } from '../../apps/gateway/src/serve.js';
import { Network, type Place } from './network.js';
import type { NodeState } from './running-cluster.js';

const DEADLINE_MS = 30_000;
const [HTTP, GRPC] = [8080, 50_051];
const USERS = Array.from({ length: 12 }, (_, n) => String(n + 1));

function openNetwork(): Network | undefined {
  try {
    return Network.open();
  } catch (error) {
    console.log(`partitions: skipped, no network namespaces: ${(error as Error).message}`);
    return undefined;
  }
}

const network = openNetwork();
const folder = temporaryFolder({});
const started: ChildProcess[] = [];

/** Of processes that listen on an address of their own and keep little. */
function variablesOf(name: string, address: string): Record<string, string> {
  return {
    TESSERA_NODE_NAME: name,
    TESSERA_HTTP_HOST: address,
    TESSERA_HTTP_PORT: String(HTTP),
    TESSERA_GRPC_HOST: address,
    TESSERA_GRPC_PORT: String(GRPC),
    TESSERA_ACCESS_MODE: 'open',
    TESSERA_LOG_LEVEL: 'error',
    TESSERA_ACCESS_AUDIT_PATH: join(folder.path, `${name}.jsonl`),
    TESSERA_BEHAVIOURS_STORE: 'file',
    TESSERA_INSPECTION_PATH: '',
    TESSERA_CATALOGUE_CHANGES_PATH: '',
    TESSERA_ADAPTERS_PATH: '',
    TESSERA_WEIGHTS_PATH: '',
    TESSERA_KV_DISK_BYTES: '0',
    TESSERA_ENGINE_THREAD_COUNT: '1',
    TESSERA_RECALL_DEFAULT_DEADLINE_MS: String(DEADLINE_MS),
  };
}

async function start(
  app: string,
  name: string,
  { namespace, address }: Place,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const variables = Object.assign(variablesOf(name, address), more);
  const words = Object.entries(variables).map(([variable, value]) => `${variable}=${value}`);
  const main = `dist/apps/${app}/src/main.js`;
  const child = spawn('ip', ['netns', 'exec', namespace, 'env', ...words, process.execPath, main], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  started.push(child);
  await until(`${name} serves`, async () => {
    if (child.exitCode !== null) throw new Error(`${name} has ended with ${child.exitCode}`);
    const reply = await fetch(`http://${address}:${HTTP}/health/live`).catch(() => undefined);
    return reply?.ok === true;
  });
}

describe.skipIf(network === undefined)('two gateways before two nodes', () => {
  let far: Place;
  let first: Place;
  let second: Place;
  let near: ServingGateway;
  let [throughFar, throughNear]: TesseraClient[] = [];

  beforeAll(async () => {
    const { place, here } = network as Network;
    [first, second, far] = ['node-1', 'node-2', 'far'].map((name) => place.call(network, name)) as [
      Place,
      Place,
      Place,
    ];
    await Promise.all([
      start('standalone', 'node-1', first),
      start('standalone', 'node-2', second),
    ]);
    const nodes = [first, second].map(
      ({ address }, n) => `node-${n + 1}=${address}:${GRPC}/${address}:${HTTP}`,
    );
    const members = { TESSERA_CLUSTER_NODES: nodes.join() };
    await start('gateway', 'far', far, members);
    const ports = { TESSERA_HTTP_PORT: '0', TESSERA_GRPC_PORT: '0' };
    const environment = Object.assign(variablesOf('near', here), members, ports);
    const { config } = loadConfig({ environment });
    near = await serve({ config, log: createLog('silent'), serviceVersion: '1' });
    throughFar = new TesseraClient(`${far.address}:${GRPC}`);
    throughNear = new TesseraClient(near.grpcAddress);
  });

  afterAll(async () => {
    throughFar?.close();
    throughNear?.close();
    await near?.drain.run();
    for (const child of started) {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    }
    network?.close();
    folder.remove();
  });

  const statesAt = async (url: string) => {
    const { nodes } = (await (await fetch(`${url}/v1/cluster`)).json()) as {
      readonly nodes: readonly NodeState[];
    };
    return nodes.map(({ state }) => state);
  };
  const ownerOf = (userId: string) => {
    const { table } = near.cluster;
    return table.members[table.nodeAt(partitionOf(userId), 0) ?? -1]?.name;
  };
  const farUrl = () => `http://${far.address}:${HTTP}`;

  async function recalled(client: TesseraClient | undefined, userId: string) {
    const answer = await client?.recall({ userId, resultCount: 5 }, DEADLINE_MS);
    const items = answer?.items.map(({ itemId, score }) => [itemId, score]);
    return { items: JSON.stringify(items), node: answer?.versions?.node };
  }

  it.each([
    ['the node', 'hears the gateway, which does not hear it', true],
    ['the gateway', 'hears the node, which does not hear it', false],
  ])('answer alike where %s %s', async (_who, _what, isDeaf) => {
    const expected = new Map<string, string>();
    for (const userId of USERS) expected.set(userId, (await recalled(throughNear, userId)).items);
    const mine = USERS.find((userId) => ownerOf(userId) === 'node-2') ?? '';
    const isAsked = async (client: TesseraClient | undefined) =>
      (await recalled(client, mine)).node === 'node-2';
    await until('its users are asked there', () => isAsked(throughFar));
    const [from, to] = isDeaf ? [second, far] : [far, second];
    const mend = (network as Network).drop(from.address, to.address);
    // Calls on their way to the node are asked of the other one: nothing fails.
    const answers = await Promise.all(USERS.map((userId) => recalled(throughFar, userId)));
    for (const [at, userId] of USERS.entries()) {
      expect(answers[at], userId).toEqual({ items: expected.get(userId), node: 'node-1' });
    }
    const areAt = async (url: string, states: string) => (await statesAt(url)).join() === states;
    await until('one gateway alone misses it', async () => {
      return (await areAt(farUrl(), 'up,down')) && (await areAt(near.httpUrl, 'up,up'));
    });
    for (const userId of USERS) {
      expect((await recalled(throughNear, userId)).items, userId).toBe(expected.get(userId));
    }
    await until('the other gateway asks it', () => isAsked(throughNear));
    mend();
    await until('it is back', () => areAt(farUrl(), 'up,up'));
    await until('its users are asked there', () => isAsked(throughFar));
  });
});
