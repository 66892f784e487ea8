import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { errorBody, expecting, jsonFault, TesseraError } from '@tessera/errors';
import { ProgramThread } from '@tessera/threads';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** A body of so many bytes takes about a millisecond; a longer one is parsed on a thread. */
const ASIDE_BYTES_MIN = 32_768;

/**
 * The first step of every body, whoever reads it: a member that is null is not there, as proto3 and
 * most serialisers mean it. An entry of a list that is null stays one. Refers to nothing outside:
 * a thread has it by its text.
 */
function read(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes);
  if (!text.includes('null')) return JSON.parse(text);
  return JSON.parse(text, function (this: unknown, _, value: unknown) {
    return value === null && !Array.isArray(this) ? undefined : value;
  });
}

const PROGRAM = `() => ${read}`;

let thread: ProgramThread<Uint8Array, unknown> | undefined;

/** Made with the first long body, and anew where it ended. */
function aside(): ProgramThread<Uint8Array, unknown> {
  if (thread === undefined || thread.isOver) thread = new ProgramThread('json', PROGRAM);
  return thread;
}

/**
 * Bytes -> JSON value without null members. Bytes that are not UTF-8 are refused, never replaced.
 * Rejects with REQUEST_INVALID. Others have a turn of the event loop between the reading of a long
 * body and what is made of it.
 */
export async function parseJsonBody(bytes: Buffer): Promise<unknown> {
  if (bytes.length === 0) throw refused('a JSON object, got nothing');
  const fault = jsonFault(bytes, true);
  if (fault !== undefined) throw invalid(fault.key || 'body', fault.expected, fault.got);
  if (!isUtf8(bytes)) throw refused('UTF-8, got bytes that are not');
  try {
    if (bytes.length < ASIDE_BYTES_MIN) return read(bytes);
    const value = await aside().ask(bytes);
    await turnOfTheLoop();
    return value;
  } catch (cause) {
    if (cause instanceof TesseraError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw refused(`JSON, got: ${reason}`, cause);
  }
}

const invalid = expecting('REQUEST_INVALID');

function refused(expected: string, cause?: unknown): TesseraError {
  return new TesseraError('REQUEST_INVALID', `body: expected ${expected}`, {
    field: 'body',
    cause,
  });
}

const NO_ENCODING = 'identity';
const UTF_8 = 'utf8';

const CHARSET = /;\s*charset="?([^\s;"]*)/i;

function encodedOtherwise(headers: IncomingHttpHeaders): TesseraError | undefined {
  const unsupported = expecting('MEDIA_TYPE_UNSUPPORTED');
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? NO_ENCODING;
  if (encoding !== '' && encoding !== NO_ENCODING) {
    return unsupported('content-encoding', 'none', encoding.slice(0, 40));
  }
  const charset = CHARSET.exec(headers['content-type'] ?? '')?.[1] ?? UTF_8;
  if (charset.toLowerCase().replace('-', '') === UTF_8) return undefined;
  return unsupported('content-type', 'charset=utf-8 or none', `charset=${charset.slice(0, 40)}`);
}

/** The only content type that the edge takes, and as it is: a few bytes may stand for many. */
export function acceptOnlyJson(instance: FastifyInstance): void {
  instance.addHook('onRequest', ({ headers }, reply, done) => {
    const error = encodedOtherwise(headers);
    if (error === undefined) done();
    else void reply.status(error.row.http).send(errorBody(error));
  });
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (_request: FastifyRequest, body: Buffer) => parseJsonBody(body),
  );
}
