/** Keys of what listens, HTTP and gRPC, and of how it stops. */

import { MEBIBYTE } from '@tessera/units';
import { z } from 'zod';
import { integer, nonEmptyText, text } from './schema-fields.js';

const PORT_MAX = 65_535;
const MESSAGE_BYTES_MAX = 256 * MEBIBYTE;
const CONNECTIONS_MAX = 1_000_000;
const STREAMS_MAX = 1_000_000;
const MILLISECONDS_MAX = 3_600_000;
const AGE_MS_MAX = 24 * MILLISECONDS_MAX;

const connectionAge = (edge: string) =>
  integer(
    0,
    AGE_MS_MAX,
    0,
    `milliseconds after which a connection of ${edge} is ended behind its calls, more or less a ` +
      'tenth, so that clients choose anew; 0: never',
  );

const connections = (edge: string) =>
  integer(
    1,
    CONNECTIONS_MAX,
    4096,
    `connections of ${edge} at once at most; further ones are closed`,
  );

export const httpSchema = z.strictObject({
  host: nonEmptyText('127.0.0.1', 'address that HTTP listens on'),
  port: integer(0, PORT_MAX, 8080, 'port of HTTP; 0 lets the system choose'),
  bodyBytesMax: integer(1024, MESSAGE_BYTES_MAX, 4 * MEBIBYTE, 'bytes of a request body at most'),
  trustedProxies: text(
    '',
    'addresses or networks of proxies that are believed when they say who asks, separated by ' +
      'commas',
  ),
  certificatePath: text('', 'PEM file of the certificate that HTTP shows; empty: no TLS'),
  keyPath: text('', 'PEM file of its private key'),
  clientCaPath: text('', 'PEM file of the authority of client certificates; empty: none asked'),
  publicNames: text(
    '',
    'names that callers reach the service by, separated by commas, beside its addresses; ' +
      'empty: any name where callers need a token',
  ),
  connectionsMax: connections('HTTP'),
  headersMs: integer(
    1,
    MILLISECONDS_MAX,
    10_000,
    'milliseconds that the headers of a request may take to arrive',
  ),
  bodyMs: integer(
    1,
    MILLISECONDS_MAX,
    30_000,
    'milliseconds that a whole request may take to arrive',
  ),
  connectionAgeMs: connectionAge('HTTP'),
  keepAliveMs: integer(
    1,
    AGE_MS_MAX,
    72_000,
    'milliseconds that an idle connection of HTTP is kept; longer than the balancer before it ' +
      'keeps one',
  ),
});

export const grpcSchema = z.strictObject({
  host: nonEmptyText('127.0.0.1', 'address that gRPC listens on'),
  port: integer(0, PORT_MAX, 50_051, 'port of gRPC; 0 lets the system choose'),
  messageBytesMax: integer(1024, MESSAGE_BYTES_MAX, MEBIBYTE, 'bytes of a request at most'),
  certificatePath: text('', 'PEM file of the certificate that gRPC shows; empty: no TLS'),
  keyPath: text('', 'PEM file of its private key'),
  clientCaPath: text('', 'PEM file of the authority of client certificates; empty: none asked'),
  connectionsMax: connections('gRPC'),
  streamsMax: integer(
    1,
    STREAMS_MAX,
    1000,
    'calls of one gRPC connection at once at most; its client holds further ones back',
  ),
  connectionAgeMs: connectionAge('gRPC'),
  bodyMs: integer(
    1,
    MILLISECONDS_MAX,
    30_000,
    'milliseconds that each message of a request over gRPC may take to arrive',
  ),
});

export const shutdownSchema = z.strictObject({
  delayMs: integer(
    0,
    MILLISECONDS_MAX,
    0,
    'milliseconds that calls are still taken once the process says that it is not ready: as ' +
      'long as balancers take to learn it',
  ),
  drainMs: integer(0, MILLISECONDS_MAX, 10_000, 'milliseconds that accepted recalls may take'),
});
