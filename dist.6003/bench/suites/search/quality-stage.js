import { overlapOf } from "../../../tools/evaluate/overlap.js";
import { mean } from "../../result.js";
import { barOf, suiteModels } from "./models.js";
import { ratioInterval } from "./resampling.js";
import { beam, certified, SearchModel, testUsers, withModel } from "./search-model.js";
const SEED = 44;
const DEPTH = 50;
const BEAM = 50;
const USERS = {
    quick: 100,
    full: 3000
};
const HALVED_USERS = {
    quick: 40,
    full: 400
};
const HALVED_COUNTS = [
    10,
    50
];
const BEAM_BAR = 1.03;
const EQUAL_ROWS_BAR = 1;
/** Too few users of the test, and none whom the issue names. */ const WITHOUT_QUALITY = [
    'industrial'
];
/** Width of a beam of as many rows: all steps but that of the prompt have as many. */ export const widthOfRows = (rows, depth)=>Math.max(1, Math.round(rows / (depth - 1)));
async function listOf(model, { prompt }, ask) {
    const { items, rows } = await model.recall(prompt, ask);
    return {
        ids: items.map(({ itemId })=>itemId),
        rows
    };
}
/** Users' next items among the first: certified, of a beam, and of a beam of equal rows. */ export async function qualityStage(context) {
    const models = suiteModels(context);
    const measurements = [];
    for (const folder of models.measured){
        if (WITHOUT_QUALITY.includes(folder.name)) continue;
        const users = await testUsers(folder, context.quick ? USERS.quick : USERS.full);
        context.say(`${folder.name}: Recall@${DEPTH} of ${users.length} users`);
        measurements.push(...await qualityOf(models, folder, users));
    }
    return measurements;
}
async function qualityOf(models, folder, users) {
    return withModel(SearchModel.open(folder), async (model)=>{
        const hits = {
            certified: [],
            beam: [],
            equal: []
        };
        for (const user of users){
            const isHit = (ids)=>Number(ids.includes(user.target));
            const best = await listOf(model, user, certified(DEPTH));
            const width = widthOfRows(best.rows, model.depth);
            hits.certified.push(isHit(best.ids));
            hits.beam.push(isHit((await listOf(model, user, beam(BEAM, DEPTH))).ids));
            hits.equal.push(isHit((await listOf(model, user, beam(width, DEPTH))).ids));
        }
        const { name } = folder;
        return [
            ...ratioRows(name, hits.certified, hits.beam, {
                to: `beam of ${BEAM}`,
                bar: barOf(models, BEAM_BAR)
            }),
            ...ratioRows(name, hits.certified, hits.equal, {
                to: 'beam of equal rows',
                bar: null,
                highestBar: barOf(models, EQUAL_ROWS_BAR)
            })
        ];
    });
}
function ratioRows(name, above, below, { to, bar, highestBar = null }) {
    const prefix = `${name}: Recall@${DEPTH}`;
    const { low, high } = ratioInterval(above, below, SEED);
    const ratio = {
        value: mean(above) / mean(below),
        to
    };
    return [
        {
            name: `${prefix}, ${to}`,
            value: mean(below),
            unit: '',
            bar: null
        },
        {
            name: `${prefix}, certified`,
            value: mean(above),
            unit: '',
            ratio,
            bar
        },
        {
            name: `${prefix} over the ${to}, 95 % from`,
            value: low,
            unit: '',
            bar: null
        },
        {
            name: `${prefix} over the ${to}, 95 % to`,
            value: high,
            unit: '',
            bar: highestBar
        }
    ];
}
/** Searches that are stopped at half of the rows of the proof, and beams of those rows. */ export async function halfStage(context) {
    const models = suiteModels(context);
    const measurements = [];
    for (const folder of models.measured){
        const users = await testUsers(folder, context.quick ? HALVED_USERS.quick : HALVED_USERS.full);
        context.say(`${folder.name}: ${users.length} searches stopped at half of their rows`);
        await withModel(SearchModel.open(folder), async (model)=>{
            for (const k of HALVED_COUNTS)measurements.push(...await halved(models, model, users, k));
        });
    }
    return measurements;
}
async function halved(models, model, users, k) {
    const stopped = [];
    const beams = [];
    const wholes = [];
    // All of them first: the engine's rule learns from searches that are stopped as well.
    for (const user of users)wholes.push(await listOf(model, user, certified(k)));
    for (const [at, user] of users.entries()){
        const whole = wholes[at];
        const budget = Math.max(1, Math.floor(whole.rows / 2));
        const half = await listOf(model, user, certified(k, budget));
        const width = Math.max(1, Math.floor(budget / (model.depth - 1)));
        const other = await listOf(model, user, beam(width, k));
        stopped.push(overlapOf(whole.ids, half.ids, k));
        beams.push(overlapOf(whole.ids, other.ids, k));
    }
    const prefix = `${model.name}: of the true top ${k}`;
    return [
        {
            name: `${prefix}, a beam of half the rows`,
            value: mean(beams),
            unit: '',
            bar: null
        },
        {
            name: `${prefix}, a search stopped at half`,
            value: mean(stopped),
            unit: '',
            ratio: {
                value: mean(stopped) / mean(beams),
                to: 'beam'
            },
            bar: barOf(models, 1)
        }
    ];
}

//# sourceMappingURL=quality-stage.js.map