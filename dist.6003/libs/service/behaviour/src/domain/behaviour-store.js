/** DI token and port: what is known of users. Safe to call concurrently. */ export class BehaviourStore {
    /**
   * The newest `limit` behaviours and the profile; null where the user is not known.
   * @param _budgetMs milliseconds that the request has left, of which a store on another machine
   *   may wait a share
   */ async user(userId, limit, _budgetMs) {
        const [behaviours, profile] = await Promise.all([
            this.history(userId, limit),
            this.profile(userId)
        ]);
        return behaviours === null ? null : {
            behaviours,
            profile: profile ?? {}
        };
    }
    /** Retention of the store; undefined: everything, or known to another process alone. */ get retention() {
        return undefined;
    }
    /** True if the store can be reached; one that is not on another machine always can. */ reach() {
        return {
            state: 'ok',
            reason: ''
        };
    }
}

//# sourceMappingURL=behaviour-store.js.map