import { NORM_MAX, RANK_MAX } from "../../../libs/service/adapter/src/index.js";
import { PASS_LIMITS, parseModelSpecs } from "../../../libs/service/embedding/src/index.js";
import { configNote, ENGINE_CHOICES, headPool, NativeEngine } from "../../../libs/engine/src/index.js";
import { expecting } from "../../../libs/ops/errors/src/index.js";
import { isCrossEncoder, labelTokens, loadRelevance, openCrossEncoder, QUEUE_DOCUMENTS_MAX, Relevance } from "../../../libs/service/relevance/src/index.js";
const PASS_PROMPT_TOKENS = 512;
/** Documents of a call: a list that rankers of one stage take. */ const DOCUMENTS_MAX = 1000;
/** Documents that share forward passes: enough for products of full size. */ const BATCH_DOCUMENTS_MAX = 32;
/** Documents of a call that are handed to the engine together; others follow as these end. */ const REQUESTS_AT_ONCE = 512;
/** Undefined where the configuration names none. */ export async function openRelevance(config, queueCapacity = QUEUE_DOCUMENTS_MAX) {
    const { path } = config.relevance;
    if (path === '') return undefined;
    return await isCrossEncoder(path) ? openClassifier(config, queueCapacity) : openDecoder(config, queueCapacity);
}
const ADAPTERS = 'relevance.adapters';
const ADAPTER_LIMITS = {
    rankMax: RANK_MAX,
    normMax: NORM_MAX
};
const invalid = expecting('CONFIG_INVALID');
/** `base` is the model alone. */ function adapterSpecs(text) {
    const specs = parseModelSpecs(text, ADAPTERS);
    if (specs.some(({ name })=>name === 'base')) throw invalid(ADAPTERS, 'other names', "'base'");
    return specs;
}
/** A classifier of pairs; its passes give way to recalls as those of vectors do (ADR 0134). */ async function openClassifier({ relevance, embedding, engine }, queueTextsMax) {
    const { path, computeType, promptTokensMax } = relevance;
    if (relevance.adapters !== '') throw invalid(ADAPTERS, 'none for a classifier', 'some');
    const opened = await openCrossEncoder(path, {
        computeType,
        threadCount: engine.threadCount,
        documentsMax: DOCUMENTS_MAX,
        pairTokensMax: promptTokensMax,
        tokensMax: embedding.passTokensMax,
        ...PASS_LIMITS,
        queueTextsMax
    });
    return {
        relevance: opened.relevance,
        description: `cross-encoder, ${computeType}`,
        notes: opened.notes,
        // Its callers are waited for at the edges, and what they wait for ends with them.
        drain: async ()=>undefined,
        close: async ()=>opened.close()
    };
}
async function openDecoder({ relevance: settings, adapters: { bytesMax }, engine: { threadCount } }, queueCapacity) {
    const { path, computeType, promptTokensMax, kvBytesMax } = settings;
    const specs = adapterSpecs(settings.adapters);
    const parts = await loadRelevance(path);
    const engine = await NativeEngine.open({
        modelPath: path,
        computeType,
        activationScalesPath: '',
        threadCount,
        ...ENGINE_CHOICES,
        queueCapacity,
        batchRequestsMax: BATCH_DOCUMENTS_MAX,
        batchRowsMax: PASS_PROMPT_TOKENS,
        prefillChunkTokens: PASS_PROMPT_TOKENS,
        kvBytesMax,
        // Only the common beginning of all prompts stays between calls.
        kv: headPool(kvBytesMax),
        promptTokensMax,
        widthMax: 1,
        resultCountMax: 1,
        scoreItemsMax: 1,
        headTokens: labelTokens(parts),
        adapterBytesMax: specs.length === 0 ? 0 : bytesMax
    });
    try {
        // Other calls find places in the queue as well.
        const requestsAtOnce = Math.min(REQUESTS_AT_ONCE, Math.ceil(queueCapacity / 2));
        const limits = {
            documentsMax: DOCUMENTS_MAX,
            promptTokensMax,
            requestsAtOnce
        };
        const { parameterCount } = engine.model;
        const adapters = new Map(await Promise.all(specs.map(async ({ name, path: folder })=>[
                name,
                await engine.loadAdapter(folder, ADAPTER_LIMITS)
            ])));
        return {
            relevance: new Relevance({
                engine,
                limits,
                adapters,
                ...parts
            }),
            description: `${parts.template.name}, ${parameterCount} parameters, ${computeType}`,
            notes: [
                await configNote(path) ?? []
            ].flat(),
            drain: (budgetMs)=>engine.drain(budgetMs),
            close: ()=>engine.close()
        };
    } catch (error) {
        await engine.close();
        throw error;
    }
}

//# sourceMappingURL=relevance.js.map