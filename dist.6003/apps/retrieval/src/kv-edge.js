import { isBlank, TesseraError } from "../../../libs/ops/errors/src/index.js";
import { provenanceOf } from "../../../libs/service/recall/src/index.js";
import { MICROSECONDS_PER_MILLISECOND } from "../../../libs/ops/units/src/index.js";
/** Operations on the user KV pool, for both edges. */ export class KvEdge {
    parts;
    constructor(parts){
        this.parts = parts;
    }
    inspect(userId) {
        return this.pool().inspect(named('userId', userId));
    }
    async dropUser({ request, deadlineMs }, call, { withRecords = false } = {}) {
        call.limit(deadlineMs);
        const userId = named('userId', request);
        this.requireReady();
        const { changes, pool } = this.parts;
        const { edge, caller } = call;
        const change = {
            action: 'drop-user',
            actor: caller.name,
            edge,
            name: userId
        };
        const budgetMs = call.leftUs / MICROSECONDS_PER_MILLISECOND;
        await changes.noted(change, ()=>pool.dropUser(userId, withRecords, budgetMs));
    }
    dropVersion(version, { edge, caller }) {
        const name = named('version', version);
        const { changes, pool } = this.parts;
        return changes.noted({
            action: 'drop-version',
            actor: caller.name,
            edge,
            name
        }, async ()=>{
            this.requireReady();
            if (await pool.dropVersion(name)) return;
            const message = `version: expected one that the pool knows, got ${version.slice(0, 80)}`;
            throw new TesseraError('REQUEST_INVALID', message, {
                field: 'version'
            });
        });
    }
    /** Ends with its caller. */ checkIntegrity(signal) {
        return this.pool().checkIntegrity(signal);
    }
    /** `onlyHeld`: nothing is computed for a user of whom mayHold() is false. */ async append({ request, deadlineMs }, call, onlyHeld = false) {
        this.requireReady();
        if (onlyHeld && !this.parts.mayHold(request.userId ?? '')) {
            return {
                ...NOTHING_KEPT,
                requestId: request.requestId
            };
        }
        call.limit(deadlineMs);
        return this.parts.serving.append(request, {
            signal: call.signal,
            budgetUs: call.leftUs
        });
    }
    pool() {
        this.requireReady();
        return this.parts.facts.kvPool;
    }
    requireReady() {
        const { readiness } = this.parts;
        if (readiness.takesCalls) return;
        throw new TesseraError('ENGINE_UNAVAILABLE', `the service is ${readiness.description}`);
    }
}
const NOTHING_KEPT = {
    historyItems: 0,
    trimmedItems: 0,
    skippedItems: 0,
    keptTokens: 0,
    kv: provenanceOf(0, undefined)
};
function named(field, value) {
    if (!isBlank(value)) return value;
    throw new TesseraError('REQUEST_INVALID', `${field}: expected text, got nothing`, {
        field
    });
}

//# sourceMappingURL=kv-edge.js.map