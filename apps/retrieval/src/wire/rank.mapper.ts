/** RankingService's messages <-> domain, for every edge. */

import type { WireRankRequest, WireRankResponse } from '@tessera/contracts';
import { text } from '@tessera/grpc';
import type { RankAnswer, RankRequest } from '@tessera/recall';
import type { Parsed } from '../recall-edge.js';
import { rankOf } from './recall.mapper.js';
import { checkUserTexts, userSource } from './user-source.js';

/** Choices of a recall that a request to rank does not have. */
const AS_CONFIGURED = { scoreNorm: 0, refuseUnknownItems: false, requireHistory: false };

/** Request from a decoded message. */
export function parseWireRank(message: WireRankRequest): Parsed<RankRequest> {
  const { itemIds, rank, deadlineMs } = message;
  const source = { ...message, ...AS_CONFIGURED };
  checkUserTexts(source);
  for (const [index, itemId] of itemIds.entries()) text(`itemIds[${index}]`, itemId);
  if (rank) text('rank.adapter', rank.adapter);
  const asked = rank ? rankOf(rank) : { adapter: '' };
  return { request: { ...userSource(source), itemIds, rank: asked }, deadlineMs };
}

export function toWireRanking(answer: RankAnswer): WireRankResponse {
  return answer;
}
