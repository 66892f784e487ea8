import { TesseraError } from "../../../libs/ops/errors/src/index.js";
/** Does and audits updates of whole weights, for all edges and callers that were let in. */ export class WeightsEdge {
    parts;
    constructor(parts){
        this.parts = parts;
    }
    update(actor, name, how = {}) {
        return this.audited(actor, name, ()=>this.parts.weights.update(name, how));
    }
    async rollBack(actor, how = {}) {
        const { weights } = this.parts;
        const { previous } = weights.current();
        const update = await this.audited(actor, previous, ()=>weights.rollBack(how));
        return {
            ...update,
            serving: weights.current().serving
        };
    }
    get() {
        return this.parts.weights.current();
    }
    audited(actor, name, act) {
        const { audits } = this.parts;
        const action = {
            action: 'update-weights',
            name,
            digest: '',
            detail: ''
        };
        return audits.audited({
            ...action,
            actor
        }, ()=>this.watched(act), ({ digest, drainedUs, swappedUs })=>({
                digest,
                detail: `waited ${drainedUs} us for the requests that ran, swapped in ${swappedUs} us`
            }));
    }
    /** An engine whose weights are of no model refuses all: nobody may be sent here any more. */ async watched(act) {
        try {
            return await act();
        } catch (thrown) {
            const { code, message } = TesseraError.from(thrown);
            if (code === 'ENGINE_UNAVAILABLE') this.parts.readiness.fail(message);
            throw thrown;
        }
    }
}

//# sourceMappingURL=weights-edge.js.map