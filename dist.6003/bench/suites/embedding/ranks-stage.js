import { readFileSync } from "node:fs";
import os from "node:os";
import { resolve } from "node:path";
import { loadConfig } from "../../../libs/ops/config/src/index.js";
import { measureTexts } from "../../../libs/service/embedding/src/index.js";
import { openEmbedding } from "../../../apps/standalone/src/embedding.js";
import { Random } from "../../models/random.js";
import { rankAgreement } from "./rank-agreement.js";
import { lowestCosine } from "./rate-rows.js";
const TYPES = [
    'bf16',
    'w8a8',
    'w8a8-static'
];
const CALIBRATION_TEXTS = 1000;
const QUERIES = 200;
const COMPARED_TEXTS = 1000;
const SEED = 3;
/** Of the mean rank correlation with F32. */ const LOSS_BAR = 0.001;
/**
 * Losses of each type against F32's order of texts, on a trained encoder (--model) and its texts
 * (--texts, an array): scales are measured over other texts than those that are compared.
 */ export async function ranksStage({ flags, say }) {
    const [folder, file] = [
        flags.text('model'),
        flags.text('texts')
    ];
    if (folder === undefined || file === undefined) {
        say('ranks: left out, no --model and --texts');
        return [];
    }
    const threads = flags.integer('threads', 1, 256) ?? os.availableParallelism();
    const texts = shuffled(JSON.parse(readFileSync(file, 'utf8')));
    const modelPath = resolve(folder);
    const compared = texts.slice(0, COMPARED_TEXTS);
    const others = texts.slice(COMPARED_TEXTS, COMPARED_TEXTS + CALIBRATION_TEXTS);
    say(`measuring scales over ${others.length} texts`);
    await measureTexts(modelPath, others, threads);
    const exact = await vectorsOf(modelPath, 'f32', threads, compared);
    const measurements = [];
    for (const type of TYPES){
        say(type);
        const ours = await vectorsOf(modelPath, type, threads, compared);
        const loss = 1 - rankAgreement(exact, ours, QUERIES);
        const name = `${compared.length} texts, ${type}`;
        const bar = type === 'w8a8-static' ? LOSS_BAR : null;
        measurements.push({
            name: `${name}: loss of rank agreement`,
            value: loss,
            unit: '',
            bar,
            bound: 'at-most'
        }, {
            name: `${name}: lowest cosine`,
            value: lowestCosine(ours, exact),
            unit: '',
            bar: null
        });
    }
    return measurements;
}
async function vectorsOf(modelPath, computeType, threadCount, texts) {
    const { embedding, engine } = loadConfig().config;
    const asked = {
        models: `bench=${modelPath}`,
        computeType
    };
    const own = {
        embedding: Object.assign({}, embedding, asked),
        engine
    };
    const models = await openEmbedding(own, {
        threadCount
    });
    try {
        return (await models.embed({
            model: '',
            texts,
            dimensions: undefined
        })).vectors;
    } finally{
        models.close();
    }
}
function shuffled(texts) {
    const random = new Random(SEED);
    const keys = new Map(texts.map((text)=>[
            text,
            random.uniform()
        ]));
    return [
        ...keys
    ].sort(([, a], [, b])=>a - b).map(([text])=>text);
}

//# sourceMappingURL=ranks-stage.js.map