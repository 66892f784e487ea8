import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHANNEL_OPTIONS, ServiceClient } from '@tessera/client';
import { freePort, missingFor, temporaryFolder, until } from '@tessera/testing';
import { type Measurement, quantile } from '../../result.js';
import { cpuSecondsOf } from '../process-usage.js';
import type { SuiteContext } from '../suite.js';

const HOST = '127.0.0.1';
const ROUNDS = 12;
const QUICK_ROUNDS = 4;
const CALLS = 500;

/** Of a node that keeps nothing. */
const STORES = {
  TESSERA_NODE_NAME: 'node-1',
  TESSERA_INSPECTION_PATH: '',
  TESSERA_BEHAVIOURS_STORE: 'file',
  TESSERA_CATALOGUE_CHANGES_PATH: '',
  TESSERA_ADAPTERS_PATH: '',
  TESSERA_WEIGHTS_PATH: '',
  TESSERA_KV_DISK_BYTES: '0',
};

interface Way {
  readonly name: string;
  readonly client: ServiceClient<'tessera.kv.v1.KvPoolService'>;
  readonly pid: number | undefined;
  readonly us: number[];
  cpuSeconds: number;
}

function wayOf(name: string, port: number, pid?: number): Way {
  const client = new ServiceClient('tessera.kv.v1.KvPoolService', `${HOST}:${port}`, {
    headers: () => ({ 'x-tessera-user': 'user' }),
    channel: CHANNEL_OPTIONS,
  });
  return { name, client, pid, us: [], cpuSeconds: 0 };
}

function start(command: string, words: readonly string[], variables: Record<string, string>) {
  const set = Object.entries(variables).map(([variable, value]) => `${variable}=${value}`);
  // `env` becomes the process that it starts.
  return spawn('env', [...set, command, ...words], { stdio: ['ignore', 'ignore', 'inherit'] });
}

const answers = (port: number) => async () => {
  const reply = await fetch(`http://${HOST}:${port}/health/ready`).catch(() => undefined);
  return reply?.ok === true;
};

/** One call that costs a node next to nothing, so that a hop is what is seen. */
async function ask(way: Way, calls: number, isKept: boolean): Promise<void> {
  const before = way.pid === undefined ? 0 : cpuSecondsOf(way.pid);
  for (let n = 0; n < calls; n += 1) {
    const from = performance.now();
    await way.client.call('Inspect', { userId: `user-${n}` });
    if (isKept) way.us.push((performance.now() - from) * 1000);
  }
  if (isKept && way.pid !== undefined) way.cpuSeconds += cpuSecondsOf(way.pid) - before;
}

function rowsOf(direct: Way, ways: readonly Way[], calls: number): Measurement[] {
  const added = (way: Way, share: number) => quantile(way.us, share) - quantile(direct.us, share);
  const peer = ways.find(({ name }) => name === 'HAProxy');
  const cpu = (way: Way) => (way.cpuSeconds * 1e6) / calls;
  const row = (way: Way, what: string, of: (way: Way) => number, bar: number): Measurement => {
    const value = of(way);
    const name = `${way.name}: ${what}`;
    // On a busy machine the tail of a call without a hop may be the longer one.
    const isMeasured = peer !== undefined && of(peer) > 0;
    if (way === peer || !isMeasured) return { name, value, unit: 'us', bar: null };
    const ratio = { value: value / of(peer), to: 'HAProxy' };
    return { name, value, unit: 'us', ratio, bar, bound: 'at-most' };
  };
  return [
    { name: 'no hop: p50', value: quantile(direct.us, 0.5), unit: 'us', bar: null },
    { name: 'no hop: p99', value: quantile(direct.us, 0.99), unit: 'us', bar: null },
    ...ways.flatMap((way) => [
      row(way, 'added p50', (one) => added(one, 0.5), 2),
      row(way, 'added p99', (one) => added(one, 0.99), 3),
      row(way, 'CPU of a call', cpu, 3),
    ]),
  ];
}

/** Cost of a hop for the same call: the gateway, and HAProxy. */
export async function hop({ quick, say }: SuiteContext): Promise<Measurement[]> {
  const folder = temporaryFolder({});
  const ports: number[] = [];
  while (ports.length < 5) ports.push(await freePort());
  const [http = 0, grpc = 0, gatewayHttp = 0, gatewayGrpc = 0, haproxy = 0] = ports;
  const own = (httpPort: number, grpcPort: number) =>
    Object.assign({}, STORES, {
      TESSERA_HTTP_PORT: String(httpPort),
      TESSERA_GRPC_PORT: String(grpcPort),
    });
  const nodes = `node-1=${HOST}:${grpc}/${HOST}:${http}`;
  const children: ChildProcess[] = [];
  try {
    say('a node and a gateway start');
    children.push(start(process.execPath, ['dist/apps/standalone/src/main.js'], own(http, grpc)));
    await until('the node serves', answers(http));
    const variables = Object.assign(own(gatewayHttp, gatewayGrpc), {
      TESSERA_CLUSTER_NODES: nodes,
    });
    const gateway = start(process.execPath, ['dist/apps/gateway/src/main.js'], variables);
    children.push(gateway);
    await until('the gateway serves', answers(gatewayHttp));
    const direct = wayOf('no hop', grpc);
    const ways = [wayOf('gateway', gatewayGrpc, gateway.pid)];
    const missing = missingFor(['haproxy']);
    if (missing.length > 0) say(`no peer: ${missing.join()} is missing`);
    else {
      const child = await startHaproxy(folder.path, { http, grpc, haproxy });
      children.push(child);
      ways.unshift(wayOf('HAProxy', haproxy, child.pid));
    }
    const all = [direct, ...ways];
    for (const way of all) await ask(way, CALLS, false);
    const rounds = quick ? QUICK_ROUNDS : ROUNDS;
    for (let round = 0; round < rounds; round += 1) {
      say(`round ${round + 1} of ${rounds}`);
      for (const way of all) await ask(way, CALLS, true);
    }
    for (const { client } of all) client.close();
    return rowsOf(direct, ways, rounds * CALLS);
  } finally {
    for (const child of children.reverse()) {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
    folder.remove();
  }
}

interface Ports {
  readonly http: number;
  readonly grpc: number;
  readonly haproxy: number;
}

/** HAProxy by its example file, with one node. */
async function startHaproxy(folder: string, { http, grpc, haproxy }: Ports) {
  const config = join(folder, 'haproxy.cfg');
  const text = readFileSync('deploy/cluster/haproxy.cfg', 'utf8')
    .replace('127.0.0.1:50051', `${HOST}:${haproxy}`)
    .replace('127.0.0.1:50061', `${HOST}:${grpc}`)
    .replace('port 8081', `port ${http}`)
    .replaceAll(/^ +server node-[23] .*\n/gm, '');
  writeFileSync(config, text);
  const child = start('haproxy', ['-db', '-q', '-f', config], {});
  const probe = new ServiceClient('tessera.kv.v1.KvPoolService', `${HOST}:${haproxy}`);
  await until('HAProxy serves', () =>
    probe.call('Inspect', { userId: 'u' }, { deadline: Date.now() + 1000 }).then(
      () => true,
      () => false,
    ),
  );
  probe.close();
  return child;
}
