import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { Server, type ServerCredentials } from '@grpc/grpc-js';
import type { CallGate } from './call-gate.js';
import type { Connections } from './connections.js';

/**
 * Pairs of metadata, each of which counts 32 bytes and its own: the bound of their bytes (64 KiB,
 * HTTP/2's SETTINGS_MAX_HEADER_LIST_SIZE) comes first.
 */
const PAIRS_MAX = 2048;

/**
 * Calls that a client of one connection may cancel at once, and a second over time: beyond that
 * Node ends the connection, and all calls over it. Its own 1,000 and 33 end those of callers whose
 * deadlines pass by the hundred, which is when the service has least time for new connections.
 */
const RESETS = { streamResetBurst: 10_000, streamResetRate: 2000 } as const;

/** Members of grpc-js's server that its types keep to themselves. */
interface Inside {
  readonly commonServerOptions: object;
  createHttp2Server(credentials: ServerCredentials): NodeJS.EventEmitter;
}

/** grpc-js's server, which sees those calls alone that the gate does not refuse. */
export function boundedServer(
  options: ConstructorParameters<typeof Server>[0],
  gate: CallGate,
  connections: Pick<Connections, 'begin'>,
): Server {
  const server = new Server(options);
  const inside = server as unknown as Inside;
  Object.assign(inside.commonServerOptions, { maxHeaderListPairs: PAIRS_MAX }, RESETS);
  const create = inside.createHttp2Server.bind(server);
  inside.createHttp2Server = (credentials) => {
    const http2 = create(credentials);
    http2.on('session', (session: ServerHttp2Session) => gate.add(session));
    const emit = http2.emit.bind(http2);
    http2.emit = (event: string | symbol, ...parts: unknown[]) => {
      if (event !== 'stream') return emit(event, ...parts);
      const [stream, headers] = parts as [ServerHttp2Stream, IncomingHttpHeaders];
      if (gate.refuses(stream, headers)) return true;
      connections.begin(stream);
      return emit(event, ...parts);
    };
    return http2;
  };
  return server;
}
