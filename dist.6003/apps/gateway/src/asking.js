import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { ATTEMPTS_MAX, askInTurn } from "../../../libs/cluster/routing/src/index.js";
import { MICROSECONDS_PER_MILLISECOND } from "../../../libs/ops/units/src/index.js";
import { failureOf } from "./node-failure.js";
const RETRY_AFTER_MS = 500;
export function noNode(cluster) {
    const states = cluster.links().map(({ member, state })=>`${member.name} ${state}`);
    const got = states.length === 0 ? 'no nodes' : states.slice(0, 8).join(', ');
    const message = `nodes: expected one that takes requests, got ${got}`;
    return new TesseraError('NODE_UNAVAILABLE', message, {
        retryAfterMs: RETRY_AFTER_MS
    });
}
/** Counts of requests, by edge and by why the node was asked. */ export class ForwardCounts {
    forwarded = new Map();
    retries = 0;
    /** Requests that no node could have answered in time. */ refusedAhead = 0;
    count(edge, reason) {
        const key = `${edge} ${reason}`;
        const known = this.forwarded.get(key);
        if (known === undefined) this.forwarded.set(key, {
            edge,
            reason,
            count: 1
        });
        else known.count += 1;
    }
}
/**
 * Undefined: no node takes it.
 * @throws TesseraError NODE_UNAVAILABLE where the one that can answer takes no requests
 */ function chosenFor({ partition, role, node }, cluster, without) {
    if (node === undefined) return cluster.choose(partition, role, without);
    const link = cluster.link(node);
    if (link?.state === 'up' && !without.includes(node)) {
        return {
            link,
            reason: 'named'
        };
    }
    const got = link === undefined ? `${node}, which is no member` : `${node} ${link.state}`;
    const message = `versions.node: expected a node that takes requests, got ${got}`;
    throw new TesseraError('NODE_UNAVAILABLE', message, {
        field: 'versions.node'
    });
}
/** Asks the owner of a user, and its successors where it is away or refuses before it begins. */ export class Asking {
    cluster;
    counts;
    constructor(cluster, counts){
        this.cluster = cluster;
        this.counts = counts;
    }
    /**
   * Rejects with what the last node said, or with NODE_UNAVAILABLE. `act` must be repeatable: it
   * rejects only where no byte of an answer has come.
   */ async ask(asked, act) {
        const { cluster, counts } = this;
        this.checkTime(asked);
        const { isOver, isChange = false } = asked;
        let left = isChange ? this.takers(asked.role) : 1;
        const next = (without)=>{
            const chosen = chosenFor(asked, cluster, without);
            if (chosen === undefined) return undefined;
            if (without.length === 0) counts.count(asked.edge, chosen.reason);
            else counts.retries += 1;
            return chosen.link;
        };
        const lost = (link, thrown)=>cluster.lost(link, thrown.message);
        const begin = (link)=>cluster.begin(link, asked.kind);
        const inTurn = {
            next,
            nameOf,
            begin,
            lost,
            isOver,
            failureOf: (thrown)=>failureOf(thrown, isChange)
        };
        const ended = await askInTurn(inTurn, (link)=>{
            // A node that says nothing leaves the others their share of the time.
            const share = (asked.deadlineMs - Date.now()) / Math.max(1, left);
            left -= 1;
            return act(link, left < 1 ? asked.deadlineMs : Date.now() + share);
        });
        if (ended.isAnswered) return ended.answer;
        throw ended.refusal ?? noNode(cluster);
    }
    /** Nodes that may be asked for one change. */ takers(role) {
        const { cluster } = this;
        const takers = cluster.links().filter((link)=>cluster.takes(link, role));
        return Math.min(ATTEMPTS_MAX, takers.length);
    }
    /** @throws TesseraError ENGINE_OVERLOADED where no node that may take it can make the deadline */ checkTime({ partition, role, deadlineMs }) {
        if (partition === undefined || deadlineMs === Number.POSITIVE_INFINITY) return;
        const leftMs = deadlineMs - Date.now();
        const waitMs = this.cluster.leastWaitUs(partition, role) / MICROSECONDS_PER_MILLISECOND;
        if (waitMs <= leftMs) return;
        this.counts.refusedAhead += 1;
        const got = Math.max(0, Math.floor(leftMs));
        const expected = `expected ${waitMs} ms, which the owner and its successors need`;
        throw new TesseraError('ENGINE_OVERLOADED', `deadline: ${expected}, got ${got} ms`, {
            retryAfterMs: Math.ceil(waitMs - leftMs)
        });
    }
}
const nameOf = ({ member })=>member.name;

//# sourceMappingURL=asking.js.map