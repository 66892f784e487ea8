import { mkdir, open, readdir, rename, rm, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { TesseraError } from "../../errors/src/index.js";
import { readRegular } from "./regular-file.js";
/** Of a file that holds the state of a store. */ const STATE_BYTES_MAX = 256 << 20;
async function syncFolder(path) {
    const folder = await open(path, 'r');
    try {
        await folder.sync();
    } finally{
        await folder.close();
    }
}
function orNothing(nothing) {
    return (error)=>{
        if (error.code === 'ENOENT') return nothing;
        throw error;
    };
}
export const FILE_SYSTEM = {
    async makeFolder (path) {
        await mkdir(path, {
            recursive: true
        });
    },
    async create (path) {
        const file = await open(path, 'w');
        return {
            write: async (bytes)=>{
                await file.writeFile(bytes);
            },
            sync: ()=>file.sync(),
            close: ()=>file.close()
        };
    },
    async rename (from, to) {
        await rename(from, to);
        await syncFolder(dirname(to));
    },
    syncFolder,
    remove: (path)=>rm(path, {
            recursive: true,
            force: true
        }),
    list: (path)=>readdir(path).catch(orNothing([])),
    read: (path)=>readRegular(path, STATE_BYTES_MAX).catch(orNothing(undefined)),
    async freeBytes (path) {
        const { bavail, bsize } = await statfs(path);
        return bavail * bsize;
    }
};
/**
 * Writes a file as a whole: a crash leaves the old one or the new one. Resolves when it is durable;
 * rejects with STORE_FULL or IO_FAILED, and `what` could not be kept.
 */ export async function replaceFile(disk, path, text, what) {
    const partial = `${path}.partial`;
    try {
        const file = await disk.create(partial);
        try {
            await file.write(Buffer.from(text));
            await file.sync();
        } finally{
            await file.close();
        }
        await disk.rename(partial, path);
    } catch (thrown) {
        throw diskError(thrown, `${what} could not be kept`);
    }
}
const FULL = new Set([
    'ENOSPC',
    'EDQUOT'
]);
/** A failure of the file system in the words of the error table: STORE_FULL or IO_FAILED. */ export function diskError(thrown, what) {
    if (thrown instanceof TesseraError) return thrown;
    const { code, message } = thrown;
    const cause = {
        cause: thrown
    };
    return new TesseraError(FULL.has(code) ? 'STORE_FULL' : 'IO_FAILED', `${what}: ${message}`, cause);
}

//# sourceMappingURL=disk.js.map