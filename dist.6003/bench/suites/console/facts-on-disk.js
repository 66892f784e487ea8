import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repositoryRoot } from "../../../libs/ops/config/src/index.js";
import { ChildFactStore } from "../../../libs/insight/facts/src/index.js";
import { Random } from "../../models/random.js";
import { drawnRecall } from "./drawn-recalls.js";
const PROGRAM = join(repositoryRoot, 'dist', 'apps', 'inspection', 'src', 'main.js');
const HOUR_MS = 3_600_000;
/** Recalls of a minute of a busy node. */ const RECALLS_A_MINUTE = 20_000;
async function withStore(limits, act) {
    const folder = mkdtempSync(join(tmpdir(), 'tessera-facts-'));
    const counts = {
        written: 0,
        dropped: 0,
        failed: 0
    };
    const open = (own)=>ChildFactStore.open({
            program: [
                PROGRAM,
                'facts',
                '0'
            ],
            path: folder,
            node: 'bench',
            memoryBytes: 2 ** 28,
            keepMs: 1e15,
            keepBytes: 2 ** 40,
            fileRowsMax: 100_000,
            graceMs: 0,
            queueMax: 100_000,
            waitingRowsMax: limits.waitingRowsMax,
            ...own,
            onFacts: (outcome, count)=>{
                counts[outcome] = (counts[outcome] ?? 0) + count;
            },
            onFault: ()=>undefined
        });
    // Its own database is there before the disk is full.
    await (await open({})).close();
    const store = await open(limits);
    try {
        return await act(store, counts, folder);
    } finally{
        await store.close();
        rmSync(folder, {
            recursive: true,
            force: true
        });
    }
}
function offer(store, count) {
    const drawn = new Random(46);
    const random = ()=>drawn.uniform();
    const beginMs = Date.now();
    for(let index = 0; index < count; index++){
        store.offerRecall(drawnRecall(random, beginMs + index * 3));
    }
}
/** Bytes by recalls, once the minute is merged into its hour. */ export function bytesOfFacts({ say }) {
    say(`facts of ${RECALLS_A_MINUTE} recalls of 50 items`);
    return withStore({
        waitingRowsMax: 200_000
    }, async (store, _counts, folder)=>{
        offer(store, RECALLS_A_MINUTE);
        await store.flush();
        await store.tidy(Date.now() + HOUR_MS);
        const at = join(folder, 'recall_fact');
        const bytes = readdirSync(at).reduce((sum, file)=>sum + statSync(join(at, file)).size, 0);
        const value = bytes / RECALLS_A_MINUTE;
        return [
            {
                name: 'a fact of 50 items',
                value,
                unit: 'bytes',
                bar: 250,
                bound: 'at-most'
            }
        ];
    });
}
/** Facts that a kill -9 and a full disk lose: those of the last file, and all of them counted. */ export async function lostFacts({ say }) {
    say('kill -9 of the process that writes');
    const killed = await withStore({
        waitingRowsMax: 200_000
    }, async (store, counts, folder)=>{
        offer(store, 1000);
        await store.flush();
        const files = readdirSync(join(folder, 'recall_fact')).length;
        offer(store, 500);
        process.kill(store.processId ?? 0, 'SIGKILL');
        while(store.condition() === '')await new Promise((resolve)=>setImmediate(resolve));
        const kept = readdirSync(join(folder, 'recall_fact')).length;
        const name = 'files lost by kill -9, of those that were whole';
        const lost = files - kept;
        const failed = counts.failed ?? 0;
        return [
            {
                name,
                value: lost,
                unit: 'files',
                bar: 0,
                bound: 'at-most'
            },
            {
                name: 'facts that were underway then',
                value: 500 - failed,
                unit: 'facts',
                bar: null
            }
        ];
    });
    say('a disk that takes nothing');
    const full = await withStore({
        fileBytesMax: 4096,
        waitingRowsMax: 100
    }, async (store, counts)=>{
        offer(store, 500);
        await store.flush().catch(()=>undefined);
        const counted = Object.values(counts).reduce((sum, count)=>sum + count, 0);
        const name = 'facts of a full disk that are not counted';
        return [
            {
                name,
                value: 500 - counted,
                unit: 'facts',
                bar: 0,
                bound: 'at-most'
            }
        ];
    });
    return [
        ...killed,
        ...full
    ];
}

//# sourceMappingURL=facts-on-disk.js.map