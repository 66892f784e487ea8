import { randomUUID } from "node:crypto";
import { TesseraError } from "../../../ops/errors/src/index.js";
import { NO_OFFSET } from "../../log/src/index.js";
import { Lease } from "./lease.js";
const BEATS_PER_LEASE = 3;
/** Entries between two comparisons of digests under load. */ export const COMPARED_EVERY = 64;
/**
 * The word of this node to the others: how far it is, and the digest of its state there.
 * The first digest that is said of an offset is the log's.
 */ export class Publication {
    parts;
    process = randomUUID();
    lease;
    word;
    comparedOffset = NO_OFFSET;
    timer;
    isOpen = false;
    constructor(parts){
        this.parts = parts;
        this.lease = new Lease(parts.log);
        parts.life.onFault(({ code })=>void this.fail(code));
    }
    /** Of the state behind the newest entries; '' before they are applied. */ get stateDigest() {
        return this.word?.digest ?? '';
    }
    get isMade() {
        return this.word !== undefined;
    }
    /** From now on others wait for this node. Rejects with CONFIG_INVALID for a taken name. */ async open() {
        this.isOpen = true;
        const beat = ()=>void this.beat().catch(()=>undefined);
        this.timer = setInterval(beat, this.parts.leaseMs / BEATS_PER_LEASE);
        await this.note().catch((thrown)=>{
            if (TesseraError.from(thrown).code === 'CONFIG_INVALID') throw thrown;
        });
    }
    /** Behind entries that were applied. */ async note() {
        const { history, state, node } = this.parts;
        const { offset, chain, erased: sum } = history.position;
        const digest = await state.digest(sum);
        const erased = this.parts.erasedUpTo(offset);
        const { process } = this;
        this.word = {
            node,
            process,
            offset,
            chain,
            erased,
            digest,
            needsSnapshot: false
        };
        if (!this.isOpen) return;
        await this.lease.renew(this.word);
        if (offset % COMPARED_EVERY === 0) this.compareBeside();
    }
    /** An erasure is done that the newest word did not have. */ async noteErased() {
        if (this.word === undefined || !this.isOpen) return;
        const erased = this.parts.erasedUpTo(this.word.offset);
        this.word = {
            ...this.word,
            erased
        };
        await this.lease.renew(this.word);
    }
    /** Compares the state with what the log has of it, while entries go on. */ compareBeside() {
        const { state, life } = this.parts;
        const { word } = this;
        if (state.scope === 'some' || word === undefined) return;
        if (word.offset === this.comparedOffset || word.offset === NO_OFFSET) return;
        this.comparedOffset = word.offset;
        this.compare(word).catch((thrown)=>{
            const error = TesseraError.from(thrown);
            if (error.code === 'STATE_DIFFERENT') life.fail(error);
        });
    }
    async close() {
        clearInterval(this.timer);
        await this.retract();
    }
    async compare({ offset, digest }) {
        const expected = await this.parts.log.digestAt(offset, digest);
        if (expected === digest) return;
        const state = `state behind entry ${offset}`;
        const message = `${state}: expected digest ${expected}, which was said first, got ${digest}`;
        throw new TesseraError('STATE_DIFFERENT', message);
    }
    /** Also while an entry takes long: then nothing else says how far the node is. */ async beat() {
        if (this.word === undefined) return;
        if (this.word.needsSnapshot) await this.parts.log.say(this.word);
        else await this.noteErased();
        if (this.isOpen) this.parts.onBounds(await this.parts.log.bounds());
    }
    /** Others wait for this node no longer. Beats go on only to ask for a snapshot. */ async fail(code) {
        if (code !== 'LOG_INCOMPLETE' || this.word === undefined) {
            clearInterval(this.timer);
            return this.retract();
        }
        this.word = {
            ...this.word,
            needsSnapshot: true
        };
        this.lease.end();
        this.isOpen = false;
        await this.parts.log.say(this.word).catch(()=>undefined);
    }
    async retract() {
        const { word } = this;
        this.lease.end();
        this.isOpen = false;
        this.word = undefined;
        if (word !== undefined) await this.parts.log.leave(word).catch(()=>undefined);
    }
}

//# sourceMappingURL=publication.js.map