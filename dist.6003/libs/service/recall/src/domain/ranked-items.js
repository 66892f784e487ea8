/** What the heads say of a recall's items: with its answer, or asked for behind the same prompt. */ export async function headsOf({ engine, catalogue }, ranker, { heads, items }, { reach, scoreNorm: _, ...work }, signal) {
    if (ranker.item.suffix !== undefined || reach === undefined || items.length === 0) return heads;
    const itemIds = items.map(({ itemId })=>itemId);
    const texts = catalogue.firstObtainable(reach, itemIds, itemIds.length);
    const suffixes = new Map(texts.map((one)=>[
            one.itemId,
            ranker.item.suffixOf(one)
        ]));
    const { prefetch: __, ...kv } = work.kv ?? {
        userId: '',
        prefixTokens: 0,
        keepTokens: 0
    };
    const ranked = await engine.rank({
        ...work,
        kv,
        reach,
        items: Uint32Array.from(items, ({ ordinal })=>ordinal),
        ranking: ranker.asEngine(itemIds.map((itemId)=>suffixes.get(itemId) ?? []))
    }, signal);
    return ranked.heads;
}
/** The recalled items with their rankings, in the recall's order. */ export async function placedItems(catalogue, ranker, recalled, { heads, sequence }) {
    const itemIds = recalled.map(({ itemId })=>itemId);
    const appraised = await ranker.appraise(catalogue, sequence, itemIds);
    return ranker.place(recalled, heads, appraised).map(({ item, ranking, key })=>({
            item,
            ranking: {
                ...ranking,
                recallRank: item.rank
            },
            key
        }));
}
/** The answer: the best of those that were ranked, then drawn items, which keep the last places. */ export function answeredItems(ranker, placed, answerCount) {
    const drawn = placed.filter(({ item })=>item.explored === true);
    const candidates = placed.filter(({ item })=>item.explored !== true);
    const ordered = ranker.order(candidates);
    const answered = [
        ...ordered.slice(0, answerCount - drawn.length),
        ...drawn
    ];
    const items = answered.map(({ item, ranking }, index)=>{
        // Bids with which items would still be recalled are none with which they would be answered.
        const value = item.value && {
            ...item.value,
            criticalBid: undefined
        };
        return {
            ...item,
            value,
            rank: index + 1,
            ranking
        };
    });
    return {
        items,
        ranking: ranker.applied(placed.length, candidates.length - ordered.length)
    };
}

//# sourceMappingURL=ranked-items.js.map