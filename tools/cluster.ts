import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ClusterState } from '@tessera/client';
import { loadConfig } from '@tessera/config';
import { STOP_SIGNALS } from '@tessera/lifecycle';
import { differencesOf } from './cluster/differences.js';
import { etcdPortOf, localPlan, logStoreOf, sharedPortOf } from './cluster/local-plan.js';
import {
  endAll,
  launch,
  launchEtcd,
  launchSharedServer,
  type Running,
  untilReady,
} from './cluster/local-processes.js';
import { askJson, CONNECTION_FLAGS, CONNECTION_USAGE, servedAt } from './served/connection.js';
import { Flags, fail, print, runCommand } from './terminal/command.js';

const USAGE = `usage: npm run cluster -- [--nodes N] [flags]
       npm run -s cluster -- differences NODE NODE [--catalogue NAME] [--url URL] [flags]

Starts a gateway and N nodes on this machine: the gateway on HTTP 8080 and gRPC 50051, node-1 on
8081 and 50061, and so on, each with a folder of its own (docs/operate/cluster.md).
Control-C ends them.
  --nodes N          how many; 3 where it is left out
  --append N         so many nodes more, append-1 and so on, which only append; the others answer;
                     needs --shared
  --folder DIR       where their folders and logs are (data/cluster)
  --http-port P      port of the gateway's HTTP; nodes follow it
  --grpc-port P      port of the gateway's gRPC; nodes follow 10 behind it
  --etcd HOST:PORT   keep the log and the list of nodes there; left out: an etcd is started
  --kafka HOST:PORT  serve the topics of a broker
  --redis HOST:PORT  keep behaviours in this Redis, instead of a feature process
  --shared           start a Redis for users' keys and values, which all nodes use (kv.shared)
Model, catalogue and everything else: as for npm start (docs/operate/configuration.md).

differences prints the items that two nodes do not have alike, where one of them is different.
  --catalogue NAME     of the items; the first one where it is left out
  --url URL            of the gateway's HTTP (http://127.0.0.1:8080), which knows the nodes
${CONNECTION_USAGE}`;

const NODES_MAX = 32;
const SHARED_BYTES_MIN = 64 * 2 ** 20;
const SHOWN_MAX = 100;
const PORT_MAX = 65_535 - 2 * NODES_MAX;

/** @throws UsageError for nodes that only append without a store that all nodes use */
function optionsOf(flags: Flags) {
  const nodes = flags.integer('nodes', 1, NODES_MAX) ?? 3;
  const append = flags.integer('append', 0, NODES_MAX - nodes) ?? 0;
  const isShared = flags.has('shared');
  if (append > 0 && !isShared) {
    fail('append', 'a store that all nodes use (--shared) beside it', 'none');
  }
  return {
    nodes,
    append,
    httpPort: flags.integer('http-port', 1, PORT_MAX) ?? 8080,
    grpcPort: flags.integer('grpc-port', 1, PORT_MAX) ?? 50_051,
    folder: resolve(flags.text('folder') ?? 'data/cluster'),
    etcd: flags.text('etcd') ?? '',
    kafka: flags.text('kafka') ?? '',
    redis: flags.text('redis') ?? '',
    isShared,
  };
}

async function startAll(flags: Flags): Promise<void> {
  const { config } = loadConfig();
  const options = optionsOf(flags);
  const running: Running[] = [];
  let isEnding = false;
  const end = async (status: number) => {
    if (isEnding) return;
    isEnding = true;
    await endAll(running);
    process.exit(status);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, () => void end(0));
  const plan = localPlan(options, config);
  try {
    if (options.etcd === '') {
      const port = etcdPortOf(options);
      const server = await launchEtcd(join(options.folder, 'etcd'), port);
      running.push(server);
      await print(`etcd  pid ${server.child.pid}  port ${port}  folder ${server.process.folder}`);
    }
    if (options.isShared) {
      const [port, bytes] = [sharedPortOf(options), Math.floor(config.kv.hostBytes)];
      const folder = join(options.folder, 'shared');
      const server = await launchSharedServer(folder, port, Math.max(bytes, SHARED_BYTES_MIN));
      running.push(server);
      await print(`shared  pid ${server.child.pid}  port ${port}`);
    }
    mkdirSync(logStoreOf(options), { recursive: true });
    for (const one of plan) {
      const isGateway = one.name === 'gateway';
      // The gateway looks for its nodes when it starts.
      const served = running.filter(({ process: { main } }) => main.endsWith('.js'));
      if (isGateway) await Promise.all(served.map(untilReady));
      const started = launch(one, isGateway);
      running.push(started);
      await print(`${one.name}  pid ${started.child.pid}  folder ${one.folder}`);
      void started.ended.then((how) => {
        if (isEnding) return;
        // Nothing hangs on a line that nothing reads.
        print(`${one.name} has ended: ${how}`).catch(() => undefined);
        if (isGateway) void end(1);
      });
    }
  } catch (error) {
    isEnding = true;
    await endAll(running);
    throw error;
  }
}

async function showDifferences(
  first: string | undefined,
  second: string | undefined,
  flags: Flags,
): Promise<void> {
  const url = flags.text('url') ?? 'http://127.0.0.1:8080';
  const { connection } = servedAt(flags, loadConfig().config);
  const { nodes } = await askJson<ClusterState>(`${url}/v1/cluster`, connection);
  const addressOf = (name: string | undefined) => {
    const found = nodes.find((node) => node.name === name);
    return (
      found?.grpc ?? fail('differences', nodes.map((node) => node.name).join(', '), name ?? '')
    );
  };
  const both = [addressOf(first), addressOf(second)] as const;
  const found = await differencesOf(both, flags.text('catalogue') ?? '', connection);
  for (const { itemId, first: one = 'none', second: other = 'none' } of found.slice(0, SHOWN_MAX)) {
    await print(`${itemId}\n  ${first}: ${one}\n  ${second}: ${other}`);
  }
  await print(`${found.length} items differ between ${first} and ${second}`);
}

await runCommand(USAGE, async (words) => {
  const [name, first, second, ...rest] = words;
  if (name === 'differences') {
    const flags = { url: 'text', catalogue: 'text', ...CONNECTION_FLAGS } as const;
    await showDifferences(first, second, Flags.parse(rest, flags));
    return;
  }
  const text = 'text' as const;
  const ports = { 'http-port': text, 'grpc-port': text };
  const counts = { nodes: text, append: text };
  const kinds = { folder: text, etcd: text, kafka: text, redis: text };
  const shared = { shared: 'switch' } as const;
  await startAll(Flags.parse(words, Object.assign(kinds, counts, ports, shared)));
});
