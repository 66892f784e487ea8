/** Chooses what the store drops, by age and by size. */ /**
 * The time before which recalls go; undefined: all stay. A store that is too large loses the oldest
 * part of its span, a little more than its excess: how much a recall takes is not known.
 */ export function expiryMs(rules, size, nowMs) {
    const byAge = nowMs - rules.ageMsMax;
    const excess = size.usedBytes / rules.bytesMax - 1;
    const span = size.newestMs - size.oldestMs;
    const share = Math.min(1, (excess + MARGIN) / (excess + 1));
    const bySize = excess > 0 ? size.oldestMs + Math.ceil(span * share) : Number.NEGATIVE_INFINITY;
    const expiry = Math.max(byAge, bySize);
    return expiry > size.oldestMs ? expiry : undefined;
}
const MARGIN = 0.1;

//# sourceMappingURL=retention.js.map