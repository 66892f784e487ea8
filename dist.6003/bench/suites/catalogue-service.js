/**
 * The served recall over a large catalogue: alone, while items change, and while a snapshot is made
 * anew. Client and service share this process, so the client's time is in all of them alike.
 */ import { once } from "node:events";
import { createWriteStream, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { usersOfFile } from "../../libs/service/behaviour/src/index.js";
import { CatalogueClient } from "../../tools/served/catalogue-client.js";
import { RecallClient } from "../../tools/served/recall-client.js";
import { startStack } from "../../tools/served/served-stack.js";
import { runtimeOptions } from "../../tools/terminal/model-flags.js";
import { LEVEL_CODES, LEVELS, SHAPES } from "../models/model-shape.js";
import { drawSids } from "../models/random-catalogue.js";
import { randomModel } from "../models/random-model.js";
import { quantile } from "../result.js";
/** A number of 32 bits that looks drawn, by multiplications with odd constants. */ function spread(value) {
    const x = Math.imul(value ^ value >>> 16, 0x7feb352d);
    return Math.imul(x ^ x >>> 15, 0x846ca68b) >>> 0;
}
const DEADLINE_MS = 600_000;
const IN_FLIGHT = 4;
const WARM_UP = 20;
const LINES_AT_ONCE = 10_000;
const FULL = {
    items: 1_000_000,
    seconds: 20
};
const QUICK = {
    items: 200_000,
    seconds: 4
};
const RATES = [
    1000,
    10_000
];
/** Batches of changes a second at each rate. */ const BATCHES_PER_SECOND = 50;
const VISIBLE_TARGET_MS = 50;
const VISIBLE_MOST_MS = 1000;
const USERS = 200;
const HISTORY_ITEMS = 16;
export async function serviceRows(context) {
    const { quick, say } = context;
    const { items, seconds } = quick ? QUICK : FULL;
    const folder = mkdtempSync(join(tmpdir(), 'tessera-bench-catalogue-'));
    const prefix = `service, ${items} items: `;
    try {
        say(`the served recall over ${items} items`);
        const load = await open(folder, items, context);
        try {
            const rows = recallRows(`${prefix}alone`, await recallFor(load, wait(seconds)));
            for (const rate of RATES){
                say(`recalls beside ${rate} changes a second`);
                const visible = [];
                const writer = change(load, rate, seconds, visible);
                const name = `${prefix}${rate} changes a second`;
                rows.push(...recallRows(name, await recallFor(load, writer)), ...visibleRows(name, visible));
            }
            say('recalls beside a compaction');
            const started = performance.now();
            const compaction = load.catalogue.call('Compact', {}, DEADLINE_MS);
            const during = recallRows(`${prefix}while compacting`, await recallFor(load, compaction));
            const took = (performance.now() - started) / 1000;
            rows.push({
                name: `${prefix}compaction`,
                value: took,
                unit: 's',
                bar: null
            }, ...during);
            return rows;
        } finally{
            load.recalls.close();
            load.catalogue.close();
            await load.stack.close();
        }
    } finally{
        rmSync(folder, {
            recursive: true,
            force: true
        });
    }
}
async function open(folder, items, context) {
    const sids = drawSids(items);
    const sidOf = (item)=>{
        const at = item % items * LEVELS;
        return [
            ...sids.subarray(at, at + LEVELS)
        ];
    };
    const modelPath = writeModel(folder, items, context.say);
    const path = join(folder, 'items.jsonl');
    await writeItems(path, items, sidOf);
    const stack = await startStack({
        ...runtimeOptions(context.flags, ()=>undefined),
        modelPath,
        catalogueSources: [
            {
                path,
                domain: ''
            }
        ],
        behaviours: usersOfFile(join(modelPath, 'users.json')),
        cacheDir: join(folder, 'cache'),
        changes: {
            folder: join(folder, 'changes'),
            sync: 'commit',
            levelSizes: [],
            compactAfterChanges: 0,
            onCompacted: ()=>undefined
        }
    }, DEADLINE_MS);
    const recalls = new RecallClient(stack.grpcAddress);
    const catalogue = new CatalogueClient(stack.grpcAddress);
    return {
        stack,
        recalls,
        catalogue,
        items,
        sidOf
    };
}
/** Random weights with what makes prompts for them: histories of items, and nothing else. */ function writeModel(folder, items, say) {
    const weights = randomModel(SHAPES['8x512'], say);
    const path = join(folder, 'model');
    mkdirSync(path);
    for (const name of [
        'config.json',
        'model.safetensors'
    ]){
        symlinkSync(join(weights, name), join(path, name));
    }
    const write = (name, content)=>writeFileSync(join(path, name), JSON.stringify(content));
    write('tokenizer.json', {
        added_tokens: [],
        normalizer: null,
        pre_tokenizer: {
            type: 'Whitespace'
        },
        model: {
            type: 'WordLevel',
            vocab: {
                '<unk>': 0
            },
            unk_token: '<unk>'
        }
    });
    write('prompt.json', {
        version: 1,
        name: 'large-catalogue',
        levels: Array.from({
            length: LEVELS
        }, (_, level)=>({
                base: level * LEVEL_CODES
            })),
        segments: [
            {
                slot: 'history'
            }
        ]
    });
    const history = (user)=>Array.from({
            length: HISTORY_ITEMS
        }, (_, i)=>nameOf(spread(user * HISTORY_ITEMS + i) % items));
    const users = Array.from({
        length: USERS
    }, (_, user)=>[
            `user-${user}`,
            history(user)
        ]);
    write('users.json', Object.fromEntries(users));
    return path;
}
const nameOf = (item)=>`item-${item}`;
async function writeItems(path, items, sidOf) {
    const file = createWriteStream(path);
    for(let first = 0; first < items; first += LINES_AT_ONCE){
        const lines = [];
        for(let item = first; item < Math.min(items, first + LINES_AT_ONCE); item += 1){
            const priority = item % 100;
            lines.push(`{"item_id":"${nameOf(item)}","sid":[${sidOf(item)}],"priority":${priority}}\n`);
        }
        if (!file.write(lines.join(''))) await once(file, 'drain');
    }
    file.end();
    await once(file, 'close');
}
const wait = (seconds)=>sleep(seconds * 1000);
/** Milliseconds of each recall until `end` has come, some always under way. */ async function recallFor({ stack, recalls }, end) {
    const users = stack.sampleUserIds;
    let at = 0;
    const ask = async ()=>{
        const started = performance.now();
        at += 1;
        await recalls.recall({
            userId: users[at % users.length]
        }, DEADLINE_MS);
        return performance.now() - started;
    };
    for(let i = 0; i < WARM_UP; i += 1)await ask();
    let isOver = false;
    const ended = end.finally(()=>{
        isOver = true;
    });
    const times = [];
    const work = async ()=>{
        while(!isOver)times.push(await ask());
    };
    await Promise.all([
        ended,
        ...Array.from({
            length: IN_FLIGHT
        }, work)
    ]);
    return times;
}
/** Items paused, resumed and added in turn; how long until each batch is seen by recalls. */ async function change({ catalogue, items, sidOf }, rate, seconds, visible) {
    const size = rate / BATCHES_PER_SECOND;
    const started = performance.now();
    for(let batch = 0; batch < seconds * BATCHES_PER_SECOND; batch += 1){
        const dueMs = started + batch * 1000 / BATCHES_PER_SECOND;
        await sleep(Math.max(dueMs - performance.now(), 0));
        const changes = Array.from({
            length: size
        }, (_, i)=>{
            const number = (batch >> 1) * size + i;
            // Half of a batch pauses or resumes, half adds or replaces; no item is in it twice.
            const itemId = nameOf(number * 7 % items);
            if (i % 2 === 0) return batch % 2 === 0 ? {
                pauseItemId: itemId
            } : {
                resumeItemId: itemId
            };
            return {
                upsert: {
                    itemId: `later-${number}`,
                    sid: sidOf(number * 3)
                }
            };
        });
        const before = performance.now();
        await catalogue.call('Apply', {
            changes
        }, DEADLINE_MS);
        visible.push(performance.now() - before);
    }
}
function recallRows(name, times) {
    const row = {
        unit: 'ms',
        bar: null
    };
    return [
        {
            name: `${name}, recall, median`,
            value: quantile(times, 0.5),
            ...row
        },
        {
            name: `${name}, recall, p99`,
            value: quantile(times, 0.99),
            ...row
        }
    ];
}
function visibleRows(name, visible) {
    const row = {
        unit: 'ms',
        bound: 'at-most'
    };
    const [median, p99] = [
        quantile(visible, 0.5),
        quantile(visible, 0.99)
    ];
    return [
        {
            name: `${name}, change to visible, median`,
            value: median,
            bar: VISIBLE_TARGET_MS,
            ...row
        },
        {
            name: `${name}, change to visible, p99`,
            value: p99,
            bar: VISIBLE_MOST_MS,
            ...row
        }
    ];
}

//# sourceMappingURL=catalogue-service.js.map