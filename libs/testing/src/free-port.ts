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

/** A port on the loopback address on which nobody listens. */
export async function freePort(): Promise<number> {
  for (;;) {
    const [first, end] = RANGES[Math.floor(Math.random() * RANGES.length)] ?? RANGES[0];
    const port = first + Math.floor(Math.random() * (end - first));
    if (await isFree(port)) return port;
  }
}

/**
 * A port with those that many steps above it free too, for a cluster.
 * @param from 12,000..13,000 or 22,000..24,000
 */
export async function freePorts(from: number, steps: readonly number[]): Promise<number> {
  for (let port = from + (process.pid % 1000) * 7; ; port += 7) {
    const free = await Promise.all(steps.map((step) => isFree(port + step)));
    if (free.every(Boolean)) return port;
  }
}
