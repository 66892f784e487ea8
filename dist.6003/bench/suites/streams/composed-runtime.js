import { join } from "node:path";
import { ServedWeights } from "../../../libs/service/adapter/src/index.js";
import { BundleLabel, CatalogueChanges, CHANGES_NOT_KEPT, prepareCatalogue } from "../../../libs/service/catalogue/src/index.js";
import { loadConfig } from "../../../libs/ops/config/src/index.js";
import { engineLimits, NOTHING_HELD } from "../../../libs/engine/src/index.js";
import { Erasures } from "../../../libs/service/erasure/src/index.js";
import { CompiledTemplate, loadTemplate, loadTokenizer } from "../../../libs/service/prompt/src/index.js";
import { DEFAULT_RESULT_COUNT, describeItems, parseFrequencyCaps, pinVersion, RECALL_CHOICES, UseCases } from "../../../libs/service/recall/src/index.js";
function defaultsOf({ frequencyCaps, ...defaults }) {
    return {
        ...defaults,
        ...RECALL_CHOICES,
        resultCount: DEFAULT_RESULT_COUNT,
        frequencyCaps: parseFrequencyCaps(frequencyCaps)
    };
}
/**
 * The recall of the service around an engine or a store that is not the product's own: what
 * createRecallRuntime() makes, with one part put in another's place.
 */ export async function composedRuntime(parts) {
    const { modelPath, engine, behaviours, behaviourLog } = parts;
    const { config } = loadConfig();
    const catalogue = await catalogueOf(modelPath, config);
    const template = await loadTemplate(modelPath);
    const tokenizer = await loadTokenizer(modelPath);
    const compiled = new CompiledTemplate(template, tokenizer, catalogue.summary.levelSizes);
    const digests = {
        template: compiled.digest,
        codebook: compiled.codebookDigest
    };
    const erasures = new Erasures();
    const useCases = new UseCases({
        process: {
            node: 'bench'
        },
        engine,
        catalogue,
        behaviours,
        erasures,
        binding: engine.bind(catalogue, compiled.levelTokens, digests),
        template: compiled,
        defaults: defaultsOf(config.recall),
        ...engineLimits(config.engine)
    });
    const bundle = BundleLabel.unkept('');
    const changes = new CatalogueChanges(catalogue, {
        ...CHANGES_NOT_KEPT,
        bundle
    });
    return {
        serving: servingOf(useCases, catalogue, engine, erasures),
        operations: {
            adapters: undefined,
            weights: await ServedWeights.open({
                engine,
                path: '',
                modelPath,
                waitMaxMs: 0
            }),
            behaviourLog,
            stores: [],
            popularity: undefined,
            catalogues: [
                ''
            ],
            changesOf: ()=>changes
        },
        facts: {
            summary: {
                model: {
                    ...engine.model,
                    path: modelPath
                },
                catalogue: catalogue.summary,
                promptTemplate: {
                    name: template.name,
                    digest: compiled.digest
                },
                userCount: behaviours.userCount
            },
            droppedCaches: [],
            behaviourReach: ()=>behaviours.reach(),
            kvPool: engine.kvPool,
            forecast: ()=>engine.forecast(),
            engineStats: ()=>engine.stats(),
            heldWhileIdle: ()=>({
                    ...NOTHING_HELD,
                    underway: useCases.underway
                }),
            user: (userId, behavioursMax)=>behaviours.user(userId, behavioursMax),
            describe: (itemIds)=>describeItems(catalogue, itemIds),
            sampleUserIds: (count)=>behaviours.userIds(count)
        },
        drain: (budgetMs)=>engine.drain(budgetMs),
        close: async ()=>{
            await engine.close();
            catalogue.close();
            await behaviourLog?.close();
        }
    };
}
async function catalogueOf(modelPath, config) {
    const { catalogue } = await prepareCatalogue({
        sources: [
            {
                path: join(modelPath, 'catalogue.jsonl'),
                domain: ''
            }
        ],
        titlesPath: '',
        cacheDir: config.catalogue.cachePath,
        onProgress: ()=>undefined
    });
    return catalogue;
}
function servingOf(useCases, catalogue, engine, erasures) {
    return {
        erasures,
        recall: (request, context)=>useCases.recall(request, context),
        pin: (request, sequence)=>pinVersion(catalogue, request, sequence),
        score: (request, context)=>useCases.score(request, context),
        rank: (request, context)=>useCases.rank(request, context),
        explain: (request, context)=>useCases.explain(request, context),
        append: (request, context)=>useCases.append(request, context),
        forgetUser: (userId, budgetMs)=>{
            erasures.note(userId);
            return engine.kvPool.dropUser(userId, budgetMs);
        }
    };
}

//# sourceMappingURL=composed-runtime.js.map