import { Call } from "../../../libs/edge/call/src/index.js";
import { MICROSECONDS_PER_MILLISECOND } from "../../../libs/ops/units/src/index.js";
import { parseRerank, scoreTexts } from "../../retrieval/src/index.js";
/** Scores texts for the console as `POST /v1/rerank` does, with what became of each. */ export function consoleScores(needs) {
    return async (body, signal)=>{
        const startedMs = performance.now();
        const { request, deadlineMs } = parseRerank(body);
        const call = consoleCall(signal, needs.limits);
        call.limit(deadlineMs);
        const context = {
            signal,
            budgetUs: call.leftUs
        };
        const { texts, answer } = await scoreTexts(needs, request, context);
        const documents = answer.outcomes.map((outcome, i)=>{
            const asked = request.documents[i];
            const text = texts[i];
            const of = {
                itemId: asked !== undefined && 'itemId' in asked ? asked.itemId : '',
                text: typeof text === 'string' ? text : ''
            };
            if (!('error' in outcome)) return {
                ...of,
                ...outcome,
                error: null
            };
            const { code, message } = outcome.error;
            return {
                ...of,
                ...NO_SCORE,
                error: {
                    code,
                    message
                }
            };
        });
        const { promptTokens, computedTokens } = answer;
        const { modelDigest: model, template, adapter } = answer;
        const totalUs = (performance.now() - startedMs) * MICROSECONDS_PER_MILLISECOND;
        const versions = {
            model,
            template,
            adapter
        };
        return {
            ...versions,
            promptTokens,
            computedTokens,
            totalUs,
            documents
        };
    };
}
/** A visitor waits for it: it is served whatever the load. */ function consoleCall(signal, limits) {
    const transportMs = Number.POSITIVE_INFINITY;
    const field = ()=>undefined;
    return new Call({
        edge: 'http',
        caller: {
            name: 'console'
        },
        signal,
        transportMs,
        limits,
        trace: {},
        field
    });
}
const NO_SCORE = {
    score: null,
    promptTokens: 0,
    documentTokens: 0,
    cutTokens: 0
};

//# sourceMappingURL=console-relevance.js.map