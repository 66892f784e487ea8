import { join } from 'node:path';
import { ServedWeights } from '@tessera/adapter';
import type { BehaviourLog, BehaviourStore } from '@tessera/behaviour';
import {
  BundleLabel,
  CatalogueChanges,
  CHANGES_NOT_KEPT,
  prepareCatalogue,
} from '@tessera/catalogue';
import { loadConfig } from '@tessera/config';
import type { Engine } from '@tessera/engine';
import { CompiledTemplate, loadTemplate, loadTokenizer } from '@tessera/prompt';
import { describeItems, pinVersion, Recall, type RecallRuntime } from '@tessera/recall';

export interface ComposedParts {
  /** Model folder that tokenizer, template and catalogue come from. */
  readonly modelPath: string;
  /** Closed with the runtime. */
  readonly engine: Engine;
  readonly behaviours: BehaviourStore;
  readonly behaviourLog?: BehaviourLog;
}

/**
 * The recall of the service around an engine or a store that is not the product's own: what
 * createRecallRuntime() makes, with one part put in another's place.
 */
export async function composedRuntime(parts: ComposedParts): Promise<RecallRuntime> {
  const { modelPath, engine, behaviours, behaviourLog } = parts;
  const { config } = loadConfig();
  const { catalogue } = await prepareCatalogue({
    sources: [{ path: join(modelPath, 'catalogue.jsonl'), domain: '' }],
    titlesPath: '',
    cacheDir: config.catalogue.cachePath,
    toleratedRows: 0,
    onProgress: () => undefined,
  });
  const template = await loadTemplate(modelPath);
  const { levelSizes } = catalogue.summary;
  const compiled = new CompiledTemplate(template, await loadTokenizer(modelPath), levelSizes);
  const { defaultWidths, defaultResultCount, ...defaults } = config.recall;
  const recall = new Recall({
    engine,
    catalogue,
    binding: engine.bind(catalogue, compiled.levelTokens, {
      template: compiled.digest,
      codebook: compiled.codebookDigest,
    }),
    template: compiled,
    behaviours,
    defaults: { ...defaults, widths: defaultWidths, resultCount: defaultResultCount },
    ...config.engine,
  });
  const changes = new CatalogueChanges(catalogue, {
    ...CHANGES_NOT_KEPT,
    bundle: BundleLabel.unkept(''),
  });
  return {
    summary: {
      model: { ...engine.model, path: modelPath },
      catalogue: catalogue.summary,
      promptTemplate: { name: template.name, digest: compiled.digest },
      userCount: behaviours.userCount,
    },
    adapters: undefined,
    weights: await ServedWeights.open({ engine, path: '', modelPath, waitMaxMs: 0 }),
    behaviourLog,
    kvPool: engine.kvPool,
    changesOf: () => changes,
    recall: (request, context) => recall.run(request, context),
    pin: (request, sequence) => pinVersion(catalogue, request, sequence),
    score: (request, context) => recall.score(request, context),
    explain: (request, context) => recall.explain(request, context),
    append: (request, context) => recall.append(request, context),
    forgetUser: (userId, budgetMs) => engine.kvPool.dropUser(userId, budgetMs),
    engineStats: () => engine.stats(),
    user: (userId, behavioursMax) => behaviours.user(userId, behavioursMax),
    describe: (itemIds) => describeItems(catalogue, itemIds),
    sampleUserIds: (count) => behaviours.userIds(count),
    drain: (budgetMs) => engine.drain(budgetMs),
    close: async () => {
      await engine.close();
      catalogue.close();
      await behaviourLog?.close();
    },
  };
}
