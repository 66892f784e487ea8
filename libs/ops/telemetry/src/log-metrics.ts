/** Metrics of a process that follows the log of a cluster. */

import { Gauge, type Registry } from 'prom-client';

export const LOG_METRICS = {
  logOffset: {
    name: 'tessera_log_offset',
    meaning: 'newest entry of the cluster log that is applied here',
  },
  logEnd: {
    name: 'tessera_log_end',
    meaning: 'newest entry of the cluster log that this process has heard of',
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
