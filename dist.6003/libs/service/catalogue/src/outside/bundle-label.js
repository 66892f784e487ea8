import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { TesseraError } from "../../../../ops/errors/src/index.js";
import { readRegular } from "../../../../ops/files/src/index.js";
const LABEL_BYTES_MAX = 4096;
const NAME = 'bundle';
/** Which bundle the items of a catalogue are those of, kept beside its changes. */ export class BundleLabel {
    folder;
    current;
    /** The file says of a step that it may have been taken. */ isStale = false;
    constructor(folder, current){
        this.folder = folder;
        this.current = current;
    }
    /** Ends with the process. */ static unkept(uuid) {
        return new BundleLabel('', uuid);
    }
    /**
   * `folder` '': kept nowhere. `seed` is that of the sources, '' for none.
   * @param sequence the newest version of the changes beside it
   */ static async open(folder, seed, sequence) {
        if (folder === '') return BundleLabel.unkept(seed);
        const kept = await readRegular(join(folder, NAME), LABEL_BYTES_MAX).catch(()=>seed);
        const [uuid = '', intent = ''] = kept.toString().trimEnd().split('\n');
        const [next = '', after] = intent.split(' ');
        // A crash lay between the changes of a step and its label.
        const isThere = intent !== '' && sequence > Number(after);
        return new BundleLabel(folder, isThere ? next : uuid);
    }
    get uuid() {
        return this.current;
    }
    /**
   * The items become those of a bundle by changes behind version `after`; nobody else writes.
   * Rejects as `apply` does, and with IO_FAILED.
   */ async becoming(uuid, after, apply) {
        this.isStale = true;
        await this.write(`${this.current}\n${uuid} ${after}\n`);
        try {
            const applied = await apply();
            this.current = uuid;
            return applied;
        } finally{
            await this.settle().catch(()=>undefined);
        }
    }
    /** Before anything else is written to the log of changes. Rejects with IO_FAILED. */ async settle() {
        if (!this.isStale) return;
        await this.write(`${this.current}\n`);
        this.isStale = false;
    }
    async write(text) {
        if (this.folder === '') return;
        const path = join(this.folder, NAME);
        try {
            await writeFile(`${path}.tmp`, text);
            await rename(`${path}.tmp`, path);
        } catch (error) {
            const message = `${path}: ${error.message}`;
            throw new TesseraError('IO_FAILED', message, {
                cause: error
            });
        }
    }
}

//# sourceMappingURL=bundle-label.js.map