/** The HTTP API as OpenAPI 3.0; field for field the JSON form of tessera.recall.v1. */

import { ERROR_TABLE } from '@tessera/errors';
import { CONSOLE_SCHEMAS, consolePaths } from '../../console/src/index.js';
import { integer, list, number, object, reference, text, texts } from './openapi-fields.js';
import { KV_SCHEMAS, kvPaths } from './openapi-kv.js';

const itemId = { oneOf: [{ type: 'string' }, { type: 'integer' }] };

/** Of both requests: of whom the prompt is made, and how the engine is to be asked. */
const userSource = (what: string) => ({
  requestId: text('echoed; made by the service when absent'),
  catalogue: text('name of the catalogue; absent: the first'),
  userId: { ...itemId, description: 'a user whose behaviour the service knows' },
  history: list(itemId, 'item IDs, oldest first; in place of userId'),
  profile: texts('profile of the user, for the slots of the prompt template'),
  scene: texts('where and when the items will be shown'),
  scoreNorm: { type: 'string', enum: ['full', 'level', 'allowed'] },
  priority: { type: 'string', enum: ['high', 'normal', 'low'] },
  deadlineMs: integer(`milliseconds the ${what} may take`),
  skipUnknownItems: { type: 'boolean', description: 'leave out unknown history items' },
});

const itemPolicy = {
  orderBy: text('number attribute, highest first; empty: the priority of the items'),
  diversity: list(
    object({ attribute: text('a text attribute'), maxItems: integer('items of a value at most') }),
    'caps on items that share a value',
  ),
};

/** Of both answers. */
const promptFacts = {
  historyItems: number('history items in the prompt'),
  trimmedItems: number('oldest history items left out for want of room'),
  skippedItems: number('history items that the catalogue does not know'),
  fallback: text(
    'why less than is kept of the user went into the prompt; empty: nothing was missing',
  ),
  promptTokens: number('tokens of the prompt'),
  prefixReusedTokens: number('of these, computed by another request of the batch'),
  kv: reference('KvProvenance'),
  versions: object({
    model: text('content digest'),
    catalogue: text('content digest'),
    promptTemplate: text('content digest'),
    catalogueSequence: number('last change of the catalogue that the answer knows'),
  }),
  timings: {
    type: 'object',
    additionalProperties: { type: 'number' },
    description: 'microseconds per stage',
  },
};

const schemas = {
  KvProvenance: object({
    deviceTokens: number('found in the user KV pool, on the device'),
    hostTokens: number('found there, in the memory of the host'),
    diskTokens: number('found there, on disk'),
    sharedTokens: number('taken from requests that ran at the same time'),
    computedTokens: number('computed for this request'),
    savedTokens: number('all that were not computed'),
    waitUs: number('microseconds waited for blocks on their way to the device'),
    lossy: { type: 'boolean', description: 'some found came back through a lossy codec' },
    inheritedTokens: number('of those found, what an earlier version of the adapter computed'),
    versionsBack: number('versions between the oldest of these and the one that answered'),
  }),
  ...KV_SCHEMAS,
  RecallRequest: {
    ...object({
      ...userSource('recall'),
      resultCount: integer('items wanted'),
      widths: list({ type: 'integer', minimum: 1 }, 'beam width per step; the last one holds on'),
      itemsPerSid: integer('items per semantic ID at most'),
      eligibility: {
        type: 'object',
        description: 'predicate, allowed, denied, seen: which items may be found',
      },
      itemPolicy: object(itemPolicy),
      allowPartial: {
        type: 'boolean',
        description: 'rather a narrower search than none before the deadline',
      },
      inspect: {
        type: 'boolean',
        description: 'record it for the console, whatever the share that is recorded',
      },
    }),
    example: { userId: '1', resultCount: 5 },
  },
  RecalledItem: object({
    itemId: text('ID of the item'),
    sid: list({ type: 'integer' }, 'codes of the semantic ID, one per level'),
    score: number('log-probability of the semantic ID'),
    rank: integer('1 for the best item'),
    title: text('title as imported'),
  }),
  RecallResponse: object({
    requestId: text('ID of the request'),
    items: list(reference('RecalledItem'), 'best first'),
    short: { type: 'boolean', description: 'fewer items exist than were asked for' },
    widthsUsed: list({ type: 'integer' }, 'beam widths after capping by what is reachable'),
    completeness: { type: 'string', enum: ['whole', 'narrowed', 'cut'] },
    itemPolicy: object({
      ...itemPolicy,
      itemsPerSid: integer('items per semantic ID at most'),
      resultCount: integer('items wanted'),
      leftOutByDiversity: number('items that a diversity cap kept out'),
    }),
    ...promptFacts,
  }),
  ScoreRequest: {
    ...object({
      ...userSource('scores'),
      items: list(
        { oneOf: [...itemId.oneOf, object({ sid: list({ type: 'integer' }, 'codes') })] },
        'items to score: IDs, or the semantic IDs of items',
      ),
    }),
    example: { userId: '1', items: ['2', { sid: [0, 1, 2] }] },
  },
  ItemScore: object({
    itemId: text('as asked; empty where a semantic ID was asked for'),
    sid: list({ type: 'integer' }, 'codes of the semantic ID; empty where the item is not known'),
    outcome: { type: 'string', enum: ['scored', 'unknown'] },
    score: number('log-probability of the semantic ID, as a recall gives it'),
  }),
  ScoreResponse: object({
    requestId: text('ID of the request'),
    items: list(reference('ItemScore'), 'in the order asked'),
    ...promptFacts,
  }),
  ExplainRequest: {
    ...object({
      request: reference('RecallRequest'),
      itemId: { ...itemId, description: 'the item that is, or is not, in the answer' },
      versions: promptFacts.versions,
    }),
    example: { request: { userId: '1', resultCount: 5 }, itemId: '2' },
  },
  ExplainResponse: object({
    requestId: text('ID of the request'),
    itemId: text('as asked'),
    sid: list({ type: 'integer' }, 'codes of the semantic ID; empty where there is no such item'),
    verdict: {
      type: 'string',
      enum: [
        'returned',
        'pruned',
        'behind-sid-cap',
        'behind-results',
        'not-eligible',
        'not-live',
        'not-in-catalogue',
        'behind-diversity-cap',
      ],
    },
    rank: integer('of the item in the answer, or of its path among the candidates of the step'),
    step: number('selection in which it was pruned, from 0'),
    score: number('log-probability of the path, or of what there was of it'),
    cutScore: number('of the last candidate that was kept in its stead'),
    clause: text('path of the clause that keeps it out'),
    attribute: text('of the diversity cap that it is behind'),
    notLiveSince: number('number of the change since which it is not live'),
    widthsUsed: list({ type: 'integer' }, 'of the replay; empty where the catalogue decides'),
    ...promptFacts,
  }),
  ...CONSOLE_SCHEMAS,
  Error: object({
    error: object({
      code: { type: 'string', enum: Object.keys(ERROR_TABLE) },
      message: text('what was expected and what came'),
      field: text('path of the field at fault'),
      retryable: { type: 'boolean' },
      retryAfterMs: number('milliseconds'),
    }),
  }),
};

const json = (name: string) => ({ 'application/json': { schema: reference(name) } });
const failures = Object.fromEntries(
  [400, 404, 413, 415, 429, 500, 503, 504].map((status) => {
    const codes = Object.entries(ERROR_TABLE).filter(([, row]) => row.http === status);
    const description = codes.map(([code]) => code).join(', ');
    return [status, { description, content: json('Error') }];
  }),
);

const health = (summary: string) => ({
  get: { summary, responses: { 200: { description: 'yes' }, 503: { description: 'not now' } } },
});

const SECURITY_SCHEMES = { token: { type: 'http', scheme: 'bearer' } };
/** Nobody is asked on a loopback address without tokens. */
const SECURITY = { security: [{ token: [] }, {}] };

export function openApiDocument(version: string): object {
  return {
    openapi: '3.0.3',
    info: {
      title: 'Tessera',
      version,
      description: 'Which live items fit this user now. The same is served over gRPC.',
    },
    ...SECURITY,
    paths: {
      '/v1/recall': {
        post: {
          operationId: 'recall',
          summary: 'Recall items for a user or a history',
          requestBody: { required: true, content: json('RecallRequest') },
          responses: {
            200: { description: 'best items first', content: json('RecallResponse') },
            ...failures,
          },
        },
      },
      '/v1/score': {
        post: {
          operationId: 'score',
          summary: 'Log-probabilities of given items for a user or a history',
          requestBody: { required: true, content: json('ScoreRequest') },
          responses: {
            200: { description: 'in the order asked', content: json('ScoreResponse') },
            ...failures,
          },
        },
      },
      '/v1/explain': {
        post: {
          operationId: 'explain',
          summary: 'Why an item is in the answer of a recall, or is not',
          requestBody: { required: true, content: json('ExplainRequest') },
          responses: {
            200: { description: 'what became of the item', content: json('ExplainResponse') },
            ...failures,
          },
        },
      },
      ...kvPaths(json, failures),
      ...consolePaths(json, failures),
      '/health': health('Does the process take requests?'),
      '/health/ready': health('The same as /health'),
      '/health/live': {
        get: { summary: 'Does it run?', responses: { 200: { description: 'yes' } } },
      },
      '/metrics': {
        get: {
          summary: 'Prometheus text format',
          responses: { 200: { description: 'docs/metrics.md lists the metrics' } },
        },
      },
    },
    components: { schemas, securitySchemes: SECURITY_SCHEMES },
  };
}
