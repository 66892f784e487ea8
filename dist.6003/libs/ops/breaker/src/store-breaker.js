import { TesseraError } from "../../errors/src/index.js";
import { BrokenCircuitError, CircuitState, circuitBreaker, handleWhen } from "cockatiel";
/** Failures in a row after which a store is taken for away; of several nodes, any of them fails. */ const FAILURES_MAX = 3;
const CLUSTER_FAILURES_MAX = 30;
/** How long calls are refused at once before one of them tries the store again. */ const TRY_AGAIN_MS = 1000;
/** A store may be found to have several nodes only when it is connected. */ let FailuresInARow = class FailuresInARow {
    isCluster;
    state = 0;
    constructor(isCluster){
        this.isCluster = isCluster;
    }
    get max() {
        return this.isCluster() ? CLUSTER_FAILURES_MAX : FAILURES_MAX;
    }
    success() {
        this.state = 0;
    }
    failure() {
        this.state = Number(this.state) + 1;
        return Number(this.state) >= this.max;
    }
};
/**
 * Calls to a store on another machine. After some failures in a row further calls are refused at
 * once instead of each waiting for its time-out; one a second tries whether the store is back.
 */ export class StoreBreaker {
    name;
    reason = '';
    policy;
    failures;
    probing;
    /** @param name of the store and its address, for messages */ constructor(name, { isCluster = ()=>false, probe, onChange } = {}){
        this.name = name;
        this.failures = new FailuresInARow(isCluster);
        this.policy = circuitBreaker(handleWhen((error)=>TesseraError.from(error).code === 'STORE_UNAVAILABLE'), {
            halfOpenAfter: TRY_AGAIN_MS,
            breaker: this.failures
        });
        this.policy.onFailure(({ reason })=>{
            this.reason = 'error' in reason ? reason.error.message : 'no answer';
        });
        if (onChange !== undefined) {
            this.policy.onBreak(()=>onChange(true));
            this.policy.onReset(()=>onChange(false));
        }
        if (probe === undefined) return;
        this.policy.onBreak(()=>{
            this.probing ??= setInterval(()=>this.call(probe).catch(()=>undefined), TRY_AGAIN_MS);
            this.probing.unref();
        });
        this.policy.onReset(()=>this.close());
    }
    /** Rejects as the call does, and with STORE_UNAVAILABLE where the store is taken for away. */ async call(act) {
        try {
            return await this.policy.execute(act);
        } catch (thrown) {
            if (!(thrown instanceof BrokenCircuitError)) throw thrown;
            const missed = `the last ${this.failures.max} calls: ${this.reason}`;
            const message = `${this.name} did not answer ${missed}`;
            throw new TesseraError('STORE_UNAVAILABLE', message, {
                retryAfterMs: TRY_AGAIN_MS,
                cause: thrown
            });
        }
    }
    /** Asks the store no more by itself. */ close() {
        clearInterval(this.probing);
        this.probing = undefined;
    }
    read() {
        const isAway = this.policy.state !== CircuitState.Closed;
        return isAway ? {
            state: 'down',
            reason: this.reason
        } : {
            state: 'ok',
            reason: ''
        };
    }
}

//# sourceMappingURL=store-breaker.js.map