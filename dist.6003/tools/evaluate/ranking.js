/** The rank of the target of a user, 1-based; null where it was not among the items. */ /** The depths at which quality is reported. */ export const DEPTHS = [
    5,
    10
];
/** Rank of the target by the order in which the items were returned. */ export function rankOf(target, itemIds) {
    const at = itemIds.indexOf(target);
    return at < 0 ? null : at + 1;
}
/** Means over all users; a user without an answer counts as a miss. */ export function quality(ranks, depths = DEPTHS) {
    const mean = (value)=>ranks.reduce((sum, rank)=>sum + (rank === null ? 0 : value(rank)), 0) / ranks.length;
    const at = (value)=>Object.fromEntries(depths.map((k)=>[
                k,
                mean((rank)=>rank <= k ? value(rank, k) : 0)
            ]));
    return {
        recall: at(()=>1),
        ndcg: at((rank)=>1 / Math.log2(rank + 1))
    };
}

//# sourceMappingURL=ranking.js.map