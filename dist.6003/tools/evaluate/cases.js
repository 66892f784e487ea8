import { basename } from "node:path";
import { hasLines, loadBehaviourStore, parseSequenceLines, readUsersText } from "../../libs/service/behaviour/src/index.js";
import { fail } from "../terminal/command.js";
import { readJson } from "../terminal/json-file.js";
/** Reads whom to ask for what. Throws BEHAVIOUR_INVALID, or a usage error for the targets. */ export async function readCases(source) {
    const { users, repeatedLines } = await readSequences(source.sequencesPath);
    const targets = source.targetsPath === undefined ? null : await readTargets(source.targetsPath);
    const cases = [];
    let skipped = 0;
    for (const [userId, sequence] of users){
        if (cases.length === source.usersMax) break;
        const items = [
            ...sequence.history
        ];
        const target = targets === null ? sequence.target ?? items.pop() : targets.get(userId);
        if (target === undefined || items.length === 0) {
            skipped += 1;
            continue;
        }
        cases.push({
            userId,
            history: items.slice(-source.itemsMax),
            target
        });
    }
    if (cases.length === 0) fail('sequences', 'a user with a history and a target', 'none');
    return {
        cases,
        skipped,
        repeatedLines
    };
}
async function readSequences(path) {
    if (hasLines(path)) {
        const { users, repeatedLines } = parseSequenceLines(await readUsersText(path), basename(path), Date.now());
        const asked = [
            ...users
        ].map(([userId, { behaviours, target }])=>{
            const items = behaviours.map((behaviour)=>behaviour.itemId);
            return [
                userId,
                {
                    history: target === undefined ? items : items.slice(0, -1),
                    target
                }
            ];
        });
        return {
            users: new Map(asked),
            repeatedLines
        };
    }
    const store = await loadBehaviourStore(path);
    const users = new Map();
    for (const userId of (await store.userIds(Number.MAX_SAFE_INTEGER))){
        const behaviours = await store.history(userId, Number.MAX_SAFE_INTEGER) ?? [];
        const history = behaviours.map((behaviour)=>behaviour.itemId);
        users.set(userId, {
            history,
            target: undefined
        });
    }
    return {
        users,
        repeatedLines: 0
    };
}
async function readTargets(path) {
    const document = await readJson('targets', path);
    if (typeof document !== 'object' || document === null || Array.isArray(document)) {
        fail('targets', 'an object of {"user": item}', path);
    }
    return new Map(Object.entries(document).map(([userId, item])=>{
        if (typeof item === 'string' || Number.isSafeInteger(item)) return [
            userId,
            String(item)
        ];
        return fail('targets', `an item ID for user '${userId}'`, JSON.stringify(item));
    }));
}

//# sourceMappingURL=cases.js.map