import { Server as TlsServer } from 'node:tls';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { type TlsFiles, WatchedTls } from '@tessera/config';
import { LOAD_TRAILER } from '@tessera/contracts';
import { ERROR_TABLE, errorBody, TesseraError } from '@tessera/errors';
import type { Readiness } from '@tessera/lifecycle';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { fromServer } from './error-filter.js';
import { refuseBytes, refuseUnmetHeaders } from './unread-requests.js';

export interface HttpSettings {
  /** Proxies that are believed when they say who asks, separated by commas; '': none. */
  readonly trustedProxies: string;
  readonly connectionsMax: number;
  /** Milliseconds that a whole request may take to arrive. */
  readonly bodyMs: number;
  /** Milliseconds that a connection lives, more or less a tenth, 0: for ever; and may idle. */
  readonly connectionAgeMs: number;
  readonly keepAliveMs: number;
  /** PEM files; '' for none. With an authority every client has to show a certificate of it. */
  readonly certificatePath: string;
  readonly keyPath: string;
  readonly clientCaPath: string;
}

/** Bytes of a body in JSON for each of the same message in Protobuf. */
const JSON_BYTES_PER_BYTE = 4;

const TLS_FIELDS = {
  certificate: 'http.certificatePath',
  key: 'http.keyPath',
  ca: 'http.clientCaPath',
};

/** @throws TesseraError CONFIG_INVALID for files that are not those of TLS */
export function tlsOfHttp(settings: HttpSettings): WatchedTls | undefined {
  const { certificatePath, keyPath, clientCaPath: caPath } = settings;
  if (certificatePath === '') return undefined;
  return new WatchedTls(TLS_FIELDS, { certificatePath, keyPath, caPath });
}

function serverOptions({ cert, key, ca }: TlsFiles) {
  const asksClients = ca !== undefined;
  return { cert, key, ca, requestCert: asksClients, rejectUnauthorized: asksClients };
}

/** Characters of a part of a path: an ID has 256, of up to four bytes, each as `%XX`. */
const PARAMETER_MAX = 256 * 4 * 3;
/** Milliseconds that the headers of a request may take to arrive: they are one packet or two. */
const HEADERS_MS_MAX = 10_000;

/** How often connections are looked at that take too long. */
const CONNECTIONS_CHECK_MS = 1000;

/**
 * Fastify as every process has it; its own refusals follow the one table.
 * @throws TesseraError CONFIG_INVALID for proxies that are no addresses
 */
export function fastifyAdapter(
  settings: HttpSettings,
  messageBytesMax: number,
  tls?: WatchedTls,
): FastifyAdapter {
  try {
    const adapter = adapterOf(settings, messageBytesMax, tls && serverOptions(tls.current));
    const instance = adapter.getInstance();
    readRestOfLargeBodies(instance);
    refuseUnmetHeaders(instance);
    tls?.onChange((files) => {
      if (instance.server instanceof TlsServer) instance.server.setSecureContext(contextOf(files));
    });
    return adapter;
  } catch (cause) {
    if (settings.trustedProxies === '') throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `http.trustedProxies: expected addresses or networks, got: ${reason}`;
    throw new TesseraError('CONFIG_INVALID', message, { field: 'http.trustedProxies', cause });
  }
}

const contextOf = ({ cert, key, ca }: TlsFiles) => ({ cert, key, ca });

function adapterOf(
  settings: HttpSettings,
  messageBytesMax: number,
  tls: ReturnType<typeof serverOptions> | undefined,
): FastifyAdapter {
  const { trustedProxies, bodyMs, keepAliveMs } = settings;
  const headersMs = Math.min(HEADERS_MS_MAX, bodyMs);
  const ofNode = {
    headersTimeout: headersMs,
    connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
    requireHostHeader: false,
  };
  return new FastifyAdapter({
    ...(tls === undefined ? { http: ofNode } : { https: { ...tls, ...ofNode } }),
    bodyLimit: messageBytesMax * JSON_BYTES_PER_BYTE,
    routerOptions: { maxParamLength: PARAMETER_MAX },
    requestTimeout: bodyMs,
    keepAliveTimeout: keepAliveMs,
    trustProxy: trustedProxies === '' ? false : trustedProxies,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // Before any route: a path that does not decode.
    frameworkErrors: (thrown: Error, _request: unknown, reply: FastifyReply) => {
      const error = fromServer(thrown);
      void reply.status(error.row.http).send(errorBody(error));
    },
    clientErrorHandler: (thrown, socket) => refuseBytes(thrown, socket, { headersMs, bodyMs }),
  });
}

const TOO_LARGE_STATUS = ERROR_TABLE.BODY_TOO_LARGE.http;

/**
 * Fastify closes the connection of a body that is too large. The rest of the body then resets
 * the connection, and callers that still write see that in place of the refusal. Without the header
 * Node reads the rest and throws it away, within `edge.bodyMs` of the request's beginning.
 */
function readRestOfLargeBodies(instance: FastifyInstance): void {
  instance.addHook('onSend', (_request, reply, payload, done) => {
    if (reply.statusCode === TOO_LARGE_STATUS) reply.removeHeader('connection');
    done(null, payload);
  });
}

/** A further connection is closed at once. */
export function boundConnections(instance: FastifyInstance, connectionsMax: number): void {
  instance.server.maxConnections = connectionsMax;
}

/** Routers learn from every answer how loaded the process is. */
export function sayLoad(instance: FastifyInstance, loadClass: () => number): void {
  instance.addHook('onSend', (_request, reply, payload, done) => {
    reply.header(LOAD_TRAILER, String(loadClass()));
    done(null, payload);
  });
}

/** A kept connection would hold the server open after its last answer. */
export function closeConnectionsWhileDraining(instance: FastifyInstance, readiness: Readiness) {
  instance.addHook('onSend', (_request, reply, payload, done) => {
    if (readiness.state === 'draining') reply.header('connection', 'close');
    done(null, payload);
  });
}

/** Share of a connection's age by which it varies, so that connections do not all end at once. */
const AGE_JITTER = 0.1;

/** The answer behind which a connection has become too old is its last. */
export function closeOldConnections(instance: FastifyInstance, connectionAgeMs: number): void {
  const ends = new WeakMap<object, number>();
  instance.server.on(
    instance.server instanceof TlsServer ? 'secureConnection' : 'connection',
    (socket: object) => {
      const jitter = 1 + AGE_JITTER * (2 * Math.random() - 1);
      ends.set(socket, performance.now() + connectionAgeMs * jitter);
    },
  );
  instance.addHook('onSend', (request, reply, payload, done) => {
    const end = ends.get(request.raw.socket) ?? Number.POSITIVE_INFINITY;
    if (performance.now() >= end) reply.header('connection', 'close');
    done(null, payload);
  });
}
