import {
  type BehaviourLog,
  behaviourFolders,
  behaviourOptions,
  openBehaviours,
} from '@tessera/behaviour';
import { type Config, redisPrefix, redisSecurity } from '@tessera/config';
import { taskDepths } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import {
  addBehaviourReach,
  host,
  ProcessAccess,
  ServedVersions,
  type Serving,
  STEP_BUDGET_MS,
  watchClock,
  watchDisks,
  watchStores,
  watchTracing,
} from '@tessera/hosting';
import { SERVICE_JSON } from '@tessera/httpjson';
import { brokerCondition, serveTopics, topicNames, topicSettings } from '@tessera/kafka';
import { closing, Drain, Readiness } from '@tessera/lifecycle';
import { eventualParts, ListedErasures } from '@tessera/node';
import { type Log, Metrics, NO_TRACING, openTracing, type Tracing } from '@tessera/telemetry';
import { CLOCK } from '@tessera/units';
import type { ErasesUsers } from './behaviour-edge.js';
import { openClusterLog } from './cluster-log.js';
import { pendingErasuresOf, retrievalPools } from './erasure-parts.js';
import { behaviourMethods, type FeatureOptions } from './feature.module.js';
import { FeatureProcessModule } from './feature-process.module.js';
import { followLog } from './follow-log.js';
import { RemotePools } from './followed-pools.js';
import { BEHAVIOURS_PATTERN } from './kafka/behaviour-topic.controller.js';
import { KvFollower } from './kv-follower.js';

/** Answers that are still to be written. */
const ANSWERS_BUDGET_MS = 10_000;

const JSON_AS_IS = { handlers: new Map(), form: SERVICE_JSON };

export interface ServeParts {
  readonly config: Config;
  readonly log: Log;
  readonly serviceVersion: string;
  readonly onProgress: (stage: string, done: number, total: number) => void;
}

function storeOptions(config: Config) {
  const { behaviours, users, disk, model, catalogue } = config;
  const { store } = behaviours;
  if (store === 'embedded' || store === 'redis') {
    const servedWith = { modelPath: model.path, cataloguePath: catalogue.path };
    const keyPrefix = redisPrefix(config);
    const security = redisSecurity(config, behaviours.redis);
    const secured = { ...behaviours, keyPrefix, store, redisSecurity: security, servedWith };
    return behaviourOptions(secured, users.path, disk);
  }
  const message = `behaviours.store: expected embedded or redis, got ${store}`;
  throw new TesseraError('CONFIG_INVALID', message, { field: 'behaviours.store' });
}

/** Opens the store where behaviours can be appended. */
async function openLog({ config, onProgress }: ServeParts): Promise<BehaviourLog> {
  const { log, takeOverUsers } = await openBehaviours(storeOptions(config), onProgress);
  await takeOverUsers();
  if (log !== undefined) return log;
  throw new TesseraError('INTERNAL', 'the store takes no behaviours');
}

function auditPathOf({ access, behaviours }: Config): string {
  return access.auditPath === '' ? `${behaviours.path}.audit.jsonl` : access.auditPath;
}

/** Undefined where no broker is named. */
async function behaviourTopic(
  { config, log }: ServeParts,
  { conditions }: Readiness,
  metrics: Metrics,
) {
  const { behavioursTopic } = topicNames(config.kafka.topicPrefix);
  const topics = { [BEHAVIOURS_PATTERN]: behavioursTopic };
  const onServing = () => log.info({}, 'kafka: the topic is served');
  const served = await serveTopics(
    topicSettings(config),
    { topics, outputTopics: [], onServing },
    log,
  );
  if (served === undefined) return undefined;
  conditions.add(brokerCondition(served.server));
  metrics.showTopicLag(() => served.server.lag());
  return served;
}

function metricsOf(
  { config, serviceVersion: version }: ServeParts,
  { conditions }: Readiness,
  access: ProcessAccess,
  tracing: Tracing,
): Metrics {
  const metrics = new Metrics();
  metrics.showBuild({ version, app: 'feature' });
  watchDisks({ 'behaviours.path': config.behaviours.path }, config, metrics);
  metrics.showConditions(() => conditions.all());
  metrics.showAccess(() => access.counts());
  metrics.showTasks(taskDepths);
  if (tracing !== NO_TRACING) watchTracing(tracing, conditions, metrics);
  return metrics;
}

/** Erasures that an earlier process left are gone on with. */
async function openErasure(
  { config, log }: ServeParts,
  behaviours: BehaviourLog,
  follower: KvFollower,
  readiness: Readiness,
): Promise<{
  readonly erasure: ErasesUsers;
  readonly closeErasure: () => Promise<void>;
}> {
  const { opened } = openClusterLog(config);
  const pending = await pendingErasuresOf(config);
  if (opened !== undefined) {
    const followed = await followLog(config, opened, behaviours, pending, log);
    await followed.node.serve(readiness);
    return { erasure: followed.node, closeErasure: followed.close };
  }
  const forget = (userId: string) => follower.erase(userId);
  const stores = eventualParts({ behaviours, eraseRecalls: undefined, forget });
  const erasure = new ListedErasures({ pending, stores, nodeLog: log, nowMs: Date.now });
  erasure.showIn(readiness);
  return { erasure, closeErasure: () => erasure.close() };
}

function watched(behaviours: BehaviourLog, readiness: Readiness, log: Log): () => void {
  const endStores = watchStores(behaviourFolders(behaviours), readiness, log);
  const endClock = watchClock(readiness.conditions, log);
  return () => {
    endStores();
    endClock();
  };
}

/** Appends wait in their topic while the store is away: the process stays ready. */
function showReach(
  { behaviours: { store } }: Config,
  { conditions }: Readiness,
  behaviours: BehaviourLog,
): void {
  addBehaviourReach(conditions, { store, isNeeded: false }, () => behaviours.reach());
}

function tracingOf({ config, serviceVersion }: ServeParts) {
  return { ...config.tracing, serviceName: 'tessera-feature', serviceVersion };
}

/** The feature app as a process of its own: behaviours in, histories out. */
export async function serve(parts: ServeParts): Promise<Serving> {
  const { config, log, serviceVersion } = parts;
  const access = await ProcessAccess.open(config, auditPathOf(config), log);
  const behaviours = await openLog(parts);
  const tracing = await openTracing(tracingOf(parts), log);
  const readiness = new Readiness();
  const endWatch = watched(behaviours, readiness, log);
  showReach(config, readiness, behaviours);
  const metrics = metricsOf(parts, readiness, access, tracing);
  const topics = await behaviourTopic(parts, readiness, metrics);
  const pools = retrievalPools(config);
  const budgetMs = config.recall.deadlineMsMax;
  const follower = new KvFollower({ pools: new RemotePools(pools), metrics, log, budgetMs });
  const { erasure, closeErasure } = await openErasure(parts, behaviours, follower, readiness);
  const closes = closing(STEP_BUDGET_MS, {
    watch: endWatch,
    erasure: closeErasure,
    pools: () => void pools.map(({ client }) => client.close()),
    topics: topics && (() => topics.producer.close()),
    access: () => access.close(),
    store: () => behaviours.close(),
    tracing: () => tracing.close(),
  });
  const versions = new ServedVersions({ service: serviceVersion });
  const operations = { readiness, metrics, versions, log };
  const feature: FeatureOptions = {
    behaviours,
    metrics,
    log,
    tracing,
    nowMs: CLOCK.latestMs,
    follower,
    erasure,
    producer: topics?.producer,
    changes: access.changes,
  };
  try {
    const hosted = await host({
      module: () => FeatureProcessModule.register(operations, feature),
      http: { ...config.http, ...config.edge },
      grpc: { ...config.grpc, ...config.edge },
      limits: config.recall,
      methods: (app) => ({ handlers: new Map(behaviourMethods(app)), json: JSON_AS_IS }),
      topicServer: topics?.server,
      readiness,
      access,
      metrics,
      peer: config.peer,
      log,
    });
    return hosted.serving([
      ...hosted.leaving(config.shutdown),
      hosted.edgesClosed(config.shutdown.drainMs + ANSWERS_BUDGET_MS),
      ...closes,
    ]);
  } catch (error) {
    await new Drain(closes, () => undefined).run();
    throw error;
  }
}
