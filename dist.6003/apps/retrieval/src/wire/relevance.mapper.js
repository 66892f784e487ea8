/** RelevanceService's messages <-> domain. */ import { enumWords } from "../../../../libs/ops/contracts/src/index.js";
import { invalid, text } from "../../../../libs/edge/grpc/src/index.js";
import { priorityOf, wordOf } from "./user-source.js";
const TOO_LONG = enumWords['tessera.relevance.v1.TooLong'];
const FAILURES = enumWords['tessera.relevance.v1.Failures'];
function documentOf({ text: content, itemId }, index) {
    if (content !== undefined) return {
        text: text(`documents[${index}].text`, content)
    };
    if (itemId !== undefined) return {
        itemId: text(`documents[${index}].itemId`, itemId)
    };
    throw invalid(`documents[${index}]`, 'a text or an itemId', 'neither');
}
/** Of bytes that a decoder read. */ export function parseWireRelevance(message) {
    const { requestId, query, instruction, catalogue, adapter, deadlineMs } = message;
    const request = {
        requestId: text('requestId', requestId),
        query: text('query', query),
        instruction: instruction === '' ? undefined : text('instruction', instruction),
        documents: message.documents.map(documentOf),
        catalogue: text('catalogue', catalogue),
        adapter: text('adapter', adapter),
        tooLong: wordOf([
            'tooLong',
            'TooLong'
        ], TOO_LONG, message.tooLong) ?? 'cut',
        failures: wordOf([
            'failures',
            'Failures'
        ], FAILURES, message.failures) ?? 'each',
        priority: priorityOf(message.priority) ?? 'normal'
    };
    return {
        request,
        deadlineMs
    };
}
export function toWireRelevance(answer) {
    const { requestId, outcomes, promptTokens, computedTokens, modelDigest, template } = answer;
    const documents = outcomes.map((outcome)=>{
        if ('error' in outcome) {
            const { code, message } = outcome.error;
            return {
                score: undefined,
                promptTokens: 0,
                cutTokens: 0,
                failure: {
                    code,
                    message
                }
            };
        }
        const { score, promptTokens: tokens, cutTokens } = outcome;
        return {
            score,
            promptTokens: tokens,
            cutTokens,
            failure: undefined
        };
    });
    const versions = {
        model: modelDigest,
        template,
        adapter: answer.adapter
    };
    return {
        requestId,
        documents,
        promptTokens,
        computedTokens,
        versions
    };
}

//# sourceMappingURL=relevance.mapper.js.map