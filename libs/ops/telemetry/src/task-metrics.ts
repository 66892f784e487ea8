/** Metrics of calls into the engine's library that have threads of their own. */

import { Gauge, type Registry } from 'prom-client';

export const TASK_METRICS = {
  tasks: {
    name: 'tessera_tasks',
    meaning:
      'calls by lane (read, write, embed; build, change, erase, check, end) and state ' +
      '(waiting, running)',
  },
} as const;

/** Counts as libs/engine reports them. */
export interface TaskCount {
  readonly lane: string;
  readonly waiting: number;
  readonly running: number;
}

export function registerTaskMetrics(registry: Registry, read: () => readonly TaskCount[]): void {
  const { name, meaning } = TASK_METRICS.tasks;
  new Gauge({
    name,
    help: meaning,
    labelNames: ['lane', 'state'],
    registers: [registry],
    collect() {
      for (const { lane, waiting, running } of read()) {
        this.set({ lane, state: 'waiting' }, waiting);
        this.set({ lane, state: 'running' }, running);
      }
    },
  });
}
