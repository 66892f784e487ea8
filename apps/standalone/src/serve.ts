import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Config } from '@tessera/config';
import {
  behaviourPackage,
  cataloguePackage,
  explainPackage,
  kvPackage,
  protoSchema,
  protoSchemaAsWritten,
  recallPackage,
  scorePackage,
} from '@tessera/contracts';
import { errorBody, TesseraError } from '@tessera/errors';
import { GrpcHealth, grpcServerOptions } from '@tessera/grpc';
import { Drain, type DrainStep, Readiness, resolvePort } from '@tessera/lifecycle';
import { NestLog } from '@tessera/telemetry';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { acceptOnlyJson, fromServer } from '../../retrieval/src/index.js';
import { type Composition, compose, type ServeParts } from './compose.js';
import { serveDocs } from './docs-page.js';
import { watchKvPool } from './kv-watch.js';
import { StandaloneModule } from './standalone.module.js';

/** Steps that wait for nothing but a free core. */
const STEP_BUDGET_MS = 5000;
/** After the drain time: what is left is cancelled, and its answers are written. */
const CANCEL_BUDGET_MS = 10_000;

export interface Serving {
  readonly httpUrl: string;
  readonly grpcAddress: string;
  readonly drain: Drain;
}

function hostAndPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * Nothing new is let in, what runs is finished or cancelled within the budget, then everything is
 * closed. Closing the edges waits for their answers, so it starts before the engine drains and is
 * awaited after.
 */
function drainSteps(
  app: NestFastifyApplication,
  readiness: Readiness,
  { topics, audits, tracing }: Composition,
  { runtime, config }: ServeParts,
  endWatch: () => void,
): DrainStep[] {
  const { drainMs } = config.shutdown;
  let edgesClosed: Promise<void> | undefined;
  const leaveTopics: DrainStep = {
    name: 'leave topics',
    budgetMs: drainMs + STEP_BUDGET_MS,
    // Batches that were taken are finished while everything still serves; others are left alone.
    act: () => topics?.server.close(),
  };
  return [
    ...(topics === undefined ? [] : [leaveTopics]),
    {
      name: 'readiness off',
      budgetMs: STEP_BUDGET_MS,
      act: () => readiness.set('draining'),
    },
    {
      name: 'stop accepting',
      budgetMs: STEP_BUDGET_MS,
      act: () => {
        edgesClosed = app.close();
        // Its failure is reported by the step that awaits it.
        edgesClosed.catch(() => undefined);
      },
    },
    {
      name: 'engine drain',
      budgetMs: drainMs + CANCEL_BUDGET_MS,
      act: () => runtime.drain(drainMs),
    },
    {
      name: 'edges close',
      budgetMs: CANCEL_BUDGET_MS,
      act: () => {
        app.getHttpServer().closeIdleConnections();
        return edgesClosed;
      },
    },
    {
      name: 'engine close',
      budgetMs: STEP_BUDGET_MS,
      act: async () => {
        endWatch();
        await audits?.close();
        await topics?.producer.close();
        await runtime.close();
        await tracing.close();
      },
    },
  ];
}

function fastify(config: Config): FastifyAdapter {
  return new FastifyAdapter({
    bodyLimit: config.http.bodyBytesMax,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // Before any route: a path that does not decode.
    frameworkErrors: (thrown: Error, _request: unknown, reply: FastifyReply) => {
      const error = fromServer(thrown);
      void reply.status(error.row.http).send(errorBody(error));
    },
    // Before any request: bytes that are no HTTP.
    clientErrorHandler: (thrown, socket) => {
      const error = new TesseraError('REQUEST_INVALID', `expected HTTP/1.1: ${thrown.message}`);
      const body = JSON.stringify(errorBody(error));
      const head = `HTTP/1.1 ${error.row.http} Bad Request\r\nconnection: close\r\n`;
      const type = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`;
      if (socket.writable) socket.end(`${head}${type}\r\n\r\n${body}`);
      else socket.destroy();
    },
  });
}

/** An address that cannot be had is a fault of the configuration. */
async function listening(
  edge: 'grpc' | 'http',
  { host, port }: { readonly host: string; readonly port: number },
  listen: () => Promise<unknown>,
): Promise<void> {
  try {
    await listen();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const address = hostAndPort(host, port);
    const message = `${edge}.port: expected a free address, came ${address}: ${reason}`;
    throw new TesseraError('CONFIG_INVALID', message, { field: `${edge}.port`, cause });
  }
}

/** A kept connection would hold the server open after its last answer. */
function closeConnectionsWhileDraining(instance: FastifyInstance, readiness: Readiness): void {
  instance.addHook('onSend', (_request, reply, payload, done) => {
    if (readiness.state === 'draining') reply.header('connection', 'close');
    done(null, payload);
  });
}

/** By package. */
const SERVICES: Readonly<Record<string, string>> = {
  [recallPackage]: 'RecallService',
  [scorePackage]: 'ScoreService',
  [explainPackage]: 'ExplainService',
  [cataloguePackage]: 'CatalogueService',
  [kvPackage]: 'KvPoolService',
};

function httpPortOf(app: NestFastifyApplication, config: Config): number {
  const address = app.getHttpServer().address();
  return typeof address === 'object' && address ? address.port : config.http.port;
}

/** Serves a runtime on its edges; ready when it returns, or once the topics are served. */
export async function serve(parts: ServeParts): Promise<Serving> {
  const { config, runtime, log } = parts;
  const readiness = new Readiness();
  const composition = compose(parts, readiness);
  const { topics, modules } = composition;
  const app = await NestFactory.create<NestFastifyApplication>(
    StandaloneModule.register(modules),
    fastify(config),
    { logger: new NestLog(log), bodyParser: false, abortOnError: false },
  );
  const instance = app.getHttpAdapter().getInstance();
  acceptOnlyJson(instance);
  closeConnectionsWhileDraining(instance, readiness);
  await serveDocs(app, parts.serviceVersion);
  const services =
    modules.feature === undefined
      ? SERVICES
      : { ...SERVICES, [behaviourPackage]: 'BehaviourService' };
  const grpcPort = await resolvePort(config.grpc.host, config.grpc.port);
  app.connectMicroservice(
    grpcServerOptions({
      ...config.grpc,
      port: grpcPort,
      packages: Object.keys(services),
      schema: protoSchema,
      schemaAsWritten: protoSchemaAsWritten,
      health: new GrpcHealth(
        Object.entries(services).map(([name, service]) => `${name}.${service}`),
        readiness,
      ),
    }),
  );
  if (topics !== undefined) app.connectMicroservice({ strategy: topics.server });
  await listening('grpc', { ...config.grpc, port: grpcPort }, () => app.startAllMicroservices());
  await listening('http', config.http, () => app.listen(config.http.port, config.http.host));
  if (topics === undefined) readiness.set('ready');
  const endWatch = watchKvPool(() => runtime.kvPool.metrics(), log);
  const drain = new Drain(
    drainSteps(app, readiness, composition, parts, endWatch),
    ({ name, outcome, milliseconds }) =>
      log.info({ step: name, outcome, milliseconds: Math.round(milliseconds) }, 'drain'),
  );
  return {
    httpUrl: `http://${hostAndPort(config.http.host, httpPortOf(app, config))}`,
    grpcAddress: hostAndPort(config.grpc.host, grpcPort),
    drain,
  };
}
