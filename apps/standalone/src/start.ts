import { MEBIBYTE } from '@tessera/units';
import 'reflect-metadata';
import { join } from 'node:path';
import type { Config } from '@tessera/config';
import type { EmbeddingModels } from '@tessera/embedding';
import { configNote } from '@tessera/engine';
import { refuseOpenDoors, type Serving } from '@tessera/hosting';
import { drainOnStopSignals, refuseCutOff, serviceVersion } from '@tessera/lifecycle';
import { RetrievalNode } from '@tessera/node';
import { samplingNote } from '@tessera/prompt';
import { createRecallRuntime, type RecallOperations, type RecallRuntime } from '@tessera/recall';
import {
  type Output,
  openOutput,
  openTracing,
  reportServing,
  type Tracing,
} from '@tessera/telemetry';
import {
  openClusterLog,
  pendingErasuresOf,
  warnOfForeignBehaviours,
} from '../../feature/src/index.js';
import { AdapterEventRelay, serveDemoHeads } from './adapters.js';
import { openEmbedding } from './embedding.js';
import { beginInspection } from './inspection.js';
import { keptFormats } from './kept-formats.js';
import { ProgressLines } from './progress.js';
import { namedByKey } from './refused-options.js';
import { openRelevance } from './relevance.js';
import { runtimeOptions } from './runtime-options.js';
import { sampleTable } from './sample-table.js';
import { serve } from './serve.js';
import { SharedStores } from './shared-stores.js';
import { startWorld } from './world-process.js';

async function load(
  config: Config,
  { log, print }: Output,
  tracing: Tracing,
  adapterEvents: AdapterEventRelay,
  embedding: EmbeddingModels,
  stores: SharedStores,
): Promise<RecallRuntime> {
  print(`Loading ${config.model.path}`);
  const sharing = await stores.open();
  const progress = new ProgressLines(print);
  const runtime = await createRecallRuntime(
    runtimeOptions(
      config,
      tracing,
      {
        onProgress: progress.listener,
        onCompacted: (error) => {
          if (error === undefined) log.info({}, 'the catalogue was compacted');
          else log.error({ err: error }, 'the catalogue could not be compacted');
        },
        onUndeclared: (catalogue, findings) =>
          log.warn({ catalogue, findings }, 'items have attributes that are not declared'),
        onAdapterEvent: adapterEvents.tell,
        onUnusableProfile: (key) =>
          log.warn({ key }, 'stored profiles have values that prompts cannot use: left out'),
      },
      embedding,
      sharing,
    ),
  ).catch((thrown: unknown) => {
    throw namedByKey(thrown);
  });
  progress.end();
  const { model, catalogue, promptTemplate, userCount } = runtime.facts.summary;
  print(
    `Model ${model.family}, ${model.parameterCount} parameters, ${model.computeType} on ` +
      `${model.instructionSet}; catalogue of ${catalogue.itemCount} items in ` +
      `${catalogue.pathCount} semantic IDs; template ${promptTemplate.name}; ` +
      (userCount === null ? `behaviours in ${placeOf(config)}` : `${userCount} users`),
  );
  const { path } = config.model;
  const { serving } = runtime.operations.weights.current();
  if (serving !== '') {
    const set = join(config.weights.path, serving);
    print(`Weights of ${set} in place of ${path} (docs/operate/adapter-versions.md)`);
  }
  for (const note of [await configNote(path), await samplingNote(path)]) {
    if (note !== undefined) print(note);
  }
  print(changesLine(runtime.operations));
  const { textsBy } = runtime.operations.changesOf('');
  if (textsBy !== '') print(`Semantic IDs of new items by their vectors; of texts: ${textsBy}`);
  print(kvLine(config));
  for (const path of keptFormats(config))
    print(`Kept of an older format: ${path} (docs/operate/formats.md)`);
  return runtime;
}

function placeOf({ behaviours: { store, path } }: Config): string {
  return store === 'embedded' ? path : store;
}

function changesLine(operations: RecallOperations): string {
  const changes = operations.changesOf('');
  if (changes.folder === '') return 'Changes of the catalogue end with the process';
  const { replayedChanges, cutBytes } = changes.state();
  const cut = cutBytes === 0 ? '' : `, ${cutBytes} bytes of a damaged tail cut`;
  return `Changes of the catalogue in ${changes.folder}: ${replayedChanges} found${cut}`;
}

function kvLine({ kv, adapters }: Config): string {
  const { deviceBytes, hostBytes, diskBytes, path, blockCodec, shared } = kv;
  if (deviceBytes === 0) return 'KV pool off';
  const size = (bytes: number) => `${(bytes / MEBIBYTE).toFixed(0)} MiB`;
  const disk = diskBytes === 0 ? 'none on disk' : `${size(diskBytes)} on disk in ${path}`;
  const codec = blockCodec === 'exact' ? '' : `; not exact below the device (${blockCodec})`;
  const above = `${size(deviceBytes)} on the device, ${size(hostBytes)} on the host`;
  const back = adapters.kvVersionsBack;
  const heritage = back === 0 ? '' : `; of adapters up to ${back} versions back, not exact`;
  const of = shared === '' ? '' : `, of all nodes in ${shared}`;
  return `KV pool: ${above}, ${disk}${of}${codec}${heritage}`;
}

async function printSample(
  { report }: Output,
  runtime: RecallRuntime,
  config: Config,
): Promise<void> {
  const [userId] = await runtime.facts.sampleUserIds(1);
  if (userId === undefined) return;
  const request = {
    requestId: 'sample',
    userId,
    profile: {},
    scene: {},
    resultCount: 0,
    widths: [],
    itemsPerSid: 0,
    skipUnknownItems: false,
  };
  const context = {
    signal: new AbortController().signal,
    budgetUs: config.recall.deadlineMsMax * 1000,
  };
  const answer = await runtime.serving.recall(request, context);
  const { totalUs } = answer.timings;
  const title = `\nRecall for user ${userId} (${(totalUs / 1000).toFixed(1)} ms)`;
  const items = answer.items.length;
  const message = 'the sample recall was answered';
  report(`${title}\n${sampleTable(answer)}`, { userId, items, totalUs }, message);
}

/** Neither keeps the service from serving. */
async function showDemo(output: Output, runtime: RecallRuntime, config: Config): Promise<void> {
  const { log } = output;
  await serveDemoHeads(config, runtime).catch((error: unknown) => {
    log.warn({ err: error }, "the demo's heads do not serve");
  });
  await printSample(output, runtime, config).catch((error: unknown) => {
    log.warn({ err: error }, 'the sample recall failed');
  });
}

const addressesOf = ({ httpUrl, grpcAddress }: Serving, { console }: Config) => ({
  ...(console.pages === 'on' && { console: `${httpUrl}/console/` }),
  HTTP: `${httpUrl}/v1/recall`,
  gRPC: `${grpcAddress}  tessera.recall.v1.RecallService/Recall`,
  health: `${httpUrl}/health`,
  metrics: `${httpUrl}/metrics`,
  OpenAPI: `${httpUrl}/docs`,
});

/**
 * Loads what the configuration names and serves it.
 * @param world program of simulated users that begin once it serves
 */
export async function start(config: Config, isJsonLog: boolean, world?: string): Promise<void> {
  // A model takes long to load: what keeps the service from serving is said before.
  refuseOpenDoors(config);
  await refuseCutOff(config);
  const output = openOutput(config.log.level, isJsonLog);
  const { log, print } = output;
  await warnOfForeignBehaviours(config, log);
  const version = serviceVersion();
  const service = { serviceName: 'tessera', serviceVersion: version };
  const tracing = await openTracing({ ...config.tracing, ...service }, log);
  const adapterEvents = new AdapterEventRelay();
  // Before the catalogue, whose codebooks may have their vectors from one of them.
  const embedding = await openEmbedding(config);
  for (const note of embedding.notes) log.warn({}, note);
  const recorded = beginInspection(config, log);
  const { opened, nodeKey } = openClusterLog(config);
  const stores = new SharedStores(config, log);
  const loading = () => load(config, output, tracing, adapterEvents, embedding, stores);
  const joining = async () => {
    if (opened === undefined) return { runtime: await loading(), clusterNode: undefined };
    const pending = await pendingErasuresOf(config);
    const parts = { config, opened, pending, eraseRecalls: recorded.eraseUser, log };
    return RetrievalNode.join(parts, loading);
  };
  const loaded = await joining().catch(async (error: unknown) => {
    embedding.close();
    await stores.close();
    await recorded.close();
    await opened?.log.close();
    throw error;
  });
  const { runtime, clusterNode } = loaded;
  const [inspection, relevance] = await Promise.all([recorded.opened, openRelevance(config)]).catch(
    async (error: unknown) => {
      embedding.close();
      await recorded.close();
      await clusterNode?.close();
      await runtime.close();
      await stores.close();
      throw error;
    },
  );
  if (relevance !== undefined) print(`Relevance: ${relevance.description}`);
  for (const note of relevance?.notes ?? []) log.warn({}, `relevance model: ${note}`);
  const own = { embedding, inspection, relevance, adapterEvents, stores, serviceVersion: version };
  const parts = { config, runtime, clusterNode, nodeKey, log, tracing, ...own };
  const serving = await serve(parts).catch(async (error: unknown) => {
    embedding.close();
    await inspection?.close();
    await relevance?.close();
    await clusterNode?.close();
    await runtime.close();
    await stores.close();
    throw error;
  });
  drainOnStopSignals(serving.drain, (status) => process.exit(status));
  reportServing(output, addressesOf(serving, config));
  if (world !== undefined) startWorld(world, serving.grpcAddress, config, output);
  await showDemo(output, runtime, config);
}
