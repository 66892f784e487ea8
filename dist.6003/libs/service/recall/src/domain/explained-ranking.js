import { recalledItems } from "./item-scores.js";
import { headsOf, placedItems } from "./ranked-items.js";
import { termNames } from "./value.js";
/**
 * What became of an item among those that were ranked; undefined where it was not recalled. A drawn
 * one has one of the last places. Rejects as Engine.rank does.
 */ export async function explainedRanking(parts, ranker, itemId, { recall, watched, work, answerCount }, signal) {
    if (watched.items.every((item)=>item.itemId !== itemId)) return undefined;
    const { catalogue } = parts;
    const heads = await headsOf(parts, ranker, watched, work, signal);
    const terms = recall.valuation && termNames(recall.valuation, catalogue.valuations);
    const items = recalledItems(watched, terms, recall.explore !== undefined);
    const of = {
        heads,
        sequence: watched.catalogueSequence
    };
    const placed = await placedItems(catalogue, ranker, items, of);
    const candidates = placed.filter(({ item })=>item.explored !== true);
    const ordered = ranker.order(candidates);
    const own = placed.find(({ item })=>item.itemId === itemId);
    const { ranking, key = Number.NaN } = own ?? {};
    const said = {
        ranking,
        rankedItems: placed.length
    };
    const drawn = placed.length - candidates.length;
    const answered = Math.min(ordered.length, answerCount - drawn);
    if (own?.item.explored === true) {
        const rank = answered + placed.indexOf(own) - candidates.length + 1;
        return {
            ...said,
            verdict: 'returned',
            rank
        };
    }
    if (Number.isNaN(key)) return {
        ...said,
        verdict: 'no-value',
        rank: undefined
    };
    const rank = ordered.findIndex(({ item })=>item.itemId === itemId) + 1;
    if (rank === 0) return {
        ...said,
        verdict: 'below-floor',
        rank: undefined,
        cutScore: ranker.floor
    };
    return {
        ...said,
        verdict: rank <= answered ? 'returned' : 'behind-ranked',
        rank
    };
}

//# sourceMappingURL=explained-ranking.js.map