/** Processes of one gateway that share its ports: a leader, and workers that serve. */

import cluster, { type Worker } from 'node:cluster';
import { availableParallelism } from 'node:os';
import type { Config } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import { STOP_SIGNALS } from '@tessera/lifecycle';
import { AnswerWatch } from '@tessera/processes';
import { leadMetrics, openOutput } from '@tessera/telemetry';

const CORES_PER_PROCESS = 2;
const PROCESSES_MAX = 256;
/** Milliseconds between two questions to a worker that starts: modules take their time to load. */
const START_PING_MS = 15_000;
/** Milliseconds before a worker that ended is begun anew. */
const AGAIN_MS = 1000;
const EXIT_FAILED = 1;
/** Message of the leader to its workers: signals of a terminal reach all of them at once. */
const STOP = 'stop';
/** Message of the leader that a worker sends back. */
const PING = 'ping';

export const { isWorker } = cluster;

/**
 * @param asked undefined: one for every two cores
 * @throws TesseraError CONFIG_INVALID for a wrong number, and ports that processes cannot share
 */
export function processesOf(
  { http, grpc }: Pick<Config, 'http' | 'grpc'>,
  asked: string | undefined,
): number {
  const byCores = Math.max(1, Math.floor(availableParallelism() / CORES_PER_PROCESS));
  const count = asked === undefined ? byCores : Number(asked);
  if (!Number.isInteger(count) || count < 1 || count > PROCESSES_MAX) {
    throw refused('--processes', `1..${PROCESSES_MAX}`, String(asked));
  }
  if (count === 1) return 1;
  const shared = [
    ['http.port', http.port],
    ['grpc.port', grpc.port],
  ] as const;
  const free = shared.find(([, port]) => port === 0);
  if (free === undefined) return count;
  if (asked === undefined) return 1;
  throw refused(free[0], `a port for ${count} processes to share`, '0');
}

const refused = (field: string, expected: string, got: string) =>
  new TesseraError('CONFIG_INVALID', `${field}: expected ${expected}, got ${got}`, { field });

/** True in the worker that tells where the gateway serves. */
export const isSpeaker = !isWorker || cluster.worker?.id === 1;

/**
 * Begins the workers, and anew those that end or stand still, whose callers would wait. Ends when
 * they have, told by a signal.
 */
export function leadWorkers(
  count: number,
  level: Config['log']['level'],
  isJsonLog: boolean,
): void {
  const { log } = openOutput(level, isJsonLog);
  let isStopping = false;
  let hasServed = false;
  leadMetrics();
  const begin = () => {
    const worker = cluster.fork();
    const onSilent = (how: string) => {
      log.error({ pid: worker.process.pid }, `a process of the gateway is ended: ${how}`);
    };
    const start = watch(worker, onSilent, START_PING_MS);
    worker.once('listening', () => {
      hasServed = true;
      start.end();
      watch(worker, onSilent);
    });
    worker.on('error', (err) => {
      log.error({ err }, 'a process of the gateway failed, or was not begun');
      if (worker.process.pid !== undefined) return;
      // A process that was not begun raises no exit event.
      start.end();
      delete cluster.workers?.[worker.id];
      again(EXIT_FAILED);
    });
  };
  const again = (status: number) => {
    // At the first start the others would fail alike, and have said why; later they serve.
    if (!hasServed) process.exit(status);
    setTimeout(() => {
      if (!isStopping) begin();
    }, AGAIN_MS);
  };
  cluster.on('exit', (worker, status, signal) => {
    if (isStopping) {
      if (status !== 0) process.exitCode = EXIT_FAILED;
      if (running().length === 0) process.exit();
      return;
    }
    const { pid } = worker.process;
    if (hasServed) {
      log.error({ pid, status, signal }, 'a process of the gateway ended: it is begun anew');
    }
    again(status ?? EXIT_FAILED);
  });
  const stop = () => {
    isStopping = true;
    for (const worker of running()) worker?.process.send?.(STOP, () => undefined);
    if (running().length === 0) process.exit();
  };
  for (const signal of STOP_SIGNALS) process.on(signal, stop);
  for (let begun = 0; begun < count; begun += 1) begin();
}

const running = () => Object.values(cluster.workers ?? {});

/** @param onSilent told why the worker is ended */
function watch(worker: Worker, onSilent: (how: string) => void, pingMs?: number): AnswerWatch {
  const ask = () => worker.process.send?.(PING, () => undefined);
  const answers = new AnswerWatch(worker.process, { ask, onSilent, pingMs });
  worker.on('message', (message) => {
    if (message === PING) answers.answered();
  });
  worker.once('exit', () => answers.end());
  return answers;
}

let isAskedToStop = false;
let stopWorker: (() => void) | undefined;

function askToStop(): void {
  isAskedToStop = true;
  stopWorker?.();
}

// From its beginning: a worker may be told to end while it starts.
if (isWorker) {
  for (const signal of STOP_SIGNALS) process.on(signal, () => undefined);
  process.on('message', (message) => {
    if (message === STOP) askToStop();
    if (message === PING) process.send?.(PING, () => undefined);
  });
  process.once('disconnect', askToStop);
}

/** In a worker: calls it where the leader says that the worker ends, or is gone itself. */
export function onLeaderStop(stop: () => void): void {
  stopWorker = stop;
  if (isAskedToStop) stop();
}
