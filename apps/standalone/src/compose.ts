import { createHash } from 'node:crypto';
import { parseClickActions } from '@tessera/behaviour';
import type { Config } from '@tessera/config';
import { type EmbeddingModels, NO_MODELS } from '@tessera/embedding';
import { taskDepths } from '@tessera/engine';
import type { NodeKey } from '@tessera/etcd';
import {
  addBehaviourReach,
  type OperationsOptions,
  ServedVersions,
  watchDisks,
  watchTracing,
} from '@tessera/hosting';
import type { InspectedRecalls } from '@tessera/inspection';
import { topicNames } from '@tessera/kafka';
import type { Readiness } from '@tessera/lifecycle';
import type { RetrievalNode } from '@tessera/node';
import type { RecallOperations, RecallRuntime } from '@tessera/recall';
import { type Log, Metrics, NO_TRACING, type Tracing } from '@tessera/telemetry';
import { CLOCK } from '@tessera/units';

import { RecallAudits, type TextModels } from '../../retrieval/src/index.js';
import type { Access } from './access.js';
import { type AdapterEventRelay, type ModelEdges, modelEdgesOf } from './adapters.js';
import { type Admissions, admissionsOf } from './admissions.js';
import { analysisOf } from './analysis.js';
import { followedUsers, kvChanges } from './cluster/kv-changes.js';
import { consoleParts } from './console.js';
import { countedClicks } from './counted-clicks.js';
import { type FactFeeds, factFeeds } from './fact-feeds.js';
import { type Holders, heldWhileIdle } from './held-while-idle.js';
import { type Inspection, inspected, watchInspection } from './inspection.js';
import type { OpenedRelevance } from './relevance.js';
import type { SharedStores } from './shared-stores.js';
import type { StandaloneOptions } from './standalone.module.js';
import { type Topics, topicsOf } from './topics.js';
import { openUsers, type Users } from './users.js';

const DIGEST_DIGITS = 16;

/** The models of texts, as far as they are served. */
export type Embedding = TextModels & Pick<EmbeddingModels, 'states' | 'close' | 'backlogUs'>;

export interface ServeParts {
  readonly config: Config;
  readonly runtime: RecallRuntime;
  /** Left out: no texts become vectors. */
  readonly embedding?: Embedding;
  readonly serviceVersion: string;
  readonly log: Log;
  /** Left out: none are kept. */
  readonly tracing?: Tracing;
  /** Events of adapters; left out: nobody listens. */
  readonly adapterEvents?: AdapterEventRelay;
  /** Left out: no recall is recorded. */
  readonly inspection?: Inspection | undefined;
  /** Left out: no texts are scored. */
  readonly relevance?: OpenedRelevance | undefined;
  /** Stores of keys and values that other processes use; left out: none. */
  readonly stores?: SharedStores;
  /** Left out: this process is the only one. */
  readonly clusterNode?: RetrievalNode | undefined;
  /** Left out: the process is among no nodes in etcd. */
  readonly nodeKey?: NodeKey | undefined;
}

/** The modules of this process, and the parts that outlive them. */
export interface Composition {
  readonly modules: StandaloneOptions;
  readonly admissions: Admissions;
  readonly topics: Topics | undefined;
  /** Undefined where none are written. */
  readonly audits: RecallAudits | undefined;
  readonly tracing: Tracing;
  readonly feeds: FactFeeds | undefined;
  readonly recalls: InspectedRecalls;
  readonly users: Users;
  readonly holders: Holders;
}

function auditsOf(
  { config, runtime, log }: ServeParts,
  topics: Topics | undefined,
  metrics: Metrics,
) {
  const { kafka } = config;
  const { auditsTopic: topic } = topicNames(kafka.topicPrefix);
  const { erasures } = runtime.serving;
  if (topics === undefined) return undefined;
  const { producer } = topics;
  return new RecallAudits({ producer, topic, metrics, log, erasures, nowMs: Date.now });
}

/** Profile by which a gateway splits calls that score texts. */
function profileOf({ relevance }: ServeParts): OperationsOptions['relevance'] {
  return relevance && (() => relevance.relevance.profile());
}

/** Digest of the versions of adapters that requests get; '' where none is served. */
function servedAdapters({ adapters }: RecallOperations): string {
  const served = (adapters?.list('') ?? [])
    .filter(({ state }) => state === 'active' || state === 'canary')
    .map(({ name, digest, state, share }) => JSON.stringify([name, digest, state, share]));
  if (served.length === 0) return '';
  return createHash('sha256').update(served.sort().join()).digest('hex').slice(0, DIGEST_DIGITS);
}

function versionsOf({ config, runtime, serviceVersion: service }: ServeParts): ServedVersions {
  const { catalogue, promptTemplate } = runtime.facts.summary;
  return new ServedVersions({
    service,
    node: config.node.name,
    get model() {
      return runtime.operations.weights.current().digest;
    },
    catalogue: catalogue.digest,
    promptTemplate: promptTemplate.digest,
    get changes() {
      return String(runtime.operations.changesOf('').state().sequence);
    },
    get adapters() {
      return servedAdapters(runtime.operations);
    },
  });
}

/** Folders that the process writes to. */
function foldersOf({ adapters, behaviours, catalogue, inspection, kv, weights }: Config) {
  return {
    'adapters.path': adapters.path,
    'behaviours.path': behaviours.store === 'embedded' ? behaviours.path : '',
    'catalogue.cachePath': catalogue.cachePath,
    'catalogue.changesPath': catalogue.changesPath,
    'inspection.path': inspection.path,
    'kv.path': kv.path,
    'weights.path': weights.path,
  };
}

function catalogueCounts(operations: RecallOperations) {
  return operations.catalogues.map((name) => {
    const changes = operations.changesOf(name);
    const { liveItemCount: liveItems, sequence } = changes.state();
    return { name, liveItems, sequence, changedMs: changes.changedMs };
  });
}

function metricsOf(parts: ServeParts, readiness: Readiness, access: Access): Metrics {
  const { config, runtime, inspection, log, serviceVersion: version } = parts;
  const { embedding = NO_MODELS, tracing = NO_TRACING } = parts;
  const metrics = new Metrics(
    () => runtime.facts.engineStats(),
    () => runtime.facts.kvPool.metrics(),
  );
  metrics.showBuild({ version, app: 'standalone' });
  metrics.showCatalogues(() => catalogueCounts(runtime.operations));
  metrics.showConditions(() => readiness.conditions.all());
  watchDisks(foldersOf(config), config, metrics);
  metrics.showAccess(() => access.process.counts());
  metrics.showTasks(taskDepths);
  metrics.showEmbedding(() => embedding.states());
  watchInspection(inspection, metrics, readiness);
  if (tracing !== NO_TRACING) watchTracing(tracing, readiness.conditions, metrics);
  const isNeeded = config.recall.withoutFeatures === 'refuse';
  const { store } = config.behaviours;
  addBehaviourReach(readiness.conditions, { store, isNeeded }, () =>
    runtime.facts.behaviourReach(),
  );
  metrics.showDroppedCaches(runtime.facts.droppedCaches.map(({ cache }) => cache));
  for (const { cache, reason } of runtime.facts.droppedCaches) {
    log.warn({ cache, reason }, 'a damaged cache was given up and is begun anew');
  }
  return metrics;
}

/** Parts that several modules share. */
interface Joined {
  readonly readiness: Readiness;
  readonly access: Access;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly topics: Topics | undefined;
  readonly audits: RecallAudits | undefined;
  /** Undefined: no recalls are kept. */
  readonly feeds: FactFeeds | undefined;
  readonly recalls: InspectedRecalls;
  readonly users: Users;
  readonly edges: ModelEdges;
  readonly admissions: Admissions;
}

function featureOf(
  { config, runtime, log, inspection }: ServeParts,
  { access, metrics, tracing, topics, users }: Joined,
): StandaloneOptions['feature'] {
  const isClick = parseClickActions(config.behaviours.clickActions);
  const { operations } = runtime;
  const { behaviourLog: behaviours, adapters, popularity } = operations;
  const { follower, erasure } = users;
  const count = countedClicks(isClick, adapters, popularity);
  if (behaviours === undefined || erasure === undefined) return undefined;
  return {
    behaviours,
    checkProfile: (profile) => operations.checkProfile(profile),
    follower,
    erasure,
    producer: topics?.producer,
    changes: access.process.changes,
    metrics,
    log,
    tracing,
    nowMs: CLOCK.latestMs,
    onAdded: (events) => {
      count(events);
      inspection?.facts.offerBehaviours(events);
    },
  };
}

function retrievalOf(
  parts: ServeParts,
  {
    readiness,
    access,
    metrics,
    tracing,
    topics,
    audits,
    feeds,
    recalls,
    edges,
    admissions,
  }: Joined,
): StandaloneOptions['retrieval'] {
  const { config, runtime, log, inspection, relevance } = parts;
  const { embedding = NO_MODELS, clusterNode } = parts;
  const { serving, operations, facts } = runtime;
  return {
    recalls,
    serving,
    operations,
    facts,
    relevance: relevance?.relevance,
    embedding,
    pool: kvChanges(runtime, inspection?.eraseUser, clusterNode),
    mayHold: followedUsers(config, facts),
    ...edges,
    changes: access.process.changes,
    readiness,
    log,
    admission: admissions.decoder,
    metrics,
    tracing,
    topics,
    onRecall: (audited) => {
      audits?.write(audited);
      const { edge, request, outcome } = audited;
      feeds?.recalled({ timeMs: Date.now(), edge, request, outcome });
    },
  };
}

function consoleOf(
  { config, runtime, inspection, relevance, serviceVersion, log }: ServeParts,
  { readiness, access, metrics, recalls, users, edges }: Joined,
): StandaloneOptions['console'] {
  return consoleParts({
    config,
    runtime,
    recalls,
    erasure: users.erasure,
    store: inspection?.store,
    analysis: analysisOf(config, inspection),
    readiness,
    serviceVersion,
    log,
    access,
    metrics,
    adapters: edges.adapters,
    relevance: relevance?.relevance,
  });
}

export async function compose(
  parts: ServeParts,
  readiness: Readiness,
  access: Access,
): Promise<Composition> {
  const { config, runtime, log, inspection, tracing = NO_TRACING } = parts;
  const { clusterNode } = parts;
  const { operations } = runtime;
  const metrics = metricsOf(parts, readiness, access);
  const store = inspection?.store;
  const eraseRecalls = inspection?.eraseUser;
  const feeds = factFeeds(config, runtime, inspection, log);
  const recalls = inspected(config, runtime, store, (recall) => feeds?.recalled(recall));
  const takesBehaviours = operations.behaviourLog !== undefined;
  const topics = await topicsOf(config, takesBehaviours, log, readiness.conditions);
  if (topics !== undefined) metrics.showTopicLag(() => topics.server.lag());
  const audits = auditsOf(parts, topics, metrics);
  const producer = topics?.producer;
  const edges = modelEdgesOf({ ...parts, operations }, access, producer, metrics, readiness);
  const { facts } = runtime;
  const { embedding } = parts;
  const relevance = parts.relevance?.relevance;
  const admissions = admissionsOf({ config, facts, relevance, embedding });
  const holders: Holders = { facts, operations, admissions };
  metrics.showHeld(() => heldWhileIdle(holders));
  if (clusterNode !== undefined) metrics.showLog(() => clusterNode.progress);
  const users = await openUsers({
    config,
    runtime,
    log,
    metrics,
    readiness,
    eraseRecalls,
    clusterNode,
  });
  const shared = { readiness, access, metrics, tracing, topics, audits, feeds, recalls };
  const joined: Joined = { ...shared, users, edges, admissions };
  const modules = {
    operations: {
      readiness,
      metrics,
      versions: versionsOf(parts),
      chains: () => runtime.facts.kvPool.metrics().chains,
      kvStore: () => parts.stores?.word,
      relevance: profileOf(parts),
      clusterLog: clusterNode && (() => clusterNode.said),
      log,
    },
    retrieval: retrievalOf(parts, joined),
    feature: featureOf(parts, joined),
    console: consoleOf(parts, joined),
  };
  return { modules, admissions, topics, audits, tracing, feeds, recalls, users, holders };
}
