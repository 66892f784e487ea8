/**
 * A shop whose truth is known: scenes with a model's probabilities of the items and the probability
 * that each is clicked where it is shown. Its policy shows the likeliest items and draws the last
 * places without replacement (Gumbel top-k: Kool, van Hoof and Welling 2019).
 */ const SCENES = 24;
const ITEMS = 12;
const FIXED = 2;
const DRAWN = 3;
const RECALLS_MAX = 4;
/** Draws by which a target that explores says how likely its items are. */ const TARGET_DRAWS = 8;
const TARGET_TEMPERATURE = 2;
export const TARGETS = [
    'version',
    'valuation',
    'temperature'
];
const normal = (random)=>Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const gumbel = (random)=>-Math.log(-Math.log(1 - random()));
function normalised(logits) {
    const sum = Math.log(logits.reduce((total, logit)=>total + Math.exp(logit), 0));
    return logits.map((logit)=>logit - sum);
}
export function drawShop(random) {
    const drawn = (each)=>Array.from({
            length: ITEMS
        }, (_, at)=>each(at));
    return Array.from({
        length: SCENES
    }, ()=>{
        const tastes = drawn(()=>normal(random));
        const model = (noise)=>normalised(drawn((at)=>(tastes[at] ?? 0) + noise * normal(random)));
        return {
            served: model(1),
            other: model(0.5),
            bids: drawn(()=>Math.exp(normal(random))),
            clickRates: tastes.map((taste)=>1 / (1 + Math.exp(2 - taste)))
        };
    });
}
/** The `count` best, and the key of the one behind them. */ function best(keys, count) {
    const order = keys.map((_, at)=>at).sort((a, b)=>(keys[b] ?? 0) - (keys[a] ?? 0));
    return {
        chosen: order.slice(0, count),
        next: keys[order[count] ?? 0] ?? 0
    };
}
/** Items and their propensities, as an answer has them. */ function explored(scores, temperature, random) {
    const { chosen: fixed } = best(scores, FIXED);
    const tempered = normalised(scores.map((score)=>score / temperature));
    const keys = tempered.map((score, at)=>fixed.includes(at) ? Number.NEGATIVE_INFINITY : score + gumbel(random));
    const { chosen, next } = best(keys, DRAWN);
    const drawn = chosen.map((item)=>{
        const propensity = -Math.expm1(-Math.exp((tempered[item] ?? 0) - next));
        return {
            item,
            propensity
        };
    });
    return [
        ...fixed.map((item)=>({
                item,
                propensity: 1
            })),
        ...drawn
    ];
}
/** Exactly: the sum over all orders in which `count` items can be drawn. */ function inclusions(weights, count) {
    const total = weights.map(()=>0);
    const draw = (left, probability, places)=>{
        if (places === 0) return;
        const sum = [
            ...left
        ].reduce((all, item)=>all + (weights[item] ?? 0), 0);
        for (const item of left){
            const own = probability * (weights[item] ?? 0) / sum;
            total[item] = (total[item] ?? 0) + own;
            draw(new Set([
                ...left
            ].filter((other)=>other !== item)), own, places - 1);
        }
    };
    draw(new Set(weights.flatMap((weight, item)=>weight > 0 ? [
            item
        ] : [])), 1, count);
    return total;
}
/** Probability with which the target shows each item. */ function targetOf(scene, target) {
    const { served, other, bids } = scene;
    const valued = served.map((score, at)=>score + Math.log(bids[at] ?? 1));
    if (target !== 'temperature') {
        const { chosen } = best(target === 'version' ? other : valued, FIXED + DRAWN);
        return served.map((_, item)=>chosen.includes(item) ? 1 : 0);
    }
    const { chosen: fixed } = best(served, FIXED);
    const weights = served.map((score, item)=>fixed.includes(item) ? 0 : Math.exp(score / TARGET_TEMPERATURE));
    return inclusions(weights, DRAWN).map((share, item)=>fixed.includes(item) ? 1 : share);
}
/** The same as a service tells it that is asked anew. */ function askedTarget(scene, target, random) {
    const shares = new Map();
    if (target !== 'temperature') {
        targetOf(scene, target).forEach((share, item)=>{
            if (share > 0) shares.set(String(item), share);
        });
        return shares;
    }
    for(let draw = 0; draw < TARGET_DRAWS; draw += 1){
        for (const { item } of explored(scene.served, TARGET_TEMPERATURE, random)){
            shares.set(String(item), (shares.get(String(item)) ?? 0) + 1 / TARGET_DRAWS);
        }
    }
    return shares;
}
/** Clicks of a recall under the target, which its estimates are to find. */ export function truth(shop, target) {
    const earned = shop.map((scene)=>targetOf(scene, target).reduce((sum, share, item)=>sum + share * (scene.clickRates[item] ?? 0), 0));
    return earned.reduce((sum, clicks)=>sum + clicks, 0) / shop.length;
}
/** Recalls of so many users, of whom some click more than others. */ export function simulatedLog(shop, target, userCount, random) {
    return Array.from({
        length: userCount
    }, (_, user)=>{
        const eagerness = 0.5 + random();
        const count = 1 + Math.floor(random() * RECALLS_MAX);
        return Array.from({
            length: count
        }, ()=>{
            const scene = shop[Math.floor(random() * shop.length)];
            const items = explored(scene.served, 1, random).map(({ item, propensity })=>{
                const isClicked = random() < eagerness * (scene.clickRates[item] ?? 0);
                return {
                    itemId: String(item),
                    propensity,
                    reward: isClicked ? 1 : 0
                };
            });
            return {
                user: String(user),
                items,
                target: askedTarget(scene, target, random)
            };
        });
    }).flat();
}

//# sourceMappingURL=simulated-shop.js.map