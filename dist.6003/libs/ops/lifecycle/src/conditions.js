/**
 * Dependencies of this process (brokers, databases) and the stores that it writes to. Each is read
 * when somebody asks: the owner of a store keeps its state, nothing is pushed.
 */ export class Conditions {
    sources = new Map();
    needed = [];
    /** @throws Error where the name is taken: a fault of the composition */ add(source) {
        if (this.sources.has(source.name)) throw new Error(`condition '${source.name}' exists already`);
        this.sources.set(source.name, source);
        if (source.isNeeded) this.needed.push(source);
    }
    /** In the order in which they were added. */ all() {
        return [
            ...this.sources.values()
        ].map(conditionOf);
    }
    /** The needed ones that are down. Asked for each call: reads no other. */ blocking() {
        return this.needed.map(conditionOf).filter(({ state })=>state === 'down');
    }
}
function conditionOf({ name, kind, isNeeded, read }) {
    return {
        name,
        kind,
        isNeeded,
        ...read()
    };
}

//# sourceMappingURL=conditions.js.map