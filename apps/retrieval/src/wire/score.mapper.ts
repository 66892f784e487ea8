/** ScoreService's messages <-> domain, for every edge. */

import {
  enumWords,
  type WireScoreRequest,
  type WireScoreResponse,
  type WireScoreTarget,
} from '@tessera/contracts';
import { invalid, text } from '@tessera/grpc';
import type { ScoreAnswer, ScoreRequest, ScoreTarget } from '@tessera/recall';
import type { Parsed } from '../recall-edge.js';
import { checkUserTexts, userSource } from './user-source.js';

function target({ itemId, sid }: WireScoreTarget, index: number): ScoreTarget {
  if (itemId !== undefined) return { itemId };
  if (sid) return { sid: sid.codes };
  throw invalid(`items[${index}]`, 'an itemId or a sid', 'neither');
}

function scoresAskedOf(message: WireScoreRequest): Parsed<ScoreRequest> {
  const { valuation } = message;
  const items = message.items.map(target);
  const request = { ...userSource(message), items, ...(valuation && { valuation }) };
  return { request, deadlineMs: message.deadlineMs };
}

/** Request from a decoded message. */
export function parseWireScore(message: WireScoreRequest): Parsed<ScoreRequest> {
  checkUserTexts(message);
  message.items.forEach(({ itemId }, index) => {
    if (itemId !== undefined) text(`items[${index}].itemId`, itemId);
  });
  return scoresAskedOf(message);
}

export function toWireScores(answer: ScoreAnswer): WireScoreResponse {
  const words = enumWords['tessera.score.v1.ScoreOutcome'];
  const items = answer.items.map(({ itemId, sid, outcome, score, value }) => ({
    itemId,
    sid,
    score,
    outcome: words[outcome],
    value,
  }));
  return { ...answer, items };
}
