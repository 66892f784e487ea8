/** Metrics of a process that follows the log of a cluster. */

import { Gauge, type Registry } from 'prom-client';

export const LOG_METRICS = {
  logOffset: {
    name: 'tessera_log_offset',
    meaning: 'newest applied entry of the cluster log',
  },
  logEnd: {
    name: 'tessera_log_end',
    meaning: 'newest known entry of the cluster log',
  },
} as const;

export interface LogCounts {
  readonly offset: number;
  readonly end: number;
}

export function registerLogMetrics(registry: Registry, read: () => LogCounts): void {
  const gauge = ({ name, meaning: help }: { name: string; meaning: string }, of: keyof LogCounts) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read()[of]);
      },
    });
  gauge(LOG_METRICS.logOffset, 'offset');
  gauge(LOG_METRICS.logEnd, 'end');
}
