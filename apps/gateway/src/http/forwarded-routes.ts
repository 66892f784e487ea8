import type { IncomingHttpHeaders } from 'node:http';
import type { Connection } from '@tessera/client';
import { answerError, parseJsonBody } from '@tessera/hosting';
import { METHODS, type Method, methodAt } from '@tessera/methods';
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

/** Routes that any node answers about its models; they are no methods. */
const TOLD = ['/v1/models', '/info'];

/** The text at a path of names, `.` between them. */
function textAt(body: unknown, path: string): string | undefined {
  let value = body;
  for (const name of path.split('.')) value = (value as Record<string, unknown> | null)?.[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Facts that routing needs of a body that names a user. */
async function factsOf(
  body: Buffer,
  path: string,
): Promise<Pick<Asked, 'partition' | 'role' | 'node' | 'leftMs'>> {
  const method = methodAt(path);
  const role = method?.role ?? 'answer';
  // The JSON of other APIs names no user.
  if (method?.routing.to !== 'user' || method.http !== path) {
    return { partition: undefined, role, node: undefined, leftMs: Number.POSITIVE_INFINITY };
  }
  const { userAt, nodeAt } = method.routing;
  const parsed = await parseJsonBody(body);
  const user = textAt(parsed, userAt);
  const { deadlineMs } = (parsed ?? {}) as { readonly deadlineMs?: unknown };
  // No time at all is a fault of the request, which the node names.
  const isTimed = typeof deadlineMs === 'number' && deadlineMs > 0;
  const leftMs = isTimed ? deadlineMs : Number.POSITIVE_INFINITY;
  const node = nodeAt === undefined ? undefined : textAt(parsed, nodeAt);
  const partition = user === undefined ? undefined : partitionOf(user);
  return { partition, role, node, leftMs };
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

/** Bodies of other APIs are cut where their documents can be; the JSON of a method goes whole. */
function routesOf({ http, alike = [], routing }: Method) {
  if (routing.to === 'node') return [];
  const own = routing.to === 'change' ? change : forward;
  const others = routing.to === 'split' ? score : own;
  const routes = alike.map((path) => ['POST', path, others] as const);
  return http === undefined ? routes : [...routes, ['POST', http, own] as const];
}

/** How each route is answered. */
const FORWARDS: readonly (readonly [method: 'GET' | 'POST', path: string, forward: Forward])[] = [
  ...METHODS.flatMap(routesOf),
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
