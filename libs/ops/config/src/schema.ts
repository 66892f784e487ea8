/**
 * Every key of the configuration: type, bounds, default and meaning. docs/operate/configuration.md
 * lists the same keys (test/contract compares them).
 */

import { hostname } from 'node:os';
import { MEBIBYTE } from '@tessera/units';
import { z } from 'zod';
import { ENGINE_LIMITS } from './generated/engine-limits.js';
import { readMachine } from './machine.js';
import { accessSchema, peerSchema } from './schema-access.js';
import { adaptersSchema, weightsSchema } from './schema-adapters.js';
import { behavioursSchema } from './schema-behaviours.js';
import { KAFKA_SECURITY, KAFKA_TOPICS } from './schema-brokers.js';
import { clusterSchema } from './schema-cluster.js';
import { consoleSchema, inspectionSchema, loginSchema, oidcSchema } from './schema-console.js';
import { diskSchema } from './schema-disk.js';
import { grpcSchema, httpSchema, shutdownSchema } from './schema-edges.js';
import { embeddingSchema } from './schema-embedding.js';
import {
  DEMO_MODEL,
  integer,
  type LeafMeta,
  nonEmptyText,
  oneOf,
  storeFolder,
  text,
} from './schema-fields.js';
import { RECALL_LIMITS, recallSchema } from './schema-recall.js';
import { relevanceSchema } from './schema-relevance.js';
import { tasksSchema } from './schema-tasks.js';
import { tracingSchema } from './schema-tracing.js';

const GIBIBYTE = 2 ** 30;

/** Bounds that a value of the configuration may itself not exceed. */
export const CONFIG_LIMITS = {
  ...ENGINE_LIMITS,
  ...RECALL_LIMITS,
  kvBytesMax: 2 ** 50,
  messageBytesMax: 256 * MEBIBYTE,
  partitionsMax: 1024,
  batchRecordsMax: 10_000,
  nodeNameMax: 253,
  levelSizeMax: 2 ** 20,
  levelsMax: 32,
  compactAfterChangesMax: 2 ** 30,
} as const;

const L = CONFIG_LIMITS;

const MACHINE = readMachine();
const NEEDED = { canBeEmpty: false };
const OPTIONAL = { canBeEmpty: true };

/** One part in so many of the memory that this process may use, in bytes. */
function memoryShare(parts: number): number {
  return Math.min(L.kvBytesMax, Math.max(MEBIBYTE, Math.floor(MACHINE.memoryBytes / parts)));
}

const levelSizes = z
  .array(z.int().min(1).max(L.levelSizeMax))
  .max(L.levelsMax)
  .default([])
  .meta({
    expected: `0..${L.levelsMax} integers of 1..${L.levelSizeMax}, separated by commas`,
    meaning: 'codes per level that changes may use; empty: those of the catalogue',
  });

export const configSchema = z.strictObject({
  http: httpSchema,
  grpc: grpcSchema,
  model: z.strictObject({
    path: nonEmptyText(DEMO_MODEL, 'Hugging Face folder with tokenizer and prompt.json'),
    computeType: oneOf(
      ['bf16', 'f32', 'w8a8'],
      'bf16',
      'type of the matrix products; w8a8: linear layers in INT8, the rest in BF16',
    ),
    activationScalesPath: text('', 'fixed activation scales for w8a8; empty: each row its own'),
  }),
  catalogue: z.strictObject({
    path: text('', 'snapshot or importable file; empty: catalogue.jsonl in the model folder'),
    domain: text('', 'domain given to all items of the file'),
    titlesPath: text('', 'JSON or TSV of titles; empty: none'),
    toleratedRows: integer(
      0,
      1_000_000,
      0,
      'bad rows of a bundle of Parquet files that do not refuse it',
    ),
    attributesPath: text('', 'JSON that declares the attributes there may be; empty: any'),
    codebooksPath: text(
      '',
      'folder of codebooks for items with text or vector; empty: the model folder if it has them',
    ),
    flight: text('', 'number attributes of begin and end of a flight, as begin,end; empty: none'),
    more: text('', 'further catalogues: name=path#domain=D#attributes=FILE#begin=TEXT; and so on'),
    cachePath: storeFolder('catalogue', 'folder where built snapshots are kept', NEEDED),
    changesPath: storeFolder(
      'changes',
      'folder of changes; empty: they end with the process',
      OPTIONAL,
    ),
    changesSync: oneOf(
      ['commit', 'never'],
      'commit',
      'when an acknowledged change lies on the device: before it is acknowledged, or whenever',
    ),
    levelSizes,
    compactAfterChanges: integer(
      0,
      L.compactAfterChangesMax,
      100_000,
      'changes until a new snapshot is made, or an eighth of its items if more; 0: until asked to',
    ),
  }),
  node: z.strictObject({
    name: z
      .string()
      .min(1)
      .max(L.nodeNameMax)
      .default(hostname())
      .meta({
        expected: `text of 1..${L.nodeNameMax} characters`,
        meaning: 'name of this process, which its answers carry',
        defaultText: 'name of the host',
      }),
  }),
  cluster: clusterSchema,
  users: z.strictObject({
    path: text(
      '',
      'users.json or a file of sequences, which an empty store begins with; empty: users.json in ' +
        'the model folder, if any',
    ),
  }),
  behaviours: behavioursSchema,
  kafka: z.strictObject({
    brokers: text('', 'HOST:PORT of some brokers, separated by commas; empty: no Kafka'),
    groupId: nonEmptyText(
      'tessera',
      'consumer groups of this service, GROUP.TOPIC; ' +
        'what all processes take: GROUP.TOPIC.NODE.PLACE',
    ),
    ...KAFKA_TOPICS,
    createPartitions: integer(
      0,
      L.partitionsMax,
      6,
      'partitions of a topic that is missing and made; 0: a missing topic is waited for',
    ),
    batchRecordsMax: integer(1, L.batchRecordsMax, 64, 'records of a partition served at once'),
    fetchBytesMax: integer(1024, L.messageBytesMax, MEBIBYTE, 'bytes fetched of a partition'),
    ...KAFKA_SECURITY,
  }),
  engine: z.strictObject({
    device: text('cpu', 'what computes: the processor, or card N of the machine', 'cpu or cuda:N'),
    vocabulary: oneOf(
      ['full', 'catalogue'],
      'full',
      'tokens that scores are computed of: all, or those that the catalogues can use; rows of ' +
        'the others are not loaded, and recall.scoreNorm is level or allowed',
    ),
    threadCount: integer(
      1,
      L.threadCountMax,
      // One core is left to the edges: parsing and mapping must not wait for a forward pass.
      Math.min(L.threadCountMax, Math.max(1, MACHINE.cpuCount - 1)),
      "compute threads, the engine's own included",
      'cores of the machine, or of the cgroup, but one',
    ),
    threadPlacement: oneOf(
      ['pinned', 'free'],
      'free',
      'pinned: each thread on a CPU of its own, the first of those that the process may use, ' +
        'which no other process may use then; free: left to the system',
    ),
    queueCapacity: integer(1, L.queueCapacityMax, 256, 'requests waiting or running at most'),
    batchRequestsMax: integer(1, L.batchRequestsMax, 16, 'requests that share forward passes'),
    batchRowsMax: integer(
      1,
      L.batchRowsMax,
      1024,
      'rows of a forward pass at most: prompt tokens and beams of all requests in it',
    ),
    prefillChunkTokens: integer(
      1,
      L.prefillChunkTokensMax,
      512,
      'prompt tokens computed per forward pass at most',
    ),
    passTimeTargetUs: integer(
      0,
      L.passTimeTargetUsMax,
      5_000,
      'microseconds of a pass with one request; longer with several, or where passes cost much ' +
        'whatever their rows; 0: not bounded',
    ),
    batching: oneOf(
      ['continuous', 'whole'],
      'continuous',
      'requests join a running batch between passes, or wait until it has ended',
    ),
    kvBytesMax: integer(
      MEBIBYTE,
      L.kvBytesMax,
      memoryShare(4),
      'bytes of the keys and values of all running requests at most, beams included',
      'a quarter of the memory that may be used',
    ),
    promptTokensMax: integer(1, L.promptTokensMax, 4096, 'tokens of a prompt at most'),
    widthMax: integer(1, L.widthMax, 512, 'beam width that a request may ask for'),
    resultCountMax: integer(1, L.resultCountMax, 1000, 'items that a request may ask for'),
    scoreItemsMax: integer(1, L.scoreItemsMax, 512, 'items whose scores a request may ask for'),
  }),
  kv: z.strictObject({
    pool: oneOf(
      ['on', 'off'],
      'on',
      'keep what was computed for a user, to find it again at the next visit',
    ),
    deviceBytes: integer(
      1024,
      L.kvBytesMax,
      memoryShare(8),
      'bytes of the device tier; the prompts of running requests lie there as well',
      'an eighth of the memory that may be used',
    ),
    hostBytes: integer(
      0,
      L.kvBytesMax,
      memoryShare(16),
      'bytes of the host tier; 0: none',
      'a sixteenth of the memory that may be used',
    ),
    diskBytes: integer(0, L.kvBytesMax, 4 * GIBIBYTE, 'bytes of the disk tier; 0: none'),
    path: storeFolder('kv', 'folder of the disk tier; one process at a time', NEEDED),
    blockCodec: oneOf(
      ['exact', 'int8'],
      'exact',
      'how blocks lie in the host and disk tiers; int8: half of bf16, answers differ and say so',
    ),
    eviction: oneOf(
      ['lru', 'segmented-lru'],
      'lru',
      'whose blocks go first where a tier is full; segmented-lru: first those of users seen once',
    ),
    readThreads: integer(1, L.kvThreadsMax, 2, 'threads that bring blocks to the device'),
    storeQueueMax: integer(
      1,
      L.kvQueueMax,
      1024,
      'users whose new blocks wait to be stored at most; further ones are not stored',
    ),
    prefetchQueueMax: integer(
      2,
      L.kvQueueMax,
      256,
      'users whose blocks wait to be loaded at most; further ones are computed',
    ),
    memory: oneOf(
      ['pageable', 'locked'],
      'pageable',
      'locked: device and host tier are taken at the start and never swapped, where allowed',
    ),
  }),
  recall: recallSchema,
  relevance: relevanceSchema,
  disk: diskSchema,
  tasks: tasksSchema,
  embedding: embeddingSchema,
  adapters: adaptersSchema,
  weights: weightsSchema,
  access: accessSchema,
  peer: peerSchema,
  inspection: inspectionSchema,
  console: consoleSchema,
  login: loginSchema,
  oidc: oidcSchema,
  shutdown: shutdownSchema,
  tracing: tracingSchema,
  log: z.strictObject({
    level: oneOf(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'info',
      'least severe line that is logged',
    ),
  }),
});

export type Config = z.infer<typeof configSchema>;

export interface ConfigKey {
  /** Path in the file, e.g. `engine.queueCapacity`. */
  readonly path: string;
  /** Name in the environment, e.g. `TESSERA_ENGINE_QUEUE_CAPACITY`. */
  readonly variable: string;
  readonly expected: string;
  readonly meaning: string;
  readonly defaultText: string;
  /** Of a folder of a store: its name in the folder of all data. */
  readonly storeName: string | undefined;
  readonly kind: 'integer' | 'number' | 'list' | 'text';
}

export const VARIABLE_PREFIX = 'TESSERA_';

function variableOf(path: string): string {
  const words = path.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replaceAll('.', '_');
  return VARIABLE_PREFIX + words.toUpperCase();
}

function keyOf(path: string, leaf: z.ZodDefault): ConfigKey {
  const meta = leaf.meta() as LeafMeta | undefined;
  if (!meta) throw new Error(`config key ${path} has no meta`);
  const fallback = leaf.def.defaultValue;
  const { expected, meaning, storeName } = meta;
  const number = expected.startsWith('number') ? 'number' : 'integer';
  const kind = typeof fallback === 'number' ? number : Array.isArray(fallback) ? 'list' : 'text';
  const defaultText = meta.defaultText ?? String(fallback);
  return { path, variable: variableOf(path), expected, meaning, defaultText, storeName, kind };
}

/** Every key, in the order of the schema. */
export const CONFIG_KEYS: readonly ConfigKey[] = Object.entries(configSchema.shape).flatMap(
  ([area, group]) =>
    Object.entries(group.shape).map(([name, leaf]) => keyOf(`${area}.${name}`, leaf)),
);
