import { SHAPES } from "../../models/model-shape.js";
import { levelTokens } from "../../models/random-catalogue.js";
import { quantile } from "../../result.js";
import { BenchEngine, withEngine } from "./bench-engine.js";
/** Of a text model whose vocabulary was extended by the codes. */ const TEXT_VOCABULARY = 151_936;
const PROMPT_TOKENS = 512;
const WIDTH = 64;
const RECALLS = {
    quick: 7,
    full: 15
};
const MEBIBYTE = 2 ** 20;
/** In the order in which they are asked in each round. */ const ASKED = [
    {
        name: 'whole head, full',
        head: 'whole',
        scoreNorm: 'full'
    },
    {
        name: 'whole head, allowed',
        head: 'whole',
        scoreNorm: 'allowed'
    },
    {
        name: 'head of the catalogue, allowed',
        head: 'cut',
        scoreNorm: 'allowed'
    }
];
/** A text model with its whole head and with the codes' rows alone: memory, and time of recalls. */ export async function vocabularyStage(context) {
    const measurements = [];
    for (const name of context.shapes){
        const shape = {
            ...SHAPES[name],
            name: `${name}-text`,
            vocabulary: TEXT_VOCABULARY
        };
        for (const computeType of context.computeTypes.filter((type)=>type !== 'f32')){
            measurements.push(...await measure(shape, computeType, context));
        }
    }
    return measurements;
}
function measure(shape, computeType, { quick, machine, say }) {
    const threads = {
        threadCount: machine.threads
    };
    const headTokens = Int32Array.from(levelTokens().levels.flatMap((level)=>[
            ...level
        ]));
    const cutOptions = {
        ...threads,
        headTokens
    };
    return withEngine(BenchEngine.open(shape, computeType, threads, say), (whole)=>withEngine(BenchEngine.open(shape, computeType, cutOptions, say), async (cut)=>{
            say(`${shape.name} ${computeType}: recalls with the whole head and a cut one`);
            const engines = {
                whole,
                cut
            };
            const timings = await inTurn(engines, quick ? RECALLS.quick : RECALLS.full);
            const prefix = `${shape.name} ${computeType}`;
            const tokens = `${cut.model.headSize} of ${whole.model.headSize} tokens`;
            return [
                {
                    name: `${prefix}: weights with a head of ${tokens}`,
                    value: cut.model.weightBytes / MEBIBYTE,
                    unit: 'MiB',
                    ratio: {
                        value: cut.model.weightBytes / whole.model.weightBytes,
                        to: 'whole head'
                    },
                    bar: null
                },
                ...rowsOf(prefix, timings)
            ];
        }));
}
/** A round is the same prompt once of each; the first round does not count. */ async function inTurn(engines, rounds) {
    const timings = new Map(ASKED.map((asked)=>[
            asked,
            []
        ]));
    for(let round = 0; round <= rounds; round += 1){
        for (const asked of ASKED){
            const engine = engines[asked.head];
            const tokens = engine.prompt(PROMPT_TOKENS, round);
            const answer = await engine.recall({
                tokens,
                width: WIDTH,
                scoreNorm: asked.scoreNorm
            });
            if (round > 0) timings.get(asked)?.push(answer.timings);
        }
    }
    return timings;
}
function rowsOf(prefix, timings) {
    const median = (asked, part)=>quantile((timings.get(asked) ?? []).map((timing)=>timing[part]), 0.5) / 1000;
    const [first] = ASKED;
    return [
        'headUs',
        'totalUs'
    ].flatMap((part)=>ASKED.map((asked)=>({
                name: `${prefix}, ${asked.name}: ${part === 'headUs' ? 'head' : 'recall'}`,
                value: median(asked, part),
                unit: 'ms',
                ratio: {
                    value: median(asked, part) / median(first, part),
                    to: first.name
                },
                bar: null
            })));
}

//# sourceMappingURL=vocabulary.js.map