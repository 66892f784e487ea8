import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fetchedParts } from "../../../libs/service/adapter/src/index.js";
import { loadConfig } from "../../../libs/ops/config/src/index.js";
import { createRecallRuntime } from "../../../libs/service/recall/src/index.js";
import { createLog, NO_TRACING } from "../../../libs/ops/telemetry/src/index.js";
import { temporaryFolder } from "../../../libs/testing/src/index.js";
import { runtimeOptions } from "../../../apps/standalone/src/runtime-options.js";
import { SHAPES } from "../../models/model-shape.js";
import { randomAdapter } from "../../models/random-adapter.js";
import { quantile } from "../../result.js";
import { servedModel } from "../streams/served-model.js";
const SHAPE = SHAPES['8x512'];
const RANK = 16;
const NAME = 'main';
/** 3 tokens an item. */ const HISTORY_ITEMS = 200;
const QUICK = {
    users: 12,
    rounds: 1
};
const FULL = {
    users: 64,
    rounds: 3
};
const BUDGET_US = 120e6;
const PERCENT = 100;
const WAYS = [
    {
        name: 'without warm-up',
        isWarmed: false,
        versionsBack: 0
    },
    {
        name: 'with warm-up',
        isWarmed: true,
        versionsBack: 0
    },
    {
        name: 'without warm-up, going on',
        isWarmed: false,
        versionsBack: 16
    }
];
/**
 * Users whose keys and values the pool has under one version, and the switch to the next: what
 * their first visit after it finds, with and without a warm-up, and where it may go on with those
 * of the version before; how long a version takes from its push to its first request, and the
 * longest recall meanwhile.
 */ export async function rollout(context) {
    const found = [];
    for (const way of WAYS)found.push(...await measured(way, context));
    return found;
}
async function measured(way, { quick, say }) {
    const { users, rounds } = quick ? QUICK : FULL;
    const folder = temporaryFolder({});
    const model = servedModel(SHAPE, say);
    const usersPath = join(folder.path, 'users.json');
    writeFileSync(usersPath, JSON.stringify(histories(model, users)));
    const { config } = loadConfig({
        environment: {
            TESSERA_MODEL_PATH: model,
            TESSERA_USERS_PATH: usersPath,
            TESSERA_BEHAVIOURS_STORE: 'file',
            TESSERA_KV_DISK_BYTES: '0',
            TESSERA_CATALOGUE_CACHE_PATH: join(folder.path, 'catalogue'),
            TESSERA_CATALOGUE_CHANGES_PATH: '',
            TESSERA_ADAPTERS_PATH: join(folder.path, 'adapters'),
            TESSERA_ADAPTERS_KV_VERSIONS_BACK: String(way.versionsBack)
        }
    });
    const log = createLog('error');
    const runtime = await createRecallRuntime(runtimeOptions(config, NO_TRACING, {
        onProgress: ()=>undefined,
        onCompacted: ()=>undefined,
        onUndeclared: ()=>undefined,
        onAdapterEvent: (event)=>log.error({
                event
            }, 'a version went by itself')
    }));
    try {
        return await new Rollouts(runtime, folder.path, users, say).measure(way, rounds);
    } finally{
        await runtime.close();
        folder.remove();
    }
}
function histories(model, users) {
    const items = readFileSync(join(model, 'catalogue.jsonl'), 'utf8').trim().split('\n').map((line)=>String(JSON.parse(line).item_id));
    const of = (user)=>Array.from({
            length: HISTORY_ITEMS
        }, (_, time)=>({
                item_id: items[(user * 7919 + time * 104_729) % items.length],
                time
            }));
    const entries = Array.from({
        length: users
    }, (_, user)=>[
            String(user + 1),
            {
                behaviours: of(user)
            }
        ]);
    return Object.fromEntries(entries);
}
let Rollouts = class Rollouts {
    runtime;
    folder;
    users;
    say;
    seed = 0;
    adapters;
    constructor(runtime, folder, users, say){
        this.runtime = runtime;
        this.folder = folder;
        this.users = users;
        this.say = say;
        if (runtime.operations.adapters === undefined) throw new Error('the bench needs adapters');
        this.adapters = runtime.operations.adapters;
    }
    async measure({ name: way, isWarmed }, rounds) {
        await this.switchTo(true);
        const visits = [];
        const switches = [];
        for(let round = 0; round < rounds; round += 1){
            this.say(`roll-out ${way}, round ${round + 1}`);
            await this.everybody();
            switches.push(await this.switchTo(isWarmed));
            visits.push(...await this.everybody());
        }
        const asked = visits.reduce((sum, { answer })=>sum + answer.promptTokens, 0);
        const saved = visits.reduce((sum, { answer })=>sum + answer.kv.savedTokens, 0);
        const near = `${SHAPE.name} bf16, ${this.users} users of ${HISTORY_ITEMS * 3} tokens, ${way}`;
        const row = (name, value, unit)=>({
                name: `${near}: ${name}`,
                value,
                unit,
                bar: null
            });
        const median = (values)=>quantile([
                ...values
            ], 0.5);
        return [
            row('tokens found at the first visit', PERCENT * saved / asked, '%'),
            row('first visit, median', median(visits.map(({ ms })=>ms)), 'ms'),
            row('from push to valid', median(switches.map(({ pushMs })=>pushMs)), 'ms'),
            row('activation', median(switches.map(({ activateMs })=>activateMs)), 'ms'),
            row('longest recall meanwhile', Math.max(...switches.map((s)=>s.longestMs)), 'ms')
        ];
    }
    /** Another version into service, while one user after another is recalled for. */ async switchTo(isWarmed) {
        const location = `peft-${this.seed}`;
        randomAdapter(join(this.folder, location), SHAPE, RANK, this.seed);
        this.seed += 1;
        const announced = {
            location,
            name: NAME,
            baseModel: this.runtime.facts.summary.model.digest
        };
        const started = performance.now();
        const parts = fetchedParts(this.folder, {
            ...announced,
            sha256: {}
        });
        const { version } = await this.adapters.push(parts);
        const pushed = performance.now();
        const wanted = {
            share: 1,
            isCompared: false,
            isWarmed
        };
        let isOver = false;
        const activated = this.adapters.activate(NAME, version.digest, wanted).finally(()=>{
            isOver = true;
        });
        let longestMs = 0;
        for(let user = 0; !isOver; user += 1){
            longestMs = Math.max(longestMs, (await this.visit(user % this.users + 1)).ms);
        }
        await activated;
        const activateMs = performance.now() - pushed;
        return {
            pushMs: pushed - started,
            activateMs,
            longestMs
        };
    }
    async everybody() {
        const visits = [];
        for(let user = 1; user <= this.users; user += 1)visits.push(await this.visit(user));
        return visits;
    }
    async visit(user) {
        const request = {
            requestId: '',
            userId: String(user),
            profile: {},
            scene: {},
            resultCount: 0,
            widths: [],
            itemsPerSid: 0,
            skipUnknownItems: false
        };
        const context = {
            signal: new AbortController().signal,
            budgetUs: BUDGET_US
        };
        const started = performance.now();
        const answer = await this.runtime.serving.recall(request, context);
        return {
            ms: performance.now() - started,
            answer
        };
    }
};

//# sourceMappingURL=rollout.js.map