import { execFileSync } from 'node:child_process';
import type { BenchCluster } from '../cluster/bench-cluster.js';
import { cpuSecondsOf, residentBytesOf } from '../process-usage.js';
import type { ServedProcess } from './served-process.js';

const MS_PER_SECOND = 1000;

/** Processes that serve together, and where they tell how they are. */
export interface Watched {
  readonly grpcAddress: string;
  /** Addresses of every process with an event loop that calls go through. */
  readonly httpUrls: readonly string[];
  readonly pids: readonly number[];
}

/** The event loop's delay as `/metrics` tells it: a tick of 10 ms is part of it, even at rest. */
export interface LoopDelay {
  readonly p99Ms: number;
  readonly maxMs: number;
}

export const watchedProcess = ({ grpcAddress, httpUrl, pid }: ServedProcess): Watched => ({
  grpcAddress,
  httpUrls: [httpUrl],
  pids: [pid],
});

export const watchedCluster = (cluster: BenchCluster): Watched => ({
  grpcAddress: cluster.grpcAddress,
  httpUrls: [cluster.httpUrl, ...cluster.nodeAddresses.map((address) => `http://${address}`)],
  pids: cluster.pids,
});

export const cpuSeconds = ({ pids }: Watched) =>
  pids.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0);

export const residentBytes = ({ pids }: Watched) =>
  pids.reduce((sum, pid) => sum + residentBytesOf(pid), 0);

/** The longest delay of any of the event loops since it was last asked: a scrape begins anew. */
export async function loopDelay({ httpUrls }: Watched): Promise<LoopDelay> {
  const texts = await Promise.all(
    httpUrls.map(async (url) => (await fetch(`${url}/metrics`)).text()),
  );
  const longest = (name: string) => {
    const pattern = new RegExp(`^nodejs_eventloop_lag_${name}_seconds(?:\\{.*\\})? (\\S+)$`, 'm');
    return Math.max(...texts.map((text) => Number(pattern.exec(text)?.[1]))) * MS_PER_SECOND;
  };
  return { p99Ms: longest('p99'), maxMs: longest('max') };
}

/** Keeps all threads of the processes, and those to come, on some cores. */
export function keepOnCores(pids: readonly number[], cores: string): void {
  for (const pid of pids) execFileSync('taskset', ['-a', '-c', '-p', cores, String(pid)]);
}
