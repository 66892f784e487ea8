/**
 * An item without an action matches the last history segment alone (that accepts its domain): the
 * prompt would otherwise show it once per segment.
 */ export function planHistory(template, history) {
    const segments = template.segments.filter((segment)=>segment.kind === 'history');
    const matched = new Map(segments.map((segment)=>[
            segment,
            []
        ]));
    history.forEach((item, index)=>{
        const accepting = segments.filter((segment)=>accepts(segment, item));
        const taking = item.action === '' ? accepting.slice(-1) : accepting;
        for (const segment of taking)matched.get(segment)?.push(index);
    });
    const merged = [
        ...matched
    ].map(([segment, indices])=>[
            segment,
            withoutRepeats(segment, indices, history)
        ]);
    const matchedCount = new Set(merged.flatMap(([, indices])=>indices)).size;
    const shown = new Map(merged.map(([segment, indices])=>[
            segment,
            indices.slice(excess(indices.length, segment.itemsMax, template.trimStep))
        ]));
    const used = [
        ...new Set([
            ...shown.values()
        ].flat())
    ].sort((a, b)=>a - b);
    return {
        shown,
        used,
        matchedCount
    };
}
/**
 * The first of each run of repeats stays, so that what comes later never changes what an earlier
 * prompt of the user began with.
 */ function withoutRepeats({ mergeRepeatsS }, indices, history) {
    if (mergeRepeatsS === undefined) return [
        ...indices
    ];
    const kept = [];
    for (const index of indices){
        const item = history[index];
        const before = history[kept.at(-1) ?? -1];
        if (before === undefined || !repeats(before, item, mergeRepeatsS)) kept.push(index);
    }
    return kept;
}
function repeats(before, item, withinS) {
    return before.action === item.action && before.domain === item.domain && before.time > 0 && item.time - before.time <= withinS && before.sid.length === item.sid.length && before.sid.every((code, level)=>code === item.sid[level]);
}
/** Text between two items that follow each other; '' where a time is not known. */ export function gapText(gaps, before, item) {
    if (before.time === 0 || item.time === 0) return '';
    const seconds = item.time - before.time;
    return gaps.findLast((gap)=>seconds >= gap.atLeastS)?.text ?? '';
}
function accepts(segment, item) {
    if (segment.domains !== undefined && !segment.domains.has(item.domain)) return false;
    return item.action === '' || segment.actions === undefined || segment.actions.has(item.action);
}
/** Items to drop so that at most `max` stay, in whole steps. */ function excess(count, max, step) {
    return count <= max ? 0 : Math.ceil((count - max) / step) * step;
}

//# sourceMappingURL=history-plan.js.map