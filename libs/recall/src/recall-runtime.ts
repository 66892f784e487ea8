import { stat } from 'node:fs/promises';
import { type OpenBehaviours, openBehaviours } from '@tessera/behaviour';
import { BundleLabel, CatalogueChanges, prepareCatalogue } from '@tessera/catalogue';
import { type Catalogue, type ChangingCatalogue, type Engine, NativeEngine } from '@tessera/engine';
import { TesseraError } from '@tessera/errors';
import { CompiledTemplate, loadTemplate, loadTokenizer } from '@tessera/prompt';
import { Recall } from './domain/recall.js';
import type {
  AppendAnswer,
  ExplainAnswer,
  ExplainRequest,
  RecallAnswer,
  RecallContext,
  RecallRequest,
  ScoreAnswer,
  ScoreRequest,
  UserSource,
} from './domain/recall-types.js';
import type {
  RecallRuntime,
  RecallRuntimeOptions,
  RecallRuntimeSummary,
} from './domain/runtime-types.js';

/**
 * Loads model, catalogue, tokenizer, template and users, and serves recalls from them. Cheap files
 * are read first, so that a mistake in them shows before minutes of work. What was opened is closed
 * again where a later part fails.
 * @throws TesseraError of the part that is at fault
 */
export async function createRecallRuntime(options: RecallRuntimeOptions): Promise<RecallRuntime> {
  const { onProgress, modelPath } = options;
  await checkModelFolder(modelPath);
  onProgress('prompt template and tokenizer', 0, 1);
  const template = await loadTemplate(modelPath);
  const tokenizer = await loadTokenizer(modelPath);
  onProgress('prompt template and tokenizer', 1, 1);
  const opened = new Opened();
  try {
    const behaviours = opened.keepBehaviours(await openBehaviours(options.behaviours, onProgress));
    const { catalogue, changes } = await openChanging(options, opened);
    const compiled = new CompiledTemplate(template, tokenizer, catalogue.summary.levelSizes);
    onProgress('model', 0, 1);
    const { computeType, activationScalesPath, engine: limits, kv } = options;
    const engine = opened.keepEngine(
      await NativeEngine.open({
        modelPath,
        computeType,
        activationScalesPath,
        ...limits,
        ...(kv === undefined ? {} : { kv }),
      }),
    );
    onProgress('model', 1, 1);
    checkVocabulary(compiled, engine.model.vocabSize);
    const binding = engine.bind(catalogue, compiled.levelTokens, {
      template: compiled.digest,
      codebook: compiled.codebookDigest,
    });
    const recall = new Recall({
      engine,
      catalogue,
      binding,
      template: compiled,
      behaviours: behaviours.store,
      defaults: options.recall,
      promptTokensMax: limits.promptTokensMax,
      widthMax: limits.widthMax,
      resultCountMax: limits.resultCountMax,
      scoreItemsMax: limits.scoreItemsMax,
      onPasses: options.onPasses,
    });
    const summary = {
      model: { ...engine.model, path: modelPath },
      catalogue: catalogue.summary,
      promptTemplate: { name: template.name, digest: compiled.digest },
      userCount: behaviours.store.userCount,
    };
    return new LoadedRuntime(recall, changes, engine, behaviours, opened, summary);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** The catalogue of the sources, with the changes that its folder keeps. */
async function openChanging(options: RecallRuntimeOptions, opened: Opened) {
  const { onProgress } = options;
  const { catalogue, bundleUuid } = await prepareCatalogue({
    sources: options.catalogueSources,
    titlesPath: options.titlesPath,
    cacheDir: options.cacheDir,
    toleratedRows: options.toleratedRows,
    onProgress: (stage, done, total) => onProgress(`catalogue: ${stage}`, done, total),
  });
  opened.keepCatalogue(catalogue);
  const { folder, sync, levelSizes, compactAfterItems, onCompacted } = options.changes;
  if (folder !== '') {
    onProgress('catalogue: changes', 0, 1);
    await catalogue.keep({ folder, sync, levelSizes });
    onProgress('catalogue: changes', 1, 1);
  }
  const changes = new CatalogueChanges(catalogue, {
    compactAfterItems: folder === '' ? 0 : compactAfterItems,
    bundle: await BundleLabel.open(folder, bundleUuid),
    onCompacted,
  });
  return { catalogue, changes: opened.keepChanges(changes) };
}

async function checkModelFolder(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return;
  const came = found === undefined ? 'nothing' : 'a file';
  throw new TesseraError('MODEL_NOT_FOUND', `${path}: expected a model folder, came ${came}`, {
    field: 'modelPath',
  });
}

/** The tokenizer of another model would give ids that this one has no rows for. */
function checkVocabulary(template: CompiledTemplate, vocabSize: number): void {
  const empty = { profile: {}, scene: {}, history: [] };
  const { tokens } = template.render(empty, Number.POSITIVE_INFINITY);
  const stranger = tokens.find((token) => token >= vocabSize);
  if (stranger === undefined) return;
  throw new TesseraError(
    'TOKENIZER_INVALID',
    `tokenizer: expected tokens below ${vocabSize} for the template's text, came ${stranger}`,
    { field: 'tokenizer' },
  );
}

/** What must be closed: the engine first, since its requests read the catalogue. */
class Opened {
  private catalogue: Catalogue | undefined;
  private changes: CatalogueChanges | undefined;
  private behaviours: OpenBehaviours | undefined;
  private engine: Engine | undefined;
  private closing: Promise<void> | undefined;

  keepBehaviours(behaviours: OpenBehaviours): OpenBehaviours {
    this.behaviours = behaviours;
    return behaviours;
  }

  keepChanges(changes: CatalogueChanges): CatalogueChanges {
    this.changes = changes;
    return changes;
  }

  keepCatalogue(catalogue: ChangingCatalogue): ChangingCatalogue {
    this.catalogue = catalogue;
    return catalogue;
  }

  keepEngine(engine: Engine): Engine {
    this.engine = engine;
    return engine;
  }

  close(): Promise<void> {
    this.closing ??= this.closeOnce();
    return this.closing;
  }

  private async closeOnce(): Promise<void> {
    await this.engine?.close();
    await this.changes?.settled();
    this.catalogue?.close();
    await this.behaviours?.close();
  }
}

class LoadedRuntime implements RecallRuntime {
  constructor(
    private readonly flow: Recall,
    readonly changes: CatalogueChanges,
    private readonly engine: Engine,
    private readonly behaviours: OpenBehaviours,
    private readonly opened: Opened,
    readonly summary: RecallRuntimeSummary,
  ) {}

  get behaviourLog() {
    return this.behaviours.log;
  }

  recall(request: RecallRequest, context: RecallContext): Promise<RecallAnswer> {
    return this.flow.run(request, context);
  }

  score(request: ScoreRequest, context: RecallContext): Promise<ScoreAnswer> {
    return this.flow.score(request, context);
  }

  explain(request: ExplainRequest, context: RecallContext): Promise<ExplainAnswer> {
    return this.flow.explain(request, context);
  }

  append(request: UserSource, context: RecallContext): Promise<AppendAnswer> {
    return this.flow.append(request, context);
  }

  get kvPool() {
    return this.engine.kvPool;
  }

  engineStats() {
    return this.engine.stats();
  }

  sampleUserIds(count: number): Promise<readonly string[]> {
    return this.behaviours.store.userIds(count);
  }

  drain(budgetMs: number): Promise<void> {
    return this.engine.drain(budgetMs);
  }

  close(): Promise<void> {
    return this.opened.close();
  }
}
