/** The depth at which lists of two compute types are compared. */ export const OVERLAP_DEPTH = 50;
/** Share of the first `depth` items of `list` that `reference` has among its first ones too. */ export function overlapOf(reference, list, depth) {
    const wanted = new Set(reference.slice(0, depth));
    if (wanted.size === 0) return list.length === 0 ? 1 : 0;
    const common = list.slice(0, depth).filter((item)=>wanted.has(item));
    return common.length / wanted.size;
}
/** Mean over users, the same ones in the same order on both sides. */ export function meanOverlap(references, lists, depth) {
    const sum = references.reduce((total, reference, user)=>total + overlapOf(reference, lists[user] ?? [], depth), 0);
    return sum / references.length;
}

//# sourceMappingURL=overlap.js.map