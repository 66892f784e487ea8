/** How much of a new observation an estimate takes over. */ const SHARE = 0.1;
const FIRST_US = 10_000;
const KINDS_MAX = 1024;
/**
 * Predicted microseconds of a node's work per request, by kind (method and size). Observed from
 * outside: the time for which a node had nothing else to end, so that all sum to its busy time.
 */ export class CostEstimates {
    estimates = new Map();
    /** Kinds differ by method and by the power of two of their bytes: long histories cost more. */ static kindOf(method, bytes) {
        return `${method} ${32 - Math.clz32(bytes)}`;
    }
    predictedUs(kind) {
        return this.estimates.get(kind) ?? FIRST_US;
    }
    /** `us`: from its begin, or from the answer before it at its node where that came later. */ observe(kind, us) {
        const known = this.estimates.get(kind);
        if (known === undefined && this.estimates.size >= KINDS_MAX) return;
        this.estimates.set(kind, known === undefined ? us : known + SHARE * (us - known));
    }
}

//# sourceMappingURL=cost-estimates.js.map