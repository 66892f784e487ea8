import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '@grpc/grpc-js';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { CustomTransportStrategy } from '@nestjs/microservices';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type EdgeAdmission, HeldCallers } from '@tessera/admission';
import type { CallLimits, Handlers } from '@tessera/call';
import { peerTls } from '@tessera/client';
import type { Config } from '@tessera/config';
import { LOAD_TRAILER, protoDescriptors, protoSchema } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import {
  CallGate,
  callInterceptor,
  GrpcHealth,
  type GrpcServerSettings,
  grpcServer,
  tlsOfGrpc,
} from '@tessera/grpc';
import type { HttpJson } from '@tessera/httpjson';
import { Drain, type DrainStep, type Readiness } from '@tessera/lifecycle';
import type { Queue } from '@tessera/methods';
import { type Log, type Metrics, NestLog, registerHeldCallers } from '@tessera/telemetry';
import type { FastifyInstance } from 'fastify';
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
import { OwnState } from './health.controller.js';
import { guardRoutes, type HttpAccess } from './http-access.js';
import { HttpCalls } from './http-calls.js';
import { acceptOnlyJson } from './json-body.js';
import { serveJsonMethods } from './json-methods.js';
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
  | 'connectionAgeMs'
> & {
  /** Milliseconds that each message of a request may take to arrive. */
  readonly bodyMs: number;
};

interface Address {
  readonly host: string;
  readonly port: number;
}

export interface HostParts {
  /** The whole wiring of the process; `calls` are for controllers of its own. */
  readonly module: (calls: HttpCalls) => DynamicModule;
  readonly http: Address & HttpSettings;
  readonly grpc: Address & GrpcEdge;
  readonly limits: CallLimits;
  /** Admission by queue of work; left out: every call is served. */
  readonly admissions?: Partial<Readonly<Record<Queue, EdgeAdmission>>>;
  /** The methods that this process serves; left out: it serves none. */
  readonly methods?: ((app: NestFastifyApplication) => OwnMethods) | undefined;
  /** Load class of this process, said with every answer; left out: it says none. */
  readonly loadClass?: (() => number) | undefined;
  /** Services by their full names that other processes answer; left out: there are none. */
  readonly forwarded?:
    | {
        readonly names: readonly string[];
        readonly addTo: (server: Server) => void;
      }
    | undefined;
  /** The server of topics; absent where no broker is named. */
  readonly topicServer?: CustomTransportStrategy | undefined;
  readonly readiness: Readiness;
  readonly access: ProcessAccess;
  readonly metrics: Metrics;
  /** How this process calls others: their certificates are watched as its own are. */
  readonly peer: Config['peer'];
  /** Check of a console's visitors; left out: no console is served. */
  readonly checkVisitor?: HttpAccess['checkVisitor'];
  readonly log: Log;
  /** Before anything listens. */
  readonly prepare?: (app: NestFastifyApplication, calls: HttpCalls) => Promise<void>;
}

/** The methods that a process serves. */
export interface OwnMethods {
  readonly handlers: Handlers;
  /** Over HTTP; left out: over gRPC alone. */
  readonly json?: {
    /** Handlers of methods whose JSON is read otherwise than the message; they replace others. */
    readonly handlers: Handlers;
    readonly form: Pick<HttpJson, 'readRequest' | 'writeResponse'>;
  };
}

const NO_METHODS: OwnMethods = { handlers: new Map() };

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
  const { http, grpc, readiness, log, topicServer, access, checkVisitor } = parts;
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
  const adapter = fastifyAdapter(http, grpc.messageBytesMax, httpTls);
  const held = new HeldCallers();
  registerHeldCallers(parts.metrics.registry, () => held.count);
  const { limits, admissions = {} } = parts;
  const calls = new HttpCalls({ limits, admissions, held });
  const app = await NestFactory.create<NestFastifyApplication>(parts.module(calls), adapter, {
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
  await parts.prepare?.(app, calls);
  const methods = parts.methods?.(app) ?? NO_METHODS;
  serveJson(instance, methods, calls, log);
  const gate = gateOf(parts, held);
  const { instance: name } = app.get(OwnState);
  const strategy = grpcEdge(parts, methods, { tls: grpcTls, gate, name });
  app.connectMicroservice({ strategy });
  if (topicServer !== undefined) app.connectMicroservice({ strategy: topicServer });
  await listening('grpc', grpc, () => app.startAllMicroservices());
  await listening('http', http, () => app.listen(http.port, http.host));
  // Topics are served as soon as their broker is there; calls need no broker.
  readiness.started();
  readiness.watchConditions();
  const scheme = http.certificatePath === '' ? 'http' : 'https';
  const httpUrl = `${scheme}://${hostAndPort(http.host, httpPortOf(app) ?? http.port)}`;
  const grpcAddress = hostAndPort(grpc.host, strategy.port);
  return {
    ...closing(app, held, parts),
    serving: (steps) => ({ httpUrl, grpcAddress, drain: loggedDrain(steps, log) }),
  };
}

function serveJson(
  instance: FastifyInstance,
  { handlers, json }: OwnMethods,
  calls: HttpCalls,
  log: Log,
): void {
  if (json === undefined) return;
  const overHttp = new Map([...handlers, ...json.handlers]);
  serveJsonMethods(instance, { handlers: overHttp, form: json.form, calls, log });
}

const trailerOf = ({ loadClass }: Pick<HostParts, 'loadClass'>) =>
  loadClass && { trailer: [LOAD_TRAILER, () => String(loadClass())] as const };

const gateOf = (parts: HostParts, held: HeldCallers) =>
  new CallGate({
    ...parts.limits,
    admissions: parts.admissions ?? {},
    held,
    onRefused: parts.admissions && parts.metrics.countGateRefusals(),
    ...trailerOf(parts),
  });

function grpcEdge(
  parts: HostParts,
  { handlers }: OwnMethods,
  { name, ...own }: Pick<GrpcServerSettings, 'tls' | 'gate'> & { readonly name: string },
) {
  const { grpc, readiness, access, limits, admissions = {}, forwarded, log } = parts;
  const services = [...new Set([...handlers.keys()].map((path) => path.split('/')[1] ?? ''))];
  const packages = services.map((name) => name.slice(0, name.lastIndexOf('.')));
  return grpcServer({
    ...grpc,
    ...own,
    packages,
    schema: protoSchema,
    descriptors: protoDescriptors,
    health: new GrpcHealth([...services, ...(forwarded?.names ?? []), name], readiness),
    interceptor: callInterceptor({
      guard: access.guard('grpc'),
      bodyMs: grpc.bodyMs,
      log,
      ...trailerOf(parts),
    }),
    methods: { handlers, limits, admissions, log },
    addServices: forwarded?.addTo,
  });
}

function loggedDrain(steps: readonly DrainStep[], log: Log): Drain {
  return new Drain(steps, ({ name: step, outcome, milliseconds, error }) => {
    const facts = { step, outcome, milliseconds: Math.round(milliseconds) };
    if (error === undefined) log.info(facts, 'drain step finished');
    else log.error({ ...facts, err: error }, 'drain step failed');
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
  held: HeldCallers,
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
          held.close();
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
