import { NO_ELIGIBILITY } from "../../../libs/engine/src/index.js";
import { Random } from "../../models/random.js";
import { mean } from "../../result.js";
import { barOf, suiteModels } from "../search/models.js";
import { ratioInterval } from "../search/resampling.js";
import { beam, certified, SearchModel, testUsers, withModel } from "../search/search-model.js";
import { VALUATIONS, ValuedModel } from "./valued-model.js";
const COUNTED = {
    quick: 20,
    full: 100
};
const LEARNT = {
    quick: 40,
    full: 100
};
const BEAM = 50;
const RESULT_COUNTS = [
    10,
    BEAM
];
const PLACES = 5;
const ROWS_BAR = 1.15;
const SEED = 56;
const SIGMA = 1;
/** Nats by which a user's true taste differs from the model's score. */ const TASTE = 0.7;
const byValue = (a, b)=>b.value - a.value;
/** Worth of an impression: the probability times the bid. */ const worth = ({ value })=>Math.exp(value);
/** The loss of a beam whose items are sorted by value, and the cost of the proof. */ export async function worthStage(context) {
    const { quick, say } = context;
    const models = suiteModels(context);
    const [ecpm] = VALUATIONS;
    const measurements = [];
    for (const folder of models.measured){
        const [learnt, counted] = quick ? [
            LEARNT.quick,
            COUNTED.quick
        ] : [
            LEARNT.full,
            COUNTED.full
        ];
        say(`${folder.name}: worth and rows of ${counted} users behind ${learnt} others`);
        const users = await testUsers(folder, learnt + counted);
        await withModel(SearchModel.open(folder), async (model)=>{
            const valued = await ValuedModel.of(model, SEED, SIGMA);
            await valued.drawBids(model.items, SIGMA, true);
            const reach = await valued.reach(ecpm.name, NO_ELIGIBILITY);
            for (const k of RESULT_COUNTS){
                const ask = Object.assign(certified(k), {
                    reach,
                    itemsPerSid: 0
                });
                for (const { prompt } of users.slice(0, learnt))await model.recall(prompt, ask);
                const of = [];
                for (const { prompt } of users.slice(learnt)){
                    of.push(await ofUser(valued, ecpm, prompt, k, await model.recall(prompt, ask)));
                }
                measurements.push(...rowsOf(models, folder.name, k, of));
            }
            measurements.push(...await shopOf(valued, ecpm, users.slice(learnt), folder.name));
        });
    }
    return measurements;
}
/** Sums below every prefix, as exactly as items have them. */ function mostBelow(valued, one) {
    const most = new Map();
    for (const item of valued.model.items){
        const sum = valued.sumOf(one, item);
        if (sum === undefined) continue;
        for(let depth = 1; depth <= item.sid.length; depth += 1){
            const key = item.sid.slice(0, depth).join();
            most.set(key, Math.max(most.get(key) ?? Number.NEGATIVE_INFINITY, sum));
        }
    }
    return most;
}
async function ofUser(valued, one, prompt, k, { rows }) {
    const { model } = valued;
    const nodes = await model.nodeScores(prompt);
    const scores = await model.scoresOf(model.items, prompt, 'full');
    const all = valued.valued(one, scores, ()=>true);
    const best = all.slice(0, k);
    const threshold = best.at(-1).value;
    const most = mostBelow(valued, one);
    const fewest = model.nodes.filter(({ path, isInner }, at)=>{
        const below = most.get(path.join());
        return isInner && below !== undefined && nodes[at] + below >= threshold;
    }).length;
    const ofBeam = await beamOf(valued, one, prompt, all);
    const wanted = new Set(best.map(({ item })=>item.itemId));
    const top = ofBeam.slice(0, k);
    return {
        found: top.filter(({ item })=>wanted.has(item.itemId)).length / k,
        value: best.reduce((sum, item)=>sum + worth(item), 0),
        ofBeam: top.reduce((sum, item)=>sum + worth(item), 0),
        rows,
        fewest
    };
}
/** A beam by likelihood, its items by value: as is usual. */ async function beamOf({ model }, { floor }, prompt, all) {
    const byId = new Map(all.map((one)=>[
            one.item.itemId,
            one
        ]));
    const { items } = await model.recall(prompt, beam(BEAM, BEAM));
    return items.flatMap(({ itemId })=>byId.get(itemId) ?? []).filter(({ value })=>value >= floor).sort(byValue);
}
function rowsOf(models, name, k, of) {
    const rows = mean(of.map((one)=>one.rows));
    const prefix = `${name}: best ${k} by value`;
    const values = of.map((one)=>one.ofBeam);
    const interval = ratioInterval(values, of.map((one)=>one.value), SEED);
    const ofBeam = `${prefix}: a beam of ${BEAM}, sorted`;
    return [
        {
            name: `${prefix}: rows, mean`,
            value: rows,
            unit: 'rows',
            ratio: {
                value: rows / mean(of.map((one)=>one.fewest)),
                to: 'the fewest of these bounds'
            },
            bar: barOf(models, ROWS_BAR),
            bound: 'at-most'
        },
        {
            name: `${ofBeam}, finds`,
            value: 100 * mean(of.map((one)=>one.found)),
            unit: '%',
            bar: null
        },
        {
            name: `${ofBeam}, value`,
            value: 100 * mean(values) / mean(of.map((one)=>one.value)),
            unit: '%',
            bar: null
        },
        {
            name: `${ofBeam}, value, lower end`,
            value: 100 * interval.low,
            unit: '%',
            bar: null
        },
        {
            name: `${ofBeam}, value, upper end`,
            value: 100 * interval.high,
            unit: '%',
            bar: null
        }
    ];
}
/** A second-price shop: its users click by a taste that the model knows in part. */ async function shopOf(valued, one, users, name) {
    const random = new Random(SEED);
    const { model } = valued;
    const reach = await valued.reach(one.name, NO_ELIGIBILITY);
    const earned = {
        byValue: [],
        byBeam: []
    };
    const paid = {
        byValue: [],
        byBeam: []
    };
    for (const { prompt } of users){
        const scores = await model.scoresOf(model.items, prompt, 'full');
        const all = valued.valued(one, scores, ()=>true);
        const taste = new Map(all.map(({ item })=>[
                item.itemId,
                TASTE * random.normal()
            ]));
        const clicks = ({ item, score })=>Math.exp(score + taste.get(item.itemId));
        const told = await model.recall(prompt, Object.assign(certified(PLACES), {
            reach,
            itemsPerSid: 0
        }));
        const byId = new Map(all.map((item)=>[
                item.item.itemId,
                item
            ]));
        const shown = told.items.map(({ itemId })=>byId.get(itemId));
        const bids = (item)=>valued.bidOf(item.item);
        earned.byValue.push(shown.reduce((sum, item)=>sum + clicks(item) * bids(item), 0));
        paid.byValue.push(told.items.reduce((sum, { criticalBid }, at)=>{
            return sum + clicks(shown[at]) * criticalBid;
        }, 0));
        const sorted = await beamOf(valued, one, prompt, all);
        const places = sorted.slice(0, PLACES);
        earned.byBeam.push(places.reduce((sum, item)=>sum + clicks(item) * bids(item), 0));
        // The bid at which each would fall behind the best that is left out of the beam.
        const next = sorted[PLACES]?.value ?? Number.NEGATIVE_INFINITY;
        paid.byBeam.push(places.reduce((sum, item)=>sum + clicks(item) * Math.exp(next - item.score), 0));
    }
    return [
        'earned',
        'paid'
    ].flatMap((what)=>{
        const { byValue: ours, byBeam: theirs } = {
            earned,
            paid
        }[what];
        const interval = ratioInterval(ours, theirs, SEED);
        const of = what === 'earned' ? 'value' : 'payments';
        const prefix = `${name}: shop of ${PLACES} places, ${of} over a sorted beam`;
        return [
            {
                name: prefix,
                value: mean(ours) / mean(theirs),
                unit: 'times',
                bar: null
            },
            {
                name: `${prefix}, lower end`,
                value: interval.low,
                unit: 'times',
                bar: null
            },
            {
                name: `${prefix}, upper end`,
                value: interval.high,
                unit: 'times',
                bar: null
            }
        ];
    });
}

//# sourceMappingURL=worth-stage.js.map