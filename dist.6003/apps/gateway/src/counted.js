import { carrierOf } from "../../../libs/ops/telemetry/src/index.js";
import { MILLISECONDS_PER_SECOND } from "../../../libs/ops/units/src/index.js";
import { errorOf } from "./node-failure.js";
/** A call of nobody's trace. */ export const UNTRACED = {
    header: ()=>undefined,
    put: ()=>undefined
};
export const counting = (observe, edge, tracing)=>(path, call, act)=>{
        const begunMs = performance.now();
        // `/tessera.recall.v1.RecallService/Recall`; a route that is no method has its own name.
        const method = path.startsWith('/tessera.') ? path.split('.').at(-1) ?? path : path;
        const note = (code)=>{
            const seconds = (performance.now() - begunMs) / MILLISECONDS_PER_SECOND;
            observe({
                edge,
                method,
                code,
                seconds
            });
        };
        return tracing.serve(`forward ${method}`, carrierOf(call.header), async (span)=>{
            span.set({
                'tessera.edge': edge
            });
            call.put(tracing.outgoing());
            try {
                const answer = await act();
                note('OK');
                return answer;
            } catch (thrown) {
                note(errorOf(thrown).code);
                throw thrown;
            }
        });
    };

//# sourceMappingURL=counted.js.map