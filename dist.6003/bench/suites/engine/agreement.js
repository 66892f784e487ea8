const FIRST_PATHS = 50;
/** Undefined where one of the answers has no paths. */ export function pathAgreement(answer, reference) {
    if (answer.paths === undefined || reference.paths === undefined) return undefined;
    const expected = new Map(reference.paths.slice(0, FIRST_PATHS).map(({ sid, score })=>[
            sid.join(),
            score
        ]));
    let shared = 0;
    let scoreError = 0;
    for (const { sid, score } of answer.paths.slice(0, FIRST_PATHS)){
        const wanted = expected.get(sid.join());
        if (wanted === undefined) continue;
        shared += 1;
        scoreError = Math.max(scoreError, Math.abs(score - wanted));
    }
    return {
        overlap: shared / Math.max(expected.size, 1),
        scoreError
    };
}
/** Largest difference between log-probabilities over the first level's codes. */ export function logitError(answer, reference) {
    if (answer.firstLogits === undefined || reference.firstLogits === undefined) return undefined;
    const ours = logProbabilities(answer.firstLogits);
    const theirs = logProbabilities(reference.firstLogits);
    return ours.reduce((most, value, at)=>Math.max(most, Math.abs(value - (theirs[at] ?? 0))), 0);
}
function logProbabilities(logits) {
    const most = logits.reduce((left, right)=>Math.max(left, right), Number.NEGATIVE_INFINITY);
    const sum = logits.reduce((total, logit)=>total + Math.exp(logit - most), 0);
    return logits.map((logit)=>logit - most - Math.log(sum));
}

//# sourceMappingURL=agreement.js.map