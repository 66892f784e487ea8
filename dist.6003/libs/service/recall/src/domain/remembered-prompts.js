import { invalid } from "./check-request.js";
/**
 * The prompts of the newest recalls by their request IDs: behaviours and items change, and a recall
 * can be replayed only as it was asked. The oldest goes when there are too many.
 */ export class RememberedPrompts {
    capacity;
    prompts = new Map();
    constructor(capacity){
        this.capacity = capacity;
    }
    /** Takes the place of an earlier one of the same ID. */ keep(requestId, remembered) {
        if (this.capacity === 0) return;
        this.prompts.delete(requestId);
        this.prompts.set(requestId, remembered);
        if (this.prompts.size <= this.capacity) return;
        const [oldest] = this.prompts.keys();
        if (oldest !== undefined) this.prompts.delete(oldest);
    }
    forget(userId) {
        for (const [requestId, remembered] of this.prompts){
            if (remembered.userId === userId) this.prompts.delete(requestId);
        }
    }
    /**
   * Of the recall that is asked about; undefined where it gives its history itself.
   * @throws TesseraError REQUEST_INVALID where it is not remembered, or was another user's
   */ of({ requestId, userId, history }, adapter) {
        const remembered = this.prompts.get(requestId);
        if (remembered === undefined) {
            if (history !== undefined) return undefined;
            const newest = `one of the newest ${this.capacity} recalls here`;
            throw invalid('requestId', `${newest}, or its history in place of the userId`, `'${requestId}'`);
        }
        if (userId !== remembered.userId) {
            throw invalid('userId', `'${remembered.userId ?? ''}' of the recall`, `'${userId ?? ''}'`);
        }
        if (adapter !== remembered.adapter) {
            throw invalid('versions.adapter', `'${remembered.adapter}' of the recall`, `'${adapter}'`);
        }
        return remembered;
    }
}

//# sourceMappingURL=remembered-prompts.js.map