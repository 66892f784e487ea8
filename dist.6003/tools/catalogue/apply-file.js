import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import { parseChangeLine } from "../../libs/service/catalogue/src/index.js";
import { expecting, TesseraError } from "../../libs/ops/errors/src/index.js";
import { FILE_SYSTEM, replaceFile } from "../../libs/ops/files/src/index.js";
const SECOND_MS = 1000;
const invalid = expecting('CATALOGUE_INVALID');
/** Lines that are not empty. */ export async function* linesOf(path) {
    const hash = createHash('sha256');
    let number = 0;
    for await (const text of createInterface({
        input: createReadStream(path)
    })){
        number += 1;
        hash.update(`${text}\n`);
        const digest = ()=>hash.copy().digest('hex');
        // The first may have a byte order mark.
        if (text.trim() !== '') yield {
            text: text.replace(/^\uFEFF/, ''),
            number,
            digest
        };
    }
}
/**
 * The changes of a file in batches, in their order. With a file that remembers, a run goes on
 * behind the last batch that a run before has seen applied. Where that one was killed before it
 * could remember a batch, the batch is sent again as it was, and the service knows it by its mark.
 * @throws TesseraError of a line or a batch at fault, with the place
 */ export async function applyFile(send, path, settings) {
    const { resumePath, onProgress, nowMs } = settings;
    const before = await rememberedIn(resumePath) ?? await begun(settings);
    const { name, batch } = before;
    const total = await countLines(path);
    if (total < before.lines) throw othersThan(before, path, `${total} lines`);
    const beganMs = nowMs();
    const isMarked = resumePath !== undefined;
    const batches = new Batches(send, path, settings);
    const rate = ()=>{
        const seconds = (nowMs() - beganMs) / SECOND_MS;
        return seconds > 0 ? Math.round(batches.applied / seconds) : 0;
    };
    const flush = async ({ number: lines, digest })=>{
        await batches.flush(isMarked ? {
            name,
            position: lines
        } : undefined);
        if (isMarked) await remember(resumePath, {
            lines,
            digest: digest(),
            name,
            batch
        });
        onProgress('lines applied', lines, total, `${rate()} changes a second`);
    };
    let last;
    for await (const line of linesOf(path)){
        if (isBehind(line, before, path)) continue;
        batches.add(line);
        last = line;
        if (batches.size === batch) await flush(line);
    }
    if (last !== undefined && batches.size > 0) await flush(last);
    if (resumePath !== undefined) await rm(resumePath, {
        force: true
    });
    const { applied, sequence, badLines } = batches;
    return {
        applied,
        resumed: before.lines,
        badLines,
        sequence,
        rate: rate()
    };
}
/** A change of a batch that a refusal names. */ const CHANGE_FIELD = /^changes\[(\d+)\]/;
/** Batches of lines, sent one after another. */ let Batches = class Batches {
    send;
    path;
    settings;
    applied = 0;
    sequence = 0;
    badLines = 0;
    waiting = [];
    constructor(send, path, settings){
        this.send = send;
        this.path = path;
        this.settings = settings;
    }
    get size() {
        return this.waiting.length;
    }
    add({ text, number }) {
        try {
            this.waiting.push({
                change: parseChangeLine(text, number),
                line: number
            });
        } catch (error) {
            throw this.placed(error, number);
        }
    }
    /** All that waits; without a line that is refused, as long as that is tolerated. */ async flush(mark) {
        while(this.waiting.length > 0){
            try {
                const changes = this.waiting.map(({ change })=>change);
                ({ sequence: this.sequence } = await this.send(changes, mark));
                this.applied += this.waiting.length;
                this.waiting = [];
            } catch (error) {
                this.leaveOut(error);
            }
        }
    }
    leaveOut(thrown) {
        const { code, field = '', message } = TesseraError.from(thrown);
        const place = Number(CHANGE_FIELD.exec(field)?.[1] ?? Number.NaN);
        const bad = code === 'CATALOGUE_INVALID' ? this.waiting[place] : undefined;
        if (bad === undefined || this.badLines === this.settings.tolerated) {
            throw this.placed(thrown, bad?.line ?? this.waiting[0]?.line ?? 0);
        }
        this.badLines += 1;
        this.settings.onBadLine(bad.line, message);
        this.waiting.splice(place, 1);
    }
    placed(thrown, line) {
        const { code, message, field } = TesseraError.from(thrown);
        const done = `${this.applied} changes before were applied`;
        const text = `${this.path}, from line ${line}: ${message} (${done})`;
        return new TesseraError(code, text, {
            field,
            cause: thrown
        });
    }
};
/** True if a run before has applied a line; the last of those shows that they are the same. */ function isBehind({ number, digest }, before, path) {
    if (number > before.lines) return false;
    if (number === before.lines && digest() !== before.digest) {
        throw othersThan(before, path, 'other ones');
    }
    return true;
}
const othersThan = ({ lines }, path, got)=>invalid(path, `the ${lines} lines that were applied before`, got);
/** Remembered before anything is sent. */ async function begun({ resumePath, batch }) {
    const nothing = {
        lines: 0,
        digest: '',
        name: randomUUID(),
        batch
    };
    if (resumePath !== undefined) await remember(resumePath, nothing);
    return nothing;
}
/** Undefined where no run before has begun. */ async function rememberedIn(path) {
    if (path === undefined) return undefined;
    const text = await readFile(path, 'utf8').catch((error)=>{
        if (error.code === 'ENOENT') return undefined;
        throw error;
    });
    if (text === undefined) return undefined;
    const { lines, digest, name, batch } = parsed(text);
    const isWhole = [
        lines,
        batch
    ].every(Number.isSafeInteger) && typeof digest === 'string';
    if (isWhole && typeof name === 'string') return {
        lines,
        digest,
        name,
        batch
    };
    throw invalid(path, 'what `catalogue apply --resume` wrote', text.slice(0, 80));
}
function parsed(text) {
    try {
        return Object(JSON.parse(text));
    } catch  {
        return {};
    }
}
function remember(path, state) {
    return replaceFile(FILE_SYSTEM, path, `${JSON.stringify(state)}\n`, `${path}: how far it is`);
}
async function countLines(path) {
    let count = 0;
    for await (const _ of createInterface({
        input: createReadStream(path)
    }))count += 1;
    return count;
}

//# sourceMappingURL=apply-file.js.map