import { JSON_DEPTH_MAX, JSON_MEMBERS_MAX, jsonFault, TesseraError } from '@tessera/errors';
import type { FastifyInstance } from 'fastify';

const EXPECTED = {
  depth: `nested at most ${JSON_DEPTH_MAX} deep`,
  members: `of at most ${JSON_MEMBERS_MAX} members`,
} as const;

/** Bytes -> JSON value. Bytes that are not UTF-8 are refused, never replaced. */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) {
    throw new TesseraError('REQUEST_INVALID', 'body: expected a JSON object, got nothing', {
      field: 'body',
    });
  }
  const fault = jsonFault(bytes);
  if (fault !== undefined) {
    const message = `body: expected JSON ${EXPECTED[fault]}, got more`;
    throw new TesseraError('REQUEST_INVALID', message, { field: 'body' });
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new TesseraError('REQUEST_INVALID', 'body: expected UTF-8, got bytes that are not', {
      field: 'body',
      cause,
    });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TesseraError('REQUEST_INVALID', `body: expected JSON, got: ${reason}`, {
      field: 'body',
      cause,
    });
  }
}

/** The only content type that the edge takes. */
export function acceptOnlyJson(instance: FastifyInstance): void {
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (_request, body, done) => {
      try {
        done(null, parseJsonBody(body as Buffer));
      } catch (error) {
        done(error as TesseraError);
      }
    },
  );
}
