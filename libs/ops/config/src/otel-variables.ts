/**
 * The variables of OpenTelemetry that say where traces go and which are kept (specification,
 * "Environment Variable Specification"). Values of the own keys win over them. Those of the
 * resource and of the exporter's headers are read by the library itself.
 */

export const OTEL_SAMPLERS = [
  'parentbased_traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'traceidratio',
  'always_on',
  'always_off',
] as const;

const PERCENT = 100;
const TRACES_PATH = 'v1/traces';

interface OtelValues {
  /** Texts by the path of the key. */
  readonly values: Readonly<Record<string, string>>;
  readonly faults: readonly string[];
}

/** An empty variable counts as one that is not set. */
export function otelValues(environment: Readonly<Record<string, string | undefined>>): OtelValues {
  const of = (name: string) => environment[`OTEL_${name}`]?.trim() || undefined;
  if (of('SDK_DISABLED')?.toLowerCase() === 'true' || of('TRACES_EXPORTER') === 'none') {
    return { values: {}, faults: [] };
  }
  const values: Record<string, string> = {};
  const faults: string[] = [];
  const base = of('EXPORTER_OTLP_ENDPOINT');
  const url = of('EXPORTER_OTLP_TRACES_ENDPOINT') ?? (base && withPath(base));
  if (url !== undefined) values['tracing.otlpUrl'] = url;
  const sampler = of('TRACES_SAMPLER');
  if (sampler === undefined) return { values, faults };
  if (!OTEL_SAMPLERS.some((known) => known === sampler)) {
    faults.push(`OTEL_TRACES_SAMPLER: expected one of ${OTEL_SAMPLERS.join(', ')}, got ${sampler}`);
  }
  values['tracing.sampler'] = sampler;
  const ratio = of('TRACES_SAMPLER_ARG');
  if (!sampler.endsWith('traceidratio') || ratio === undefined) return { values, faults };
  const share = Number(ratio);
  if (share >= 0 && share <= 1) values['tracing.percent'] = String(share * PERCENT);
  else faults.push(`OTEL_TRACES_SAMPLER_ARG: expected a number of 0..1, got ${ratio}`);
  return { values, faults };
}

const withPath = (base: string) => `${base.replace(/\/+$/, '')}/${TRACES_PATH}`;
