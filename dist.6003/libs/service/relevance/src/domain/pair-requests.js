import { joined } from "./joined-tokens.js";
/** Requests of one prompt: one for each stop of the labels. */ export function pairRequests({ tokens, sibling }, stops, { headTokens, scoreNorm, priority, budgetUs, adapter }) {
    const kv = {
        userId: '',
        prefixTokens: headTokens,
        keepTokens: headTokens
    };
    return stops.map(({ prefix, tokens: labelTokens })=>({
            promptTokens: prefix.length === 0 ? tokens : joined([
                tokens,
                prefix
            ]),
            labelTokens,
            siblingTokens: prefix.length === 0 ? sibling : tokens.length,
            scoreNorm,
            priority,
            budgetUs,
            adapter,
            kv
        }));
}

//# sourceMappingURL=pair-requests.js.map