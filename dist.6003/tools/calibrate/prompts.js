import { MemoryBehaviourStore } from "../../libs/service/behaviour/src/index.js";
import { prepareCatalogue } from "../../libs/service/catalogue/src/index.js";
import { NO_TIMINGS, NOTHING_FOUND, readModelShape } from "../../libs/engine/src/index.js";
import { Erasures } from "../../libs/service/erasure/src/index.js";
import { TesseraError } from "../../libs/ops/errors/src/index.js";
import { CompiledTemplate, loadTemplate, loadTokenizer } from "../../libs/service/prompt/src/index.js";
import { UseCases } from "../../libs/service/recall/src/index.js";
const ANSWER = {
    items: [],
    paths: [],
    modelDigest: '',
    catalogueSequence: 0,
    itemsPerSid: 0,
    leftOutByDiversity: 0,
    completeness: 'whole',
    certified: false,
    gap: 0,
    rows: 0,
    itemTerms: new Float32Array(),
    bestLeftOut: NaN,
    propensities: 'known',
    widthsUsed: [],
    prefixReusedTokens: 0,
    kv: NOTHING_FOUND,
    timings: NO_TIMINGS,
    passes: [],
    heads: new Float32Array()
};
const BUDGET_US = 60e6;
/** Keeps the prompts that it is asked for, and finds nothing. */ let PromptRecorder = class PromptRecorder {
    model;
    prompts = [];
    constructor(model){
        this.model = model;
    }
    bind(catalogue) {
        return {
            slot: 0,
            catalogue
        };
    }
    async recall({ promptTokens }) {
        this.prompts.push(promptTokens);
        return ANSWER;
    }
    score() {
        return Promise.reject(new TesseraError('ENGINE_UNAVAILABLE', 'prompts are being recorded'));
    }
    rank() {
        return Promise.reject(new TesseraError('ENGINE_UNAVAILABLE', 'prompts are being recorded'));
    }
    append() {
        return Promise.reject(new TesseraError('ENGINE_UNAVAILABLE', 'prompts are being recorded'));
    }
    prefetch() {
        return {
            ticket: 0,
            release: ()=>undefined
        };
    }
};
/** The prompts that the service would give the engine for these histories. */ export async function promptsOf(options, cases) {
    const { modelPath, catalogueSources, titlesPath, cacheDir, engine: limits } = options;
    const template = await loadTemplate(modelPath);
    const tokenizer = await loadTokenizer(modelPath);
    const { catalogue } = await prepareCatalogue({
        sources: catalogueSources,
        titlesPath,
        cacheDir,
        onProgress: options.onProgress
    });
    try {
        const engine = new PromptRecorder(shapeAlone(modelPath));
        const useCases = new UseCases({
            engine,
            catalogue,
            binding: engine.bind(catalogue),
            template: new CompiledTemplate(template, tokenizer, catalogue.summary.levelSizes),
            behaviours: new MemoryBehaviourStore(new Map()),
            erasures: new Erasures(),
            process: options.process,
            defaults: options.recall,
            promptTokensMax: limits.promptTokensMax,
            widthMax: limits.widthMax,
            resultCountMax: limits.resultCountMax,
            scoreItemsMax: limits.scoreItemsMax
        });
        for (const { history } of cases)await useCases.recall(asked(history), context());
        return engine.prompts;
    } finally{
        catalogue.close();
    }
}
/** How long prompts may be is the model's to say; nothing is computed with it. */ function shapeAlone(modelPath) {
    const shape = readModelShape(modelPath);
    return {
        ...shape,
        digest: '',
        computeType: 'bf16',
        kvBytesPerPosition: 0,
        headSize: shape.vocabSize,
        weightBytes: 0,
        instructionSet: ''
    };
}
function asked(history) {
    return {
        requestId: '',
        history,
        profile: {},
        scene: {},
        resultCount: 0,
        widths: [],
        itemsPerSid: 0,
        skipUnknownItems: true
    };
}
function context() {
    return {
        signal: new AbortController().signal,
        budgetUs: BUDGET_US
    };
}

//# sourceMappingURL=prompts.js.map