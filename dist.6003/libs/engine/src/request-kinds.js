import { NOTHING, writeRankRequest, writeRecallRequest, writeRelevanceRequest, writeScoreRequest } from "../../../native/ts/index.js";
import { NO_ITEM } from "./catalogue.js";
import "./engine.js";
import { readAnswer, readAppended, readLogits, readRanked, readScores } from "./read-completions.js";
const NOTHING_DRAWN = {
    slots: 0,
    temperature: 1,
    seed: 0
};
function rankingFields(ranking, slotOf) {
    if (ranking === undefined) {
        return {
            rankSlot: NOTHING.adapter,
            rankPrefix: new Int32Array(),
            rankSuffixes: []
        };
    }
    const { adapter, prefix, suffixes } = ranking;
    return {
        rankSlot: slotOf(adapter),
        rankPrefix: prefix,
        rankSuffixes: suffixes
    };
}
const reachesAll = ()=>undefined;
export const RECALL = {
    name: 'recall',
    write: (to, request, slotOf)=>{
        const { slots, temperature, seed } = request.explore ?? NOTHING_DRAWN;
        writeRecallRequest(to, {
            widths: request.widths,
            rowBudget: request.rowBudget ?? 0,
            resultCount: request.resultCount,
            itemsPerSid: request.itemsPerSid,
            scoreNorm: request.scoreNorm,
            allowsPartial: request.allowsPartial === true,
            watchedItem: request.watchedItem ?? NO_ITEM,
            attributes: request.attributes ?? [],
            wantsTree: request.wantsTree === true,
            exploreSlots: slots,
            exploreTemperature: temperature,
            exploreSeedLow: seed % 2 ** 32,
            exploreSeedHigh: Math.floor(seed / 2 ** 32),
            ...rankingFields(request.ranking, slotOf)
        });
    },
    reach: ({ reach })=>reach,
    read: readAnswer
};
export const SCORE = {
    name: 'score',
    write: writeScoreRequest,
    reach: reachesAll,
    read: readScores
};
export const APPEND = {
    name: 'append',
    write: ()=>undefined,
    reach: reachesAll,
    read: readAppended
};
export const RELEVANCE = {
    name: 'relevance',
    write: writeRelevanceRequest,
    reach: reachesAll,
    read: readLogits
};
export const RANK = {
    name: 'rank',
    write: (to, { items, ranking }, slotOf)=>{
        writeRankRequest(to, {
            items,
            ...rankingFields(ranking, slotOf)
        });
    },
    reach: ({ reach })=>reach,
    read: readRanked
};

//# sourceMappingURL=request-kinds.js.map