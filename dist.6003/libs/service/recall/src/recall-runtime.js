import { stat } from "node:fs/promises";
import { Adapters, ServedWeights } from "../../adapter/src/index.js";
import { BehaviourStore, openBehaviours } from "../../behaviour/src/index.js";
import { NativeEngine, NOTHING_HELD, readModelShape } from "../../../engine/src/index.js";
import { Erasures } from "../../erasure/src/index.js";
import { TesseraError } from "../../../ops/errors/src/index.js";
import { refuseNoModel } from "../../../ops/files/src/index.js";
import { CompiledTemplate, loadTemplate, loadTokenizer, NO_TOKEN, slotKeys } from "../../prompt/src/index.js";
import { adapterProbe } from "./adapter-probe.js";
import { bindCatalogue } from "./bind-catalogue.js";
import { checkConfiguredCaps } from "./check-configured-caps.js";
import { describeItems } from "./domain/answer-facts.js";
import { UseCases } from "./domain/use-cases.js";
import { openCatalogues, widestLevels } from "./open-catalogues.js";
import { Opened } from "./opened-parts.js";
import { droppedIndex, runtimeStores } from "./runtime-stores.js";
import { ServedCatalogues } from "./served-catalogues.js";
import { Serving } from "./serving.js";
/**
 * Loads model, catalogue, tokenizer, template and users, and serves recalls from them. Cheap files
 * are read first, so that a mistake in them shows before minutes of work. Parts that were opened
 * are closed again where a later one fails.
 * @throws TesseraError of the part that is at fault
 */ export async function createRecallRuntime(options) {
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
        for (const { open, compiled, binding } of bound){
            const { name, changes, catalogue } = open;
            const useCases = new UseCases({
                engine,
                catalogue,
                otherCatalogues: catalogues.flatMap((other)=>other.catalogue === catalogue ? [] : [
                        other.catalogue
                    ]),
                binding,
                template: compiled,
                behaviours: behaviours.store,
                popularity,
                erasures,
                process: options.process,
                ...recallLimits(options)
            });
            served.push({
                name,
                useCases,
                changes,
                catalogue,
                compiled
            });
        }
        const [first] = served;
        const adapters = await openAdapters(options, opened, {
            engine,
            tokenizer,
            probe: adapterProbe(first.useCases, behaviours.store)
        });
        const all = new ServedCatalogues(served);
        const loaded = {
            engine,
            behaviours,
            adapters,
            weights,
            catalogues: all,
            popularity
        };
        return {
            serving: new Serving({
                catalogues: all,
                adapters,
                erasures,
                kvPool: engine.kvPool
            }),
            operations: operationsOf(loaded),
            facts: factsOf(loaded, opened, {
                model: {
                    ...engine.model,
                    path: modelPath
                },
                catalogue: first.catalogue.summary,
                promptTemplate: shownTemplate(template, first.compiled.digest),
                userCount: behaviours.store.userCount
            }),
            drain: (budgetMs)=>engine.drain(budgetMs),
            close: ()=>opened.close()
        };
    } catch (error) {
        await opened.close();
        throw error;
    }
}
const shownTemplate = (template, digest)=>({
        name: template.name,
        digest,
        sceneKeys: slotKeys(template, 'scene')
    });
function compileTemplates(catalogues, template, tokenizer) {
    const levelSizes = widestLevels(catalogues);
    return catalogues.map((open)=>{
        const answerPrefix = open.begin ?? template.answerPrefix;
        return {
            open,
            compiled: new CompiledTemplate({
                ...template,
                answerPrefix
            }, tokenizer, levelSizes)
        };
    });
}
/** Each catalogue in the vocabulary of the model. */ async function bindAll(engine, catalogues) {
    const bound = [];
    for (const { open, compiled } of catalogues){
        checkVocabulary(compiled, engine.model.vocabSize);
        bound.push({
            open,
            compiled,
            binding: await bindCatalogue(engine, open, compiled)
        });
    }
    return bound;
}
/**
 * Tokens of all codes that the catalogues and their changes may use, and of those that end paths:
 * the head has these alone where engine.vocabulary is catalogue. None: it has all.
 */ function headTokens({ engine: { vocabulary } }, catalogues) {
    if (vocabulary !== 'catalogue') return new Int32Array();
    const tokens = new Set();
    for (const { compiled } of catalogues){
        const { levels, terminal } = compiled.levelTokens;
        for (const ids of [
            ...levels,
            terminal
        ])for (const id of ids)tokens.add(id);
    }
    tokens.delete(NO_TOKEN);
    return Int32Array.from(tokens).sort();
}
function operationsOf(loaded) {
    const { engine, behaviours, adapters, weights, catalogues, popularity } = loaded;
    const changes = catalogues.all.map((each)=>each.changes);
    const { kvPool } = engine;
    return {
        catalogues: catalogues.all.map(({ name })=>name),
        changesOf: (name)=>catalogues.of(name).changes,
        adapters,
        weights,
        behaviourLog: behaviours.log,
        popularity,
        stores: runtimeStores({
            behaviours: behaviours.log,
            changes,
            kvPool,
            adapters,
            weights
        })
    };
}
function factsOf({ engine, behaviours, catalogues }, opened, summary) {
    const { kvPool } = engine;
    const { store } = behaviours;
    return {
        summary,
        get droppedCaches () {
            return [
                ...opened.dropped,
                ...droppedIndex(kvPool)
            ];
        },
        behaviourReach: ()=>store.reach(),
        kvPool,
        engineStats: ()=>engine.stats(),
        forecast: ()=>engine.forecast(),
        heldWhileIdle: ()=>{
            const underway = catalogues.all.reduce((sum, { useCases })=>sum + useCases.underway, 0);
            return {
                ...underway === 0 ? engine.held() : NOTHING_HELD,
                underway
            };
        },
        sampleUserIds: (count, prefix)=>store.userIds(count, prefix),
        user: (userId, behavioursMax)=>store.user(userId, behavioursMax),
        describe: (itemIds, name)=>describeItems(catalogues.of(name).catalogue, itemIds)
    };
}
async function loadPrompting({ onProgress, modelPath }) {
    onProgress('prompt template and tokenizer', 0, 1);
    await refuseNoModel(modelPath, 'MODEL_NOT_FOUND');
    // A model that is not served at all is said first.
    readModelShape(modelPath);
    const template = await loadTemplate(modelPath);
    const tokenizer = await loadTokenizer(modelPath);
    onProgress('prompt template and tokenizer', 1, 1);
    return {
        template,
        tokenizer
    };
}
function recallLimits({ engine, recall: defaults, onPasses, changes }) {
    const { promptTokensMax, widthMax, resultCountMax, scoreItemsMax } = engine;
    const { nowMs } = changes;
    return {
        defaults,
        promptTokensMax,
        widthMax,
        resultCountMax,
        scoreItemsMax,
        onPasses,
        nowMs
    };
}
function openEngine(options, headTokens) {
    const { modelPath, computeType, activationScalesPath, kv } = options;
    const { vocabulary: _, ...limits } = options.engine;
    const { adapterBytesMax = 0 } = options;
    const model = {
        modelPath,
        computeType,
        activationScalesPath,
        adapterBytesMax,
        headTokens
    };
    return NativeEngine.open({
        ...model,
        ...limits,
        ...kv === undefined ? {} : {
            kv
        }
    });
}
/** Before anything is known of the model by its digest. */ function openWeights({ weights, modelPath }, engine) {
    const { path = '', waitMaxMs = 0, reserveBytes = 0 } = weights ?? {};
    return ServedWeights.open({
        engine,
        path,
        modelPath,
        waitMaxMs,
        reserveBytes
    });
}
/** Loads the versions that serve, so that no request is answered without them. */ async function openAdapters({ adapters: settings, onProgress }, opened, parts) {
    if (settings === undefined) return undefined;
    onProgress('adapters', 0, 1);
    const adapters = await Adapters.open(parts.engine, parts.probe, settings, parts.tokenizer);
    onProgress('adapters', 1, 1);
    return opened.keepAdapters(adapters);
}
const NOTHING = async ()=>undefined;
async function behavioursOf(options) {
    const { behaviours, onProgress } = options;
    return behaviours instanceof BehaviourStore ? {
        store: behaviours,
        log: undefined,
        takeOverUsers: NOTHING,
        close: NOTHING
    } : openBehaviours(behaviours, onProgress);
}
async function checkModelFolder(path) {
    const entry = await stat(path).catch(()=>undefined);
    if (entry?.isDirectory()) return;
    const got = entry === undefined ? 'nothing' : 'a file';
    throw new TesseraError('MODEL_NOT_FOUND', `${path}: expected a model folder, got ${got}`, {
        field: 'model.path'
    });
}
/** The tokenizer of another model would give ids that this one has no rows for. */ function checkVocabulary(template, vocabSize) {
    const empty = {
        profile: {},
        scene: {},
        history: []
    };
    const { tokens } = template.render(empty, Number.POSITIVE_INFINITY);
    const stranger = tokens.find((token)=>token >= vocabSize);
    if (stranger === undefined) return;
    throw new TesseraError('TOKENIZER_INVALID', `tokenizer: expected tokens below ${vocabSize} for the template's text, got ${stranger}`, {
        field: 'tokenizer'
    });
}

//# sourceMappingURL=recall-runtime.js.map