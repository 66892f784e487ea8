/** The bodies and answers of wire/rerank.ts in the OpenAPI document. */

import { OR_INTEGER } from '@tessera/httpjson';
import {
  countSchema as count,
  type DescribedRoute,
  foreignSchema as foreign,
  listSchema as list,
  objectSchema as object,
  openSchema as open,
  textSchema as text,
  wordSchema as word,
} from './json-schemas.js';

const ITEM_ID = Object.assign(text('of the catalogue; itemText of relevance.json makes its text'), {
  [OR_INTEGER]: true,
});
const DOCUMENT = {
  oneOf: [
    { type: 'string' },
    open({ text: { type: 'string' } }, ['text']),
    open({ itemId: ITEM_ID }, ['itemId']),
  ],
};
const score = { type: 'number' };
const ADAPTER = text('name of an adapter to score with; base or empty: the model alone');

const RERANK_MEMBERS = {
  model: text('without effect: there is one model'),
  query: text('not empty'),
  documents: list(DOCUMENT),
  top_n: count('documents of the answer at most'),
  top_k: count('the same'),
  truncation: { type: 'boolean', description: 'true: too_long is cut; false: refuse' },
  max_tokens_per_doc: count('at least the bytes of the longest document'),
  return_documents: { type: 'boolean' },
  instruction: text("in place of the template's"),
  too_long: word('cut', 'refuse'),
  failures: word('each', 'whole'),
  priority: { oneOf: [word('high', 'normal', 'low'), count('0: normal, else low')] },
  deadline_ms: count('milliseconds'),
  catalogue: text('of the items; empty: the first'),
  adapter: ADAPTER,
};
const FAILURE = object({ index: count('in the request'), code: text(''), message: text('') }, [
  'index',
  'code',
  'message',
]);
const RERANKED_MEMBERS = {
  id: text('made for each call'),
  object: word('list'),
  model: text('template, digest of the weights, and of the adapter where one was named'),
  usage: object({ total_tokens: count('of all prompts'), computed_tokens: count('of these') }, [
    'total_tokens',
    'computed_tokens',
  ]),
  results: list(
    object({ index: count('in the request'), relevance_score: score, document: DOCUMENT }, [
      'index',
      'relevance_score',
    ]),
  ),
  failures: list(FAILURE),
};
const RERANKED = object(RERANKED_MEMBERS, Object.keys(RERANKED_MEMBERS));

export const RERANK_SCHEMAS = {
  RerankRequest: foreign(RERANK_MEMBERS, ['query', 'documents']),
  RerankResponse: RERANKED,
  /** With `documents` it is the body of the routes above, and so is the answer. */
  TeiRerankRequest: foreign(
    {
      ...RERANK_MEMBERS,

      texts: list({ type: 'string' }),
      truncate: { type: 'boolean' },
      truncation_direction: word('Right', 'right'),
      return_text: { type: 'boolean' },
      raw_scores: { type: 'boolean', enum: [false] },
    },
    ['query'],
  ),
  TeiRerankResponse: {
    oneOf: [
      list(object({ index: count('in the request'), score, text: text('') }, ['index', 'score'])),
      RERANKED,
    ],
  },
};

const summary = 'Scores texts for a query, best first';
const ours = { request: 'RerankRequest', response: 'RerankResponse', summary };
const tei = { request: 'TeiRerankRequest', response: 'TeiRerankResponse', summary };

export const RERANK_ROUTES: readonly DescribedRoute[] = [
  { ...ours, path: '/v1/rerank', operationId: 'rerank' },
  { ...ours, path: '/v2/rerank', operationId: 'rerank-v2' },
  { ...tei, path: '/rerank', operationId: 'rerank-tei' },
];
