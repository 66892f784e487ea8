import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';
import type { Log } from './logger.js';

/** Milliseconds for which sending some spans is tried. */
const SEND_TIMEOUT_MS = 2000;

/** Headers of a caller's trace: `traceparent` and `tracestate` (W3C Trace Context). */
export type Carrier = Readonly<Record<string, string>>;

const CARRIER_HEADERS = ['traceparent', 'tracestate'] as const;

/** What of the headers tells the caller's trace. */
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

export interface TracingOptions {
  /** OTLP over HTTP, e.g. http://127.0.0.1:4318/v1/traces; '' keeps none. */
  readonly otlpUrl: string;
  /** Of the traces that begin here; those of callers are kept where the caller keeps them. */
  readonly percent: number;
  readonly serviceName: string;
  readonly serviceVersion: string;
}

/** Traces of requests. DI token; keeping one never fails a request. */
export abstract class Tracing {
  /** Runs `act` inside a span, which ends as it does. */
  abstract serve<T>(name: string, caller: Carrier, act: (span: OpenSpan) => Promise<T>): Promise<T>;
  /** Headers for a call that is made inside `serve`. */
  abstract outgoing(): Carrier;
  /** Sends what waits. */
  abstract close(): Promise<void>;
}

const NO_SPAN: OpenSpan = { traceId: '', set: () => undefined, tell: () => undefined };

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

/** Sends traces to a collector, some at a time and behind the answers. */
class OtlpTracing extends Tracing {
  private readonly provider: NodeTracerProvider;
  private readonly propagator = new W3CTraceContextPropagator();
  private readonly tracer;

  constructor(
    { otlpUrl: url, percent, serviceName, serviceVersion }: TracingOptions,
    private readonly log: Log,
  ) {
    super();
    setGlobalErrorHandler((error) => this.failed(error));
    const exporter = new OTLPTraceExporter({ url, timeoutMillis: SEND_TIMEOUT_MS });
    this.provider = new NodeTracerProvider({
      resource: resourceFromAttributes({
        'service.name': serviceName,
        'service.version': serviceVersion,
      }),
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(percent / 100) }),
      spanProcessors: [new BatchSpanProcessor(exporter)],
    });
    this.provider.register({ propagator: this.propagator });
    this.tracer = this.provider.getTracer('tessera');
  }

  async serve<T>(name: string, caller: Carrier, act: (span: OpenSpan) => Promise<T>): Promise<T> {
    const parent = propagation.extract(ROOT_CONTEXT, caller);
    const startTime = nowMs();
    const span = this.tracer.startSpan(name, { kind: SpanKind.SERVER, startTime }, parent);
    const inside = trace.setSpan(parent, span);
    try {
      return await context.with(inside, () => act(this.opened(span, inside, startTime)));
    } catch (thrown) {
      const { code, message } = thrown as { code?: unknown; message?: unknown };
      span.setAttribute('tessera.code', String(code ?? 'INTERNAL'));
      span.setStatus({ code: SpanStatusCode.ERROR, message: String(message) });
      throw thrown;
    } finally {
      span.end(nowMs());
    }
  }

  outgoing(): Carrier {
    const carrier: Record<string, string> = {};
    propagation.inject(context.active(), carrier);
    return carrier;
  }

  async close(): Promise<void> {
    await this.provider.shutdown().catch((error: unknown) => this.failed(error));
    context.disable();
    propagation.disable();
    trace.disable();
  }

  private failed(error: unknown): void {
    this.log.warn({ err: error }, 'spans could not be sent to the collector');
  }

  private opened(span: Span, inside: Context, startMs: number): OpenSpan {
    if (!span.isRecording()) return NO_SPAN;
    return {
      traceId: span.spanContext().traceId,
      set: (attributes) => span.setAttributes({ ...attributes }),
      tell: (happened) => this.tell(happened(), inside, startMs),
    };
  }

  private tell(happened: readonly TimedSpan[], inside: Context, startMs: number): void {
    for (const { name, startUs, endUs, attributes = {}, children = [] } of happened) {
      const startTime = startMs + startUs / 1000;
      const span = this.tracer.startSpan(
        name,
        { startTime, attributes: { ...attributes } },
        inside,
      );
      this.tell(children, trace.setSpan(inside, span), startTime);
      span.end(startMs + endUs / 1000);
    }
  }
}

function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

/** One per process: the API of OpenTelemetry has one context for all. */
export function openTracing(options: TracingOptions, log: Log): Tracing {
  return options.otlpUrl === '' ? NO_TRACING : new OtlpTracing(options, log);
}
