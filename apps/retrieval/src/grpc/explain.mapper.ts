/** Wire <-> domain of ExplainService. */

import { type WireExplainRequest, type WireExplainResponse, WireVerdict } from '@tessera/contracts';
import { invalid, refuseMalformed, text } from '@tessera/grpc';
import type { ExplainAnswer, ExplainRequest } from '@tessera/recall';
import { inside, type Parsed } from '../recall-edge.js';
import { parseWireRecall } from './recall.mapper.js';

const VERDICTS: Readonly<Record<ExplainAnswer['verdict'], WireVerdict>> = {
  returned: WireVerdict.VERDICT_RETURNED,
  pruned: WireVerdict.VERDICT_PRUNED,
  'behind-sid-cap': WireVerdict.VERDICT_BEHIND_SID_CAP,
  'behind-results': WireVerdict.VERDICT_BEHIND_RESULTS,
  'not-eligible': WireVerdict.VERDICT_NOT_ELIGIBLE,
  'not-live': WireVerdict.VERDICT_NOT_LIVE,
  'not-in-catalogue': WireVerdict.VERDICT_NOT_IN_CATALOGUE,
  'behind-diversity-cap': WireVerdict.VERDICT_BEHIND_DIVERSITY_CAP,
};

export function parseWireExplain(message: WireExplainRequest): Parsed<ExplainRequest> {
  refuseMalformed(message);
  const { request: asked, versions } = message;
  if (!asked) throw invalid('request', 'a recall', 'none');
  const { request: recall, deadlineMs } = inside('request', () => parseWireRecall(asked));
  const itemId = text('itemId', message.itemId);
  const request = { recall, itemId, ...(versions ? { versions } : {}) };
  return { request, deadlineMs };
}

export function toWireExplanation(answer: ExplainAnswer): WireExplainResponse {
  return {
    ...answer,
    sid: [...answer.sid],
    verdict: VERDICTS[answer.verdict],
    rank: answer.rank,
    step: answer.step,
    score: answer.score,
    cutScore: answer.cutScore,
    clause: answer.clause,
    attribute: answer.attribute,
    notLiveSince: answer.notLiveSince,
    widthsUsed: [...answer.widthsUsed],
    kv: { ...answer.kv },
    versions: { ...answer.versions },
    timings: { ...answer.timings },
  };
}
