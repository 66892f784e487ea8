import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { expecting, TesseraError } from "../../errors/src/index.js";
/** A node that is gone leaves after so long. */ const NODE_LEASE_MS = 3000;
const KEEP_EVERY_MS = 500;
/** A process that was killed holds its name until its lease ends. */ const TAKE_ATTEMPTS_MAX = 10;
const NO_KEY = '0';
const NO_LEASE = '0';
const invalid = expecting('CONFIG_INVALID');
export const nodesOf = (cluster)=>`/tessera/${cluster}/nodes/`;
/**
 * The key of this process among the nodes of its cluster: one value made of parts, under one lease,
 * by one process at a time. Owner: the process, which leaves at its end.
 */ export class NodeKey {
    etcd;
    cluster;
    node;
    /** Of this process: another one of the same name has another. */ instance = randomUUID();
    key;
    lease = '';
    parts = {};
    /** Revision at which the key was made; NO_KEY: this process has none. */ created = NO_KEY;
    keptUntilMs = Number.NEGATIVE_INFINITY;
    timer;
    turn = Promise.resolve();
    fault = '';
    hasLeft = false;
    constructor(etcd, cluster, node){
        this.etcd = etcd;
        this.cluster = cluster;
        this.node = node;
        this.key = nodesOf(cluster) + node;
    }
    /** '' while the key is there, or nobody has put it. */ get reason() {
        return this.fault;
    }
    /** Until then, by performance.now(), etcd keeps the key at least. */ get heldUntilMs() {
        return this.keptUntilMs;
    }
    /** Holds while the key is this process's own. */ get condition() {
        return {
            key: this.key,
            created: this.created
        };
    }
    /**
   * Puts parts of the value, beside those put before. Rejects with CONFIG_INVALID where another
   * process keeps the name, STORE_UNAVAILABLE where etcd is away.
   */ async put(parts) {
        this.parts = Object.assign({}, this.parts, parts);
        await this.inTurn(()=>this.write(TAKE_ATTEMPTS_MAX));
        if (this.timer !== undefined || this.hasLeft) return;
        this.timer = setInterval(()=>void this.inTurn(()=>this.keep()), KEEP_EVERY_MS);
        this.timer.unref();
    }
    /** Sees to it that the key is there. Rejects as put() does. */ async hold() {
        if (this.created === NO_KEY) await this.put({});
    }
    /** The key was found to be gone, or another process's. */ lost() {
        this.created = NO_KEY;
        this.keptUntilMs = Number.NEGATIVE_INFINITY;
    }
    /** The node goes: nobody waits for the lease to end. Never rejects. */ async leave() {
        this.hasLeft = true;
        clearInterval(this.timer);
        await this.inTurn(async ()=>{
            // One that was put over it has no lease to end with.
            const own = this.created !== NO_KEY && [
                this.condition
            ];
            if (own) await this.etcd.transact(own, {
                where: [
                    {
                        remove: this.key
                    }
                ]
            });
            if (this.lease !== '') await this.etcd.revoke(this.lease);
            this.lost();
        }).catch(()=>undefined);
    }
    inTurn(act) {
        const own = this.turn.then(act);
        this.turn = own.catch(()=>undefined);
        return own;
    }
    async write(attempts) {
        if (this.hasLeft) throw new TesseraError('CANCELLED', 'the node has left its cluster');
        if (this.created !== NO_KEY && await this.replace()) return;
        for(let attempt = 1;; attempt += 1){
            const other = await this.take();
            if (other === undefined) return;
            if (attempt >= attempts) {
                throw invalid('node.name', 'a name that no other node of the cluster has', other);
            }
            await pause(KEEP_EVERY_MS);
        }
    }
    /** False: the key is not this process's any more. */ async replace() {
        const put = {
            put: this.key,
            value: this.value(),
            lease: this.lease
        };
        const isLeaseGone = (thrown)=>/lease not found/.test(thrown.message);
        const { holds } = await this.etcd.transact([
            this.condition
        ], {
            where: [
                put
            ]
        }).catch((thrown)=>{
            if (isLeaseGone(thrown)) return {
                holds: false
            };
            throw thrown;
        });
        if (!holds) this.lost();
        return holds;
    }
    /** @returns what has the name instead; undefined: this process has it */ async take() {
        const { etcd, key } = this;
        const begunMs = performance.now();
        const isKept = this.lease !== '' && await etcd.keep(this.lease);
        if (!isKept) this.lease = await etcd.grant(NODE_LEASE_MS / 1000);
        const put = {
            put: key,
            value: this.value(),
            lease: this.lease
        };
        const get = {
            get: key
        };
        const steps = {
            where: [
                put,
                get
            ],
            otherwise: [
                get
            ]
        };
        let { holds, found } = await etcd.transact([
            {
                key,
                created: NO_KEY
            }
        ], steps);
        let [entry] = found[0] ?? [];
        if (!holds && entry !== undefined && !this.isOfAnother(entry)) {
            ({ holds, found } = await etcd.transact([
                {
                    key,
                    modified: entry.modified
                }
            ], steps));
            [entry] = found[0] ?? [];
        }
        if (!holds || entry === undefined) {
            const { grpc } = wordsOf(entry?.value ?? Buffer.of());
            return `'${this.node}'${grpc === undefined ? '' : ` at ${grpc}`}`;
        }
        this.created = entry.created;
        this.keptUntilMs = begunMs + NODE_LEASE_MS;
        return undefined;
    }
    /** A process that lives keeps a lease and names its instance; anything else is put over. */ isOfAnother({ value, lease }) {
        const { instance } = wordsOf(value);
        return lease !== NO_LEASE && typeof instance === 'string' && instance !== this.instance;
    }
    /**
   * Keeps the lease and sees that the key is what this process would write: a lease may live on
   * while its key was taken away or put over, by hand or by a snapshot that etcd was restored from.
   */ async keep() {
        if (this.hasLeft) return;
        try {
            const begunMs = performance.now();
            const isKept = this.created !== NO_KEY && await this.etcd.keep(this.lease);
            const isOwn = isKept && (await this.isThere() || await this.replace());
            if (isOwn) this.keptUntilMs = begunMs + NODE_LEASE_MS;
            else await this.write(1);
            this.fault = '';
        } catch (thrown) {
            const { code, message } = TesseraError.from(thrown);
            this.fault = code === 'CONFIG_INVALID' ? `another process has the name: ${message}` : message;
        }
    }
    async isThere() {
        const { key, lease } = this;
        const whole = [
            this.condition,
            {
                key,
                value: this.value()
            },
            {
                key,
                lease
            }
        ];
        return (await this.etcd.transact(whole, {
            where: []
        })).holds;
    }
    value() {
        return Buffer.from(JSON.stringify(Object.assign({
            instance: this.instance
        }, this.parts)));
    }
}
function wordsOf(value) {
    try {
        const words = JSON.parse(value.toString());
        return typeof words === 'object' && words !== null ? words : {};
    } catch  {
        return {};
    }
}

//# sourceMappingURL=node-key.js.map