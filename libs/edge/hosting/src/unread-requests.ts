/** Refusals of requests that never reach a route: their answers are as typed as any other. */

import { type IncomingMessage, maxHeaderSize, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { errorBody, TesseraError, UNREAD_REQUESTS } from '@tessera/errors';
import type { ConnectionError, FastifyInstance } from 'fastify';

/** Bytes of extensions of chunks that Node reads in one body (`kMaxChunkExtensionsSize`). */
const CHUNK_EXTENSIONS_MAX = 16_384;

/** Milliseconds between the answer and the end of a connection that its client keeps. */
const LINGER_MS = 1000;

/** An error whose status HTTP has a word for that the one table has not. */
interface Refusal {
  readonly status: number;
  readonly error: TesseraError;
}

/** Milliseconds that the headers of a request may take to arrive, and the whole of it. */
export interface ArrivalLimits {
  readonly headersMs: number;
  readonly bodyMs: number;
}

/** The status is the one that Node answers by itself for the same code. */
function refusalOf({ code, message }: ConnectionError, within: ArrivalLimits): Refusal {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT': {
      const { headersMs, bodyMs } = within;
      const times = `headers within ${headersMs} ms and all of it within ${bodyMs} ms`;
      const slow = `request: expected ${times}, got a part`;
      const { http: status, code: ofSlow } = UNREAD_REQUESTS.slow;
      return { status, error: new TesseraError(ofSlow, slow) };
    }
    case 'HPE_HEADER_OVERFLOW': {
      const large = `headers: expected at most ${maxHeaderSize} bytes, got more`;
      const { http: status, code: ofHeaders } = UNREAD_REQUESTS.headers;
      return { status, error: new TesseraError(ofHeaders, large) };
    }
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW': {
      const large = `body: expected chunk extensions of at most ${CHUNK_EXTENSIONS_MAX} bytes`;
      const error = new TesseraError('BODY_TOO_LARGE', `${large}, got more`, { field: 'body' });
      return { status: error.row.http, error };
    }
    default: {
      const error = new TesseraError('REQUEST_INVALID', `expected HTTP/1.1: ${message}`);
      return { status: error.row.http, error };
    }
  }
}

/** Before any request: bytes that are no HTTP, too many or too late. */
export function refuseBytes(thrown: ConnectionError, socket: Socket, within: ArrivalLimits): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { status, error } = refusalOf(thrown, within);
  const body = JSON.stringify(errorBody(error));
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\n`;
  const type = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`;
  socket.end(`${head}${type}\r\n\r\n${body}`);
  // A client that does not close would keep its half of the connection for ever; one that is still
  // sending would lose the answer with a connection that is cut at once.
  const cut = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(cut));
}

/** Node by itself answers both with a status and no body. */
export function refuseUnmetHeaders(instance: FastifyInstance): void {
  instance.server.on('checkExpectation', refuseExpectation);
  instance.addHook('onRequest', ({ raw }, reply, done) => {
    if (raw.httpVersion !== '1.1' || raw.headers.host !== undefined) {
      done();
      return;
    }
    const message = 'host: expected the name that was asked for, got none';
    const error = new TesseraError('REQUEST_INVALID', message, { field: 'host' });
    void reply.status(error.row.http).send(errorBody(error));
  });
}

const EXPECTATION_SHOWN = 64;

function refuseExpectation({ headers }: IncomingMessage, response: ServerResponse): void {
  const got = headers.expect?.slice(0, EXPECTATION_SHOWN);
  const message = `expect: expected 100-continue or no such header, got ${got}`;
  const { http: status, code } = UNREAD_REQUESTS.expectation;
  const error = new TesseraError(code, message, { field: 'expect' });
  const body = JSON.stringify(errorBody(error));
  response.setHeader('content-type', 'application/json');
  response.setHeader('content-length', Buffer.byteLength(body));
  response.writeHead(status).end(body);
}
