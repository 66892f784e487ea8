/** The recalls that a question is about. */ /** The same of the span of equal length before. */ export function spanBefore(filter) {
    const { fromMs, toMs } = filter;
    return {
        ...filter,
        fromMs: fromMs - (toMs - fromMs),
        toMs: fromMs
    };
}

//# sourceMappingURL=filter.js.map