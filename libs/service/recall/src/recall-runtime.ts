import { stat } from 'node:fs/promises';
import { type AdapterProbe, Adapters, ServedWeights } from '@tessera/adapter';
import {
  BehaviourStore,
  type OpenBehaviours,
  openBehaviours,
  type Popularity,
} from '@tessera/behaviour';
import {
  type Engine,
  type EngineModel,
  NativeEngine,
  NOTHING_HELD,
  readModelShape,
} from '@tessera/engine';
import { Erasures } from '@tessera/erasure';
import { TesseraError } from '@tessera/errors';
import { refuseNoModel } from '@tessera/files';
import {
  CompiledTemplate,
  loadTemplate,
  loadTokenizer,
  NO_TOKEN,
  type PromptTemplate,
  slotKeys,
  type Tokenizer,
} from '@tessera/prompt';
import { adapterProbe } from './adapter-probe.js';
import { bindCatalogue } from './bind-catalogue.js';
import { checkConfiguredCaps } from './check-configured-caps.js';
import { describeItems } from './domain/answer/describe-items.js';
import { valuedSummary } from './domain/request/valuations.js';
import type {
  RecallFacts,
  RecallOperations,
  RecallRuntime,
  RecallRuntimeOptions,
  RecallRuntimeSummary,
} from './domain/runtime-types.js';
import { UseCases } from './domain/tasks/use-cases.js';
import { type OpenCatalogue, openCatalogues, widestLevels } from './open-catalogues.js';
import { Opened } from './opened-parts.js';
import { droppedIndex, runtimeStores } from './runtime-stores.js';
import { ServedCatalogues } from './served-catalogues.js';
import { Serving } from './serving.js';

/**
 * Loads model, catalogue, tokenizer, template and users, and serves recalls from them. Cheap files
 * are read first, so that a mistake in them shows before minutes of work. Parts that were opened
 * are closed again where a later one fails.
 * @throws TesseraError of the part that is at fault
 */
export async function createRecallRuntime(options: RecallRuntimeOptions): Promise<RecallRuntime> {
  const { onProgress, modelPath } = options;
  await checkModelFolder(modelPath);
  const { template, tokenizer } = await loadPrompting(options);
  const opened = new Opened();
  try {
    const behaviours = opened.keepBehaviours(await behavioursOf(options));
    const catalogues = await openCatalogues(options, opened);
    await checkConfiguredCaps(options.recall, behaviours.store, catalogues);
    const compiled = compileTemplates(catalogues, template, tokenizer);
    onProgress('model', 0, 1);
    const engine = opened.keepEngine(await openEngine(options, headTokens(options, compiled)));
    const weights = opened.keepWeights(await openWeights(options, engine));
    onProgress('model', 1, 1);
    const bound = await bindAll(engine, compiled);
    // All that is read fits together: from here on a start writes.
    await behaviours.takeOverUsers();
    const erasures = new Erasures();
    const popularity = opened.keepPopularity(options.recall, behaviours.store);
    const served = [];
    for (const { open, compiled, binding } of bound) {
      const { name, changes, catalogue } = open;
      const useCases = new UseCases({
        engine,
        catalogue,
        otherCatalogues: catalogues.flatMap((other) =>
          other.catalogue === catalogue ? [] : [other.catalogue],
        ),
        binding,
        template: compiled,
        behaviours: behaviours.store,
        popularity,
        erasures,
        process: options.process,
        ...recallLimits(options, engine.model),
      });
      served.push({ name, useCases, changes, catalogue, compiled });
    }
    const [first] = served as [(typeof served)[number]];
    const probe = adapterProbe(first.useCases, behaviours.store);
    const adapters = await openAdapters(options, opened, { engine, tokenizer, probe, weights });
    const all = new ServedCatalogues(served);
    const loaded = { engine, behaviours, adapters, weights, catalogues: all, popularity };
    return {
      serving: new Serving({ catalogues: all, adapters, erasures, kvPool: engine.kvPool }),
      operations: operationsOf(loaded),
      facts: factsOf(loaded, opened, {
        model: { ...engine.model, path: modelPath },
        catalogue: valuedSummary(first.catalogue),
        promptTemplate: shownTemplate(template, first.compiled.digest),
        userCount: behaviours.store.userCount,
      }),
      drain: (budgetMs) => engine.drain(budgetMs),
      close: () => opened.close(),
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

const shownTemplate = (template: PromptTemplate, digest: string) => ({
  name: template.name,
  digest,
  sceneKeys: slotKeys(template, 'scene'),
});

/** A catalogue with the prompts that are made for it. */
interface CompiledCatalogue {
  readonly open: OpenCatalogue;
  readonly compiled: CompiledTemplate;
}

function compileTemplates(
  catalogues: readonly OpenCatalogue[],
  template: PromptTemplate,
  tokenizer: Tokenizer,
): CompiledCatalogue[] {
  const levelSizes = widestLevels(catalogues);
  return catalogues.map((open) => {
    const answerPrefix = open.begin ?? template.answerPrefix;
    return {
      open,
      compiled: new CompiledTemplate({ ...template, answerPrefix }, tokenizer, levelSizes),
    };
  });
}

/** Each catalogue in the vocabulary of the model. */
async function bindAll(engine: Engine, catalogues: readonly CompiledCatalogue[]) {
  const bound = [];
  for (const { open, compiled } of catalogues) {
    checkVocabulary(compiled, engine.model);
    bound.push({ open, compiled, binding: await bindCatalogue(engine, open, compiled) });
  }
  return bound;
}

/**
 * Tokens of all codes that the catalogues and their changes may use, and of those that end paths:
 * the head has these alone where engine.vocabulary is catalogue. None: it has all.
 */
function headTokens(
  { engine: { vocabulary } }: RecallRuntimeOptions,
  catalogues: readonly CompiledCatalogue[],
): Int32Array {
  if (vocabulary !== 'catalogue') return new Int32Array();
  const tokens = new Set<number>();
  for (const { compiled } of catalogues) {
    const { levels, terminal } = compiled.levelTokens;
    for (const ids of [...levels, terminal]) for (const id of ids) tokens.add(id);
  }
  tokens.delete(NO_TOKEN);
  return Int32Array.from(tokens).sort();
}

/** Parts behind all requests. */
interface Loaded {
  readonly engine: Engine;
  readonly behaviours: OpenBehaviours;
  readonly adapters: Adapters | undefined;
  readonly weights: ServedWeights;
  readonly catalogues: ServedCatalogues;
  readonly popularity: Popularity | undefined;
}

function operationsOf(loaded: Loaded): RecallOperations {
  const { engine, behaviours, adapters, weights, catalogues, popularity } = loaded;
  const changes = catalogues.all.map((each) => each.changes);
  const { kvPool } = engine;
  return {
    catalogues: catalogues.all.map(({ name }) => name),
    changesOf: (name) => catalogues.of(name).changes,
    adapters,
    weights,
    behaviourLog: behaviours.log,
    checkProfile: (profile) => catalogues.of('').useCases.checkProfile(profile),
    popularity,
    stores: runtimeStores({ behaviours: behaviours.log, changes, kvPool, adapters, weights }),
  };
}

function factsOf(
  { engine, behaviours, catalogues }: Loaded,
  opened: Opened,
  summary: RecallRuntimeSummary,
): RecallFacts {
  const { kvPool } = engine;
  const { store } = behaviours;
  return {
    summary,
    get droppedCaches() {
      return [...opened.dropped, ...droppedIndex(kvPool)];
    },
    behaviourReach: () => store.reach(),
    kvPool,
    engineStats: () => engine.stats(),
    forecast: () => engine.forecast(),
    heldWhileIdle: () => {
      const underway = catalogues.all.reduce((sum, { useCases }) => sum + useCases.underway, 0);
      return { ...(underway === 0 ? engine.held() : NOTHING_HELD), underway };
    },
    sampleUserIds: (count, prefix) => store.userIds(count, prefix),
    user: (userId, behavioursMax) => store.user(userId, behavioursMax),
    describe: (itemIds, name) => describeItems(catalogues.of(name).catalogue, itemIds),
  };
}

async function loadPrompting({ onProgress, modelPath }: RecallRuntimeOptions) {
  onProgress('prompt template and tokenizer', 0, 1);
  await refuseNoModel(modelPath, 'MODEL_NOT_FOUND');
  // A model that is not served at all is said first.
  readModelShape(modelPath);
  const template = await loadTemplate(modelPath);
  const tokenizer = await loadTokenizer(modelPath);
  onProgress('prompt template and tokenizer', 1, 1);
  return { template, tokenizer };
}

function recallLimits(options: RecallRuntimeOptions, { encoderLayerCount }: EngineModel) {
  const { engine, recall: defaults, onPasses, onUnusableProfile, changes } = options;
  const { batchRowsMax, widthMax, resultCountMax, scoreItemsMax } = engine;
  // An encoder reads all tokens before the start token in one pass.
  const readMax = encoderLayerCount > 0 ? batchRowsMax + 1 : Number.POSITIVE_INFINITY;
  const promptTokensMax = Math.min(engine.promptTokensMax, readMax);
  const { nowMs } = changes;
  const bounds = { promptTokensMax, widthMax, resultCountMax, scoreItemsMax };
  return { defaults, ...bounds, onPasses, onUnusableProfile, nowMs };
}

function openEngine(options: RecallRuntimeOptions, headTokens: Int32Array): Promise<NativeEngine> {
  const { modelPath, computeType, activationScalesPath, kv } = options;
  const { vocabulary: _, ...limits } = options.engine;
  const { adapterBytesMax = 0 } = options;
  const model = { modelPath, computeType, activationScalesPath, adapterBytesMax, headTokens };
  return NativeEngine.open({ ...model, ...limits, ...(kv === undefined ? {} : { kv }) });
}

/** Before anything is known of the model by its digest. */
function openWeights({ weights, modelPath }: RecallRuntimeOptions, engine: Engine) {
  const { path = '', waitMaxMs = 0, reserveBytes = 0 } = weights ?? {};
  return ServedWeights.open({ engine, path, modelPath, waitMaxMs, reserveBytes });
}

/** Loads the versions that serve, so that no request is answered without them. */
async function openAdapters(
  { adapters: settings, onProgress }: RecallRuntimeOptions,
  opened: Opened,
  parts: {
    readonly engine: Engine;
    readonly tokenizer: Tokenizer;
    readonly probe: AdapterProbe;
    readonly weights: ServedWeights;
  },
): Promise<Adapters | undefined> {
  if (settings === undefined) return undefined;
  onProgress('adapters', 0, 1);
  const adapters = await Adapters.open(parts.engine, parts.probe, settings, parts.tokenizer);
  onProgress('adapters', 1, 1);
  parts.weights.serveBeside(adapters.beside);
  return opened.keepAdapters(adapters);
}

const NOTHING = async () => undefined;

async function behavioursOf(options: RecallRuntimeOptions): Promise<OpenBehaviours> {
  const { behaviours, onProgress } = options;
  return behaviours instanceof BehaviourStore
    ? { store: behaviours, log: undefined, takeOverUsers: NOTHING, close: NOTHING }
    : openBehaviours(behaviours, onProgress);
}

async function checkModelFolder(path: string): Promise<void> {
  const entry = await stat(path).catch(() => undefined);
  if (entry?.isDirectory()) return;
  const got = entry === undefined ? 'nothing' : 'a file';
  throw new TesseraError('MODEL_NOT_FOUND', `${path}: expected a model folder, got ${got}`, {
    field: 'model.path',
  });
}

/** The tokenizer of another model would give ids that this one has no rows for. */
function checkVocabulary(
  template: CompiledTemplate,
  { vocabSize, encoderLayerCount, startToken }: EngineModel,
): void {
  const empty = { profile: {}, scene: {}, history: [] };
  const { tokens } = template.render(empty, Number.POSITIVE_INFINITY);
  const stranger = tokens.find((token) => token >= vocabSize);
  if (stranger !== undefined) {
    throw new TesseraError(
      'TOKENIZER_INVALID',
      `tokenizer: expected tokens below ${vocabSize} for the template's text, got ${stranger}`,
      { field: 'tokenizer' },
    );
  }
  const starts = tokens.filter((token) => token === startToken).length;
  if (encoderLayerCount === 0 || starts === 1) return;
  throw new TesseraError(
    'PROMPT_TEMPLATE_INVALID',
    `prompt.json: segments: expected the start token (${startToken}) once, got it ${starts} times`,
    { field: 'segments' },
  );
}
