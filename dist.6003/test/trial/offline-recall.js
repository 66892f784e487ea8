import { readFileSync } from "node:fs";
import { usersOfFile } from "../../libs/service/behaviour/src/index.js";
import { createRecallRuntime } from "../../libs/service/recall/src/index.js";
import { Flags } from "../../tools/terminal/command.js";
import { MODEL_FLAGS, runtimeOptions } from "../../tools/terminal/model-flags.js";
const USERS_FILE = 'models/demo/users.json';
const BUDGET_US = 60e6;
const RESULT_COUNT = 5;
/** Of the window that holds what the demo's users did. */ const SETTLED_KEPT = 8;
/** Recalls computed in this process, with nothing kept between them. */ export class OfflineRecall {
    runtime;
    users = JSON.parse(readFileSync(USERS_FILE, 'utf8'));
    known = new Map();
    constructor(runtime){
        this.runtime = runtime;
    }
    static async open() {
        const options = runtimeOptions(Flags.parse([], MODEL_FLAGS), ()=>undefined);
        return new OfflineRecall(await createRecallRuntime({
            ...options,
            behaviours: usersOfFile('')
        }));
    }
    /** Item IDs and scores of an answer, each as one text. */ ofHistory(itemIds) {
        return this.once(itemIds, {});
    }
    ofSettled(userId) {
        const { behaviours, profile = {} } = this.users[userId];
        const ordered = [
            ...behaviours
        ].sort((a, b)=>a.time - b.time).slice(-SETTLED_KEPT);
        return this.once(ordered.map((behaviour)=>behaviour.item_id), profile);
    }
    close() {
        return this.runtime.close();
    }
    once(history, profile) {
        const name = JSON.stringify([
            history,
            profile
        ]);
        const answer = this.known.get(name) ?? this.recall(history, profile).then(itemTexts);
        this.known.set(name, answer);
        return answer;
    }
    recall(history, profile) {
        return this.runtime.serving.recall({
            requestId: '',
            history,
            profile,
            scene: {},
            resultCount: RESULT_COUNT,
            widths: [],
            itemsPerSid: 0,
            skipUnknownItems: true
        }, {
            signal: new AbortController().signal,
            budgetUs: BUDGET_US
        });
    }
}
/** Rank by rank the item and the bits of its score. */ export function itemTexts(answer) {
    return answer.items.map(({ itemId, score })=>`${itemId} ${score}`);
}

//# sourceMappingURL=offline-recall.js.map