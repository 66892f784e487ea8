/** Wire <-> domain of the gRPC edge. Protobuf has checked types; what it cannot check is here. */

import {
  WirePriority,
  type WireRecallRequest,
  type WireRecallResponse,
  WireScoreNorm,
} from '@tessera/contracts';
import type { Priority, ScoreNorm } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import { refuseMalformed } from '@tessera/grpc';
import type { RecallAnswer, RecallRequest } from '@tessera/recall';
import type { ParsedRecall } from '../recall-edge.js';

const SCORE_NORMS: ReadonlyMap<number, ScoreNorm> = new Map([
  [WireScoreNorm.SCORE_NORM_FULL, 'full'],
  [WireScoreNorm.SCORE_NORM_LEVEL, 'level'],
  [WireScoreNorm.SCORE_NORM_ALLOWED, 'allowed'],
]);

const PRIORITIES: ReadonlyMap<number, Priority> = new Map([
  [WirePriority.PRIORITY_HIGH, 'high'],
  [WirePriority.PRIORITY_NORMAL, 'normal'],
  [WirePriority.PRIORITY_LOW, 'low'],
]);

/** The decoder puts this character where bytes were not UTF-8. */
const REPLACEMENT = '\ufffd';

function invalid(field: string, expected: string, came: unknown): TesseraError {
  const message = `${field}: expected ${expected}, came ${String(came)}`;
  return new TesseraError('REQUEST_INVALID', message, { field });
}

function text(field: string, value: string): string {
  if (value.includes(REPLACEMENT)) throw invalid(field, 'valid UTF-8', 'bytes that are not');
  return value;
}

function texts(field: string, map: Readonly<Record<string, string>>): Record<string, string> {
  for (const [key, value] of Object.entries(map)) {
    text(`${field} key`, key);
    text(`${field}.${key}`, value);
  }
  return map;
}

/** 0 stands for "not said" in the domain, so a 0 that was said is refused here. */
function positive(field: string, value: number | undefined): number {
  if (value === 0) throw invalid(field, 'at least 1', 0);
  return value ?? 0;
}

function scoreNorm(value: number): { scoreNorm?: ScoreNorm } {
  if (value === WireScoreNorm.SCORE_NORM_UNSPECIFIED) return {};
  const norm = SCORE_NORMS.get(value);
  if (norm === undefined) throw invalid('scoreNorm', 'a value of ScoreNorm', value);
  return { scoreNorm: norm };
}

function priority(value: number): { priority?: Priority } {
  if (value === WirePriority.PRIORITY_UNSPECIFIED) return {};
  const known = PRIORITIES.get(value);
  if (known === undefined) throw invalid('priority', 'a value of Priority', value);
  return { priority: known };
}

function source(message: WireRecallRequest): Pick<RecallRequest, 'userId' | 'history'> {
  if (message.userId !== undefined) return { userId: text('userId', message.userId) };
  if (message.history === undefined) return {};
  return { history: message.history.itemIds.map((id, index) => text(`history[${index}]`, id)) };
}

export function parseWireRecall(message: WireRecallRequest): ParsedRecall {
  refuseMalformed(message);
  const request = {
    requestId: text('requestId', message.requestId),
    ...source(message),
    profile: texts('profile', message.profile),
    scene: texts('scene', message.scene),
    resultCount: positive('resultCount', message.resultCount),
    widths: message.widths,
    itemsPerSid: positive('itemsPerSid', message.itemsPerSid),
    ...scoreNorm(message.scoreNorm),
    ...priority(message.priority),
    skipUnknownItems: message.skipUnknownItems,
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
    historyItems: answer.historyItems,
    trimmedItems: answer.trimmedItems,
    skippedItems: answer.skippedItems,
    promptTokens: answer.promptTokens,
    prefixReusedTokens: answer.prefixReusedTokens,
    versions: { ...answer.versions },
    timings: { ...answer.timings },
  };
}
