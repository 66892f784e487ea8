import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { TesseraError } from "../../../ops/errors/src/index.js";
import { FILE_SYSTEM, replaceFile, wipeFile } from "../../../ops/files/src/index.js";
import { NO_OFFSET } from "../../log/src/index.js";
import { CONTINUE } from "./domain/history.js";
import { entriesOf } from "./entries-of.js";
import { fetchedSnapshot } from "./snapshots-there.js";
import { fetchNothing, placeFetched } from "./state-files.js";
/** Beside the changes: which log they follow. */ export const STANDING_FILE = 'cluster-log.json';
export const ERASE_FILE = 'erase-first.json';
/** Beside the folder of the changes, which is moved as a whole. */ const PLACING_SUFFIX = '.placing.json';
const RETRY_MS = 500;
/** Names this process while it has yet to follow the log. */ const JOINING = randomUUID();
/**
 * Which log the state of a node follows, before anything of the state is opened. Each step may be
 * repeated: a state is fetched as a whole, then noted, then moved in by steps that see for
 * themselves what is done.
 */ export class Standing {
    parts;
    identity;
    isFounder;
    constructor(parts, identity, /** True if the log is empty, and begins with the state of this node. */ isFounder){
        this.parts = parts;
        this.identity = identity;
        this.isFounder = isFounder;
    }
    /**
   * Waits for the log, and gives the node a state that entries can go on from: its own, that of a
   * snapshot, or none. A state that the log does not know is put aside, and the log of the process
   * says where. Rejects with LOG_DIFFERENT where the node has followed another log, or this one has
   * lost entries.
   */ static async take(parts, wanted) {
        const { life, log } = parts;
        await finishPlacing(parts);
        const followed = await read(parts);
        for(;;){
            life.to('away');
            const bounds = await untilThere(parts, ()=>log.bounds());
            if (followed !== undefined) checkSame(parts, followed, bounds);
            await untilThere(parts, ()=>checkNotLost(parts, bounds));
            const hasEntries = await untilThere(parts, ()=>hasAny(log, bounds));
            const isFounder = !hasEntries && (bounds.anew?.founder ?? parts.node) === parts.node;
            if (hasEntries || isFounder) return Standing.at(parts, wanted, followed, bounds, isFounder);
            // Another node is to begin it.
            await sleep(RETRY_MS);
        }
    }
    static async at(parts, { isAnew, offset }, followed, bounds, isFounder) {
        const { log } = parts;
        const identity = bounds.identity || await untilThere(parts, ()=>log.begin(randomUUID()));
        const isOwn = followed?.log === identity && !followed.isDifferent && !isAnew;
        if (!isOwn && !isFounder) await untilThere(parts, ()=>fetched(parts, offset));
        const standing = new Standing(parts, identity, isFounder);
        if (!isOwn) await standing.write({
            log: identity,
            isDifferent: false
        });
        return standing;
    }
    /** At its next start the node begins with the state that the log says. */ giveUp() {
        return this.write({
            log: this.identity,
            isDifferent: true
        });
    }
    /** Users that a snapshot says are erased, and that the node's disks may still have. */ async erasedBefore() {
        const bytes = await readInto(this.parts, ERASE_FILE);
        return bytes === undefined ? [] : JSON.parse(bytes.toString());
    }
    /** They are erased here: their names go from the bytes. */ async haveErased() {
        await wipeFile(join(this.parts.folders[0].path, ERASE_FILE));
    }
    write(followed) {
        return writeInto(this.parts, STANDING_FILE, followed);
    }
}
async function writeInto({ folders }, name, content) {
    const [{ path }] = folders;
    await mkdir(path, {
        recursive: true
    });
    await replaceFile(FILE_SYSTEM, join(path, name), `${JSON.stringify(content)}\n`, name);
}
/** Undefined: there is no such file. */ function readInto({ folders }, name) {
    return FILE_SYSTEM.read(join(folders[0].path, name));
}
async function read(parts) {
    const path = join(parts.folders[0].path, STANDING_FILE);
    const bytes = await readInto(parts, STANDING_FILE);
    if (bytes === undefined) return undefined;
    try {
        const { log, isDifferent } = JSON.parse(bytes.toString());
        if (typeof log === 'string') return {
            log,
            isDifferent: isDifferent === true
        };
    } catch  {
    // As a file of another program.
    }
    const message = `${path}: expected which log is followed, got other text`;
    throw new TesseraError('STORE_CORRUPT', message);
}
/** The identity of the log, once somebody has begun it. */ export async function untilBegun(log, nodeLog) {
    for(;;){
        const { identity } = await untilThere({
            nodeLog
        }, ()=>log.bounds());
        if (identity !== '') return identity;
        await sleep(RETRY_MS);
    }
}
/** Nothing of this node is open yet: it waits for the log and its store. */ export async function untilThere({ nodeLog }, act) {
    for(let attempt = 0;; attempt += 1){
        try {
            return await act();
        } catch (thrown) {
            const error = TesseraError.from(thrown);
            if (error.code !== 'STORE_UNAVAILABLE') throw error;
            if (attempt === 0) nodeLog.warn({
                err: error
            }, 'waiting for the cluster log');
            await sleep(RETRY_MS);
        }
    }
}
/** @throws TesseraError LOG_DIFFERENT naming the choices */ function checkSame({ log, folders }, followed, { identity, anew }) {
    if (identity === followed.log || anew?.continues.includes(followed.log)) return;
    const got = identity === '' ? 'a log that nobody has begun' : `log ${identity}`;
    const path = join(folders[0].path, STANDING_FILE);
    const message = `${log.place}: expected log ${followed.log}, which this node follows, got ${got}. ` + `Restore it, name the right one (cluster.log, cluster.name), or ` + `go on with the state of a node by: ` + `${CONTINUE}; to take what this log says instead, remove ${path}`;
    throw new TesseraError('LOG_DIFFERENT', message);
}
/** The log still has all that nodes have published. @throws TesseraError LOG_DIFFERENT */ async function checkNotLost({ log, reached }, bounds) {
    const { identity, end, anew } = bounds;
    const newest = await reached.newest(identity);
    if (newest === undefined || anew?.continues.includes(newest.log)) return;
    if (newest.log === identity && newest.offset <= end) return;
    const got = identity === '' ? 'a log that nobody has begun' : `entries up to ${end}`;
    const message = `${log.place}: expected log ${newest.log} with entries up to ${newest.offset}, which nodes ` + `have published, got ${got}. Restore it, or go on with the state of a node by: ${CONTINUE}`;
    throw new TesseraError('LOG_DIFFERENT', message);
}
async function hasAny(log, { first, end }) {
    if (end === NO_OFFSET) return false;
    for await (const _ of entriesOf(log, first, end))return true;
    return first > NO_OFFSET + 1;
}
/** The state of the newest snapshot that is whole, or none where all entries are there. */ async function fetched(parts, offset) {
    const { log, store, folders, life, nodeLog } = parts;
    life.to('fetching');
    const bounds = await log.bounds();
    const manifest = await fetchedSnapshot({
        log,
        store,
        folders,
        nodeLog
    }, bounds, offset);
    if (manifest === undefined) await refuseHole(parts, bounds, offset);
    if (manifest === undefined) await fetchNothing(folders);
    await note(parts, manifest);
    await finishPlacing(parts);
}
/** Rejects where a snapshot is needed, and may be made: the others are told that it is wanted. */ async function refuseHole({ log, node, nodeLog }, { first, end }, offset) {
    if (first === NO_OFFSET + 1 && offset === NO_OFFSET) return;
    // Every snapshot that the log names is older, or cannot be used.
    const wanted = {
        node,
        process: JOINING,
        offset: end - 1,
        chain: '',
        erased: end
    };
    await log.say({
        ...wanted,
        digest: '',
        needsSnapshot: true
    }).catch((thrown)=>{
        nodeLog.warn({
            err: thrown
        }, 'cannot ask for a snapshot');
    });
    const got = `entries from ${first} on and none`;
    const message = `${log.place}: expected a snapshot with entry ${Math.max(first - 1, offset)}`;
    throw new TesseraError('STORE_UNAVAILABLE', `${message}, got ${got}: waiting for a node's`);
}
function placingPath({ folders }) {
    return `${folders[0].path}${PLACING_SUFFIX}`;
}
/** From here on the state that was fetched is the node's. */ async function note(parts, manifest) {
    const placing = {
        files: manifest?.files ?? [],
        erased: manifest?.erased ?? [],
        offset: manifest?.offset ?? NO_OFFSET
    };
    const path = placingPath(parts);
    await replaceFile(FILE_SYSTEM, path, JSON.stringify(placing), 'state of a snapshot');
}
/** Moves in what was fetched, if anything was, also by an earlier process. */ async function finishPlacing(parts) {
    const { folders, nodeLog } = parts;
    const path = placingPath(parts);
    const bytes = await FILE_SYSTEM.read(path);
    if (bytes === undefined) return;
    const placing = JSON.parse(bytes.toString());
    const aside = await placeFetched(folders, placing);
    if (aside.length > 0) nodeLog.warn({
        aside
    }, 'state put aside: it does not follow the log');
    if (placing.erased.length > 0) await writeInto(parts, ERASE_FILE, placing.erased);
    await wipeFile(path);
    const { offset } = placing;
    if (offset > NO_OFFSET) nodeLog.info({
        offset
    }, 'state taken from a snapshot of the cluster log');
}

//# sourceMappingURL=standing.js.map