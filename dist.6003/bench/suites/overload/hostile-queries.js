import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DEEP, writeRandomModel } from "../../../test/e2e/random-model.js";
import { Service } from "../../../test/e2e/service.js";
import { quantile } from "../../result.js";
import { CHECKERS, DisturbChild, HOSTILE } from "./disturb-child.js";
const USERS = 400;
const BEHAVIOURS = 40;
const ROUNDS = 3;
const RATIO_BAR = 1.2;
/** The effect of analysts and operators on recalls: none that is felt. */ export async function hostileQueries({ quick, say }, folder) {
    const service = await started(folder);
    const others = new DisturbChild();
    try {
        const windowMs = quick ? 8000 : 30_000;
        say(`recalls by user without and with ${HOSTILE.length} hostile queries and ${CHECKERS} checks`);
        for(let user = 0; user < USERS; user++)await recalled(service, user);
        await timesOf(service, windowMs);
        const without = [];
        const beside = [];
        const counts = {
            queries: 0,
            checks: 0,
            refused: 0
        };
        // In turns: what else the machine does falls on both.
        for(let round = 0; round < ROUNDS; round++){
            without.push(...await timesOf(service, windowMs));
            others.begin(service.httpUrl);
            beside.push(...await timesOf(service, windowMs));
            const ended = await others.end();
            for (const kind of [
                'queries',
                'checks',
                'refused'
            ])counts[kind] += ended[kind];
        }
        const [alone, disturbed] = [
            quantile(without, 0.99),
            quantile(beside, 0.99)
        ];
        const ratio = {
            value: disturbed / alone,
            to: 'without'
        };
        const name = 'recall by user, beside hostile queries and integrity checks, p99';
        return [
            {
                name: 'recall by user, p99',
                value: alone,
                unit: 'ms',
                bar: null
            },
            {
                name,
                value: disturbed,
                unit: 'ms',
                ratio,
                bar: RATIO_BAR,
                bound: 'at-most'
            },
            {
                name: 'the same, median',
                value: quantile(beside, 0.5),
                unit: 'ms',
                ratio: {
                    value: quantile(beside, 0.5) / quantile(without, 0.5),
                    to: 'without'
                },
                bar: null
            },
            {
                name: 'queries that ended meanwhile',
                value: counts.queries,
                unit: '',
                bar: null
            },
            {
                name: 'integrity checks meanwhile',
                value: counts.checks,
                unit: '',
                bar: null
            },
            {
                name: 'queries and checks refused meanwhile',
                value: counts.refused,
                unit: '',
                bar: null
            }
        ];
    } finally{
        await others.stop();
        await service.stop();
    }
}
async function started(folder) {
    mkdirSync(folder, {
        recursive: true
    });
    const modelPath = writeRandomModel(join(folder, 'model'), DEEP);
    const behaviours = (user)=>Array.from({
            length: BEHAVIOURS
        }, (_, time)=>({
                item_id: String((user * 31 + time * 7) % 200),
                time
            }));
    const users = Array.from({
        length: USERS
    }, (_, user)=>[
            `user ${user}`,
            {
                behaviours: behaviours(user)
            }
        ]);
    const usersPath = join(folder, 'users.json');
    writeFileSync(usersPath, JSON.stringify(Object.fromEntries(users)));
    return Service.start({
        TESSERA_MODEL_PATH: modelPath,
        TESSERA_CATALOGUE_PATH: join(modelPath, 'catalogue.jsonl'),
        TESSERA_CATALOGUE_TITLES_PATH: '',
        TESSERA_CATALOGUE_CACHE_PATH: join(folder, 'cache'),
        TESSERA_USERS_PATH: usersPath,
        TESSERA_BEHAVIOURS_STORE: 'embedded',
        TESSERA_BEHAVIOURS_PATH: join(folder, 'behaviours'),
        TESSERA_KV_PATH: join(folder, 'kv'),
        TESSERA_KV_DISK_BYTES: String(2 ** 28),
        TESSERA_INSPECTION_PATH: join(folder, 'inspection')
    });
}
async function recalled(service, user) {
    const { status, json } = await service.post({
        userId: `user ${user}`,
        resultCount: 10
    });
    if (status !== 200) throw new Error(`expected a recall, got ${JSON.stringify(json)}`);
}
/** Milliseconds of recalls by one caller, one after the other. */ async function timesOf(service, windowMs) {
    const end = performance.now() + windowMs;
    const times = [];
    for(let i = 0; performance.now() < end; i++){
        const began = performance.now();
        await recalled(service, i * 7 % USERS);
        times.push(performance.now() - began);
    }
    return times;
}

//# sourceMappingURL=hostile-queries.js.map