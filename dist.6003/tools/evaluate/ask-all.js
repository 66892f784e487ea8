import { enumWords } from "../../libs/ops/contracts/src/index.js";
import { RecallClient } from "../served/recall-client.js";
import { ProgressLine } from "../terminal/progress.js";
import { rankOf } from "./ranking.js";
const SEARCH = 'tessera.recall.v1.Search';
/** Of each request. */ export const DEADLINE_MS = 600_000;
/** The members of a request that say how is searched. */ function searchMembers({ search, beam, rowBudget }) {
    if (search === 'beam') return {
        search: enumWords[SEARCH].beam,
        widths: [
            beam
        ]
    };
    return {
        search: enumWords[SEARCH].certified,
        ...rowBudget !== undefined && {
            rowBudget
        }
    };
}
/** Asks every case, `concurrency` at a time. A refused case is a miss and is reported. */ export async function askAll(address, cases, load) {
    const { concurrency, results, valuation = '' } = load;
    const client = new RecallClient(address);
    const progress = new ProgressLine();
    const lists = cases.map(()=>[]);
    const searched = [];
    const failures = [];
    const started = performance.now();
    let next = 0;
    let done = 0;
    let skippedItems = 0;
    const ask = async ({ userId, history })=>{
        const question = {
            history: {
                itemIds: history
            },
            ...searchMembers(load),
            resultCount: results,
            // All items of the best SID before those of the next, as the trainer ranks them.
            itemsPerSid: results,
            ...valuation !== '' && {
                valuation: {
                    name: valuation,
                    weights: {}
                }
            }
        };
        try {
            const answer = await client.recall(question, DEADLINE_MS);
            skippedItems += answer.skippedItems;
            searched.push(answer);
            return answer.items.map((item)=>item.itemId);
        } catch (error) {
            failures.push(`user '${userId}': ${error.message}`);
            return [];
        }
    };
    const work = async ()=>{
        for(let at = next++; at < cases.length; at = next++){
            lists[at] = await ask(cases[at]);
            done += 1;
            const perSecond = 1000 * done / (performance.now() - started);
            const left = Math.ceil((cases.length - done) / perSecond);
            progress.update('users', done, cases.length, `${perSecond.toFixed(0)}/s, ${left} s left`);
        }
    };
    await Promise.all(Array.from({
        length: concurrency
    }, work));
    progress.end();
    client.close();
    const seconds = (performance.now() - started) / 1000;
    const ranks = cases.map(({ target }, user)=>rankOf(target, lists[user] ?? []));
    return {
        lists,
        ranks,
        searched,
        failures,
        skippedItems,
        seconds
    };
}

//# sourceMappingURL=ask-all.js.map