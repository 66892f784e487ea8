import { errorOf } from '@tessera/client';
import { TesseraError } from '@tessera/errors';
import { isServiceError } from '../grpc/one-node.js';
import { NodeAway } from '../node-link.js';

/** The refusal of a call by a node or by the gateway. */
export function tesseraErrorOf(thrown: unknown): TesseraError {
  if (isServiceError(thrown)) return errorOf(thrown);
  if (thrown instanceof NodeAway) return new TesseraError('NODE_UNAVAILABLE', thrown.message);
  return TesseraError.from(thrown);
}
