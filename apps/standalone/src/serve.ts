import {
  behaviourPackage,
  cataloguePackage,
  explainPackage,
  kvPackage,
  recallPackage,
  scorePackage,
} from '@tessera/contracts';
import { type Hosted, host, STEP_BUDGET_MS } from '@tessera/hosting';
import { Drain, type DrainStep, Readiness } from '@tessera/lifecycle';
import { type Composition, compose, type ServeParts } from './compose.js';
import { serveDocs } from './docs-page.js';
import { watchKvPool } from './kv-watch.js';
import { StandaloneModule } from './standalone.module.js';

/** After the drain time: what is left is cancelled, and its answers are written. */
const CANCEL_BUDGET_MS = 10_000;

export interface Serving {
  readonly httpUrl: string;
  readonly grpcAddress: string;
  readonly drain: Drain;
}

/**
 * Nothing new is let in, what runs is finished or cancelled within the budget, then everything is
 * closed.
 */
function drainSteps(
  hosted: Hosted,
  readiness: Readiness,
  { topics, audits, tracing }: Composition,
  { runtime, config }: ServeParts,
  endWatch: () => void,
): DrainStep[] {
  const { drainMs } = config.shutdown;
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
    hosted.stopAccepting,
    {
      name: 'engine drain',
      budgetMs: drainMs + CANCEL_BUDGET_MS,
      act: () => runtime.drain(drainMs),
    },
    hosted.edgesClosed(CANCEL_BUDGET_MS),
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

/** By package. */
const SERVICES: Readonly<Record<string, string>> = {
  [recallPackage]: 'RecallService',
  [scorePackage]: 'ScoreService',
  [explainPackage]: 'ExplainService',
  [cataloguePackage]: 'CatalogueService',
  [kvPackage]: 'KvPoolService',
};

/** Serves a runtime on its edges; ready when it returns, or once the topics are served. */
export async function serve(parts: ServeParts): Promise<Serving> {
  const { config, runtime, log } = parts;
  const readiness = new Readiness();
  const composition = compose(parts, readiness);
  const { topics, modules } = composition;
  const services =
    modules.feature === undefined
      ? SERVICES
      : { ...SERVICES, [behaviourPackage]: 'BehaviourService' };
  const hosted = await host({
    module: StandaloneModule.register(modules),
    http: config.http,
    grpc: config.grpc,
    services,
    topicServer: topics?.server,
    readiness,
    log,
    prepare: (app) => serveDocs(app, parts.serviceVersion),
  });
  if (topics === undefined) readiness.set('ready');
  const endWatch = watchKvPool(() => runtime.kvPool.metrics(), log);
  const drain = new Drain(
    drainSteps(hosted, readiness, composition, parts, endWatch),
    ({ name, outcome, milliseconds }) =>
      log.info({ step: name, outcome, milliseconds: Math.round(milliseconds) }, 'drain'),
  );
  return { httpUrl: hosted.httpUrl, grpcAddress: hosted.grpcAddress, drain };
}
