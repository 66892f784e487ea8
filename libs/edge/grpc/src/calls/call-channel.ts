import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { TlsFiles } from '@tessera/config';
import { GRPC_STATUS } from '@tessera/errors';
import { CallDeadlines } from '../direct/call-deadlines.js';
import { type CallEnd, methodHeaders, timeoutText } from './call-frames.js';
import { CallSession } from './call-session.js';

/** A node that does not speak on a connection in this time does not answer. */
const CONNECT_MS_MAX = 2000;

export interface ChannelSettings {
  /** HOST:PORT. */
  readonly address: string;
  /** Undefined: without TLS. */
  readonly tls: TlsFiles | undefined;
}

/** One message for one message of a method, `/package.Service/Method`. */
export interface UnaryAsk {
  readonly path: string;
  readonly message: Uint8Array;
  /** Fields of the call beside its timeout: the caller's token and trace. */
  readonly fields: Readonly<Record<string, string>>;
  /** Milliseconds; Infinity: as long as it takes. */
  readonly timeoutMs: number;
}

type Done = (end: CallEnd, message: Buffer | undefined) => void;

const deadlines = new CallDeadlines();
const LATE: CallEnd = {
  status: GRPC_STATUS.DEADLINE_EXCEEDED,
  details: 'Deadline exceeded',
  trailers: {},
};

/**
 * Unary calls of gRPC to one address over one connection, which is made by the first call and made
 * anew where it has gone. Answers a call in a fraction of what grpc-js takes, and knows neither
 * streams nor compression. What is written in a turn of the event loop goes out at once.
 */
export class CallChannel {
  private readonly methods = new Map<string, Buffer>();
  private readonly sockets = new Set<Socket>();
  private session: CallSession | undefined;

  constructor(private readonly settings: ChannelSettings) {}

  /** `done` is called once, never before this returns. @returns what cancels the call */
  unary(ask: UnaryAsk, done: Done): () => void {
    const { path, message, timeoutMs } = ask;
    this.session ??= this.connected();
    const isTimed = timeoutMs !== Number.POSITIVE_INFINITY;
    const fields = isTimed
      ? Object.assign({ 'grpc-timeout': timeoutText(timeoutMs) }, ask.fields)
      : ask.fields;
    const method = this.methodOf(path);
    if (!isTimed) return this.session.begin({ message, method, fields, done });
    let forget: () => void = () => undefined;
    const cancel = this.session.begin({
      message,
      method,
      fields,
      done: (end, answer) => {
        forget();
        done(end, answer);
      },
    });
    forget = deadlines.add(performance.now() + timeoutMs, () => {
      cancel();
      done(LATE, undefined);
    });
    return () => {
      forget();
      cancel();
    };
  }

  /**
   * Makes a connection where there is none. Resolves when the peer has answered a ping; rejects
   * where it does not in time.
   */
  ping(timeoutMs: number): Promise<void> {
    this.session ??= this.connected();
    const { session } = this;
    return new Promise((resolve, reject) => {
      const forget = deadlines.add(performance.now() + timeoutMs, () => {
        reject(new Error(`${this.settings.address}: no answer to a ping`));
      });
      const done = () => {
        forget();
        resolve();
      };
      const failed = (reason: string) => {
        forget();
        reject(new Error(reason));
      };
      session.ping({ done, failed });
    });
  }

  /** Ends all calls with UNAVAILABLE; the next one makes a new connection. */
  close(): void {
    this.session = undefined;
    for (const socket of this.sockets) socket.destroy();
  }

  private connected(): CallSession {
    const socket = this.socket();
    this.sockets.add(socket);
    const { send, flush } = gathering(socket);
    const session = new CallSession({
      send,
      onLeaving: () => {
        if (this.session === session) this.session = undefined;
      },
      onIdle: () => {
        flush();
        socket.end();
      },
    });
    let reason = 'the connection was closed';
    socket.once('data', () => socket.setTimeout(0));
    socket.on('data', (chunk: Buffer) => session.take(chunk));
    socket.on('error', ({ message }) => {
      reason = message;
    });
    socket.setTimeout(CONNECT_MS_MAX, () => socket.destroy(new Error('no connection in time')));
    socket.on('close', () => {
      this.sockets.delete(socket);
      if (this.session === session) this.session = undefined;
      session.close(`${this.settings.address}: ${reason}`);
    });
    return session;
  }

  private socket(): Socket {
    const { address, tls } = this.settings;
    const { hostname, port } = new URL(`http://${address}`);
    const host = hostname.replace(/^\[|\]$/g, '');
    const place = { host, port: Number(port === '' ? 80 : port) };
    if (tls === undefined) return connect({ ...place, noDelay: true });
    const socket = connectTls({
      ...place,
      cert: tls.cert,
      key: tls.key,
      ca: tls.ca,
      ALPNProtocols: ['h2'],
      servername: nameOf(host),
    });
    return socket.setNoDelay(true);
  }

  private methodOf(path: string): Buffer {
    const known = this.methods.get(path);
    if (known !== undefined) return known;
    const { address, tls } = this.settings;
    const headers = methodHeaders(path, address, tls === undefined ? 'http' : 'https');
    this.methods.set(path, headers);
    return headers;
  }
}

/** Names of servers are none of addresses (RFC 6066, 3). */
function nameOf(host: string): string {
  return /^[\d.]+$|:/.test(host) ? '' : host;
}

/** Writes of one turn in one piece. */
function gathering(socket: Socket) {
  let out: Buffer[] = [];
  const flush = () => {
    if (out.length === 0) return;
    const bytes = out.length === 1 ? (out[0] as Buffer) : Buffer.concat(out);
    out = [];
    if (socket.writable) socket.write(bytes);
  };
  const send = (bytes: Buffer) => {
    out.push(bytes);
    if (out.length === 1) process.nextTick(flush);
  };
  return { send, flush };
}
