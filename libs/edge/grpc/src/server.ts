import { createRequire } from 'node:module';
import { createServer, type Server as NetServer } from 'node:net';
import {
  type ConnectionInjector,
  type Server,
  ServerCredentials,
  type ServerInterceptor,
} from '@grpc/grpc-js';
import type { Options, PackageDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { type GrpcOptions, ServerGrpc } from '@nestjs/microservices';
import { WatchedTls } from '@tessera/config';
import { boundedServer } from './bounded-server.js';
import { type CallGate, STREAMS_MAX } from './call-gate.js';
import { Connections } from './connections.js';
import type { GrpcHealth } from './health.js';
import { withMalformedMarked } from './malformed.js';
import { addHandlers, type ServedMethods } from './served-methods.js';

const protoLoader = createRequire(import.meta.url)(
  '@grpc/proto-loader',
) as typeof import('@grpc/proto-loader');

/** How messages look in TypeScript: as the types of @tessera/contracts state. */
const MESSAGE_SHAPE: Options = {
  keepCase: false,
  longs: Number,
  enums: Number,
  defaults: true,
  oneofs: false,
};

type Schema = Parameters<typeof protoLoader.fromJSON>[0];

export interface GrpcServerSettings {
  readonly host: string;
  readonly port: number;
  readonly messageBytesMax: number;
  /** PEM files; '' for none. With an authority every client has to show a certificate of it. */
  readonly certificatePath: string;
  readonly keyPath: string;
  readonly clientCaPath: string;
  readonly packages: readonly string[];
  /** Schema with fields in camel case: what handlers see. */
  readonly schema: object;
  /** FileDescriptorProto of each proto file, base64: what reflection serves. */
  readonly descriptors: Readonly<Record<string, string>>;
  readonly health: GrpcHealth;
  /** Judges each call by its head. */
  readonly gate: CallGate;
  /** Sees each call that the gate lets in, before its messages are read. */
  readonly interceptor: ServerInterceptor;
  /** Connections at once; a further one is closed at once. */
  readonly connectionsMax: number;
  /** Milliseconds, more or less a tenth, after which a connection is ended behind its calls. */
  readonly connectionAgeMs: number;
  /** Files of TLS; undefined: no TLS. */
  readonly tls: WatchedTls | undefined;
  readonly methods: ServedMethods;
  /** Adds services whose messages are passed on as bytes; left out: there are none. */
  readonly addServices?: ((server: Server) => void) | undefined;
}

const KEEPALIVE = { keepaliveTimeMs: 60_000, keepaliveTimeoutMs: 20_000 } as const;
/** Milliseconds in which a client has to end its TLS handshake. */
const HANDSHAKE_MS_MAX = 10_000;
/** Mebibytes that HTTP/2 may hold for one connection: a slow reader gets no further calls. */
const SESSION_MEMORY_MIB = 32;

const TLS_FIELDS = {
  certificate: 'grpc.certificatePath',
  key: 'grpc.keyPath',
  ca: 'grpc.clientCaPath',
};

/** @throws TesseraError CONFIG_INVALID for files that are not those of TLS */
export function tlsOfGrpc(
  settings: Pick<GrpcServerSettings, 'certificatePath' | 'keyPath' | 'clientCaPath'>,
): WatchedTls | undefined {
  const { certificatePath, keyPath, clientCaPath: caPath } = settings;
  if (certificatePath === '') return undefined;
  return new WatchedTls(TLS_FIELDS, { certificatePath, keyPath, caPath });
}

/** Certificates of files that are read again when they change. */
class WatchedCredentials extends ServerCredentials {
  constructor(tls: WatchedTls) {
    const { cert, key, ca } = tls.current;
    const asksClients = ca !== undefined;
    super(
      {
        requestCert: asksClients,
        rejectUnauthorized: asksClients,
        handshakeTimeout: HANDSHAKE_MS_MAX,
      },
      { cert, key, ca },
    );
    tls.onChange((files) => {
      this.updateSecureContextOptions({ cert: files.cert, key: files.key, ca: files.ca });
    });
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}

/** Serves the compiled files as they are: of a package definition it reads their bytes alone. */
function reflection(descriptors: GrpcServerSettings['descriptors']): ReflectionService {
  const fileDescriptorProtos = Object.values(descriptors).map((text) =>
    Buffer.from(text, 'base64'),
  );
  return new ReflectionService({ files: { fileDescriptorProtos } } as never);
}

type Listening = Pick<GrpcServerSettings, 'host' | 'port' | 'connectionsMax' | 'tls' | 'gate'>;

/** Nest's gRPC server behind a listener of its own, which bounds the connections and ends them. */
export class BoundedGrpcServer extends ServerGrpc {
  private listener: NetServer | undefined;
  private injector: ConnectionInjector | undefined;

  constructor(
    private readonly grpcOptions: GrpcOptions['options'] & object,
    private readonly listening: Listening,
    private readonly connections: Connections,
  ) {
    super(grpcOptions);
  }

  /** Port that it listens on; the configured one before it listens. */
  get port(): number {
    const address = this.listener?.address();
    return typeof address === 'object' && address ? address.port : this.listening.port;
  }

  override async createClient(): Promise<Server> {
    const { channelOptions } = this.grpcOptions;
    const { tls, gate } = this.listening;
    const options = { ...(channelOptions as object), ...this.getKeepaliveOptions() };
    const server = boundedServer(options, gate, this.connections);
    const credentials =
      tls === undefined ? ServerCredentials.createInsecure() : new WatchedCredentials(tls);
    const injector = server.createConnectionInjector(credentials);
    this.injector = injector;
    this.listener = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => {
      this.connections.add(socket);
      injector.injectConnection(socket);
    });
    await this.listenOn(this.listener);
    return server;
  }

  override async close(): Promise<void> {
    this.listener?.close();
    if (this.injector !== undefined) await this.connections.end(this.injector);
    await super.close();
  }

  private listenOn(listener: NetServer): Promise<void> {
    const { host, port, connectionsMax } = this.listening;
    listener.maxConnections = connectionsMax;
    return new Promise((resolve, reject) => {
      listener.once('error', reject);
      listener.listen({ host, port }, () => {
        listener.off('error', reject);
        resolve();
      });
    });
  }
}

/** Nest's gRPC server, with health and reflection added to what the packages serve. */
export function grpcServer(settings: GrpcServerSettings): BoundedGrpcServer {
  const { connectionAgeMs, messageBytesMax, interceptor } = settings;
  const served: PackageDefinition = withMalformedMarked(
    protoLoader.fromJSON(settings.schema as Schema, MESSAGE_SHAPE),
  );
  const connections = new Connections();
  const server = new BoundedGrpcServer(
    {
      package: [...settings.packages],
      packageDefinition: served,
      gracefulShutdown: true,
      keepalive: KEEPALIVE,
      // Nest's types know channel options alone.
      channelOptions: {
        'grpc.max_receive_message_length': messageBytesMax,
        'grpc.max_concurrent_streams': STREAMS_MAX,
        'grpc.enable_channelz': 0,
        'grpc-node.max_session_memory': SESSION_MEMORY_MIB,
        ...(connectionAgeMs > 0 && { 'grpc.max_connection_age_ms': connectionAgeMs }),
        interceptors: [interceptor],
      } as object,
      onLoadPackageDefinition: (_packages: unknown, grpc: Server) => {
        settings.health.addTo(grpc);
        settings.addServices?.(grpc);
        reflection(settings.descriptors).addToServer(grpc);
      },
    },
    settings,
    connections,
  );
  addHandlers(server, served, settings.methods);
  return server;
}
