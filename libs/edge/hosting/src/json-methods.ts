import type { Handlers, UnaryHandler } from '@tessera/call';
import { invalid } from '@tessera/grpc';
import type { HttpJson } from '@tessera/httpjson';
import { METHODS, rpcOf } from '@tessera/methods';
import type { Log } from '@tessera/telemetry';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answerError } from './error-filter.js';
import type { HttpCalls } from './http-calls.js';

export interface JsonMethods {
  readonly handlers: Handlers;
  /** JSON of the messages. */
  readonly form: Pick<HttpJson, 'readRequest' | 'writeResponse'>;
  readonly calls: HttpCalls;
  readonly log: Pick<Log, 'error'>;
}

/** @throws TesseraError REQUEST_INVALID for a parameter of the URL: bodies alone are read */
export function refuseQuery({ query }: FastifyRequest): void {
  const [name] = Object.keys(Object(query));
  if (name === undefined) return;
  const field = name.slice(0, 80);
  throw invalid(field, 'a member of the body', 'a parameter of the URL');
}

/** Serves each method with a route as a POST of its request's JSON; 200 with the response's. */
export function serveJsonMethods(instance: FastifyInstance, parts: JsonMethods): void {
  const { handlers, form, calls, log } = parts;
  for (const { path, http } of METHODS) {
    const handler = handlers.get(path) as UnaryHandler<unknown, object> | undefined;
    if (http === undefined || handler === undefined) continue;
    const rpc = rpcOf(path);
    instance.post(http, {
      errorHandler: (thrown, _request, reply) => answerError(thrown, reply, log),
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        const read = () => {
          refuseQuery(request);
          return form.readRequest(rpc, request.body);
        };
        const answer = await calls.serve(reply, (call) => handler(read, call));
        return form.writeResponse(rpc, answer);
      },
    });
  }
}
