import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { MICROSECONDS_PER_MILLISECOND, MILLISECONDS_PER_SECOND } from "../../../libs/ops/units/src/index.js";
import { embeddingAttributes } from "./gen-ai-attributes.js";
/** Admits, answers, counts and traces requests for vectors of texts, for both edges. */ export class EmbeddingEdge {
    parts;
    constructor(parts){
        this.parts = parts;
    }
    /** `parse` may throw; its refusals are counted like any other. */ embed(parse, call) {
        return this.served(parse, call, (request, own)=>this.parts.models.embed(request, own));
    }
    /** The same, where a text that can have no vector fails for itself if `parse` says so. */ embedEach(parse, call) {
        const { models } = this.parts;
        return this.served(parse, call, async (request, own)=>{
            if (request.failures === 'each') return models.embedEach(request, own);
            return Object.assign(await models.embed(request, own), {
                failures: []
            });
        });
    }
    served(parse, call, act) {
        const { metrics, log, tracing } = this.parts;
        const { edge, trace } = call;
        const began = performance.now();
        const seconds = ()=>(performance.now() - began) / MILLISECONDS_PER_SECOND;
        return tracing.serve('embed', trace, async (span)=>{
            try {
                const answer = await this.admitted(parse, call, act);
                metrics.observeCall('embed', {
                    edge,
                    code: 'OK',
                    seconds: seconds()
                });
                span.set({
                    edge,
                    ...embeddingAttributes(answer)
                });
                return answer;
            } catch (thrown) {
                const error = TesseraError.from(thrown);
                if (error.code === 'INTERNAL') log.error({
                    err: thrown,
                    edge
                }, 'embedding request failed');
                metrics.observeCall('embed', {
                    edge,
                    code: error.code,
                    seconds: seconds()
                });
                throw error;
            }
        });
    }
    async admitted(parse, call, act) {
        const { readiness } = this.parts;
        if (!readiness.takesCalls) {
            throw new TesseraError('ENGINE_UNAVAILABLE', `the service is ${readiness.description}`);
        }
        const request = parse();
        call.admit(NORMAL);
        const endsAtMs = performance.now() + call.leftUs / MICROSECONDS_PER_MILLISECOND;
        return act(request, {
            signal: call.signal,
            endsAtMs
        });
    }
}
/** Requests for vectors have no priority. */ const NORMAL = 1;

//# sourceMappingURL=embedding-edge.js.map