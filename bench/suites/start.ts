import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Measurement, quantile } from '../result.js';
import type { SuiteContext } from './suite.js';

const MAIN = 'dist/apps/standalone/src/main.js';
const STARTS = 9;
const QUICK_STARTS = 3;
/** The line after which everything serves. */
const SERVING = /HTTP\s+http:/;
/** Ticks a second of times in /proc, whatever the kernel's own clock. */
const TICKS_PER_SECOND = 100;

type Variables = Readonly<Record<string, string>>;

interface Started {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

function launch(variables: Variables) {
  const ports = { TESSERA_HTTP_PORT: '0', TESSERA_GRPC_PORT: '0' };
  const words = Object.entries({ ...ports, ...variables }).map(([name, it]) => `${name}=${it}`);
  // `env` becomes the process that it starts.
  const command = [...words, process.execPath, MAIN];
  return spawn('env', command, { stdio: ['ignore', 'pipe', 'ignore'] });
}

/** As Linux counts them. */
function takenBy(pid: number): Pick<Started, 'cpuSeconds' | 'residentBytes'> {
  // After the name of the program, which may have any characters.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const cpuSeconds = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  const kibibytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return { cpuSeconds, residentBytes: Number(kibibytes) * 1024 };
}

/** From the start of the process until it serves, with what it has taken by then. */
async function started(variables: Variables): Promise<Started> {
  const began = performance.now();
  const child = launch(variables);
  let said = '';
  // Left open: a service whose output nobody takes would end.
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    said += chunk;
    if (SERVING.test(said)) break;
  }
  const seconds = (performance.now() - began) / 1000;
  child.stdout.resume();
  if (!SERVING.test(said)) throw new Error(`the service ended before it served: ${said}`);
  const taken = takenBy(child.pid as number);
  const ended = once(child, 'exit');
  child.kill();
  await ended;
  return { seconds, ...taken };
}

async function refused(): Promise<number> {
  const began = performance.now();
  await once(launch({ TESSERA_HTTP_PORT: '70000' }), 'exit');
  return (performance.now() - began) / 1000;
}

function measured(name: string, starts: readonly Started[]): Measurement[] {
  const median = (of: (start: Started) => number) => quantile(starts.map(of), 0.5);
  const mebibytes = median(({ residentBytes }) => residentBytes) / 2 ** 20;
  return [
    { name: `${name}, until it serves`, value: median((it) => it.seconds), unit: 's', bar: null },
    { name: `${name}, CPU`, value: median((it) => it.cpuSeconds), unit: 's', bar: null },
    { name: `${name}, resident`, value: mebibytes, unit: 'MiB', bar: null },
  ];
}

/** Without anything that may be left out, and as `npm start` has it. */
function configurations(folder: string): Readonly<Record<string, Variables>> {
  const paths = {
    TESSERA_CATALOGUE_CACHE_PATH: join(folder, 'cache'),
    TESSERA_KV_PATH: join(folder, 'kv'),
    TESSERA_BEHAVIOURS_PATH: join(folder, 'behaviours'),
    TESSERA_INSPECTION_PATH: join(folder, 'inspection'),
    TESSERA_CATALOGUE_CHANGES_PATH: join(folder, 'changes'),
    TESSERA_ADAPTERS_PATH: join(folder, 'adapters'),
    TESSERA_WEIGHTS_PATH: join(folder, 'weights'),
  };
  const bare = {
    ...paths,
    TESSERA_KV_DISK_BYTES: '0',
    TESSERA_BEHAVIOURS_STORE: 'file',
    TESSERA_INSPECTION_PATH: '',
    TESSERA_CATALOGUE_CHANGES_PATH: '',
    TESSERA_ADAPTERS_PATH: '',
  };
  return { bare, 'as npm start': paths };
}

/** How long a start of the demo takes, and what; how soon a bad configuration is refused. */
export async function startSuite({ quick, say }: SuiteContext): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-bench-start-'));
  const count = quick ? QUICK_STARTS : STARTS;
  try {
    const results: Measurement[] = [];
    for (const [name, variables] of Object.entries(configurations(folder))) {
      say(`${count} starts, ${name}`);
      // The first one builds the snapshot of the catalogue and makes the folders.
      await started(variables);
      const starts: Started[] = [];
      for (let i = 0; i < count; i += 1) starts.push(await started(variables));
      results.push(...measured(name, starts));
    }
    const times: number[] = [];
    for (let i = 0; i < count; i += 1) times.push(await refused());
    const value = quantile(times, 0.5);
    return [...results, { name: 'a bad configuration refused', value, unit: 's', bar: null }];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
