import { setTimeout as sleep } from "node:timers/promises";
import { TesseraError } from "../../../ops/errors/src/index.js";
import { ERASE } from "./domain/erasure.js";
const RETRY_MS = 500;
const OUTCOMES_KEPT = 1024;
const ROUND_LOOK_MS = 10;
/**
 * The erasures that this node has read from the log and has yet to do. The log does not wait for
 * them: an entry is applied once it is in this list, durably. Until it is done everywhere on this
 * node, nothing of the user is read here, and the one who asked for it is not answered.
 */ export class NodeErasures {
    pending;
    parts;
    nodeLog;
    first;
    firstDone;
    outcomes = new Map();
    /** Of `first`. */ firstUsers;
    closing = new AbortController();
    running;
    wake = ()=>undefined;
    waiting = [];
    fault;
    /** Times that all in the list were tried. */ rounds = 0;
    /** Told when one is done. */ onDone = ()=>undefined;
    /**
   * @param first those that a snapshot names, for disks that have not read of them; durable
   * elsewhere until `firstDone`
   */ constructor(pending, parts, nodeLog, first = [], firstDone = async ()=>undefined){
        this.pending = pending;
        this.parts = parts;
        this.nodeLog = nodeLog;
        this.first = first;
        this.firstDone = firstDone;
        this.firstUsers = new Set(first.map(({ userId })=>userId));
    }
    /** True: nothing that this node keeps of the user may be read or added to. */ isPending(userId) {
        return this.pending.has(userId) || this.firstUsers.has(userId);
    }
    /** Offset up to which all erasures are done, where all entries up to `offset` are applied. */ upTo(offset) {
        const open = [
            ...this.first,
            ...this.pending.list()
        ].map((one)=>one.offset);
        return Math.min(offset, ...open.map((one)=>one - 1));
    }
    /** The entries: applied when the list has them. */ part = {
        name: 'erasures',
        kinds: [
            ERASE
        ],
        apply: async ({ body }, { offset, atMs })=>{
            const { userId, withBehaviours, withRecords } = checked(body);
            await this.pending.put({
                userId,
                withBehaviours,
                withRecords,
                offset,
                atMs
            });
            this.go();
            return {
                value: undefined,
                isMarked: false
            };
        },
        digest: async ()=>''
    };
    /** Goes on with what an earlier process left. */ start() {
        this.running = this.run();
    }
    /** Resolves when the erasure of the offset is done here. Rejects where the signal is aborted. */ async outcome(offset, signal) {
        while(this.upTo(offset) < offset){
            if (signal.aborted || this.closing.signal.aborted) throw this.late(signal.reason);
            await new Promise((resolve)=>{
                this.waiting.push(resolve);
                signal.addEventListener('abort', ()=>resolve(), {
                    once: true
                });
            });
        }
        return this.outcomes.get(offset) ?? {
            known: false,
            recalls: 0
        };
    }
    /** Resolves when each that is in the list has been tried, or the time is over. */ async tried(withinMs) {
        const before = this.rounds;
        const end = AbortSignal.any([
            AbortSignal.timeout(withinMs),
            this.closing.signal
        ]);
        const isTried = ()=>this.count === 0 || this.rounds > before + 1;
        while(!isTried() && !end.aborted){
            this.go();
            await sleep(ROUND_LOOK_MS, undefined, {
                signal: end
            }).catch(()=>undefined);
        }
    }
    /** As a condition of the process: what is away holds erasures, and nothing else. */ condition() {
        const { fault, count } = this;
        if (count === 0 || fault === undefined) return {
            state: 'ok',
            reason: ''
        };
        return {
            state: 'degraded',
            reason: `${count} to be done: ${fault.message}`
        };
    }
    async close() {
        this.closing.abort();
        this.go();
        for (const go of this.waiting.splice(0))go();
        await this.running;
    }
    async run() {
        const { signal } = this.closing;
        while(!signal.aborted){
            const woken = this.woken();
            const all = [
                ...this.first,
                ...this.pending.list()
            ];
            for (const erasure of all){
                if (signal.aborted) return;
                await this.attempt(erasure);
            }
            this.rounds += 1;
            if (this.count > 0) await this.pause(woken);
            else await woken;
        }
    }
    async attempt(erasure) {
        try {
            await this.perform(erasure);
            await this.finish(erasure);
            if (this.fault !== undefined) this.nodeLog.info({}, 'erasures go on');
            this.fault = undefined;
            for (const go of this.waiting.splice(0))go();
            this.onDone();
        } catch (thrown) {
            const error = TesseraError.from(thrown);
            if (this.fault === undefined) this.nodeLog.warn({
                err: error
            }, 'an erasure waits');
            this.fault = error;
        }
    }
    /** Every part is tried, whatever fails; the pool counts once behaviours are gone. */ async perform(erasure) {
        const { behaviours, records, pool } = this.parts;
        const failures = [];
        const attempt = async (part)=>part.erase(erasure).catch((thrown)=>{
                const { code, message } = TesseraError.from(thrown);
                failures.push(new TesseraError(code, `${part.name}: ${message}`, {
                    cause: thrown
                }));
                return undefined;
            });
        const known = erasure.withBehaviours ? await attempt(behaviours) : {};
        const recalls = erasure.withRecords ? await attempt(records) : {};
        await attempt(pool);
        this.note(erasure.offset, {
            ...known,
            ...recalls
        });
        const [first] = failures;
        if (first === undefined) return;
        // Again would take away what the user has done since.
        await this.keep(erasure, {
            withBehaviours: known === undefined,
            withRecords: recalls === undefined
        });
        throw first;
    }
    /** This is left to do of an erasure. */ async keep(erasure, left) {
        const { withBehaviours, withRecords } = erasure;
        if (left.withBehaviours === withBehaviours && left.withRecords === withRecords) return;
        const rest = Object.assign({}, erasure, left);
        if (!this.first.includes(erasure)) return this.pending.put(rest);
        this.first = this.first.map((one)=>one === erasure ? rest : one);
    }
    get count() {
        return this.first.length + this.pending.list().length;
    }
    note(offset, { known = false, recalls = 0 }) {
        const before = this.outcomes.get(offset) ?? {
            known: false,
            recalls: 0
        };
        this.outcomes.set(offset, {
            known: before.known || known,
            recalls: before.recalls + recalls
        });
        const [oldest] = this.outcomes.keys();
        if (this.outcomes.size > OUTCOMES_KEPT && oldest !== undefined) this.outcomes.delete(oldest);
    }
    async finish(erasure) {
        if (!this.first.includes(erasure)) return this.pending.remove(erasure);
        if (this.first.length === 1) await this.firstDone();
        this.first = this.first.filter((one)=>one !== erasure);
        if (!this.first.some(({ userId })=>userId === erasure.userId)) {
            this.firstUsers.delete(erasure.userId);
        }
    }
    late(reason) {
        const { fault } = this;
        const why = fault === undefined ? '' : `: ${fault.message}`;
        const message = `erase: in the log, and not yet done on this node${why}`;
        return new TesseraError('DEADLINE_EXCEEDED', message, {
            cause: fault ?? reason
        });
    }
    woken() {
        return new Promise((resolve)=>{
            this.wake = resolve;
        });
    }
    go() {
        this.wake();
    }
    async pause(woken) {
        const ended = new AbortController();
        const time = sleep(RETRY_MS, undefined, {
            signal: ended.signal
        }).catch(()=>undefined);
        await Promise.race([
            time,
            woken
        ]);
        ended.abort();
    }
}
/** @throws TesseraError REQUEST_INVALID for a body that erases nobody */ function checked(body) {
    const { userId, withBehaviours, withRecords } = body ?? {};
    const isErasure = typeof userId === 'string' && userId !== '';
    if (isErasure && typeof withBehaviours === 'boolean' && typeof withRecords === 'boolean') {
        return {
            userId,
            withBehaviours,
            withRecords
        };
    }
    throw new TesseraError('REQUEST_INVALID', 'erase: expected a user, got another body');
}

//# sourceMappingURL=erasures.js.map