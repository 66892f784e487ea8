/** A number that follows from a text and a seed alone; neighbours have nothing in common. */ function mixed(text, seed) {
    let hash = 2_166_136_261 ^ seed;
    for(let at = 0; at < text.length; at += 1){
        hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619);
    }
    hash = Math.imul(hash ^ hash >>> 16, 0x85eb_ca6b);
    hash = Math.imul(hash ^ hash >>> 13, 0xc2b2_ae35);
    return (hash ^ hash >>> 16) >>> 0;
}
/**
 * So many of them by chance: the same seed draws the same, whatever their order, and one that
 * comes or goes moves no other.
 */ export function sampledOf(ids, count, seed) {
    const drawn = ids.map((id)=>({
            id,
            number: mixed(id, seed)
        }));
    drawn.sort((a, b)=>a.number - b.number || (a.id < b.id ? -1 : 1));
    return drawn.slice(0, count).map(({ id })=>id);
}

//# sourceMappingURL=sampled.js.map