import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { PLAIN, TesseraClient } from '@tessera/client';
import { repositoryRoot } from '@tessera/config';
import { AdapterClient } from '../../../tools/served/adapter-client.js';
import { type Measurement, quantile } from '../../result.js';
import { ServedProcess } from '../overload/served-process.js';
import type { SuiteContext } from '../suite.js';
import { ended, startChild } from './children.js';

const MINUTES = { quick: 3, full: 15 };
const CYCLE_SECONDS = 120;
const PROBES_PER_SECOND = 20;
const CALL_MS = 5000;
/** Of a second, from which on the trainer is at work. */
const BUSY_MS = 300;
const TICKS_PER_MS = 0.1;
const TAIL = 0.99;
/** Beginning of the line with which a trainer says that it follows. */
const FOLLOWS = 'follows ';

interface Versions {
  readonly versions: readonly {
    readonly digest: string;
    readonly state: string;
    readonly learnedUntilMs: number;
  }[];
}

/**
 * `npm start`, `npm run world` and `python -m trainer follow` as a person starts them, by the wall
 * clock: how soon a behaviour is in a version that serves, and recalls beside a training.
 */
export async function liveStage({ quick, flags, say }: SuiteContext): Promise<Measurement[]> {
  const python = flags.text('python') ?? '.venv/bin/python';
  const minutes = MINUTES[quick ? 'quick' : 'full'];
  const folder = mkdtempSync(join(tmpdir(), 'tessera-live-'));
  const inspection = join(folder, 'inspection');
  const service = await ServedProcess.start({
    model: { path: join(repositoryRoot, 'models', 'demo') },
    inspection: { path: inspection },
  });
  const address = ['--address', service.grpcAddress];
  const world = startChild(process.execPath, [
    ...[join(repositoryRoot, 'dist', 'tools', 'world.js'), '--days', '0', ...address],
    ...['--out', join(folder, 'world')],
  ]);
  const facts = ['--facts', join(inspection, 'facts'), '--state', join(folder, 'follow')];
  // Its start is no training: it reads PyTorch, beside a service and a world that begin.
  const begun = Promise.withResolvers<void>();
  const follower = startChild(
    python,
    ['-m', 'trainer', 'follow', ...address, ...facts, '--every', String(CYCLE_SECONDS)],
    (line) => {
      say(line);
      if (line.startsWith(FOLLOWS)) begun.resolve();
    },
  );
  try {
    await Promise.race([begun.promise, ended(follower)]);
    return await watch({ service, follower, seconds: 60 * minutes });
  } finally {
    await Promise.all([stopped(world), stopped(follower)]);
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Watched {
  readonly service: ServedProcess;
  readonly follower: ChildProcess;
  readonly seconds: number;
}

async function watch({ service, follower, seconds }: Watched): Promise<Measurement[]> {
  const versions = new AdapterClient(service.grpcAddress);
  const client = new TesseraClient(service.grpcAddress, { connection: PLAIN });
  /** First moment at which all, or some users, were served with all behaviours until a time. */
  const served: { atMs: number; state: string; learnedUntilMs: number }[] = [];
  const latencies: Record<'beside' | 'alone', number[]> = { beside: [], alone: [] };
  const beganMs = Date.now();
  let cpuMs = cpuOf(follower);
  try {
    for (let second = 0; second < seconds; second += 1) {
      const probes = Array.from({ length: PROBES_PER_SECOND }, async (_, at) => {
        await after((1000 / PROBES_PER_SECOND) * at);
        const askedAt = performance.now();
        const userId = String(1 + ((second * PROBES_PER_SECOND + at) % 200));
        await client.recall({ userId, resultCount: 10 }, CALL_MS);
        return performance.now() - askedAt;
      });
      const times = await Promise.all(probes);
      const now = cpuOf(follower);
      latencies[now - cpuMs > BUSY_MS ? 'beside' : 'alone'].push(...times);
      cpuMs = now;
      const listed = await versions.call<Versions>('List', { name: 'main' }, CALL_MS);
      for (const { state, learnedUntilMs } of listed.versions) {
        const known = served.some(
          (one) => one.state === state && one.learnedUntilMs === learnedUntilMs,
        );
        if (known || !/CANARY|ACTIVE/.test(state)) continue;
        served.push({ atMs: Date.now(), state, learnedUntilMs: Number(learnedUntilMs) });
      }
      if (follower.exitCode !== null) throw new Error('the trainer has ended');
    }
  } finally {
    versions.close();
    client.close();
  }
  return rowsOf({ beganMs, seconds, served, latencies });
}

interface Seen {
  readonly beganMs: number;
  readonly seconds: number;
  readonly served: readonly { atMs: number; state: string; learnedUntilMs: number }[];
  readonly latencies: Readonly<Record<'beside' | 'alone', number[]>>;
}

function rowsOf({ beganMs, seconds, served, latencies }: Seen): Measurement[] {
  const active = served.filter(({ state }) => state === 'STATE_ACTIVE');
  const minutesTo = (versions: Seen['served']) =>
    Array.from({ length: seconds }, (_, second) => beganMs + 1000 * second).flatMap((doneMs) => {
      const first = versions.find(({ learnedUntilMs }) => learnedUntilMs >= doneMs);
      return first === undefined ? [] : [(first.atMs - doneMs) / 60_000];
    });
  const tails = {
    beside: quantile(latencies.beside, TAIL),
    alone: quantile(latencies.alone, TAIL),
  };
  return [
    { name: 'versions that were active', value: active.length, unit: 'versions', bar: null },
    {
      name: 'from a behaviour to a version with it for all users, median',
      value: quantile(minutesTo(active), 0.5),
      unit: 'minutes',
      bar: 4,
      bound: 'at-most',
    },
    {
      name: 'the same to its canary',
      value: quantile(minutesTo(served), 0.5),
      unit: 'minutes',
      bar: null,
    },
    {
      name: `recalls beside a training, p99 of ${latencies.beside.length}`,
      value: tails.beside,
      unit: 'ms',
      ratio: { value: tails.beside / tails.alone, to: 'between trainings' },
      bar: 1.5,
      bound: 'at-most',
    },
  ];
}

async function stopped(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  await ended(child);
}

/** Milliseconds of CPU that a process has taken. */
function cpuOf({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_MS;
}
