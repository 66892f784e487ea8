/** log(exp(a) + exp(b) + ...), without overflow. */ function logSumExp(values) {
    const largest = Math.max(...values);
    if (largest === Number.NEGATIVE_INFINITY) return largest;
    return largest + Math.log(values.reduce((sum, value)=>sum + Math.exp(value - largest), 0));
}
/** True if logits are needed against the whole vocabulary rather than against each other. */ export function readsVocabulary(template, paths) {
    return template.over === 'vocabulary' || paths.areLong;
}
/**
 * The score of a pair.
 * @param logits per stop of the paths: of each token read there, then log-sum-exp over the
 * vocabulary where readsVocabulary()
 */ export function relevanceScore(template, paths, logits) {
    const { labels, over, score } = template;
    const isNormalised = readsVocabulary(template, paths);
    const logs = paths.labels.map((places)=>places.reduce((sum, { stop, token })=>{
            const read = logits[stop];
            return sum + read[token] - (isNormalised ? read.at(-1) : 0);
        }, 0));
    const rest = over === 'labels' ? logSumExp(logs) : 0;
    if (score === 'expectation') {
        return logs.reduce((sum, log, i)=>sum + (labels[i]?.value ?? 0) * Math.exp(log - rest), 0);
    }
    const side = (value)=>logSumExp(logs.filter((_, i)=>labels[i]?.value === value));
    const against = labels.some(({ value })=>value === 0) ? side(0) : Math.log1p(-Math.min(1, Math.exp(side(1))));
    return side(1) - against;
}

//# sourceMappingURL=relevance-score.js.map