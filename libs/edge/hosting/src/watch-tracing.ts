import type { Conditions } from '@tessera/lifecycle';
import type { Metrics, Tracing } from '@tessera/telemetry';

/** The collector of traces as a dependency that nothing waits for. */
export function watchTracing(tracing: Tracing, conditions: Conditions, metrics: Metrics): void {
  metrics.showSpans(() => tracing.counts());
  const read = () => tracing.reach();
  conditions.add({ name: 'tracing', kind: 'dependency', isNeeded: false, read });
}
