/** The collector of traces as a dependency that nothing waits for. */ export function watchTracing(tracing, conditions, metrics) {
    metrics.showSpans(()=>tracing.counts());
    const read = ()=>tracing.reach();
    conditions.add({
        name: 'tracing',
        kind: 'dependency',
        isNeeded: false,
        read
    });
}

//# sourceMappingURL=watch-tracing.js.map