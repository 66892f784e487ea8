/** A heap: the entry of the least key first, of equal keys the one that came first. */ export class LeastFirst {
    entries = [];
    turns = 0;
    get size() {
        return this.entries.length;
    }
    get leastKey() {
        return this.entries[0]?.key ?? Number.POSITIVE_INFINITY;
    }
    values() {
        return this.entries.map(({ value })=>value);
    }
    add(key, value) {
        const { entries } = this;
        let at = entries.push({
            key,
            turn: this.turns++,
            value
        }) - 1;
        while(at > 0){
            const parent = at - 1 >> 1;
            if (!this.isBefore(at, parent)) break;
            this.swap(at, parent);
            at = parent;
        }
    }
    take() {
        const { entries } = this;
        const first = entries[0];
        const last = entries.pop();
        if (first === undefined || last === undefined) return undefined;
        if (entries.length > 0) {
            entries[0] = last;
            this.sink();
        }
        return first.value;
    }
    sink() {
        const { length } = this.entries;
        for(let at = 0;;){
            let least = at;
            for (const child of [
                2 * at + 1,
                2 * at + 2
            ]){
                if (child < length && this.isBefore(child, least)) least = child;
            }
            if (least === at) return;
            this.swap(at, least);
            at = least;
        }
    }
    isBefore(a, b) {
        const [one, other] = [
            this.entries[a],
            this.entries[b]
        ];
        if (one === undefined || other === undefined) return false;
        return one.key < other.key || one.key === other.key && one.turn < other.turn;
    }
    swap(a, b) {
        const { entries } = this;
        const one = entries[a];
        const other = entries[b];
        if (one === undefined || other === undefined) return;
        entries[a] = other;
        entries[b] = one;
    }
}

//# sourceMappingURL=least-first.js.map