import { TesseraError } from "../../../ops/errors/src/index.js";
import { readItemTemplate } from "./outside/ranking-file.js";
/**
 * Versions in the engine's arena, by digest: names that have the same content share one. A
 * version without holders that need not stay is given back at once.
 */ export class LoadedAdapters {
    engine;
    folders;
    limits;
    tokenizer;
    stays;
    expendable;
    loaded = new Map();
    loading = new Map();
    constructor(engine, folders, limits, /** Undefined: no version that ranks is loaded. */ tokenizer, /** True if a version is to stay loaded when nobody holds it. */ stays, /** Digests that may be given back where room is needed, the first one first. */ expendable){
        this.engine = engine;
        this.folders = folders;
        this.limits = limits;
        this.tokenizer = tokenizer;
        this.stays = stays;
        this.expendable = expendable;
    }
    has(digest) {
        return this.loaded.has(digest);
    }
    /** Someone works with it, so that its files must stay. */ isBusy(digest) {
        return this.loading.has(digest) || (this.loaded.get(digest)?.holds ?? 0) > 0;
    }
    bytesOf(digest) {
        return this.loaded.get(digest)?.adapter.bytes ?? 0;
    }
    /** Of a version that is loaded; undefined where it is not. */ hold({ name, digest }) {
        const loaded = this.loaded.get(digest);
        return loaded && this.heldOf(name, loaded);
    }
    /**
   * Rejects with ADAPTER_CORRUPT or ADAPTER_NOT_FOUND where the files are not those that were
   * pushed, and as Engine.loadAdapter does.
   */ async load({ name, digest, files }) {
        const present = this.loaded.get(digest);
        if (present !== undefined) return this.heldOf(name, present);
        let loading = this.loading.get(digest);
        if (loading === undefined) {
            loading = this.loadFrom(digest, files).finally(()=>this.loading.delete(digest));
            this.loading.set(digest, loading);
        }
        return this.heldOf(name, await loading);
    }
    /** Requests with the one may go on with keys and values of the other, where both are loaded. */ succeed(digest, predecessor) {
        const [next, before] = [
            this.loaded.get(digest),
            this.loaded.get(predecessor)
        ];
        if (next === undefined || before === undefined || next === before) return;
        this.engine.succeedAdapter(next.adapter, before.adapter);
    }
    /** Gives back what is to stay no more. */ settle() {
        for (const loaded of [
            ...this.loaded.values()
        ])this.settleOne(loaded);
    }
    async loadFrom(digest, files) {
        await this.folders.verify(digest, files);
        const adapter = await this.loadIntoArena(digest);
        const item = await this.itemOf(digest, adapter).catch((thrown)=>{
            this.engine.releaseAdapter(adapter);
            throw thrown;
        });
        const loaded = {
            digest,
            adapter,
            item,
            holds: 0
        };
        this.loaded.set(digest, loaded);
        return loaded;
    }
    async itemOf(digest, adapter) {
        if (adapter.heads.length === 0) return undefined;
        const { engine, folders, tokenizer } = this;
        if (tokenizer !== undefined) {
            return readItemTemplate(folders.pathOf(digest), adapter, engine.model.digest, tokenizer);
        }
        throw new TesseraError('INTERNAL', 'ranking.json: expected a tokenizer to read it, got none');
    }
    async loadIntoArena(digest) {
        const folder = this.folders.pathOf(digest);
        for(;;){
            try {
                return await this.engine.loadAdapter(folder, this.limits);
            } catch (thrown) {
                const { code, message, field } = TesseraError.from(thrown);
                if (code === 'ADAPTER_ARENA_FULL' && this.makeRoom()) continue;
                // Its files as the trainer knows them, who has never seen this folder.
                const own = message.replaceAll(`${folder}/`, '').replaceAll(`${folder}: `, '');
                throw new TesseraError(code, own, {
                    field,
                    cause: thrown
                });
            }
        }
    }
    /** False where nothing can go. */ makeRoom() {
        const idle = (digest)=>this.loaded.get(digest)?.holds === 0;
        const leaving = this.expendable().find(idle);
        if (leaving === undefined) return false;
        this.release(this.loaded.get(leaving));
        return true;
    }
    heldOf(name, loaded) {
        const { digest, adapter: engine, item } = loaded;
        loaded.holds += 1;
        let isHeld = true;
        const release = ()=>{
            if (!isHeld) return;
            isHeld = false;
            loaded.holds -= 1;
            this.settleOne(loaded);
        };
        return {
            served: {
                name,
                digest,
                engine,
                item
            },
            release
        };
    }
    settleOne(loaded) {
        if (loaded.holds === 0 && !this.stays(loaded.digest)) this.release(loaded);
    }
    release(loaded) {
        if (!this.loaded.delete(loaded.digest)) return;
        this.engine.releaseAdapter(loaded.adapter);
    }
}

//# sourceMappingURL=loaded-adapters.js.map