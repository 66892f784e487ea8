import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { repositoryRoot } from "../../../libs/ops/config/src/index.js";
/** Real check-ins beside the repository; what reads them is left out where they are not there. */ const CHECKINS = join(repositoryRoot, ...[
    '..',
    'shared',
    'data',
    'checkins',
    'PetalingJaya.events.tsv.gz'
]);
/**
 * The check-ins of every `share`-th user, in the order of time; undefined where the log is absent.
 */ export function readCheckins(share) {
    if (!existsSync(CHECKINS)) return undefined;
    const lines = gunzipSync(readFileSync(CHECKINS)).toString().split('\n');
    const numbers = new Map();
    const checkins = [];
    for (const line of lines){
        const [time, userId, item] = line.split('\t');
        // A first line of names has no time.
        if (userId === undefined || item === undefined || !Number.isFinite(Number(time))) continue;
        const number = numbers.get(userId) ?? numbers.size;
        numbers.set(userId, number);
        if (number % share === 0) checkins.push({
            timeMs: 1000 * Number(time),
            userId,
            item
        });
    }
    return checkins.sort((a, b)=>a.timeMs - b.timeMs);
}

//# sourceMappingURL=checkins.js.map