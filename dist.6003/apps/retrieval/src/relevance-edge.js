import { randomUUID } from "node:crypto";
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { MILLISECONDS_PER_SECOND } from "../../../libs/ops/units/src/index.js";
import { classOf } from "./recall-edge.js";
import { noRelevanceModel } from "./relevance-gate.js";
/** Answers, counts and traces calls that score texts, for all edges. */ export class RelevanceEdge {
    parts;
    constructor(parts){
        this.parts = parts;
    }
    /** `parse` may throw; its refusals are counted like any other. */ score(parse, call) {
        const { edge, trace } = call;
        const { metrics, log, tracing } = this.parts;
        const startedMs = performance.now();
        const seconds = ()=>(performance.now() - startedMs) / MILLISECONDS_PER_SECOND;
        return tracing.serve('relevance', trace, async (span)=>{
            try {
                const answer = await this.answer(parse, call);
                const { requestId, promptTokens, computedTokens, outcomes } = answer;
                const failed = outcomes.filter((outcome)=>'error' in outcome).length;
                const scored = outcomes.length - failed;
                const observed = {
                    edge,
                    code: 'OK',
                    seconds: seconds()
                };
                metrics.observeRelevance({
                    ...observed,
                    scored,
                    failed,
                    promptTokens,
                    computedTokens
                });
                span.set({
                    edge,
                    requestId
                });
                log.debug({
                    edge,
                    requestId,
                    scored,
                    failed,
                    promptTokens,
                    computedTokens
                }, 'relevance request served');
                return answer;
            } catch (thrown) {
                const error = TesseraError.from(thrown);
                if (error.code === 'INTERNAL') log.error({
                    err: thrown,
                    edge
                }, 'relevance request failed');
                metrics.observeRelevance({
                    edge,
                    code: error.code,
                    seconds: seconds()
                });
                throw error;
            }
        });
    }
    async answer(parse, call) {
        const { readiness } = this.parts;
        if (!readiness.takesCalls) {
            throw new TesseraError('ENGINE_UNAVAILABLE', `the service is ${readiness.description}`);
        }
        const { request, deadlineMs } = parse();
        call.limit(deadlineMs);
        call.admit(classOf(request));
        const context = {
            signal: call.signal,
            budgetUs: call.leftUs
        };
        const { answer } = await scoreTexts(this.parts, request, context);
        const { requestId } = request;
        return {
            ...answer,
            requestId: requestId === '' ? randomUUID() : requestId
        };
    }
}
/** Rejects as the scorer does, and with MODEL_NOT_FOUND where no model scores texts. */ export async function scoreTexts({ relevance, facts }, request, context) {
    if (relevance === undefined) throw noRelevanceModel();
    const texts = textsOf(facts, request, relevance.itemText);
    const answer = await relevance.score({
        ...request,
        documents: texts
    }, context);
    return {
        texts,
        answer
    };
}
/** It has nothing to score, and a model would give it some number. */ function blankText(index) {
    const field = `documents[${index}]`;
    const message = `${field}: expected a text that is not empty, got a blank one`;
    return new TesseraError('REQUEST_INVALID', message, {
        field
    });
}
function textsOf(facts, { documents, catalogue }, itemText) {
    const itemIds = documents.flatMap((of)=>'itemId' in of ? [
            of.itemId
        ] : []);
    const items = itemIds.length === 0 ? [] : [
        ...facts.describe(itemIds, catalogue)
    ];
    return documents.map((of, i)=>{
        if ('text' in of) return of.text.trim() === '' ? blankText(i) : of.text;
        const field = `documents[${i}].itemId`;
        const item = items.shift();
        const text = item === undefined ? '' : itemText.of(item);
        if (text !== '') return text;
        const named = itemText.slots.join(' or ');
        const expected = item === undefined ? 'an item of the catalogue' : `an item with ${named}`;
        const message = `${field}: expected ${expected}, got ${of.itemId.slice(0, 80)}`;
        return new TesseraError('ITEM_NOT_FOUND', message, {
            field
        });
    });
}

//# sourceMappingURL=relevance-edge.js.map