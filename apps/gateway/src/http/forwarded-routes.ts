import type { IncomingHttpHeaders } from 'node:http';
import type { Connection } from '@tessera/client';
import { TesseraError } from '@tessera/errors';
import { parseJsonBody } from '@tessera/hosting';
import { CostEstimates, partitionOf } from '@tessera/routing';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Asking, type Failure, failureOfCode } from '../asking.js';
import { type HttpAnswer, NodeAway } from '../node-link.js';

/** Where the JSON of each route names its user. */
const USER_AT: Readonly<Record<string, readonly string[]>> = {
  '/v1/recall': ['userId'],
  '/v1/score': ['userId'],
  '/v1/explain': ['request', 'userId'],
  '/v1/kv/inspect': ['userId'],
  '/v1/kv/append': ['userId'],
};

/** Headers of a caller that the node sees too. */
const PASSED = ['authorization', 'traceparent', 'tracestate'];
const FIRST_FAILED_STATUS = 400;

/** A node's refusal, which another node may not make. */
class Refused extends Error {
  constructor(
    readonly answer: HttpAnswer,
    readonly failure: Failure,
  ) {
    super(`HTTP ${answer.status}`);
  }
}

function partitionAt(body: Buffer, path: readonly string[]): number | undefined {
  let value = parseJsonBody(body);
  for (const name of path) value = (value as Record<string, unknown> | null)?.[name];
  return typeof value === 'string' && value !== '' ? partitionOf(value) : undefined;
}

function passedHeaders(headers: IncomingHttpHeaders, { token }: Connection) {
  const passed: Record<string, string> = { 'content-type': 'application/json' };
  for (const name of PASSED) {
    const value = headers[name];
    if (typeof value === 'string') passed[name] = value;
  }
  if (token !== '' && passed.authorization === undefined) passed.authorization = `Bearer ${token}`;
  return passed;
}

function failureOfAnswer({ body }: HttpAnswer): Failure {
  try {
    const { error } = JSON.parse(body.toString()) as { error?: { code?: string } };
    return failureOfCode(error?.code ?? '');
  } catch {
    return 'final';
  }
}

export interface HttpForwarding {
  readonly asking: Asking;
  readonly connection: Connection;
  /** Milliseconds that a node may take. */
  readonly timeoutMs: number;
}

async function forward(
  { asking, connection, timeoutMs }: HttpForwarding,
  path: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<HttpAnswer> {
  const body = request.body as Buffer;
  const partition = partitionAt(body, USER_AT[path] ?? []);
  const headers = passedHeaders(request.headers, connection);
  let end: () => void = () => undefined;
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) end();
  });
  const asked = {
    partition,
    kind: CostEstimates.kindOf(path, body.length),
    edge: 'http' as const,
    isOver: () => reply.raw.destroyed,
    failureOf: (thrown: unknown): Failure => (thrown instanceof Refused ? thrown.failure : 'away'),
  };
  return asking.ask(asked, async (link) => {
    const onBegun = (ended: () => void) => {
      end = ended;
    };
    const answer = await link.http({ method: 'POST', path, headers, body, timeoutMs, onBegun });
    if (answer.status < FIRST_FAILED_STATUS) return answer;
    throw new Refused(answer, failureOfAnswer(answer));
  });
}

/** The routes of a node that name a user: bodies pass on as they came, and answers as they come. */
export async function serveForwarded(
  instance: FastifyInstance,
  parts: HttpForwarding,
): Promise<void> {
  // Of these routes alone: the gateway's own take JSON.
  await instance.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    const asIs = { parseAs: 'buffer' } as const;
    scope.addContentTypeParser('application/json', asIs, (_request, body, done) =>
      done(null, body),
    );
    for (const path of Object.keys(USER_AT)) {
      scope.post(path, async (request, reply) => {
        const answer = await forward(parts, path, request, reply).catch((thrown: unknown) => {
          if (thrown instanceof Refused) return thrown.answer;
          throw thrown instanceof NodeAway
            ? new TesseraError('NODE_UNAVAILABLE', thrown.message)
            : thrown;
        });
        const { 'content-type': type = 'application/json', 'retry-after': after } = answer.headers;
        reply.status(answer.status).header('content-type', type);
        if (after !== undefined) reply.header('retry-after', after);
        return reply.send(answer.body);
      });
    }
  });
}
