import { overlapOf } from "../../../tools/evaluate/overlap.js";
import { mean, quantile } from "../../result.js";
import { barOf, suiteModels } from "./models.js";
import { beam, certified, eagerBeam, SearchModel, testUsers, withModel } from "./search-model.js";
import { widenedModel } from "./widened-model.js";
/** Contestants that take turns; times are over those of the beams of the same number of items. */ const PAIRS = [
    {
        k: 10,
        width: 50,
        bar: 1
    },
    {
        k: 50,
        width: 100,
        bar: 1.05
    }
];
const USERS = {
    quick: {
        learnt: 40,
        timed: 20
    },
    full: {
        learnt: 100,
        timed: 150
    }
};
const WIDENED_USERS = {
    learnt: 30,
    timed: 12
};
/** The model that is put into the large shape. */ const WIDENED = 'steam';
const LAST_STEP_BAR = 0.75;
const LAST_STEP = {
    k: 10,
    width: 50
};
/** Certified searches and beams by turns, on the trained models and one of them as a large one. */ export async function timesStage(context) {
    const models = suiteModels(context);
    const { learnt, timed } = context.quick ? USERS.quick : USERS.full;
    const measurements = [];
    for (const folder of models.measured){
        context.say(`${folder.name}: times of ${timed} users by turns`);
        const users = await testUsers(folder, learnt + timed);
        const timesOf = (model)=>pairRows(models, model, users, learnt);
        measurements.push(...await withModel(SearchModel.open(folder, 'f32'), timesOf));
    }
    const small = models.measured.find(({ name })=>name === WIDENED);
    if (small === undefined || context.quick) return measurements;
    return [
        ...measurements,
        ...await widenedRows(models, small, context)
    ];
}
/** A model of the 0.6B shape that computes what the trained one does (widened-model.ts). */ async function widenedRows(models, small, { say }) {
    const { learnt, timed } = WIDENED_USERS;
    const users = await testUsers(small, learnt + timed);
    const name = `${small.name} in the 0.6B shape`;
    const folder = widenedModel(small, say);
    say(`${name}: times of ${timed} users by turns`);
    const open = (from, type)=>SearchModel.open(from, type);
    const large = await withModel(open({
        name,
        folder
    }, 'bf16'), async (model)=>({
            rows: await pairRows(models, model, users, learnt),
            sight: await sightOf(model, users.slice(0, timed))
        }));
    const own = await withModel(open(small, 'f32'), (model)=>sightOf(model, users.slice(0, timed)));
    const overlaps = large.sight.map(({ ids }, at)=>overlapOf(own[at]?.ids ?? [], ids, 10));
    const entropy = (of)=>mean(of.map((one)=>one.entropy));
    return [
        ...large.rows,
        {
            name: `${name}: entropy of the first level, nats`,
            value: entropy(large.sight),
            unit: '',
            ratio: {
                value: entropy(large.sight) / entropy(own),
                to: small.name
            },
            bar: null
        },
        {
            name: `${name}: shared of the first ten`,
            value: mean(overlaps),
            unit: '',
            bar: null
        }
    ];
}
/** Evidence that two models have the same distributions. */ async function sightOf(model, users) {
    const found = [];
    for (const { prompt } of users){
        const { items } = await model.recall(prompt, certified(10));
        const ids = items.map(({ itemId })=>itemId);
        found.push({
            ids,
            entropy: await model.firstEntropy(prompt)
        });
    }
    return found;
}
/** Asks each user each way, in an order that goes round; the first `learnt` are not kept. */ async function byTurns(model, users, asks, learnt) {
    const names = Object.keys(asks);
    const answers = new Map(names.map((name)=>[
            name,
            []
        ]));
    for (const [at, { prompt }] of users.entries()){
        for(let turn = 0; turn < names.length; turn += 1){
            const name = names[(turn + at) % names.length];
            const ask = asks[name];
            // Beams learn nothing.
            if (at < learnt && ask.rowBudget === undefined) continue;
            const answer = await model.recall(prompt, ask);
            if (at >= learnt) answers.get(name)?.push(answer);
        }
    }
    return answers;
}
const BEAM = 'beam';
const EAGER = 'beam that computes all its rows';
const BEST = 'certified';
async function pairRows(models, model, users, learnt) {
    const measurements = [];
    for (const { k, width, bar } of PAIRS){
        const asks = {
            [BEST]: certified(k),
            [BEAM]: beam(width, k),
            [EAGER]: eagerBeam(width, k)
        };
        const answers = await byTurns(model, users, asks, learnt);
        const of = (name)=>answers.get(name) ?? [];
        const beams = of(BEAM).map(totalUs);
        // The time of the watched item's explanation is no part of a beam.
        const eager = of(EAGER).map((answer, at)=>modelUs(answer) + outsideUs(of(BEAM)[at]));
        const best = of(BEST).map(totalUs);
        const prefix = `${model.name}: top ${k}`;
        const row = (name, us)=>({
                name: `${prefix}, ${name}`,
                value: quantile(us, 0.5) / 1000,
                unit: 'ms',
                bar: null
            });
        measurements.push(row(`${EAGER}, ${width} wide`, eager), Object.assign(row(`certified, over that`, best), {
            ratio: {
                value: medianRatio(best, eager),
                to: `beam of ${width}, all rows`
            },
            bar: barOf(models, bar),
            bound: 'at-most'
        }), row(`beam, ${width} wide`, beams), Object.assign(row('certified, over that', best), {
            ratio: {
                value: medianRatio(best, beams),
                to: `beam of ${width}, needed rows`
            }
        }));
    }
    return measurements;
}
const totalUs = ({ timings })=>timings.totalUs - timings.queueUs;
const modelUs = ({ timings })=>timings.prefillUs + timings.decodeUs + timings.headUs;
const outsideUs = (answer)=>answer === undefined ? Number.NaN : totalUs(answer) - modelUs(answer);
/** Of pairs of the same user. */ const medianRatio = (above, below)=>quantile(above.map((us, at)=>us / (below[at] ?? Number.NaN)), 0.5);
/** Beams whose rows are computed where they can reach the answer, over those that compute all. */ export async function lastStepStage(context) {
    const models = suiteModels(context);
    const { timed } = context.quick ? USERS.quick : USERS.full;
    const { k, width } = LAST_STEP;
    const measurements = [];
    for (const folder of models.measured){
        context.say(`${folder.name}: beams of ${width} for ${k} items, with the proof and without`);
        const users = await testUsers(folder, timed);
        const asks = {
            [BEAM]: beam(width, k),
            [EAGER]: eagerBeam(width, k)
        };
        const answers = await withModel(SearchModel.open(folder), (model)=>byTurns(model, users, asks, 0));
        const [some, all] = [
            answers.get(BEAM) ?? [],
            answers.get(EAGER) ?? []
        ];
        measurements.push(...lastStepRows(models, folder.name, some, all));
    }
    return measurements;
}
const decodeUs = ({ timings })=>timings.decodeUs + timings.headUs;
/** Items with the bits of their scores. */ const bitsOf = ({ items })=>items.map(({ itemId, score })=>`${itemId} ${score}`).join();
function lastStepRows(models, name, some, all) {
    const equal = some.filter((answer, at)=>bitsOf(answer) === bitsOf(all[at] ?? answer)).length;
    const rows = (answers)=>mean(answers.map((answer)=>answer.rows));
    const us = {
        some: some.map(decodeUs),
        all: all.map(decodeUs)
    };
    const prefix = `${name}: beam of ${LAST_STEP.width} for ${LAST_STEP.k}`;
    return [
        {
            name: `${prefix}: decode with the last step's proof`,
            value: quantile(us.some, 0.5) / 1000,
            unit: 'ms',
            ratio: {
                value: medianRatio(us.some, us.all),
                to: 'without'
            },
            bar: barOf(models, LAST_STEP_BAR),
            bound: 'at-most'
        },
        {
            name: `${prefix}: rows`,
            value: rows(some),
            unit: 'rows',
            ratio: {
                value: rows(some) / rows(all),
                to: 'without'
            },
            bar: null
        },
        {
            name: `${prefix}: equal to the bit`,
            value: equal,
            unit: 'answers',
            ratio: {
                value: equal / some.length,
                to: `${some.length} answers`
            },
            bar: 1,
            bound: 'at-least'
        }
    ];
}

//# sourceMappingURL=times-stage.js.map