export const PAIR_SLOTS = [
    'instruction',
    'query',
    'item'
];
/** Text around slots, as `{query}` in braces separates it. */ export const SLOT_PATTERN = /\{(instruction|query|item)\}/;
/** Slots of a segment, in its order. */ export function slotsOf(segment) {
    return segment.split(SLOT_PATTERN).filter((_, i)=>i % 2 === 1);
}

//# sourceMappingURL=relevance-template.js.map