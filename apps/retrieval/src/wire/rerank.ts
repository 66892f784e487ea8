/**
 * Bodies and answers of `POST /v1/rerank` and `/v2/rerank`, as clients of Cohere and Jina have
 * them, and of `POST /rerank`, as those of Text Embeddings Inference have it.
 */

import { invalid } from '@tessera/grpc';
import type { Parsed } from '../recall-edge.js';
import type { AskedDocument, AskedRelevance, EdgeRelevance } from '../relevance-edge.js';
import { countOf, flagOf, listOf, strictObjectOf, textOf, wordOf } from './body-fields.js';

const PRIORITIES = ['high', 'normal', 'low'] as const;

/** What an answer has beside the scores. */
interface Shown {
  /** Documents of the answer at most. */
  readonly count: number;
  /** Whether each has its text. */
  readonly texts: boolean;
}

export interface AskedRerank extends Parsed<AskedRelevance> {
  readonly shown: Shown;
}

/** Theirs, then ours from `instruction` on. */
const RERANK_KEYS = [
  'model',
  'query',
  'documents',
  'top_n',
  'return_documents',
  'instruction',
  'too_long',
  'failures',
  'priority',
  'deadline_ms',
  'catalogue',
  'adapter',
];
const TEI_KEYS = [
  'query',
  'texts',
  'truncate',
  'truncation_direction',
  'return_text',
  'raw_scores',
  'adapter',
];
/** Clients send their default too. A text that is too long loses its last tokens. */
const DIRECTIONS = ['Right', 'right'] as const;

/** @throws TesseraError REQUEST_INVALID with the path of the field */
export function parseRerank(body: unknown): AskedRerank {
  const asked = strictObjectOf('body', body, RERANK_KEYS);
  // Clients name a model of the service that they were made for: the one here is always the same.
  textOf(asked, 'model', '');
  return {
    request: {
      requestId: '',
      query: textOf(asked, 'query'),
      documents: listOf(asked, 'documents').map(documentOf),
      instruction: textOf(asked, 'instruction', '') || undefined,
      tooLong: wordOf(asked, 'too_long', ['cut', 'refuse']),
      failures: wordOf(asked, 'failures', ['each', 'whole']),
      priority: asked.priority === undefined ? 'normal' : wordOf(asked, 'priority', PRIORITIES),
      catalogue: textOf(asked, 'catalogue', ''),
      adapter: textOf(asked, 'adapter', ''),
    },
    deadlineMs: asked.deadline_ms === undefined ? undefined : countOf(asked, 'deadline_ms'),
    shown: {
      count: asked.top_n === undefined ? Number.POSITIVE_INFINITY : countOf(asked, 'top_n'),
      texts: flagOf(asked, 'return_documents', false),
    },
  };
}

/** @throws TesseraError REQUEST_INVALID with the path of the field */
export function parseTeiRerank(body: unknown): AskedRerank {
  const asked = strictObjectOf('body', body, TEI_KEYS);
  if (flagOf(asked, 'raw_scores', false)) {
    throw invalid('raw_scores', 'false: the template says what a score is', 'true');
  }
  wordOf(asked, 'truncation_direction', DIRECTIONS);
  const texts = listOf(asked, 'texts').map((text, i) => {
    if (typeof text === 'string') return { text };
    throw invalid(`texts[${i}]`, 'a text', text);
  });
  return {
    request: {
      requestId: '',
      query: textOf(asked, 'query'),
      documents: texts,
      tooLong: flagOf(asked, 'truncate', false) ? 'cut' : 'refuse',
      failures: 'whole',
      priority: 'normal',
      catalogue: '',
      adapter: textOf(asked, 'adapter', ''),
    },
    deadlineMs: undefined,
    shown: { count: Number.POSITIVE_INFINITY, texts: flagOf(asked, 'return_text', false) },
  };
}

/** Best first; documents without a score under `failures`. */
export function rerankAnswer(answer: EdgeRelevance, { request, shown }: AskedRerank): object {
  const { requestId, promptTokens, computedTokens, outcomes } = answer;
  const { template, modelDigest, adapter } = answer;
  const results = ranked(answer)
    .slice(0, shown.count)
    .map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(shown.texts && { document: request.documents[index] }),
    }));
  return {
    id: requestId,
    object: 'list',
    model: [template, modelDigest, ...(adapter === '' ? [] : [adapter])].join('/'),
    usage: { total_tokens: promptTokens, computed_tokens: computedTokens },
    results,
    failures: outcomes.flatMap((outcome, index) => {
      if (!('error' in outcome)) return [];
      const { code, message } = outcome.error;
      return [{ index, code, message }];
    }),
  };
}

export function teiAnswer(answer: EdgeRelevance, { request, shown }: AskedRerank): object[] {
  return ranked(answer).map(({ index, score }) => {
    const document = request.documents[index];
    const text = document !== undefined && 'text' in document ? document.text : '';
    return shown.texts ? { index, score, text } : { index, score };
  });
}

/** Equal scores in the order of the request. */
function ranked({ outcomes }: EdgeRelevance) {
  return outcomes
    .flatMap((outcome, index) => ('error' in outcome ? [] : [{ index, score: outcome.score }]))
    .sort((a, b) => b.score - a.score || a.index - b.index);
}

/** A text, `{text}` as Cohere and Jina have it, or `{itemId}` of the catalogue. */
function documentOf(value: unknown, index: number): AskedDocument {
  if (typeof value === 'string') return { text: value };
  const field = `documents[${index}]`;
  if (typeof value !== 'object' || value === null) {
    throw invalid(field, 'a text, {text} or {itemId}', value);
  }
  const given = strictObjectOf(field, value, ['text', 'itemId']);
  if (typeof given.text === 'string' && given.itemId === undefined) return { text: given.text };
  if (typeof given.itemId === 'string' && given.text === undefined) return { itemId: given.itemId };
  throw invalid(field, 'a text, {text} or {itemId}', value);
}
