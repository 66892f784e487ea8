import { existsSync } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import os from "node:os";
import { basename, join } from "node:path";
import { loadBehaviourStore } from "../../libs/service/behaviour/src/index.js";
import { parseSource, prepareCatalogue } from "../../libs/service/catalogue/src/index.js";
import { EmbeddingModels } from "../../libs/service/embedding/src/index.js";
import { configNote, NativeEngine, readModelShape } from "../../libs/engine/src/index.js";
import { expecting, TesseraError } from "../../libs/ops/errors/src/index.js";
import { readRegular, refuseNoModel, textOf } from "../../libs/ops/files/src/index.js";
import { loadTemplate, loadTokenizer, samplingNote } from "../../libs/service/prompt/src/index.js";
import { isCrossEncoder, loadRelevance, openCrossEncoder } from "../../libs/service/relevance/src/index.js";
import { isClicks, readClicks } from "./clicks.js";
/** Texts that differ in every model that was trained. */ const PROBES = [
    'red shoes',
    'a book of maps'
];
/** A prompt behind which no trained model finds some tokens as likely as others. */ const PROBE = {
    adapter: undefined,
    promptTokens: Int32Array.of(0),
    labelTokens: Int32Array.of(0, 1, 2, 3),
    siblingTokens: 0,
    scoreNorm: 'allowed',
    priority: 'normal',
    budgetUs: 60e6
};
const TRAINED = 'are the weights those of a trained model?';
const THREADS = 2;
const POSITIONS = 512;
const TEXTS = 64;
const CONFIG_BYTES_MAX = 4 << 20;
const KV_BYTES = 64 << 20;
const ADAPTER_BYTES = 1 << 30;
const ADAPTER_LIMITS = {
    rankMax: 128,
    normMax: 1e6
};
const TEXT_LIMITS = {
    threadCount: THREADS,
    tokensMax: POSITIONS,
    textsMax: TEXTS,
    timeTargetUs: 50_000,
    queueTextsMax: TEXTS,
    requestTextsMax: TEXTS,
    textBytesMax: 65_536
};
/** Opens whatever lies at a path as a service would; clicks as the trainer would. */ export async function examine(path, options = {}) {
    const lines = [];
    const tell = (line)=>{
        if (line !== undefined) lines.push(line);
    };
    try {
        const found = await stat(path).catch(()=>undefined);
        if (found === undefined) throw expecting('IO_FAILED')(path, 'a file or folder', 'none');
        const isOf = found.isDirectory() && await isBundle(path) === false;
        await (isOf ? examineFolder(path, options.base, tell) : examineFile(path, options.python, tell));
        tell('served: yes');
        return {
            lines,
            isServed: true
        };
    } catch (error) {
        const { code, message } = TesseraError.from(error);
        tell(`served: no; ${code}: ${message}`);
        return {
            lines,
            isServed: false
        };
    }
}
async function isBundle(folder) {
    return !existsSync(join(folder, 'config.json')) && existsSync(join(folder, 'manifest.json'));
}
async function examineFolder(path, base, tell) {
    await refuseNoModel(path, 'MODEL_NOT_FOUND');
    const has = (name)=>existsSync(join(path, name));
    if (has('adapter_config.json') && !has('config.json')) return examineAdapter(path, base, tell);
    if (has('prompt.json')) return examineRecall(path, tell);
    if (await isCrossEncoder(path)) {
        try {
            return await examineReranker(path, tell);
        } catch (error) {
            // embedding.models takes modules of any task.
            if (!has('modules.json')) throw error;
            tell(`relevance.path would refuse it: ${TesseraError.from(error).message}`);
            return examineEmbedder(path, tell);
        }
    }
    if (has('relevance.json')) return examineJudge(path, tell);
    return examineEmbedder(path, tell);
}
async function examineRecall(path, tell) {
    const { family, parameterCount, maxPositions } = readModelShape(path);
    tell(`recall model: ${family}, ${parameterCount} parameters, ${maxPositions} positions`);
    tell(await configNote(path));
    tell(await samplingNote(path));
    const template = await loadTemplate(path);
    await loadTokenizer(path);
    tell(`template ${template.name} of ${template.levels.length} levels`);
    const engine = await openEngine(path, 0);
    try {
        tell(`weights ${engine.model.digest}`);
        const [odds = []] = (await Promise.all(engine.relevance([
            PROBE
        ]))).map(({ logits })=>logits);
        if (odds.every((one)=>one === odds[0])) tell(`all tokens are as likely: ${TRAINED}`);
    } finally{
        await engine.close();
    }
}
async function examineJudge(path, tell) {
    const { family, parameterCount } = readModelShape(path);
    tell(`relevance by a language model: ${family}, ${parameterCount} parameters`);
    tell(await configNote(path));
    const { template } = await loadRelevance(path);
    tell(`template ${template.name}`);
    await (await openEngine(path, 0)).close();
}
async function examineReranker(path, tell) {
    tell('relevance by a classifier of pairs (cross-encoder)');
    const options = {
        computeType: 'f32',
        documentsMax: TEXTS,
        pairTokensMax: POSITIONS
    };
    const { notes, close } = await openCrossEncoder(path, Object.assign({}, TEXT_LIMITS, options));
    close();
    for (const note of notes)tell(note);
}
async function examineEmbedder(path, tell) {
    tell('embedding model (one of recalls has prompt.json; one that judges relevance.json,');
    tell('or the tokens of Qwen3-Reranker: relevance.path takes it as it is)');
    const specs = [
        {
            name: basename(path) || 'model',
            path
        }
    ];
    const models = await EmbeddingModels.open({
        specs,
        computeType: 'f32',
        limits: TEXT_LIMITS
    });
    try {
        const { vectors } = await models.embed({
            model: '',
            texts: PROBES,
            dimensions: undefined
        });
        const isOne = vectors.every((vector)=>`${vector}` === `${vectors[0]}`);
        if (isOne) tell(`all texts have one vector: ${TRAINED}`);
    } finally{
        models.close();
    }
    for (const { dimension } of models.facts)tell(`vectors of ${dimension} numbers`);
    for (const note of models.notes)tell(note);
}
async function examineAdapter(path, base, tell) {
    const { peft_type: type, base_model_name_or_path: of } = await adapterConfig(path);
    tell(`adapter: ${type}, of ${of ?? 'a model that it does not name'}`);
    if (base === undefined) {
        throw expecting('ADAPTER_INVALID')('--base', 'the folder of its model', undefined);
    }
    const engine = await openEngine(base, ADAPTER_BYTES);
    try {
        const { rankMax, targetCount, replacedRows } = await engine.loadAdapter(path, ADAPTER_LIMITS);
        tell(`rank ${rankMax}, ${targetCount} matrices with factors, ${replacedRows} rows replaced`);
    } finally{
        await engine.close();
    }
}
async function adapterConfig(folder) {
    const path = join(folder, 'adapter_config.json');
    const text = textOf(path, await readRegular(path, CONFIG_BYTES_MAX), 'ADAPTER_INVALID');
    try {
        return Object(JSON.parse(text));
    } catch (error) {
        throw expecting('ADAPTER_INVALID')(path, 'JSON', error.message, error);
    }
}
async function examineFile(path, python, tell) {
    if (await isClicks(path)) {
        for (const line of (await readClicks(path, python)))tell(line);
        return;
    }
    const cacheDir = await mkdtemp(join(os.tmpdir(), 'tessera-doctor-'));
    try {
        const { catalogue } = await prepareCatalogue({
            sources: [
                parseSource(path)
            ],
            titlesPath: '',
            cacheDir,
            onProgress: ()=>undefined
        });
        const { itemCount, pathCount, levelSizes } = catalogue.summary;
        catalogue.close();
        const shape = `levels of ${levelSizes.join(', ')} codes`;
        tell(`catalogue: ${itemCount} items in ${pathCount} semantic IDs, ${shape}`);
    } catch (error) {
        const users = await loadBehaviourStore(path).catch(()=>undefined);
        if (users === undefined) throw error;
        tell(`behaviours of ${(await users.userIds(Number.MAX_SAFE_INTEGER)).length} users`);
    } finally{
        await rm(cacheDir, {
            recursive: true,
            force: true
        });
    }
}
/** In BF16, the type that most weights are saved in. */ function openEngine(modelPath, adapterBytesMax) {
    return NativeEngine.open({
        modelPath,
        computeType: 'bf16',
        activationScalesPath: '',
        threadCount: THREADS,
        queueCapacity: 1,
        batchRequestsMax: 1,
        batchRowsMax: POSITIONS,
        prefillChunkTokens: POSITIONS,
        passTimeTargetUs: 0,
        batching: 'continuous',
        kvBytesMax: KV_BYTES,
        promptTokensMax: 1,
        widthMax: 1,
        resultCountMax: 1,
        scoreItemsMax: 1,
        adapterBytesMax
    });
}

//# sourceMappingURL=examine.js.map