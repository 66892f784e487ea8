import { markOf } from "../../../../ops/contracts/src/index.js";
import { startOf } from "../domain/position.js";
const nothing = (name)=>({
        name,
        erase: async ()=>({})
    });
/** Behaviours in a store that nodes share are erased by the first node that asks for an entry. */ function behavioursPart(behaviours, log) {
    if (behaviours === undefined) return nothing('behaviours');
    // A store of this process's own remembers one position; its erasures come in any order.
    const isOwn = 'noteMark' in behaviours;
    return {
        name: 'behaviours',
        erase: async ({ userId, atMs, offset })=>{
            const mark = isOwn ? '' : markOf({
                ...startOf(log),
                offset
            });
            return {
                known: await behaviours.erase(userId, atMs, mark)
            };
        }
    };
}
export function eventualParts(stores) {
    const { log, behaviours, eraseRecalls, serving, budgetMs } = stores;
    return {
        behaviours: behavioursPart(behaviours, log),
        records: eraseRecalls === undefined ? nothing('records') : {
            name: 'records',
            erase: async ({ userId })=>({
                    recalls: await eraseRecalls(userId)
                })
        },
        pool: serving === undefined ? nothing('pool') : {
            name: 'pool',
            erase: async ({ userId, offset })=>{
                await serving.forgetUser(userId, budgetMs, offset);
                return {};
            }
        }
    };
}

//# sourceMappingURL=eventual-parts.js.map