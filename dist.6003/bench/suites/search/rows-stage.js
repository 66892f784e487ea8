import { mean, quantile } from "../../result.js";
import { fewestRows } from "./brute-force.js";
import { barOf, suiteModels } from "./models.js";
import { overPredicted } from "./resampling.js";
import { certified, SearchModel, testUsers, withModel } from "./search-model.js";
const RESULT_COUNTS = [
    10,
    20,
    50,
    100
];
/** Users whose answers the engine's rule learns from before rows are counted. */ const LEARNT = {
    quick: 40,
    full: 100
};
const COUNTED = {
    quick: 10,
    full: 60
};
const PREDICTED = {
    quick: 200,
    full: 600
};
const ROWS_BAR = 1.12;
/** A beam has as many passes as levels, that of the prompt included. */ const PASSES_OVER_LEVELS = 0.5;
/** The engine's prediction: a quantile of the rows of its last answers of the kind. */ const MEMORY = 64;
const SHARE = 0.85;
const PREDICTION_BAR = 1.25;
/** Rows and passes of certified searches over the fewest that any proof needs. */ export async function rowsStage(context) {
    const { quick, say } = context;
    const models = suiteModels(context);
    const learnt = quick ? LEARNT.quick : LEARNT.full;
    const counted = quick ? COUNTED.quick : COUNTED.full;
    const measurements = [];
    for (const folder of models.measured){
        say(`${folder.name}: rows of ${counted} users behind ${learnt} others`);
        const users = await testUsers(folder, learnt + counted);
        await withModel(SearchModel.open(folder), async (model)=>{
            const found = await countAll(model, users, learnt);
            for (const [k, those] of found)measurements.push(...rowsOf(models, model, k, those));
        });
    }
    return measurements;
}
async function countAll(model, users, learnt) {
    const found = new Map(RESULT_COUNTS.map((k)=>[
            k,
            []
        ]));
    for (const { prompt } of users.slice(0, learnt)){
        for (const k of RESULT_COUNTS)await model.recall(prompt, certified(k));
    }
    for (const { prompt } of users.slice(learnt)){
        const scores = await model.nodeScores(prompt);
        for (const k of RESULT_COUNTS){
            const { rows, passes, certified: isCertified } = await model.recall(prompt, certified(k));
            const fewest = fewestRows(model.nodes, scores, k);
            found.get(k)?.push({
                isCertified,
                rows,
                passes: passes.length,
                fewest
            });
        }
    }
    return found;
}
function rowsOf(models, { name, depth }, k, counted) {
    const rows = mean(counted.map((one)=>one.rows));
    const fewest = mean(counted.map((one)=>one.fewest));
    const passes = counted.map((one)=>one.passes);
    const prefix = `${name}: certified top ${k}`;
    return [
        {
            name: `${prefix}: rows, mean`,
            value: rows,
            unit: 'rows',
            ratio: {
                value: rows / fewest,
                to: 'the fewest that a proof needs'
            },
            bar: barOf(models, ROWS_BAR),
            bound: 'at-most'
        },
        {
            name: `${prefix}: passes with the prompt's, mean`,
            value: mean(passes),
            unit: 'passes',
            bar: barOf(models, depth + PASSES_OVER_LEVELS),
            bound: 'at-most'
        },
        {
            name: `${prefix}: passes, most`,
            value: Math.max(...passes),
            unit: 'passes',
            bar: null
        },
        {
            name: `${prefix}: certified`,
            value: mean(counted.map((one)=>Number(one.isCertified))),
            unit: '',
            bar: barOf(models, 1)
        }
    ];
}
/**
 * How far rows are from what is predicted of them. The engine does not tell its prediction: it is
 * computed here as there, from the rows of the last answers.
 */ export async function predictionStage(context) {
    const models = suiteModels(context);
    const count = context.quick ? PREDICTED.quick : PREDICTED.full;
    const measurements = [];
    for (const folder of models.measured){
        context.say(`${folder.name}: rows of ${count} users one after another`);
        measurements.push(...await predictions(models, folder, count));
    }
    return measurements;
}
async function predictions(models, folder, count) {
    const users = await testUsers(folder, count);
    return withModel(SearchModel.open(folder), async (model)=>{
        const measurements = [];
        for (const k of [
            10,
            50
        ]){
            const rows = [];
            for (const { prompt } of users)rows.push((await model.recall(prompt, certified(k))).rows);
            const value = quantile(overPredicted(rows, MEMORY, SHARE), 0.9);
            measurements.push({
                name: `${folder.name}: rows of the top ${k} over predicted, 90th percentile`,
                value,
                unit: '',
                ratio: {
                    value: Math.max(value, 1 / value),
                    to: 'one, whichever is larger'
                },
                bar: barOf(models, PREDICTION_BAR),
                bound: 'at-most'
            });
        }
        return measurements;
    });
}

//# sourceMappingURL=rows-stage.js.map