/** Metrics of the process itself, whatever it serves. */

import { collectDefaultMetrics, type Registry } from 'prom-client';
import type { Log } from './logger.js';
import { copyCount } from './tallies.js';

export const PROCESS_METRICS = {
  rejections: {
    name: 'tessera_unawaited_rejections_total',
    meaning:
      'failures in the background that nothing awaited, each in the log; faults of the service',
  },
} as const;

let rejections = 0;

/**
 * Logs and counts failures in the background that nothing awaits; without an owner they would end
 * the process. Call once in a process.
 */
export function watchRejections(log: Log): void {
  process.on('unhandledRejection', (reason) => {
    rejections += 1;
    log.error({ err: reason }, 'a failure in the background was awaited by nothing');
  });
}

export function registerProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  // Gauges named as counters, beside others that say the same by type.
  for (const kind of ['handles', 'requests', 'resources']) {
    registry.removeSingleMetric(`nodejs_active_${kind}_total`);
  }
  copyCount(registry, PROCESS_METRICS.rejections, () => rejections);
}
