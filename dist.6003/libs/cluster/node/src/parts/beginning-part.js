import { TesseraError } from "../../../../ops/errors/src/index.js";
import { REFUSE } from "../body-reader.js";
import { startOf } from "../domain/position.js";
import { BEGINS, SNAPSHOT } from "../snapshots-there.js";
const FIELD = 'cluster.log';
/** The entries that say what the log begins with, and where its snapshots are. */ export class BeginningPart {
    operations;
    names;
    newestSnapshot = 0;
    /** Of the state of this node when it was opened. */ start = startOf('');
    constructor(operations, names){
        this.operations = operations;
        this.names = names;
    }
    part = {
        name: 'beginning',
        kinds: [
            BEGINS,
            SNAPSHOT,
            REFUSE
        ],
        recall: ({ kind, body })=>this.noteSnapshot(kind, body),
        apply: async ({ kind, body }, { offset })=>{
            if (kind === BEGINS) this.check(body);
            this.noteSnapshot(kind, body);
            return {
                value: offset,
                isMarked: false
            };
        },
        digest: async ()=>''
    };
    /** Nothing has been changed here since the sources were read. */ isSeedAlone() {
        const { adapters, weights } = this.operations;
        const isSame = this.names.every((name)=>this.sequenceOf(name) === 0);
        const versions = adapters?.list('') ?? [];
        return isSame && versions.length === 0 && weights.current().serving === '';
    }
    seeds() {
        return Object.fromEntries(this.names.map((name)=>[
                name,
                this.operations.changesOf(name).seedDigest
            ]));
    }
    sequenceOf(name) {
        return this.operations.changesOf(name).state().sequence;
    }
    noteSnapshot(kind, body) {
        if (kind !== SNAPSHOT) return;
        const { offset } = body ?? {};
        // An entry that no node wrote names none.
        if (!Number.isSafeInteger(offset)) return;
        this.newestSnapshot = Math.max(this.newestSnapshot, offset);
    }
    /** @throws TesseraError LOG_DIFFERENT, or LOG_TRIMMED where the state here is not the log's */ check({ seeds, founder, snapshot }) {
        const own = this.seeds();
        for (const [name, digest] of Object.entries(own)){
            if (seeds[name] === digest) continue;
            const message = `catalogue '${name}': expected the sources that the log began with (${seeds[name]}), ` + `got others (${digest}): change items through the log, or name another cluster`;
            throw new TesseraError('LOG_DIFFERENT', message, {
                field: FIELD
            });
        }
        const isThat = snapshot === '' ? this.isSeedAlone() : this.start.entry === founder;
        if (this.start.offset > 0 || isThat) return;
        throw new TesseraError('LOG_TRIMMED', 'expected the state that the log begins with, got other');
    }
}

//# sourceMappingURL=beginning-part.js.map