/** Metrics of requests. */

import { Gauge, type Registry } from 'prom-client';

export const HELD_METRICS = {
  heldWhileIdle: {
    name: 'tessera_held_while_idle',
    meaning:
      'resources not returned although no request is running, by kind (tickets, ' +
      'reservedTickets, inFlight, prefetches, leases, admission, pushBytes); above 0: a leak',
  },
  heldCallers: {
    name: 'tessera_held_callers',
    meaning:
      'connections whose calls wait at the caller, since refusals take too much of the thread',
  },
} as const;

/** Counts by kind; all 0 while requests are under way. */
export type HeldCounts = Readonly<Record<string, number>>;

export function registerHeld(registry: Registry, read: () => HeldCounts): void {
  const { name, meaning } = HELD_METRICS.heldWhileIdle;
  new Gauge({
    name,
    help: meaning,
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      for (const [kind, count] of Object.entries(read())) this.set({ kind }, count);
    },
  });
}

export function registerHeldCallers(registry: Registry, read: () => number): void {
  const { name, meaning: help } = HELD_METRICS.heldCallers;
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}
