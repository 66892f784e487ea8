import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { usersOfFile } from '@tessera/behaviour';
import { CHANGES_NOT_KEPT, type ProgressListener, parseSource } from '@tessera/catalogue';
import { type Config, loadConfig } from '@tessera/config';
import { engineLimits, scalesIn } from '@tessera/engine';
import { DEFAULT_RESULT_COUNT, RECALL_CHOICES, type RecallRuntimeOptions } from '@tessera/recall';
import type { FlagKind, Flags } from './command.js';
import { valuationsPath } from './value-flags.js';

const THREADS_MAX = 256;
export const COMPUTE_TYPES = ['f32', 'bf16', 'w8a8'] as const;

/** Flags that choose what is served; what is not given comes from the configuration. */
export const MODEL_FLAGS: Readonly<Record<string, FlagKind>> = {
  model: 'text',
  catalogue: 'texts',
  titles: 'text',
  'users-file': 'text',
  dtype: 'text',
  'activation-scales': 'text',
  threads: 'text',
};

/** A model folder given by flag brings its own catalogue.jsonl and users.json where it has them. */
export function runtimeOptions(flags: Flags, onProgress: ProgressListener): RecallRuntimeOptions {
  const { config } = loadConfig();
  const model = flags.text('model');
  const modelPath = model === undefined ? config.model.path : resolve(model);
  const { recall, engine } = config;
  const computeType = flags.oneOf('dtype', COMPUTE_TYPES, config.model.computeType);
  return {
    modelPath,
    computeType,
    activationScalesPath: flags.text('activation-scales') ?? scalesIn(modelPath, computeType),
    catalogueSources: sources(flags, config, model === undefined ? undefined : modelPath),
    titlesPath: flags.text('titles') ?? config.catalogue.titlesPath,
    behaviours: usersOfFile(
      flags.text('users-file') ?? (model === undefined ? config.users.path : usersIn(modelPath)),
    ),
    cacheDir: config.catalogue.cachePath,
    changes: {
      ...CHANGES_NOT_KEPT,
      valuationsPath: valuationsPath(flags, config, modelPath),
    },
    moreCatalogues: [],
    engine: {
      ...engineLimits(engine),
      threadCount: flags.integer('threads', 1, THREADS_MAX) ?? engine.threadCount,
    },
    recall: {
      search: recall.search,
      rowBudget: recall.rowBudget,
      resultCount: DEFAULT_RESULT_COUNT,
      historyItemsMax: recall.historyItemsMax,
      historyTrimPercent: RECALL_CHOICES.historyTrimPercent,
      rememberedRecalls: 0,
    },
    process: { node: '' },
    onProgress,
  };
}

function sources(flags: Flags, config: Config, modelPath: string | undefined) {
  const given = flags.texts('catalogue');
  if (given.length > 0) return given.map(parseSource);
  if (modelPath === undefined) return [parseSource(config.catalogue.path)];
  return [{ path: join(modelPath, 'catalogue.jsonl'), domain: '' }];
}

function usersIn(modelPath: string): string {
  const path = join(modelPath, 'users.json');
  return existsSync(path) ? path : '';
}
