/** Versions of adapters, and the rules of their names. */ import { createHash } from "node:crypto";
import { expecting, TesseraError } from "../../../../ops/errors/src/index.js";
export const invalid = expecting('ADAPTER_INVALID');
export const ADAPTER_STATES = [
    'received',
    'validated',
    'canary',
    'active',
    'retired',
    'rejected'
];
/** The name that stands for the model without an adapter. */ export const BASE = 'base';
const NAME_LENGTH_MAX = 64;
export const REMARK_LENGTH_MAX = 1024;
/** Digits of a digest that may stand for it, where they are of one version alone. */ export const DIGEST_DIGITS_MIN = 8;
const NAME = /^[a-z0-9][a-z0-9._-]*$/;
const DIGEST = /^[0-9a-f]{64}$/;
/** Files of a version: factors (PEFT), and heads with how they read items; one pair, or both. */ const FILE_PAIRS = [
    [
        'adapter_config.json',
        'adapter_model.safetensors'
    ],
    [
        'ranking.json',
        'heads.safetensors'
    ]
];
/** All of them are read, so no others are kept. */ export const ADAPTER_FILES = FILE_PAIRS.flat();
/** A version whose files have arrived and which nobody has tried yet. */ export function receivedVersion(given, nowMs) {
    return {
        ...given,
        state: 'received',
        reason: '',
        receivedMs: nowMs,
        changedMs: nowMs,
        isPinned: false,
        share: 0,
        activation: 0,
        facts: null
    };
}
/** This alone separates digests from names, so no name may look like a digest. */ export function isDigest(text) {
    return DIGEST.test(text);
}
/** @throws TesseraError ADAPTER_INVALID */ export function checkName(name) {
    const isGood = name.length <= NAME_LENGTH_MAX && NAME.test(name);
    if (isGood && name !== BASE && !isDigest(name)) return;
    const grammar = `1..${NAME_LENGTH_MAX} of a-z, 0-9, '.', '_' and '-', a letter or digit first`;
    throw invalid('name', `${grammar}, and not '${BASE}'`, `'${name}'`);
}
/** @throws TesseraError ADAPTER_INVALID for a share that is not in (0, 1] */ export function checkShare(share) {
    if (share > 0 && share <= 1) return;
    throw invalid('share', 'a number above 0 and at most 1', share);
}
/**
 * The files of a version, in the order in which their bytes come.
 * @throws TesseraError ADAPTER_INVALID for a file that is missing, strange, twice or too large
 */ export function checkFiles(files, bytesMax) {
    files.forEach(({ name, bytes, sha256 }, index)=>{
        const field = `files[${index}]`;
        if (!ADAPTER_FILES.includes(name)) {
            throw invalid(`${field}.name`, ADAPTER_FILES.join(' or '), `'${name}'`);
        }
        if (files.findIndex((other)=>other.name === name) !== index) {
            throw invalid(`${field}.name`, 'each file once', `'${name}' again`);
        }
        if (!Number.isSafeInteger(bytes) || bytes < 1) {
            throw invalid(`${field}.bytes`, 'at least 1', bytes);
        }
        if (!isDigest(sha256)) throw invalid(`${field}.sha256`, '64 hexadecimal digits', sha256);
    });
    const isThere = (name)=>files.some((file)=>file.name === name);
    const begun = FILE_PAIRS.filter((pair)=>pair.some(isThere));
    const missing = (begun[0] === undefined ? FILE_PAIRS : begun).flat().find((name)=>!isThere(name));
    if (missing !== undefined) throw invalid('files', missing, 'a push without it');
    const bytes = fileBytes(files);
    if (bytes > bytesMax) throw invalid('files', `at most ${bytesMax} bytes in all`, bytes);
    return [
        ...files
    ];
}
/** A store may say of what is not there that nobody may see it. */ const ABSENCE = new Set([
    'ADAPTER_NOT_FOUND',
    'ADAPTER_SOURCE_DENIED'
]);
/**
 * Both files of each pair that a place has any of.
 * @param look rejects with ADAPTER_NOT_FOUND or _SOURCE_DENIED for a file that is not there, and
 *   so does this where half of a pair is missing, or all
 */ export async function filesFound(look) {
    const found = [];
    const absences = [];
    for (const pair of FILE_PAIRS){
        const absent = [];
        for (const name of pair){
            await look(name).then((file)=>found.push(Object.assign(file, {
                    name
                })), (thrown)=>{
                const error = TesseraError.from(thrown);
                if (!ABSENCE.has(error.code)) throw thrown;
                absent.push(error);
            });
        }
        const [error] = absent;
        if (error !== undefined && absent.length < pair.length) throw error;
        absences.push(...absent);
    }
    const [error] = absences;
    if (found.length === 0 && error !== undefined) throw error;
    return found;
}
export function fileBytes(files) {
    return files.reduce((sum, { bytes })=>sum + bytes, 0);
}
/** Of names, sizes and contents: what the version is called from then on. */ export function digestOf(files) {
    const lines = files.map(({ name, bytes, sha256 })=>`${name} ${bytes} ${sha256}\n`).sort();
    return createHash('sha256').update(lines.join('')).digest('hex');
}

//# sourceMappingURL=adapter-version.js.map