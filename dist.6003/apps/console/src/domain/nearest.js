function shared(a, b) {
    const end = a.findIndex((code, level)=>code !== b[level]);
    return end < 0 ? a.length : end;
}
/** Items with the most first codes in common with a place of the tree, one after the other. */ export class Nearest {
    of;
    count;
    byLevels = new Map();
    constructor(of, count){
        this.of = of;
        this.count = count;
    }
    add(item) {
        const sharedLevels = shared(this.of.sid, item.sid);
        if (sharedLevels === 0 || item.itemId === this.of.itemId) return;
        const found = this.byLevels.get(sharedLevels) ?? [];
        this.byLevels.set(sharedLevels, found);
        const { itemId, title, sid } = item;
        if (found.length < this.count) found.push({
            itemId,
            title,
            sid,
            sharedLevels
        });
    }
    /** Nearest first. */ found() {
        const levels = [
            ...this.byLevels.keys()
        ].sort((a, b)=>b - a);
        return levels.flatMap((level)=>this.byLevels.get(level) ?? []).slice(0, this.count);
    }
}

//# sourceMappingURL=nearest.js.map