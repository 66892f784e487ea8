import { protoSchema, recallEventsPackage } from "../../contracts/src/index.js";
import { TesseraError } from "../../errors/src/index.js";
import { MessageCodec } from "./message-codec.js";
import { checkKey, checkVersion, RECORD_HEADERS } from "./topic-record.js";
import { wireRefusal } from "./wire-refusal.js";
/** Of the records of both topics. */ const PAYLOAD_VERSION = '1';
/** Length of a request ID in characters. */ const REQUEST_ID_LENGTH_MAX = 128;
const ANSWERED = new MessageCodec(protoSchema, `${recallEventsPackage}.RecallAnswered`);
export const answeredBytes = (answered)=>ANSWERED.encode(answered);
/** @throws TesseraError REQUEST_INVALID where there is no request, or it is not the key's */ export function checkedRequest({ record, requested }) {
    const { request } = requested;
    if (request === undefined) {
        const message = 'request: expected a request, got none';
        throw new TesseraError('REQUEST_INVALID', message, {
            field: 'request'
        });
    }
    if (request.userId !== undefined) checkKey(record, request.userId);
    return request;
}
/**
 * Recalls asked for on one topic and answered on another (proto/tessera/recall/events/v1): each
 * record has its response, its refusal or its dead letter before its offset is committed.
 */ export class RecallRequests {
    parts;
    requests = new MessageCodec(protoSchema, `${recallEventsPackage}.RecallRequested`);
    constructor(parts){
        this.parts = parts;
    }
    /** Rejects where the broker takes an answer no more: the batch is served again then. */ async serve({ records }) {
        await Promise.all(records.map((record)=>this.serveOne(record)));
    }
    async serveOne(record) {
        const { producer } = this.parts;
        const correlationId = record.headers[RECORD_HEADERS.correlationId];
        if (correlationId === undefined || correlationId.length === 0) {
            const message = `${RECORD_HEADERS.correlationId}: expected a header, got none`;
            const field = RECORD_HEADERS.correlationId;
            const error = new TesseraError('REQUEST_INVALID', message, {
                field
            });
            await producer.bury([
                {
                    record,
                    error
                }
            ]);
            return;
        }
        let recall;
        try {
            recall = this.recallOf(record, correlationId);
        } catch (thrown) {
            const error = TesseraError.from(thrown);
            await producer.bury([
                {
                    record,
                    error
                }
            ]);
            await this.write(record, refusal(error));
            return;
        }
        const answered = this.parts.answer(recall);
        await this.write(record, await answered.catch((thrown)=>refusal(TesseraError.from(thrown))));
    }
    recallOf(record, correlationId) {
        checkVersion(record, PAYLOAD_VERSION);
        const requested = this.requests.decode(record.value);
        const untilMs = requested.deadlineTimeMs ?? record.timestampMs + this.parts.defaultDeadlineMs;
        return {
            record,
            requested,
            untilMs,
            requestId: requestIdOf(correlationId)
        };
    }
    /** Too large an answer becomes a refusal; where that is too large as well, a dead letter. */ async write(record, value, isRefusal = false) {
        try {
            await this.send(record, value);
        } catch (thrown) {
            const error = TesseraError.from(thrown);
            if (error.code !== 'BODY_TOO_LARGE') throw thrown;
            if (isRefusal) await this.parts.producer.bury([
                {
                    record,
                    error
                }
            ]);
            else await this.write(record, refusal(error), true);
        }
    }
    send(record, value) {
        const headers = {
            [RECORD_HEADERS.correlationId]: record.headers[RECORD_HEADERS.correlationId],
            [RECORD_HEADERS.version]: PAYLOAD_VERSION
        };
        const message = {
            key: record.key,
            value: Buffer.from(value),
            headers
        };
        return this.parts.producer.send(this.parts.responsesTopic, [
            message
        ]);
    }
}
function requestIdOf(correlationId) {
    const text = correlationId.toString();
    const isText = Buffer.from(text).equals(correlationId);
    return isText && text.length <= REQUEST_ID_LENGTH_MAX ? text : '';
}
/** A deadline on a topic is a time of day: what was too late stays so however often it is sent. */ function refusal(error) {
    const isRetryable = error.retryable && error.code !== 'DEADLINE_EXCEEDED';
    return answeredBytes({
        refusal: {
            ...wireRefusal(error),
            retryable: isRetryable
        }
    });
}

//# sourceMappingURL=recall-requests.js.map