import { itemValue } from "./value.js";
/**
 * Scores come for the known SIDs alone, in the order of the targets.
 * @param appraised undefined where the request has no valuation
 */ export function scoresOf(targets, sids, { scores }, appraised) {
    const left = [
        ...scores
    ];
    return targets.map((target, index)=>{
        const itemId = 'itemId' in target ? target.itemId : '';
        const sid = sids[index] ?? [];
        const score = sid.length === 0 ? undefined : left.shift();
        if (score === undefined) return {
            itemId,
            sid,
            outcome: 'unknown'
        };
        const value = appraised?.valueOf(itemId, score);
        return {
            itemId,
            sid,
            outcome: 'scored',
            score,
            ...value && {
                value
            }
        };
    });
}
/**
 * The items of an answer, best first.
 * @param terms their names; undefined: it goes by score
 * @param explores places of it were drawn
 */ export function recalledItems({ items, paths, itemTerms }, terms, explores) {
    const drawn = ({ explored, propensity })=>Number.isNaN(propensity) ? {
            explored
        } : {
            explored,
            propensity
        };
    return items.map((item, index)=>{
        const { itemId, title, attributes, score, path } = item;
        const sid = paths[path]?.sid ?? [];
        const found = {
            itemId,
            sid,
            score,
            rank: index + 1,
            title,
            attributes
        };
        if (terms === undefined) return explores ? Object.assign(found, drawn(item)) : found;
        const own = itemTerms.subarray(index * terms.length, (index + 1) * terms.length);
        const value = itemValue(terms, own, item);
        return Object.assign(found, {
            value
        }, explores && drawn(item));
    });
}

//# sourceMappingURL=item-scores.js.map