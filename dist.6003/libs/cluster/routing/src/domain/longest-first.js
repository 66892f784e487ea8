/** A node that documents may go to. */ /** One more part has to save so much, since each computes what all prompts begin with. */ const GAIN_SHARE = 0.95;
/**
 * Which node scores which documents of a call: the longest first, each on the node that then ends
 * soonest (R. L. Graham, "Bounds on multiprocessing timing anomalies", 1969), over as many nodes as
 * are worth what their parts compute again. `tokens`: of each document; `partTokens`: of what every
 * part computes beside its documents. REQUIRES: at least one node.
 * @returns per node its documents in the caller's order, none for a node without a part
 */ export function longestFirst(tokens, partTokens, nodes) {
    const order = tokens.map((_, document)=>document);
    order.sort((a, b)=>tokens[b] - tokens[a] || a - b);
    const beginUs = ({ backlogUs, tokenUs })=>backlogUs + partTokens * tokenUs;
    const first = nodes.map((_, node)=>node);
    first.sort((a, b)=>beginUs(nodes[a]) - beginUs(nodes[b]) || a - b);
    const over = (count)=>split(tokens, order, partTokens, nodes, new Set(first.slice(0, count)));
    let best = over(1);
    const delays = delaysOfOthers(nodes, best.workUs);
    let bestUs = best.endUs + delays * best.workUs;
    for(let count = 2; count <= nodes.length; count += 1){
        const next = over(count);
        const us = next.endUs + delays * next.workUs;
        if (us >= bestUs * GAIN_SHARE) continue;
        bestUs = us;
        best = next;
    }
    return best.parts.map((part)=>part.sort((a, b)=>a - b));
}
function split(tokens, order, partTokens, nodes, used) {
    const parts = nodes.map(()=>[]);
    const ends = nodes.map(({ backlogUs, tokenUs }, node)=>used.has(node) ? backlogUs + partTokens * tokenUs : Number.POSITIVE_INFINITY);
    for (const document of order){
        const size = tokens[document];
        const withIt = nodes.map(({ tokenUs }, node)=>ends[node] + size * tokenUs);
        const best = withIt.indexOf(Math.min(...withIt));
        ends[best] = withIt[best];
        parts[best]?.push(document);
    }
    let [endUs, workUs] = [
        0,
        0
    ];
    for (const [node, part] of parts.entries()){
        if (part.length === 0) continue;
        endUs = Math.max(endUs, ends[node]);
        workUs += ends[node] - nodes[node].backlogUs;
    }
    return {
        parts,
        endUs,
        workUs
    };
}
/**
 * By how much calls behind this one end later, all together, for each microsecond that it computes
 * more. At one server of calls of one size s the mean wait is W = r s / 2 (1 - r), r the share of
 * its time that it works (Pollaczek and Khinchine); so dW/ds = 2 w (1 + w) where w is W / s, which
 * is what nodes have to do over what this call has.
 */ function delaysOfOthers(nodes, wholeUs) {
    if (wholeUs === 0) return 0;
    const backlogUs = nodes.reduce((sum, node)=>sum + node.backlogUs, 0) / nodes.length;
    const waits = backlogUs / wholeUs;
    return 2 * waits * (1 + waits);
}

//# sourceMappingURL=longest-first.js.map