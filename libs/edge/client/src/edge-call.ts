import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isErrorCode, TesseraError } from '@tessera/errors';
import { type Connection, tokenHeaders } from './connection.js';

/** Maximum bytes of an answer from the HTTP edge of another process. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

export interface EdgeCall {
  readonly method: 'GET' | 'POST';
  /** HOST:PORT of the HTTP edge. */
  readonly address: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; left out: nothing is sent. */
  readonly body?: unknown;
  /** Status of an answer besides 2xx: /health tells the state of a process with 503 too. */
  readonly alsoAt?: number | undefined;
  readonly timeoutMs: number;
}

/** Error of a refusal; NODE_UNAVAILABLE where it is none of ours. */
function refusalOf(status: number, text: string): TesseraError {
  try {
    const { code = '', message = '', field } = JSON.parse(text).error ?? {};
    if (isErrorCode(code)) return new TesseraError(code, message, { field });
  } catch {
    // No JSON: not of one of our processes.
  }
  return new TesseraError('NODE_UNAVAILABLE', `HTTP ${status}: ${text.slice(0, 200)}`);
}

function textOf(call: EdgeCall, connection: Connection): Promise<string> {
  const { method, address, path, timeoutMs, headers, body, alsoAt } = call;
  const { isTls, files } = connection;
  const { cert, key, ca } = files;
  const ask = isTls ? httpsRequest : httpRequest;
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const json = sent === undefined ? undefined : { 'content-type': 'application/json' };
  const options = {
    method,
    headers: Object.assign({}, headers, json, tokenHeaders(connection)),
    signal: AbortSignal.timeout(timeoutMs),
    ...(isTls && { cert, key, ca }),
  };
  return new Promise((resolve, reject) => {
    const asked = ask(`${isTls ? 'https' : 'http'}://${address}${path}`, options, (reply) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      reply.on('data', (part: Buffer) => {
        parts.push(part);
        bytes += part.length;
        if (bytes <= ANSWER_BYTES_MAX) return;
        reply.destroy(new Error(`expected an answer of at most ${ANSWER_BYTES_MAX} bytes`));
      });
      reply.on('error', reject);
      reply.on('end', () => {
        const text = Buffer.concat(parts).toString();
        const { statusCode: status = 0 } = reply;
        const isAnswer = (status >= 200 && status < 300) || status === alsoAt;
        if (isAnswer) resolve(text);
        else reject(refusalOf(status, text));
      });
    });
    asked.on('error', reject);
    asked.end(sent);
  });
}

/**
 * JSON of the HTTP edge of another process. Rejects with what it refused with, and with
 * NODE_UNAVAILABLE where there is no answer of one of our processes in time.
 */
export async function askEdge<Answer>(call: EdgeCall, connection: Connection): Promise<Answer> {
  try {
    return JSON.parse(await textOf(call, connection)) as Answer;
  } catch (cause) {
    if (cause instanceof TesseraError) throw cause;
    const message = `${call.address}: expected an answer, got: ${(cause as Error).message}`;
    throw new TesseraError('NODE_UNAVAILABLE', message, { cause });
  }
}
