/**
 * The variables of OpenTelemetry that say where traces go and which are kept (specification,
 * "Environment Variable Specification"). Those of the resource and of the exporter's headers are
 * read by the library itself.
 */

const OTEL_SAMPLERS = [
  'parentbased_traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'traceidratio',
  'always_on',
  'always_off',
] as const;

const PERCENT = 100;
const TRACES_PATH = 'v1/traces';

/** Destination of traces, and the ones that are kept. */
export interface TracingConfig {
  /** Address of a collector, OTLP over HTTP; '': no traces. */
  readonly otlpUrl: string;
  readonly sampler: (typeof OTEL_SAMPLERS)[number];
  /** Percentage of the traces kept by a sampler of a ratio. */
  readonly percent: number;
}

const NO_TRACES: TracingConfig = {
  otlpUrl: '',
  sampler: 'parentbased_traceidratio',
  percent: PERCENT,
};

interface OtelValues {
  readonly tracing: TracingConfig;
  readonly faults: readonly string[];
}

/** An empty variable counts as one that is not set. */
export function otelValues(environment: Readonly<Record<string, string | undefined>>): OtelValues {
  const of = (name: string) => environment[`OTEL_${name}`]?.trim() || undefined;
  if (of('SDK_DISABLED')?.toLowerCase() === 'true' || of('TRACES_EXPORTER') === 'none') {
    return { tracing: NO_TRACES, faults: [] };
  }
  const faults: string[] = [];
  const base = of('EXPORTER_OTLP_ENDPOINT');
  const otlpUrl = of('EXPORTER_OTLP_TRACES_ENDPOINT') ?? (base ? withPath(base) : '');
  const named = of('TRACES_SAMPLER');
  const sampler = OTEL_SAMPLERS.find((known) => known === named) ?? NO_TRACES.sampler;
  if (named !== undefined && named !== sampler) {
    faults.push(`OTEL_TRACES_SAMPLER: expected one of ${OTEL_SAMPLERS.join(', ')}, got ${named}`);
  }
  const ratio = named?.endsWith('traceidratio') ? of('TRACES_SAMPLER_ARG') : undefined;
  const share = Number(ratio ?? 1);
  if (!(share >= 0 && share <= 1)) {
    faults.push(`OTEL_TRACES_SAMPLER_ARG: expected a number of 0..1, got ${ratio}`);
  }
  return { tracing: { otlpUrl, sampler, percent: share * PERCENT }, faults };
}

const withPath = (base: string) => `${base.replace(/\/+$/, '')}/${TRACES_PATH}`;
