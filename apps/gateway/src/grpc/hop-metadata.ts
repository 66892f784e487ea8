import { Metadata } from '@grpc/grpc-js';
import type { Connection } from '@tessera/client';

/** Milliseconds of a deadline that the way back to the caller may take. */
export const HOP_MS = 2;

/** Messages pass as bytes. */
export const identity = (bytes: Buffer): Buffer => bytes;

/** Of the connection between caller and gateway alone (RFC 9113, 8.2.2; gRPC over HTTP/2). */
const OWN = [
  'user-agent',
  'te',
  'content-type',
  'accept-encoding',
  'grpc-accept-encoding',
  'grpc-encoding',
  'grpc-timeout',
];

/**
 * Metadata of a call that a node gets too: token and trace. A caller that showed a
 * certificate and no token was let in by the gateway, which shows its own token.
 */
export function hopMetadata(metadata: Metadata, { token }: Connection): Metadata {
  const own = new Metadata();
  own.merge(metadata);
  for (const name of OWN) own.remove(name);
  if (token !== '' && own.get('authorization').length === 0) {
    own.set('authorization', `Bearer ${token}`);
  }
  return own;
}
