import type { Call } from './call.js';

/** Reads the request of a call. @throws TesseraError REQUEST_INVALID with the field */
export type Read<Request> = () => Request;

/** The code of a unary method. It may be asked over gRPC and over HTTP/JSON alike. */
export type UnaryHandler<Request, Response> = (
  read: Read<Request>,
  call: Call,
) => Response | Promise<Response>;

/**
 * The code of a method of any form. A request or response that is a stream is an AsyncIterable in
 * place of a message; a response of many messages may be any Iterable.
 */
export type Handler = (input: never, call: Call) => unknown;

/** Handlers by path of the method, as on the wire. */
export type Handlers = ReadonlyMap<string, Handler>;
