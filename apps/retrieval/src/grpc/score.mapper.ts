/** Wire <-> domain of ScoreService. */

import {
  type WireItemScore,
  WireScoreOutcome,
  type WireScoreRequest,
  type WireScoreResponse,
  type WireScoreTarget,
} from '@tessera/contracts';
import { invalid, refuseMalformed, text } from '@tessera/grpc';
import type { ItemScore, ScoreAnswer, ScoreRequest, ScoreTarget } from '@tessera/recall';
import type { Parsed } from '../recall-edge.js';
import { userSource } from './wire-fields.js';

const OUTCOMES = {
  scored: WireScoreOutcome.SCORE_OUTCOME_SCORED,
  unknown: WireScoreOutcome.SCORE_OUTCOME_UNKNOWN,
} as const;

function target(message: WireScoreTarget, index: number): ScoreTarget {
  const field = `items[${index}]`;
  if (message.itemId !== undefined) return { itemId: text(`${field}.itemId`, message.itemId) };
  if (message.sid !== undefined) return { sid: message.sid.codes };
  throw invalid(field, 'an itemId or a sid', 'neither');
}

export function parseWireScore(message: WireScoreRequest): Parsed<ScoreRequest> {
  refuseMalformed(message);
  const request = { ...userSource(message), items: message.items.map(target) };
  return { request, deadlineMs: message.deadlineMs };
}

function wireScore({ itemId, sid, outcome, score }: ItemScore): WireItemScore {
  return { itemId, sid: [...sid], outcome: OUTCOMES[outcome], score };
}

export function toWireScores(answer: ScoreAnswer): WireScoreResponse {
  return {
    requestId: answer.requestId,
    items: answer.items.map(wireScore),
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
