import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { TesseraError } from '@tessera/errors';
import type { LocalProcess } from './local-plan.js';

const LOOK_EVERY_MS = 100;
/** A model takes its time to load. */
const READY_MS_MAX = 300_000;

export interface Running {
  readonly process: LocalProcess;
  readonly child: ChildProcess;
  readonly ended: Promise<string>;
}

/** Servers of Redis, the first that this machine has is taken. */
const REDIS_SERVERS = ['valkey-server', 'redis-server'];
const HOST = '127.0.0.1';

/**
 * Starts an etcd of one member for the cluster's log. Rejects with CONFIG_INVALID where this
 * machine has none, IO_FAILED where it does not start.
 */
export function launchEtcd(folder: string, port: number): Promise<Running> {
  const client = `http://${HOST}:${port}`;
  const peer = `http://${HOST}:${port + PEER_STEP}`;
  const words = [
    ...['--data-dir', join(folder, 'etcd'), '--name', 'etcd', '--log-level', 'warn'],
    ...['--listen-client-urls', client, '--advertise-client-urls', client],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
    ...['--initial-cluster', `etcd=${peer}`],
    // Replaced values are never read again.
    ...['--auto-compaction-mode', 'periodic', '--auto-compaction-retention', '10m'],
  ];
  const advice = 'install it (apt-get install etcd-server), or name one by --etcd';
  return launchServer('etcd', serverOf(['etcd'], advice), folder, port, words);
}

const PEER_STEP = 2;

/** @throws TesseraError CONFIG_INVALID */
function serverOf(names: readonly string[], advice: string): string {
  const found = names.find((name) => spawnSync(name, ['--version']).status === 0);
  if (found !== undefined) return found;
  const message = `expected ${names.join(' or ')} for the cluster, got none: ${advice}`;
  throw new TesseraError('CONFIG_INVALID', message);
}

/**
 * A Redis for keys and values that all nodes use: in memory alone, what is not used goes first.
 * @param bytes that it may take
 */
export function launchSharedServer(folder: string, port: number, bytes: number): Promise<Running> {
  const bounded = ['--maxmemory', String(bytes), '--maxmemory-policy', 'volatile-ttl'];
  const kept = ['--appendonly', 'no', '--save', '', '--dir', folder, '--bind', HOST];
  const words = ['--port', String(port), ...bounded, ...kept];
  const server = serverOf(REDIS_SERVERS, 'install one (apt-get install redis-server)');
  return launchServer('shared', server, folder, port, words);
}

async function launchServer(
  name: string,
  server: string,
  folder: string,
  port: number,
  words: readonly string[],
): Promise<Running> {
  mkdirSync(folder, { recursive: true });
  const log = openSync(join(folder, 'log'), 'a');
  const child = spawn(server, words, { stdio: ['ignore', log, log], detached: true });
  closeSync(log);
  const ended = once(child, 'exit').then(([status, signal]) => String(signal ?? status));
  const process_ = {
    name,
    main: server,
    folder,
    httpPort: port,
    grpcPort: 0,
    variables: {},
  };
  const running = { process: process_, child, ended };
  const isThere = () => isOpen(port);
  for (const end = performance.now() + READY_MS_MAX; !(await isThere()); ) {
    if (child.exitCode !== null || performance.now() > end) throw notServing(name, folder);
    await pause(LOOK_EVERY_MS);
  }
  return running;
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const settle = (is: boolean) => {
      socket.destroy();
      resolve(is);
    };
    socket.once('connect', () => settle(true)).once('error', () => settle(false));
  });
}

const SHOWN_CHARACTERS = 2000;

function notServing(name: string, folder: string): TesseraError {
  const log = join(folder, 'log');
  const printed = existsSync(log) ? readFileSync(log, 'utf8').slice(-SHOWN_CHARACTERS) : '';
  const message = `${name}: expected it to serve, got an end: see ${log}\n${printed}`;
  return new TesseraError('IO_FAILED', message);
}

/** Starts a process with a log in its folder, or, for the gateway, on this terminal. */
export function launch(process_: LocalProcess, isShown: boolean): Running {
  const { main, folder, variables } = process_;
  mkdirSync(folder, { recursive: true });
  const log = isShown ? undefined : openSync(join(folder, 'log'), 'a');
  const output = log ?? 'inherit';
  const words = Object.entries(variables).map(([variable, value]) => `${variable}=${value}`);
  // `env` becomes the process that it starts.
  const child = spawn('env', [...words, process.execPath, main], {
    stdio: ['ignore', output, output],
    // Control-C reaches this command alone, which ends them in their order.
    detached: true,
  });
  if (log !== undefined) closeSync(log);
  const ended = once(child, 'exit').then(([status, signal]) => String(signal ?? status));
  return { process: process_, child, ended };
}

/** Resolves when a process takes requests. Rejects with IO_FAILED where it ends before. */
export async function untilReady({ process: { name, folder, httpPort }, child }: Running) {
  const end = performance.now() + READY_MS_MAX;
  for (;;) {
    const url = `http://127.0.0.1:${httpPort}/health/live`;
    const reply = await fetch(url).catch(() => undefined);
    if (reply?.ok === true) return;
    if (child.exitCode !== null || child.signalCode !== null || performance.now() > end) {
      throw notServing(name, folder);
    }
    await pause(LOOK_EVERY_MS);
  }
}

/** Ends one after the other, the last that was started first. */
export async function endAll(running: readonly Running[]): Promise<void> {
  for (const { child, ended } of [...running].reverse()) {
    child.kill('SIGTERM');
    await ended;
  }
}
