import os from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { ENCODERS, MINILM, randomEncoder } from "../../models/random-encoder.js";
import { arePeersInstalled, INSTALL_COMMAND, ourselves, PEER_NAMES, startPeers } from "./contestants.js";
import { cosineRow, lowestCosine, rateRows, typeRows } from "./rate-rows.js";
import { drawTexts, placesOverTokens } from "./texts.js";
/** Two batches of a peer at least, so that sorting them saves something. */ const TEXTS = {
    quick: 64,
    full: 256
};
/** All take turns in each: a shared machine's clock and load move within minutes. */ const ROUNDS = {
    quick: 2,
    full: 7
};
/** A process for each engine and type takes seconds to start. */ const QUICK_PEERS = [
    'onnxruntime'
];
const PRECISIONS = [
    'f32',
    'bf16',
    'int8'
];
const WAYS = [
    'padded',
    'sorted'
];
/** Texts of a peer's batch. */ const BATCH = 32;
/** Before each turn: threads of the engine asked before may still spin. */ const REST_MS = 50;
const SEED = 8;
/** Texts a second beside other engines on the same weights, texts and threads, in turns. */ export async function throughputStage({ quick, flags, say }) {
    const threads = flags.integer('threads', 1, 256) ?? os.availableParallelism();
    const form = quick ? 'quick' : 'full';
    const known = ENCODERS.map(({ name })=>name);
    const wanted = flags.someOf('shape', known, quick ? [
        MINILM.name
    ] : known);
    const engines = flags.someOf('peer', PEER_NAMES, quick ? QUICK_PEERS : PEER_NAMES);
    const texts = drawTexts(TEXTS[form], SEED);
    const measurements = paddingRows(texts);
    for (const shape of ENCODERS.filter(({ name })=>wanted.includes(name))){
        const all = await open(shape, threads, engines, say);
        const tell = (line)=>say(`${shape.name}: ${line}`);
        try {
            const fit = await warmUp(all, texts, tell);
            await takeTurns(fit, texts, ROUNDS[form], tell);
            measurements.push(...rows(`${shape.name}, ${texts.length} texts`, texts.length, fit));
        } finally{
            for (const one of all)await one.close();
        }
    }
    if (arePeersInstalled()) return measurements;
    const name = `absent: ${PEER_NAMES.join(', ')} (${INSTALL_COMMAND})`;
    return [
        ...measurements,
        {
            name,
            value: PEER_NAMES.length,
            unit: 'peers',
            bar: null
        }
    ];
}
async function open(shape, threads, engines, say) {
    const setting = {
        modelPath: randomEncoder(shape, say),
        threads
    };
    const own = [];
    for (const precision of PRECISIONS)own.push(await ourselves(setting, precision));
    const peers = arePeersInstalled() ? await startPeers(setting, engines, say) : [];
    return [
        ...own,
        ...peers
    ].map((one)=>{
        const nothing = {
            milliseconds: [],
            vectors: []
        };
        return Object.assign(nothing, one);
    });
}
/** Everybody's vectors. Those who do not make any are left out of the rounds. */ async function warmUp(all, texts, say) {
    const fit = [];
    for (const one of all){
        say(`${one.name} ${one.way ?? ''}`);
        try {
            const { vectors = [] } = await one.embed(texts, true);
            one.vectors = vectors;
            fit.push(one);
        } catch (error) {
            if (one.way === undefined) throw error;
            say(error.message);
        }
    }
    return fit;
}
async function takeTurns(all, texts, rounds, say) {
    for(let round = 1; round <= rounds; round += 1){
        say(`round ${round} of ${rounds}`);
        for (const one of all){
            await pause(REST_MS);
            const { totalMs } = await one.embed(texts, false);
            one.milliseconds.push(totalMs);
        }
    }
}
function rows(prefix, count, all) {
    const isReference = ({ precision, way })=>precision === 'f32' && way !== undefined;
    const reference = all.find(isReference);
    const others = all.filter((one)=>one !== reference);
    return [
        ...rateRows(prefix, count, all),
        ...typeRows(prefix, all),
        ...reference === undefined ? [] : others.map((one)=>cosineRow(`${prefix}, to ${reference.name}`, one, lowestCosine(one.vectors, reference.vectors)))
    ];
}
function paddingRows(texts) {
    const lengths = texts.map(({ tokens })=>tokens.length);
    const tokens = lengths.reduce((sum, length)=>sum + length, 0);
    const prefix = `${texts.length} texts`;
    return [
        {
            name: `${prefix}, tokens`,
            value: tokens,
            unit: 'tokens',
            bar: null
        },
        ...WAYS.map((way)=>({
                name: `${prefix}, places over tokens, batches of ${BATCH} ${way}`,
                value: placesOverTokens(lengths, way, BATCH),
                unit: 'ratio',
                bar: null
            }))
    ];
}

//# sourceMappingURL=throughput-stage.js.map