import os from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { loadConfig } from "../../../libs/ops/config/src/index.js";
import { measureTexts } from "../../../libs/service/embedding/src/index.js";
import { openEmbedding } from "../../../apps/standalone/src/embedding.js";
import { ENCODERS, randomEncoder } from "../../models/random-encoder.js";
import { lowestCosine } from "./rate-rows.js";
import { staticRows } from "./static-rows.js";
import { drawTexts } from "./texts.js";
const TYPES = [
    'f32',
    'bf16',
    'w8a8',
    'w8a8-static'
];
const QUICK_TYPES = TYPES.slice(1);
const ROWS = 3840;
/** All rows together, whatever they are predicted to take. */ const ONE_PASS = {
    timeTargetUs: 60e6
};
const ROUNDS = {
    quick: 5,
    full: 9
};
const CALIBRATION_TEXTS = 64;
/** Before each turn: threads of the model asked before may still spin. */ const REST_MS = 50;
const SEED = 8;
/** INT8 with measured scales beside our own other types: one pass of 3,840 tokens, in turns. */ export async function staticStage({ quick, flags, say }) {
    const threads = flags.integer('threads', 1, 256) ?? os.availableParallelism();
    const known = ENCODERS.map(({ name })=>name);
    const names = flags.someOf('shape', known, known.slice(-1));
    const texts = textsOf(ROWS, SEED);
    const measurements = [];
    for (const shape of ENCODERS.filter(({ name })=>names.includes(name))){
        measurements.push(...await ofShape(shape, texts, threads, quick, say));
    }
    return measurements;
}
async function ofShape(shape, texts, threads, quick, say) {
    const modelPath = randomEncoder(shape, say);
    say(`${shape.name}: measuring scales`);
    const others = drawTexts(CALIBRATION_TEXTS, SEED + 1).map(({ text })=>text);
    await measureTexts(modelPath, others, threads);
    const all = await Promise.all((quick ? QUICK_TYPES : TYPES).map((type)=>open(modelPath, type, threads)));
    try {
        const rounds = quick ? ROUNDS.quick : ROUNDS.full;
        for(let round = 0; round <= rounds; round += 1){
            say(`${shape.name}: ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}`);
            for (const one of all)await takeTurn(one, texts, round > 0);
        }
        const wide = all[0];
        const cosines = all.slice(1).map((one)=>({
                type: one.type,
                value: lowestCosine(one.vectors, wide?.vectors ?? [])
            }));
        return staticRows(`${shape.name}, ${ROWS} rows`, all, cosines);
    } finally{
        for (const { models } of all)models.close();
    }
}
async function open(modelPath, type, threadCount) {
    const { embedding, engine } = loadConfig().config;
    const asked = {
        models: `bench=${modelPath}`,
        computeType: type
    };
    const own = {
        embedding: Object.assign({}, embedding, asked),
        engine
    };
    const models = await openEmbedding(own, {
        ...ONE_PASS,
        threadCount
    });
    const vectors = [];
    return {
        type,
        models,
        milliseconds: [],
        vectors
    };
}
async function takeTurn(one, texts, isCounted) {
    await pause(REST_MS);
    const started = performance.now();
    const { vectors } = await one.models.embed({
        model: '',
        texts,
        dimensions: undefined
    });
    if (isCounted) one.milliseconds.push(performance.now() - started);
    one.vectors = vectors;
}
/** As many as have so many tokens, the last one shortened. */ function textsOf(rows, seed) {
    const texts = [];
    let left = rows;
    for (const { text, tokens } of drawTexts(rows, seed)){
        if (tokens.length <= left) texts.push(text);
        left -= tokens.length <= left ? tokens.length : 0;
    }
    return texts;
}

//# sourceMappingURL=static-stage.js.map