import type { AdapterEvent } from '@tessera/adapter';
import { behaviourOptions, parseClickActions } from '@tessera/behaviour';
import {
  type ProgressListener,
  parseCatalogueSpecs,
  parseFlight,
  parseSource,
} from '@tessera/catalogue';
import { peerConnection, TesseraClient } from '@tessera/client';
import { type Config, redisPrefix, redisSecurity } from '@tessera/config';
import { type EmbeddingModels, NO_MODELS } from '@tessera/embedding';
import { engineLimits, type KvSharing, kvOptions, scalesIn } from '@tessera/engine';
import { expecting, type TesseraError } from '@tessera/errors';
import {
  DEFAULT_RESULT_COUNT,
  parseFrequencyCaps,
  RECALL_CHOICES,
  type RecallRuntimeOptions,
} from '@tessera/recall';
import type { Tracing } from '@tessera/telemetry';
import { RemoteBehaviours } from '../../retrieval/src/index.js';
import { adapterSettings } from './adapters.js';

const invalid = expecting('CONFIG_INVALID');

/**
 * Milliseconds that an update of the weights waits for running requests, during which no new one is
 * let in: above the deadline of an ordinary recall, below what callers take for an outage.
 */
const UPDATE_WAIT_MS = 1000;

/** Changes before a new snapshot is built; of large catalogues an eighth of the items. */
const COMPACT_AFTER_CHANGES = 100_000;

function behavioursOf(config: Config, tracing: Tracing) {
  const { behaviours, users, disk, peer, recall, model, catalogue } = config;
  const { store, remote: address } = behaviours;
  if (store === 'remote' && recall.withoutHistory === 'popular') {
    throw invalid(
      'recall.withoutHistory',
      'answer or refuse where behaviours are remote',
      'popular',
    );
  }
  if (store !== 'remote') {
    const servedWith = { modelPath: model.path, cataloguePath: catalogue.path };
    const keyPrefix = redisPrefix(config);
    const security = redisSecurity(config, behaviours.redis);
    const secured = { ...behaviours, keyPrefix, store, redisSecurity: security, servedWith };
    return behaviourOptions(secured, users.path, disk);
  }
  if (address === '') {
    throw invalid('behaviours.remote', 'HOST:PORT of a feature process', undefined);
  }
  const connection = peerConnection(peer);
  const client = new TesseraClient(address, { connection, headers: () => tracing.outgoing() });
  return new RemoteBehaviours({ client, address });
}

/** Listeners to events that nobody asked for. */
export interface Listeners {
  readonly onProgress: ProgressListener;
  readonly onCompacted: (error: TesseraError | undefined) => void;
  readonly onUndeclared: (catalogue: string, findings: readonly string[]) => void;
  readonly onAdapterEvent: (event: AdapterEvent) => void;
  readonly onUnusableProfile: (key: string) => void;
}

function recallDefaults({ recall, behaviours, engine }: Config): RecallRuntimeOptions['recall'] {
  const { frequencyCaps, ...others } = recall;
  return {
    ...others,
    ...RECALL_CHOICES,
    resultCount: Math.min(DEFAULT_RESULT_COUNT, engine.resultCountMax),
    isClick: parseClickActions(behaviours.clickActions),
    frequencyCaps: parseFrequencyCaps(frequencyCaps),
  };
}

/** The slice of the configuration that the recall service is composed from. */
export function runtimeOptions(
  config: Config,
  tracing: Tracing,
  listeners: Listeners,
  textModels: EmbeddingModels = NO_MODELS,
  sharing: KvSharing | undefined = undefined,
): RecallRuntimeOptions {
  const { onProgress, onCompacted, onUndeclared, onUnusableProfile } = listeners;
  const adapters = adapterSettings(config, listeners.onAdapterEvent);
  return {
    modelPath: config.model.path,
    computeType: config.model.computeType,
    activationScalesPath: scalesIn(config.model.path, config.model.computeType),
    catalogueSources: [parseSource(config.catalogue.path)],
    titlesPath: config.catalogue.titlesPath,
    behaviours: behavioursOf(config, tracing),
    cacheDir: config.catalogue.cachePath,
    changes: {
      folder: config.catalogue.changesPath,
      sync: 'commit',
      levelSizes: config.catalogue.levelSizes,
      compactAfterChanges: COMPACT_AFTER_CHANGES,
      reserveBytes: config.disk.reserveBytes,
      onCompacted,
      attributesPath: config.catalogue.attributesPath,
      valuationsPath: config.recall.valuations,
      codebooksPath: config.catalogue.codebooksPath,
      flight: parseFlight(config.catalogue.flight),
      onUndeclared,
    },
    textModels,
    moreCatalogues: parseCatalogueSpecs(config.catalogue.more),
    engine: engineLimits(config.engine),
    ...(adapters && { adapters, adapterBytesMax: config.adapters.bytesMax }),
    weights: {
      ...config.weights,
      waitMaxMs: UPDATE_WAIT_MS,
      reserveBytes: config.disk.reserveBytes,
    },
    kv: {
      ...kvOptions(config),
      versionsBackMax: config.adapters.kvVersionsBack,
      diskReserveBytes: config.disk.reserveBytes,
      ...(sharing && { sharing }),
    },
    recall: recallDefaults(config),
    process: { node: config.node.name },
    onProgress,
    onUnusableProfile,
  };
}
