import { rm } from "node:fs/promises";
import { TesseraError } from "../../../ops/errors/src/index.js";
import { bodyOf, NO_OFFSET } from "../../log/src/index.js";
import { ERASE } from "./domain/erasure.js";
import { KEYS_KEPT } from "./domain/key-window.js";
import { erasedUserOf, fileName, filesOf, manifestName, manifestsOf, manifestText, parsedManifest } from "./domain/manifest.js";
import { entriesOf } from "./entries-of.js";
import { SNAPSHOT } from "./snapshots-there.js";
import { copyState, uploadState } from "./state-files.js";
const LOOK_MS = 5000;
/** Snapshots that a node can begin with: where one is damaged, there is the one before. */ const SNAPSHOTS_KEPT = 2;
/** Makes snapshots of the state for nodes that come later, and lets the entries before them go. */ export class Snapshots {
    parts;
    timer;
    making;
    /** Shared files that no entry named when it was looked last. */ unnamed = new Set();
    constructor(parts){
        this.parts = parts;
    }
    start() {
        this.timer = setInterval(()=>{
            this.making ??= this.makeWhereDue().catch((thrown)=>this.parts.nodeLog.warn({
                    err: thrown
                }, 'no snapshot made')).finally(()=>{
                this.making = undefined;
            });
        }, LOOK_MS);
        this.timer.unref();
    }
    async close() {
        clearInterval(this.timer);
        await this.making;
    }
    /** Resolves with the name of the snapshot: in the store, and not in the log yet. */ async put() {
        const { store, folders, follower, scratch, compact, settle } = this.parts;
        await compact();
        const position = await follower.between(async (at)=>{
            await settle();
            await copyState(folders, scratch);
            return at;
        });
        try {
            const files = await uploadState(store, folders, scratch, position.log);
            const name = manifestName(position);
            const manifest = await this.manifestOf(position, files);
            await store.put(name, Buffer.from(manifestText(manifest)));
            return {
                name,
                offset: position.offset
            };
        } finally{
            await rm(scratch, {
                recursive: true,
                force: true
            });
        }
    }
    /** The node with the smallest name among those with the full state makes snapshots. */ async makeWhereDue() {
        const { log, node, isCurrent, submissions, leaseMs, nodeLog } = this.parts;
        if (!isCurrent()) return;
        const said = (await log.positions()).filter(({ ageMs })=>ageMs < leaseMs);
        const whole = said.filter(({ digest, needsSnapshot })=>digest !== '' && !needsSnapshot);
        if (whole.some((one)=>one.node < node)) return;
        const wanted = said.filter(({ needsSnapshot })=>needsSnapshot);
        if (!await this.isDue(wanted.map(({ offset })=>offset))) return;
        const { name, offset } = await this.put();
        const body = {
            snapshot: name,
            offset
        };
        await submissions.submit({
            kind: SNAPSHOT,
            body
        }, {
            key: name,
            waitFor: 'applied-here'
        });
        await this.clean();
        nodeLog.info({
            offset
        }, 'snapshot of the cluster log made');
    }
    /** @param wanted offsets that nodes cannot go on from */ async isDue(wanted) {
        const { log, follower, everyEntries, newestOffset } = this.parts;
        const newest = newestOffset();
        if (follower.offset - newest >= everyEntries) return true;
        // Entries that are gone are in a snapshot, or no node can begin.
        const isHole = (await log.bounds()).first > Math.max(newest, NO_OFFSET) + 1;
        const isWanted = isHole || wanted.some((offset)=>offset >= newest);
        return isWanted && follower.offset > newest;
    }
    async manifestOf({ log: identity, offset, chain }, files) {
        const { keepMs } = this.parts;
        const { erased, atMs } = await this.erasedUpTo(offset);
        // By the clock of the log: that of this node may be anywhere.
        const kept = erased.filter((user)=>user.atMs >= atMs - keepMs);
        return {
            log: identity,
            offset,
            chain,
            atMs,
            files,
            erased: kept
        };
    }
    async erasedUpTo(offset) {
        const { log } = this.parts;
        const [before] = await this.manifests();
        const erased = [
            ...before?.manifest.erased ?? []
        ];
        let atMs = before?.manifest.atMs ?? 0;
        const from = Math.max((before?.manifest.offset ?? 0) + 1, (await log.bounds()).first);
        for await (const entry of entriesOf(log, from, offset)){
            atMs = Math.max(atMs, entry.atMs);
            if (entry.kind !== ERASE) continue;
            const user = erasedUserOf(bodyIn(entry), entry.offset, entry.atMs);
            if (user !== undefined) erased.push(user);
        }
        return {
            erased,
            atMs
        };
    }
    /** Those that can be read, the newest first. */ async manifests() {
        const { store, follower, nodeLog } = this.parts;
        const names = await store.list(manifestsOf(follower.parts.history.position.log));
        const found = [];
        for (const name of [
            ...names
        ].sort().reverse()){
            try {
                found.push({
                    name,
                    manifest: parsedManifest(name, await store.get(name))
                });
            } catch (thrown) {
                if (TesseraError.from(thrown).code !== 'STORE_CORRUPT') throw thrown;
                nodeLog.warn({
                    err: thrown
                }, 'a damaged snapshot is passed over and removed');
                await store.remove(name);
            }
        }
        return found;
    }
    /** Removes all that no node needs which begins with one of the snapshots that are kept. */ async clean() {
        const { log, store, follower } = this.parts;
        const { log: identity } = follower.parts.history.position;
        const all = await this.manifests();
        const kept = all.slice(0, SNAPSHOTS_KEPT).map(({ manifest })=>manifest);
        const [newest, oldest] = [
            kept[0],
            kept.at(-1)
        ];
        if (newest === undefined || oldest === undefined) return;
        await this.trim(Math.min(newest.offset - KEYS_KEPT, oldest.offset + 1));
        for (const { name } of all.slice(SNAPSHOTS_KEPT))await store.remove(name);
        const files = kept.flatMap((manifest)=>manifest.files);
        const names = new Set(files.map(({ sha256 })=>fileName(identity, sha256)));
        for (const name of (await store.list(filesOf(identity)))){
            if (!names.has(name)) await store.remove(name);
        }
        await this.cleanShared((await log.bounds()).first);
    }
    /** Entries first: a body without its entry is waste, an entry without its body stops nodes. */ async trim(before) {
        const { log, store } = this.parts;
        const { first } = await log.bounds();
        if (before <= first) return;
        const bodies = [];
        for await (const { stored } of entriesOf(log, first, before - 1)){
            if (stored !== '') bodies.push(stored);
        }
        await log.trim(before);
        for (const name of bodies)await store.remove(name);
    }
    /** Removed where two looks in a row find that no entry names them: one may be on its way. */ async cleanShared(first) {
        const { log, store, sharedFiles } = this.parts;
        const names = new Set(await store.list(sharedFiles.folder));
        for (const name of names)if (sharedFiles.isUsed(name)) names.delete(name);
        for await (const entry of entriesOf(log, first, (await log.bounds()).end)){
            for (const name of names)if (sharedFiles.isNamed(entry, name)) names.delete(name);
        }
        for (const name of names)if (this.unnamed.has(name)) await store.remove(name);
        this.unnamed = names;
    }
}
/** Undefined where it is none: the entry was refused. */ function bodyIn({ text, format }) {
    try {
        return bodyOf(text, format);
    } catch  {
        return undefined;
    }
}

//# sourceMappingURL=snapshots.js.map