import { mkdir, readdir, rm, stat, statfs, utimes } from "node:fs/promises";
import { join } from "node:path";
import { TesseraError } from "../../../../ops/errors/src/index.js";
/** Built snapshots that a cache folder keeps; the least recently used go first. */ export const SNAPSHOTS_MAX = 8;
const SUFFIX = '.snapshot';
/**
 * A folder of built snapshots, each named by the digest of what it was built from. Files appear
 * whole (the builder writes aside and renames), so several processes may share the folder; a mapped
 * file stays readable after another process removed its name.
 */ export class SnapshotCache {
    folder;
    constructor(folder){
        this.folder = folder;
    }
    pathOf(digest) {
        return join(this.folder, `${digest}${SUFFIX}`);
    }
    /** True where the snapshot is there; it counts as used now. */ async has(digest) {
        try {
            const now = new Date();
            await utimes(this.pathOf(digest), now, now);
            return true;
        } catch  {
            return false;
        }
    }
    /** @throws TesseraError IO_FAILED where the folder cannot be made */ async prepare() {
        try {
            await mkdir(this.folder, {
                recursive: true
            });
        } catch (error) {
            const { message } = error;
            throw new TesseraError('IO_FAILED', `catalogue cache: ${message}`, {
                cause: error
            });
        }
    }
    /** @throws TesseraError STORE_FULL where less than the reserve is free */ async checkSpace(reserveBytes) {
        const { bavail, bsize } = await statfs(this.folder);
        if (bavail * bsize >= reserveBytes) return;
        const message = `catalogue cache: ${this.folder}: expected ${reserveBytes} bytes free ` + `(disk.reserveBytes), got ${bavail * bsize}`;
        throw new TesseraError('STORE_FULL', message, {
            field: 'disk.reserveBytes'
        });
    }
    async forget(digest) {
        await rm(this.pathOf(digest), {
            force: true
        });
    }
    /** Removes the least recently used snapshots beyond SNAPSHOTS_MAX. */ async trim() {
        const names = (await readdir(this.folder)).filter((name)=>name.endsWith(SUFFIX));
        const files = await Promise.all(names.map(async (name)=>{
            const path = join(this.folder, name);
            const used = await stat(path).then((found)=>found.mtimeMs, ()=>0);
            return {
                path,
                used
            };
        }));
        files.sort((a, b)=>b.used - a.used);
        await Promise.all(files.slice(SNAPSHOTS_MAX).map(({ path })=>rm(path, {
                force: true
            })));
    }
}

//# sourceMappingURL=snapshot-cache.js.map