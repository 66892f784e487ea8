import { createHash } from "node:crypto";
import { TesseraError } from "../../../../ops/errors/src/index.js";
import { replaceFile } from "../../../../ops/files/src/index.js";
const FORMAT = 2;
/** Without a checksum and a copy. */ const FORMAT_BEFORE = 1;
/**
 * A small document that must not be lost: a file with a checksum, and a copy beside it. Each is
 * replaced as a whole, the copy first, so that a crash leaves the old document or the new one, and
 * damage to one file loses nothing.
 */ export class KeptState {
    disk;
    path;
    what;
    copyPath;
    /** Text that was read, where it is of the former format: kept beside its successor. */ before;
    constructor(disk, path, what){
        this.disk = disk;
        this.path = path;
        this.what = what;
        this.copyPath = path.replace(/\.json$/, '.copy.json');
    }
    /**
   * The document as `parse` makes it of its members, and whether it must be written anew: because
   * one of the files is missing, damaged or older. Undefined where neither file is there. Rejects
   * with what `parse` throws, STORE_NEWER for a document of a newer release, or an Error that says
   * what is wrong with the file.
   */ async read(parse) {
        const texts = await Promise.all([
            this.disk.read(this.path),
            this.disk.read(this.copyPath)
        ]);
        if (texts.every((text)=>text === undefined)) return undefined;
        this.before = texts.map((text)=>text?.toString()).find(isOfFormatBefore);
        const read = texts.map((text)=>attempt(()=>parsed(text, parse)));
        for (const one of read)if ('error' in one && isNewer(one.error)) throw this.newer(one.error);
        const [first, second] = read;
        if ('value' in first) return {
            state: first.value,
            isStale: !('value' in second)
        };
        if ('value' in second) return {
            state: second.value,
            isStale: true
        };
        throw first.error;
    }
    newer(cause) {
        const { message } = TesseraError.from(cause);
        return new TesseraError('STORE_NEWER', `${this.path}: ${message}`, {
            cause
        });
    }
    /** Resolves when it is durable. Rejects with STORE_FULL or IO_FAILED: the old state stands. */ async write(members) {
        const document = {
            format: FORMAT,
            checksum: checksumOf(members),
            ...members
        };
        const text = `${JSON.stringify(document, null, 1)}\n`;
        if (this.before !== undefined) {
            const kept = this.path.replace(/\.json$/, `.v${FORMAT_BEFORE}.json`);
            await replaceFile(this.disk, kept, this.before, this.what);
            this.before = undefined;
        }
        await replaceFile(this.disk, this.copyPath, text, this.what);
        await replaceFile(this.disk, this.path, text, this.what);
    }
}
function isOfFormatBefore(text) {
    const read = attempt(()=>JSON.parse(text ?? '').format);
    return 'value' in read && read.value === FORMAT_BEFORE;
}
export function isNewer(thrown) {
    return thrown instanceof TesseraError && thrown.code === 'STORE_NEWER';
}
function attempt(act) {
    try {
        return {
            value: act()
        };
    } catch (error) {
        return {
            error
        };
    }
}
function parsed(text, parse) {
    if (text === undefined) throw new Error('no such file');
    const { format, checksum, ...members } = JSON.parse(text.toString('utf8'));
    if (format === FORMAT_BEFORE) return parse(members);
    if (typeof format === 'number' && format > FORMAT) {
        const message = `expected format ${FORMAT} at most, got ${format}, which a newer release wrote`;
        throw new TesseraError('STORE_NEWER', message);
    }
    if (format !== FORMAT) throw new Error(`expected format ${FORMAT}, got ${format}`);
    if (checksum !== checksumOf(members)) throw new Error('expected its checksum, got another');
    return parse(members);
}
function checksumOf(members) {
    return createHash('sha256').update(JSON.stringify(members)).digest('hex');
}

//# sourceMappingURL=kept-state.js.map