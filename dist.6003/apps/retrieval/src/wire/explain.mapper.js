/** ExplainService's messages <-> domain, for every edge. */ import { enumWords } from "../../../../libs/ops/contracts/src/index.js";
import { invalid, text } from "../../../../libs/edge/grpc/src/index.js";
import { inside } from "../recall-edge.js";
import { wireRecallOf } from "./recall.mapper.js";
import { checkUserTexts } from "./user-source.js";
export function questionOf(message, recallFrom) {
    const { request: asked, versions, itemId } = message;
    if (!asked) throw invalid('request', 'a recall', 'none');
    const { request: recall, deadlineMs } = inside('request', ()=>recallFrom(asked));
    return {
        request: {
            recall,
            itemId,
            ...versions && {
                versions
            }
        },
        deadlineMs
    };
}
/** Of bytes that a decoder read. */ export function parseWireExplain(message) {
    const { request: asked } = message;
    if (asked) inside('request', ()=>checkUserTexts(asked));
    text('itemId', message.itemId);
    return questionOf(message, wireRecallOf);
}
export function toWireExplanation(answer) {
    const { rank, step, score, cutScore, clause, attribute, notLiveSince, value } = answer;
    return {
        ...answer,
        verdict: enumWords['tessera.explain.v1.Verdict'][answer.verdict],
        rank,
        step,
        score,
        cutScore,
        clause,
        attribute,
        notLiveSince,
        value
    };
}

//# sourceMappingURL=explain.mapper.js.map