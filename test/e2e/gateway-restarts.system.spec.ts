/** Gateways restarted under callers who never repeat, and some with a process that stands still. */

import { readFileSync } from 'node:fs';
import * as grpc from '@grpc/grpc-js';
import { ServiceClient } from '@tessera/client';
import { freePort, freePorts, until } from '@tessera/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pace } from '../soak/pace.js';
import { Service } from './service.js';

const RESTARTS = Number(process.env.TEST_RESTARTS ?? 2);
const EVERY_MS = 5;
const GATEWAY = { main: 'dist/apps/gateway/src/main.js', printed: /metrics/ };

let node: Service;
let ports: readonly number[];
const gateways: Service[] = [];

function gateway(at: number): Promise<Service> {
  const variables = {
    TESSERA_NODE_NAME: `gateway-${at}`,
    TESSERA_CLUSTER_NODES: `node=${node.grpcAddress}/${new URL(node.httpUrl).host}`,
    TESSERA_GRPC_PORT: String(ports[at]),
    TESSERA_SHUTDOWN_DELAY_MS: '500',
  };
  return Service.start(variables, [], GATEWAY);
}

beforeAll(async () => {
  node = await Service.start({ TESSERA_NODE_NAME: 'node' });
  const first = await freePorts(22_000, [0, 1]);
  ports = [first, first + 1];
  for (const at of [0, 1]) gateways.push(await gateway(at));
});

afterAll(async () => {
  for (const one of [...gateways, node]) await one?.stop();
});

/** A client each, with a call of its own, so that a gateway's numbers say who has come. */
function callers() {
  const address = `ipv4:${ports.map((port) => `127.0.0.1:${port}`).join()}`;
  const channel = {
    'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
    'grpc.use_local_subchannel_pool': 1,
  };
  const kv = new ServiceClient('tessera.kv.v1.KvPoolService', address, { channel });
  const catalogue = new ServiceClient('tessera.catalogue.v1.CatalogueService', address, {
    channel,
  });
  return [
    { method: 'KvPoolService/Inspect', ask: () => kv.call('Inspect', { userId: 'u' }), of: kv },
    {
      method: 'CatalogueService/GetState',
      ask: () => catalogue.call('GetState', {}),
      of: catalogue,
    },
  ];
}

it.concurrent(`loses no call in ${RESTARTS} restarts`, async () => {
  const clients = callers();
  const lost: string[] = [];
  let [calls, isOver] = [0, false];
  const call = ({ ask }: (typeof clients)[number]) =>
    ask().then(
      () => undefined,
      ({ code, details }: grpc.ServiceError) => lost.push(`${grpc.status[code]} ${details}`),
    );
  const asked: Promise<unknown>[] = [];
  const load = (async () => {
    while (!isOver) {
      for (const client of clients) asked.push(call(client));
      calls += clients.length;
      await pace(EVERY_MS);
    }
  })();
  for (let restart = 0; restart < RESTARTS; restart += 1) {
    const at = restart % 2;
    expect((await (gateways[at] as Service).stop()).status).toBe(0);
    const back = await gateway(at);
    gateways[at] = back;
    for (const { method } of clients) {
      const answered = `tessera_gateway_requests_total{edge="grpc",method="${method}",code="OK"}`;
      await until(`${method} is asked there`, async () => (await back.metric(answered)) > 0);
    }
  }
  isOver = true;
  await load;
  await Promise.all(asked);
  for (const { of } of clients) of.close();
  console.log(`${calls} calls, ${lost.length} lost in ${RESTARTS} restarts`);
  const seen = gateways.flatMap(({ stderr }) => stderr.split('\n').slice(-9));
  expect(lost, seen.join('\n')).toEqual([]);
  expect(calls).toBeGreaterThan(0);
}, 600_000);

/** A gateway of two processes, and those of them that run. */
async function gatewayOfTwo(name: string) {
  const variables = {
    TESSERA_NODE_NAME: name,
    TESSERA_CLUSTER_NODES: `node=${node.grpcAddress}/${new URL(node.httpUrl).host}`,
    TESSERA_HTTP_PORT: String(await freePort()),
    TESSERA_GRPC_PORT: String(await freePort()),
  };
  const service = await Service.start(variables, ['--processes', '2'], GATEWAY);
  gateways.push(service);
  const { pid } = service.child;
  const processes = () =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  await until('two processes run', () => processes().length === 2);
  return { service, processes };
}

it.concurrent('begins a process anew that stands still', async () => {
  const { service, processes } = await gatewayOfTwo('begun-anew');
  const [silent] = processes() as [number];
  process.kill(silent, 'SIGSTOP');
  await until('another one runs', () => {
    const now = processes();
    return now.length === 2 && !now.includes(silent);
  });
  // While a process begins, metrics may take longer than their asker waits.
  await until('it serves', async () => (await service.metric('tessera_build_info')) > 0);
  expect((await service.stop()).status).toBe(0);
}, 600_000);

it.concurrent('ends though one of its processes stands still', async () => {
  const { service, processes } = await gatewayOfTwo('ending');
  const [silent] = processes() as [number];
  process.kill(silent, 'SIGSTOP');
  // 1: a process was ended before it had drained.
  expect((await service.stop()).status).toBe(1);
}, 600_000);
