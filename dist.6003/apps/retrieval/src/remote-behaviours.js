import { BehaviourStore } from "../../../libs/service/behaviour/src/index.js";
import { StoreBreaker } from "../../../libs/ops/breaker/src/index.js";
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { MILLISECONDS_PER_SECOND } from "../../../libs/ops/units/src/index.js";
/**
 * Milliseconds that the feature process has to answer, repetitions included: a share of what a
 * request has left, so that one with time to spare is not refused for a slow moment of either
 * process, and one without finds the store away as soon as ever.
 */ const ANSWER_MS_MIN = 1000;
const ANSWER_MS_MAX = 10_000;
const ANSWER_SHARE = 0.25;
/** Asked for to see that the process answers. */ const NOBODY = 'nobody';
export function answerMs(budgetMs) {
    return Math.min(Math.max(budgetMs * ANSWER_SHARE, ANSWER_MS_MIN), ANSWER_MS_MAX);
}
/**
 * Users' behaviours from the feature process over gRPC. Rejects with STORE_UNAVAILABLE
 * where it does not answer.
 */ export class RemoteBehaviours extends BehaviourStore {
    parts;
    userCount = null;
    breaker;
    constructor(parts){
        super(), this.parts = parts;
        this.breaker = new StoreBreaker(`the feature process at ${parts.address}`, {
            probe: ()=>this.askedUser(NOBODY, 1, ANSWER_MS_MIN)
        });
    }
    async history(userId, limit) {
        return (await this.user(userId, limit))?.behaviours ?? null;
    }
    async profile(userId) {
        return (await this.user(userId, 1))?.profile ?? null;
    }
    reach() {
        return this.breaker.read();
    }
    user(userId, limit, budgetMs = 0) {
        return this.breaker.call(()=>this.askedUser(userId, limit, answerMs(budgetMs)));
    }
    async askedUser(userId, limit, waitMs) {
        const { client, address } = this.parts;
        try {
            const { behaviours, profile } = await client.history(userId, limit, waitMs);
            return {
                behaviours: behaviours.map(behaviourOf),
                profile
            };
        } catch (thrown) {
            const error = TesseraError.from(thrown);
            if (error.code === 'USER_NOT_FOUND') return null;
            if (!error.retryable && error.code !== 'CANCELLED') throw error;
            const message = `behaviours.remote: ${address}: ${error.message}`;
            throw new TesseraError('STORE_UNAVAILABLE', message, {
                cause: error
            });
        }
    }
    /** Not asked for over the wire. */ async userIds() {
        return [];
    }
}
function behaviourOf({ itemId, action, timeMs }) {
    return {
        itemId,
        action,
        time: timeMs / MILLISECONDS_PER_SECOND
    };
}

//# sourceMappingURL=remote-behaviours.js.map