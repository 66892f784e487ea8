import type { Call } from '@tessera/call';
import {
  RECALLS_PER_CALL_MAX,
  type WireRecallBatchResponse,
  type WireRecallOutcome,
} from '@tessera/contracts';
import { errorBody, TesseraError } from '@tessera/errors';
import { invalid } from '@tessera/grpc';
import type { RecallRequest } from '@tessera/recall';
import { inSlices } from '@tessera/turns';
import type { Parsed, RecallEdge } from '../recall-edge.js';
import { toWireResponse } from '../wire/recall.mapper.js';

export interface AskedBatch<Recall> {
  readonly recalls: readonly Recall[];
  readonly deadlineMs?: number | undefined;
}

/**
 * Recalls of one call, all under way at once: each is admitted, counted and refused as one of its
 * own. Rejects where none of them can be begun, so that a gateway asks another node.
 */
export async function recallBatch<Recall>(
  edge: Pick<RecallEdge, 'recall' | 'checkReadiness'>,
  { recalls, deadlineMs }: AskedBatch<Recall>,
  parse: (recall: Recall) => Parsed<RecallRequest>,
  call: Call,
): Promise<WireRecallBatchResponse> {
  edge.checkReadiness(call);
  const count = recalls.length;
  if (count < 1 || count > RECALLS_PER_CALL_MAX) {
    throw invalid('recalls', `1..${RECALLS_PER_CALL_MAX} recalls`, count);
  }
  call.limit(deadlineMs);
  const begun = await inSlices(recalls, (recall) => {
    const part = call.part();
    return { outcome: outcomeOf(part.during(() => edge.recall(() => parse(recall), part))) };
  });
  return { outcomes: await Promise.all(begun.map(({ outcome }) => outcome)) };
}

async function outcomeOf(answer: ReturnType<RecallEdge['recall']>): Promise<WireRecallOutcome> {
  try {
    return { answer: toWireResponse(await answer) };
  } catch (thrown) {
    const { field = '', ...refusal } = errorBody(TesseraError.from(thrown)).error;
    return { failure: { field, ...refusal } };
  }
}
