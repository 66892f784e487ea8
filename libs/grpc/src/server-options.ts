import { createRequire } from 'node:module';
import { type Server, ServerCredentials, type ServerInterceptor } from '@grpc/grpc-js';
import type { Options, PackageDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { type GrpcOptions, Transport } from '@nestjs/microservices';
import { readTls } from '@tessera/config';
import type { GrpcHealth } from './health.js';
import { withMalformedMarked } from './malformed.js';

const protoLoader = createRequire(import.meta.url)(
  '@grpc/proto-loader',
) as typeof import('@grpc/proto-loader');

/** How messages look in TypeScript: as the types of libs/contracts state. */
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
  /** Schema as the proto files are written: what reflection tells. */
  readonly schemaAsWritten: object;
  readonly health: GrpcHealth;
  /** The first is called first; they see a call before its messages are read. */
  readonly interceptors: readonly ServerInterceptor[];
}

const KEEPALIVE = { keepaliveTimeMs: 60_000, keepaliveTimeoutMs: 20_000 } as const;

function hostAndPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

const TLS_FIELDS = {
  certificate: 'grpc.certificatePath',
  key: 'grpc.keyPath',
  ca: 'grpc.clientCaPath',
};

function tlsOf({ certificatePath, keyPath, clientCaPath }: GrpcServerSettings) {
  if (certificatePath === '') return {};
  const files = readTls(TLS_FIELDS, { certificatePath, keyPath, caPath: clientCaPath });
  const { cert: cert_chain, key: private_key, ca = null } = files;
  if (cert_chain === undefined || private_key === undefined) return {};
  const pairs = [{ cert_chain, private_key }];
  return { credentials: ServerCredentials.createSsl(ca, pairs, ca !== null) };
}

/** Options of Nest's gRPC server, with health and reflection added to what the packages serve. */
export function grpcServerOptions(settings: GrpcServerSettings): GrpcOptions {
  const served: PackageDefinition = protoLoader.fromJSON(settings.schema as Schema, MESSAGE_SHAPE);
  const written = protoLoader.fromJSON(settings.schemaAsWritten as Schema, { keepCase: true });
  return {
    transport: Transport.GRPC,
    options: {
      url: hostAndPort(settings.host, settings.port),
      package: [...settings.packages],
      packageDefinition: withMalformedMarked(served),
      maxReceiveMessageLength: settings.messageBytesMax,
      ...tlsOf(settings),
      gracefulShutdown: true,
      keepalive: KEEPALIVE,
      // Nest hands these to the server as they are, and its types know channel options alone.
      channelOptions: { interceptors: [...settings.interceptors] } as object,
      onLoadPackageDefinition: (_packages: unknown, server: Server) => {
        settings.health.addTo(server);
        new ReflectionService(written).addToServer(server);
      },
    },
  };
}
