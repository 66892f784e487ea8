import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../../libs/ops/config/src/index.js";
import { engineLimits, NativeEngine } from "../../../libs/engine/src/index.js";
import { loadRelevance, Relevance } from "../../../libs/service/relevance/src/index.js";
import { quantile } from "../../result.js";
const FOLDER = join('test', 'fixtures', 'relevance');
const POSITIONS = 8192;
const LIMITS = {
    documentsMax: 1000,
    promptTokensMax: POSITIONS,
    requestsAtOnce: 128
};
const BUDGET_US = 600e6;
/** Its score has no odds. */ const GRADED = 'graded.json';
/** Its score is log-odds, that of others a probability. */ const ODDS = 'odds.json';
const BARS = {
    f32: 1e-5,
    bf16: 0.02
};
/** The distance of every score from that of transformers. */ export async function scoresStage({ say }) {
    const cases = JSON.parse(readFileSync(join(FOLDER, 'cases.json'), 'utf8'));
    const measurements = [];
    for (const computeType of [
        'f32',
        'bf16'
    ]){
        say(`scores of ${cases.length} calls in ${computeType}`);
        const of = computeType === 'f32' ? cases : cases.filter(({ template })=>template !== GRADED);
        const errors = await errorsOf(computeType, of);
        // The file has weights in F32: in BF16 they are rounded, and these errors are of that as well.
        const what = computeType === 'f32' ? 'score' : 'log-odds, weights rounded';
        const name = `${computeType}, ${errors.length} pairs, error of the ${what}`;
        measurements.push({
            name: `${name}, median`,
            value: quantile(errors, 0.5),
            unit: '',
            bar: null
        }, {
            name: `${name}, largest`,
            value: Math.max(...errors),
            unit: '',
            bar: BARS[computeType],
            bound: 'at-most'
        });
    }
    return measurements;
}
async function errorsOf(computeType, cases) {
    const { vocabulary: _, ...limits } = engineLimits(loadConfig().config.engine);
    const engine = await NativeEngine.open({
        ...limits,
        modelPath: FOLDER,
        computeType,
        activationScalesPath: '',
        promptTokensMax: POSITIONS
    });
    try {
        const errors = [];
        for (const of of cases)errors.push(...await errorsOfCall(engine, computeType, of));
        return errors;
    } finally{
        await engine.close();
    }
}
async function errorsOfCall(engine, computeType, { template, query, instruction, documents, expected }) {
    const path = template === null ? undefined : join(FOLDER, template);
    const parts = await loadRelevance(FOLDER, path);
    const { outcomes } = await new Relevance({
        engine,
        limits: LIMITS,
        ...parts
    }).score({
        query,
        instruction: instruction ?? undefined,
        documents,
        tooLong: 'cut',
        failures: 'whole',
        priority: 'normal'
    }, {
        budgetUs: BUDGET_US
    });
    const isShown = computeType === 'f32' || template === ODDS;
    const shown = (score)=>isShown ? score : Math.log(score / (1 - score));
    return outcomes.map((outcome, i)=>'error' in outcome ? Number.POSITIVE_INFINITY : Math.abs(shown(outcome.score) - shown(expected[i])));
}

//# sourceMappingURL=scores-stage.js.map