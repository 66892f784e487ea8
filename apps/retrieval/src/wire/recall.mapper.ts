/** RecallService's messages <-> domain, for every edge. */

import {
  enumWords,
  type WireRank,
  type WireRecallRequest,
  type WireRecallResponse,
} from '@tessera/contracts';
import { invalid, text } from '@tessera/grpc';
import type {
  Eligibility,
  Rank,
  RecallAnswer,
  RecallRequest,
  RelevanceGate,
} from '@tessera/recall';
import type { Parsed } from '../recall-edge.js';
import { eligibilityFrom } from './eligibility.mapper.js';
import { checkUserTexts, userSource, wordOf } from './user-source.js';

/** A recall but for its eligibility, which has a form of its own at each edge. */
export type AskedRecall = Omit<WireRecallRequest, 'eligibility'>;

/** 0 stands for "not said" in the domain, so a 0 that was said is refused here. */
function positive(field: string, value: number | undefined): number {
  if (value !== undefined && value < 1) throw invalid(field, 'at least 1', value);
  return value ?? 0;
}

function gateOf(gate: RelevanceGate): RelevanceGate {
  const { query, minScore, weight } = gate;
  if (query.trim() === '') throw invalid('relevance.query', 'a text that is not empty', 'none');
  if (minScore === undefined && weight === undefined) {
    throw invalid('relevance', 'a minScore or a weight', 'neither');
  }
  for (const [field, value = 0] of [['minScore', minScore] as const, ['weight', weight] as const]) {
    if (!Number.isFinite(value)) throw invalid(`relevance.${field}`, 'a number', String(value));
  }
  return gate;
}

/** The decoder gives null for a valuation that is not there. */
export function rankOf({ items, adapter, valuation }: WireRank): Rank {
  return { adapter, ...(items !== undefined && { items }), ...(valuation && { valuation }) };
}

export function recallOf(
  message: AskedRecall,
  eligibility: Eligibility | undefined,
): Parsed<RecallRequest> {
  // The decoder gives null for a message that is not there.
  const { itemPolicy, rowBudget } = message;
  const search = wordOf(
    ['search', 'Search'],
    enumWords['tessera.recall.v1.Search'],
    message.search,
  );
  const request = {
    ...userSource(message),
    resultCount: positive('resultCount', message.resultCount),
    ...(search && { search }),
    widths: message.widths,
    ...(rowBudget !== undefined && { rowBudget: positive('rowBudget', rowBudget) }),
    itemsPerSid: positive('itemsPerSid', message.itemsPerSid),
    ...(eligibility && { eligibility }),
    ...(itemPolicy && { itemPolicy }),
    allowPartial: message.allowPartial,
    ...(message.frequencyCaps.length > 0 && { frequencyCaps: message.frequencyCaps }),
    ...(message.attributes.length > 0 && { attributes: message.attributes }),
    wantsSight: message.inspect,
    ...(message.relevance && { relevance: gateOf(message.relevance) }),
    ...(message.valuation && { valuation: message.valuation }),
    ...(message.explore && { explore: message.explore }),
    ...(message.rank && { rank: rankOf(message.rank) }),
  };
  return { request, deadlineMs: message.deadlineMs };
}

export function wireRecallOf(message: WireRecallRequest): Parsed<RecallRequest> {
  const { eligibility } = message;
  return recallOf(message, eligibility ? eligibilityFrom(eligibility) : undefined);
}

/** Request from a decoded message. */
export function parseWireRecall(message: WireRecallRequest): Parsed<RecallRequest> {
  checkUserTexts(message);
  if (message.relevance) {
    text('relevance.query', message.relevance.query);
    text('relevance.adapter', message.relevance.adapter);
  }
  if (message.rank) text('rank.adapter', message.rank.adapter);
  return wireRecallOf(message);
}

/** Members of the answer that the message does not have are not written. */
export function toWireResponse(answer: RecallAnswer): WireRecallResponse {
  const completeness = enumWords['tessera.recall.v1.Completeness'][answer.completeness];
  const search = enumWords['tessera.recall.v1.Search'][answer.search];
  return { ...answer, completeness, search };
}
