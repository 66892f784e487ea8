import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { copyFile, link, mkdir, readdir, rename, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { TesseraError } from "../../../../ops/errors/src/index.js";
/** Copies, and what queries write; emptied when the store is opened. */ const QUERIES_FOLDER = 'queries';
/** Bytes that a copy must leave free on the disk. */ const RESERVED_BYTES = 64 * 2 ** 20;
/** A folder for one query that reads no copy. */ export async function queryFolder(store) {
    const folder = join(store, QUERIES_FOLDER, randomUUID());
    await mkdir(folder, {
        recursive: true
    });
    return folder;
}
/**
 * Copies of a database that is being written. Between two checkpoints the database's file stays as
 * it is and commits go to its log alone, so a copy of the file is good until the next checkpoint
 * and a snapshot is one more name of that copy beside a copy of the log. Writing goes on while the
 * file is copied. Another process copies it: one that closes a file gives up the locks that it
 * holds on it (POSIX), and the database's lock keeps a second writer out.
 */ export class Snapshots {
    parts;
    isCopying = false;
    /** Checkpoints, and batches that may lie beside the log. */ generation = 0;
    copy;
    copying;
    constructor(parts){
        this.parts = parts;
    }
    /** The copy that is there is of an older database. */ outdate() {
        this.generation += 1;
        const { copy } = this;
        this.copy = undefined;
        if (copy !== undefined) rm(copy.path, {
            force: true
        }).catch(()=>undefined);
    }
    /** Of an earlier process, whatever it left. */ async clear() {
        const folder = this.queriesFolder;
        await mkdir(folder, {
            recursive: true
        });
        for (const left of (await readdir(folder))){
            await rm(join(folder, left), {
                recursive: true,
                force: true
            });
        }
    }
    /** Rejects with STORE_FULL where the disk has no room, and with IO_FAILED. */ async take() {
        for(;;){
            await this.refreshed();
            const path = await this.parts.inTurn(()=>this.named());
            if (path !== undefined) return path;
        }
    }
    /** Undefined: the copy has become old meanwhile. */ async named() {
        const { copy } = this;
        if (copy === undefined || copy.generation !== this.generation) return undefined;
        const folder = await queryFolder(this.parts.folder);
        const path = join(folder, this.parts.databaseFile);
        await link(copy.path, path);
        const log = `${this.databasePath}.wal`;
        await copyFile(log, `${path}.wal`).catch((thrown)=>{
            // All of it is in the database.
            if (thrown.code !== 'ENOENT') throw thrown;
        });
        return path;
    }
    /** Makes a copy where there is none; those who come meanwhile wait for the same one. */ refreshed() {
        if (this.copy !== undefined) return Promise.resolve();
        this.copying ??= this.copied().finally(()=>{
            this.copying = undefined;
        });
        return this.copying;
    }
    async copied() {
        this.isCopying = true;
        try {
            const { generation } = this;
            const path = join(this.queriesFolder, `copy-${generation}-${randomUUID()}`);
            await this.checkRoom();
            await copyByProcess(this.databasePath, `${path}.part`);
            await rename(`${path}.part`, path);
            if (generation === this.generation) this.copy = {
                generation,
                path
            };
            else await rm(path, {
                force: true
            });
        } finally{
            this.isCopying = false;
        }
    }
    async checkRoom() {
        const { size } = await stat(this.databasePath);
        const { bavail, bsize } = await statfs(this.queriesFolder);
        if (bavail * bsize >= size + RESERVED_BYTES) return;
        const message = `inspection.path: expected ${size + RESERVED_BYTES} bytes free on the disk for a copy that ` + `queries read, got ${bavail * bsize}`;
        throw new TesseraError('STORE_FULL', message, {
            field: 'inspection.path'
        });
    }
    get queriesFolder() {
        return join(this.parts.folder, QUERIES_FOLDER);
    }
    get databasePath() {
        return join(this.parts.folder, this.parts.databaseFile);
    }
}
/** Shares the bytes where the file system can. */ function copyByProcess(from, to) {
    return new Promise((resolve, reject)=>{
        const child = spawn('cp', [
            '--reflink=auto',
            from,
            to
        ], {
            stdio: [
                'ignore',
                'ignore',
                'pipe'
            ]
        });
        let complaint = '';
        child.stderr.on('data', (chunk)=>{
            complaint += chunk.toString().slice(0, 1000);
        });
        child.once('error', reject);
        child.once('close', (code)=>{
            if (code === 0) resolve();
            else reject(new TesseraError('IO_FAILED', `inspection.path: cp failed: ${complaint.trim()}`));
        });
    });
}

//# sourceMappingURL=snapshots.js.map