import { positionOf } from "../../../../ops/contracts/src/index.js";
import { TesseraError } from "../../../../ops/errors/src/index.js";
import { stateDigest } from "./position.js";
/** Errors of this node, not of an entry. */ const PASSING = new Set([
    'STORE_FULL',
    'STORE_UNAVAILABLE',
    'IO_FAILED',
    'ADAPTER_SOURCE_UNAVAILABLE',
    // Another one of the name is on its way in, here.
    'PUSH_CONFLICT',
    'ENGINE_OVERLOADED',
    'ENGINE_UNAVAILABLE',
    'DEADLINE_EXCEEDED',
    'CANCELLED'
]);
export const mayPass = (thrown)=>PASSING.has(TesseraError.from(thrown).code);
/** All parts of a node's state, which entries of one log change one after another. */ export class ReplicatedState {
    keeper;
    parts;
    scope;
    byKind;
    constructor(keeper, parts, /** `some`: entries of other kinds are for others, and they have no digest of this state. */ scope = 'all'){
        this.keeper = keeper;
        this.parts = parts;
        this.scope = scope;
        this.byKind = new Map(parts.flatMap((part)=>part.kinds.map((kind)=>[
                    kind,
                    part
                ])));
    }
    /** Undefined: none of a log. */ position() {
        return positionOf(this.keeper.mark());
    }
    /**
   * Rejects with STORE_NEWER for a kind that this release does not know, and as the part does; then
   * the mark is not kept.
   */ async apply(act, place, mark) {
        const part = this.byKind.get(act.kind);
        if (part === undefined && this.scope === 'some') {
            await this.note(mark);
            return undefined;
        }
        if (part === undefined) {
            const message = `expected a kind of entry that this release knows, got '${act.kind}'`;
            throw new TesseraError('STORE_NEWER', `${message}, which a newer release wrote`);
        }
        const { value, isMarked } = await part.apply(act, place, mark);
        if (!isMarked) await this.note(mark);
        return value;
    }
    /** An entry of the newest ones, applied before. Unknown kinds are passed over. */ recall(act, place) {
        this.byKind.get(act.kind)?.recall?.(act, place);
    }
    note(mark) {
        return this.keeper.note(mark);
    }
    /** '' of a part alone. */ async digest(erased) {
        if (this.scope === 'some') return '';
        const digests = {
            erased
        };
        for (const part of this.parts)digests[part.name] = await part.digest();
        return stateDigest(digests);
    }
}

//# sourceMappingURL=replicated-state.js.map