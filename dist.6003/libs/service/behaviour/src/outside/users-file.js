import { basename } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { TesseraError } from "../../../../ops/errors/src/index.js";
import { readRegular, textOf } from "../../../../ops/files/src/index.js";
import { hasLines, parseSequenceLines } from "../domain/parse-sequences.js";
import { parseUsers } from "../domain/parse-users.js";
import { MemoryBehaviourStore } from "./memory-behaviour-store.js";
/** Bytes of a users file, before and after decompression. */ const USERS_FILE_BYTES_MAX = 400 << 20;
const GZIP_MAGIC = Buffer.from([
    0x1f,
    0x8b
]);
const inflate = promisify(gunzip);
/**
 * Reads users.json, or sequences as `trainer sequences` writes them (a name in .jsonl or .ndjson);
 * gzip-compressed or not (its content decides).
 * @throws TesseraError BEHAVIOUR_INVALID naming file and path, or IO_FAILED
 */ export async function loadBehaviourStore(path) {
    const name = basename(path);
    const text = await readUsersText(path);
    if (hasLines(path)) {
        return new MemoryBehaviourStore(parseSequenceLines(text, name, Date.now()).users);
    }
    const twice = repeatedUser(text);
    if (twice !== undefined) throw invalid(name, `each user once, got ${twice} twice`, undefined);
    let document;
    try {
        document = JSON.parse(text);
    } catch (error) {
        throw invalid(name, `JSON: ${error.message}`, error);
    }
    return new MemoryBehaviourStore(parseUsers(document, name));
}
/**
 * Text of a file of users, gzip-compressed or not.
 * @throws TesseraError BEHAVIOUR_INVALID or IO_FAILED
 */ export async function readUsersText(path) {
    const name = basename(path);
    return textOf(path, await readBytes(path, name), 'BEHAVIOUR_INVALID');
}
/** The first key of the outermost object that is there again: JSON.parse keeps the last alone. */ function repeatedUser(text) {
    const keys = new Set();
    let depth = 0;
    let start = -1;
    let end = -1;
    for(let at = 0; at < text.length; at += 1){
        const character = text[at];
        if (character === '"') {
            start = at;
            for(at += 1; at < text.length && text[at] !== '"'; at += 1)if (text[at] === '\\') at += 1;
            end = at + 1;
        } else if (character === ':' && depth === 1) {
            const key = text.slice(start, end);
            if (keys.has(key)) return key;
            keys.add(key);
        } else if (character === '{' || character === '[') depth += 1;
        else if (character === '}' || character === ']') depth -= 1;
    }
    return undefined;
}
async function readBytes(path, name) {
    let bytes;
    try {
        bytes = await readRegular(path, USERS_FILE_BYTES_MAX);
    } catch (error) {
        const { code, message } = error;
        if (code === 'ENOENT') throw invalid(name, `a file at ${path}, got none`, error);
        if (code === undefined) throw invalid(name, message.replace(/^expected /, ''), error);
        throw new TesseraError('IO_FAILED', `${name}: ${message}`, {
            field: name,
            cause: error
        });
    }
    if (!bytes.subarray(0, 2).equals(GZIP_MAGIC)) return bytes;
    try {
        return await inflate(bytes, {
            maxOutputLength: USERS_FILE_BYTES_MAX
        });
    } catch (error) {
        throw invalid(name, `gzip of at most ${USERS_FILE_BYTES_MAX} bytes: ${error}`, error);
    }
}
function invalid(name, expected, cause) {
    return new TesseraError('BEHAVIOUR_INVALID', `${name}: expected ${expected}`, {
        field: name,
        cause
    });
}

//# sourceMappingURL=users-file.js.map