import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseJson, shown, TesseraError } from '@tessera/errors';
import { readRegularSync, textOf } from '@tessera/files';
import type { z } from 'zod';
import { bucketPlace } from './aws-variables.js';
import { faultsOfSecurity } from './broker-security.js';
import { otelValues } from './otel-variables.js';
import { dataRoot, repositoryRoot } from './repository-root.js';
import {
  CONFIG_KEYS,
  type Config,
  type ConfigKey,
  configSchema,
  VARIABLE_PREFIX,
} from './schema.js';
import { DEMO_MODEL, defaultFolder } from './schema-fields.js';
import { faultOfUnknown, isOfOrchestrator, REMOVED_KEYS } from './unknown-variables.js';

const FILE_VARIABLE = `${VARIABLE_PREFIX}CONFIG_FILE`;
/** Whom commands call a service as. Nothing of the service: it may be there for them. */
const TOKEN_VARIABLE = `${VARIABLE_PREFIX}TOKEN`;
const CONFIG_FILE_BYTES_MAX = 2 ** 20;

const OTHER_VARIABLES: ReadonlySet<string> = new Set([FILE_VARIABLE, TOKEN_VARIABLE]);

/** The token that commands show where no file is named; '' where the variable is not set. */
export function tokenOfEnvironment(): string {
  return process.env[TOKEN_VARIABLE]?.trim() ?? '';
}

export interface ConfigSources {
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** JSON file with the same tree; overrides TESSERA_CONFIG_FILE. */
  readonly file?: string;
  /** Values by path as text, from the command line; they win over all. */
  readonly flags?: Readonly<Record<string, string>>;
}

type Origin = 'default' | 'file' | 'environment' | 'flag';

interface Group {
  [key: string]: unknown;
}

interface Reading {
  readonly tree: Group;
  readonly origins: Map<string, Origin>;
  readonly faults: string[];
  /** Variables of our prefix that are no keys, and no typos of one. */
  readonly ignored: string[];
}

function isGroup(value: unknown): value is Group {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readFileInto(reading: Reading, file: string): void {
  let tree: unknown;
  try {
    const bytes = readRegularSync(file, CONFIG_FILE_BYTES_MAX);
    tree = parseJson(textOf(file, bytes, 'CONFIG_INVALID'));
  } catch (error) {
    reading.faults.push(`${file}: ${error instanceof Error ? error.message : String(error)}`);
    return;
  }
  if (!isGroup(tree)) {
    reading.faults.push(`${file}: expected a JSON object, got ${shown(tree)}`);
    return;
  }
  for (const [area, group] of Object.entries(tree)) {
    if (!Object.hasOwn(configSchema.shape, area)) {
      reading.faults.push(`${area}: unknown key in ${file} (${REMOVED_KEYS})`);
    } else if (!isGroup(group)) {
      reading.faults.push(`${area}: expected a JSON object in ${file}, got ${shown(group)}`);
    } else {
      readGroupInto(reading, area, group, file);
    }
  }
}

function readGroupInto(reading: Reading, area: string, group: Group, file: string): void {
  for (const [name, value] of Object.entries(group)) {
    const path = `${area}.${name}`;
    if (CONFIG_KEYS.some((key) => key.path === path)) put(reading, path, value, 'file');
    else reading.faults.push(`${path}: unknown key in ${file} (${REMOVED_KEYS})`);
  }
}

function put(reading: Reading, path: string, value: unknown, origin: Origin): void {
  const [area = '', name = ''] = path.split('.');
  const group = (reading.tree[area] ?? {}) as Group;
  reading.tree[area] = { ...group, [name]: value };
  reading.origins.set(path, origin);
}

/** Text of a variable as the type of its key; what does not parse stays text and is refused. */
function parseText(text: string, kind: ConfigKey['kind']): unknown {
  const number = (part: string) => (/^-?\d+$/.test(part.trim()) ? Number(part) : part);
  if (kind === 'integer') return number(text);
  if (kind === 'list') return text.split(',').map(number);
  return text;
}

function readEnvironmentInto(
  reading: Reading,
  environment: Readonly<Record<string, string | undefined>>,
): void {
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith(VARIABLE_PREFIX) || OTHER_VARIABLES.has(variable)) continue;
    if (text === undefined) continue;
    const key = CONFIG_KEYS.find((candidate) => candidate.variable === variable);
    if (isOfOrchestrator(variable, text)) reading.ignored.push(variable);
    else if (key) put(reading, key.path, parseText(text, key.kind), 'environment');
    else noteUnknown(reading, variable);
  }
}

function noteUnknown(reading: Reading, variable: string): void {
  const fault = faultOfUnknown(variable);
  if (fault === '') reading.ignored.push(variable);
  else reading.faults.push(fault);
}

function valueAt(tree: Group, path: string): unknown {
  const [area = '', name = ''] = path.split('.');
  return isGroup(tree[area]) ? tree[area][name] : undefined;
}

function faultsOfValues(tree: Group, paths: readonly string[]): string[] {
  return [...new Set(paths)].map((path) => {
    const key = CONFIG_KEYS.find((candidate) => candidate.path === path);
    const got = shown(valueAt(tree, path));
    return `${path} (${key?.variable}): expected ${key?.expected}, got ${got}`;
  });
}

/** Limits that only hold between two keys. */
function faultsBetween(config: Config): string[] {
  const faults: string[] = [];
  const { widthMax, batchRowsMax } = config.engine;
  if (batchRowsMax < widthMax) {
    faults.push(
      `engine.batchRowsMax: expected at least engine.widthMax (${widthMax}), got ${batchRowsMax}`,
    );
  }
  const { defaultDeadlineMs, deadlineMsMax } = config.recall;
  if (defaultDeadlineMs > deadlineMsMax) {
    faults.push(
      `recall.defaultDeadlineMs: expected at most recall.deadlineMsMax (${deadlineMsMax}), ` +
        `got ${defaultDeadlineMs}`,
    );
  }
  faults.push(...faultsOfAccess(config), ...faultsOfSecurity(config));
  const { endpoint } = config.buckets;
  const stores = `${config.cluster.logStore} ${config.kv.shared}`;
  const namesBucket = config.adapters.s3Buckets !== '' || stores.includes('s3://');
  if (namesBucket && endpoint !== '' && !/^https?:\/\/[^/@\s]+\/?$/.test(endpoint)) {
    const expected = 'http://HOST:PORT or https://HOST:PORT';
    faults.push(`AWS_ENDPOINT_URL: expected ${expected}, got ${shown(endpoint)}`);
  }
  if (config.behaviours.store === 'redis' && config.behaviours.redis === '') {
    faults.push("behaviours.redis: expected an address where behaviours.store is redis, got ''");
  }
  const { role } = config.cluster;
  if (role !== 'both' && config.kv.shared === '') {
    faults.push(`cluster.role: expected both where kv.shared names no store, got ${role}`);
  }
  if (config.kv.shared !== '' && config.kv.deviceBytes === 0) {
    faults.push('kv.shared: expected no store where kv.deviceBytes is 0 and nothing is kept');
  }
  return faults;
}

/** Faults of TLS and of access. */
function faultsOfAccess({ grpc, http, access }: Config): string[] {
  const faults: string[] = [];
  for (const [area, { certificatePath, keyPath, clientCaPath }] of Object.entries({ grpc, http })) {
    if ((certificatePath === '') !== (keyPath === '')) {
      faults.push(`${area}.keyPath: expected ${area}.certificatePath beside it, got one of them`);
    }
    if (clientCaPath !== '' && certificatePath === '') {
      faults.push(`${area}.clientCaPath: expected ${area}.certificatePath beside it, got none`);
    }
  }
  if (access.mode === 'open' && access.tokensPath !== '') {
    faults.push("access.mode: expected 'guarded' where access.tokensPath is given, got 'open'");
  }
  return faults;
}

/** Keys of files and folders. */
const PATH_KEYS = CONFIG_KEYS.filter(
  ({ path }) => /path$/i.test(path) || ['cluster.logStore', 'recall.valuations'].includes(path),
);

const fileIn = (name: string, folder: string) =>
  existsSync(join(folder, name)) ? join(folder, name) : '';

/**
 * Given paths count from the working folder, defaults from the repository or the model folder, and
 * those of stores from `dataRoot`. A store that no key names lies apart where the demo's model is
 * served, whoever names it.
 */
function withPaths(config: Config, origins: Map<string, Origin>): Config {
  const fromRoot = (path: string) => resolve(repositoryRoot, path);
  const given = (path: string, value: string) =>
    origins.has(path) ? resolve(value) : fromRoot(value);
  const modelPath = given('model.path', config.model.path);
  const servesDemo = modelPath === fromRoot(DEMO_MODEL);
  const place = ({ path, storeName }: ConfigKey, value: string) => {
    if (value === '' || value.startsWith('s3://')) return value;
    const isDefault = storeName !== undefined && !origins.has(path);
    return isDefault ? resolve(dataRoot, defaultFolder(storeName, servesDemo)) : given(path, value);
  };
  const placed = structuredClone(config);
  for (const key of PATH_KEYS) {
    const [area = '', name = ''] = key.path.split('.');
    const group = (placed as unknown as Record<string, Group>)[area] as Group;
    group[name] = place(key, group[name] as string);
  }
  const { catalogue, recall, users } = placed;
  if (catalogue.path === '') recall.valuations ||= fileIn('valuations.json', modelPath);
  catalogue.path ||= join(modelPath, 'catalogue.jsonl');
  // Where `python -m trainer train --codebooks` puts some.
  if (fileIn('codebooks.safetensors', modelPath) !== '') catalogue.codebooksPath ||= modelPath;
  users.path ||= fileIn('users.json', modelPath);
  return placed;
}

/** True of `npm start` without a word: the demo's model with stores of its own. */
export function servesOwnDemo({ model, adapters }: Config): boolean {
  const own = resolve(dataRoot, defaultFolder('adapters', true));
  return model.path === resolve(repositoryRoot, DEMO_MODEL) && adapters.path === own;
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(freeze);
    Object.freeze(value);
  }
  return value;
}

export interface LoadedConfig {
  readonly config: Config;
  /** Origin of each key's value. */
  readonly origins: ReadonlyMap<string, Origin>;
  /** Variables that begin as ours do and are no keys: of an orchestrator, or of other programs. */
  readonly ignored: readonly string[];
}

/**
 * Reads file, environment and flags (each wins over those before it) into one frozen tree. Throws
 * CONFIG_INVALID with one line per bad key.
 */
export function loadConfig(sources: ConfigSources = {}): LoadedConfig {
  const environment = sources.environment ?? process.env;
  const reading: Reading = { tree: {}, origins: new Map(), faults: [], ignored: [] };
  const { tracing, faults: otelFaults } = otelValues(environment);
  reading.faults.push(...otelFaults);
  const whole = (keys: z.infer<typeof configSchema>): Config => ({
    ...keys,
    tracing,
    buckets: {
      ...bucketPlace(environment),
      isPathStyle: keys.adapters.s3Addressing === 'path',
    },
  });
  const file = sources.file ?? environment[FILE_VARIABLE];
  if (file !== undefined && file !== '') readFileInto(reading, file);
  readEnvironmentInto(reading, environment);
  for (const [path, text] of Object.entries(sources.flags ?? {})) {
    const kind = CONFIG_KEYS.find((key) => key.path === path)?.kind ?? 'text';
    put(reading, path, parseText(text, kind), 'flag');
  }
  for (const area of Object.keys(configSchema.shape)) reading.tree[area] ??= {};
  const parsed = configSchema.safeParse(reading.tree);
  const faults = parsed.success
    ? [...reading.faults, ...faultsBetween(whole(parsed.data))]
    : [
        ...reading.faults,
        ...faultsOfValues(
          reading.tree,
          parsed.error.issues.map((issue) => issue.path.slice(0, 2).join('.')),
        ),
      ];
  if (!parsed.success || faults.length > 0) {
    throw new TesseraError('CONFIG_INVALID', `bad configuration:\n  ${faults.join('\n  ')}`);
  }
  const { origins, ignored } = reading;
  return { config: freeze(withPaths(whole(parsed.data), origins)), origins, ignored };
}

/** The effective configuration, one line per key: variable, value, origin. */
export function describeConfig({ config, origins, ignored }: LoadedConfig): string {
  const rows = CONFIG_KEYS.map((key) => {
    const value = valueAt(config as unknown as Group, key.path);
    const text = Array.isArray(value) ? value.join(',') : String(value);
    return `${key.variable}=${text}  # ${key.path}, ${origins.get(key.path) ?? 'default'}`;
  });
  return [...rows, ...ignored.map((variable) => `# ${variable}: ignored, no key`)].join('\n');
}
