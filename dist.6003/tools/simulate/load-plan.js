/**
 * Load or compute, as native/src/kv/load_plan.cc decides it: how many of the blocks that lie below
 * the memory are worth waiting for. Its spec has the cases of native/src/kv/slot_test.cc.
 */ /** Tiers below the memory. */ /** Prefill of what is behind `context` tokens: every token sees those before it. */ export function computeUs(context, prompt, { tokenUs, pairUs }) {
    const fresh = Math.max(0, prompt - context);
    return fresh * tokenUs + fresh * (context + fresh / 2) * pairUs;
}
/** The number of blocks for which the prediction is smallest; the larger one of equals. */ export function planLoad(question, rates) {
    const { memoryTokens, promptTokens, missing, blockTokens, blockBytes, hiddenUs } = question;
    const computeAllUs = computeUs(memoryTokens, promptTokens, rates);
    let best = {
        blocks: 0,
        loadUs: 0,
        predictedUs: computeAllUs
    };
    let loadUs = 0;
    for (const [at, tier] of missing.entries()){
        const rate = rates.bytesPerUs[tier];
        const isFirst = at === 0 || missing[at - 1] !== tier;
        const bytes = (isFirst ? question.queuedBytes[tier] : 0) + blockBytes;
        if (rate > 0) loadUs += bytes / rate;
        const context = Math.min(promptTokens, memoryTokens + blockTokens * (at + 1));
        const exposedUs = Math.max(0, loadUs - hiddenUs);
        const predictedUs = exposedUs + computeUs(context, promptTokens, rates);
        if (predictedUs <= best.predictedUs) best = {
            blocks: at + 1,
            loadUs,
            predictedUs
        };
    }
    const { blocks, predictedUs } = best;
    return {
        blocks,
        loadUs: best.loadUs,
        predictedUs,
        computeAllUs
    };
}

//# sourceMappingURL=load-plan.js.map