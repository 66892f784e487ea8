import { NO_OFFSET } from "../../log/src/index.js";
const OFFSET_DIGITS = 16;
/**
 * How far nodes have seen the log, in the store beside it: it outlives a log that loses its end, so
 * that a node without a state knows that something is missing. Written at most once a second: of
 * the newest second of a lost log the nodes' own states alone know.
 */ export class Reached {
    store;
    folder;
    /** Written by this process, newest last, and by others before it; undefined: not listed yet. */ older;
    written = NO_OFFSET;
    /** @param cluster name of the cluster: several may share a store */ constructor(store, cluster){
        this.store = store;
        this.folder = `reached/${cluster.replaceAll(':', '.')}/`;
    }
    /** Of this log where there is one, else of any other. Undefined: nothing was ever published. */ async newest(log) {
        const all = await this.all();
        return all.find((one)=>one.log === log) ?? all[0];
    }
    /** Every log of which something was published. */ async logs() {
        return [
            ...new Set((await this.all()).map(({ log })=>log))
        ];
    }
    /** Rejects as the store does. */ async note({ log, offset }) {
        if (offset <= this.written) return;
        await this.store.put(this.nameOf({
            log,
            offset
        }), Buffer.of());
        this.written = offset;
        const older = this.older ?? await this.all();
        const gone = older.filter((one)=>one.log !== log || one.offset < offset);
        for (const one of gone)await this.store.remove(this.nameOf(one));
        this.older = [
            {
                log,
                offset
            }
        ];
    }
    /** The largest offsets first. */ async all() {
        const names = await this.store.list(this.folder);
        const all = names.flatMap((name)=>{
            const [, offset = '', log = ''] = /^(\d+)-(.+)$/.exec(name.slice(this.folder.length)) ?? [];
            return offset === '' ? [] : [
                {
                    log,
                    offset: Number(offset)
                }
            ];
        });
        return all.sort((a, b)=>b.offset - a.offset);
    }
    nameOf({ log, offset }) {
        return `${this.folder}${String(offset).padStart(OFFSET_DIGITS, '0')}-${log}`;
    }
}

//# sourceMappingURL=reached.js.map