import type { Log } from './logger.js';
import { NO_TRACING, type Tracing, type TracingOptions } from './tracing.js';

/** Opens tracing once per process: OpenTelemetry has one context for all. Loaded when wanted. */
export async function openTracing(options: TracingOptions, log: Log): Promise<Tracing> {
  if (options.otlpUrl === '') return NO_TRACING;
  const { OtlpTracing } = await import('./otlp-tracing.js');
  return new OtlpTracing(options, log);
}
