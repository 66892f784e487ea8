import { expecting } from "../../../../ops/errors/src/index.js";
import { openRegular, textOf } from "../../../../ops/files/src/index.js";
const CONFIG_BYTES_MAX = 16 << 20;
const invalid = expecting('TOKENIZER_INVALID');
/**
 * An object of a model's folder.
 * @returns undefined where the file is absent
 * @throws TesseraError TOKENIZER_INVALID naming the file
 */ export async function readMembers(path) {
    const text = await readText(path, CONFIG_BYTES_MAX);
    return text === undefined ? undefined : membersOf(parsed(text, path), path);
}
/**
 * Undefined where the file is absent.
 * @throws TesseraError TOKENIZER_INVALID where it is no JSON
 */ export async function readJson(path) {
    const text = await readText(path, CONFIG_BYTES_MAX);
    return text === undefined ? undefined : parsed(text, path);
}
export function parsed(text, path) {
    try {
        return JSON.parse(text);
    } catch (error) {
        throw invalid(path, 'JSON', error.message, error);
    }
}
export function membersOf(value, path) {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
    throw invalid(path, 'an object', value);
}
/** Undefined where the file is absent. */ export async function readText(path, bytesMax) {
    const file = await openRegular(path).catch((error)=>{
        if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
        throw invalid(path, 'a file that can be read', error.message, error);
    });
    if (file === undefined) return undefined;
    try {
        const { size } = await file.stat();
        if (size > bytesMax) throw invalid(path, `at most ${bytesMax} bytes`, size);
        return textOf(path, await file.readFile(), 'TOKENIZER_INVALID');
    } finally{
        await file.close();
    }
}

//# sourceMappingURL=folder-json.js.map