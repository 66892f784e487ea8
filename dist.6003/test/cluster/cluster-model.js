/** Model of a cluster's content, by the answers of its callers; an unanswered call is in doubt. */ const textOf = (item)=>item === undefined ? 'not there' : JSON.stringify([
        item.title,
        item.count,
        item.priority,
        item.isPaused
    ]);
export class ClusterModel {
    items = new Map();
    users = [];
    known(itemId) {
        const found = this.items.get(itemId) ?? {
            state: undefined,
            doubt: undefined
        };
        this.items.set(itemId, found);
        return found;
    }
    acknowledged(itemId, change) {
        const item = this.known(itemId);
        item.state = change(item.state);
    }
    doubted(itemId, change) {
        this.known(itemId).doubt = change;
    }
    /** Differences of what was found to what has to be there; what was in doubt is fixed by it. */ settle(found) {
        const faults = [];
        for (const [itemId, item] of this.items){
            const got = textOf(found.get(itemId));
            const allowed = [
                textOf(item.state)
            ];
            if (item.doubt !== undefined) allowed.push(textOf(item.doubt(item.state)));
            if (!allowed.includes(got)) {
                faults.push(`item ${itemId}: expected ${allowed.join(' or ')}, got ${got}`);
            }
            item.state = found.get(itemId);
            item.doubt = undefined;
        }
        for (const itemId of found.keys()){
            if (!this.items.has(itemId)) faults.push(`item ${itemId}: expected none, got one`);
        }
        return faults;
    }
}

//# sourceMappingURL=cluster-model.js.map