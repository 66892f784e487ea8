import { open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { FILE_SYSTEM } from "./disk.js";
const PART_BYTES = 1 << 16;
/** Every byte is zero, durably, when it resolves. */ export async function overwriteFile(file) {
    const { size } = await file.stat();
    const zeros = Buffer.alloc(Math.min(size, PART_BYTES));
    for(let at = 0; at < size; at += zeros.length){
        await file.write(zeros, 0, Math.min(zeros.length, size - at), at);
    }
    await file.sync();
}
/**
 * Removes a file whose bytes must not be found again: they are overwritten with zeros, and that
 * is durable, before the name goes. A crash between the two leaves a file of zeros. Nothing where
 * there is no file; rejects as the file system does.
 */ export async function wipeFile(path) {
    const file = await open(path, 'r+').catch((error)=>{
        if (error.code === 'ENOENT') return undefined;
        throw error;
    });
    if (file === undefined) return;
    try {
        await overwriteFile(file);
    } finally{
        await file.close();
    }
    await rm(path, {
        force: true
    });
    await FILE_SYSTEM.syncFolder(dirname(path));
}

//# sourceMappingURL=wipe-file.js.map