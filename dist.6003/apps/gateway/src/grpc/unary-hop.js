import { passedFields } from "../passed-fields.js";
import { leftMsOf } from "./forwarded-methods.js";
import { HOP_MS, hopDeadlineMs } from "./hop-metadata.js";
function carried(caller) {
    const fields = {};
    for (const [name, value] of Object.entries(caller))fields[name] = String(value);
    return fields;
}
export function grpcHop(path, call) {
    const ownMs = Date.now() + leftMsOf(path, call.request);
    return {
        request: call.request,
        fields: passedFields((name)=>call.metadata.get(name)[0]),
        get cancelled () {
            return call.cancelled;
        },
        deadlineMs: Math.min(hopDeadlineMs(call), ownMs),
        onCancelled: (act)=>void call.once('cancelled', act)
    };
}
/** A call of nobody who could go away, such as a record's. `deadlineMs`: since 1970. */ export function recordHop(request, deadlineMs, caller) {
    return {
        request,
        fields: carried(caller),
        cancelled: false,
        deadlineMs: deadlineMs - HOP_MS,
        onCancelled: ()=>undefined
    };
}

//# sourceMappingURL=unary-hop.js.map