import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { MILLISECONDS_PER_SECOND } from "../../../libs/ops/units/src/index.js";
import { inferenceAttributes, retrievalAttributes } from "./gen-ai-attributes.js";
import { recallSpans } from "./recall-spans.js";
import { recallThroughGate } from "./relevance-gate.js";
/** Runs `parse`; its refusals name a member of `field`. */ export function inside(field, parse) {
    try {
        return parse();
    } catch (thrown) {
        const error = TesseraError.from(thrown);
        const path = error.field === undefined ? field : `${field}.${error.field}`;
        const message = `${field}.${error.message}`;
        throw new TesseraError(error.code, message, {
            field: path,
            cause: thrown
        });
    }
}
/** Admits, answers, counts and traces a parsed request, for all edges. */ export class RecallEdge {
    parts;
    constructor(parts){
        this.parts = parts;
    }
    /** `parse` may throw; its refusals are counted like any other. */ recall(parse, call) {
        const { metrics, recalls, relevance, facts, onRecall } = this.parts;
        const recall = (request, context)=>recalls.recall(request, context);
        const { edge } = call;
        return this.serve(parse, call, {
            name: 'recall',
            attributes: retrievalAttributes,
            ask: (request, context)=>recallThroughGate({
                    recall,
                    relevance,
                    facts
                }, request, context),
            observe: (seen, answer)=>{
                metrics.countRanked(answer?.ranking?.items ?? 0);
                metrics.observe(answer === undefined ? seen : {
                    ...seen,
                    stagesUs: {
                        ...answer.timings
                    },
                    short: answer.short,
                    caps: answer.capsOutcome,
                    ...answer.fallback !== 'popular' && {
                        searched: answer
                    }
                });
            },
            ...onRecall && {
                tell: (request, outcome, traceId)=>onRecall({
                        edge,
                        request,
                        outcome,
                        traceId
                    })
            }
        });
    }
    /** As recall(). */ score(parse, call) {
        const { metrics, serving } = this.parts;
        return this.serve(parse, call, {
            name: 'score',
            ask: (request, context)=>serving.score(request, context),
            observe: (seen)=>metrics.observeCall('score', seen)
        });
    }
    /** As recall(). */ rank(parse, call) {
        const { metrics, serving } = this.parts;
        return this.serve(parse, call, {
            name: 'rank',
            ask: (request, context)=>serving.rank(request, context),
            observe: (seen, answer)=>{
                metrics.observeCall('rank', seen);
                metrics.countRanked(answer?.ranking.items ?? 0);
            }
        });
    }
    /** As recall(). */ explain(parse, call) {
        const { metrics, serving } = this.parts;
        return this.serve(parse, call, {
            name: 'explain',
            ask: (request, context)=>serving.explain(request, context),
            observe: (seen)=>metrics.observeCall('explain', seen)
        });
    }
    /** @throws TesseraError ENGINE_UNAVAILABLE where the service takes no calls */ checkReadiness({ edge }) {
        const { readiness } = this.parts;
        // A record is there to be answered as soon as its topic is joined, whatever others wait for.
        const isTaken = edge === 'kafka' && readiness.state === 'starting';
        if (readiness.takesCalls || isTaken) return;
        throw new TesseraError('ENGINE_UNAVAILABLE', `the service is ${readiness.description}`);
    }
    serve(parse, call, kind) {
        const { edge, trace } = call;
        const { log, tracing } = this.parts;
        const { name } = kind;
        const seconds = stopwatch();
        return tracing.serve(name, trace, async (span)=>{
            try {
                const answer = await this.admitted(parse, call, kind, span);
                const { requestId, timings, kv } = answer;
                kind.observe({
                    edge,
                    code: 'OK',
                    seconds: seconds()
                }, answer);
                log.debug({
                    edge,
                    requestId,
                    kv,
                    ...timings
                }, `${name} request served`);
                span.set({
                    edge,
                    requestId
                });
                span.tell(()=>recallSpans(timings, kv, inferenceAttributes(answer)));
                return answer;
            } catch (thrown) {
                const error = TesseraError.from(thrown);
                if (error.code === 'INTERNAL') log.error({
                    err: thrown,
                    edge
                }, `${name} request failed`);
                kind.observe({
                    edge,
                    code: error.code,
                    seconds: seconds()
                });
                throw error;
            }
        });
    }
    async admitted(parse, call, { ask, tell, attributes }, span) {
        const { readiness } = this.parts;
        this.checkReadiness(call);
        const { request, deadlineMs } = parse();
        const { traceId } = span;
        if (attributes !== undefined) span.set(attributes(request));
        try {
            call.limit(deadlineMs);
            call.admit(classOf(request));
            const answer = await ask(request, {
                signal: call.signal,
                budgetUs: call.leftUs
            });
            tell?.(request, answer, traceId);
            return answer;
        } catch (thrown) {
            const error = TesseraError.from(thrown);
            tell?.(request, error, traceId);
            // Not one that drains, which is not ready any more: it can compute nothing for anybody.
            if (error.code === 'ENGINE_UNAVAILABLE' && readiness.ready) readiness.fail(error.message);
            throw thrown;
        }
    }
}
const CLASSES = {
    high: 0,
    normal: 1,
    low: 2
};
export function classOf(request) {
    const { priority } = request;
    return CLASSES[priority ?? 'normal'];
}
/** Seconds since it was made. */ function stopwatch() {
    const started = performance.now();
    return ()=>(performance.now() - started) / MILLISECONDS_PER_SECOND;
}

//# sourceMappingURL=recall-edge.js.map