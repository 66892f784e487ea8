/** Wire <-> domain of the gRPC edge. */

import {
  WireCompleteness,
  type WireRecallRequest,
  type WireRecallResponse,
} from '@tessera/contracts';
import { invalid, refuseMalformed } from '@tessera/grpc';
import type { RecallAnswer, RecallRequest } from '@tessera/recall';
import type { Parsed } from '../recall-edge.js';
import { eligibilityText } from './eligibility.mapper.js';
import { userSource } from './wire-fields.js';

/** 0 stands for "not said" in the domain, so a 0 that was said is refused here. */
export function positive(field: string, value: number | undefined): number {
  if (value === 0) throw invalid(field, 'at least 1', 0);
  return value ?? 0;
}

function eligibility(message: WireRecallRequest): Pick<RecallRequest, 'eligibility'> {
  // The decoder gives null for a message that is not there.
  if (!message.eligibility) return {};
  return { eligibility: eligibilityText(message.eligibility) };
}

function itemPolicy(message: WireRecallRequest): Pick<RecallRequest, 'itemPolicy'> {
  if (!message.itemPolicy) return {};
  const { orderBy, diversity } = message.itemPolicy;
  return { itemPolicy: { orderBy, diversity } };
}

const COMPLETENESS = {
  whole: WireCompleteness.COMPLETENESS_WHOLE,
  narrowed: WireCompleteness.COMPLETENESS_NARROWED,
  cut: WireCompleteness.COMPLETENESS_CUT,
} as const;

export function parseWireRecall(message: WireRecallRequest): Parsed<RecallRequest> {
  refuseMalformed(message);
  const request = {
    ...userSource(message),
    resultCount: positive('resultCount', message.resultCount),
    widths: message.widths,
    itemsPerSid: positive('itemsPerSid', message.itemsPerSid),
    ...eligibility(message),
    ...itemPolicy(message),
    allowPartial: message.allowPartial,
    wantsSight: message.inspect,
  };
  return { request, deadlineMs: message.deadlineMs };
}

export function toWireResponse(answer: RecallAnswer): WireRecallResponse {
  return {
    requestId: answer.requestId,
    items: answer.items.map((item) => ({
      itemId: item.itemId,
      sid: [...item.sid],
      score: item.score,
      rank: item.rank,
      title: item.title,
    })),
    short: answer.short,
    widthsUsed: [...answer.widthsUsed],
    completeness: COMPLETENESS[answer.completeness],
    itemPolicy: { ...answer.itemPolicy, diversity: [...answer.itemPolicy.diversity] },
    historyItems: answer.historyItems,
    trimmedItems: answer.trimmedItems,
    skippedItems: answer.skippedItems,
    fallback: answer.fallback,
    promptTokens: answer.promptTokens,
    prefixReusedTokens: answer.prefixReusedTokens,
    kv: { ...answer.kv },
    versions: { ...answer.versions },
    timings: { ...answer.timings },
  };
}
