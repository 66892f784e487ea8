import cluster from 'node:cluster';
import { Counter, Registry } from 'prom-client';
import { afterEach, expect, it, vi } from 'vitest';
import { leadMetrics } from './worker-metrics.js';

afterEach(() => {
  vi.useRealTimers();
  for (const event of ['listening', 'exit', 'message']) cluster.removeAllListeners(event);
});

interface Question {
  readonly kind: string;
  readonly number: number;
  readonly text?: string;
}

/** A worker that has counted `calls`, and what its leader sends it. */
function worker(calls: number) {
  const registry = new Registry();
  const counter = new Counter({ name: 'calls', help: 'calls', registers: [registry] });
  counter.inc(calls);
  const received: Question[] = [];
  const own = {
    isConnected: () => true,
    process: {
      send: (message: Question) => {
        received.push(message);
        if (message.kind !== 'ask for own') return;
        const { number } = message;
        void registry.getMetricsAsJSON().then((values) => {
          cluster.emit('message', own, { kind: 'own', number, values });
        });
      },
    },
  };
  cluster.emit('listening', own);
  return { own, received };
}

it('counts on what a worker counted that ended before any scrape', async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  leadMetrics();
  const first = worker(3);
  const second = worker(4);
  await vi.advanceTimersByTimeAsync(5000);
  await vi.waitFor(() => expect(first.received).toHaveLength(1));
  await vi.waitFor(() => expect(second.received).toHaveLength(1));
  await new Promise(setImmediate);
  cluster.emit('exit', first.own);
  cluster.emit('message', second.own, { kind: 'ask for all', number: 1 });
  await vi.waitFor(() => expect(second.received.at(-1)?.kind).toBe('all'));
  expect(second.received.at(-1)?.text).toContain('calls 7');
});
