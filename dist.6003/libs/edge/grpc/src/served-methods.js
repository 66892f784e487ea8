import { setTimeout as pause } from "node:timers/promises";
import { Call } from "../../call/src/index.js";
import { refusalPauseMs, TesseraError } from "../../../ops/errors/src/index.js";
import { methodOf } from "../../methods/src/index.js";
import { carrierOf } from "../../../ops/telemetry/src/index.js";
import { from } from "rxjs";
import { callerOf } from "./call-interceptor.js";
import { refuseMalformed } from "./malformed.js";
import { paced } from "./paced-stream.js";
import { loggedStatus } from "./status.js";
/** How Nest names the forms of methods (GrpcMethodStreamingType, which it does not export). */ const Form = {
    MESSAGE: 'no_stream',
    CALL: 'pt_stream'
};
/** Adds the handlers to Nest's server, each under its service and method. */ export function addHandlers(server, served, parts) {
    const methods = Object.values(served).flatMap((entry)=>'format' in entry ? [] : Object.values(entry));
    for (const { path, requestStream, responseStream } of methods){
        const handler = parts.handlers.get(path);
        if (handler === undefined) continue;
        const [, service, rpc] = path.split('/');
        const streaming = requestStream ? Form.CALL : Form.MESSAGE;
        const answer = requestStream ? answerStream(path, handler, parts, responseStream) : answerMessage(path, handler, parts, responseStream);
        server.addHandler({
            service,
            rpc,
            streaming
        }, answer);
    }
}
/** The call as handlers see it; ends it itself where nobody else does. */ function callOf(path, grpc, parts) {
    const { limits, admissions } = parts;
    const { metadata } = grpc;
    const controller = new AbortController();
    if (grpc.cancelled) controller.abort();
    else {
        const emitter = grpc;
        emitter.once('cancelled', ()=>controller.abort());
    }
    const field = (name)=>metadata.get(name)[0]?.toString();
    const queue = methodOf(path)?.queue;
    return new Call({
        edge: 'grpc',
        caller: callerOf(metadata),
        signal: controller.signal,
        transportMs: Number(grpc.getDeadline()) - Date.now(),
        limits,
        trace: carrierOf(field),
        field,
        admission: queue && admissions[queue]
    });
}
/** Rejects with the status of an error, after the pause that its code asks for. */ async function statusThrown(thrown, { log }) {
    const pauseMs = refusalPauseMs(TesseraError.from(thrown));
    if (pauseMs > 0) await pause(pauseMs);
    throw loggedStatus(thrown, log);
}
/** A request of one message, answered by one or by a stream of them. */ function answerMessage(path, handler, parts, isStream) {
    return (message, _metadata, grpc)=>{
        const read = ()=>{
            refuseMalformed(message);
            return message;
        };
        const call = callOf(path, grpc, parts);
        const answered = (async ()=>await handler(read, call))();
        if (!isStream) {
            return from(call.during(()=>answered).catch((thrown)=>statusThrown(thrown, parts)));
        }
        const messages = streamed(answered, call, parts);
        return paced(messages, grpc);
    };
}
async function* streamed(answered, call, parts) {
    try {
        yield* await answered;
    } catch (thrown) {
        await statusThrown(thrown, parts);
    } finally{
        call.end();
    }
}
/** Messages as the handler takes them: a client waits while it does not. */ async function* messagesOf(grpc) {
    // The answer may come before the last message has been read.
    for await (const message of grpc.iterator({
        destroyOnReturn: false
    })){
        refuseMalformed(message);
        yield message;
    }
}
/** A request of many messages: the handler reads the call itself, with its back pressure. */ function answerStream(path, handler, parts, isStream) {
    return async (grpc, done)=>{
        const call = callOf(path, grpc, parts);
        try {
            const answer = await handler(messagesOf(grpc), call);
            if (isStream) await writeAll(answer, grpc);
            else done?.(null, answer);
        } catch (thrown) {
            const status = await statusThrown(thrown, parts).catch((as)=>as);
            if (isStream) grpc.emit('error', status);
            else done?.(status);
        } finally{
            call.end();
            grpc.resume();
        }
    };
}
async function writeAll(messages, grpc) {
    const writing = paced(messages, grpc);
    await new Promise((resolve, reject)=>{
        writing.subscribe({
            next: (message)=>grpc.write(message),
            error: reject,
            complete: resolve
        });
    });
    grpc.end();
}

//# sourceMappingURL=served-methods.js.map