/** The nodes that the configuration names. */ export class StaticMembership {
    members;
    constructor(members){
        this.members = members;
    }
    async start(onMembers) {
        await onMembers(this.members);
    }
    reading() {
        return {
            state: 'ok',
            reason: ''
        };
    }
    close() {
    // Nothing is open.
    }
}

//# sourceMappingURL=membership.js.map