import { status } from '@grpc/grpc-js';
import { type ErrorCode, TesseraError, trailedError } from '@tessera/errors';
import { NodeAway } from '../node-link.js';
import { NodeRefusal } from '../node-refusal.js';

/** Of calls that a node has said nothing about. */
const CODES: ReadonlyMap<number, ErrorCode> = new Map([
  [status.DEADLINE_EXCEEDED, 'DEADLINE_EXCEEDED'],
  [status.CANCELLED, 'CANCELLED'],
]);

/** The error of the one table for a call that a node, or the way to it, ended. */
export function errorOf(thrown: unknown): TesseraError {
  if (thrown instanceof NodeAway) return new TesseraError('NODE_UNAVAILABLE', thrown.message);
  if (!(thrown instanceof NodeRefusal)) return TesseraError.from(thrown);
  const { code, details, metadata } = thrown;
  return trailedError({
    message: details,
    trailer: (name) => metadata.get(name)[0]?.toString(),
    fallback: CODES.get(code) ?? 'NODE_UNAVAILABLE',
  });
}
