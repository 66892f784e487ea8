import { freePort } from '@tessera/testing';
/** A gateway of several processes: one address, one set of metrics, one end. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder, until } from '../../libs/testing/src/index.js';

const MAIN = 'dist/apps/gateway/src/main.js';
const folder = temporaryFolder({});
let gateway: ChildProcess;
let url: string;
let logged = '';

beforeAll(async () => {
  const httpPort = await freePort();
  const grpcPort = await freePort();
  const config = join(folder.path, 'config.json');
  const keys = {
    cluster: { nodes: 'a=127.0.0.1:1/127.0.0.1:2' },
    http: { port: httpPort },
    grpc: { port: grpcPort },
    access: { auditPath: join(folder.path, 'audit.jsonl') },
  };
  writeFileSync(config, JSON.stringify(keys));
  gateway = spawn(process.execPath, [MAIN, '--config', config, '--processes', '2'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  gateway.stderr?.on('data', (chunk: Buffer) => {
    logged += chunk.toString();
  });
  url = `http://127.0.0.1:${httpPort}`;
  await until('a gateway serves', async () => (await metric('tessera_build_info')) === 1);
}, 60_000);

afterAll(() => {
  gateway.kill('SIGKILL');
  folder.remove();
});

/** Milliseconds after which a scrape is tried again, as a stopped process may have got it. */
const SCRAPE_MS = 2500;

/** Undefined: nobody answers in time. */
async function metric(name: string): Promise<number | undefined> {
  const text = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(SCRAPE_MS) }).then(
    (reply) => reply.text(),
    () => '',
  );
  const line = text.split('\n').find((one) => one.startsWith(name));
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}

const children = () =>
  readFileSync(`/proc/${gateway.pid}/task/${gateway.pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .map(Number);

it('tells states as they are and adds up what each process holds', async () => {
  await until('two processes run', () => children().length === 2);
  // 2: down, of both processes alike.
  await until(
    'the node is down',
    async () => (await metric('tessera_condition{name="nodes"')) === 2,
  );
  await bothServe();
});

/** Resolves when the metrics are of two processes: what they hold adds up. */
async function bothServe(): Promise<void> {
  await until('two processes serve', async () => {
    const [one] = children();
    const { 1: kib } = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${one}/status`, 'utf8')) ?? [];
    return Number(await metric('process_resident_memory_bytes')) > 1500 * Number(kib);
  });
}

/** Processor time of all processes, those that have ended with them. */
const spentSeconds = () => metric('process_cpu_seconds_total');

it('tells in time of a process that stands still, with what it told last', async () => {
  const before = (await spentSeconds()) as number;
  const [, second] = children() as [number, number];
  process.kill(second, 'SIGSTOP');
  await until('the other one answers', async () => ((await spentSeconds()) ?? 0) >= before);
  process.kill(second, 'SIGCONT');
});

it('begins a process anew that ended, and keeps serving and what it had counted', async () => {
  const before = (await spentSeconds()) as number;
  const [first] = children() as [number];
  process.kill(first, 'SIGKILL');
  await until('it has ended', () => !children().includes(first));
  expect((await fetch(`${url}/health/live`)).status).toBe(200);
  expect(await spentSeconds()).toBeGreaterThanOrEqual(before);
  await until('another one runs', () => children().length === 2);
});

it('goes on where the system begins no process, and tries again', async () => {
  await bothServe();
  const before = children();
  const filesMax = (count: number) =>
    execFileSync('prlimit', [`--pid=${gateway.pid}`, `--nofile=${count}:4096`]);
  filesMax(readdirSync(`/proc/${gateway.pid}/fd`).length - 1);
  process.kill(before[0] as number, 'SIGKILL');
  await until('the system refuses one', () => logged.includes('EMFILE'));
  await until('the other one serves', async () => (await spentSeconds()) !== undefined);
  expect(children()).toEqual(before.slice(1));
  filesMax(4096);
  await until('another one runs', () => children().length === 2);
});

it('ends all of its processes at one signal', async () => {
  const pids = children();
  const exited = once(gateway, 'exit');
  gateway.kill('SIGTERM');
  expect((await exited)[0]).toBe(0);
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

it('refuses ports that processes cannot share', async () => {
  const config = join(folder.path, 'ports.json');
  writeFileSync(config, JSON.stringify({ grpc: { port: 0 } }));
  const child = spawn(process.execPath, [MAIN, '--config', config, '--processes', '2']);
  let told = '';
  child.stderr.on('data', (chunk: Buffer) => {
    told += chunk.toString();
  });
  await once(child, 'exit');
  expect(told).toContain('grpc.port: expected a port for 2 processes to share, got 0');
});
