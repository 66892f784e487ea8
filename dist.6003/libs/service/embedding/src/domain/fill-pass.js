/** The texts that go together next: in the order of their arrival, by predicted time. */ export function fillPass(waiting, cost, { tokensMax, textsMax, timeTargetUs }) {
    let [texts, tokens, work] = [
        0,
        0,
        0
    ];
    for (const { tokens: own } of waiting){
        const next = work + cost.workOf(own.length);
        const isFull = texts === textsMax || tokens + own.length > tokensMax || cost.predictUs(next) > timeTargetUs;
        if (texts > 0 && isFull) break;
        texts += 1;
        tokens += own.length;
        work = next;
    }
    return {
        texts,
        work
    };
}

//# sourceMappingURL=fill-pass.js.map