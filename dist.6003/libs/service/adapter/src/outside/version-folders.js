import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import { expecting } from "../../../../ops/errors/src/index.js";
import { diskError } from "../../../../ops/files/src/index.js";
import { hashOf } from "./regular-file.js";
const corrupt = expecting('ADAPTER_CORRUPT');
const STAGING = 'staging';
const VERSIONS = 'versions';
/**
 * Files of versions: `versions/DIGEST/`, never written once they have that name. A pushed
 * version lies in `staging/` until it is whole.
 */ export class VersionFolders {
    folder;
    disk;
    constructor(folder, disk){
        this.folder = folder;
        this.disk = disk;
    }
    pathOf(digest) {
        return join(this.folder, VERSIONS, digest);
    }
    /** Digests of the versions that lie there. */ async digests() {
        return this.disk.list(join(this.folder, VERSIONS));
    }
    /** Takes away what a crash has left: half of a push, and versions that nobody knows. */ async clean(known) {
        await this.disk.remove(join(this.folder, STAGING));
        await this.disk.makeFolder(join(this.folder, VERSIONS));
        for (const digest of (await this.digests())){
            if (!known.has(digest)) await this.disk.remove(this.pathOf(digest));
        }
    }
    /** A place for the files of a push. Rejects with STORE_FULL or IO_FAILED. */ async stage(files) {
        const path = join(this.folder, STAGING, randomUUID());
        try {
            await this.disk.makeFolder(path);
        } catch (thrown) {
            throw diskError(thrown, 'the push could not be kept');
        }
        return new StagedVersion(path, files, this.disk);
    }
    /** The whole version under its name. */ async keep(staged, digest) {
        try {
            await staged.finish();
            // Files that a crash left under the name were never acknowledged.
            await this.disk.remove(this.pathOf(digest));
            await this.disk.rename(staged.path, this.pathOf(digest));
        } catch (thrown) {
            throw diskError(thrown, 'the push could not be kept');
        }
    }
    async remove(digest) {
        await this.disk.remove(this.pathOf(digest));
    }
    /** @throws TesseraError ADAPTER_CORRUPT or ADAPTER_NOT_FOUND: not what was pushed any more */ async verify(digest, files) {
        for (const { name, bytes, sha256 } of files){
            const path = join(this.pathOf(digest), name);
            const found = await hashOf(path);
            if (found.bytes !== bytes) throw corrupt(name, `${bytes} bytes`, `${found.bytes}`);
            if (found.sha256 !== sha256) throw corrupt(name, `SHA-256 ${sha256}`, found.sha256);
        }
    }
}
/** Files of a push as their bytes come in, one file after another. */ export class StagedVersion {
    path;
    files;
    disk;
    index = 0;
    written = 0;
    hash = createHash('sha256');
    file;
    constructor(path, files, disk){
        this.path = path;
        this.files = files;
        this.disk = disk;
    }
    /** Rejects with ADAPTER_CORRUPT for bytes that are too many or not those announced. */ async write(bytes) {
        let rest = bytes;
        while(rest.length > 0){
            const file = this.files[this.index];
            if (file === undefined) throw corrupt('files', 'no more bytes', `${rest.length} more`);
            const part = rest.subarray(0, file.bytes - this.written);
            await this.append(file, part);
            rest = rest.subarray(part.length);
        }
    }
    /** Rejects with ADAPTER_CORRUPT where bytes are missing. */ async finish() {
        const file = this.files[this.index];
        if (file !== undefined) {
            throw corrupt(file.name, `${file.bytes} bytes`, `${this.written} and then the end`);
        }
        await this.disk.syncFolder(this.path);
    }
    async discard() {
        await this.file?.close().catch(()=>undefined);
        this.file = undefined;
        await this.disk.remove(this.path);
    }
    async append(file, part) {
        try {
            this.file ??= await this.disk.create(join(this.path, file.name));
            await this.file.write(part);
            this.hash.update(part);
            this.written += part.length;
            if (this.written < file.bytes) return;
            await this.file.sync();
            await this.file.close();
        } catch (thrown) {
            throw diskError(thrown, `${file.name} could not be kept`);
        }
        this.file = undefined;
        const found = this.hash.digest('hex');
        if (found !== file.sha256) throw corrupt(file.name, `SHA-256 ${file.sha256}`, found);
        this.index += 1;
        this.written = 0;
        this.hash = createHash('sha256');
    }
}

//# sourceMappingURL=version-folders.js.map