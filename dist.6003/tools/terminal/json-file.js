import { readFile } from "node:fs/promises";
import { textOf } from "../../libs/ops/files/src/index.js";
import { fail } from "./command.js";
/**
 * Content of the JSON file that a flag names.
 * @throws UsageError
 */ export async function readJson(flag, path) {
    try {
        return JSON.parse(textOf(path, await readFile(path), 'REQUEST_INVALID'));
    } catch (error) {
        return fail(flag, 'a JSON file', error.message);
    }
}
/** The same of an array of texts. */ export async function readTexts(flag, path) {
    const value = await readJson(flag, path);
    if (Array.isArray(value) && value.every((text)=>typeof text === 'string')) return value;
    return fail(flag, 'an array of texts', path);
}

//# sourceMappingURL=json-file.js.map