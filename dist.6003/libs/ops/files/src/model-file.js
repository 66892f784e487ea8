import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expecting, TesseraError } from "../../errors/src/index.js";
const PAGE = 'HTML (a page in its place: download the file again)';
/** Contents in the place of a file, by their first bytes: native/src/platform/first_bytes.cc. */ const FOREIGN = [
    [
        'version https://git-lfs.github.com/spec/',
        'a Git LFS pointer to it (git lfs pull)'
    ],
    [
        '# xet version ',
        'a Xet pointer to it (git xet, or hf download)'
    ],
    [
        '<!doctype html',
        PAGE
    ],
    [
        '<html',
        PAGE
    ],
    [
        '<?xml',
        'XML (an answer in its place: download the file again)'
    ],
    [
        '\x1f\x8b\x08',
        'gzip (decompress it)'
    ],
    [
        'pk\x03\x04',
        'zip (unpack it)'
    ],
    [
        'gguf',
        "GGUF (quantised for other programs: take the model's safetensors)"
    ]
];
const FIRST_BYTES = 64;
const UTF16_MARKS = [
    [
        '\xff\xfe',
        [
            3,
            5,
            7
        ]
    ],
    [
        '\xfe\xff',
        [
            2,
            4,
            6
        ]
    ]
];
const UTF8 = new TextDecoder('utf-8', {
    fatal: true
});
/** @throws TesseraError of the code where bytes of a file are of another kind of file */ export function refuseForeign(path, bytes, code) {
    const first = Buffer.from(bytes.subarray(0, FIRST_BYTES)).toString('latin1');
    const [, kind] = FOREIGN.find(([begin])=>first.toLowerCase().startsWith(begin)) ?? [];
    if (kind !== undefined) throw expecting(code)(path, 'the file', kind);
    // Fewer characters may be a number's bytes.
    const isUtf16 = UTF16_MARKS.some(([mark, zeros])=>first.startsWith(mark) && zeros.every((at)=>first[at] === '\0'));
    if (isUtf16) throw expecting(code)(path, 'the file', 'UTF-16 (save it as UTF-8)');
}
/**
 * Content of a file of text, without a byte order mark.
 * @throws TesseraError of the code where it is no UTF-8, or another kind of file
 */ export function textOf(path, bytes, code) {
    refuseForeign(path, bytes, code);
    try {
        return UTF8.decode(bytes);
    } catch (cause) {
        throw new TesseraError(code, `${path}: expected UTF-8, got other bytes`, {
            field: path,
            cause
        });
    }
}
/** A download's cache has the folders of a model below this one, by revision. */ const REVISIONS = 'snapshots';
const CACHED = /^models--/;
/**
 * @throws TesseraError of the code where a folder is none of a model, but empty, of a model for
 * other programs, or (above) the root of a download's cache
 */ export async function refuseNoModel(folder, code) {
    const listed = (path)=>readdir(path).catch(()=>[]);
    const names = await readdir(folder).catch(()=>undefined);
    const invalid = expecting(code);
    if (names?.length === 0) throw invalid(folder, 'the folder of a model', 'an empty folder');
    const cached = names?.find((name)=>CACHED.test(name));
    const root = cached === undefined ? folder : join(folder, cached);
    const revisions = (await listed(join(root, REVISIONS))).map((name)=>join(root, REVISIONS, name));
    if (revisions.length > 0) {
        const wanted = `the folder of a model (${revisions.join(' or ')})`;
        throw invalid(folder, wanted, 'the root of a cache');
    }
    const isQuantised = names?.some((name)=>name.endsWith('.gguf')) === true;
    if (!isQuantised || names.some((name)=>name.endsWith('.safetensors'))) return;
    throw invalid(folder, 'model.safetensors', 'GGUF alone, which is quantised for other programs');
}

//# sourceMappingURL=model-file.js.map