/** The HTTP API as OpenAPI 3.0; requests and answers of rpcs are derived from proto/. */

import { ERROR_TABLE } from '@tessera/errors';
import { CONSOLE_SCHEMAS, consolePaths } from '../../console/src/index.js';
import {
  EMBEDDING_ROUTES,
  EMBEDDING_SCHEMAS,
  openApiOfRpcs,
  postPaths,
  RERANK_ROUTES,
  RERANK_SCHEMAS,
} from '../../retrieval/src/index.js';

const object = (properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  additionalProperties: false,
  properties,
});
const text = (description: string) => ({ type: 'string', description });
const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const consoleAndErrors = {
  ...CONSOLE_SCHEMAS,
  Models: object({
    object: text('list'),
    data: {
      type: 'array',
      items: object({
        id: text('as `model` of a request'),
        object: text('model'),
        created: { type: 'integer' },
        owned_by: text('tessera'),
        digest: text('of configuration and weights'),
      }),
    },
  }),
  Info: { type: 'object', properties: { model_id: text('its name'), model_sha: text('digest') } },
  Error: object({
    error: object({
      code: { type: 'string', enum: Object.keys(ERROR_TABLE) },
      message: text('what was expected and what it got'),
      field: text('path of the field at fault'),
      retryable: { type: 'boolean' },
      retryAfterMs: { type: 'number', description: 'milliseconds' },
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

const told = (summary: string, schema: string) => ({
  get: {
    summary,
    responses: { 200: { description: summary, content: json(schema) }, ...failures },
  },
});

const health = (summary: string) => ({
  get: { summary, responses: { 200: { description: 'yes' }, 503: { description: 'not now' } } },
});

const SECURITY_SCHEMES = { token: { type: 'http', scheme: 'bearer' } };
/** On a loopback address without tokens no caller is asked who they are. */
const SECURITY = { security: [{ token: [] }, {}] };

export function openApiDocument(version: string): object {
  const rpcs = openApiOfRpcs(json, failures);
  const bodies = { ...EMBEDDING_SCHEMAS, ...RERANK_SCHEMAS };
  const schemas = { ...rpcs.schemas, ...bodies, ...consoleAndErrors };
  return {
    openapi: '3.0.3',
    info: {
      title: 'Tessera',
      version,
      description: 'Which live items fit this user now. The same is served over gRPC.',
    },
    ...SECURITY,
    paths: {
      ...rpcs.paths,
      ...postPaths([...EMBEDDING_ROUTES, ...RERANK_ROUTES], json, failures),
      ...consolePaths(json, failures),
      '/v1/models': told('Models of texts that are served, as OpenAI lists them', 'Models'),
      '/info': told('The first model of texts, as text-embeddings-inference tells it', 'Info'),
      '/health': health('Does the process take requests?'),
      '/health/ready': health('The same as /health'),
      '/health/live': {
        get: { summary: 'Does it run?', responses: { 200: { description: 'yes' } } },
      },
      '/metrics': {
        get: {
          summary: 'Prometheus text format',
          responses: { 200: { description: 'docs/operate/metrics.md lists the metrics' } },
        },
      },
    },
    components: { schemas, securitySchemes: SECURITY_SCHEMES },
  };
}
