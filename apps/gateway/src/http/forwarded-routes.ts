import type { IncomingHttpHeaders } from 'node:http';
import type { Connection } from '@tessera/client';
import { answerError, parseJsonBody } from '@tessera/hosting';
import { CostEstimates, partitionOf } from '@tessera/routing';
import type { Log } from '@tessera/telemetry';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Asked, Asking } from '../asking.js';
import { checkLog, keyed } from '../grpc/one-change.js';
import { type HttpAnswer, NodeAway } from '../node-link.js';
import { type Fields, passedFields, withToken } from '../passed-fields.js';
import type { SplitCalls } from '../relevance/split-calls.js';
import { checkAnswer, errorOf, failureOf, Refused } from './node-answer.js';
import { rerankInParts } from './rerank-parts.js';

const EMPTY = Buffer.alloc(0);

/** Where the JSON of each route names its user; [] for nobody's, which any node answers. */
const USER_AT: Readonly<Record<string, readonly string[]>> = {
  '/v1/recall': ['userId'],
  '/v1/score': ['userId'],
  '/v1/explain': ['request', 'userId'],
  '/v1/kv/inspect': ['userId'],
  '/v1/kv/append': ['userId'],
  '/v1/sid': [],
  '/v1/embeddings': [],
  '/embed': [],
  '/': [],
};

/** What any node tells of the models that it serves. */
const TOLD = ['/v1/models', '/info'];

/** Where it may name the node that made the answer in question. */
const NODE_AT: Readonly<Record<string, readonly string[]>> = {
  '/v1/explain': ['versions', 'node'],
};

/** Documents to score, of which each node gets a part. */
const IN_PARTS = ['/v1/rerank', '/v2/rerank', '/rerank'];

/** Changes: one node takes them, and brings them to all by the log. */
const CHANGES = ['/v1/catalogue/apply', '/v1/kv/drop-user'];

function textAt(body: unknown, path: readonly string[]): string | undefined {
  let value = body;
  for (const name of path) value = (value as Record<string, unknown> | null)?.[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** What routing needs of a body that names a user. */
async function factsOf(
  body: Buffer,
  path: string,
): Promise<Pick<Asked, 'partition' | 'node' | 'leftMs'>> {
  const userAt = USER_AT[path] ?? [];
  if (userAt.length === 0)
    return { partition: undefined, node: undefined, leftMs: Number.POSITIVE_INFINITY };
  const parsed = await parseJsonBody(body);
  const user = textAt(parsed, userAt);
  const { deadlineMs } = (parsed ?? {}) as { readonly deadlineMs?: unknown };
  // No time at all is a fault of the request, which the node names.
  const isTimed = typeof deadlineMs === 'number' && deadlineMs > 0;
  const leftMs = isTimed ? deadlineMs : Number.POSITIVE_INFINITY;
  const nodeAt = NODE_AT[path];
  const node = nodeAt && textAt(parsed, nodeAt);
  return { partition: user === undefined ? undefined : partitionOf(user), node, leftMs };
}

function passedHeaders(headers: IncomingHttpHeaders, connection: Connection): Fields {
  const passed = passedFields((name) => headers[name]);
  return Object.assign({ 'content-type': 'application/json' }, withToken(passed, connection));
}

export interface HttpForwarding {
  readonly asking: Asking;
  readonly calls: SplitCalls;
  readonly connection: Connection;
  readonly log: Pick<Log, 'error'>;
  /** Milliseconds that a node may take. */
  readonly timeoutMs: number;
}

async function forward(
  { asking, connection, timeoutMs }: HttpForwarding,
  path: string,
  request: FastifyRequest,
  reply: FastifyReply,
  fieldsOf: (fields: Fields) => Fields = (fields) => fields,
): Promise<HttpAnswer> {
  const { method } = request;
  const body = method === 'GET' ? EMPTY : (request.body as Buffer);
  const headers = fieldsOf(passedHeaders(request.headers, connection));
  let end: () => void = () => undefined;
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) end();
  });
  const asked = {
    ...(await factsOf(body, path)),
    kind: CostEstimates.kindOf(path, body.length),
    edge: 'http' as const,
    isOver: () => reply.raw.destroyed,
    failureOf,
  };
  return asking.ask(asked, async (link) => {
    const onBegun = (ended: () => void) => {
      end = ended;
    };
    return checkAnswer(
      await link.http({
        method,
        path,
        headers,
        body: method === 'GET' ? undefined : body,
        timeoutMs,
        onBegun,
      }),
    );
  });
}

/** Parts to the nodes that score; what cannot be split is for one of them. */
async function score(
  parts: HttpForwarding,
  path: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<HttpAnswer> {
  const { calls, connection, timeoutMs } = parts;
  const headers = passedHeaders(request.headers, connection);
  const answer = await rerankInParts(calls, {
    path,
    body: request.body as Buffer,
    headers,
    timeoutMs,
    isOver: () => reply.raw.destroyed,
    onCancelled: (act) => {
      reply.raw.once('close', () => {
        if (!reply.raw.writableFinished) act();
      });
    },
  });
  if (answer === undefined) return forward(parts, path, request, reply);
  return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(answer)) };
}

async function change(
  parts: HttpForwarding,
  path: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<HttpAnswer> {
  checkLog(parts.asking.cluster);
  return forward(parts, path, request, reply, keyed);
}

type Forward = (
  parts: HttpForwarding,
  path: string,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<HttpAnswer>;

/** How each route is answered. */
const FORWARDS: readonly (readonly [method: 'GET' | 'POST', path: string, forward: Forward])[] = [
  ...Object.keys(USER_AT).map((path) => ['POST', path, forward] as const),
  ...IN_PARTS.map((path) => ['POST', path, score] as const),
  ...CHANGES.map((path) => ['POST', path, change] as const),
  ...TOLD.map((path) => ['GET', path, forward] as const),
];

/** Routes of a node: bodies and answers pass byte for byte. */
export async function serveForwarded(
  instance: FastifyInstance,
  parts: HttpForwarding,
): Promise<void> {
  // Of these routes alone: the gateway's own take JSON.
  await instance.register(async (scope) => {
    scope.setErrorHandler((thrown, _request, reply) => answerError(thrown, reply, parts.log));
    scope.removeAllContentTypeParsers();
    const asIs = { parseAs: 'buffer' } as const;
    scope.addContentTypeParser('application/json', asIs, (_request, body, done) =>
      done(null, body),
    );
    for (const [method, url, act] of FORWARDS) {
      const handler = async (request: FastifyRequest, reply: FastifyReply) => {
        // Fastify reads nothing where there is no content type: a node refuses that in its words.
        request.body ??= EMPTY;
        const answer = await act(parts, url, request, reply).catch((thrown: unknown) => {
          if (thrown instanceof Refused) return thrown.answer;
          throw thrown instanceof NodeAway ? errorOf(thrown) : thrown;
        });
        const { 'content-type': type = 'application/json', 'retry-after': after } = answer.headers;
        reply.status(answer.status).header('content-type', type);
        if (after !== undefined) reply.header('retry-after', after);
        return reply.send(answer.body);
      };
      scope.route({ method, url, handler });
    }
  });
}
