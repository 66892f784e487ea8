import { NO_ELIGIBILITY } from "../../../libs/engine/src/index.js";
import { Random } from "../../models/random.js";
import { drawEligibilities } from "../search/draw-cases.js";
import { suiteModels } from "../search/models.js";
import { certified, ROWS_OF_ALL, SearchModel, testUsers, withModel } from "../search/search-model.js";
import { takeValued, VALUATIONS, ValuedModel } from "./valued-model.js";
const CASES = {
    quick: 300,
    full: 3000
};
const RAISES = {
    quick: 300,
    full: 10_000
};
const SHOCKS = {
    quick: 40,
    full: 200
};
const PROMPTS = {
    quick: 4,
    full: 24
};
const SEED = 55;
const SIGMAS = [
    0.5,
    1,
    1.5
];
const CHANGED_AT_ONCE = 40;
const NORMS = [
    'full',
    'level'
];
const SHOWN = 3;
const pick = (random, choices)=>choices[random.below(choices.length)];
/** Scores of all SIDs for a user, each computed once. */ let Scores = class Scores {
    model;
    users;
    kept = new Map();
    constructor(model, users){
        this.model = model;
        this.users = users;
    }
    of(user, norm) {
        const key = `${user} ${norm}`;
        const { prompt } = this.users[user];
        const scores = this.kept.get(key) ?? this.model.scoresOf(this.model.items, prompt, norm);
        this.kept.set(key, scores);
        return scores;
    }
};
/** Answers by value against every item valued, while bids and paces change. */ export async function answersStage(context) {
    return ofModels(context, CASES, 'answers by value', answersOf);
}
/** Bids that are raised, and bids a little around the critical one, recalled anew. */ export async function raisesStage(context) {
    return ofModels(context, RAISES, 'raised and critical bids', raisesOf);
}
/** Ten times the bids of a campaign in one batch. */ export async function shocksStage(context) {
    return ofModels(context, SHOCKS, 'shocks', shocksOf);
}
async function ofModels(context, counts, what, part) {
    const { quick, say } = context;
    const { compared } = suiteModels(context);
    const count = Math.ceil((quick ? counts.quick : counts.full) / compared.length);
    const measurements = [];
    for (const folder of compared){
        say(`${folder.name}: ${count} ${what}`);
        const users = await testUsers(folder, quick ? PROMPTS.quick : PROMPTS.full);
        measurements.push(...await inRoom(folder, users, say, (room)=>part(room, folder.name, count)));
    }
    return measurements;
}
function inRoom(folder, users, say, body) {
    return withModel(SearchModel.open(folder), async (model)=>{
        const valued = await ValuedModel.of(model, SEED, 1);
        const scores = new Scores(model, users);
        return body({
            valued,
            users,
            scores,
            random: new Random(SEED),
            say
        });
    });
}
/** A part of the catalogue changes, as it does between any two requests. */ async function change({ valued, random }) {
    const { items } = valued.model;
    const some = new Set();
    for(let at = 0; at < CHANGED_AT_ONCE; at += 1)some.add(pick(random, items));
    await valued.drawBids([
        ...some
    ], pick(random, SIGMAS));
    if (random.below(3) > 0) return;
    await valued.setPace(pick(random, items).campaign, pick(random, [
        0.25,
        0.5,
        0.9,
        1
    ]));
}
async function ask({ valued, users }, one) {
    const { resultCount, itemsPerSid, perCampaign } = one.taking;
    const { prompt } = users[one.user];
    const reach = await valued.reach(one.valuation.name, one.eligibility.request, perCampaign);
    const question = {
        itemsPerSid,
        scoreNorm: one.norm,
        reach
    };
    return valued.model.recall(prompt, Object.assign(certified(resultCount, ROWS_OF_ALL), question));
}
/** The answer against the true best, in items and order. */ async function isBest(room, one) {
    const scores = await room.scores.of(one.user, one.norm);
    const all = room.valued.valued(one.valuation, scores, one.eligibility.has);
    const wanted = takeValued(all, one.taking).map(({ item })=>item.itemId);
    const answer = await ask(room, one);
    const got = answer.items.map(({ itemId })=>itemId);
    return {
        equal: got.join() === wanted.join(),
        proved: answer.certified
    };
}
const share = (name, held, count)=>({
        name,
        value: held,
        unit: 'of them',
        ratio: {
            value: held / count,
            to: `${count}`
        },
        bar: 1,
        bound: 'at-least'
    });
async function answersOf(room, name, count) {
    const { random, users, say } = room;
    const eligibilities = drawEligibilities(room.valued.model.items, SEED);
    // Without conditions on bids, which would change with the bids.
    const stable = eligibilities.filter((_, at)=>at < 6);
    let [equal, proved, shown] = [
        0,
        0,
        0
    ];
    for(let at = 0; at < count; at += 1){
        await change(room);
        const one = {
            user: random.below(users.length),
            norm: pick(random, NORMS),
            valuation: pick(random, VALUATIONS),
            eligibility: pick(random, stable),
            taking: {
                resultCount: pick(random, [
                    1,
                    5,
                    10,
                    20,
                    50,
                    100
                ]),
                itemsPerSid: pick(random, [
                    0,
                    0,
                    1,
                    2
                ]),
                perCampaign: pick(random, [
                    0,
                    0,
                    0,
                    1,
                    3
                ])
            }
        };
        const found = await isBest(room, one);
        equal += Number(found.equal);
        proved += Number(found.proved);
        if (!(found.equal && found.proved) && shown++ < SHOWN) {
            say(`${JSON.stringify([
                one.valuation.name,
                one.norm,
                one.taking
            ])}: ${JSON.stringify(found)}`);
        }
    }
    return [
        share(`${name}: answers by value, equal to every item valued`, equal, count),
        share(`${name}: answers by value, certified`, proved, count)
    ];
}
const EVERY = {
    request: NO_ELIGIBILITY,
    has: ()=>true
};
const TOP = {
    resultCount: 10,
    itemsPerSid: 0,
    perCampaign: 0
};
async function raisesOf(room, name, count) {
    const { random, users, valued } = room;
    const byId = new Map(valued.model.items.map((item)=>[
            item.itemId,
            item
        ]));
    const [ecpm] = VALUATIONS;
    let [kept, inside, outside, raises, criticals] = [
        0,
        0,
        0,
        0,
        0
    ];
    while(raises < count){
        await change(room);
        const user = random.below(users.length);
        const one = {
            user,
            norm: 'full',
            valuation: ecpm,
            eligibility: EVERY,
            taking: TOP
        };
        const answer = await ask(room, one);
        const { itemId, criticalBid } = pick(random, answer.items);
        const item = byId.get(itemId);
        const bid = valued.bidOf(item);
        const isIn = async (other)=>{
            await valued.setBids([
                [
                    item,
                    other
                ]
            ]);
            return (await ask(room, one)).items.some((found)=>found.itemId === itemId);
        };
        raises += 1;
        kept += Number(await isIn(bid * (1 + 9 * random.uniform())));
        if (raises % 4 === 0) {
            criticals += 1;
            inside += Number(await isIn(criticalBid * 1.0005));
            outside += Number(!await isIn(criticalBid * 0.9995));
        }
        await valued.setBids([
            [
                item,
                bid
            ]
        ]);
    }
    return [
        share(`${name}: raised bids that kept their place`, kept, raises),
        share(`${name}: bids a little above the critical one, in`, inside, criticals),
        share(`${name}: bids a little below the critical one, out`, outside, criticals)
    ];
}
async function shocksOf(room, name, count) {
    const { random, users, valued } = room;
    const [ecpm] = VALUATIONS;
    let best = 0;
    for(let at = 0; at < count; at += 1){
        const { campaign } = pick(random, valued.model.items);
        const those = valued.model.items.filter((item)=>item.campaign === campaign);
        const before = those.map((item)=>[
                item,
                valued.bidOf(item)
            ]);
        await valued.setBids(before.map(([item, bid])=>[
                item,
                bid === undefined ? bid : 10 * bid
            ]));
        const user = random.below(users.length);
        const one = {
            user,
            norm: 'full',
            valuation: ecpm,
            eligibility: EVERY,
            taking: TOP
        };
        const { equal, proved } = await isBest(room, one);
        best += Number(equal && proved);
        await valued.setBids(before);
    }
    return [
        share(`${name}: answers behind ten times the bids of a campaign, the true best`, best, count)
    ];
}

//# sourceMappingURL=answers-stage.js.map