import { setTimeout as sleep } from 'node:timers/promises';
import type { Server, StatusObject } from '@grpc/grpc-js';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { CustomTransportStrategy } from '@nestjs/microservices';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { GRPC_ACCESS } from '@tessera/access';
import { peerTls } from '@tessera/client';
import type { Config } from '@tessera/config';
import { protoDescriptors, protoSchema } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import {
  accessInterceptor,
  type DirectHandlers,
  type DirectParts,
  type GateSettings,
  GrpcHealth,
  type GrpcServerSettings,
  grpcServer,
  loggedStatus,
  tlsOfGrpc,
} from '@tessera/grpc';
import { Drain, type DrainStep, type Readiness, resolvePort } from '@tessera/lifecycle';
import { type Log, type Metrics, NestLog } from '@tessera/telemetry';
import { watchCertificates } from './certificates.js';
import {
  boundConnections,
  closeConnectionsWhileDraining,
  closeOldConnections,
  fastifyAdapter,
  type HttpSettings,
  sayLoad,
  tlsOfHttp,
} from './fastify-adapter.js';
import { guardRoutes, type HttpAccess } from './http-access.js';
import { acceptOnlyJson } from './json-body.js';
import type { ProcessAccess } from './process-access.js';

/** Steps of a drain that wait for nothing but a free core. */
export const STEP_BUDGET_MS = 5000;

type GrpcEdge = Pick<
  GrpcServerSettings,
  | 'messageBytesMax'
  | 'certificatePath'
  | 'keyPath'
  | 'clientCaPath'
  | 'connectionsMax'
  | 'streamsMax'
  | 'connectionAgeMs'
  | 'bodyMs'
>;

interface Address {
  readonly host: string;
  readonly port: number;
}

export interface HostParts {
  /** The whole wiring of the process. */
  readonly module: DynamicModule;
  readonly http: Address & HttpSettings;
  readonly grpc: Address & GrpcEdge;
  /** Milliseconds that a call over gRPC that is answered without further layers lasts at most. */
  readonly deadlineMsMax: number;
  /** How calls over gRPC are judged before they are parsed; left out: every call is served. */
  readonly gate?: GateSettings | undefined;
  /** Unary methods that are called so often that they are answered without further layers. */
  readonly directHandlers?: ((app: NestFastifyApplication) => DirectHandlers) | undefined;
  /** Load class of this process, said with every answer; left out: it says none. */
  readonly loadClass?: (() => number) | undefined;
  /** Service of each package that is served over gRPC. */
  readonly services: Readonly<Record<string, string>>;
  /** Services by their full names that another server answers; left out: there are none. */
  readonly forwarded?:
    | {
        readonly names: readonly string[];
        readonly addTo: (server: Server) => void;
        /** Of their unary methods those that are called most; messages are bytes. */
        readonly direct: DirectHandlers;
        /** Of what a handler rejects with. */
        readonly statusOf: (thrown: unknown) => StatusObject;
      }
    | undefined;
  /** The server of topics; absent where no broker is named. */
  readonly topicServer?: CustomTransportStrategy | undefined;
  readonly readiness: Readiness;
  readonly access: ProcessAccess;
  readonly metrics: Metrics;
  /** How this process calls others: their certificates are watched as its own are. */
  readonly peer: Config['peer'];
  /** Of a console; left out: none is served. */
  readonly checkVisitor?: HttpAccess['checkVisitor'];
  readonly log: Log;
  /** Before anything listens. */
  readonly prepare?: (app: NestFastifyApplication) => Promise<void>;
}

/** A process that listens and knows how to end. */
export interface Serving {
  readonly httpUrl: string;
  readonly grpcAddress: string;
  readonly drain: Drain;
}

/** Milliseconds, of the configuration. */
interface ShutdownTimes {
  readonly delayMs: number;
  readonly drainMs: number;
}

/** A process that listens. */
export interface Hosted {
  /**
   * The first steps of the end: the process says that it goes and serves on until who sends calls
   * has learnt it, batches of topics that were taken are finished, then nobody is let in any more.
   */
  readonly leaving: (times: ShutdownTimes) => readonly DrainStep[];
  /** Waits for the answers that are still to be written. */
  readonly edgesClosed: (budgetMs: number) => DrainStep;
  readonly serving: (steps: readonly DrainStep[]) => Serving;
}

/**
 * Listens over gRPC and HTTP, and serves topics. Rejects with CONFIG_INVALID where an address is
 * not to be had. Ready when it resolves, or once the topics are served.
 */
export async function host(parts: HostParts): Promise<Hosted> {
  const { http, grpc, services, readiness, log, topicServer, access, checkVisitor } = parts;
  access.addTo(readiness.conditions);
  const [httpTls, grpcTls] = [tlsOfHttp(http), tlsOfGrpc(grpc)];
  watchCertificates(
    [httpTls, grpcTls, peerTls(parts.peer)].flatMap((tls) => tls ?? []),
    {
      conditions: readiness.conditions,
      metrics: parts.metrics,
      log,
    },
  );
  const adapter = fastifyAdapter(http, httpTls);
  const app = await NestFactory.create<NestFastifyApplication>(parts.module, adapter, {
    logger: new NestLog(log),
    bodyParser: false,
    abortOnError: false,
  });
  const instance = app.getHttpAdapter().getInstance();
  guardRoutes(instance, { guard: access.guard('http'), site: access.site(), checkVisitor });
  acceptOnlyJson(instance);
  boundConnections(instance, http.connectionsMax);
  closeConnectionsWhileDraining(instance, readiness);
  if (http.connectionAgeMs > 0) closeOldConnections(instance, http.connectionAgeMs);
  if (parts.loadClass !== undefined) sayLoad(instance, parts.loadClass);
  await parts.prepare?.(app);
  const grpcPort = await resolvePort(grpc.host, grpc.port);
  const own = Object.entries(services).map(([name, service]) => `${name}.${service}`);
  const names = [...own, ...(parts.forwarded?.names ?? [])];
  const guard = access.guard('grpc');
  const strategy = grpcServer({
    ...grpc,
    port: grpcPort,
    gate: parts.gate,
    tls: grpcTls,
    packages: Object.keys(services),
    schema: protoSchema,
    descriptors: protoDescriptors,
    health: new GrpcHealth(names, readiness),
    interceptors: [accessInterceptor(guard, grpc.bodyMs)],
    addServices: parts.forwarded?.addTo,
    direct: directOf(parts, app, (path, credentials) =>
      guard.enter(GRPC_ACCESS[path], credentials),
    ),
  });
  app.connectMicroservice({ strategy });
  if (topicServer !== undefined) app.connectMicroservice({ strategy: topicServer });
  await listening('grpc', { ...grpc, port: grpcPort }, () => app.startAllMicroservices());
  await listening('http', http, () => app.listen(http.port, http.host));
  // Topics are served as soon as their broker is there; calls need no broker.
  readiness.started();
  readiness.watchConditions();
  const scheme = http.certificatePath === '' ? 'http' : 'https';
  const httpUrl = `${scheme}://${hostAndPort(http.host, httpPortOf(app) ?? http.port)}`;
  const grpcAddress = hostAndPort(grpc.host, grpcPort);
  return {
    ...closing(app, parts),
    serving: (steps) => ({ httpUrl, grpcAddress, drain: loggedDrain(steps, log) }),
  };
}

/** Methods that are answered without grpc-js; undefined: there are none. */
function directOf(
  { directHandlers, forwarded, log, loadClass, deadlineMsMax }: HostParts,
  app: NestFastifyApplication,
  enter: DirectParts['enter'],
): DirectParts | undefined {
  const common = { schema: protoSchema, enter, deadlineMsMax };
  if (forwarded !== undefined) {
    return { ...common, handlers: forwarded.direct, asBytes: true, statusOf: forwarded.statusOf };
  }
  if (directHandlers === undefined) return undefined;
  const statusOf = (thrown: unknown) => loggedStatus(thrown, log);
  return { ...common, handlers: directHandlers(app), statusOf, loadClass };
}

function loggedDrain(steps: readonly DrainStep[], log: Log): Drain {
  return new Drain(steps, ({ name: step, outcome, milliseconds, error }) => {
    const facts = { step, outcome, milliseconds: Math.round(milliseconds) };
    if (error === undefined) log.info(facts, 'drain');
    else log.error({ ...facts, err: error }, 'drain: a step failed');
  });
}

/** A balancer looks now and then: until it has looked it goes on sending calls. */
const serveOn = (delayMs: number): DrainStep => ({
  name: 'serve on',
  budgetMs: delayMs + STEP_BUDGET_MS,
  act: () => sleep(delayMs),
});

/** Closing the edges waits for their answers: it starts before what answers is drained. */
function closing(
  app: NestFastifyApplication,
  { topicServer, readiness }: HostParts,
): Pick<Hosted, 'leaving' | 'edgesClosed'> {
  let closed: Promise<void> | undefined;
  const leaveTopics = (drainMs: number): DrainStep => ({
    name: 'leave topics',
    budgetMs: drainMs + STEP_BUDGET_MS,
    act: () => topicServer?.close(),
  });
  return {
    leaving: ({ delayMs, drainMs }) => [
      {
        name: 'readiness off',
        budgetMs: STEP_BUDGET_MS,
        act: () => readiness.set('draining'),
      },
      ...(delayMs === 0 ? [] : [serveOn(delayMs)]),
      ...(topicServer === undefined ? [] : [leaveTopics(drainMs)]),
      {
        name: 'stop accepting',
        budgetMs: STEP_BUDGET_MS,
        act: () => {
          closed = app.close();
          // Its failure is reported by the step that awaits it.
          closed.catch(() => undefined);
        },
      },
    ],
    edgesClosed: (budgetMs) => ({
      name: 'edges close',
      budgetMs,
      act: () => {
        app.getHttpServer().closeIdleConnections();
        return closed;
      },
    }),
  };
}

/** An address that cannot be had is a fault of the configuration. */
async function listening(
  edge: 'grpc' | 'http',
  { host, port }: Address,
  listen: () => Promise<unknown>,
): Promise<void> {
  try {
    await listen();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const address = hostAndPort(host, port);
    const message = `${edge}.port: expected a free address, got ${address}: ${reason}`;
    throw new TesseraError('CONFIG_INVALID', message, { field: `${edge}.port`, cause });
  }
}

function hostAndPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function httpPortOf(app: NestFastifyApplication): number | undefined {
  const address = app.getHttpServer().address();
  return typeof address === 'object' && address ? address.port : undefined;
}
