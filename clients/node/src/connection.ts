import { readFileSync } from 'node:fs';
import { connect, type TLSSocket } from 'node:tls';
import { type ChannelCredentials, type ChannelOptions, credentials } from '@grpc/grpc-js';
import { TesseraError } from './errors.js';

/** Files in PEM; left out: the authorities of the system, and no certificate of the client. */
export interface Tls {
  readonly ca?: string;
  readonly certificate?: string;
  readonly key?: string;
}

const MESSAGE_BYTES_MAX = 64 << 20;

export const CHANNEL_OPTIONS: ChannelOptions = {
  'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
  // A ping tells a connection that died from one that rests.
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  // A service that is back is found within a second.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
  // Repeats by the hints of the service are this package's own.
  'grpc.enable_retries': 0,
  'grpc.service_config': '{"loadBalancingConfig":[{"round_robin":{}}]}',
};

const read = (path: string | undefined): Buffer | null =>
  path === undefined ? null : readFileSync(path);

/** @throws TypeError where one of certificate and key is named, Error for an absent file */
export function credentialsOf(tls: Tls | undefined): ChannelCredentials {
  if (tls === undefined) return credentials.createInsecure();
  if ((tls.certificate === undefined) !== (tls.key === undefined)) {
    throw new TypeError('tls: expected both certificate and key, got one of them');
  }
  return credentials.createSsl(read(tls.ca), read(tls.key), read(tls.certificate));
}

/** Source of the token of each call. A file is read for each, so that it can be replaced. */
export function tokenSource(token: string | undefined, file: string | undefined): () => string {
  if (token !== undefined && file !== undefined) {
    throw new TypeError('token, tokenFile: expected one of them, got both');
  }
  if (file !== undefined) return () => readFileSync(file, 'utf8').trim();
  return () => token ?? '';
}

const HANDSHAKE_MS_MAX = 1000;
const DEFAULT_PORT = 443;
/** Errors of sockets, which a service that is away has as well. */
const OF_SOCKET = /^(ECONN|EHOST|ENET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_)/;

/** Host and port of a target such as `dns:///ads:50051`. */
function oneOf(address: string): { readonly host: string; readonly port: number } {
  const name = address.slice(address.lastIndexOf('/') + 1);
  const [, host = name, port = DEFAULT_PORT] = /^(.*):(\d+)$/.exec(name) ?? [];
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** Resolves with why a handshake fails; '' where it does not, or nobody is there. */
async function handshakeFault(address: string, tls: Tls, timeoutMs: number): Promise<string> {
  const { host, port } = oneOf(address);
  const [ca, cert, key] = [tls.ca, tls.certificate, tls.key].map(read);
  const files = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  return new Promise((resolve) => {
    const options = { host, port, servername: host, ALPNProtocols: ['h2'], ...files };
    const socket: TLSSocket = connect(options);
    const end = (fault: string) => {
      socket.destroy();
      resolve(fault);
    };
    socket.setTimeout(Math.min(timeoutMs, HANDSHAKE_MS_MAX), () => end(''));
    socket.once('error', (thrown: NodeJS.ErrnoException) => {
      const { code = '', message } = thrown;
      end(OF_SOCKET.test(code) ? '' : code || message);
    });
    // A service that lets a client in speaks first. Since TLS 1.3 a refusal of the client's
    // certificate comes in that place, from gRPC's own servers as the end of the connection.
    socket.once('data', () => end(''));
    const wanted = "its end, as of a service that wants a client's certificate";
    socket.once('end', () => end(tls.certificate === undefined ? wanted : ''));
  });
}

/** The error, or that of a handshake that can never succeed, which is not retryable. */
export async function examined(
  error: TesseraError,
  address: string,
  tls: Tls | undefined,
  leftMs: number,
): Promise<TesseraError> {
  if (tls === undefined || error.code !== 'ENGINE_UNAVAILABLE' || leftMs <= 0) return error;
  // A file that is gone, a port that is none: gRPC's own error says more.
  const fault = await handshakeFault(address, tls, leftMs).catch(() => '');
  if (fault === '') return error;
  const details = `tls: expected a handshake with ${address}, got ${fault}`;
  return new TesseraError('UNAUTHENTICATED', details, { cause: error });
}
