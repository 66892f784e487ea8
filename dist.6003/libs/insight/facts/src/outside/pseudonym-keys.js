import { createHmac, randomBytes } from "node:crypto";
import { mkdir, open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { TesseraError } from "../../../../ops/errors/src/index.js";
import { FILE_SYSTEM, overwriteFile, wipeFile } from "../../../../ops/files/src/index.js";
/**
 * Keys of pseudonyms in a file of slots of one size, each overwritten in place:
 *
 *   page 0        magic, number of pages of slots (a power of two), secret of this file
 *   page 1, ...   128 slots of 32 bytes: a digest of the user ID with the secret, and their key;
 *                 zeros where it is free
 *
 * A user's slot lies in the page that the digest's low bits name, anywhere in it. Where a page is
 * full the file is made anew with twice as many. No slot crosses a sector of a disk: a crash leaves
 * the old or the new one.
 */ const MAGIC = Buffer.from('tessera pseudonyms 1');
const PAGES_AT = 32;
const SECRET_AT = 64;
const SECRET_BYTES = 32;
const PAGE_BYTES = 4096;
const DIGEST_BYTES = 16;
export const KEY_BYTES = 16;
const SLOT_BYTES = DIGEST_BYTES + KEY_BYTES;
const FREE = Buffer.alloc(SLOT_BYTES);
const PAGES_MAX = 2 ** 24;
const PARTIAL = '.partial';
function headerOf({ pages, secret }) {
    const header = Buffer.alloc(PAGE_BYTES);
    MAGIC.copy(header);
    header.writeUInt32LE(pages, PAGES_AT);
    secret.copy(header, SECRET_AT);
    return header;
}
function invalid(path, got) {
    return new TesseraError('IO_FAILED', `${path}: expected keys of pseudonyms, got ${got}`);
}
async function readPage(file, page, path) {
    const bytes = Buffer.alloc(PAGE_BYTES);
    const { bytesRead } = await file.read(bytes, 0, PAGE_BYTES, page * PAGE_BYTES);
    if (bytesRead < PAGE_BYTES) throw invalid(path, `a file that ends in page ${page}`);
    return bytes;
}
/** The place of a digest's slot in a page, or of a free one; -1: neither is there. */ function placeIn(page, digest) {
    let free = -1;
    for(let at = 0; at < PAGE_BYTES; at += SLOT_BYTES){
        const found = page.subarray(at, at + DIGEST_BYTES);
        if (found.equals(digest)) return {
            own: at,
            free
        };
        if (free < 0 && found.equals(FREE.subarray(0, DIGEST_BYTES))) free = at;
    }
    return {
        own: -1,
        free
    };
}
/** For one process, one call at a time. Rejects as the file system does, and with IO_FAILED. */ export class PseudonymKeys {
    path;
    opened;
    constructor(path, opened){
        this.path = path;
        this.opened = opened;
    }
    /** Opens the file, or makes it. A half-made file of a crash goes. */ static async open(path) {
        await mkdir(dirname(path), {
            recursive: true
        });
        await wipeFile(`${path}${PARTIAL}`);
        const file = await open(path, 'r+').catch((thrown)=>{
            if (thrown.code === 'ENOENT') return undefined;
            throw thrown;
        });
        if (file === undefined) {
            return new PseudonymKeys(path, await made(path, 1, randomBytes(SECRET_BYTES)));
        }
        try {
            const header = await readPage(file, 0, path);
            const pages = header.readUInt32LE(PAGES_AT);
            const isOurs = header.subarray(0, MAGIC.length).equals(MAGIC);
            const isWhole = pages > 0 && (pages & pages - 1) === 0 && pages <= PAGES_MAX;
            if (!isOurs || !isWhole) throw invalid(path, 'another file');
            await readPage(file, pages, path);
            const secret = header.subarray(SECRET_AT, SECRET_AT + SECRET_BYTES);
            return new PseudonymKeys(path, {
                file,
                pages,
                secret
            });
        } catch (thrown) {
            await file.close();
            throw thrown;
        }
    }
    /** Per user, in their order; undefined where there is none. */ async find(userIds) {
        const pages = new Map();
        const found = [];
        for (const userId of userIds){
            const { digest, page } = await this.pageOf(userId, pages);
            const { own } = placeIn(page, digest);
            const key = page.subarray(own + DIGEST_BYTES, own + SLOT_BYTES);
            found.push(own < 0 ? undefined : Buffer.from(key));
        }
        return found;
    }
    /** Keys of users who have none, on disk when it resolves; who has one keeps it. */ async add(keys) {
        let changed = new Map();
        for (const [userId, key] of keys){
            for(;;){
                const { digest, page } = await this.pageOf(userId, changed);
                const { own, free } = placeIn(page, digest);
                if (own >= 0) break;
                if (free >= 0) {
                    digest.copy(page, free);
                    key.copy(page, free + DIGEST_BYTES);
                    break;
                }
                await this.write(changed);
                changed = new Map();
                await this.grow();
            }
        }
        await this.write(changed);
    }
    /** No byte of the user's slot is left when it resolves. False: there was none. */ async remove(userId) {
        const { file } = this.opened;
        const { digest, page, number } = await this.pageOf(userId, new Map());
        const { own } = placeIn(page, digest);
        if (own < 0) return false;
        await file.write(FREE, 0, SLOT_BYTES, number * PAGE_BYTES + own);
        await file.datasync();
        return true;
    }
    close() {
        return this.opened.file.close();
    }
    /** @param read pages that have been read, also this one from now on */ async pageOf(userId, read) {
        const { file, pages, secret } = this.opened;
        const hash = createHmac('sha256', secret).update(userId).digest();
        const digest = hash.subarray(0, DIGEST_BYTES);
        const number = 1 + (digest.readUInt32LE() & pages - 1);
        const page = read.get(number) ?? await readPage(file, number, this.path);
        read.set(number, page);
        return {
            digest,
            page,
            number
        };
    }
    async write(pages) {
        const { file } = this.opened;
        if (pages.size === 0) return;
        for (const [number, page] of pages){
            await file.write(page, 0, PAGE_BYTES, number * PAGE_BYTES);
        }
        await file.datasync();
    }
    /** Each page becomes two, in a new file; the bytes of the old one are overwritten behind it. */ async grow() {
        const { file, pages, secret } = this.opened;
        if (pages * 2 > PAGES_MAX) {
            throw new TesseraError('STORE_FULL', `${this.path}: expected at most ${PAGES_MAX} pages`);
        }
        this.opened = await made(this.path, pages * 2, secret, async (number)=>{
            const page = await readPage(file, 1 + (number - 1 & pages - 1), this.path);
            for(let at = 0; at < PAGE_BYTES; at += SLOT_BYTES){
                const isHere = (page.readUInt32LE(at) & pages * 2 - 1) === number - 1;
                if (!isHere) FREE.copy(page, at);
            }
            return page;
        });
        try {
            await overwriteFile(file);
        } finally{
            await file.close();
        }
    }
}
/** A file that is there whole or not at all, with the pages that are given or empty ones. */ async function made(path, pages, secret, pageOf = async ()=>Buffer.alloc(PAGE_BYTES)) {
    const partial = `${path}${PARTIAL}`;
    const file = await open(partial, 'w+', 0o600);
    try {
        await file.write(headerOf({
            pages,
            secret
        }), 0, PAGE_BYTES, 0);
        for(let number = 1; number <= pages; number++){
            await file.write(await pageOf(number), 0, PAGE_BYTES, number * PAGE_BYTES);
        }
        await file.sync();
        await rename(partial, path);
        await FILE_SYSTEM.syncFolder(dirname(path));
        return {
            file,
            pages,
            secret
        };
    } catch (thrown) {
        await file.close();
        await wipeFile(partial);
        throw thrown;
    }
}

//# sourceMappingURL=pseudonym-keys.js.map