import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { setGlobalErrorHandler, W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { AlwaysOffSampler, AlwaysOnSampler, BatchSpanProcessor, NodeTracerProvider, ParentBasedSampler, TraceIdRatioBasedSampler } from "@opentelemetry/sdk-trace-node";
import { TesseraError } from "../../errors/src/index.js";
import { CountedExporter } from "./counted-exporter.js";
import { NO_SPAN, Tracing } from "./tracing.js";
/** Milliseconds for which sending some spans is tried. */ const SEND_TIMEOUT_MS = 2000;
const TRACES_PATH = '/v1/traces';
/** Sends traces to a collector, some at a time and behind the answers. */ export class OtlpTracing extends Tracing {
    log;
    provider;
    propagator = new W3CTraceContextPropagator();
    tracer;
    exporter;
    /** @throws TesseraError CONFIG_INVALID for an address that is none */ constructor(options, log){
        super(), this.log = log;
        const { serviceName, serviceVersion } = options;
        setGlobalErrorHandler((error)=>this.failed(error));
        const url = tracesUrl(options.otlpUrl);
        const exporter = new OTLPTraceExporter({
            url,
            timeoutMillis: SEND_TIMEOUT_MS
        });
        this.exporter = new CountedExporter(exporter);
        const own = {
            'service.name': serviceName,
            'service.version': serviceVersion
        };
        this.provider = new NodeTracerProvider({
            // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win.
            resource: resourceFromAttributes(own).merge(detectResources({
                detectors: [
                    envDetector
                ]
            })),
            sampler: samplerOf(options),
            spanProcessors: [
                new BatchSpanProcessor(this.exporter)
            ]
        });
        this.provider.register({
            propagator: this.propagator
        });
        this.tracer = this.provider.getTracer('tessera');
    }
    reach() {
        const { reason } = this.exporter;
        return {
            state: reason === '' ? 'ok' : 'down',
            reason
        };
    }
    counts() {
        const { sent, failed } = this.exporter;
        return {
            sent,
            failed
        };
    }
    async serve(name, caller, act) {
        const parent = propagation.extract(ROOT_CONTEXT, caller);
        const startTime = nowMs();
        const span = this.tracer.startSpan(name, {
            kind: SpanKind.SERVER,
            startTime
        }, parent);
        const inside = trace.setSpan(parent, span);
        try {
            return await context.with(inside, ()=>act(this.opened(span, inside, startTime)));
        } catch (thrown) {
            const { code, message } = thrown;
            const name = String(code ?? 'INTERNAL');
            span.setAttributes({
                'tessera.code': name,
                'error.type': name
            });
            span.setStatus({
                code: SpanStatusCode.ERROR,
                message: String(message)
            });
            throw thrown;
        } finally{
            span.end(nowMs());
        }
    }
    outgoing() {
        const carrier = {};
        propagation.inject(context.active(), carrier);
        return carrier;
    }
    async close() {
        await this.provider.shutdown().catch((error)=>this.failed(error));
        context.disable();
        propagation.disable();
        trace.disable();
    }
    failed(error) {
        this.log.warn({
            err: error
        }, 'spans could not be sent to the collector');
    }
    opened(span, inside, startMs) {
        if (!span.isRecording()) return NO_SPAN;
        return {
            traceId: span.spanContext().traceId,
            set: (attributes)=>span.setAttributes({
                    ...attributes
                }),
            tell: (happened)=>this.tell(happened(), inside, startMs)
        };
    }
    tell(happened, inside, startMs) {
        for (const { name, startUs, endUs, attributes = {}, children = [] } of happened){
            const startTime = startMs + startUs / 1000;
            const span = this.tracer.startSpan(name, {
                startTime,
                attributes: {
                    ...attributes
                }
            }, inside);
            this.tell(children, trace.setSpan(inside, span), startTime);
            span.end(startMs + endUs / 1000);
        }
    }
}
function nowMs() {
    return performance.timeOrigin + performance.now();
}
/** A collector takes traces at a path of its own, which its address alone leaves out. */ function tracesUrl(text) {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol)) {
        const field = 'OTEL_EXPORTER_OTLP_ENDPOINT';
        const message = `${field}: expected http://HOST:PORT or https://HOST:PORT, got ${text}`;
        throw new TesseraError('CONFIG_INVALID', message, {
            field
        });
    }
    if (url.pathname === '/') url.pathname = TRACES_PATH;
    return url.href;
}
function samplerOf({ sampler, percent }) {
    const ofRatio = ()=>new TraceIdRatioBasedSampler(percent / 100);
    const name = sampler.replace('parentbased_', '');
    const root = name === 'always_on' ? new AlwaysOnSampler() : name === 'always_off' ? new AlwaysOffSampler() : ofRatio();
    return sampler === name ? root : new ParentBasedSampler({
        root
    });
}

//# sourceMappingURL=otlp-tracing.js.map