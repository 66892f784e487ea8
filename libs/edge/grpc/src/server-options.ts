import { createRequire } from 'node:module';
import type { Server, ServerInterceptor } from '@grpc/grpc-js';
import type { Options, PackageDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { WatchedTls } from '@tessera/config';
import { type DirectParts, directServing } from './direct/direct-serving.js';
import type { AdmissionFields, CallGateSettings } from './gate/call-gate.js';
import { GatedGrpcServer } from './gated-server.js';
import type { GrpcHealth } from './health.js';
import { withMalformedMarked } from './malformed.js';

const protoLoader = createRequire(import.meta.url)(
  '@grpc/proto-loader',
) as typeof import('@grpc/proto-loader');

/** How messages look in TypeScript: as the types of libs/ops/contracts state. */
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
  /** The first is called first; they see a call before its messages are read. */
  readonly interceptors: readonly ServerInterceptor[];
  /** Connections at once, and calls at once of one of them. */
  readonly connectionsMax: number;
  readonly streamsMax: number;
  /** Milliseconds, more or less a tenth, after which a connection is ended behind its calls. */
  readonly connectionAgeMs: number;
  /** Milliseconds that each message of a request may take to arrive. */
  readonly bodyMs: number;
  /** Of these files; undefined: no TLS. */
  readonly tls: WatchedTls | undefined;
  /** Undefined: every call is served. */
  readonly gate: GateSettings | undefined;
  /** Adds services that are not handled by Nest; left out: there are none. */
  readonly addServices?: ((server: Server) => void) | undefined;
  /** Methods that the gate answers itself; left out: none. */
  readonly direct?: DirectParts | undefined;
}

/** How the gate decides on calls before they are parsed. */
export type GateSettings = Omit<CallGateSettings, 'methods'>;

const KEEPALIVE = { keepaliveTimeMs: 60_000, keepaliveTimeoutMs: 20_000 } as const;

function hostAndPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

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

/** Methods whose requests have a priority and a deadline: those that admission decides on. */
function decidedMethods(served: PackageDefinition): Map<string, AdmissionFields> {
  const methods = new Map<string, AdmissionFields>();
  for (const entry of Object.values(served)) {
    if ('format' in entry) continue;
    for (const { path, requestType } of Object.values(entry)) {
      const { field = [] } = requestType.type as { field?: { name: string; number: number }[] };
      const number = (name: string) => field.find((one) => one.name === name)?.number;
      const [priority, deadlineMs] = [number('priority'), number('deadlineMs')];
      if (priority !== undefined && deadlineMs !== undefined) {
        methods.set(path, { priority, deadlineMs });
      }
    }
  }
  return methods;
}

/** Serves the compiled files as they are: of a package definition it reads their bytes alone. */
function reflection(descriptors: GrpcServerSettings['descriptors']): ReflectionService {
  const fileDescriptorProtos = Object.values(descriptors).map((text) =>
    Buffer.from(text, 'base64'),
  );
  return new ReflectionService({ files: { fileDescriptorProtos } } as never);
}

/** Nest's gRPC server, with health and reflection added to what the packages serve. */
export function grpcServer(settings: GrpcServerSettings): GatedGrpcServer {
  const served: PackageDefinition = protoLoader.fromJSON(settings.schema as Schema, MESSAGE_SHAPE);
  const { host, port, connectionsMax, streamsMax, gate, direct, messageBytesMax } = settings;
  const { connectionAgeMs } = settings;
  const marked = withMalformedMarked(served);
  return new GatedGrpcServer(
    {
      url: hostAndPort(host, port),
      package: [...settings.packages],
      packageDefinition: marked,
      maxReceiveMessageLength: settings.messageBytesMax,
      gracefulShutdown: true,
      keepalive: KEEPALIVE,
      // Nest's types know channel options alone.
      channelOptions: {
        'grpc.max_concurrent_streams': settings.streamsMax,
        ...(connectionAgeMs > 0 && { 'grpc.max_connection_age_ms': connectionAgeMs }),
        interceptors: [...settings.interceptors],
      } as object,
      onLoadPackageDefinition: (_packages: unknown, server: Server) => {
        settings.health.addTo(server);
        settings.addServices?.(server);
        reflection(settings.descriptors).addToServer(server);
      },
    },
    {
      host,
      port,
      connectionsMax,
      streamsMax,
      direct: direct && directServing(direct, marked, { messageBytesMax, streamsMax }),
      gate: gate && { ...gate, methods: decidedMethods(served) },
      tls: settings.tls,
    },
  );
}
