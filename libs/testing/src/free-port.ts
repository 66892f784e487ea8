import { createServer } from 'node:net';

const HOST = '127.0.0.1';
/**
 * Ranges of freePort(), below the ports that Linux gives to outgoing connections (32,768 on) and
 * beside those of clusters: a port stays free until a process that is started with it listens.
 */
const RANGES = [
  [10_000, 12_000],
  [20_000, 22_000],
  [30_000, 32_700],
] as const;

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, HOST, () => server.close(() => resolve(true)));
  });
}

/** Shares of all ports: workers of tests, which run at the same time, have one each. */
const SHARES = 8;
const share = Number(process.env.VITEST_POOL_ID ?? 0) % SHARES;
/** Ports that this process has drawn: their programs may not listen yet. */
const drawn = new Set<number>();

/** A port on the loopback address on which nobody listens; another one each time. */
export async function freePort(): Promise<number> {
  for (;;) {
    const [first, end] = RANGES[Math.floor(Math.random() * RANGES.length)] ?? RANGES[0];
    const port = first + SHARES * Math.floor((Math.random() * (end - first)) / SHARES) + share;
    if (drawn.has(port)) continue;
    drawn.add(port);
    if (await isFree(port)) return port;
  }
}

/** Ports above `from` in which clusters begin, and the begins of two of them apart. */
const CLUSTER_PORTS = 7000;
const CLUSTER_STEP = 7;

/**
 * A port with those that many steps above it free too, for a cluster.
 * @param from 12,000 or 22,000
 */
export async function freePorts(from: number, steps: readonly number[]): Promise<number> {
  const own = (share * CLUSTER_PORTS) / SHARES;
  for (let port = from + own + (process.pid % 100) * CLUSTER_STEP; ; port += CLUSTER_STEP) {
    const free = await Promise.all(steps.map((step) => isFree(port + step)));
    if (free.every(Boolean)) return port;
  }
}
