/** The bodies and answers of wire/rerank.ts in the OpenAPI document. */

import {
  countSchema as count,
  type DescribedRoute,
  listSchema as list,
  objectSchema as object,
  textSchema as text,
  wordSchema as word,
} from './json-schemas.js';

const DOCUMENT = {
  oneOf: [
    { type: 'string' },
    object({ text: { type: 'string' } }, ['text']),
    object({ itemId: text('of the catalogue; itemText of relevance.json makes its text') }, [
      'itemId',
    ]),
  ],
};
const score = { type: 'number' };
const ADAPTER = text('name of an adapter to score with; base or empty: the model alone');

export const RERANK_SCHEMAS = {
  RerankRequest: object(
    {
      model: text('without effect: there is one model'),
      query: text('not empty'),
      documents: list(DOCUMENT),
      top_n: count('documents of the answer at most'),
      return_documents: { type: 'boolean' },
      instruction: text("in place of the template's"),
      too_long: word('cut', 'refuse'),
      failures: word('each', 'whole'),
      priority: word('high', 'normal', 'low'),
      deadline_ms: count('milliseconds'),
      catalogue: text('of the items; empty: the first'),
      adapter: ADAPTER,
    },
    ['query', 'documents'],
  ),
  RerankResponse: object({
    id: text('made for each call'),
    object: word('list'),
    model: text('template, digest of the weights, and of the adapter where one was named'),
    usage: object({ total_tokens: count('of all prompts'), computed_tokens: count('of these') }),
    results: list(
      object({ index: count('in the request'), relevance_score: score, document: DOCUMENT }),
    ),
    failures: list(object({ index: count('in the request'), code: text(''), message: text('') })),
  }),
  TeiRerankRequest: object(
    {
      query: text('not empty'),
      texts: list({ type: 'string' }),
      truncate: { type: 'boolean' },
      truncation_direction: word('Right', 'right'),
      return_text: { type: 'boolean' },
      raw_scores: { type: 'boolean', enum: [false] },
      adapter: ADAPTER,
    },
    ['query', 'texts'],
  ),
  TeiRerankResponse: list(object({ index: count('in the request'), score, text: text('') })),
};

const summary = 'Scores texts for a query, best first';
const ours = { request: 'RerankRequest', response: 'RerankResponse', summary };
const tei = { request: 'TeiRerankRequest', response: 'TeiRerankResponse', summary };

export const RERANK_ROUTES: readonly DescribedRoute[] = [
  { ...ours, path: '/v1/rerank', operationId: 'rerank' },
  { ...ours, path: '/v2/rerank', operationId: 'rerank-v2' },
  { ...tei, path: '/rerank', operationId: 'rerank-tei' },
];
