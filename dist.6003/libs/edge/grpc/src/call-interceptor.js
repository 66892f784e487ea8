import { Metadata, ServerInterceptingCall, status } from "@grpc/grpc-js";
import { TesseraError } from "../../../ops/errors/src/index.js";
import { methodOf } from "../../methods/src/index.js";
import { loggedStatus } from "./status.js";
/** By the metadata of their calls, which handlers are given as they are. */ const callers = new WeakMap();
/** The caller by metadata and transport; the certificate was verified in the handshake. */ function credentialsOf(metadata, call) {
    return {
        authorization: metadata.get('authorization')[0]?.toString(),
        get certificate () {
            return call.getAuthContext().sslPeerCertificate?.subject.CN?.toString();
        }
    };
}
/** A call of which each message that the server waits for has to arrive in time. */ let TimedCall = class TimedCall extends ServerInterceptingCall {
    inner;
    bodyMs;
    timer;
    constructor(inner, responder, /** Infinity: a conversation may pause as long as its client likes. */ bodyMs){
        super(inner, responder), this.inner = inner, this.bodyMs = bodyMs;
    }
    startRead() {
        this.arrived();
        if (this.bodyMs !== Number.POSITIVE_INFINITY) {
            this.timer = setTimeout(()=>this.expire(), this.bodyMs);
        }
        super.startRead();
    }
    /** A message, the end of the request or the end of the call has come. */ arrived() {
        clearTimeout(this.timer);
    }
    expire() {
        const { bodyMs } = this;
        const details = `edge.bodyMs: expected a message of the request within ${bodyMs} ms, got none`;
        this.inner.sendStatus({
            code: status.DEADLINE_EXCEEDED,
            details,
            metadata: null
        });
    }
};
/** Refuses a call by its head where its queue is too long. @throws TesseraError */ function checkQueue(method, call, { admissions, defaultDeadlineMs, deadlineMsMax }) {
    const admission = method?.queue && admissions[method.queue];
    if (admission === undefined) return;
    const leftMs = Number(call.getDeadline()) - Date.now();
    // The body may name a shorter time; admission by the whole message sees it.
    const silentMs = Math.max(defaultDeadlineMs, deadlineMsMax);
    admission.check(Math.min(leftMs, silentMs));
}
/**
 * Lets calls in before their messages are read: identity and scope by the table of methods, then
 * the forecast of the queue. Bounds the time of each message and adds the trailer of answers.
 */ export function callInterceptor(rules) {
    return ({ path, requestStream, responseStream }, inner)=>{
        const method = methodOf(path);
        const listener = {
            onReceiveMetadata: (metadata, next)=>{
                try {
                    const credentials = credentialsOf(metadata, inner);
                    letIn(metadata, rules.guard.enter(method?.access, credentials));
                    checkQueue(method, inner, rules);
                } catch (thrown) {
                    inner.sendStatus(loggedStatus(thrown, rules.log));
                    return;
                }
                next(metadata);
            },
            onReceiveMessage: (message, next)=>{
                call.arrived();
                next(message);
            },
            onReceiveHalfClose: (next)=>{
                call.arrived();
                next();
            },
            onCancel: ()=>call.arrived()
        };
        const isConversation = requestStream && responseStream;
        const call = new TimedCall(inner, {
            start: (next)=>next(listener),
            sendStatus: (sent, next)=>next(withTrailer(sent, rules.trailer))
        }, isConversation ? Number.POSITIVE_INFINITY : rules.bodyMs);
        return call;
    };
}
function withTrailer(sent, trailer) {
    if (trailer === undefined) return sent;
    const metadata = sent.metadata?.clone() ?? new Metadata();
    metadata.set(trailer[0], trailer[1]());
    return {
        ...sent,
        metadata
    };
}
/** Notes the caller of a call that was let in. */ export function letIn(metadata, caller) {
    callers.set(metadata, caller);
}
/** The caller, as the interceptor found them. */ export function callerOf(metadata) {
    const caller = callers.get(metadata);
    if (caller !== undefined) return caller;
    throw new TesseraError('INTERNAL', 'call reached its handler without an access check');
}

//# sourceMappingURL=call-interceptor.js.map