const DIFFERENCES = {
    time: (a, b)=>b.timeMs - a.timeMs,
    slowest: (a, b)=>b.totalUs - a.totalUs,
    fastest: (a, b)=>a.totalUs - b.totalUs
};
/** A part of all lists in one order; of equals by ID, so that every page has one order. */ export function firstOf(lists, { order, offset, limit }) {
    const isBefore = (a, b)=>DIFFERENCES[order](a, b) || (a.id < b.id ? -1 : 1);
    return lists.flat().sort(isBefore).slice(offset, offset + limit);
}

//# sourceMappingURL=first-of.js.map