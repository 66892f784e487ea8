import { METHODS, rpcOf } from "../../methods/src/index.js";
import { answerError } from "./error-filter.js";
/** Serves each method with a route as a POST of its request's JSON; 200 with the response's. */ export function serveJsonMethods(instance, parts) {
    const { handlers, form, calls, log } = parts;
    for (const { path, http } of METHODS){
        const handler = handlers.get(path);
        if (http === undefined || handler === undefined) continue;
        const rpc = rpcOf(path);
        instance.post(http, {
            errorHandler: (thrown, _request, reply)=>answerError(thrown, reply, log),
            handler: async ({ body }, reply)=>{
                const read = ()=>form.readRequest(rpc, body);
                const answer = await calls.serve(reply, (call)=>handler(read, call));
                return form.writeResponse(rpc, answer);
            }
        });
    }
}

//# sourceMappingURL=json-methods.js.map