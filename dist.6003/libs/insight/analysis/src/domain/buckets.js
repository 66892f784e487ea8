const HOUR_MS = 3_600_000;
/** Buckets that would be longer are whole hours, which `item_hour` has. */ const SHORT_MS = 300_000;
/** About so many buckets; those of hours begin at whole hours, so that the first may be cut. */ export function bucketsOf({ fromMs, toMs }, count) {
    const least = Math.max(1000, Math.ceil((toMs - fromMs) / count));
    if (least > SHORT_MS) {
        const beginMs = Math.floor(fromMs / HOUR_MS) * HOUR_MS;
        return {
            beginMs,
            lengthMs: Math.ceil(least / HOUR_MS) * HOUR_MS
        };
    }
    return {
        beginMs: fromMs,
        lengthMs: Math.ceil(least / 1000) * 1000
    };
}
/** The span as one bucket. */ export const wholeSpan = ({ fromMs, toMs })=>({
        beginMs: fromMs,
        lengthMs: toMs - fromMs
    });
/** Begins of the buckets up to the end of a span. */ export function beginsOf({ beginMs, lengthMs }, toMs) {
    const count = Math.max(1, Math.ceil((toMs - beginMs) / lengthMs));
    return Array.from({
        length: count
    }, (_, index)=>beginMs + index * lengthMs);
}

//# sourceMappingURL=buckets.js.map