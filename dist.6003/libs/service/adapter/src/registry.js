import { TesseraError } from "../../../ops/errors/src/index.js";
import { diskError, FILE_SYSTEM } from "../../../ops/files/src/index.js";
import { BASE_LEASE } from "./domain/adapter-choice.js";
import { BASE, checkName, isDigest } from "./domain/adapter-version.js";
import { placeOf } from "./domain/canary-share.js";
import { bounded, diskBytes, EMPTY_STATE, inState, leavingOrder, predecessorOf, remove, staysLoaded, versionOf } from "./domain/registry-state.js";
import { Reservations } from "./domain/reservations.js";
import { ofBase, shownWaiting, waitingOf, waitsForBase } from "./domain/waiting-versions.js";
import { LoadedAdapters } from "./loaded-adapters.js";
import { DiskReserve } from "./outside/disk-reserve.js";
import { lockFolder } from "./outside/folder-lock.js";
import { RegistryFile } from "./outside/registry-file.js";
import { VersionFolders } from "./outside/version-folders.js";
import { recovered } from "./recovery.js";
/**
 * The versions of adapters: what is on disk, what of it is loaded, and which one a request gets.
 * Every change of it is on disk before it is seen or answered.
 */ export class AdapterRegistry {
    parts;
    folders;
    loaded;
    nowMs;
    disk;
    file;
    space;
    current = EMPTY_STATE;
    /** Of other base models; part of what is kept, and of no change. */ waiting = [];
    serving = new Map();
    changing = Promise.resolve();
    reservations = new Reservations();
    unlock = ()=>undefined;
    constructor(parts){
        this.parts = parts;
        const { folder, disk = FILE_SYSTEM, engine, limits, nowMs = Date.now } = parts;
        this.disk = disk;
        this.nowMs = nowMs;
        this.file = new RegistryFile(folder, disk);
        this.space = new DiskReserve(disk, folder, parts.reserveBytes ?? 0);
        this.folders = new VersionFolders(folder, disk);
        this.loaded = new LoadedAdapters(engine, this.folders, {
            rankMax: limits.rankMax,
            normMax: limits.normMax
        }, parts.tokenizer, (digest)=>this.isWanted(digest), ()=>this.expendable());
    }
    /**
   * Finds what was acknowledged, takes away what was not, and loads what serves. A version that
   * serves and cannot be loaded gives its place to the one before it. Rejects with STORE_INVALID,
   * ADAPTER_CORRUPT, ADAPTER_ARENA_FULL, STORE_FULL or IO_FAILED.
   */ static async open(parts) {
        checkName(parts.defaultName);
        const registry = new AdapterRegistry(parts);
        try {
            await registry.disk.makeFolder(parts.folder);
            registry.unlock = lockFolder(parts.folder, 'adapters.path');
            await registry.recover();
            return registry;
        } catch (thrown) {
            await registry.close();
            throw diskError(thrown, `adapters.path: ${parts.folder}`);
        }
    }
    get state() {
        return this.current;
    }
    get defaultName() {
        return this.parts.defaultName;
    }
    choose(wanted, userKey) {
        if (wanted === BASE) return BASE_LEASE;
        if (isDigest(wanted)) return this.leaseOf(this.byDigest(wanted), 'named', '');
        const name = wanted === '' ? this.parts.defaultName : wanted;
        const serving = this.serving.get(name);
        if (serving === undefined) return this.nothingServes(wanted);
        const { canary, active } = serving;
        if (canary !== undefined && placeOf(name, userKey) < canary.share) {
            return this.leaseOf(canary, 'canary', name);
        }
        if (active === undefined) return {
            ...BASE_LEASE,
            name
        };
        return this.leaseOf(active, 'active', name);
    }
    /** @throws TesseraError ADAPTER_NOT_FOUND, ADAPTER_INVALID */ find(name, digest) {
        const waits = this.findWaiting(name, digest);
        if (waits !== undefined) throw waitsForBase(waits, this.parts.engine.model.digest);
        return versionOf(this.current, name, digest);
    }
    /** Of another base model; undefined where the served one has one of that name and digest. */ findWaiting(name, digest) {
        return waitingOf(this.current, this.waiting, name, digest);
    }
    /** Forgets one that waits, and its files. */ async removeWaiting(version) {
        try {
            await this.change((state)=>{
                this.waiting = this.waiting.filter((other)=>other !== version);
                return {
                    ...state
                };
            });
        } catch (thrown) {
            this.waiting = [
                ...this.waiting,
                version
            ];
            throw thrown;
        }
    }
    active(name) {
        return this.serving.get(name)?.active;
    }
    canary(name) {
        return this.serving.get(name)?.canary;
    }
    /** Names that a canary serves. */ canaries() {
        return [
            ...this.serving.values()
        ].flatMap(({ canary })=>canary ? [
                canary
            ] : []);
    }
    list(name = '') {
        const waiting = this.waiting.map(shownWaiting);
        return [
            ...this.current.versions,
            ...waiting
        ].filter((version)=>name === '' || version.name === name).sort((a, b)=>a.name < b.name ? -1 : a.name > b.name ? 1 : b.receivedMs - a.receivedMs).map((version)=>this.described(version));
    }
    described(version) {
        return {
            ...version,
            isLoaded: this.loaded.has(version.digest),
            arenaBytes: this.loaded.bytesOf(version.digest),
            isPredecessor: predecessorOf(this.current, version.name)?.digest === version.digest
        };
    }
    diskUse() {
        const usedBytes = this.bytesOf(this.current) + this.reservations.bytes;
        return {
            usedBytes,
            maxBytes: this.parts.limits.diskBytesMax
        };
    }
    /**
   * The next state, one change after another: on disk first, then seen, then files that nobody
   * knows any more are taken away. `prepare` is done in its turn, before. Rejects with what
   * `change` or `prepare` do, STORE_FULL or IO_FAILED, and then nothing has changed.
   */ change(change, prepare = async ()=>undefined) {
        const changed = this.changing.then(async ()=>{
            await prepare();
            const before = this.digestsOnDisk();
            const next = bounded(change(this.current));
            if (next !== this.current) await this.space.watched(()=>this.write(next));
            this.show(next);
            const known = this.digestsOnDisk();
            for (const digest of before)if (!known.has(digest)) await this.folders.remove(digest);
            return next;
        });
        this.changing = changed.catch(()=>undefined);
        return changed;
    }
    /**
   * Room on disk for the files of a push, where old versions may leave for it.
   * @returns what gives it back
   * @throws TesseraError STORE_FULL where all that is there must stay
   */ async reserve(bytes) {
        await this.space.watched(()=>this.space.check(bytes));
        let giveBack = ()=>undefined;
        const changed = this.change((state)=>{
            const next = this.withRoom(state, bytes);
            giveBack = this.reservations.add(bytes);
            return next;
        });
        await changed.catch((thrown)=>{
            giveBack();
            throw thrown;
        });
        return giveBack;
    }
    /** The files of a push under their digest; where another name has them already, those stay. */ async keepFiles(staged, digest) {
        if (this.digestsOnDisk().has(digest)) await staged.finish();
        else await this.folders.keep(staged, digest);
    }
    /** As of the last write or look. */ condition() {
        return this.space.condition();
    }
    /** Looks whether the disk takes versions. */ lookAtDisk() {
        return this.space.look();
    }
    async close() {
        await this.changing;
        this.unlock();
    }
    /** The state without the versions that leave so that as many bytes more have room. */ withRoom(state, bytes) {
        const { diskBytesMax } = this.parts.limits;
        const leaving = leavingOrder(state).filter(({ digest })=>!this.loaded.isBusy(digest));
        const room = (its)=>diskBytesMax - this.bytesOf(its) - this.reservations.bytes;
        let next = state;
        for (const version of leaving){
            if (room(next) >= bytes) break;
            next = remove(next, version);
        }
        if (room(next) >= bytes) return next;
        const message = `adapters.diskBytes: expected room for ${bytes} bytes beside the versions that stay, ` + `got ${Math.max(0, room(next))}`;
        throw new TesseraError('STORE_FULL', message, {
            field: 'adapters.diskBytes'
        });
    }
    whole({ versions }) {
        return {
            versions: [
                ...versions,
                ...this.waiting
            ]
        };
    }
    bytesOf(state) {
        return diskBytes(this.whole(state));
    }
    write(state) {
        return this.file.write(this.whole(state));
    }
    digestsOnDisk() {
        const kept = this.whole(this.current).versions.filter(({ state })=>state !== 'rejected');
        return new Set(kept.map(({ digest })=>digest));
    }
    async recover() {
        const found = await this.file.read();
        if (found === undefined) this.file.checkNew(await this.folders.digests());
        const { digest: baseModel } = this.parts.engine.model;
        const { state: kept, waiting } = ofBase(found?.state ?? EMPTY_STATE, baseModel);
        this.waiting = waiting;
        // A folder without a state is damage from here on. A full disk keeps nobody from serving.
        if (found?.isStale !== false) {
            await this.space.watched(()=>this.write(kept)).catch(()=>undefined);
        }
        this.show(kept);
        await this.folders.clean(this.digestsOnDisk());
        const { state, lost, held } = await recovered(kept, {
            loaded: this.loaded,
            nowMs: this.nowMs()
        });
        await this.change(()=>state);
        for (const one of held)one.release();
        for (const { version, error } of lost)this.parts.onLost?.(version, error);
        for (const version of waiting)this.parts.onWaiting?.(version);
    }
    show(state) {
        this.current = state;
        const names = new Set(state.versions.map(({ name })=>name));
        this.serving = new Map([
            ...names
        ].map((name)=>[
                name,
                {
                    canary: inState(state, name, 'canary'),
                    active: inState(state, name, 'active')
                }
            ]));
        this.declareSuccessors();
        this.loaded.settle();
    }
    /** A canary follows the active version, which follows what a rollback would go back to. */ declareSuccessors() {
        for (const [name, { canary, active }] of this.serving){
            if (active === undefined) continue;
            const before = predecessorOf(this.current, name);
            if (before !== undefined) this.loaded.succeed(active.digest, before.digest);
            if (canary !== undefined) this.loaded.succeed(canary.digest, active.digest);
        }
    }
    isWanted(digest) {
        const { versions } = this.current;
        return versions.some((version)=>version.digest === digest && staysLoaded(this.current, version));
    }
    /** Retired versions can be loaded again for a rollback; the longest retired goes first. */ expendable() {
        const isServing = (digest)=>this.current.versions.some((version)=>version.digest === digest && (version.state === 'active' || version.state === 'canary' || version.isPinned));
        return this.current.versions.filter(({ digest, state })=>state === 'retired' && !isServing(digest)).sort((a, b)=>a.changedMs - b.changedMs).map(({ digest })=>digest);
    }
    byDigest(digest) {
        const found = this.current.versions.find((version)=>version.digest === digest);
        if (found !== undefined) return found;
        const message = `adapter: there is no version '${digest}'`;
        throw new TesseraError('ADAPTER_NOT_FOUND', message, {
            field: 'adapter'
        });
    }
    leaseOf(version, arm, name) {
        const held = staysLoaded(this.current, version) ? this.loaded.hold(version) : undefined;
        if (held !== undefined) {
            return {
                adapter: held.served,
                arm,
                name,
                release: held.release
            };
        }
        const message = 'adapter: expected a version that serves, is pinned or is gone back to by a rollback, ' + `got ${version.digest.slice(0, 16)}, which is ${version.state}`;
        throw new TesseraError('ADAPTER_STATE', message, {
            field: 'adapter'
        });
    }
    nothingServes(wanted) {
        if (wanted === '' || wanted === this.parts.defaultName) {
            return {
                ...BASE_LEASE,
                name: this.parts.defaultName
            };
        }
        const message = `adapter: there is none of the name '${wanted.slice(0, 80)}'`;
        throw new TesseraError('ADAPTER_NOT_FOUND', message, {
            field: 'adapter'
        });
    }
}

//# sourceMappingURL=registry.js.map