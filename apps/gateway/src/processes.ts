/** Processes of one gateway that share its ports: a leader, and workers that serve. */

import cluster, { type Worker } from 'node:cluster';
import { availableParallelism } from 'node:os';
import type { Config } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import { STOP_SIGNALS } from '@tessera/lifecycle';
import { leadMetrics, openOutput } from '@tessera/telemetry';

const CORES_PER_PROCESS = 2;
/** Milliseconds before a worker that ended is begun anew. */
const AGAIN_MS = 1000;
const EXIT_FAILED = 1;
/** Message of the leader to its workers: signals of a terminal reach all of them at once. */
const STOP = 'stop';

export const { isWorker } = cluster;

/** @throws TesseraError CONFIG_INVALID for ports that several processes cannot share */
export function processesOf({
  cluster: { gatewayProcesses },
  http,
  grpc,
}: Pick<Config, 'cluster' | 'http' | 'grpc'>): number {
  const byCores = Math.max(1, Math.floor(availableParallelism() / CORES_PER_PROCESS));
  const isChosen = gatewayProcesses > 0;
  for (const [field, port] of [
    ['http.port', http.port],
    ['grpc.port', grpc.port],
  ] as const) {
    if (port !== 0) continue;
    if (!isChosen) return 1;
    if (gatewayProcesses === 1) continue;
    const expected = `expected a port for ${gatewayProcesses} processes to share, got 0`;
    throw new TesseraError('CONFIG_INVALID', `${field}: ${expected}`, { field });
  }
  return isChosen ? gatewayProcesses : byCores;
}

/** True in the worker that tells where the gateway serves. */
export const isSpeaker = !isWorker || cluster.worker?.id === 1;

/** Begins the workers, and anew those that end. Ends when they have, told by a signal. */
export function leadWorkers(count: number, isJsonLog: boolean): void {
  const { log } = openOutput('info', isJsonLog);
  let isStopping = false;
  const served = new WeakSet<Worker>();
  leadMetrics();
  cluster.on('listening', (worker) => served.add(worker));
  cluster.on('exit', (worker, status, signal) => {
    const isLast = Object.keys(cluster.workers ?? {}).length === 0;
    if (isStopping) {
      if (status !== 0) process.exitCode = EXIT_FAILED;
      if (isLast) process.exit();
      return;
    }
    if (!served.has(worker)) {
      // The others would fail alike, and have said why.
      process.exit(status ?? EXIT_FAILED);
    }
    const { pid } = worker.process;
    log.error({ pid, status, signal }, 'a process of the gateway ended: it is begun anew');
    setTimeout(() => {
      if (!isStopping) cluster.fork();
    }, AGAIN_MS);
  });
  const stop = () => {
    const workers = Object.values(cluster.workers ?? {});
    for (const worker of workers) worker?.send(STOP);
    isStopping = true;
    if (workers.length === 0) process.exit();
  };
  for (const signal of STOP_SIGNALS) process.on(signal, stop);
  for (let begun = 0; begun < count; begun += 1) cluster.fork();
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
  });
  process.once('disconnect', askToStop);
}

/** In a worker: calls it where the leader says that the worker ends, or is gone itself. */
export function onLeaderStop(stop: () => void): void {
  stopWorker = stop;
  if (isAskedToStop) stop();
}
