import { Call } from "../../call/src/index.js";
import { methodAt } from "../../methods/src/index.js";
import { carrierOf } from "../../../ops/telemetry/src/index.js";
import { callerOf } from "./http-access.js";
/** Makes the calls of HTTP requests and ends them. DI token. */ export class HttpCalls {
    parts;
    constructor(parts){
        this.parts = parts;
    }
    /** Runs `act` with the call of a request, which ends with it. */ serve(reply, act) {
        const call = this.callOf(reply);
        return call.during(()=>act(call));
    }
    callOf(reply) {
        const { request, raw } = reply;
        const { limits, admissions } = this.parts;
        const field = (name)=>request.headers[name]?.toString();
        const queue = methodAt(request.routeOptions.url ?? '')?.queue;
        const controller = new AbortController();
        raw.once('close', ()=>{
            if (!raw.writableFinished) controller.abort();
        });
        return new Call({
            edge: 'http',
            caller: callerOf(request),
            signal: controller.signal,
            // The body alone names a time.
            transportMs: Number.POSITIVE_INFINITY,
            limits,
            trace: carrierOf(field),
            field,
            admission: queue && admissions[queue]
        });
    }
}

//# sourceMappingURL=http-calls.js.map