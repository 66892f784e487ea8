import type { WireRecallRequest, WireScoreRequest } from '@tessera/contracts';
import type { CallContext, DirectHandler, DirectHandlers } from '@tessera/grpc';
import type { RecallEdge } from '../recall-edge.js';
import { parseWireRecall, toWireResponse } from '../wire/recall.mapper.js';
import { parseWireScore, toWireScores } from '../wire/score.mapper.js';

/** The work of the recall and score controllers, for calls that come without Nest. */
export async function answerRecall(
  edge: RecallEdge,
  message: WireRecallRequest,
  context: CallContext,
) {
  const call = { edge: 'grpc' as const, ...context };
  return toWireResponse(await edge.recall(() => parseWireRecall(message), call));
}

export async function answerScore(
  edge: RecallEdge,
  message: WireScoreRequest,
  context: CallContext,
) {
  const call = { edge: 'grpc' as const, ...context };
  return toWireScores(await edge.score(() => parseWireScore(message), call));
}

export function directHandlers(edge: RecallEdge): DirectHandlers {
  return new Map<string, DirectHandler>([
    [
      '/tessera.recall.v1.RecallService/Recall',
      (message: object, context: CallContext) =>
        answerRecall(edge, message as WireRecallRequest, context),
    ],
    [
      '/tessera.score.v1.ScoreService/Score',
      (message: object, context: CallContext) =>
        answerScore(edge, message as WireScoreRequest, context),
    ],
  ]);
}
