import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { repositoryRoot } from "../../../libs/ops/config/src/index.js";
import { BENCH_CACHE } from "../../models/random-model.js";
/** Real logs beside the repository; what reads them is left out where they are not there. */ const DATA = join(repositoryRoot, '..', 'shared', 'data');
const CHECKINS = join('checkins', 'PetalingJaya.events.tsv');
/** A folder as native/bench/kv_bench reads it: logs unpacked, each under the name of its source. */ export function traceFolder() {
    const folder = join(BENCH_CACHE, 'kv-traces');
    mkdirSync(join(folder, 'checkins'), {
        recursive: true
    });
    const packed = join(DATA, `${CHECKINS}.gz`);
    const checkins = join(folder, CHECKINS);
    if (!existsSync(checkins) && existsSync(packed)) {
        writeFileSync(checkins, gunzipSync(readFileSync(packed)));
    }
    const sequences = join(DATA, 'amazon-beauty', 'sequences_train_valid.json.gz');
    const histories = join(folder, 'amazon-beauty', 'histories.txt');
    if (!existsSync(histories) && existsSync(sequences)) {
        const users = JSON.parse(gunzipSync(readFileSync(sequences)).toString());
        mkdirSync(join(folder, 'amazon-beauty'), {
            recursive: true
        });
        writeFileSync(histories, `${Object.values(users).map((items)=>items.join(' ')).join('\n')}\n`);
    }
    const mooncake = join(DATA, 'traces', 'mooncake');
    const linked = join(folder, 'mooncake');
    if (!existsSync(linked) && existsSync(mooncake)) symlinkSync(mooncake, linked);
    return folder;
}

//# sourceMappingURL=traces.js.map