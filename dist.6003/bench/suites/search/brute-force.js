/** The best items of a catalogue from the scores of all of its paths: untouched by any search. */ /** An item of the suite's catalogues: as its JSON line has it. */ /** In code order, a prefix before its extensions. */ export function compareSids(a, b) {
    const shared = Math.min(a.length, b.length);
    for(let level = 0; level < shared; level += 1){
        const difference = a[level] - b[level];
        if (difference !== 0) return difference;
    }
    return a.length - b.length;
}
/** Score descending, then SID. */ function comparePaths(a, b) {
    return a.score === b.score ? compareSids(a.sid, b.sid) : b.score - a.score;
}
function compareItems({ orderBy }) {
    return (a, b)=>{
        if (orderBy === 'bid' && a.bid !== b.bid) return b.bid - a.bid;
        if (a.priority !== b.priority) return b.priority - a.priority;
        return a.itemId < b.itemId ? -1 : 1;
    };
}
/** IDs of the items that an answer must have, best first. */ export function bestItems(paths, taking) {
    const inOrder = compareItems(taking);
    const lists = [
        ...paths
    ].sort(comparePaths).map(({ items })=>items.filter(taking.isEligible).sort(inOrder)).filter((items)=>items.length > 0);
    const { resultCount, itemsPerSid } = taking;
    if (itemsPerSid > 0) return taken(lists, taking, itemsPerSid);
    for(let cap = 1;; cap *= 2){
        const found = taken(lists, taking, cap);
        if (found.length === resultCount || cap >= resultCount) return found;
    }
}
function taken(lists, { resultCount, perCampaign }, itemsPerSid) {
    const found = [];
    const ofCampaign = new Map();
    for (const items of lists){
        let count = 0;
        for (const { itemId, campaign } of items){
            if (count === itemsPerSid) break;
            if (found.length === resultCount) return found;
            const had = ofCampaign.get(campaign) ?? 0;
            if (perCampaign > 0 && had >= perCampaign) continue;
            ofCampaign.set(campaign, had + 1);
            found.push(itemId);
            count += 1;
        }
    }
    return found;
}
/** Items by their SID, in the order of these. */ export function bySid(items) {
    const found = new Map();
    for (const item of items){
        const key = item.sid.join();
        const those = found.get(key);
        if (those === undefined) found.set(key, [
            item
        ]);
        else those.push(item);
    }
    const sidOf = (group)=>group[0]?.sid ?? [];
    return [
        ...found.values()
    ].sort((a, b)=>compareSids(sidOf(a), sidOf(b)));
}
/** All nodes below the root, in the order of their paths. */ export function trieNodes(sids) {
    const nodes = new Map();
    for (const sid of sids){
        for(let depth = 1; depth <= sid.length; depth += 1){
            const path = sid.slice(0, depth);
            const key = path.join();
            const node = nodes.get(key) ?? {
                path,
                isInner: false,
                isSid: false
            };
            if (depth < sid.length) node.isInner = true;
            else node.isSid = true;
            nodes.set(key, node);
        }
    }
    return [
        ...nodes.values()
    ].sort((a, b)=>compareSids(a.path, b.path));
}
/**
 * Rows that any proof of the best k SIDs needs, by level: prefixes no worse than the k-th best.
 * Scores are those of the nodes; with fewer SIDs than k every prefix counts.
 */ export function rowsByLevel(nodes, scores, k) {
    const ofSids = nodes.flatMap(({ isSid }, at)=>isSid ? [
            scores[at]
        ] : []);
    ofSids.sort((a, b)=>b - a);
    const threshold = ofSids[k - 1] ?? Number.NEGATIVE_INFINITY;
    const rows = [];
    for (const [at, { path, isInner }] of nodes.entries()){
        if (!isInner || scores[at] < threshold) continue;
        rows[path.length - 1] = (rows[path.length - 1] ?? 0) + 1;
    }
    return rows;
}
/** All of them. */ export const fewestRows = (...those)=>rowsByLevel(...those).reduce((sum, rows)=>sum + rows, 0);

//# sourceMappingURL=brute-force.js.map