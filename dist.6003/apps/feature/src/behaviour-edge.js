import { checkBehaviourEvent } from "../../../libs/service/behaviour/src/index.js";
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
/** Checks, stores and counts behaviours, for all edges. */ export class BehaviourEdge {
    parts;
    constructor(parts){
        this.parts = parts;
    }
    /** @throws TesseraError BEHAVIOUR_INVALID naming the field */ check(event) {
        checkBehaviourEvent(event, this.parts.nowMs());
    }
    /** Checked events; durable when it resolves. */ async append(events, edge, actor) {
        const change = {
            action: 'append-behaviours',
            actor,
            edge,
            name: ''
        };
        const detail = ()=>`${events.length} behaviours`;
        const append = ()=>this.parts.behaviours.append(events);
        const outcomes = await this.parts.changes.noted(change, append, detail);
        for (const outcome of outcomes)this.parts.metrics.countBehaviour(edge, outcome);
        const added = events.filter((_, index)=>outcomes[index] === 'added');
        this.parts.onAdded?.(added);
        this.parts.follower.follow(added.map((event)=>event.userId));
        return outcomes;
    }
    countDead(edge) {
        this.parts.metrics.countBehaviour(edge, 'dead');
    }
    /** `caller`: the trace that the call belongs to. */ history(userId, limit, caller) {
        return this.parts.tracing.serve('history', caller, ()=>this.historyOf(userId, limit));
    }
    putProfile(userId, profile, { edge, caller }) {
        const change = {
            action: 'put-profile',
            actor: caller.name,
            edge,
            name: userId
        };
        return this.parts.changes.noted(change, ()=>this.parts.behaviours.putProfile(userId, profile));
    }
    erase(userId, { edge, caller }) {
        const change = {
            action: 'erase-user',
            actor: caller.name,
            edge,
            name: userId
        };
        const act = ()=>this.parts.erasure.erase(userId);
        return this.parts.changes.audited(change, act, ({ known })=>known ? '' : 'was not known');
    }
    async historyOf(userId, limit) {
        const user = await this.parts.behaviours.user(userId, limit);
        if (user !== null) return user;
        throw new TesseraError('USER_NOT_FOUND', `userId: user '${userId}' is not known`, {
            field: 'userId'
        });
    }
}

//# sourceMappingURL=behaviour-edge.js.map