import os from "node:os";
import { AS_ACTIVE, MIXTURE } from "../../models/model-shape.js";
import { quantile } from "../../result.js";
import { BenchEngine, withEngine } from "../engine/bench-engine.js";
const ITEMS = 100_000;
const PROMPT_TOKENS = 512;
const WIDTH = 64;
/** A request of the relevance model: so many documents of so many tokens at once. */ const DOCUMENTS = 4;
const DOCUMENT_TOKENS = 576;
const ROUNDS = {
    quick: 3,
    full: 9
};
const COMPUTE_TYPES = [
    'bf16',
    'w8a8'
];
/** Requests to a mixture beside those to a dense model as large as what a row goes through. */ export async function servedStage({ quick, flags, say }) {
    const threadCount = flags.integer('threads', 1, 256) ?? os.availableParallelism();
    const open = (shape, computeType)=>BenchEngine.open(shape, computeType, {
            threadCount
        }, say, ITEMS);
    const measurements = [];
    for (const computeType of flags.someOf('compute', COMPUTE_TYPES, COMPUTE_TYPES)){
        say(`${MIXTURE.name} and ${AS_ACTIVE.name} in ${computeType}, by turns`);
        const rounds = quick ? ROUNDS.quick : ROUNDS.full;
        const [own, dense] = await withEngine(open(MIXTURE, computeType), (mixture)=>withEngine(open(AS_ACTIVE, computeType), (active)=>byTurns([
                    mixture,
                    active
                ], rounds)));
        if (own === undefined || dense === undefined) continue;
        measurements.push(row(`${computeType}, recall of ${WIDTH} beams after ${PROMPT_TOKENS} tokens`, own.recall, dense.recall), row(`${computeType}, ${DOCUMENTS} x ${DOCUMENT_TOKENS} tokens`, own.relevance, dense.relevance));
    }
    return measurements;
}
/** The first round, which touches memory that was not used before, does not count. */ async function byTurns(engines, rounds) {
    const times = engines.map(()=>({
            recall: [],
            relevance: []
        }));
    for(let round = 0; round <= rounds; round += 1){
        for (const [at, engine] of engines.entries()){
            const recall = await milliseconds(()=>engine.recall({
                    tokens: engine.prompt(PROMPT_TOKENS, 1 + round),
                    width: WIDTH
                }));
            const relevance = await milliseconds(()=>scoreDocuments(engine, round));
            if (round === 0) continue;
            times[at]?.recall.push(recall);
            times[at]?.relevance.push(relevance);
        }
    }
    return times;
}
function scoreDocuments(engine, round) {
    const documents = Array.from({
        length: DOCUMENTS
    }, (_, at)=>engine.prompt(DOCUMENT_TOKENS, 1000 + DOCUMENTS * round + at));
    return Promise.all(documents.map((tokens)=>engine.append(tokens)));
}
async function milliseconds(work) {
    const start = performance.now();
    await work();
    return performance.now() - start;
}
function row(what, own, dense) {
    const value = quantile(own, 0.5);
    const ratio = {
        value: value / quantile(dense, 0.5),
        to: 'dense, as active'
    };
    return {
        name: `${MIXTURE.name} ${what}`,
        value,
        unit: 'ms',
        ratio,
        bar: null
    };
}

//# sourceMappingURL=served-stage.js.map