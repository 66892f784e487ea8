import { NO_POLICY } from "../../../../engine/src/index.js";
import { CapCount } from "./reach-request.js";
import { AppraisedItems } from "./value.js";
/** The most popular items that are looked through for those that a request may get. */ const CANDIDATES_MAX = 4096;
/**
 * The most popular items that a request may get, of the version of the reach, under the caps of the
 * request, by value where it has a valuation: for users without history, where
 * `recall.withoutHistory` says so.
 */ export function popularItems(catalogue, popularity, asked, reach) {
    const { itemPolicy = NO_POLICY } = asked.request;
    const { attributes, itemsPerSid, answerCount: resultCount } = asked.search;
    const candidates = popularity.order().slice(0, CANDIDATES_MAX);
    const caps = new CapCount(itemPolicy, itemsPerSid);
    const isValued = asked.request.valuation !== undefined;
    const wanted = caps.isEmpty && !isValued ? resultCount : CANDIDATES_MAX;
    const found = catalogue.firstObtainable(reach, candidates, wanted).map((item)=>({
            item,
            score: Math.log(popularity.shareOf(item.itemId))
        }));
    const items = [];
    for (const { item, score, value } of isValued ? byValue(catalogue, reach, found) : found){
        if (items.length === resultCount) break;
        if (!caps.take(item)) continue;
        const { itemId, sid, title } = item;
        const recalled = {
            itemId,
            sid,
            score,
            rank: items.length + 1,
            title
        };
        const members = {
            attributes: membersOf(item, attributes),
            ...value && {
                value
            }
        };
        items.push(Object.assign(recalled, members));
    }
    return {
        items,
        leftOut: caps.leftOut
    };
}
/** Those that the valuation of the reach does not exclude, best first; ties stay as they were. */ function byValue(catalogue, reach, candidates) {
    const itemIds = candidates.map(({ item })=>item.itemId);
    const appraised = new AppraisedItems(catalogue.appraise(reach, itemIds), itemIds);
    const valued = candidates.flatMap(({ item, score })=>{
        const value = appraised.valueOf(item.itemId, score);
        return value !== undefined && appraised.passes(value) ? [
            {
                item,
                score,
                value
            }
        ] : [];
    });
    return valued.sort((a, b)=>b.value.value - a.value.value);
}
/** Text of a JSON object; '' where no attribute is asked for. */ function membersOf(item, names) {
    if (names.length === 0) return '';
    const all = JSON.parse(item.attributes);
    const own = names.filter((name)=>Object.hasOwn(all, name));
    return JSON.stringify(Object.fromEntries(own.map((name)=>[
            name,
            all[name]
        ])));
}

//# sourceMappingURL=popular-items.js.map