import { bestItems } from "./brute-force.js";
import { drawCases, drawEligibilities } from "./draw-cases.js";
import { suiteModels } from "./models.js";
import { certified, ROWS_OF_ALL, SearchModel, testUsers, withModel } from "./search-model.js";
const CASES = {
    quick: 200,
    full: 2000
};
const PROMPTS = {
    quick: 4,
    full: 24
};
const SEED = 43;
const MISMATCHES_SHOWN = 3;
/** Scores of paths by brute force, each computed once. */ let AllScores = class AllScores {
    model;
    users;
    eligibilities;
    kept = new Map();
    bound = new Map();
    constructor(model, users, eligibilities){
        this.model = model;
        this.users = users;
        this.eligibilities = eligibilities;
    }
    /**
   * Paths of the items that may be had, with their scores. A norm over candidates depends on what
   * may be had: then these items are a catalogue of their own.
   */ async pathsOf({ prompt, norm, eligibility }) {
        const has = this.eligibilities[eligibility].has;
        const isOwn = norm === 'allowed' && eligibility !== 0;
        const items = isOwn ? this.model.items.filter(has) : this.model.items;
        const key = `${prompt} ${norm} ${isOwn ? eligibility : ''}`;
        const scores = this.kept.get(key) ?? this.compute(items, prompt, norm, isOwn, eligibility);
        this.kept.set(key, scores);
        return {
            items,
            scores: await scores
        };
    }
    async compute(items, prompt, norm, isOwn, eligibility) {
        const tokens = this.users[prompt].prompt;
        if (items.length === 0) return [];
        if (!isOwn) return this.model.scoresOf(items, tokens, norm);
        const bound = this.bound.get(eligibility) ?? this.model.bindOnly(`of-${eligibility}`, items);
        this.bound.set(eligibility, bound);
        return this.model.scoresOf(items, tokens, norm, await bound);
    }
};
/** Request of a case beside the prompt and the norm. */ function reachOf({ taking }, { request }) {
    const { orderBy, perCampaign } = taking;
    const diversity = perCampaign === 0 ? [] : [
        {
            attribute: 'campaign',
            maxItems: perCampaign
        }
    ];
    return {
        eligibility: request,
        itemPolicy: {
            orderBy,
            diversity
        }
    };
}
/** Certified answers against the best of all items, scored one by one. */ export async function answersStage(context) {
    const { quick, say } = context;
    const { compared } = suiteModels(context);
    const count = Math.round((quick ? CASES.quick : CASES.full) / compared.length);
    const measurements = [];
    for (const folder of compared){
        say(`${folder.name}: ${count} answers against brute force`);
        measurements.push(...await answersOf(folder, count, context));
    }
    return measurements;
}
async function answersOf(folder, count, { quick, say }) {
    const users = await testUsers(folder, quick ? PROMPTS.quick : PROMPTS.full);
    const { equal, proved } = await withModel(SearchModel.open(folder), async (model)=>{
        const eligibilities = drawEligibilities(model.items, SEED);
        const scores = new AllScores(model, users, eligibilities);
        const found = {
            equal: 0,
            proved: 0
        };
        let shown = 0;
        for (const one of drawCases(count, users.length, eligibilities.length, SEED)){
            const eligibility = eligibilities[one.eligibility];
            const wanted = await expected(model, scores, one, eligibility);
            const answer = await asked(model, users, one, eligibility);
            const got = answer.items.map(({ itemId })=>itemId);
            const isEqual = got.join() === wanted.join();
            if (isEqual) found.equal += 1;
            if (answer.certified) found.proved += 1;
            const isFlawed = !isEqual || !answer.certified;
            if (isFlawed && shown++ < MISMATCHES_SHOWN) say(flaw(one, wanted, got, answer));
        }
        return found;
    });
    const row = (what, value)=>({
            name: `${folder.name}: answers ${what}`,
            value,
            unit: 'answers',
            ratio: {
                value: value / count,
                to: `${count} cases`
            },
            bar: 1,
            bound: 'at-least'
        });
    return [
        row('equal to brute force', equal),
        row('certified', proved)
    ];
}
async function expected({ sids }, all, one, { has }) {
    const { items, scores } = await all.pathsOf(one);
    const own = new Set(items.map(({ itemId })=>itemId));
    const paths = sids.map((group)=>group.filter(({ itemId })=>own.has(itemId))).filter((group)=>group.length > 0).map((group, at)=>({
            sid: group[0]?.sid ?? [],
            score: scores[at],
            items: group
        }));
    const { resultCount, itemsPerSid, orderBy, perCampaign } = one.taking;
    return bestItems(paths, {
        resultCount,
        itemsPerSid,
        orderBy,
        perCampaign,
        isEligible: has
    });
}
async function asked(model, users, one, eligibility) {
    const { resultCount, itemsPerSid } = one.taking;
    const { prompt } = users[one.prompt];
    const reach = await model.reach(reachOf(one, eligibility));
    const question = {
        itemsPerSid,
        scoreNorm: one.norm,
        reach
    };
    return model.recall(prompt, Object.assign(certified(resultCount, ROWS_OF_ALL), question));
}
function flaw(one, wanted, got, { certified: isCertified, rows, gap }) {
    const at = wanted.findIndex((itemId, place)=>got[place] !== itemId);
    const lengths = `${got.length} of ${wanted.length} items, first other at ${at}`;
    const proof = `certified ${isCertified}, ${rows} rows, gap ${gap}`;
    return `${JSON.stringify(one)}: ${lengths} (${wanted[at]}, got ${got[at]}); ${proof}`;
}

//# sourceMappingURL=answers-stage.js.map