import { expecting } from "../../../../ops/errors/src/index.js";
import { endOf } from "../../../../ops/etcd/src/index.js";
const invalid = expecting('CONFIG_INVALID');
const OFFSET_DIGITS = 16;
const padded = (offset)=>String(Math.max(0, offset)).padStart(OFFSET_DIGITS, '0');
/** Keys of a log in etcd; those of entries are in the order of their offsets. */ export class EtcdKeys {
    prefix;
    end;
    /** Where the log ends: compared by each append. */ head;
    behindHead;
    /** The newest entry that was trimmed. */ base;
    entriesEnd;
    /** @throws TesseraError CONFIG_INVALID */ constructor(cluster){
        if (!/^[\w.:-]+$/.test(cluster)) {
            throw invalid('cluster.name', 'a name of letters, digits and _.:-', cluster);
        }
        this.prefix = `/tessera/${cluster}/log/`;
        this.end = endOf(this.prefix);
        this.head = `${this.prefix}head`;
        this.behindHead = `${this.head}\0`;
        this.base = `${this.prefix}base`;
        this.entriesEnd = endOf(`${this.prefix}entries/`);
    }
    entry(offset) {
        return `${this.prefix}entries/${padded(offset)}`;
    }
    offsetOf(key) {
        return Number(key.slice(-OFFSET_DIGITS));
    }
    digest(offset) {
        return `${this.prefix}digests/${padded(offset)}`;
    }
}

//# sourceMappingURL=etcd-keys.js.map