/** ExplainService's messages <-> domain, for every edge. */

import { enumWords, type WireExplainRequest, type WireExplainResponse } from '@tessera/contracts';
import { invalid, text } from '@tessera/grpc';
import type { ExplainAnswer, ExplainRequest, RecallRequest } from '@tessera/recall';
import { inside, type Parsed } from '../recall-edge.js';
import { wireRecallOf } from './recall.mapper.js';
import { checkUserTexts } from './user-source.js';

/** A question whose recall is in the form of its edge. */
export type AskedExplanation<Recall> = Omit<WireExplainRequest, 'request'> & {
  readonly request: Recall | undefined;
};

export function questionOf<Recall>(
  message: AskedExplanation<Recall>,
  recallFrom: (asked: Recall) => Parsed<RecallRequest>,
): Parsed<ExplainRequest> {
  const { request: asked, versions, itemId } = message;
  if (!asked) throw invalid('request', 'a recall', 'none');
  const { request: recall, deadlineMs } = inside('request', () => recallFrom(asked));
  return { request: { recall, itemId, ...(versions && { versions }) }, deadlineMs };
}

/** Request from a decoded message. */
export function parseWireExplain(message: WireExplainRequest): Parsed<ExplainRequest> {
  const { request: asked } = message;
  if (asked) inside('request', () => checkUserTexts(asked));
  text('itemId', message.itemId);
  return questionOf(message, wireRecallOf);
}

export function toWireExplanation(answer: ExplainAnswer): WireExplainResponse {
  const { rank, step, score, cutScore, clause, attribute, notLiveSince, value } = answer;
  return {
    ...answer,
    verdict: enumWords['tessera.explain.v1.Verdict'][answer.verdict],
    rank,
    step,
    score,
    cutScore,
    clause,
    attribute,
    notLiveSince,
    value,
  };
}
