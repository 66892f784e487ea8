import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../../libs/ops/config/src/index.js";
import { safetensorsHeader, valuesOf } from "../../libs/testing/src/index.js";
import { configOf, tensorsOf } from "./model-shape.js";
import { bf16, normalTable, Random } from "./random.js";
/** Beside everything else that can be made again. */ export const BENCH_CACHE = join(repositoryRoot, '.cache', 'bench');
/** Part of the folder's name: a change of what is drawn makes new folders. */ const RECIPE = 1;
const SEED = 20;
const CHUNK_VALUES = 1 << 22;
/**
 * Folder of a Hugging Face checkpoint of that shape, in BF16, made where it is absent: the same
 * weights in every run, so that computing in F32 computes with the same model.
 */ export function randomModel(shape, say) {
    return randomFolder(shape.name, say, (folder)=>{
        writeFileSync(join(folder, 'config.json'), `${JSON.stringify(configOf(shape), null, 2)}\n`);
        writeSafetensors(join(folder, 'model.safetensors'), tensorsOf(shape), SEED);
    });
}
/** A folder beside those of other models, written where it is absent; never half of one. */ export function randomFolder(name, say, write) {
    const folder = join(BENCH_CACHE, `${name}-${RECIPE}`);
    if (existsSync(folder)) return folder;
    say(`${name}: drawing random weights into ${folder}`);
    const fresh = `${folder}.${process.pid}`;
    mkdirSync(fresh, {
        recursive: true
    });
    try {
        write(fresh);
        renameSync(fresh, folder);
    } catch (error) {
        rmSync(fresh, {
            recursive: true,
            force: true
        });
        throw error;
    }
    return folder;
}
/** Random tensors in BF16. */ export function writeSafetensors(path, tensors, seed) {
    const file = openSync(path, 'w');
    try {
        writeSync(file, safetensorsHeader(tensors, 'BF16'));
        const random = new Random(seed);
        for (const tensor of tensors)writeTensor(file, tensor, random);
    } finally{
        closeSync(file);
    }
}
function writeTensor(file, { shape, deviation }, random) {
    const table = deviation === 0 ? normTable() : normalTable(deviation);
    const mask = table.length - 1;
    for(let left = valuesOf({
        shape
    }); left > 0; left -= CHUNK_VALUES){
        const values = new Uint16Array(Math.min(left, CHUNK_VALUES));
        for(let at = 0; at < values.length; at += 1){
            values[at] = table[random.bits() >>> 8 & mask];
        }
        writeSync(file, values);
    }
}
/** Weights of norms: a little around one, so that a norm that forgets them is seen. */ function normTable() {
    return Uint16Array.from({
        length: 256
    }, (_, at)=>bf16(0.9 + 0.2 * at / 255));
}

//# sourceMappingURL=random-model.js.map