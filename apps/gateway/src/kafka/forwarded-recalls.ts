import { recallEventsPackage } from '@tessera/contracts';
import { checkedRequest, type TopicRecall } from '@tessera/kafka';
import { carrierOf } from '@tessera/telemetry';
import { fieldNumber, messagesOf } from '../grpc/message-fields.js';
import type { OneNodeCalls } from '../grpc/one-node.js';
import { recordHop } from '../grpc/unary-hop.js';
import { fieldOf, fieldsAt } from '../grpc/wire-path.js';
import { errorOf } from '../node-failure.js';

export const RECALL = '/tessera.recall.v1.RecallService/Recall';
const REQUESTED_REQUEST = fieldNumber(`${recallEventsPackage}.RecallRequested`, 'request');
const ANSWERED_RESPONSE = fieldNumber(`${recallEventsPackage}.RecallAnswered`, 'response');
const REQUEST_ID = fieldNumber(messagesOf(RECALL).request, 'requestId');

/**
 * The request of a record byte for byte, with its correlation ID where it has no ID of its own.
 * Parts of a message that is there several times are one message (protobuf.dev, "Encoding").
 */
function requestOf(value: Buffer, requestId: string): Buffer {
  const parts = (fieldsAt(value, REQUESTED_REQUEST) ?? []).map(({ content }) => content);
  const own = requestId === '' ? [] : [fieldOf(REQUEST_ID, Buffer.from(requestId))];
  return Buffer.concat([...parts, ...own]);
}

/**
 * Asks the owner of a record's user for its recall. Rejects with the TesseraError that a node, or
 * the gateway, refused with.
 * @returns bytes of a RecallAnswered
 */
export async function forwardedRecall(one: OneNodeCalls, recall: TopicRecall): Promise<Buffer> {
  const { record, untilMs, requestId } = recall;
  const asked = checkedRequest(recall);
  const request = requestOf(record.value as Buffer, asked.requestId === '' ? requestId : '');
  const caller = carrierOf((name) => record.headers[name]?.toString());
  const answer = one.unary(RECALL, recordHop(request, untilMs, caller));
  return fieldOf(
    ANSWERED_RESPONSE,
    await answer.catch((thrown: unknown) => {
      throw errorOf(thrown);
    }),
  );
}
