import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expecting, TesseraError } from "../../../ops/errors/src/index.js";
import { bodyText, ENTRY_BYTES_MAX, entryBytes, KEY_LENGTH_MAX } from "../../log/src/index.js";
const invalid = expecting('REQUEST_INVALID');
/** Where the caller has no deadline. */ const DEADLINE_MS = 30_000;
const RETRY_MS = 100;
/** Between looks at the positions of nodes: most are where they have to be within some. */ const LOOK_MS = 2;
const LOOKS = 20;
const LATER_LOOK_MS = 25;
/** Appends acts to the log and waits until they are applied. */ export class Submissions {
    parts;
    constructor(parts){
        this.parts = parts;
    }
    /**
   * Rejects as the act does where it is applied; with STORE_UNAVAILABLE where the log cannot be
   * reached, LOG_DIFFERENT where this node follows it no longer, and DEADLINE_EXCEEDED: the act may
   * be in the log then, and may be repeated by its key.
   */ async submit(act, how = {}) {
        const key = how.key || randomUUID();
        if (key.length > KEY_LENGTH_MAX) {
            throw invalid('idempotencyKey', `at most ${KEY_LENGTH_MAX} characters`, key.length);
        }
        this.parts.life.checkFollowing();
        const ended = new AbortController();
        const limits = [
            AbortSignal.timeout(DEADLINE_MS),
            ended.signal
        ];
        const signal = AbortSignal.any(how.signal === undefined ? limits : [
            ...limits,
            how.signal
        ]);
        const outcome = this.parts.follower.outcomeOf(key, signal);
        outcome.catch(()=>undefined);
        const appending = new Appending();
        try {
            const appended = this.appended(await this.entryOf(act, key), signal, appending);
            // An append that was rejected may be in the log.
            const done = await Promise.race([
                appended.then(()=>undefined),
                outcome
            ]);
            const isLater = how.waitFor === 'appended' && done === undefined;
            if (isLater) return {
                offset: (await appended).offset,
                value: undefined,
                isRepeat: false
            };
            const known = done ?? await outcome;
            const first = Promise.race([
                appended,
                appending.failed
            ]);
            const isRepeat = how.key ? await isAnother(first, known) : false;
            return await this.applied({
                ...known,
                isRepeat: isRepeat || known.isRepeat === true
            }, how, signal);
        } catch (thrown) {
            throw signal.aborted ? late(act, appending.away ?? thrown) : thrown;
        } finally{
            ended.abort();
        }
    }
    /** One entry, whoever else may append the same. */ async append(act, key) {
        const signal = AbortSignal.timeout(DEADLINE_MS);
        await this.appended(await this.entryOf(act, key), signal, new Appending());
    }
    /**
   * Until no node that serves is behind: all have applied the entry, or, where `isErasure`, done
   * the erasure. Nodes that are away do so before they serve.
   */ async everywhere(offset, signal, isErasure) {
        const { log, publication, leaseMs } = this.parts;
        const reached = (one)=>isErasure ? one.erased : one.offset;
        for(let look = 0;; look += 1){
            const lookMs = look < LOOKS ? LOOK_MS : LATER_LOOK_MS;
            const others = (await log.positions()).filter((one)=>one.process !== publication.process);
            const serving = others.filter((one)=>one.ageMs < leaseMs && !one.needsSnapshot);
            const behind = serving.filter((one)=>reached(one) < offset);
            if (behind.length === 0) return;
            await sleep(lookMs, undefined, {
                signal
            }).catch(()=>{
                const names = behind.map(({ node })=>node).join(', ');
                const done = isErasure ? 'done' : 'applied';
                const message = `entry ${offset} is in the log, and not yet ${done} by ${names}`;
                throw new TesseraError('DEADLINE_EXCEEDED', message);
            });
        }
    }
    async applied({ offset, value, error, isRepeat = false }, { waitFor, onEntry }, signal) {
        onEntry?.(offset);
        if (error !== undefined) throw error;
        const isForAll = waitFor !== 'applied-here' && waitFor !== 'appended';
        if (isForAll) await this.everywhere(offset, signal, false);
        return {
            offset,
            value,
            isRepeat
        };
    }
    /** Bytes of the entry, behind what is applied here when they are appended. */ async entryOf({ kind, body }, key) {
        const { node, store, history } = this.parts;
        const head = {
            key,
            node,
            kind
        };
        const text = bodyText(body);
        if (entryBytes(head, text, history.point).length <= ENTRY_BYTES_MAX) {
            return ()=>entryBytes(head, text, history.point);
        }
        // Of this submission alone: a key may come again with another body, and names keep theirs.
        const name = `entries/${randomUUID()}`;
        await store.put(name, Buffer.from(text));
        return ()=>entryBytes(head, '', history.point, name);
    }
    /** Again and again while the log is away: its key makes one of what comes twice. */ async appended(bytes, signal, appending) {
        const { log, history, life } = this.parts;
        for(let attempt = 1;; attempt += 1){
            try {
                life.checkFollowing();
                const offset = await log.append(bytes(), history.point);
                appending.note(undefined);
                return {
                    offset,
                    isFirst: attempt === 1
                };
            } catch (thrown) {
                appending.note(thrown);
                if (TesseraError.from(thrown).code !== 'STORE_UNAVAILABLE' || signal.aborted) throw thrown;
                await sleep(RETRY_MS, undefined, {
                    signal
                }).catch(()=>{
                    throw thrown;
                });
            }
        }
    }
}
/** How the attempts to append go. */ let Appending = class Appending {
    /** Why the newest attempt has failed; undefined: it has not. */ away;
    fail = ()=>undefined;
    /** Resolves when one has failed. */ failed = new Promise((resolve)=>{
        this.fail = resolve;
    });
    note(thrown) {
        this.away = thrown;
        if (thrown !== undefined) this.fail(undefined);
    }
};
/** True if the outcome is that of an earlier entry of the key, which this node had yet to apply. */ async function isAnother(appended, { offset }) {
    const own = await appended.catch(()=>undefined);
    return own?.isFirst === true && own.offset !== offset;
}
function late({ kind }, thrown) {
    if (thrown instanceof TesseraError && thrown.code !== 'CANCELLED') return thrown;
    const message = `${kind}: not applied within the deadline; it may be in the log`;
    return new TesseraError('DEADLINE_EXCEEDED', message, {
        cause: thrown
    });
}

//# sourceMappingURL=submissions.js.map