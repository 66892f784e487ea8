/**
 * Every key of the configuration: type, bounds, default and meaning. docs/operate/configuration.md
 * lists the same keys (test/contract compares them).
 */

import { hostname } from 'node:os';
import { MEBIBYTE } from '@tessera/units';
import { z } from 'zod';
import type { BucketPlace } from './aws-variables.js';
import { ENGINE_LIMITS } from './generated/engine-limits.js';
import { readMachine } from './machine.js';
import { OPERATOR_KEYS } from './operator-keys.js';
import type { TracingConfig } from './otel-variables.js';
import { accessSchema, peerSchema } from './schema-access.js';
import { adaptersSchema, weightsSchema } from './schema-adapters.js';
import { behavioursSchema } from './schema-behaviours.js';
import { KAFKA_SECURITY, KAFKA_TOPICS } from './schema-brokers.js';
import { clusterSchema } from './schema-cluster.js';
import { consoleSchema, inspectionSchema, loginSchema, oidcSchema } from './schema-console.js';
import { diskSchema } from './schema-disk.js';
import { edgeSchema, grpcSchema, httpSchema, shutdownSchema } from './schema-edges.js';
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

const GIBIBYTE = 2 ** 30;

/** Bounds that a value of the configuration may itself not exceed. */
export const CONFIG_LIMITS = {
  ...ENGINE_LIMITS,
  ...RECALL_LIMITS,
  kvBytesMax: 2 ** 50,
  messageBytesMax: 256 * MEBIBYTE,
  nodeNameMax: 253,
  levelSizeMax: 2 ** 20,
  levelsMax: 32,
} as const;

const L = CONFIG_LIMITS;

const MACHINE = readMachine();
const NEEDED = { canBeEmpty: false };
const OPTIONAL = { canBeEmpty: true };

/** A fraction of the memory that this process may use, in bytes. */
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
  edge: edgeSchema,
  model: z.strictObject({
    path: nonEmptyText(DEMO_MODEL, 'Hugging Face folder with weights, tokenizer and prompt.json'),
    computeType: oneOf(
      ['bf16', 'f32', 'w8a8'],
      'bf16',
      'number type of the matrix products; w8a8: INT8 in linear layers, BF16 elsewhere',
    ),
  }),
  catalogue: z.strictObject({
    path: text(
      '',
      'snapshot or importable file, with #domain=NAME behind it where all items are of one ' +
        'domain; empty: catalogue.jsonl in the model folder',
    ),
    titlesPath: text('', 'JSON or TSV file of titles; empty: none'),
    attributesPath: text(
      '',
      'JSON file that declares the attributes of items; empty: any attribute is allowed',
    ),
    codebooksPath: text(
      '',
      'folder of codebooks for items given by text or vector; empty: the model folder, if it ' +
        'has codebooks',
    ),
    flight: text(
      '',
      'number attributes with the start and end of a flight, as begin,end; empty: none',
    ),
    more: text(
      '',
      'further catalogues: name=path#domain=D#attributes=FILE#valuations=FILE#begin=TEXT, ' +
        'separated by semicolons',
    ),
    cachePath: storeFolder('catalogue', 'folder of built snapshots', NEEDED),
    changesPath: storeFolder(
      'changes',
      'folder of the log of changes; empty: changes are lost at the end of the process',
      OPTIONAL,
    ),
    levelSizes,
  }),
  node: z.strictObject({
    name: z
      .string()
      .min(1)
      .max(L.nodeNameMax)
      .default(hostname())
      .meta({
        expected: `text of 1..${L.nodeNameMax} characters`,
        meaning: 'name of this process, returned with each answer',
        defaultText: 'name of the host',
      }),
  }),
  cluster: clusterSchema,
  users: z.strictObject({
    path: text(
      '',
      'users.json, or a file of sequences, that fills an empty store; empty: users.json in ' +
        'the model folder, if any',
    ),
  }),
  behaviours: behavioursSchema,
  kafka: z.strictObject({
    brokers: text('', 'HOST:PORT of some brokers, separated by commas; empty: no Kafka'),
    ...KAFKA_TOPICS,
    ...KAFKA_SECURITY,
  }),
  engine: z.strictObject({
    device: text(
      'cpu',
      'device of the engine: the processor, or card N of the machine',
      'cpu or cuda:N',
    ),
    vocabulary: oneOf(
      ['full', 'catalogue'],
      'full',
      'tokens with scores: all, or only those of the catalogues, which saves the rows of the ' +
        'others and normalises scores over the codes of a level',
    ),
    threadCount: integer(
      1,
      L.threadCountMax,
      // One core is left to the edges: parsing and mapping must not wait for a forward pass.
      Math.min(L.threadCountMax, Math.max(1, MACHINE.cpuCount - 1)),
      "compute threads, including the engine's own; as many of relevance.path, one more of " +
        'encoders',
      'cores of the machine, or of the cgroup, but one',
    ),
    batchRequestsMax: integer(
      1,
      L.batchRequestsMax,
      16,
      'requests that share a forward pass; sixteen times as many may wait or run',
    ),
    batchRowsMax: integer(
      1,
      L.batchRowsMax,
      1024,
      'rows of a forward pass: prompt tokens and beams of all its requests',
    ),
    prefillChunkTokens: integer(1, L.prefillChunkTokensMax, 512, 'prompt tokens of a forward pass'),
    kvBytesMax: integer(
      MEBIBYTE,
      L.kvBytesMax,
      memoryShare(4),
      'bytes of keys and values of all running requests, including beams',
      'a quarter of the memory that may be used',
    ),
    promptTokensMax: integer(1, L.promptTokensMax, 4096, 'tokens of a prompt'),
    widthMax: integer(
      1,
      L.widthMax,
      512,
      'largest beam width of a request, and items of a call that scores items',
    ),
    resultCountMax: integer(1, L.resultCountMax, 1000, 'largest number of items in an answer'),
  }),
  kv: z.strictObject({
    deviceBytes: integer(
      0,
      L.kvBytesMax,
      memoryShare(8),
      'bytes of the device tier, including the prompts of running requests; 0: no pool, ' +
        'every prompt is computed',
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
    path: storeFolder('kv', 'folder of the disk tier, for one process', NEEDED),
    blockCodec: oneOf(
      ['exact', 'int8'],
      'exact',
      'format of blocks in the host and disk tiers; int8: half the bytes of bf16, answers ' +
        'differ slightly and are marked',
    ),
    shared: text(
      '',
      'stores of keys and values that all nodes use, nearest first, separated by spaces: ' +
        'redis://HOST:PORT, rediss://HOST:PORT (user of behaviours.redisUser), ' +
        's3://BUCKET/PREFIX (with AWS_ENDPOINT_URL); empty: none',
    ),
  }),
  recall: recallSchema,
  relevance: relevanceSchema,
  disk: diskSchema,
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
  log: z.strictObject({
    level: oneOf(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'info',
      'lowest severity of log lines',
    ),
  }),
});

/** The keys, and what variables of OpenTelemetry and of AWS say of traces and buckets. */
export type Config = z.infer<typeof configSchema> & {
  readonly tracing: TracingConfig;
  readonly buckets: BucketPlace & { readonly isPathStyle: boolean };
};

export interface ConfigKey {
  /** Path in the file, e.g. `engine.threadCount`. */
  readonly path: string;
  /** Name in the environment, e.g. `TESSERA_ENGINE_THREAD_COUNT`. */
  readonly variable: string;
  readonly expected: string;
  readonly meaning: string;
  readonly defaultText: string;
  /** Rarely set: not one of `OPERATOR_KEYS`. */
  readonly isAdvanced: boolean;
  /** Name of a store's folder in the folder of all data. */
  readonly storeName: string | undefined;
  readonly kind: 'integer' | 'list' | 'text';
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
  const kind = typeof fallback === 'number' ? 'integer' : Array.isArray(fallback) ? 'list' : 'text';
  const defaultText = meta.defaultText ?? String(fallback);
  const isAdvanced = !OPERATOR_KEYS.has(path);
  const variable = variableOf(path);
  return { path, variable, expected, meaning, defaultText, isAdvanced, storeName, kind };
}

/** Every key, in the order of the schema. */
export const CONFIG_KEYS: readonly ConfigKey[] = Object.entries(configSchema.shape).flatMap(
  ([area, group]) =>
    Object.entries(group.shape).map(([name, leaf]) => keyOf(`${area}.${name}`, leaf)),
);
