import { NO_TRACING } from "./tracing.js";
/** One per process: the API of OpenTelemetry has one context for all. Loaded only when wanted. */ export async function openTracing(options, log) {
    if (options.otlpUrl === '') return NO_TRACING;
    const { OtlpTracing } = await import("./otlp-tracing.js");
    return new OtlpTracing(options, log);
}

//# sourceMappingURL=open-tracing.js.map