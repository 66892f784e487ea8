import { BEAM_WIDTH, rowBudgetFor } from "../../../libs/service/recall/src/index.js";
import { SHAPES } from "../../models/model-shape.js";
import { mean, quantile } from "../../result.js";
import { BenchEngine, withEngine } from "../engine/bench-engine.js";
import { rowsByLevel } from "./brute-force.js";
import { suiteModels } from "./models.js";
import { beam, certified, SearchModel, testUsers, withModel } from "./search-model.js";
const RANDOM_ITEMS = 100_000;
const PROMPT_TOKENS = 128;
const USERS = {
    quick: 20,
    full: 100
};
const FLAT_COUNTS = [
    10,
    50
];
const PROOF_COUNTS = [
    10,
    20,
    50,
    100
];
const BEAM_BAR = 1.2;
const budgetOf = (k)=>rowBudgetFor(k, 0);
const widthOf = (k)=>Math.max(BEAM_WIDTH, k);
/**
 * Flat models, on which proofs are out of reach: the cost of a certified search that sees so.
 * Trained ones: whether a proof is given up that the budget has the rows for.
 */ export async function flatStage(context) {
    const models = suiteModels(context);
    const users = context.quick ? USERS.quick : USERS.full;
    const measurements = await randomRows(context, users);
    if (models.flat !== undefined) {
        const { flat } = models;
        context.say(`${flat.name}: certified searches of ${users} users beside beams`);
        const prompts = (await testUsers(flat, users)).map(({ prompt })=>prompt);
        const rows = await withModel(SearchModel.open(flat), (model)=>overBeams(flat.name, prompts, {
                best: (prompt, k)=>model.recall(prompt, certified(k, budgetOf(k))),
                beam: (prompt, k)=>model.recall(prompt, beam(widthOf(k), k))
            }));
        measurements.push(...rows);
    }
    for (const folder of models.compared){
        context.say(`${folder.name}: proofs of ${users} users that a search may give up`);
        const cases = await testUsers(folder, users);
        const open = SearchModel.open(folder);
        measurements.push(await withModel(open, (model)=>lostProofs(model, cases)));
    }
    return measurements;
}
async function randomRows({ say }, users) {
    const shape = SHAPES['8x512'];
    say(`${RANDOM_ITEMS} SIDs, random ${shape.name}: ${users} certified searches beside beams`);
    const opened = BenchEngine.open(shape, 'bf16', {
        threadCount: 1
    }, say, RANDOM_ITEMS);
    return withEngine(opened, (engine)=>{
        const prompts = Array.from({
            length: users
        }, (_, seed)=>engine.prompt(PROMPT_TOKENS, seed));
        return overBeams(`random ${shape.name}`, prompts, {
            best: (tokens, k)=>engine.recall({
                    tokens,
                    width: widthOf(k),
                    rowBudget: budgetOf(k),
                    resultCount: k
                }),
            beam: (tokens, k)=>engine.recall({
                    tokens,
                    width: widthOf(k),
                    resultCount: k
                })
        });
    });
}
async function overBeams(name, prompts, asked) {
    const measurements = [];
    for (const k of FLAT_COUNTS){
        const pairs = [];
        for (const [at, prompt] of prompts.entries()){
            const first = at % 2 === 0 ? 'best' : 'beam';
            const one = await asked[first](prompt, k);
            const other = await asked[first === 'best' ? 'beam' : 'best'](prompt, k);
            pairs.push(first === 'best' ? {
                best: one,
                beam: other
            } : {
                best: other,
                beam: one
            });
        }
        measurements.push(...pairRows(`${name}: top ${k}`, k, pairs));
    }
    return measurements;
}
const totalUs = ({ timings })=>timings.totalUs - timings.queueUs;
function pairRows(prefix, k, pairs) {
    const rows = mean(pairs.map(({ best })=>best.rows));
    const times = pairs.map(({ best, beam: other })=>totalUs(best) / totalUs(other));
    const to = `beam of ${widthOf(k)}`;
    return [
        {
            name: `${prefix}, rows of a certified search`,
            value: rows,
            unit: 'rows',
            ratio: {
                value: rows / mean(pairs.map(({ beam: other })=>other.rows)),
                to
            },
            bar: null
        },
        {
            name: `${prefix}, time of a certified search`,
            value: quantile(pairs.map(({ best })=>totalUs(best)), 0.5) / 1000,
            unit: 'ms',
            ratio: {
                value: quantile(times, 0.5),
                to
            },
            bar: BEAM_BAR,
            bound: 'at-most'
        }
    ];
}
/** Answers without a proof that the shares of the budget have the rows for. */ async function lostProofs(model, users) {
    let [provable, lost] = [
        0,
        0
    ];
    for (const { prompt } of users){
        const scores = await model.nodeScores(prompt);
        for (const k of PROOF_COUNTS){
            const shares = sharesOf(budgetOf(k), model);
            const needed = rowsByLevel(model.nodes, scores, k);
            if (needed.some((rows, level)=>rows > (shares[level] ?? 0))) continue;
            provable += 1;
            if (!(await model.recall(prompt, certified(k, budgetOf(k)))).certified) lost += 1;
        }
    }
    return {
        name: `${model.name}: proofs lost of those that the budget has the rows for`,
        value: lost,
        unit: `of ${provable}`,
        bar: 0,
        bound: 'at-most'
    };
}
/** As native/src/beam/lazy_search.h has them where a budget is the default's. */ function sharesOf(budget, { nodes, depth }) {
    const rows = budget - Math.floor(budget / 9);
    const codes = 1 + Math.max(...nodes.map(({ path })=>path[0] ?? 0));
    const others = depth - 2;
    const first = Math.min(codes, others > 0 ? Math.floor(rows / 2) : rows);
    return [
        first,
        ...Array.from({
            length: others
        }, ()=>Math.floor((rows - first) / others))
    ];
}

//# sourceMappingURL=flat-stage.js.map