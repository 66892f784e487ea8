import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { usersOfFile } from "../../libs/service/behaviour/src/index.js";
import { CHANGES_NOT_KEPT, parseSource } from "../../libs/service/catalogue/src/index.js";
import { loadConfig } from "../../libs/ops/config/src/index.js";
import { engineLimits, scalesIn } from "../../libs/engine/src/index.js";
import { DEFAULT_RESULT_COUNT, RECALL_CHOICES } from "../../libs/service/recall/src/index.js";
import { valuationsPath } from "./value-flags.js";
const THREADS_MAX = 256;
export const COMPUTE_TYPES = [
    'f32',
    'bf16',
    'w8a8'
];
/** Flags that choose what is served; what is not given comes from the configuration. */ export const MODEL_FLAGS = {
    model: 'text',
    catalogue: 'texts',
    titles: 'text',
    'users-file': 'text',
    dtype: 'text',
    'activation-scales': 'text',
    threads: 'text'
};
/** A model folder given by flag brings its own catalogue.jsonl and users.json where it has them. */ export function runtimeOptions(flags, onProgress) {
    const { config } = loadConfig();
    const model = flags.text('model');
    const modelPath = model === undefined ? config.model.path : resolve(model);
    const { recall, engine } = config;
    const computeType = flags.oneOf('dtype', COMPUTE_TYPES, config.model.computeType);
    return {
        modelPath,
        computeType,
        activationScalesPath: flags.text('activation-scales') ?? scalesIn(modelPath, computeType),
        catalogueSources: sources(flags, config, model === undefined ? undefined : modelPath),
        titlesPath: flags.text('titles') ?? config.catalogue.titlesPath,
        behaviours: usersOfFile(flags.text('users-file') ?? (model === undefined ? config.users.path : usersIn(modelPath))),
        cacheDir: config.catalogue.cachePath,
        changes: {
            ...CHANGES_NOT_KEPT,
            valuationsPath: valuationsPath(flags, config, modelPath)
        },
        moreCatalogues: [],
        engine: {
            ...engineLimits(engine),
            threadCount: flags.integer('threads', 1, THREADS_MAX) ?? engine.threadCount
        },
        recall: {
            search: recall.search,
            rowBudget: recall.rowBudget,
            resultCount: DEFAULT_RESULT_COUNT,
            historyItemsMax: recall.historyItemsMax,
            historyTrimPercent: RECALL_CHOICES.historyTrimPercent,
            rememberedRecalls: 0
        },
        process: {
            node: ''
        },
        onProgress
    };
}
function sources(flags, config, modelPath) {
    const given = flags.texts('catalogue');
    if (given.length > 0) return given.map(parseSource);
    if (modelPath === undefined) return [
        parseSource(config.catalogue.path)
    ];
    return [
        {
            path: join(modelPath, 'catalogue.jsonl'),
            domain: ''
        }
    ];
}
function usersIn(modelPath) {
    const path = join(modelPath, 'users.json');
    return existsSync(path) ? path : '';
}

//# sourceMappingURL=model-flags.js.map