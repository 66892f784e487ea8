/** RecallService's messages <-> domain, for every edge. */

import {
  enumWords,
  type WireEligibility,
  type WireRecallRequest,
  type WireRecallResponse,
} from '@tessera/contracts';
import { invalid, refuseMalformed } from '@tessera/grpc';
import type { RecallAnswer, RecallRequest } from '@tessera/recall';
import type { Parsed } from '../recall-edge.js';
import { eligibilityText } from './eligibility.mapper.js';
import { checkUserTexts, userSource } from './user-source.js';

/** A recall whose eligibility is the message, or JSON that the engine reads. */
export type AskedRecall = Omit<WireRecallRequest, 'eligibility'> & {
  readonly eligibility: WireEligibility | string | undefined;
};

/** 0 stands for "not said" in the domain, so a 0 that was said is refused here. */
function positive(field: string, value: number | undefined): number {
  if (value !== undefined && value < 1) throw invalid(field, 'at least 1', value);
  return value ?? 0;
}

export function recallOf(message: AskedRecall): Parsed<RecallRequest> {
  // The decoder gives null for a message that is not there.
  const { eligibility, itemPolicy } = message;
  const text = typeof eligibility === 'object' && eligibility ? eligibilityText(eligibility) : '';
  const request = {
    ...userSource(message),
    resultCount: positive('resultCount', message.resultCount),
    widths: message.widths,
    itemsPerSid: positive('itemsPerSid', message.itemsPerSid),
    ...(eligibility && { eligibility: typeof eligibility === 'string' ? eligibility : text }),
    ...(itemPolicy && { itemPolicy }),
    allowPartial: message.allowPartial,
    ...(message.attributes.length > 0 && { attributes: message.attributes }),
    wantsSight: message.inspect,
  };
  return { request, deadlineMs: message.deadlineMs };
}

/** Of bytes that a decoder read. */
export function parseWireRecall(message: WireRecallRequest): Parsed<RecallRequest> {
  refuseMalformed(message);
  checkUserTexts(message);
  return recallOf(message);
}

/** Members of the answer that the message does not have are not written. */
export function toWireResponse(answer: RecallAnswer): WireRecallResponse {
  const words = enumWords['tessera.recall.v1.Completeness'];
  return { ...answer, completeness: words[answer.completeness] };
}
