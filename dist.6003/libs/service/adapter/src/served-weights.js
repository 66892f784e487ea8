import { stat } from "node:fs/promises";
import { join } from "node:path";
import { TesseraError } from "../../../ops/errors/src/index.js";
import { diskError, FILE_SYSTEM } from "../../../ops/files/src/index.js";
import { z } from "zod";
import { checkName } from "./domain/adapter-version.js";
import { DiskReserve } from "./outside/disk-reserve.js";
import { lockFolder } from "./outside/folder-lock.js";
import { KeptState } from "./outside/kept-state.js";
const STATE_FILE = 'weights.json';
const stateSchema = z.strictObject({
    serving: z.string(),
    previous: z.string()
});
/** Which set of weights serves. Kept in a file beside the sets: a restart goes on with it. */ export class ServedWeights {
    parts;
    state = {
        serving: '',
        previous: ''
    };
    /** Undefined: updates are done as they come. */ order;
    /** Updates go one after another. */ last = Promise.resolve();
    disk;
    kept;
    space;
    unlock;
    constructor(parts){
        this.parts = parts;
        const { path, disk = FILE_SYSTEM, reserveBytes = 0 } = parts;
        this.disk = disk;
        this.kept = new KeptState(disk, join(path, STATE_FILE), 'which weights serve');
        this.space = new DiskReserve(disk, path, reserveBytes);
    }
    /**
   * Puts the set in service that served last. Rejects with STORE_INVALID where another process has
   * the folder, MODEL_CORRUPT for a broken file, and as
   * `update` does: going back unasked to weights that somebody has replaced would be worse than not
   * starting.
   */ static async open(parts) {
        const weights = new ServedWeights(parts);
        if (parts.path === '') return weights;
        try {
            if (await isFolder(parts.path)) weights.lock();
            weights.state = await weights.read();
            const { serving } = weights.state;
            if (serving !== '') await parts.engine.updateWeights(weights.folderOf(serving), 0);
            return weights;
        } catch (thrown) {
            await weights.close();
            throw thrown;
        }
    }
    /** Of the disk, as of the last update or look. */ condition() {
        return this.space.condition();
    }
    async lookAtDisk() {
        if (this.unlock !== undefined) await this.space.look();
    }
    /** Gives the folder back. */ async close() {
        await this.last;
        this.unlock?.();
        this.unlock = undefined;
    }
    current() {
        return {
            ...this.state,
            digest: this.parts.engine.model.digest
        };
    }
    /**
   * Rejects with ADAPTER_INVALID for a bad name, ADAPTER_STATE while adapters are loaded, which
   * were made for the weights that serve, and as Engine.updateWeights does: then the old weights
   * serve on.
   */ update(name, how = {}) {
        checkName(name);
        return this.order === undefined ? this.perform(name) : this.order(name, how);
    }
    /** To the set before; a second time, to the one that was left. Rejects as `update` does. */ rollBack(how = {}) {
        const { order } = this;
        if (order === undefined) return this.inTurn(()=>this.swap(this.state.previous));
        return order(this.state.previous, how);
    }
    /** From now on somebody else orders updates, and gives them to perform() in that order. */ orderBy(order) {
        this.order = order;
    }
    /** Does what has its place in the order, here; '' is the model's own set. */ perform(name) {
        return this.inTurn(()=>this.swap(name));
    }
    async swap(name) {
        const { engine, path, waitMaxMs } = this.parts;
        if (path === '') {
            const message = 'weights.path: expected a folder, got none: weights are not updated here';
            throw new TesseraError('ADAPTER_STATE', message);
        }
        const { adapters } = engine.adapterArena();
        if (adapters > 0) {
            const message = `weights: expected no adapter in memory, got ${adapters}: ` + 'they belong to the weights that serve; roll back and unpin them first';
            throw new TesseraError('ADAPTER_STATE', message);
        }
        if (this.unlock !== undefined) await this.space.watched(()=>this.space.check(0));
        const update = await engine.updateWeights(this.folderOf(name), waitMaxMs);
        if (name === this.state.serving) return update;
        const next = {
            serving: name,
            previous: this.state.serving
        };
        try {
            await this.space.watched(()=>this.write(next));
        } catch (error) {
            // An update that cannot be kept is not done: after a restart the old weights would be back.
            await engine.updateWeights(this.folderOf(this.state.serving), waitMaxMs);
            throw error;
        }
        this.state = next;
        return update;
    }
    folderOf(name) {
        return name === '' ? this.parts.modelPath : join(this.parts.path, name);
    }
    inTurn(work) {
        const turn = this.last.then(work, work);
        this.last = turn.catch(()=>undefined);
        return turn;
    }
    lock() {
        this.unlock ??= lockFolder(this.parts.path, 'weights.path');
    }
    async read() {
        try {
            const found = await this.kept.read((members)=>{
                const state = stateSchema.parse(members);
                for (const name of [
                    state.serving,
                    state.previous
                ])if (name !== '') checkName(name);
                return state;
            });
            if (found?.isStale === true) await this.kept.write(found.state).catch(()=>undefined);
            return found?.state ?? {
                serving: '',
                previous: ''
            };
        } catch (cause) {
            if (cause instanceof TesseraError && cause.code !== 'ADAPTER_INVALID') throw cause;
            const reason = cause instanceof Error ? cause.message : String(cause);
            const message = `${this.kept.path}: expected which weights serve, got: ${reason}`;
            throw new TesseraError('MODEL_CORRUPT', message.slice(0, 1000), {
                cause
            });
        }
    }
    async write(state) {
        try {
            await this.disk.makeFolder(this.parts.path);
            this.lock();
        } catch (thrown) {
            throw diskError(thrown, 'which weights serve could not be kept');
        }
        await this.kept.write(state);
    }
}
async function isFolder(path) {
    const found = await stat(path).catch(()=>undefined);
    return found?.isDirectory() === true;
}

//# sourceMappingURL=served-weights.js.map