/** RelevanceService's messages <-> domain. */

import {
  enumWords,
  type WireRelevanceRequest,
  type WireRelevanceResponse,
} from '@tessera/contracts';
import { invalid, text } from '@tessera/grpc';
import type { Parsed } from '../recall-edge.js';
import type { AskedDocument, AskedRelevance, EdgeRelevance } from '../relevance-edge.js';
import { priorityOf, wordOf } from './user-source.js';

const TOO_LONG = enumWords['tessera.relevance.v1.TooLong'];
const FAILURES = enumWords['tessera.relevance.v1.Failures'];

function documentOf(
  { text: content, itemId }: WireRelevanceRequest['documents'][number],
  index: number,
): AskedDocument {
  if (content !== undefined) return { text: text(`documents[${index}].text`, content) };
  if (itemId !== undefined) return { itemId: text(`documents[${index}].itemId`, itemId) };
  throw invalid(`documents[${index}]`, 'a text or an itemId', 'neither');
}

/** Request from a decoded message. */
export function parseWireRelevance(message: WireRelevanceRequest): Parsed<AskedRelevance> {
  const { requestId, query, instruction, catalogue, adapter, deadlineMs } = message;
  const request = {
    requestId: text('requestId', requestId),
    query: text('query', query),
    instruction: instruction === '' ? undefined : text('instruction', instruction),
    documents: message.documents.map(documentOf),
    catalogue: text('catalogue', catalogue),
    adapter: text('adapter', adapter),
    tooLong: wordOf(['tooLong', 'TooLong'], TOO_LONG, message.tooLong) ?? 'cut',
    failures: wordOf(['failures', 'Failures'], FAILURES, message.failures) ?? 'each',
    priority: priorityOf(message.priority) ?? 'normal',
  } as const;
  return { request, deadlineMs };
}

export function toWireRelevance(answer: EdgeRelevance): WireRelevanceResponse {
  const { requestId, outcomes, promptTokens, computedTokens, modelDigest, template } = answer;
  const documents = outcomes.map((outcome) => {
    if ('error' in outcome) {
      const { code, message } = outcome.error;
      return { score: undefined, promptTokens: 0, cutTokens: 0, failure: { code, message } };
    }
    const { score, promptTokens: tokens, cutTokens } = outcome;
    return { score, promptTokens: tokens, cutTokens, failure: undefined };
  });
  const versions = { model: modelDigest, template, adapter: answer.adapter };
  return { requestId, documents, promptTokens, computedTokens, versions };
}
