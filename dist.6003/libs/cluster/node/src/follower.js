import { setTimeout as sleep } from "node:timers/promises";
import { markOf } from "../../../ops/contracts/src/index.js";
import { TesseraError } from "../../../ops/errors/src/index.js";
import { NO_OFFSET, readEntry } from "../../log/src/index.js";
import { BodyReader } from "./body-reader.js";
import { ERASE, erasedUser } from "./domain/erasure.js";
import { KEYS_KEPT, KeyWindow } from "./domain/key-window.js";
import { withMember } from "./domain/position.js";
import { mayPass } from "./domain/replicated-state.js";
import { COMPARED_EVERY } from "./publication.js";
/** Distance from the end of the log within which a node is ready to serve. */ export const BEHIND_MAX = {
    behindEntries: 1000,
    /** Milliseconds for which a node may be further behind, as after a burst of changes. */ behindMs: 5000
};
/** Faults that reading again does not mend. */ const LASTING = new Set([
    ...[
        'LOG_TRIMMED',
        'LOG_DIFFERENT',
        'LOG_INCOMPLETE',
        'STORE_NEWER'
    ]
]);
const RETRY_MS = 250;
/**
 * Reads the entries of a log and applies them in their order. Owner: Node's main thread; one entry
 * at a time.
 */ export class Follower {
    parts;
    keys = new KeyWindow();
    expected = new Map();
    closing = new AbortController();
    bodies;
    running;
    turn = Promise.resolve();
    away;
    stuck;
    end = 0;
    behindSinceMs;
    caughtUp = ()=>undefined;
    constructor(parts){
        this.parts = parts;
        this.bodies = new BodyReader(parts.log, parts.store);
    }
    get offset() {
        return this.parts.history.position.offset;
    }
    /** Newest entry that there is, as far as is known here. */ get newest() {
        return Math.max(this.end, this.offset);
    }
    /** Resolves when all that the log has at the call is applied. Rejects with a lasting fault. */ async catchUp() {
        const { life } = this.parts;
        const reached = new Promise((resolve)=>{
            this.caughtUp = resolve;
        });
        this.running = this.run();
        await Promise.race([
            reached,
            this.running.then(()=>Promise.reject(life.fault))
        ]);
    }
    /** Resolves with what the entry of the key comes to when it is applied here. */ outcomeOf(key, signal) {
        return new Promise((resolve, reject)=>{
            const waiting = this.expected.get(key) ?? [];
            this.expected.set(key, [
                ...waiting,
                resolve
            ]);
            signal.addEventListener('abort', ()=>{
                const left = this.expected.get(key)?.filter((one)=>one !== resolve) ?? [];
                if (left.length > 0) this.expected.set(key, left);
                else this.expected.delete(key);
                reject(signal.reason);
            });
        });
    }
    /** Between two entries. */ between(act) {
        const own = this.turn.then(()=>act(this.parts.history.position));
        this.turn = own.catch(()=>undefined);
        return own;
    }
    /** Where the log ends. @throws TesseraError LOG_DIFFERENT, LOG_TRIMMED, and is stopped then */ noteBounds(bounds) {
        try {
            this.parts.history.checkBounds(bounds);
            this.note(bounds.end);
        } catch (thrown) {
            this.fail(TesseraError.from(thrown));
            throw thrown;
        }
    }
    /** As a condition of the process. */ condition() {
        const { away, stuck, offset, end } = this;
        const { fault, state } = this.parts.life;
        const at = `at entry ${offset}`;
        if (fault !== undefined) {
            const reading = state === 'unfit' ? 'down' : 'degraded';
            return {
                state: reading,
                reason: `${at}: ${fault.message}`
            };
        }
        const isFar = end - offset > this.parts.behindEntries;
        const sinceMs = performance.now() - (this.behindSinceMs ?? performance.now());
        const got = `${at} of ${end}`;
        const why = stuck === undefined ? '' : `: entry ${stuck.offset}: ${stuck.error.message}`;
        if (isFar && sinceMs > this.parts.behindMs) return {
            state: 'down',
            reason: `${got}${why}`
        };
        if (stuck !== undefined) return {
            state: 'degraded',
            reason: `${got}${why}`
        };
        if (away !== undefined) return {
            state: 'degraded',
            reason: `${at}: ${away.message}`
        };
        return {
            state: 'ok',
            reason: ''
        };
    }
    async close() {
        this.closing.abort();
        await this.running;
    }
    async run() {
        const { signal } = this.closing;
        const { life, nodeLog } = this.parts;
        while(!signal.aborted && life.fault === undefined){
            try {
                await this.readOn(signal);
            } catch (thrown) {
                const error = TesseraError.from(thrown);
                if (signal.aborted) return;
                if (LASTING.has(error.code)) this.fail(await this.named(error));
                else {
                    if (this.away === undefined) nodeLog.warn({
                        err: error
                    }, 'cannot read the cluster log');
                    this.away = error;
                    await sleep(RETRY_MS, undefined, {
                        signal
                    }).catch(()=>undefined);
                }
            }
        }
    }
    /** The fault with the entries that the log has lost, where a reader found that it did. */ async named(error) {
        if (error.code !== 'LOG_DIFFERENT') return error;
        try {
            this.parts.history.checkBounds(await this.parts.log.bounds());
            return error;
        } catch (thrown) {
            const found = TesseraError.from(thrown);
            return LASTING.has(found.code) ? found : error;
        }
    }
    fail(error) {
        if (!LASTING.has(error.code) || this.parts.life.fault !== undefined) return;
        this.parts.life.fail(error);
        this.parts.nodeLog.error({
            err: error
        }, 'the cluster log is no longer followed');
    }
    async readOn(signal) {
        const { log, publication, life } = this.parts;
        const bounds = await log.bounds();
        this.noteBounds(bounds);
        const from = Math.max(bounds.first, this.offset - KEYS_KEPT + 1);
        for await (const entries of log.read(from, signal)){
            if (this.away !== undefined) this.parts.nodeLog.info({}, 'cluster log read again');
            this.away = undefined;
            this.note(entries.at(-1)?.offset ?? NO_OFFSET);
            for (const entry of entries)await this.between(()=>this.take(entry));
            if (signal.aborted || life.fault !== undefined) return;
            if (entries.length === 0 || this.offset >= bounds.end) this.caughtUp();
            if (entries.length > 0 || !publication.isMade) await publication.note();
            else publication.compareBeside();
        }
    }
    note(end) {
        this.end = Math.max(this.end, end);
        const isFar = this.end - this.offset > this.parts.behindEntries;
        this.behindSinceMs = isFar ? this.behindSinceMs ?? performance.now() : undefined;
    }
    /** One entry. Rejects with a lasting fault, or where the process closes. */ async take(entry) {
        const { history } = this.parts;
        const read = readableEntry(entry.bytes);
        const { offset } = entry;
        if (offset <= this.offset) {
            history.check(entry, read);
            if (read !== undefined) await this.recall(read, entry);
            return;
        }
        const next = history.behind(entry, read);
        const key = read?.key ?? `unreadable ${offset}`;
        const known = this.keys.of(key, offset);
        const outcome = known === undefined && read !== undefined ? await this.applied(read, entry, next) : await this.passed(next, known);
        if (known !== undefined && read !== undefined) await this.recall(read, entry);
        else this.keys.put(key, outcome);
        for (const tell of this.expected.get(key) ?? [])tell(outcome);
        this.expected.delete(key);
        if (offset % COMPARED_EVERY === 0) await this.parts.publication.note();
    }
    /** An entry that is not applied now, whose key and records count: it was, or it is repeated. */ async recall(read, { offset, atMs }) {
        this.keys.put(read.key, this.keys.of(read.key, offset) ?? {
            offset
        }, offset);
        // A snapshot may have removed entries of the store since.
        const body = await this.bodies.of(read).catch(()=>undefined);
        if (body === undefined) return;
        try {
            this.parts.state.recall({
                kind: read.kind,
                body
            }, {
                offset,
                atMs
            });
        } catch  {
        // Refused here, as it was where it was applied.
        }
    }
    /** An entry that was there before, or that nobody can read. */ async passed(next, known) {
        await this.untilDone(next.offset, ()=>this.parts.state.note(markOf(next)));
        this.parts.history.moveTo(next);
        return known === undefined ? {
            offset: next.offset
        } : {
            ...known,
            isRepeat: true
        };
    }
    /** Applied, or refused: by the entry alone, so that every node does the same. */ async applied(read, entry, next) {
        const { offset } = entry;
        try {
            const isForeign = this.parts.history.isForeign(read, offset);
            if (isForeign) throw refused(`entry ${offset} was appended to another history of the log`);
            const body = await this.untilDone(offset, ()=>this.bodies.of(read, offset));
            const user = read.kind === ERASE ? `${offset} ${erasedUser(body)}` : '';
            const erased = user === '' ? next.erased : withMember(next.erased, user);
            return await this.performed({
                kind: read.kind,
                body
            }, entry, {
                ...next,
                erased
            });
        } catch (thrown) {
            const error = TesseraError.from(thrown);
            if (this.closing.signal.aborted || LASTING.has(error.code)) throw error;
            return {
                ...await this.passed(next, undefined),
                error
            };
        }
    }
    async performed(act, { offset, atMs }, position) {
        const { state, history, nodeLog } = this.parts;
        const mark = markOf(position);
        const outcome = await this.untilDone(offset, async ()=>{
            try {
                return {
                    offset,
                    value: await state.apply(act, {
                        offset,
                        atMs
                    }, mark)
                };
            } catch (thrown) {
                const error = TesseraError.from(thrown);
                if (mayPass(error) || LASTING.has(error.code)) throw error;
                if (error.code === 'INTERNAL') nodeLog.error({
                    err: thrown
                }, 'entry refused');
                await state.note(mark);
                return {
                    offset,
                    error
                };
            }
        });
        history.moveTo(position);
        return outcome;
    }
    /** Tries again what may pass, for as long as it takes: nothing behind it is applied before it. */ async untilDone(offset, act) {
        const { signal } = this.closing;
        for(;;){
            try {
                const done = await act();
                this.stuck = undefined;
                return done;
            } catch (thrown) {
                const error = TesseraError.from(thrown);
                if (!mayPass(error) || signal.aborted) throw error;
                if (this.stuck?.offset !== offset) {
                    this.parts.nodeLog.warn({
                        err: error,
                        offset
                    }, 'an entry cannot be applied yet');
                }
                this.stuck = {
                    error,
                    offset
                };
                await sleep(RETRY_MS, undefined, {
                    signal
                });
            }
        }
    }
}
const refused = (message)=>new TesseraError('REQUEST_INVALID', message);
/** Undefined: no release can read it. @throws TesseraError STORE_NEWER */ function readableEntry(bytes) {
    try {
        return readEntry(bytes);
    } catch (thrown) {
        if (TesseraError.from(thrown).code === 'STORE_NEWER') throw thrown;
        return undefined;
    }
}

//# sourceMappingURL=follower.js.map