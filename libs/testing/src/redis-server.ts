import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { freePort } from './free-port.js';
import { ended } from './server-process.js';
import { temporaryFolder } from './temporary-folder.js';
import { until } from './until.js';

export interface RedisServer {
  readonly address: string;
  /** Folder of its data. */
  readonly folder: string;
  signal(signal: NodeJS.Signals): void;
  /**
   * Ends it as a crash does; `start` brings it back on the same address, with what it had saved.
   */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Ends it and takes its folder away. */
  stop(): Promise<void>;
}

/**
 * A real Redis on a free port, every write on its disk before it is answered.
 * @param more options of its command line, which may depend on the port
 */
export async function startRedisServer(
  more: readonly string[] | ((port: number) => readonly string[]) = [],
): Promise<RedisServer> {
  const port = await freePort();
  const options = typeof more === 'function' ? more(port) : more;
  const folder = temporaryFolder({});
  let child = await spawnRedis(port, folder.path, options);
  const kill = () => ended(child, 'SIGKILL');
  return {
    address: `127.0.0.1:${port}`,
    folder: folder.path,
    signal: (signal) => void child.kill(signal),
    kill,
    start: async () => {
      child = await spawnRedis(port, folder.path, options);
    },
    stop: async () => {
      await kill();
      folder.remove();
    },
  };
}

function spawnRedis(
  port: number,
  folder: string,
  options: readonly string[],
): Promise<ChildProcess> {
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  const disk = ['--appendonly', 'yes', '--appendfsync', 'always'];
  return startedRedis([...words, ...disk, ...options], 'Ready to accept connections');
}

/** A `redis-server` that has said that it is ready. */
export function startedRedis(words: readonly string[], ready: string): Promise<ChildProcess> {
  const child = spawn('redis-server', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    const said: string[] = [];
    child.on('error', () => {
      reject(new Error('redis-server is not installed: apt-get install redis-server'));
    });
    child.on('exit', (code) => {
      reject(new Error(`redis-server ended with ${code}: ${said.slice(-5).join('\n')}`));
    });
    createInterface(child.stdout as NodeJS.ReadableStream).on('line', (line) => {
      said.push(line);
      if (line.includes(ready)) resolve(child);
    });
  });
}

/** Rights of the user of Redis, as a page gives them to operators. */
export function documentedRights(page: string): string {
  const text = readFileSync(page, 'utf8');
  const [, rights] = /`ACL SETUSER tessera on >PASSWORD ([^`]+)`/.exec(text) ?? [];
  if (rights === undefined) throw new Error(`${page}: no rights of a user of Redis`);
  return rights;
}

export interface RedisCluster {
  /** Addresses of all its nodes, separated by commas. */
  readonly address: string;
  /** Masters, each with its share of the slots. */
  readonly nodes: readonly RedisServer[];
  stop(): Promise<void>;
}

const NODES = 3;
/** A node silent for so long is down to the others. */
const NODE_TIMEOUT_MS = 2000;
const SERVING_MS_MAX = 20_000;

function untilServing({ address }: RedisServer): Promise<void> {
  const [host = '', port = ''] = address.split(':');
  const serves = () => {
    const { stdout } = spawnSync('redis-cli', ['-h', host, '-p', port, 'cluster', 'info']);
    return String(stdout).includes('cluster_state:ok');
  };
  return until(`${address}: a cluster that serves`, serves, SERVING_MS_MAX);
}

/** A real Redis cluster of three masters on free ports. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const nodes: RedisServer[] = [];
  const stop = async () => {
    for (const node of nodes) await node.stop();
  };
  for (let node = 0; node < NODES; node += 1) {
    const busPort = await freePort();
    const words = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort)];
    const timeout = ['--cluster-node-timeout', String(NODE_TIMEOUT_MS)];
    nodes.push(await startRedisServer([...words, ...timeout]));
  }
  const addresses = nodes.map((node) => node.address);
  const made = spawnSync('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes']);
  if (made.status !== 0) {
    await stop();
    throw new Error(`redis-cli could not make a cluster: ${made.stdout ?? made.error?.message}`);
  }
  // That all know who has which slot does not mean that each of them serves already.
  for (const node of nodes) await untilServing(node);
  return { address: addresses.join(','), nodes, stop };
}
