/** HTTP as OpenAPI 3.0, for servers and for the console; what rpcs take is derived from proto/. */

import { ERROR_TABLE, UNREAD_REQUESTS } from '@tessera/errors';
import { CONSOLE_SCHEMAS, consolePaths } from '../../console/src/index.js';
import {
  EMBEDDING_ROUTES,
  EMBEDDING_SCHEMAS,
  openApiOfRpcs,
  postPaths,
  RERANK_ROUTES,
  RERANK_SCHEMAS,
} from '../../retrieval/src/index.js';

/** With all of its members, but for those that are named. */
const object = (
  properties: Readonly<Record<string, object>>,
  optional: readonly string[] = [],
) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
});
const text = (description: string) => ({ type: 'string', description });
const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const MODEL_SCHEMAS = {
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
  Info: {
    type: 'object',
    properties: { model_id: text('its name'), model_sha: text('digest') },
    required: ['model_id', 'model_sha'],
  },
};

const ERROR_SCHEMA = {
  Error: object({
    error: object(
      {
        code: { type: 'string', enum: Object.keys(ERROR_TABLE) },
        message: text('what was expected and what it got'),
        field: text('path of the field at fault'),
        retryable: { type: 'boolean', description: 'may the same request succeed later?' },
        retryAfterMs: { type: 'number', description: 'milliseconds' },
      },
      ['field', 'retryAfterMs'],
    ),
  }),
};

const json = (name: string) => ({ 'application/json': { schema: reference(name) } });

/** Codes by their status, those of requests that never reach a route among them. */
function codesByStatus(): ReadonlyMap<number, ReadonlySet<string>> {
  const rows = Object.entries(ERROR_TABLE).map(([code, { http }]) => ({ http, code }));
  const found = new Map<number, Set<string>>();
  for (const { http, code } of [...rows, ...Object.values(UNREAD_REQUESTS)]) {
    found.set(http, (found.get(http) ?? new Set()).add(code));
  }
  return found;
}

const failures = Object.fromEntries(
  [...codesByStatus()].map(([status, codes]) => {
    const description = [...codes].join(', ');
    return [status, { description, content: json('Error') }];
  }),
);

const told = (operationId: string, summary: string, schema: string) => ({
  get: {
    operationId,
    summary,
    responses: { 200: { description: summary, content: json(schema) }, ...failures },
  },
});

const health = (operationId: string, summary: string) => ({
  get: {
    operationId,
    summary,
    responses: {
      200: { description: 'yes' },
      403: failures[403],
      503: { description: 'not now' },
    },
  },
});

const SECURITY_SCHEMES = { token: { type: 'http', scheme: 'bearer' } };
/** On a loopback address without tokens no caller is asked who they are. */
const SECURITY = { security: [{ token: [] }, {}] };

interface Described {
  readonly title: string;
  readonly description: string;
  readonly paths: object;
  readonly schemas: object;
}

const documentOf = (version: string, { title, description, paths, schemas }: Described) => ({
  openapi: '3.0.3',
  info: { title, version, description, license: LICENCE },
  // Beside the document, wherever that is.
  servers: [{ url: '/' }],
  ...SECURITY,
  paths,
  components: { schemas: { ...schemas, ...ERROR_SCHEMA }, securitySchemes: SECURITY_SCHEMES },
});

const LICENCE = {
  name: 'Apache-2.0',
  url: 'https://www.apache.org/licenses/LICENSE-2.0',
};

/** The API for servers. */
export function openApiDocument(version: string): object {
  const rpcs = openApiOfRpcs(json, failures);
  return documentOf(version, {
    title: 'Tessera',
    description: 'Which live items fit this user now. The same is served over gRPC.',
    schemas: { ...rpcs.schemas, ...EMBEDDING_SCHEMAS, ...RERANK_SCHEMAS, ...MODEL_SCHEMAS },
    paths: {
      ...rpcs.paths,
      ...postPaths([...EMBEDDING_ROUTES, ...RERANK_ROUTES], json, failures),
      '/v1/models': told(
        'models',
        'Models of texts that are served, as OpenAI lists them',
        'Models',
      ),
      '/info': told(
        'info',
        'The first model of texts, as text-embeddings-inference tells it',
        'Info',
      ),
      '/health': health('health', 'Does the process take requests?'),
      '/health/ready': health('health-ready', 'The same as /health'),
      '/health/current': health('health-current', 'As /health, and 503 where it is stale'),
      '/health/live': {
        get: {
          operationId: 'health-live',
          summary: 'Does it run?',
          responses: { 200: { description: 'yes' }, 403: failures[403] },
        },
      },
      '/metrics': {
        get: {
          operationId: 'metrics',
          summary: 'Prometheus text format',
          responses: {
            200: { description: 'docs/operate/metrics.md lists the metrics' },
            401: failures[401],
            403: failures[403],
          },
        },
      },
    },
  });
}

/** The schemas that paths refer to, and those that these refer to. */
function reachedBy(paths: object, schemas: Readonly<Record<string, object>>) {
  const reached = new Set<string>();
  const follow = (value: unknown) => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(
      /"#\/components\/schemas\/(\w+)"/g,
    )) {
      if (reached.has(name)) continue;
      reached.add(name);
      follow(schemas[name] ?? {});
    }
  };
  follow(paths);
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => reached.has(name)));
}

/** The API of the console's pages, which may change with any release. */
export function consoleDocument(version: string): object {
  return documentOf(version, {
    title: 'Console of Tessera',
    description: 'For its own pages: it may change with any release.',
    // Its bodies hold requests of the API.
    schemas: reachedBy(consolePaths(json, failures), {
      ...openApiOfRpcs(json, failures).schemas,
      ...RERANK_SCHEMAS,
      ...CONSOLE_SCHEMAS,
    }),
    paths: consolePaths(json, failures),
  });
}
