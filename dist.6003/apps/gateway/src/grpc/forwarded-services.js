import { createRequire } from "node:module";
import { protoSchema } from "../../../../libs/ops/contracts/src/index.js";
import { TesseraError } from "../../../../libs/ops/errors/src/index.js";
import { loggedStatus } from "../../../../libs/edge/grpc/src/index.js";
import { failureOf, isServiceError } from "../node-failure.js";
import { FORWARDED } from "./forwarded-methods.js";
import { identity } from "./hop-metadata.js";
import { grpcHop } from "./unary-hop.js";
const protoLoader = createRequire(import.meta.url)('@grpc/proto-loader');
/** The status of a node as it is; the gateway's own refusals by the one table. */ function statusOf(thrown, log) {
    if (!isServiceError(thrown)) return loggedStatus(thrown, log);
    const { code, details, metadata } = thrown;
    // The connection failed, which the status of a call cannot say in the one table's words.
    if (failureOf(thrown) === 'away') {
        return loggedStatus(new TesseraError('NODE_UNAVAILABLE', `node: ${details}`), log);
    }
    return {
        code,
        details,
        metadata
    };
}
/** Full names of the services that are forwarded. */ export function forwardedServices() {
    return [
        ...new Set([
            ...FORWARDED.keys()
        ].map((path)=>path.split('/')[1]))
    ];
}
/** Adds the nodes' services to a server; messages are passed on byte for byte. */ export function addForwarded(server, handling) {
    const schema = protoLoader.fromJSON(protoSchema);
    for (const service of Object.values(schema)){
        if ('format' in service) continue;
        const definition = {};
        const handlers = {};
        for (const [name, { path, requestStream, responseStream }] of Object.entries(service)){
            if (!FORWARDED.has(path)) continue;
            definition[name] = {
                path,
                requestStream,
                responseStream,
                requestSerialize: identity,
                requestDeserialize: identity,
                responseSerialize: identity,
                responseDeserialize: identity
            };
            handlers[name] = handlerOf(path, {
                requestStream,
                responseStream
            }, handling);
        }
        server.addService(definition, handlers);
    }
}
const tracedOf = ({ metadata })=>({
        header: (name)=>metadata.get(name)[0]?.toString(),
        put: (headers)=>{
            for (const [name, value] of Object.entries(headers))metadata.set(name, value);
        }
    });
function handlerOf(path, { requestStream, responseStream }, { calls, count, log }) {
    if (responseStream) {
        const act = (call)=>requestStream ? calls.converse(path, call) : calls.stream(path, call);
        return (call)=>void count(path, tracedOf(call), ()=>act(call)).catch((thrown)=>{
                // As grpc-js takes a handler's refusal; a stream that is destroyed sends no status.
                call.emit('error', statusOf(thrown, log));
            });
    }
    const act = (call)=>requestStream ? calls.send(path, call) : calls.unary(path, grpcHop(path, call));
    return (call, done)=>void count(path, tracedOf(call), ()=>act(call)).then((bytes)=>done(null, bytes), (thrown)=>done(statusOf(thrown, log)));
}

//# sourceMappingURL=forwarded-services.js.map