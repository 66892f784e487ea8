/** RankingService's messages <-> domain, for every edge. */ import { text } from "../../../../libs/edge/grpc/src/index.js";
import { rankOf } from "./recall.mapper.js";
import { checkUserTexts, userSource } from "./user-source.js";
/** Choices of a recall that a request to rank does not have. */ const AS_CONFIGURED = {
    scoreNorm: 0,
    refuseUnknownItems: false,
    requireHistory: false
};
/** Of bytes that a decoder read. */ export function parseWireRank(message) {
    const { itemIds, rank, deadlineMs } = message;
    const source = {
        ...message,
        ...AS_CONFIGURED
    };
    checkUserTexts(source);
    for (const [index, itemId] of itemIds.entries())text(`itemIds[${index}]`, itemId);
    if (rank) text('rank.adapter', rank.adapter);
    const asked = rank ? rankOf(rank) : {
        adapter: ''
    };
    return {
        request: {
            ...userSource(source),
            itemIds,
            rank: asked
        },
        deadlineMs
    };
}
export function toWireRanking(answer) {
    return answer;
}

//# sourceMappingURL=rank.mapper.js.map