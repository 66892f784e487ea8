import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Adapters, ServedWeights } from '@tessera/adapter';
import { BehaviourStore, type OpenBehaviours, openBehaviours } from '@tessera/behaviour';
import { BundleLabel, CatalogueChanges, prepareCatalogue } from '@tessera/catalogue';
import {
  type Catalogue,
  type ChangingCatalogue,
  configureTasks,
  type Engine,
  NativeEngine,
  type Reach,
} from '@tessera/engine';
import { Erasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import { CompiledTemplate, loadTemplate, loadTokenizer } from '@tessera/prompt';
import { adapterProbe, ChosenAdapters } from './chosen-adapters.js';
import { describeItems } from './domain/describe-items.js';
import { pinVersion } from './domain/pin-version.js';
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
import { Opened } from './opened-parts.js';
import { droppedIndex, runtimeStores } from './runtime-stores.js';

/**
 * Loads model, catalogue, tokenizer, template and users, and serves recalls from them. Cheap files
 * are read first, so that a mistake in them shows before minutes of work. What was opened is closed
 * again where a later part fails.
 * @throws TesseraError of the part that is at fault
 */
export async function createRecallRuntime(options: RecallRuntimeOptions): Promise<RecallRuntime> {
  const { onProgress, modelPath, tasks } = options;
  if (tasks !== undefined) configureTasks(tasks);
  await checkModelFolder(modelPath);
  onProgress('prompt template and tokenizer', 0, 1);
  const template = await loadTemplate(modelPath);
  const tokenizer = await loadTokenizer(modelPath);
  onProgress('prompt template and tokenizer', 1, 1);
  const opened = new Opened();
  try {
    const behaviours = opened.keepBehaviours(await behavioursOf(options));
    const spaces = await openSpaces(options, opened);
    onProgress('model', 0, 1);
    const engine = opened.keepEngine(await openEngine(options));
    const weights = opened.keepWeights(await openWeights(options, engine));
    onProgress('model', 1, 1);
    const levelSizes = widestLevels(spaces);
    const erasures = new Erasures();
    const served = spaces.map((space) => {
      const { catalogue, changes, begin = template.answerPrefix } = space;
      const own = { ...template, answerPrefix: begin };
      const compiled = new CompiledTemplate(own, tokenizer, levelSizes);
      checkVocabulary(compiled, engine.model.vocabSize);
      const recall = new Recall({
        engine,
        catalogue,
        otherCatalogues: spaces.flatMap((other) => (other === space ? [] : [other.catalogue])),
        binding: engine.bind(catalogue, compiled.levelTokens, {
          template: compiled.digest,
          codebook: compiled.codebookDigest,
        }),
        template: compiled,
        behaviours: behaviours.store,
        erasures,
        process: options.process,
        ...recallLimits(options),
      });
      return { name: space.name, recall, changes, catalogue, compiled };
    });
    const [first] = served as [(typeof served)[number]];
    const summary = {
      model: { ...engine.model, path: modelPath },
      catalogue: first.catalogue.summary,
      promptTemplate: { name: template.name, digest: first.compiled.digest },
      userCount: behaviours.store.userCount,
    };
    const adapters = await openAdapters(options, engine, first.recall, behaviours.store, opened);
    const chosen = { adapters, weights, erasures };
    return new LoadedRuntime(served, engine, behaviours, chosen, opened, summary);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

function recallLimits({ engine, recall: defaults, onPasses }: RecallRuntimeOptions) {
  const { promptTokensMax, widthMax, resultCountMax, scoreItemsMax } = engine;
  return { defaults, promptTokensMax, widthMax, resultCountMax, scoreItemsMax, onPasses };
}

function openEngine(options: RecallRuntimeOptions): Promise<NativeEngine> {
  const { modelPath, computeType, activationScalesPath, engine: limits, kv } = options;
  const { adapterBytesMax = 0 } = options;
  const model = { modelPath, computeType, activationScalesPath };
  return NativeEngine.open({
    ...{ ...model, ...limits, adapterBytesMax },
    ...(kv === undefined ? {} : { kv }),
  });
}

/** Before anything is known of the model by its digest. */
function openWeights({ weights, modelPath }: RecallRuntimeOptions, engine: Engine) {
  const { path = '', waitMaxMs = 0, reserveBytes = 0 } = weights ?? {};
  return ServedWeights.open({ engine, path, modelPath, waitMaxMs, reserveBytes });
}

/** Loads the versions that serve, so that no request is answered without them. */
async function openAdapters(
  { adapters: settings, onProgress }: RecallRuntimeOptions,
  engine: Engine,
  recall: Recall,
  behaviours: BehaviourStore,
  opened: Opened,
): Promise<Adapters | undefined> {
  if (settings === undefined) return undefined;
  onProgress('adapters', 0, 1);
  const adapters = await Adapters.open(engine, adapterProbe(recall, behaviours), settings);
  onProgress('adapters', 1, 1);
  return opened.keepAdapters(adapters);
}

async function behavioursOf(options: RecallRuntimeOptions): Promise<OpenBehaviours> {
  const { behaviours, onProgress } = options;
  return behaviours instanceof BehaviourStore
    ? { store: behaviours, log: undefined, close: async () => undefined }
    : openBehaviours(behaviours, onProgress);
}

/** An open catalogue by its name. */
interface Space {
  readonly name: string;
  readonly catalogue: ChangingCatalogue;
  readonly changes: CatalogueChanges;
  readonly begin: string | undefined;
}

/** The first catalogue, then those beside it. */
async function openSpaces(options: RecallRuntimeOptions, opened: Opened): Promise<Space[]> {
  const { folder, levelSizes } = options.changes;
  const sources = options.catalogueSources;
  const spaces = [await openSpace(options, opened, { name: '', sources, folder, levelSizes })];
  for (const { name, source, begin } of options.moreCatalogues) {
    const wanted = { name, sources: [source], folder, levelSizes: [], begin };
    spaces.push(await openSpace(options, opened, wanted));
  }
  return spaces;
}

/** The catalogue of the sources, with the changes that its folder keeps. */
async function openSpace(
  options: RecallRuntimeOptions,
  opened: Opened,
  { name, sources, folder: changesFolder, levelSizes, begin }: SpaceWanted,
): Promise<Space> {
  const stage = name === '' ? 'catalogue' : `catalogue ${name}`;
  const { catalogue, bundleUuid } = await prepareCatalogue({
    sources,
    titlesPath: name === '' ? options.titlesPath : '',
    cacheDir: options.cacheDir,
    toleratedRows: options.toleratedRows,
    reserveBytes: options.changes.reserveBytes ?? 0,
    onDropped: (reason) => opened.dropped.push({ cache: 'snapshot', reason }),
    onProgress: (part, done, total) => options.onProgress(`${stage}: ${part}`, done, total),
  });
  opened.keepCatalogue(catalogue);
  const { sync, compactAfterChanges, onCompacted, reserveBytes = 0 } = options.changes;
  // Of their own for each catalogue: changes follow one set of items, and those of another that is
  // served in its place for a while are neither mixed in nor lost.
  const folder = changesFolder && join(changesFolder, name, catalogue.summary.digest);
  if (folder !== '') {
    options.onProgress(`${stage}: changes`, 0, 1);
    await catalogue.keep({ folder, sync, levelSizes, reserveBytes });
    options.onProgress(`${stage}: changes`, 1, 1);
  }
  const changes = new CatalogueChanges(catalogue, {
    folder,
    compactAfterChanges: folder === '' ? 0 : compactAfterChanges,
    bundle: await BundleLabel.open(folder, bundleUuid),
    onCompacted,
  });
  return { name, catalogue, changes: opened.keepChanges(changes), begin };
}

/** Prompts write items of all catalogues. */
function widestLevels(spaces: readonly Space[]): number[] {
  const sizes: number[] = [];
  for (const { catalogue } of spaces) {
    catalogue.summary.levelSizes.forEach((size, level) => {
      sizes[level] = Math.max(sizes[level] ?? 0, size);
    });
  }
  return sizes;
}

interface SpaceWanted {
  readonly name: string;
  readonly sources: RecallRuntimeOptions['catalogueSources'];
  readonly folder: string;
  readonly levelSizes: readonly number[];
  readonly begin?: string | undefined;
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

/** What serves the requests for one catalogue. */
interface Served {
  readonly name: string;
  readonly recall: Recall;
  readonly changes: CatalogueChanges;
  readonly catalogue: Catalogue;
}

class LoadedRuntime implements RecallRuntime {
  readonly adapters: Adapters | undefined;
  readonly weights: ServedWeights;
  readonly erasures: Erasures;
  readonly stores: RecallRuntime['stores'];
  private readonly chosen: ChosenAdapters;

  constructor(
    private readonly served: readonly Served[],
    private readonly engine: Engine,
    private readonly behaviours: OpenBehaviours,
    chosen: Pick<RecallRuntime, 'adapters' | 'erasures'> & { readonly weights: ServedWeights },
    private readonly opened: Opened,
    readonly summary: RecallRuntimeSummary,
  ) {
    this.adapters = chosen.adapters;
    this.weights = chosen.weights;
    this.erasures = chosen.erasures;
    this.chosen = new ChosenAdapters(chosen.adapters);
    const { kvPool } = engine;
    const owned = { behaviours: behaviours.log, changes: opened.changes, kvPool };
    this.stores = runtimeStores({ ...owned, adapters: this.adapters, weights: this.weights });
  }

  get droppedCaches() {
    return [...this.opened.dropped, ...droppedIndex(this.kvPool)];
  }

  behaviourReach() {
    return this.behaviours.store.reach();
  }

  get behaviourLog() {
    return this.behaviours.log;
  }

  async recall(request: RecallRequest, context: RecallContext): Promise<RecallAnswer> {
    return this.chosen.recall(this.of(request.catalogue).recall, request, context);
  }

  async score(request: ScoreRequest, context: RecallContext): Promise<ScoreAnswer> {
    const { recall } = this.of(request.catalogue);
    return this.chosen.with(request, (adapter) => recall.score(request, { ...context, adapter }));
  }

  async explain(request: ExplainRequest, context: RecallContext): Promise<ExplainAnswer> {
    const { recall } = this.of(request.recall.catalogue);
    return this.chosen.withThatOf(request, (adapter) =>
      recall.explain(request, { ...context, adapter }),
    );
  }

  async pin(request: RecallRequest, sequence: number): Promise<Reach> {
    return pinVersion(this.of(request.catalogue).catalogue, request, sequence);
  }

  changesOf(name: string): CatalogueChanges {
    return this.of(name).changes;
  }

  private of(name = ''): Served {
    const found = this.served.find((one) => one.name === name);
    if (found !== undefined) return found;
    const names = this.served.map((one) => `'${one.name}'`).join(', ');
    const message = `catalogue: expected one of ${names}, came '${name.slice(0, 80)}'`;
    throw new TesseraError('REQUEST_INVALID', message, { field: 'catalogue' });
  }

  async append(request: UserSource, context: RecallContext): Promise<AppendAnswer> {
    const { recall } = this.of(request.catalogue);
    return this.chosen.with(request, (adapter) => recall.append(request, { ...context, adapter }));
  }

  async forgetUser(userId: string, budgetMs: number): Promise<void> {
    this.erasures.note(userId);
    for (const { recall } of this.served) recall.forget(userId);
    await this.engine.kvPool.dropUser(userId, budgetMs);
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

  user(userId: string, behavioursMax: number) {
    return this.behaviours.store.user(userId, behavioursMax);
  }

  describe(itemIds: readonly string[], name = '') {
    return describeItems(this.of(name).catalogue, itemIds);
  }

  drain(budgetMs: number): Promise<void> {
    return this.engine.drain(budgetMs);
  }

  close(): Promise<void> {
    return this.opened.close();
  }
}
