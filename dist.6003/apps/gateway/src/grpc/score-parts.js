import { TesseraError } from "../../../../libs/ops/errors/src/index.js";
import { withToken } from "../passed-fields.js";
import { renumbered } from "../relevance/part-numbers.js";
import { enumNumber, fieldNumber, messagesOf } from "./message-fields.js";
import { fieldOf, fieldsAt, numberAt, numberFieldOf, textAt, without } from "./wire-path.js";
const { request: REQUEST, response: ANSWER } = messagesOf('/tessera.relevance.v1.RelevanceService/Score');
const asked = (path)=>fieldNumber(REQUEST, path);
const answered = (path)=>fieldNumber(ANSWER, path);
/** Field numbers of relevance.proto. */ const Request = {
    QUERY: asked('query'),
    DOCUMENTS: asked('documents'),
    INSTRUCTION: asked('instruction'),
    FAILURES: asked('failures')
};
const Answer = {
    REQUEST_ID: answered('requestId'),
    DOCUMENTS: answered('documents'),
    PROMPT: answered('promptTokens'),
    COMPUTED: answered('computedTokens'),
    VERSIONS: answered('versions')
};
const FAILURE = answered('documents.failure');
const Failure = {
    CODE: answered('documents.failure.code'),
    MESSAGE: answered('documents.failure.message')
};
const FAILURES_WHOLE = enumNumber(REQUEST, 'failures', 'FAILURES_WHOLE');
const NOTHING = Buffer.alloc(0);
/** A document's score with the failure, if there is one, in the caller's numbers. */ function renumberedScore(score, documents) {
    const failures = fieldsAt(score, FAILURE) ?? [];
    const failure = failures.at(-1)?.content;
    if (failure === undefined) return score;
    const message = Buffer.from(textAt(failure, [
        Failure.MESSAGE
    ]) ?? NOTHING).toString();
    const code = Buffer.from(textAt(failure, [
        Failure.CODE
    ]) ?? NOTHING).toString();
    const rest = without(Buffer.from(score), failures);
    return Buffer.concat([
        rest,
        failureField(code, renumbered(message, documents))
    ]);
}
function failureField(code, message) {
    const fields = [
        fieldOf(Failure.CODE, Buffer.from(code)),
        fieldOf(Failure.MESSAGE, Buffer.from(message))
    ];
    return fieldOf(FAILURE, Buffer.concat(fields));
}
function merged(count, parts) {
    const scores = new Array(count);
    const answers = [];
    for (const { documents, outcome } of parts){
        if (outcome instanceof TesseraError) {
            const failure = failureField(outcome.code, outcome.message);
            for (const document of documents)scores[document] = failure;
            continue;
        }
        answers.push(outcome);
        const own = fieldsAt(outcome, Answer.DOCUMENTS) ?? [];
        if (own.length !== documents.length) {
            const expected = `expected ${documents.length} scores of a node, got ${own.length}`;
            throw new TesseraError('INTERNAL', `documents: ${expected}`);
        }
        for (const [at, document] of documents.entries()){
            scores[document] = renumberedScore(own[at].content, documents);
        }
    }
    const [first = NOTHING] = answers;
    const sum = (number)=>answers.reduce((all, of)=>all + numberAt(of, number), 0);
    return Buffer.concat([
        fieldOf(Answer.REQUEST_ID, textAt(first, [
            Answer.REQUEST_ID
        ]) ?? NOTHING),
        ...scores.map((score)=>fieldOf(Answer.DOCUMENTS, score)),
        numberFieldOf(Answer.PROMPT, sum(Answer.PROMPT)),
        numberFieldOf(Answer.COMPUTED, sum(Answer.COMPUTED)),
        fieldOf(Answer.VERSIONS, textAt(first, [
            Answer.VERSIONS
        ]) ?? NOTHING)
    ]);
}
/**
 * RelevanceService/Score, split over the nodes. Undefined: it cannot be split, and a node answers
 * it in its own words.
 */ export function scoreInParts(calls, connection, path, hop) {
    const { request } = hop;
    const given = fieldsAt(request, Request.DOCUMENTS) ?? [];
    if (!calls.takes(given.length)) return undefined;
    const rest = without(request, given);
    const fields = withToken(hop.fields, connection);
    const sizeOf = (number)=>textAt(request, [
            number
        ])?.length ?? 0;
    const call = {
        path,
        edge: 'grpc',
        queryBytes: sizeOf(Request.QUERY) + sizeOf(Request.INSTRUCTION),
        documentBytes: given.map(({ content })=>content.length),
        failsWhole: numberAt(request, Request.FAILURES) === FAILURES_WHOLE,
        leftMs: hop.deadlineMs - Date.now(),
        isOver: ()=>hop.cancelled || Date.now() >= hop.deadlineMs,
        onCancelled: (act)=>hop.onCancelled(act),
        ask: (link, part, leftMs, onBegun)=>{
            const own = part.map((document)=>{
                const { from, to } = given[document];
                return request.subarray(from, to);
            });
            const message = Buffer.concat([
                rest,
                ...own
            ]);
            return link.unary(path, message, fields, Date.now() + leftMs, onBegun);
        },
        usageOf: (answer)=>({
                promptTokens: numberAt(answer, Answer.PROMPT),
                computedTokens: numberAt(answer, Answer.COMPUTED),
                version: Buffer.from(textAt(answer, [
                    Answer.VERSIONS
                ]) ?? NOTHING).toString()
            }),
        merge: (parts)=>merged(given.length, parts)
    };
    return calls.score(call);
}

//# sourceMappingURL=score-parts.js.map