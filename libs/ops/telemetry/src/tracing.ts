/** Headers of a caller's trace: `traceparent` and `tracestate` (W3C Trace Context). */
export type Carrier = Readonly<Record<string, string>>;

const CARRIER_HEADERS = ['traceparent', 'tracestate'] as const;

/** The headers that carry the caller's trace. */
export function carrierOf(header: (name: string) => string | undefined): Carrier {
  return Object.fromEntries(
    CARRIER_HEADERS.flatMap((name) => {
      const value = header(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** Something that is known to have happened. Microseconds from the start of the span around it. */
export interface TimedSpan {
  readonly name: string;
  readonly startUs: number;
  readonly endUs: number;
  readonly attributes?: SpanAttributes;
  readonly children?: readonly TimedSpan[];
}

/** A span that is open. */
export interface OpenSpan {
  /** 32 hexadecimal digits; '' where the trace is not kept. */
  readonly traceId: string;
  set(attributes: SpanAttributes): void;
  /** `happened` is called only where the trace is kept. */
  tell(happened: () => readonly TimedSpan[]): void;
}

/** Sampler names of OTEL_TRACES_SAMPLER. */
export type Sampler = `${'' | 'parentbased_'}${'traceidratio' | 'always_on' | 'always_off'}`;

/** Spans that were sent, and that the collector did not take. */
export interface SpanCounts {
  readonly sent: number;
  readonly failed: number;
}

export interface TracingOptions {
  /** OTLP over HTTP, e.g. http://127.0.0.1:4318, with /v1/traces where it has no path; '': none. */
  readonly otlpUrl: string;
  /**
   * Percent of the traces that begin here; traces of callers are kept where the caller keeps them.
   */
  readonly percent: number;
  readonly sampler: Sampler;
  readonly serviceName: string;
  readonly serviceVersion: string;
}

/** Traces of requests. DI token; keeping one never fails a request. */
export abstract class Tracing {
  /** Runs `act` inside a span, which ends as it does. */
  abstract serve<T>(name: string, caller: Carrier, act: (span: OpenSpan) => Promise<T>): Promise<T>;
  /** Headers for a call that is made inside `serve`. */
  abstract outgoing(): Carrier;
  /** True if the collector took the last spans. */
  reach(): { readonly state: 'ok' | 'down'; readonly reason: string } {
    return { state: 'ok', reason: '' };
  }
  counts(): SpanCounts {
    return { sent: 0, failed: 0 };
  }
  /** Sends what waits. */
  abstract close(): Promise<void>;
}

export const NO_SPAN: OpenSpan = { traceId: '', set: () => undefined, tell: () => undefined };

/** Keeps nothing. */
class NoTracing extends Tracing {
  serve<T>(_name: string, _caller: Carrier, act: (span: OpenSpan) => Promise<T>): Promise<T> {
    return act(NO_SPAN);
  }

  outgoing(): Carrier {
    return {};
  }

  async close(): Promise<void> {}
}

export const NO_TRACING: Tracing = new NoTracing();
