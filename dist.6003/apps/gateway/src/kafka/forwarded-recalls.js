import { recallEventsPackage } from "../../../../libs/ops/contracts/src/index.js";
import { checkedRequest } from "../../../../libs/ops/kafka/src/index.js";
import { carrierOf } from "../../../../libs/ops/telemetry/src/index.js";
import { fieldNumber, messagesOf } from "../grpc/message-fields.js";
import { recordHop } from "../grpc/unary-hop.js";
import { fieldOf, fieldsAt } from "../grpc/wire-path.js";
import { errorOf } from "../node-failure.js";
export const RECALL = '/tessera.recall.v1.RecallService/Recall';
const REQUESTED_REQUEST = fieldNumber(`${recallEventsPackage}.RecallRequested`, 'request');
const ANSWERED_RESPONSE = fieldNumber(`${recallEventsPackage}.RecallAnswered`, 'response');
const REQUEST_ID = fieldNumber(messagesOf(RECALL).request, 'requestId');
/**
 * The request of a record byte for byte, with its correlation ID where it has no ID of its own.
 * Parts of a message that is there several times are one message (protobuf.dev, "Encoding").
 */ function requestOf(value, requestId) {
    const parts = (fieldsAt(value, REQUESTED_REQUEST) ?? []).map(({ content })=>content);
    const own = requestId === '' ? [] : [
        fieldOf(REQUEST_ID, Buffer.from(requestId))
    ];
    return Buffer.concat([
        ...parts,
        ...own
    ]);
}
/**
 * Asks the owner of a record's user for its recall. Rejects with the TesseraError that a node, or
 * the gateway, refused with.
 * @returns bytes of a RecallAnswered
 */ export async function forwardedRecall(one, recall) {
    const { record, untilMs, requestId } = recall;
    const asked = checkedRequest(recall);
    const request = requestOf(record.value, asked.requestId === '' ? requestId : '');
    const caller = carrierOf((name)=>record.headers[name]?.toString());
    const answer = one.unary(RECALL, recordHop(request, untilMs, caller));
    return fieldOf(ANSWERED_RESPONSE, await answer.catch((thrown)=>{
        throw errorOf(thrown);
    }));
}

//# sourceMappingURL=forwarded-recalls.js.map