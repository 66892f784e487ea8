/** How calls to nodes fail over each edge: may another node be asked, what is answered. */ import { status } from "@grpc/grpc-js";
import { isErrorCode, TesseraError, trailedError } from "../../../libs/ops/errors/src/index.js";
import { failureOfCall, failureOfCode } from "../../../libs/cluster/routing/src/index.js";
/** A node that did not answer, though it may not have failed for good. */ export class NodeAway extends Error {
}
/** The status with which a node ended a call over gRPC; as grpc-js has it. */ export class NodeRefusal extends Error {
    code;
    details;
    metadata;
    constructor(/** Status of gRPC. */ code, details, metadata){
        super(details), this.code = code, this.details = details, this.metadata = metadata;
    }
}
/** A node's refusal over HTTP. */ export class Refused extends Error {
    answer;
    /** Undefined: the answer is no refusal of a node. */ error;
    constructor(answer){
        super(), this.answer = answer;
        try {
            this.error = JSON.parse(answer.body.toString()).error;
        } catch  {
            this.error = undefined;
        }
        this.message = this.error?.message ?? `HTTP ${answer.status}`;
    }
}
const FIRST_FAILED_STATUS = 400;
/** @throws Refused where the node answered with a failure */ export function checkAnswer(answer) {
    if (answer.status < FIRST_FAILED_STATUS) return answer;
    throw new Refused(answer);
}
/** The refusal of a node over gRPC, as it came. */ export function isServiceError(thrown) {
    return !(thrown instanceof TesseraError) && typeof thrown.code === 'number';
}
/** Tells from the end of a call whether another node may be asked; as failureOfCode. */ export function failureOf(thrown, isChange = false) {
    if (thrown instanceof NodeAway) return 'away';
    if (isServiceError(thrown)) return failureOfCall(thrown, isChange);
    if (thrown instanceof TesseraError) return failureOfCode(thrown.code, isChange);
    if (!(thrown instanceof Refused) || thrown.error === undefined) return 'final';
    return failureOfCode(thrown.error.code ?? '', isChange);
}
/** Of calls that a node has said nothing about. */ const CODES = new Map([
    [
        status.DEADLINE_EXCEEDED,
        'DEADLINE_EXCEEDED'
    ],
    [
        status.CANCELLED,
        'CANCELLED'
    ]
]);
/** The error of the one table for a call that a node, or the way to it, ended. */ export function errorOf(thrown) {
    if (thrown instanceof NodeAway) return new TesseraError('NODE_UNAVAILABLE', thrown.message);
    if (isServiceError(thrown)) {
        return trailedError({
            message: thrown.details,
            trailer: (name)=>thrown.metadata.get(name)[0]?.toString(),
            fallback: CODES.get(thrown.code) ?? 'NODE_UNAVAILABLE'
        });
    }
    if (!(thrown instanceof Refused)) return TesseraError.from(thrown);
    const { code = '', field, retryAfterMs } = thrown.error ?? {};
    const options = {
        field,
        retryAfterMs,
        cause: thrown
    };
    return new TesseraError(isErrorCode(code) ? code : 'NODE_UNAVAILABLE', thrown.message, options);
}

//# sourceMappingURL=node-failure.js.map