/** The API of the console as OpenAPI; answers.ts has the shapes of its answers. */

import { EXPORT_FORMATS } from '@tessera/inspection';
import { ANSWER_SCHEMAS } from './generated/answer-schemas.js';

const text = (description: string) => ({ type: 'string', description });
const whole = (description: string) => ({ type: 'integer', description });
const body = (properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  additionalProperties: false,
  properties,
});

export const CONSOLE_SCHEMAS = {
  ConsoleLogin: body({ token: text('of the file of tokens') }),
  ConsoleOidcLogin: body({ returnTo: text('page to come back to; absent: the first') }),
  ConsoleExplain: body({ itemId: text('the item that is or is not in the answer') }),
  ConsoleNote: body({ text: text('at most 4000 characters') }),
  ConsoleSql: body({ sql: text('one SELECT; docs/operate/console.md lists the tables') }),
  ConsoleExport: body({
    sql: text('one SELECT'),
    format: { type: 'string', enum: EXPORT_FORMATS },
  }),
  ConsoleSet: body({
    name: text('a set of the same name is replaced'),
    recallIds: { type: 'array', items: { type: 'string' } },
  }),
  ConsoleQuestion: body({
    name: text('one of the same name and author is replaced'),
    sql: text('as in ConsoleSql'),
  }),
  ConsoleActivate: body({
    share: { type: 'number', description: 'of the users; 1: all, less: a canary' },
    force: { type: 'boolean', description: 'leave out the comparison with the golden set' },
    cold: { type: 'boolean', description: 'leave out the warm-up' },
  }),
  ConsoleLines: body({ text: text('whole lines, each a change or an item as JSON') }),
  ConsoleLanding: body({ text: text('of an ad') }),
  ConsoleRollBack: body({ sequence: whole('number of the change to go back to') }),
  ConsoleComparison: body({
    left: {
      type: 'object',
      description: 'fields of RecallRequest without a user; catalogueSequence: as of that change',
    },
    right: { type: 'object', description: 'the same' },
    users: { type: 'array', items: { type: 'string' } },
    sample: whole('so many users by chance, where none are given'),
    seed: whole('of the chance: the same seed draws the same users'),
  }),
};

interface Operation {
  readonly path: string;
  readonly method: 'get' | 'post' | 'delete';
  readonly summary: string;
  /** Schema of the body. */
  readonly request?: string;
  readonly query?: readonly string[];
}

const FILTER = ['from', 'to', 'scene', 'attribute', 'adapter', 'model', 'source', 'catalogue'];
const question = (path: string, summary: string, query: readonly string[]): Operation => ({
  path: `analysis/${path}`,
  method: 'get',
  summary,
  query: [...FILTER, ...query],
});

const ANALYSIS_OPERATIONS: readonly Operation[] = [
  { path: 'analysis/about', method: 'get', summary: 'The facts that are kept' },
  { path: 'analysis/schema', method: 'get', summary: 'Tables and columns of the facts' },
  question('overview', 'What changed', ['buckets']),
  question('composition', 'Values of an attribute in what was recalled', [
    ...['by', 'buckets', 'across', 'values'],
  ]),
  question('reach', 'Recalls that had an item or value, before and after', ['by', 'at', 'limit']),
  question('unreached', 'Items that could have been recalled and were not', ['by', 'limit']),
  question('versions', 'Versions beside each other', ['by', 'arms']),
  question('outcomes', 'Estimates of the reward under a target', ['what', 'reward', 'recalls']),
  question('tables/{name}', 'Bids, spend, new ads, exploration or heads', ['by', 'bid']),
  question('ads/{id}', 'One ad: its recalls and outcomes', []),
  question('items', 'Items with facets', ['text', 'live', 'offset', 'limit']),
  {
    path: 'analysis/change',
    method: 'get',
    summary: 'Why two recalls of a user differ',
    query: ['left', 'right'],
  },
];

const OPERATIONS: readonly Operation[] = [
  { path: 'login', method: 'get', summary: 'Who asks, and how to log in' },
  { path: 'login', method: 'post', summary: 'Log in with a token', request: 'ConsoleLogin' },
  { path: 'login', method: 'delete', summary: 'Log out' },
  {
    path: 'login/oidc',
    method: 'post',
    summary: 'Begin to log in with the provider',
    request: 'ConsoleOidcLogin',
  },
  { path: 'login/oidc/return', method: 'get', summary: 'Come back from the provider' },
  { path: 'about', method: 'get', summary: 'What is served, and who asks' },
  { path: 'cluster', method: 'get', summary: 'The nodes behind the gateway, and who is away' },
  { path: 'live', method: 'get', summary: 'How the service fared', query: ['minutes', 'afterMs'] },
  {
    path: 'recalls',
    method: 'get',
    summary: 'Recorded recalls, newest first',
    query: [
      ...['userId', 'requestId', 'itemId', 'code', 'adapter', 'scene', 'change', 'set'],
      ...['minUs', 'maxUs', 'fromMs', 'beforeMs', 'order', 'offset', 'limit'],
    ],
  },
  { path: 'recalls', method: 'post', summary: 'Try a recall', request: 'RecallRequest' },
  { path: 'recalls/{id}', method: 'get', summary: 'One recorded recall', query: ['node'] },
  {
    path: 'recalls/{id}/explain',
    method: 'post',
    summary: 'What became of an item in it',
    request: 'ConsoleExplain',
    query: ['node'],
  },
  { path: 'recalls/{id}/notes', method: 'post', summary: 'Take a note', request: 'ConsoleNote' },
  { path: 'recalls/{id}/notes/{note}', method: 'delete', summary: 'Remove a note' },
  {
    path: 'relevance',
    method: 'post',
    summary: 'Score texts, or items of the catalogue, for a query',
    request: 'RerankRequest',
  },
  { path: 'users', method: 'get', summary: 'Some users', query: ['limit', 'prefix', 'seed'] },
  { path: 'users/{id}', method: 'get', summary: 'What is known and kept of a user' },
  { path: 'users/{id}', method: 'delete', summary: 'Forget a user' },
  { path: 'items', method: 'get', summary: 'Items by ID or part of the title', query: ['text'] },
  { path: 'items/{id}/place', method: 'get', summary: 'Where an item stands in the tree' },
  { path: 'catalogue', method: 'get', summary: 'The catalogue and its versions' },
  {
    path: 'catalogue/names',
    method: 'get',
    summary: 'What the items below each node of the tree have in common',
    query: ['by'],
  },
  {
    path: 'catalogue/landing',
    method: 'post',
    summary: 'Where an ad of a text would go, and who lives there',
    request: 'ConsoleLanding',
  },
  {
    path: 'catalogue/roll-back',
    method: 'post',
    summary: 'Go back to a version',
    request: 'ConsoleRollBack',
  },
  { path: 'adapters', method: 'get', summary: 'Versions of adapters' },
  {
    path: 'adapters/changes',
    method: 'get',
    summary: 'What was done with them, newest first',
    query: ['limit'],
  },
  {
    path: 'adapters/{name}/{digest}/activate',
    method: 'post',
    summary: 'Serve a version',
    request: 'ConsoleActivate',
  },
  { path: 'adapters/{name}/roll-back', method: 'post', summary: 'Go back to the one before' },
  { path: 'adapters/{name}/{digest}/pin', method: 'post', summary: 'Keep a version loaded' },
  { path: 'adapters/{name}/{digest}/pin', method: 'delete', summary: 'Keep it no longer' },
  { path: 'adapters/{name}/{digest}', method: 'delete', summary: 'Delete a version' },
  {
    path: 'catalogue/changes',
    method: 'get',
    summary: 'What became of the catalogues, newest first',
    query: ['limit'],
  },
  { path: 'catalogue/imports', method: 'post', summary: 'Begin an import of changes' },
  {
    path: 'catalogue/imports/{id}/lines',
    method: 'post',
    summary: 'A part of an import',
    request: 'ConsoleLines',
  },
  {
    path: 'catalogue/imports/{id}/apply',
    method: 'post',
    summary: 'Apply an import, all of it or none',
  },
  { path: 'catalogue/imports/{id}', method: 'delete', summary: 'Cancel an import' },
  {
    path: 'comparisons',
    method: 'post',
    summary: 'Compare two settings for some users, line by line',
    request: 'ConsoleComparison',
  },
  { path: 'comparisons', method: 'get', summary: 'Saved comparisons, newest first' },
  { path: 'comparisons/{id}', method: 'get', summary: 'One saved comparison' },
  { path: 'comparisons/{id}', method: 'delete', summary: 'Remove a comparison' },
  {
    path: 'comparisons/{id}/notes',
    method: 'post',
    summary: 'Take a note to it',
    request: 'ConsoleNote',
  },
  { path: 'comparisons/{id}/notes/{note}', method: 'delete', summary: 'Remove such a note' },
  { path: 'sql', method: 'post', summary: 'Ask the recorded recalls', request: 'ConsoleSql' },
  { path: 'exports', method: 'post', summary: 'Begin an export', request: 'ConsoleExport' },
  { path: 'exports/{id}', method: 'get', summary: 'How far an export is' },
  { path: 'exports/{id}', method: 'delete', summary: 'End an export' },
  { path: 'exports/{id}/file', method: 'get', summary: 'The file of an export' },
  ...ANALYSIS_OPERATIONS,
  { path: 'sets', method: 'get', summary: 'Saved sets of recalls' },
  { path: 'sets', method: 'post', summary: 'Save a set', request: 'ConsoleSet' },
  { path: 'sets/{name}', method: 'delete', summary: 'Remove a set' },
  { path: 'questions', method: 'get', summary: 'Saved questions in SQL' },
  { path: 'questions', method: 'post', summary: 'Save a question', request: 'ConsoleQuestion' },
  { path: 'questions/{name}', method: 'delete', summary: 'Remove a question' },
];

function parametersOf({ path, query = [] }: Operation): object[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  return [...inPath, ...query.map((name) => ({ name, in: 'query', schema: { type: 'string' } }))];
}

const answers: Readonly<Record<string, object | undefined>> = ANSWER_SCHEMAS;

/** Every operation by its path. */
export function consolePaths(json: (schema: string) => object, failures: object): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of OPERATIONS) {
    const { path, method, summary, request } = operation;
    const at = `/console/api/${path}`;
    const answer = answers[`${method} ${path}`];
    const content = answer && { content: { 'application/json': { schema: answer } } };
    paths[at] = {
      ...paths[at],
      [method]: {
        operationId: `console-${method}-${path.replaceAll(/[{}]/g, '').replaceAll('/', '-')}`,
        summary,
        tags: ['console'],
        parameters: parametersOf(operation),
        ...(request && { requestBody: { required: true, content: json(request) } }),
        responses: { 200: { description: summary, ...content }, ...failures },
      },
    };
  }
  return paths;
}
