/**
 * Every metric of the service, with unit and meaning. docs/operate/metrics.md lists the same names.
 */

import { MICROSECONDS_PER_SECOND } from '@tessera/units';
import { Registry } from 'prom-client';
import {
  ACCESS_METRICS,
  type AccessCounts,
  registerAccessMetrics,
  registerCertificates,
} from './access-metrics.js';
import { ADAPTER_METRICS, type AdapterCounts, registerAdapterMetrics } from './adapter-metrics.js';
import {
  CODES_FROM_START,
  EDGES,
  type Edge,
  LATENCY_BUCKETS,
  type Observation,
} from './answered.js';
import { BUILD_METRICS, type BuildFacts, registerBuild } from './build-metrics.js';
import { CATALOGUE_METRICS, type CatalogueCount, registerCatalogues } from './catalogue-metrics.js';
import {
  CLUSTER_METRICS,
  type ClusterCounts,
  countForwarded,
  type ForwardedObservation,
  registerClusterMetrics,
} from './cluster-metrics.js';
import {
  EMBEDDING_METRICS,
  type EmbeddingState,
  registerEmbeddingMetrics,
} from './embedding-metrics.js';
import { ENGINE_METRICS, type EngineCounts, registerEngineMetrics } from './engine-metrics.js';
import { HELD_METRICS, type HeldCounts, registerHeld } from './held-metric.js';
import { KV_METRICS, type KvCounts, registerKvMetrics } from './kv-metrics.js';
import { LOG_METRICS, type LogCounts, registerLogMetrics } from './log-metrics.js';
import { PROCESS_METRICS, registerProcess } from './process-metrics.js';
import { RANKING_METRICS } from './ranking-metrics.js';
import {
  RELEVANCE_METRICS,
  type RelevanceObservation,
  RelevanceTallies,
} from './relevance-metrics.js';
import { SEARCH_METRICS, type SearchObservation, SearchTallies } from './search-metrics.js';
import { registerSplitMetrics, SPLIT_METRICS, type SplitCounts } from './split-metrics.js';
import {
  type ConditionCount,
  registerConditions,
  registerDisks,
  registerDroppedCaches,
  registerSpans,
  STORE_METRICS,
} from './store-metrics.js';
import { registerTopicLag, STREAM_METRICS, type TopicLag } from './stream-metrics.js';
import { combined, copyCount, copyCounts, TalliedCounter, TalliedHistogram } from './tallies.js';
import { registerTaskMetrics, TASK_METRICS, type TaskCount } from './task-metrics.js';
import type { SpanCounts } from './tracing.js';
import { WorkerMetrics } from './worker-metrics.js';

export const METRICS = {
  recallRequests: {
    name: 'tessera_recall_requests_total',
    meaning:
      'recalls answered, by edge (grpc, http, kafka) and code ' +
      '(OK or a code of docs/operate/errors.md)',
  },
  recallLatency: {
    name: 'tessera_recall_latency_seconds',
    meaning: 'seconds from parsed request to answer, by edge',
  },
  recallStage: {
    name: 'tessera_recall_stage_seconds',
    meaning:
      'seconds of an answered recall per stage; projections and attention are parts of prefill ' +
      'and decode',
  },
  recallShort: {
    name: 'tessera_recall_short_total',
    meaning: 'recalls answered with fewer items than requested',
  },
  recallCaps: {
    name: 'tessera_recall_frequency_caps_total',
    meaning:
      'recalls answered under frequency caps, by outcome (exact; cut: more behaviours in a ' +
      'window than the store reads or keeps; unavailable: not counted)',
  },
  ...SEARCH_METRICS,
  scoreRequests: {
    name: 'tessera_score_requests_total',
    meaning:
      'score requests answered, by edge (grpc, http) and code ' +
      '(OK or a code of docs/operate/errors.md)',
  },
  scoreLatency: {
    name: 'tessera_score_latency_seconds',
    meaning: 'seconds from parsed score request to answer, by edge',
  },
  explainRequests: {
    name: 'tessera_explain_requests_total',
    meaning:
      'explain requests answered, by edge (grpc, http) and code ' +
      '(OK or a code of docs/operate/errors.md)',
  },
  explainLatency: {
    name: 'tessera_explain_latency_seconds',
    meaning: 'seconds from parsed explain request to answer, by edge',
  },
  ...RANKING_METRICS,
  ...RELEVANCE_METRICS,
  embedRequests: {
    name: 'tessera_embed_requests_total',
    meaning:
      'embed requests answered, by edge (grpc, http) and code ' +
      '(OK or a code of docs/operate/errors.md)',
  },
  embedLatency: {
    name: 'tessera_embed_latency_seconds',
    meaning: 'seconds from parsed embed request to answer, by edge',
  },
  ...STREAM_METRICS,
  ...ENGINE_METRICS,
  gateRefusals: {
    name: 'tessera_gate_refusals_total',
    meaning:
      'gRPC calls refused before parsing, by code (ENGINE_OVERLOADED); no other count of ' +
      'requests has them',
  },
  ...HELD_METRICS,
  ...STORE_METRICS,
  ...BUILD_METRICS,
  ...PROCESS_METRICS,
  ...CATALOGUE_METRICS,
  ...ACCESS_METRICS,
  ...TASK_METRICS,
  ...EMBEDDING_METRICS,
  ...ADAPTER_METRICS,
  ...KV_METRICS,
  ...CLUSTER_METRICS,
  ...LOG_METRICS,
  ...SPLIT_METRICS,
} as const;

export interface RecallObservation extends Observation {
  /** Microseconds per stage, absent where the recall failed. */
  readonly stagesUs?: Readonly<Record<string, number>>;
  readonly short?: boolean;
  /** How far the counts of its frequency caps can be trusted; left out: it has none. */
  readonly caps?: 'exact' | 'cut' | 'unavailable' | undefined;
  /** Left out: the engine was not asked. */
  readonly searched?: SearchObservation | undefined;
}

type CallKind = 'score' | 'explain' | 'rank' | 'embed';

interface Metric {
  readonly name: string;
  readonly meaning: string;
}

const ADAPTER_ACTIONS = ['push', 'activate', 'rollback', 'pin', 'unpin', 'delete', 'lost', 'waits'];

/** The registry of one process; engine and pool are read at each scrape, where it has them. */
export class Metrics {
  readonly registry = new Registry();
  private readonly requests: TalliedCounter;
  private readonly latency: TalliedHistogram;
  /** Calls beside recalls. */
  private readonly calls: Readonly<Record<CallKind, readonly [TalliedCounter, TalliedHistogram]>>;
  private readonly relevance: RelevanceTallies;
  private readonly stage: TalliedHistogram;
  private ofWorkers: WorkerMetrics | undefined;
  private short = 0;
  private rankedItems = 0;
  private readonly caps: TalliedCounter;
  private readonly searches: SearchTallies;
  private readonly behaviours: TalliedCounter;
  private readonly changeMessages: TalliedCounter;
  private readonly audits: TalliedCounter;
  private readonly followed: TalliedCounter;
  private readonly kept: Readonly<Record<'records' | 'facts', TalliedCounter>>;
  private readonly adapterActions: TalliedCounter;
  private readonly consoleActions: TalliedCounter;

  constructor(engineCounts?: () => EngineCounts, kvCounts?: () => KvCounts) {
    registerProcess(this.registry);
    this.requests = this.answered(METRICS.recallRequests);
    this.latency = this.timed(METRICS.recallLatency, 'edge');
    const call = (requests: Metric, latency: Metric) =>
      [this.answered(requests), this.timed(latency, 'edge')] as const;
    this.calls = {
      score: call(METRICS.scoreRequests, METRICS.scoreLatency),
      explain: call(METRICS.explainRequests, METRICS.explainLatency),
      rank: call(METRICS.rankRequests, METRICS.rankLatency),
      embed: call(METRICS.embedRequests, METRICS.embedLatency),
    };
    this.relevance = new RelevanceTallies(this.registry);
    copyCount(this.registry, METRICS.rankedItems, () => this.rankedItems);
    this.stage = this.timed(METRICS.recallStage, 'stage');
    copyCount(this.registry, METRICS.recallShort, () => this.short);
    this.caps = this.byOutcome(METRICS.recallCaps, 'exact', 'cut', 'unavailable');
    this.searches = new SearchTallies(this.registry);
    this.behaviours = new TalliedCounter(
      this.registry,
      METRICS.behaviours,
      ['edge', 'outcome'],
      combined(['grpc', 'http', 'kafka'], ['added', 'duplicate', 'outside', 'dead']),
    );
    this.changeMessages = this.byOutcome(METRICS.changeMessages, 'applied', 'dead');
    this.audits = this.byOutcome(METRICS.audits, 'written', 'failed', 'dropped');
    this.followed = this.byOutcome(METRICS.followed, 'appended', 'failed', 'dropped');
    this.kept = {
      records: this.byOutcome(METRICS.inspected, 'written', 'failed', 'dropped'),
      facts: this.byOutcome(METRICS.facts, 'written', 'failed', 'dropped'),
    };
    this.adapterActions = this.byAction(METRICS.adapterActions, ADAPTER_ACTIONS);
    this.consoleActions = this.byAction(METRICS.consoleActions, []);
    if (engineCounts !== undefined) registerEngineMetrics(this.registry, engineCounts);
    if (kvCounts !== undefined) registerKvMetrics(this.registry, kvCounts);
  }

  observe(observation: RecallObservation): void {
    const { edge, code, seconds, stagesUs, short, caps: outcome, searched } = observation;
    this.requests.count(edge, code);
    this.latency.observe(seconds, edge);
    if (short) this.short += 1;
    if (outcome !== undefined) this.caps.count(outcome);
    if (searched !== undefined) this.searches.observe(searched);
    for (const field in stagesUs) {
      const us = stagesUs[field] as number;
      this.stage.observe(us / MICROSECONDS_PER_SECOND, field.replace(/Us$/, ''));
    }
  }

  observeCall(kind: CallKind, { edge, code, seconds }: Observation): void {
    const [requests, latency] = this.calls[kind];
    requests.count(edge, code);
    latency.observe(seconds, edge);
  }

  countRanked(items: number): void {
    this.rankedItems += items;
  }

  observeRelevance(seen: RelevanceObservation): void {
    this.relevance.observe(seen);
  }

  /** `outcome`: what a store says of a behaviour, or `dead` where it can never be stored. */
  countBehaviour(edge: Edge, outcome: 'added' | 'duplicate' | 'outside' | 'dead'): void {
    this.behaviours.count(edge, outcome);
  }

  countChangeMessages(outcome: 'applied' | 'dead', count: number): void {
    this.changeMessages.add(count, outcome);
  }

  countAudits(outcome: 'written' | 'failed' | 'dropped', count: number): void {
    this.audits.add(count, outcome);
  }

  /** A user whose keys and values were to follow new behaviours. */
  countFollowed(outcome: 'appended' | 'failed' | 'dropped'): void {
    this.followed.count(outcome);
  }

  countKept(kind: 'records' | 'facts', outcome: string, count: number): void {
    this.kept[kind].add(count, outcome);
  }

  countConsoleAction(action: string, code: string): void {
    this.consoleActions.count(action, code);
  }

  countAdapterAction(action: string, code: string): void {
    this.adapterActions.count(action, code);
  }

  /** Adapters count by themselves; each scrape copies their counts. */
  showAdapters(counts: () => AdapterCounts): void {
    registerAdapterMetrics(this.registry, counts);
  }

  /** Calls that a gateway splits over its nodes; read at each scrape. */
  showSplit(counts: () => SplitCounts): void {
    registerSplitMetrics(this.registry, counts);
  }

  /** Nodes of a gateway's cluster; read at each scrape. */
  showCluster(counts: () => ClusterCounts): void {
    registerClusterMetrics(this.registry, counts);
  }

  /** Answers of a gateway, as its callers got them. */
  countForwarded(): (observation: ForwardedObservation) => void {
    return countForwarded(this.registry);
  }

  /** How far this process is in the log of its cluster; read at each scrape. */
  showLog(counts: () => LogCounts): void {
    registerLogMetrics(this.registry, counts);
  }

  /** Refusals and audits are counted where they happen; each scrape copies the counts. */
  showAccess(counts: () => AccessCounts): void {
    registerAccessMetrics(this.registry, counts);
  }

  /** Counts refusals: there are many a second, so they are only copied at a scrape. */
  countGateRefusals(): () => void {
    const counts = { ENGINE_OVERLOADED: 0 };
    copyCounts(this.registry, METRICS.gateRefusals, 'code', () => counts);
    return () => {
      counts.ENGINE_OVERLOADED += 1;
    };
  }

  /** Counts of things held while nothing is under way; read at each scrape. */
  showHeld(read: () => HeldCounts): void {
    registerHeld(this.registry, read);
  }

  /** Models of texts, read at each scrape. */
  showEmbedding(read: () => readonly EmbeddingState[]): void {
    registerEmbeddingMetrics(this.registry, read);
  }

  /** Long calls; read at each scrape. */
  showTasks(read: () => readonly TaskCount[]): void {
    registerTaskMetrics(this.registry, read);
  }

  /** The program that runs. */
  showBuild(facts: BuildFacts): void {
    registerBuild(this.registry, facts);
  }

  /** Read at each scrape. */
  showCatalogues(read: () => readonly CatalogueCount[]): void {
    registerCatalogues(this.registry, read);
  }

  /** How far topics are behind; read at each scrape. */
  showTopicLag(read: () => readonly TopicLag[]): void {
    registerTopicLag(this.registry, read);
  }

  /** Dependencies and stores; read at each scrape. */
  showConditions(read: () => readonly ConditionCount[]): void {
    registerConditions(this.registry, read);
  }

  /** Disks of the folders that the process writes to; read at each scrape. */
  showDisks(read: Parameters<typeof registerDisks>[1]): void {
    registerDisks(this.registry, read);
  }

  /** Certificates; read at each scrape. */
  showCertificates(read: Parameters<typeof registerCertificates>[1]): void {
    registerCertificates(this.registry, read);
  }

  /** Spans of traces; read at each scrape. */
  showSpans(read: () => SpanCounts): void {
    registerSpans(this.registry, read);
  }

  /** Caches that the start gave up. */
  showDroppedCaches(caches: readonly string[]): void {
    registerDroppedCaches(this.registry, caches);
  }

  /** Prometheus text exposition format 0.0.4. */
  text(): Promise<string> {
    return this.ofWorkers?.text() ?? this.registry.metrics();
  }

  /** Makes text() tell of all workers of this one's leader, once all is shown. */
  tellOfWorkers(): void {
    this.ofWorkers = new WorkerMetrics(this.registry);
  }

  private answered(metric: Metric): TalliedCounter {
    const start = combined(EDGES, CODES_FROM_START);
    return new TalliedCounter(this.registry, metric, ['edge', 'code'], start);
  }

  private byOutcome(metric: Metric, ...outcomes: readonly string[]): TalliedCounter {
    return new TalliedCounter(this.registry, metric, ['outcome'], combined(outcomes));
  }

  private byAction(metric: Metric, actions: readonly string[]): TalliedCounter {
    return new TalliedCounter(this.registry, metric, ['action', 'code'], combined(actions, ['OK']));
  }

  private timed(metric: Metric, label: string) {
    return new TalliedHistogram(this.registry, metric, [label], LATENCY_BUCKETS);
  }
}
