import { TesseraError } from "../../../../libs/ops/errors/src/index.js";
import { memberOf } from "../../../../libs/edge/httpjson/src/index.js";
import { checkAnswer } from "../node-failure.js";
import { renumbered } from "../relevance/part-numbers.js";
const bytesOfText = (value)=>typeof value === 'string' ? Buffer.byteLength(value) : undefined;
/** Best first, equal scores in the order of the request. */ function ranked(results, scoreAt) {
    const score = (of)=>of[scoreAt];
    return [
        ...results
    ].sort((a, b)=>score(b) - score(a) || a.index - b.index);
}
/** By their index in the call. */ function placed(results, documents) {
    return results.map((of)=>Object.assign({}, of, {
            index: documents[of.index]
        }));
}
const COHERE = {
    documentsAt: 'documents',
    bytesOf: (value)=>{
        const { text } = Object(value);
        const itemId = memberOf(value, 'itemId');
        if (typeof value === 'string') return bytesOfText(value);
        if (itemId === undefined) return bytesOfText(text);
        return text === undefined ? bytesOfText(itemId) : undefined;
    },
    failsWhole: ({ failures })=>failures === 'whole',
    usageOf: ({ usage, model: version })=>{
        const { total_tokens: promptTokens, computed_tokens: computedTokens } = usage;
        return {
            promptTokens,
            computedTokens,
            version
        };
    },
    merge: ({ top_n, top_k }, parts)=>{
        const count = top_n ?? top_k ?? Number.POSITIVE_INFINITY;
        const answers = parts.flatMap(({ documents, outcome })=>outcome instanceof TesseraError ? [] : [
                {
                    documents,
                    answer: outcome
                }
            ]);
        const sum = (of)=>answers.reduce((all, { answer })=>all + of(answer.usage), 0);
        const results = answers.flatMap(({ documents, answer })=>placed(answer.results, documents));
        return Object.assign({}, answers[0]?.answer, {
            usage: {
                total_tokens: sum((of)=>of.total_tokens),
                computed_tokens: sum((of)=>of.computed_tokens)
            },
            results: ranked(results, 'relevance_score').slice(0, count),
            failures: parts.flatMap(failuresOf).sort((a, b)=>a.index - b.index)
        });
    }
};
function failuresOf({ documents, outcome }) {
    if (outcome instanceof TesseraError) {
        const { code, message } = outcome;
        return documents.map((index)=>({
                index,
                code,
                message
            }));
    }
    return placed(outcome.failures, documents).map((of)=>Object.assign({}, of, {
            message: renumbered(of.message, documents)
        }));
}
const TEI = {
    documentsAt: 'texts',
    bytesOf: bytesOfText,
    failsWhole: ()=>true,
    usageOf: ()=>({
            promptTokens: 0,
            computedTokens: 0,
            version: ''
        }),
    merge: (_, parts)=>{
        const results = parts.flatMap(({ documents, outcome })=>outcome instanceof TesseraError ? [] : placed(outcome, documents));
        return ranked(results, 'score');
    }
};
/** True if a node takes the number, which the body may leave out. */ function isCount(value) {
    return value === undefined || Number.isSafeInteger(value) && value > 0;
}
/**
 * A body that scores documents, split over the nodes. Undefined: it cannot be split, and a node
 * answers it in its own words.
 */ export async function rerankInParts(calls, hop) {
    const body = Object(hop.json);
    const isTei = hop.sent.path === '/rerank' && !('documents' in body);
    return isTei ? inParts(TEI, calls, hop, body) : inParts(COHERE, calls, hop, body);
}
async function inParts(form, calls, { sent, deadlineMs, isOver, onCancelled }, body) {
    const values = body[form.documentsAt];
    if (!Array.isArray(values) || !isCount(body.top_n) || !isCount(body.top_k) || !isCount(body.deadline_ms)) return undefined;
    const documentBytes = values.flatMap((value)=>form.bytesOf(value) ?? []);
    if (documentBytes.length !== values.length || !calls.takes(values.length)) return undefined;
    const call = {
        path: sent.path,
        edge: 'http',
        queryBytes: (bytesOfText(body.query) ?? 0) + (bytesOfText(body.instruction) ?? 0),
        documentBytes,
        failsWhole: form.failsWhole(body),
        leftMs: deadlineMs - Date.now(),
        isOver,
        onCancelled,
        ask: async (link, part, leftMs, onBegun)=>{
            const own = {
                [form.documentsAt]: part.map((document)=>values[document])
            };
            const left = body.deadline_ms === undefined ? {} : {
                deadline_ms: Math.max(1, Math.floor(leftMs))
            };
            const bytes = Buffer.from(JSON.stringify(Object.assign({}, body, own, left)));
            const ask = {
                ...sent,
                body: bytes,
                deadlineMs: Date.now() + leftMs,
                onBegun
            };
            return JSON.parse(checkAnswer(await link.http(ask)).body.toString());
        },
        usageOf: form.usageOf,
        merge: (parts)=>form.merge(body, parts)
    };
    return calls.score(call);
}

//# sourceMappingURL=rerank-parts.js.map