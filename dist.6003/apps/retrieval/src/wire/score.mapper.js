/** ScoreService's messages <-> domain, for every edge. */ import { enumWords } from "../../../../libs/ops/contracts/src/index.js";
import { invalid, text } from "../../../../libs/edge/grpc/src/index.js";
import { checkUserTexts, userSource } from "./user-source.js";
function target({ itemId, sid }, index) {
    if (itemId !== undefined) return {
        itemId
    };
    if (sid) return {
        sid: sid.codes
    };
    throw invalid(`items[${index}]`, 'an itemId or a sid', 'neither');
}
function scoresAskedOf(message) {
    const { valuation } = message;
    const items = message.items.map(target);
    const request = {
        ...userSource(message),
        items,
        ...valuation && {
            valuation
        }
    };
    return {
        request,
        deadlineMs: message.deadlineMs
    };
}
/** Of bytes that a decoder read. */ export function parseWireScore(message) {
    checkUserTexts(message);
    message.items.forEach(({ itemId }, index)=>{
        if (itemId !== undefined) text(`items[${index}].itemId`, itemId);
    });
    return scoresAskedOf(message);
}
export function toWireScores(answer) {
    const words = enumWords['tessera.score.v1.ScoreOutcome'];
    const items = answer.items.map(({ itemId, sid, outcome, score, value })=>({
            itemId,
            sid,
            score,
            outcome: words[outcome],
            value
        }));
    return {
        ...answer,
        items
    };
}

//# sourceMappingURL=score.mapper.js.map