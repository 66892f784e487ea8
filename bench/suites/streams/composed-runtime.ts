import { join } from 'node:path';
import { ServedWeights } from '@tessera/adapter';
import type { BehaviourLog, BehaviourStore } from '@tessera/behaviour';
import {
  BundleLabel,
  CatalogueChanges,
  CHANGES_NOT_KEPT,
  prepareCatalogue,
} from '@tessera/catalogue';
import { type Config, loadConfig } from '@tessera/config';
import {
  type Catalogue,
  type ChangingCatalogue,
  type Engine,
  engineLimits,
  NOTHING_HELD,
} from '@tessera/engine';
import { Erasures } from '@tessera/erasure';
import { CompiledTemplate, loadTemplate, loadTokenizer } from '@tessera/prompt';
import {
  DEFAULT_RESULT_COUNT,
  describeItems,
  parseFrequencyCaps,
  pinVersion,
  RECALL_CHOICES,
  type RecallDefaults,
  type RecallRuntime,
  type RecallServing,
  UseCases,
} from '@tessera/recall';

export interface ComposedParts {
  /** Model folder that tokenizer, template and catalogue come from. */
  readonly modelPath: string;
  /** Closed with the runtime. */
  readonly engine: Engine;
  readonly behaviours: BehaviourStore;
  readonly behaviourLog?: BehaviourLog;
}

function defaultsOf({ frequencyCaps, ...defaults }: Config['recall']): RecallDefaults {
  return {
    ...defaults,
    ...RECALL_CHOICES,
    resultCount: DEFAULT_RESULT_COUNT,
    frequencyCaps: parseFrequencyCaps(frequencyCaps),
  };
}

/**
 * The recall of the service around an engine or a store that is not the product's own: what
 * createRecallRuntime() makes, with one part put in another's place.
 */
export async function composedRuntime(parts: ComposedParts): Promise<RecallRuntime> {
  const { modelPath, engine, behaviours, behaviourLog } = parts;
  const { config } = loadConfig();
  const catalogue = await catalogueOf(modelPath, config);
  const template = await loadTemplate(modelPath);
  const tokenizer = await loadTokenizer(modelPath);
  const compiled = new CompiledTemplate(template, tokenizer, catalogue.summary.levelSizes);
  const digests = { template: compiled.digest, codebook: compiled.codebookDigest };
  const erasures = new Erasures();
  const useCases = new UseCases({
    process: { node: 'bench' },
    engine,
    catalogue,
    behaviours,
    erasures,
    binding: engine.bind(catalogue, compiled.levelTokens, digests),
    template: compiled,
    defaults: defaultsOf(config.recall),
    ...engineLimits(config.engine),
  });
  const bundle = BundleLabel.unkept('');
  const changes = new CatalogueChanges(catalogue, { ...CHANGES_NOT_KEPT, bundle });
  return {
    serving: servingOf(useCases, catalogue, engine, erasures),
    operations: {
      adapters: undefined,
      weights: await ServedWeights.open({ engine, path: '', modelPath, waitMaxMs: 0 }),
      behaviourLog,
      stores: [],
      popularity: undefined,
      catalogues: [''],
      changesOf: () => changes,
    },
    facts: {
      summary: {
        model: { ...engine.model, path: modelPath },
        catalogue: catalogue.summary,
        promptTemplate: { name: template.name, digest: compiled.digest },
        userCount: behaviours.userCount,
      },
      droppedCaches: [],
      behaviourReach: () => behaviours.reach(),
      kvPool: engine.kvPool,
      forecast: () => engine.forecast(),
      engineStats: () => engine.stats(),
      heldWhileIdle: () => ({ ...NOTHING_HELD, underway: useCases.underway }),
      user: (userId, behavioursMax) => behaviours.user(userId, behavioursMax),
      describe: (itemIds) => describeItems(catalogue, itemIds),
      sampleUserIds: (count) => behaviours.userIds(count),
    },
    drain: (budgetMs) => engine.drain(budgetMs),
    close: async () => {
      await engine.close();
      catalogue.close();
      await behaviourLog?.close();
    },
  };
}

async function catalogueOf(modelPath: string, config: Config): Promise<ChangingCatalogue> {
  const { catalogue } = await prepareCatalogue({
    sources: [{ path: join(modelPath, 'catalogue.jsonl'), domain: '' }],
    titlesPath: '',
    cacheDir: config.catalogue.cachePath,
    onProgress: () => undefined,
  });
  return catalogue;
}

function servingOf(
  useCases: UseCases,
  catalogue: Catalogue,
  engine: Engine,
  erasures: Erasures,
): RecallServing {
  return {
    erasures,
    recall: (request, context) => useCases.recall(request, context),
    pin: (request, sequence) => pinVersion(catalogue, request, sequence),
    score: (request, context) => useCases.score(request, context),
    rank: (request, context) => useCases.rank(request, context),
    explain: (request, context) => useCases.explain(request, context),
    append: (request, context) => useCases.append(request, context),
    forgetUser: (userId, budgetMs) => {
      erasures.note(userId);
      return engine.kvPool.dropUser(userId, budgetMs);
    },
  };
}
