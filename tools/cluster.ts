import { loadConfig } from '@tessera/config';
import { isErrorCode, TesseraError } from '@tessera/errors';
import { STOP_SIGNALS } from '@tessera/lifecycle';
import { DEPLOYMENTS, deploymentFile } from './cluster/deployments.js';
import { localPlan } from './cluster/local-plan.js';
import { endAll, launch, type Running, untilReady } from './cluster/local-processes.js';
import { askJson, CONNECTION_FLAGS, CONNECTION_USAGE, servedAt } from './served/connection.js';
import { Flags, fail, print, runCommand, UsageError } from './terminal/command.js';

const USAGE = `usage: npm run cluster -- [--nodes N] [flags]
       npm run -s cluster -- config ${DEPLOYMENTS.join('|')} [--nodes N]
       npm run -s cluster -- forget-node NAME [--url URL] [flags]

Starts a gateway and N nodes on this machine: the gateway on HTTP 8080 and gRPC 50051, node-1 on
8081 and 50061, and so on, each with a folder of its own (docs/cluster.md). Control-C ends them.
  --nodes N          how many; 3 where it is left out
  --folder DIR       where their folders and logs are (data/cluster)
  --http-port P      port of the gateway's HTTP; nodes follow it
  --grpc-port P      port of the gateway's gRPC; nodes follow 10 behind it
  --etcd HOST:PORT   nodes join there, the gateway knows them from there
  --kafka HOST:PORT  serve the topics of a broker
  --redis HOST:PORT  keep behaviours in Redis, instead of a feature process beside the nodes
Model, catalogue and everything else: as for npm start (docs/configuration.md).

config writes a file of deploy/cluster/ for so many nodes to the standard output.

forget-node tells a gateway that the disks of a node are gone for good: erasures no longer wait
for it. To be said to each gateway.
  --url URL            of the gateway's HTTP (http://127.0.0.1:8080)
${CONNECTION_USAGE}`;

const NODES_MAX = 32;
const PORT_MAX = 65_535 - 2 * NODES_MAX;

async function startAll(flags: Flags): Promise<void> {
  const { config } = loadConfig();
  const options = {
    nodes: flags.integer('nodes', 1, NODES_MAX) ?? 3,
    httpPort: flags.integer('http-port', 1, PORT_MAX) ?? 8080,
    grpcPort: flags.integer('grpc-port', 1, PORT_MAX) ?? 50_051,
    folder: flags.text('folder') ?? 'data/cluster',
    etcd: flags.text('etcd') ?? '',
    kafka: flags.text('kafka') ?? '',
    redis: flags.text('redis') ?? '',
  };
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
    for (const one of plan) {
      const isGateway = one.name === 'gateway';
      // The gateway looks for its nodes when it starts.
      if (isGateway) await Promise.all(running.map(untilReady));
      const started = launch(one, isGateway);
      running.push(started);
      await print(`${one.name}  pid ${started.child.pid}  folder ${one.folder}`);
      void started.ended.then((how) => {
        if (isEnding) return;
        void print(`${one.name} has ended: ${how}`);
        if (isGateway) void end(1);
      });
    }
  } catch (error) {
    isEnding = true;
    await endAll(running);
    throw error;
  }
}

async function forgetNode(node: string | undefined, flags: Flags): Promise<void> {
  if (node === undefined) throw new UsageError('expected forget-node NAME');
  const url = flags.text('url') ?? 'http://127.0.0.1:8080';
  const { connection } = servedAt(flags, loadConfig().config);
  const asked = askJson(`${url}/v1/cluster/forget-node`, connection, '--url', { node });
  const { holders, error } = (await asked) as {
    readonly holders?: readonly string[];
    readonly error?: { readonly code: string; readonly message: string };
  };
  if (error !== undefined) {
    throw new TesseraError(isErrorCode(error.code) ? error.code : 'INTERNAL', error.message);
  }
  await print(`${node} is forgotten; erasures wait for ${holders?.join(', ') || 'no node'}`);
}

await runCommand(USAGE, async (words) => {
  const [first, kind, ...rest] = words;
  if (first !== 'config' && first !== 'forget-node') {
    const text = 'text' as const;
    const ports = { 'http-port': text, 'grpc-port': text };
    const kinds = { nodes: text, folder: text, etcd: text, kafka: text, redis: text };
    await startAll(Flags.parse(words, Object.assign(kinds, ports)));
    return;
  }
  if (first === 'forget-node') {
    await forgetNode(kind, Flags.parse(rest, { url: 'text', ...CONNECTION_FLAGS }));
    return;
  }
  const flags = Flags.parse(rest, { nodes: 'text' });
  const known = DEPLOYMENTS.find((deployment) => deployment === kind);
  if (known === undefined) fail('config', DEPLOYMENTS.join(', '), kind ?? 'nothing');
  await print(deploymentFile(known, flags.integer('nodes', 1, NODES_MAX) ?? 3));
});
