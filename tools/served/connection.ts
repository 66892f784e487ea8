import {
  askEdge,
  type Connection,
  channelCredentials,
  type EdgeCall,
  tokenHeaders,
} from '@tessera/client';
import { type Config, readSecret, readTls, tokenOfEnvironment } from '@tessera/config';
import { type FlagKind, type Flags, fail } from '../terminal/command.js';

/** An answer may be many recalls' work. */
const GET_MS = 3_600_000;

/** The same for every command that calls a service. */
export const CONNECTION_FLAGS = {
  tls: 'switch',
  ca: 'text',
  cert: 'text',
  key: 'text',
  'token-file': 'text',
} as const satisfies Readonly<Record<string, FlagKind>>;

export const CONNECTION_USAGE = `  --tls                over TLS
  --ca FILE            authority of the service's certificate (default: those of the system)
  --cert FILE          own certificate, where the service asks for one
  --key FILE           its private key
  --token-file FILE    file of the token (default: the variable TESSERA_TOKEN)`;

/**
 * How the service is called. Any file of TLS stands for --tls.
 * @throws TesseraError CONFIG_INVALID for files that are not what they should be
 */
function connectionOf(flags: Flags): Connection {
  const path = (name: string) => flags.text(name) ?? '';
  const [caPath, certificatePath, keyPath] = ['ca', 'cert', 'key'].map(path) as [
    string,
    string,
    string,
  ];
  const fields = { certificate: '--cert', key: '--key', ca: '--ca' };
  const tokenPath = path('token-file');
  return {
    isTls: flags.has('tls') || `${caPath}${certificatePath}` !== '',
    files: readTls(fields, { caPath, certificatePath, keyPath }),
    token: tokenPath === '' ? tokenOfEnvironment() : readSecret('--token-file', tokenPath),
  };
}

/** Of the command line, else the configured one, which says whether it speaks TLS. */
export function servedAt(
  flags: Flags,
  { grpc }: Pick<Config, 'grpc'>,
  flag = 'address',
): { readonly address: string; readonly connection: Connection } {
  const connection = connectionOf(flags);
  const given = flags.text(flag);
  if (given !== undefined) {
    if (/:\d+$/.test(given)) return { address: given, connection };
    return fail(flag, 'HOST:PORT', given);
  }
  const isTls = connection.isTls || grpc.certificatePath !== '';
  return { address: `${grpc.host}:${grpc.port}`, connection: { ...connection, isTls } };
}

/** Options of a gRPC client of the command's own. */
export function grpcOptions(connection: Connection) {
  return { credentials: channelCredentials(connection), headers: tokenHeaders(connection) };
}

/**
 * JSON that the service answers a GET with, with 2xx or the status `alsoAt`. Rejects with what it
 * refuses with, and with NODE_UNAVAILABLE where none answers.
 */
export function askJson<Answer>(
  url: string,
  connection: Connection,
  alsoAt?: number,
): Promise<Answer> {
  const { protocol, host: address, pathname, search } = new URL(url);
  const path = `${pathname}${search}`;
  const call: EdgeCall = { method: 'GET', address, path, alsoAt, timeoutMs: GET_MS };
  return askEdge(call, { ...connection, isTls: protocol === 'https:' });
}
