import type { Metadata } from '@grpc/grpc-js';
import { LOOP_LAG } from '@tessera/call';
import type { Connection } from '@tessera/client';
import { metadataOf, passedFields, withToken } from '../passed-fields.js';

/** Milliseconds of a deadline that the way back to the caller may take. */
export const HOP_MS = 2;

/** Messages pass as bytes. */
export const identity = (bytes: Buffer): Buffer => bytes;

interface Incoming {
  readonly metadata: Metadata;
  getDeadline(): number | Date;
}

/** Until when the node has to answer, milliseconds since 1970; Infinity: there is no deadline. */
export function hopDeadlineMs(call: Incoming): number {
  const now = Date.now();
  return now + LOOP_LAG.within(Number(call.getDeadline()) - HOP_MS - now);
}

/** Metadata and deadline of a stream to a node: what a unary call passes on. */
export function hopOf(call: Incoming, connection: Connection) {
  const fields = passedFields((name) => call.metadata.get(name)[0]);
  const metadata = metadataOf(withToken(fields, connection));
  return [metadata, { deadline: hopDeadlineMs(call) }] as const;
}
