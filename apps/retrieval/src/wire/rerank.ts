/**
 * Bodies and answers of `POST /v1/rerank` and `/v2/rerank`, as clients of Cohere and Jina have
 * them, and of `POST /rerank`, as those of Text Embeddings Inference have it.
 */

import { invalid } from '@tessera/grpc';
import { idIn, memberOf, wellFormed } from '@tessera/httpjson';
import type { Parsed } from '../recall-edge.js';
import type { AskedDocument, AskedRelevance, EdgeRelevance } from '../relevance-edge.js';
import {
  type Body,
  countOf,
  type ForeignKeys,
  flagOf,
  listOf,
  membersOf,
  NO_EFFECT,
  objectOf,
  textOf,
  wordOf,
} from './body-fields.js';

const PRIORITIES = ['high', 'normal', 'low'] as const;

/** Parts of an answer beside the scores. */
interface Shown {
  /** Documents of the answer at most. */
  readonly count: number;
  /** True if each has its text. */
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
  'max_tokens_per_doc',
  'top_k',
  'truncation',
];
/** Keys of Cohere, Jina, Voyage, vLLM and LiteLLM. Documents are scored whole, not in chunks. */
const RERANK_FOREIGN: ForeignKeys = {
  user: NO_EFFECT,
  client_name: NO_EFFECT,
  max_chunks_per_doc: NO_EFFECT,
  return_embeddings: [false],
  truncate_prompt_tokens: 'none: too_long says what becomes of a document that is too long',
  rank_fields: 'none: documents are scored by their text; put the fields into it',
};
const TEI_KEYS = [
  'query',
  'texts',
  'truncate',
  'truncation_direction',
  'return_text',
  'raw_scores',
  'adapter',
];
const TEI_FOREIGN: ForeignKeys = { user: NO_EFFECT };
/** Clients send their default too. A text that is too long loses its last tokens. */
const DIRECTIONS = ['Right', 'right'] as const;

/** @throws TesseraError REQUEST_INVALID with the path of the field */
export function parseRerank(body: unknown): AskedRerank {
  const asked = membersOf(body, RERANK_KEYS, RERANK_FOREIGN);
  // Clients name a model of the service that they were made for: the one here is always the same.
  textOf(asked, 'model', '');
  const documents = listOf(asked, 'documents').map(documentOf);
  checkTokensPerDocument(asked, documents);
  return {
    request: {
      requestId: '',
      query: textOf(asked, 'query'),
      documents,
      instruction: textOf(asked, 'instruction', '') || undefined,
      tooLong: tooLongOf(asked),
      failures: wordOf(asked, 'failures', ['each', 'whole']),
      priority: priorityOf(asked),
      catalogue: textOf(asked, 'catalogue', ''),
      adapter: textOf(asked, 'adapter', ''),
    },
    deadlineMs: asked.deadline_ms === undefined ? undefined : countOf(asked, 'deadline_ms'),
    shown: {
      count: shownCountOf(asked),
      texts: flagOf(asked, 'return_documents', false),
    },
  };
}

/** Two names of one choice may not say two things. */
function checkOneOf(asked: Body, name: string, other: string): void {
  if (asked[name] === undefined || asked[other] === undefined) return;
  throw invalid(other, `none beside ${name}`, asked[other]);
}

/** Voyage's clients call it top_k. */
function shownCountOf(asked: Body): number {
  checkOneOf(asked, 'top_n', 'top_k');
  const key = ['top_n', 'top_k'].find((name) => asked[name] !== undefined);
  return key === undefined ? Number.POSITIVE_INFINITY : countOf(asked, key);
}

/** Jina's and Voyage's `truncation` is the same choice. */
function tooLongOf(asked: Body): 'cut' | 'refuse' {
  checkOneOf(asked, 'too_long', 'truncation');
  if (asked.too_long !== undefined || asked.truncation === undefined) {
    return wordOf(asked, 'too_long', ['cut', 'refuse']);
  }
  return flagOf(asked, 'truncation', true) ? 'cut' : 'refuse';
}

/** A word of ours, or Cohere's whole number, of which 0 is what clients send by default. */
function priorityOf(asked: Body): AskedRelevance['priority'] {
  const { priority } = asked;
  if (priority === undefined || priority === 0) return 'normal';
  if (typeof priority === 'number' && Number.isInteger(priority) && priority > 0) return 'low';
  return wordOf(asked, 'priority', PRIORITIES);
}

/**
 * Documents are cut where the model ends, not before: a smaller bound would change scores. A token
 * stands for a byte of a text at least.
 */
function checkTokensPerDocument(asked: Body, documents: readonly AskedDocument[]): void {
  if (asked.max_tokens_per_doc === undefined) return;
  const most = countOf(asked, 'max_tokens_per_doc');
  const bytesOf = (of: AskedDocument) => ('text' in of ? Buffer.byteLength(of.text) : 0);
  const longest = documents.reduce((bytes, of) => Math.max(bytes, bytesOf(of)), 0);
  if (longest <= most) return;
  const expected = `none, or at least the bytes of the longest document (${longest})`;
  throw invalid('max_tokens_per_doc', expected, most);
}

/** A body of documents at the path of texts is vLLM's and LiteLLM's: that of `POST /v1/rerank`. */
export function isRerankBody(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'documents' in body;
}

/** @throws TesseraError REQUEST_INVALID with the path of the field */
export function parseTeiRerank(body: unknown): AskedRerank {
  const asked = membersOf(body, TEI_KEYS, TEI_FOREIGN);
  if (flagOf(asked, 'raw_scores', false)) {
    throw invalid('raw_scores', 'false: the template says what a score is', 'true');
  }
  wordOf(asked, 'truncation_direction', DIRECTIONS);
  const texts = listOf(asked, 'texts').map((text, i) => {
    if (typeof text === 'string') return { text: wellFormed(`texts[${i}]`, text) };
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
  const field = `documents[${index}]`;
  if (typeof value === 'string') return { text: wellFormed(field, value) };
  if (typeof value !== 'object' || value === null) {
    throw invalid(field, 'a text, {text} or {itemId}', value);
  }
  // Other members of a document, such as an ID of the caller's, are not scored.
  const given = objectOf(field, value);
  const { text } = given;
  const itemId = idIn(memberOf(given, 'itemId'));
  if (typeof text === 'string' && itemId === undefined) {
    return { text: wellFormed(`${field}.text`, text) };
  }
  if (typeof itemId === 'string' && text === undefined) {
    return { itemId: wellFormed(`${field}.itemId`, itemId) };
  }
  throw invalid(field, 'a text, {text} or {itemId}', value);
}
