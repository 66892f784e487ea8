/** Headers of a caller's trace: `traceparent` and `tracestate` (W3C Trace Context). */ const CARRIER_HEADERS = [
    'traceparent',
    'tracestate'
];
/** The headers that carry the caller's trace. */ export function carrierOf(header) {
    return Object.fromEntries(CARRIER_HEADERS.flatMap((name)=>{
        const value = header(name);
        return value === undefined ? [] : [
            [
                name,
                value
            ]
        ];
    }));
}
/** Traces of requests. DI token; keeping one never fails a request. */ export class Tracing {
    /** True if the collector took the last spans. */ reach() {
        return {
            state: 'ok',
            reason: ''
        };
    }
    counts() {
        return {
            sent: 0,
            failed: 0
        };
    }
}
export const NO_SPAN = {
    traceId: '',
    set: ()=>undefined,
    tell: ()=>undefined
};
/** Keeps nothing. */ let NoTracing = class NoTracing extends Tracing {
    serve(_name, _caller, act) {
        return act(NO_SPAN);
    }
    outgoing() {
        return {};
    }
    async close() {}
};
export const NO_TRACING = new NoTracing();

//# sourceMappingURL=tracing.js.map