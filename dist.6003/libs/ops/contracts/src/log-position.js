/** How far a state is: kept with it, in one commit with the effect of the entry. */ export const markOf = (position)=>JSON.stringify(position);
/** Undefined for '' and for what is no position. */ export function positionOf(mark) {
    try {
        const { log, offset, entry, chain = '', erased } = JSON.parse(mark);
        const isPosition = typeof log === 'string' && Number.isSafeInteger(offset);
        if (!isPosition || typeof entry !== 'string' || typeof erased !== 'string') return undefined;
        return {
            log,
            offset: offset,
            entry,
            chain,
            erased
        };
    } catch  {
        return undefined;
    }
}

//# sourceMappingURL=log-position.js.map