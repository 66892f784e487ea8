/** ExplainService's messages <-> domain, for every edge. */

import { enumWords, type WireExplainRequest, type WireExplainResponse } from '@tessera/contracts';
import { invalid, refuseMalformed, text } from '@tessera/grpc';
import type { ExplainAnswer, ExplainRequest } from '@tessera/recall';
import { inside, type Parsed } from '../recall-edge.js';
import { type AskedRecall, recallOf } from './recall.mapper.js';
import { checkUserTexts } from './user-source.js';

/** A question whose recall is as recallOf() takes it. */
export type AskedExplanation = Omit<WireExplainRequest, 'request'> & {
  readonly request: AskedRecall | undefined;
};

export function questionOf(message: AskedExplanation): Parsed<ExplainRequest> {
  const { request: asked, versions, itemId } = message;
  if (!asked) throw invalid('request', 'a recall', 'none');
  const { request: recall, deadlineMs } = inside('request', () => recallOf(asked));
  return { request: { recall, itemId, ...(versions && { versions }) }, deadlineMs };
}

/** Of bytes that a decoder read. */
export function parseWireExplain(message: WireExplainRequest): Parsed<ExplainRequest> {
  refuseMalformed(message);
  const { request: asked } = message;
  if (asked) inside('request', () => checkUserTexts(asked));
  text('itemId', message.itemId);
  return questionOf(message);
}

export function toWireExplanation(answer: ExplainAnswer): WireExplainResponse {
  const { rank, step, score, cutScore, clause, attribute, notLiveSince } = answer;
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
  };
}
