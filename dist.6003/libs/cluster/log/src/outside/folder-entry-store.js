import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { access, copyFile, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { TesseraError } from "../../../../ops/errors/src/index.js";
import { FILE_SYSTEM, isThere, readRegular } from "../../../../ops/files/src/index.js";
import { checkEntryName } from "../domain/entry-name.js";
/** Of what is read into memory, in bytes. */ const CONTENT_BYTES_MAX = 2 ** 31 - 1;
/** Where what is not whole yet lies; no entry has such a name. */ const PARTIAL = '.partial';
/** A folder that all nodes see, such as a mount. */ export class FolderEntryStore {
    folder;
    place;
    constructor(folder){
        this.folder = folder;
        this.place = folder;
    }
    put(name, content) {
        return this.write(name, async (partial)=>{
            const file = await open(partial, 'wx');
            try {
                await file.writeFile(content);
                await file.sync();
            } finally{
                await file.close();
            }
        });
    }
    putFile(name, path) {
        return this.write(name, (partial)=>copySynced(path, partial));
    }
    async get(name) {
        return this.act(name, (path)=>readRegular(path, CONTENT_BYTES_MAX));
    }
    async getFile(name, path) {
        await this.act(name, async (source)=>{
            await access(source, constants.R_OK);
            const partial = `${path}.${randomUUID()}`;
            try {
                await copySynced(source, partial);
                await rename(partial, path);
            } finally{
                await rm(partial, {
                    force: true
                });
            }
        });
    }
    async list(prefix) {
        try {
            const found = await readdir(this.folder, {
                recursive: true,
                withFileTypes: true
            });
            return found.filter((entry)=>entry.isFile()).map((entry)=>relative(this.folder, join(entry.parentPath, entry.name))).filter((name)=>name.startsWith(prefix) && !name.startsWith(PARTIAL)).sort();
        } catch (thrown) {
            if (thrown.code === 'ENOENT') return [];
            throw this.fault(thrown);
        }
    }
    async remove(name) {
        await this.act(name, (path)=>rm(path, {
                force: true
            }));
    }
    async write(name, fill) {
        await this.act(name, async (path)=>{
            if (await isThere(path)) return;
            const partial = join(this.folder, PARTIAL, randomUUID());
            await mkdir(dirname(partial), {
                recursive: true
            });
            try {
                await fill(partial);
                await mkdir(dirname(path), {
                    recursive: true
                });
                await FILE_SYSTEM.rename(partial, path);
            } finally{
                await rm(partial, {
                    force: true
                });
            }
        });
    }
    async act(name, act) {
        checkEntryName(this.place, name);
        try {
            return await act(join(this.folder, name));
        } catch (thrown) {
            const { code, path } = thrown;
            const isMissing = code === 'ENOENT' && path === join(this.folder, name);
            // Without its folder nothing is known of the entry: a mount may be away.
            if (!isMissing || !await isThere(this.folder).catch(()=>false)) throw this.fault(thrown);
            const text = `${this.place}: expected ${name}, which is not there`;
            throw new TesseraError('STORE_CORRUPT', text, {
                cause: thrown
            });
        }
    }
    fault(thrown) {
        const { code, message } = thrown;
        const cause = {
            cause: thrown
        };
        const isFull = code === 'ENOSPC' || code === 'EDQUOT';
        const text = `${this.place}: ${message}`;
        return new TesseraError(isFull ? 'STORE_FULL' : 'STORE_UNAVAILABLE', text, cause);
    }
}
async function copySynced(from, to) {
    await copyFile(from, to, constants.COPYFILE_EXCL);
    const file = await open(to, 'r+');
    try {
        await file.sync();
    } finally{
        await file.close();
    }
}

//# sourceMappingURL=folder-entry-store.js.map