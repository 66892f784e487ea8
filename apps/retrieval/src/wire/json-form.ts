/** Bodies of retrieval over HTTP, and the OpenAPI document of all methods. */

import { invalid } from '@tessera/grpc';
import { type HttpJson, SERVICE_JSON } from '@tessera/httpjson';
import { METHODS, rpcOf } from '@tessera/methods';
import { ELIGIBILITY_SCHEMAS } from './eligibility-schemas.js';

const SCORE = 'tessera.score.v1.ScoreService.Score';
const CHECK_INTEGRITY = 'tessera.kv.v1.KvPoolService.CheckIntegrity';

/** Full names of the methods that have a route, by it. */
const HTTP_RPCS = new Map(
  METHODS.flatMap(({ path, http }) => (http === undefined ? [] : [[http, rpcOf(path)] as const])),
);

/** vLLM scores pairs of texts at the same path. */
function refuseTextScores(body: unknown): void {
  const field = ['text_1', 'text_2', 'queries'].find((name) => name in Object(body));
  if (field === undefined) return;
  const expected = 'userId and items of the catalogue: texts are scored by POST /v1/rerank';
  throw invalid(field, expected, 'a text to score');
}

/** Bodies and answers of the methods that have a route. */
export const JSON_FORM: Pick<HttpJson, 'readRequest' | 'writeResponse'> = {
  readRequest: (rpc, body) => {
    if (rpc === SCORE) refuseTextScores(body);
    // A request without fields needs no body.
    return SERVICE_JSON.readRequest(rpc, rpc === CHECK_INTEGRITY ? (body ?? {}) : body);
  },
  writeResponse: (rpc, message) => SERVICE_JSON.writeResponse(rpc, message),
};

/** Bodies that the OpenAPI document shows. */
const EXAMPLES: Readonly<Record<string, object>> = {
  RecallRequest: { userId: '1', resultCount: 5 },
  ScoreRequest: { userId: '1', items: ['2', { sid: [0, 1, 2] }] },
  RankRequest: { userId: '1', itemIds: ['2', '3'] },
  ExplainRequest: { request: { userId: '1', resultCount: 5 }, itemId: '2' },
};

/** The message has another form of it, so its plan knows of an object alone. */
function withEligibility(schema: object): object {
  const { properties } = schema as { properties: Readonly<Record<string, object>> };
  const { description } = properties.eligibility as { description?: string };
  const reference = { $ref: '#/components/schemas/Eligibility' };
  const eligibility = description === undefined ? reference : { allOf: [reference], description };
  return { ...schema, properties: { ...properties, eligibility } };
}

/** Schemas and operations of the OpenAPI document. */
export function openApiOfRpcs(
  json: (schema: string) => object,
  failures: object,
): { readonly schemas: Readonly<Record<string, object>>; readonly paths: object } {
  const { schemas, rpcs } = SERVICE_JSON.schemas([...HTTP_RPCS.values()]);
  const paths = [...HTTP_RPCS.keys()].map((path, index) => {
    const { request = '', response = '', summary = '' } = rpcs[index] ?? {};
    const post = {
      operationId: path.slice('/v1/'.length).replaceAll('/', '-'),
      summary,
      requestBody: { required: true, content: json(request) },
      responses: { 200: { description: summary, content: json(response) }, ...failures },
    };
    return [path, { post }];
  });
  const shown = Object.entries(schemas).map(([name, schema]) => {
    const example = EXAMPLES[name];
    const typed = name === 'RecallRequest' ? withEligibility(schema) : schema;
    return [name, example === undefined ? typed : { ...typed, example }];
  });
  const all = { ...Object.fromEntries(shown), ...ELIGIBILITY_SCHEMAS };
  return { schemas: all, paths: Object.fromEntries(paths) };
}
