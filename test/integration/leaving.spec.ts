/** A process that goes while a balancer still sends it calls, and connections that age. */

import { Agent, get } from 'node:http';
import { connect as connectHttp2, constants } from 'node:http2';
import { loadConfig } from '@tessera/config';
import type { Serving } from '@tessera/hosting';
import { createLog } from '@tessera/telemetry';
import { afterEach, describe, expect, it } from 'vitest';
import { serve as serveGateway } from '../../apps/gateway/src/serve.js';
import { serve } from '../../apps/standalone/src/serve.js';
import { FakeRuntime } from './fake-runtime.js';
import { RecallClient } from './recall-client.js';

const PORTS = { TESSERA_HTTP_PORT: '0', TESSERA_GRPC_PORT: '0', TESSERA_INSPECTION_PATH: '' };
const log = createLog('silent');
const closings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

async function started(
  environment: Readonly<Record<string, string>>,
  runtime = new FakeRuntime(),
): Promise<Serving> {
  const { config } = loadConfig({ environment: Object.assign({}, PORTS, environment) });
  const serving = await serve({ config, runtime, log, serviceVersion: '1.2.3' });
  closings.push(() => serving.drain.run());
  return serving;
}

const DELAYED = { TESSERA_SHUTDOWN_DELAY_MS: '5000' };

/** Two before one node. */
async function gateways(): Promise<[Serving, Serving]> {
  const node = await started({ TESSERA_NODE_NAME: 'a' });
  const member = `a=${node.grpcAddress}/${new URL(node.httpUrl).host}`;
  const gateway = async () => {
    const environment = Object.assign({}, PORTS, DELAYED, { TESSERA_CLUSTER_NODES: member });
    const { config } = loadConfig({ environment });
    const serving = await serveGateway({ config, log, serviceVersion: '1.2.3' });
    closings.unshift(() => serving.drain.run());
    return serving;
  };
  return [await gateway(), await gateway()];
}

const GRPC_OK = 0;

/** One recall over each edge, over connections of its own. @returns whether both are answered */
async function isAnswered({ httpUrl, grpcAddress }: Serving): Promise<boolean> {
  const client = new RecallClient(grpcAddress);
  const overGrpc = client.recall({ userId: '1' }).finally(() => client.close());
  const overHttp = fetch(`${httpUrl}/v1/recall`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ userId: '1' }),
  });
  const [http, grpc] = await Promise.allSettled([overHttp, overGrpc]);
  const isHttp = http.status === 'fulfilled' && http.value.ok;
  return isHttp && grpc.status === 'fulfilled' && grpc.value.status === GRPC_OK;
}

async function isReady({ httpUrl }: Serving): Promise<boolean> {
  const reply = await fetch(`${httpUrl}/health/ready`).catch(() => undefined);
  return reply?.ok === true;
}

describe('a process that goes', () => {
  it.each([
    ['a process', () => Promise.all([started(DELAYED), started(DELAYED)])],
    ['a gateway', gateways],
  ])('%s takes calls until balancers have learnt it: none is lost', async (_name, start) => {
    const [going, staying] = await start();
    const outcomes = new Map<Serving, boolean[]>([
      [going, []],
      [staying, []],
    ]);
    let targets = [going, staying];
    let hasGone = false;
    const gone = going.drain.run().then(() => {
      hasGone = true;
    });
    expect(await isReady(going)).toBe(false);
    // A balancer that looks again and again, and learns late.
    const look = async () => {
      while (!hasGone) {
        const ready = await Promise.all([going, staying].map(isReady));
        targets = [going, staying].filter((_, index) => ready[index]);
      }
    };
    const send = async () => {
      for (let call = 0; !hasGone; call += 1) {
        const target = targets[call % targets.length] as Serving;
        outcomes.get(target)?.push(await isAnswered(target));
      }
    };
    // The first call goes to the one that goes.
    await Promise.all([send(), look()]);
    await gone;
    expect(outcomes.get(going)?.length).toBeGreaterThan(0);
    expect(outcomes.get(staying)?.length).toBeGreaterThan(0);
    expect([...outcomes.values()].flat().every((answered) => answered)).toBe(true);
  });
});

describe('a store of behaviours that is away', () => {
  it.each([
    ['refuse', false],
    ['answer', true],
  ])(
    'where recalls by user are to %s: ready is %s, and histories are taken',
    async (how, ready) => {
      const runtime = new FakeRuntime();
      runtime.behaviourReach = () => ({ state: 'down', reason: 'no answer' });
      const store = { TESSERA_BEHAVIOURS_STORE: 'redis', TESSERA_BEHAVIOURS_REDIS: '127.0.0.1:1' };
      const serving = await started(
        Object.assign(store, { TESSERA_RECALL_WITHOUT_FEATURES: how }),
        runtime,
      );
      expect(await isReady(serving)).toBe(ready);
      const said = await (await fetch(`${serving.httpUrl}/health/ready`)).json();
      expect(said).toMatchObject({ ready, state: ready ? 'ready' : 'blocked' });
      expect(await isAnswered(serving)).toBe(true);
    },
  );
});

describe('a connection', () => {
  it('of gRPC is ended behind its calls once it is old', async () => {
    const { grpcAddress } = await started({ TESSERA_EDGE_CONNECTION_AGE_MS: '50' });
    const client = connectHttp2(`http://${grpcAddress}`);
    const code = await new Promise((resolve) => client.once('goaway', resolve));
    expect(code).toBe(constants.NGHTTP2_NO_ERROR);
    await new Promise((resolve) => client.once('close', resolve));
  });

  it('of HTTP is ended behind the answer at which it is old, and kept before', async () => {
    const askedOf = ({ httpUrl }: Serving, agent: Agent) =>
      new Promise<string | undefined>((resolve, reject) => {
        get(`${httpUrl}/health/live`, { agent }, (reply) => {
          reply.resume();
          reply.on('end', () => resolve(reply.headers.connection));
        }).on('error', reject);
      });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const young = await started({ TESSERA_HTTP_KEEP_ALIVE_MS: '600000' });
    expect(await askedOf(young, agent)).toBe('keep-alive');
    expect(await askedOf(young, agent)).toBe('keep-alive');
    const old = await started({ TESSERA_EDGE_CONNECTION_AGE_MS: '1' });
    await expect.poll(() => askedOf(old, agent)).toBe('close');
    agent.destroy();
  });
});
