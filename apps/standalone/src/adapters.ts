import {
  type AdapterEvent,
  type AdapterSettings,
  CANARY_RULES,
  DEFAULT_ADAPTER,
  DEFAULT_RANKING,
  fetchedParts,
  NORM_MAX,
  RANK_MAX,
  VERSION_BYTES_MAX,
} from '@tessera/adapter';
import { type Config, servesOwnDemo } from '@tessera/config';
import { type RecordProducer, topicNames } from '@tessera/kafka';
import type { Readiness } from '@tessera/lifecycle';
import type { RecallOperations, RecallRuntime } from '@tessera/recall';
import type { Log, Metrics } from '@tessera/telemetry';
import { AdapterAudits, AdapterEdge, WeightsEdge } from '../../retrieval/src/index.js';
import type { Access } from './access.js';

/** Events of adapters, kept until the edges listen: adapters are there before edges. */
export class AdapterEventRelay {
  private readonly waiting: AdapterEvent[] = [];
  private listener: ((event: AdapterEvent) => void) | undefined;

  readonly tell = (event: AdapterEvent): void => {
    if (this.listener === undefined) this.waiting.push(event);
    else this.listener(event);
  };

  listen(listener: (event: AdapterEvent) => void): void {
    this.listener = listener;
    for (const event of this.waiting.splice(0)) listener(event);
  }
}

/** Name of the heads' folder in the demo's model folder. */
const HEADS_FOLDER = 'ranking';
/** Users that a new version answers where no golden set is given: under a second of recalls. */
const GOLDEN_USERS = 16;
/** Users whose keys and values are computed before a switch: those who come most often. */
const WARM_USERS = 256;
/** Milliseconds of that computation, which delays the switch. */
const WARM_MS = 10_000;

/** The slice of the configuration that adapters are composed from; undefined: none are kept. */
export function adapterSettings(
  { adapters, cluster }: Config,
  onEvent: (event: AdapterEvent) => void,
): AdapterSettings | undefined {
  const { path, diskBytes, goldenPath } = adapters;
  if (path === '') return undefined;
  const limits = {
    rankMax: RANK_MAX,
    normMax: NORM_MAX,
    versionBytesMax: VERSION_BYTES_MAX,
    diskBytesMax: diskBytes,
  };
  return {
    registry: { folder: path, defaultName: DEFAULT_ADAPTER, limits },
    rollout: {
      golden: { path: goldenPath, userCount: GOLDEN_USERS },
      watch: { rules: CANARY_RULES },
      warmUsers: WARM_USERS,
      warmMs: WARM_MS,
      onlyAnswers: cluster.role === 'answer',
    },
    onEvent,
  };
}

/** The demo's heads serve until another version of their name is pushed. */
export async function serveDemoHeads(config: Config, runtime: RecallRuntime): Promise<void> {
  const { adapters } = runtime.operations;
  if (adapters === undefined || !servesOwnDemo(config)) return;
  if (adapters.list(DEFAULT_RANKING).length > 0) return;
  const baseModel = runtime.facts.summary.model.digest;
  const announced = { name: DEFAULT_RANKING, baseModel, location: HEADS_FOLDER, sha256: {} };
  await adapters.serve(fetchedParts(config.model.path, announced), 'demo');
}

export interface ModelEdges {
  readonly adapters: AdapterEdge;
  readonly weights: WeightsEdge;
}

/** Parts of the edges of adapters and weights. */
export interface AdapterEdgeNeeds {
  readonly config: Config;
  readonly operations: RecallOperations;
  readonly log: Log;
  readonly adapterEvents?: AdapterEventRelay;
}

/** The edges of adapters and weights; what adapters tell of themselves is audited as well. */
export function modelEdgesOf(
  { config, operations, log, adapterEvents }: AdapterEdgeNeeds,
  access: Access,
  producer: RecordProducer | undefined,
  metrics: Metrics,
  readiness: Readiness,
): ModelEdges {
  const { adapters, weights } = operations;
  const { adapterEventsTopic: topic } = topicNames(config.kafka.topicPrefix);
  const events = producer && { producer, topic };
  const { audits: lines } = access.process;
  const audits = new AdapterAudits({ audits: lines, metrics, log, events, nowMs: Date.now });
  const edge = new AdapterEdge({ adapters, audits });
  adapterEvents?.listen((event) => {
    void edge.note(event);
  });
  if (adapters !== undefined) metrics.showAdapters(() => adapters.counts());
  const weightsEdge = new WeightsEdge({ weights, audits, readiness });
  return { adapters: edge, weights: weightsEdge };
}
